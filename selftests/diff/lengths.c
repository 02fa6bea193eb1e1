// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Every length of private data, and every length of each option.
 */
#include "seq.h"

#define MAX_DATA    255
#define MAX_OPTLEN  16
#define HUGE_OPTLEN (1 << 20)

/* A length that is too long fails; then the shortest is sent instead. */
static bool connect_len(struct world *w, int len)
{
	unsigned char data[MAX_DATA];
	struct rdma_conn_param param;
	struct rdma_cm_event *event;

	pattern(data, sizeof(data));
	param = conn_param(w->id, data, len);
	if (SAY("connect", rdma_connect(w->id, &param))) {
		param.private_data_len = 0;
		if (rdma_connect(w->id, &param))
			return false;
	}
	event = wait_event(w, w->far, RDMA_CM_EVENT_CONNECT_REQUEST);
	if (!event)
		return false;
	say_event(w, "far", event);
	rdma_ack_cm_event(event);
	return true;
}

static void next_near(struct world *w)
{
	struct rdma_cm_event *event;

	if (!readable(w->near, PATIENCE) || rdma_get_cm_event(w->near, &event))
		return;
	say_event(w, "event", event);
	rdma_ack_cm_event(event);
}

static void run_reject(const struct job *job)
{
	unsigned char data[MAX_DATA];
	struct world w;

	pattern(data, sizeof(data));
	if (!world_open(&w, job, job->n[1], false) || !enter_route(&w) ||
	    !connect_len(&w, job->n[0]))
		return;
	if (SAY("reject", rdma_reject(w.request, data, job->n[0])))
		SAY("reject", rdma_reject(w.request, NULL, 0));
	next_near(&w);
}

static void run_accept(const struct job *job)
{
	unsigned char data[MAX_DATA];
	struct rdma_conn_param param;
	struct world w;

	pattern(data, sizeof(data));
	if (!world_open(&w, job, job->n[1], false) || !enter_route(&w) ||
	    !connect_len(&w, 0))
		return;
	param = conn_param(w.request, data, job->n[0]);
	if (SAY("accept", rdma_accept(w.request, &param))) {
		param.private_data_len = 0;
		SAY("accept", rdma_accept(w.request, &param));
	}
	next_near(&w);
}

struct option {
	const char *name;
	int level;
	int optname;
	unsigned char first_byte;
};

static const struct option options[] = {
	{ "tos", RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 0x20 },
	{ "tos-255", RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 255 },
	{ "reuse", RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 1 },
	{ "reuse-0", RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 0 },
	{ "reuse-2", RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 2 },
	{ "afonly", RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, 1 },
	{ "afonly-0", RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, 0 },
	{ "afonly-7", RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, 7 },
	{ "ack_timeout-0", RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 0 },
	{ "ack_timeout", RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 14 },
	{ "ack_timeout-31", RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 31 },
	{ "ack_timeout-32", RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 32 },
	{ "unknown4", RDMA_OPTION_ID, 4, 1 },
	{ "unknown-1", RDMA_OPTION_ID, -1, 1 },
	{ "path", RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, 0 },
	{ "ib-unknown", RDMA_OPTION_IB, 2, 0 },
	{ "ib-unknown0", RDMA_OPTION_IB, 0, 0 },
	{ "level2", 2, 1, 0 },
	{ "level-1", -1, 1, 0 },
};

static const struct state *const option_states[] = {
	&some_states[0], /* fresh */
	&some_states[1], /* bound */
	&some_states[4], /* connected */
};

static void run_option(const struct job *job)
{
	static unsigned char value[HUGE_OPTLEN];
	const struct option *option = job->p[0];
	const struct state *state = job->p[1];
	struct world w;
	int len;

	if (!world_open(&w, job, job->n[0], false) || !state->enter(&w)) {
		say("enter", "failed");
		return;
	}
	value[0] = option->first_byte;
	for (len = 0; len <= MAX_OPTLEN; len++)
		SAY("set_option", rdma_set_option(w.id, option->level,
						  option->optname, value, len));
	SAY("huge", rdma_set_option(w.id, option->level, option->optname, value,
				    sizeof(value)));
	SAY("null",
	    rdma_set_option(w.id, option->level, option->optname, NULL, 4));
	say_id(&w, "id", w.id);
}

/* Of datagrams these: the limits are 136 and 180. */
static bool is_tested(enum rdma_port_space ps, int len)
{
	return ps == RDMA_PS_TCP || len % 8 == 0 || len == 137 || len == 180 ||
	       len == 181 || len == MAX_DATA;
}

static void add_data(const char *name, void (*run)(const struct job *job),
		     enum rdma_port_space ps)
{
	struct job *job;
	int len;

	for (len = 0; len <= MAX_DATA; len++) {
		if (!is_tested(ps, len))
			continue;
		job = job_add(run, "%s/%d", name, len);
		job->n[0] = len;
		job->n[1] = ps;
	}
}

/**
 * add_lengths - add what is about lengths
 */
void add_lengths(void)
{
	struct job *job;
	size_t i, j;

	add_data("data-reject", run_reject, RDMA_PS_TCP);
	add_data("data-accept", run_accept, RDMA_PS_TCP);
	add_data("data-udp-reject", run_reject, RDMA_PS_UDP);
	add_data("data-udp-accept", run_accept, RDMA_PS_UDP);
	for (i = 0; i < COUNT(options); i++) {
		for (j = 0; j < COUNT(option_states); j++) {
			job = job_add(run_option, "option/%s/%s",
				      options[i].name, option_states[j]->name);
			job->p[0] = &options[i];
			job->p[1] = option_states[j];
			job->n[0] = RDMA_PS_TCP;
		}
	}
}
