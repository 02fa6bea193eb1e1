// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * NULL where something is needed, and channels that are none.
 */
#include <fcntl.h>

#include "seq.h"

static struct ibv_qp_init_attr qp_attr;
static struct ibv_srq_init_attr srq_attr;
static struct ibv_qp_init_attr_ex qp_attr_ex;
static struct ibv_srq_init_attr_ex srq_attr_ex;
static struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
static struct rdma_addrinfo *info;
static struct rdma_cm_id *some_id;
static struct rdma_cm_event *some_event;
static union lib_addr some_addr;
static int some_int;

static struct rdma_cm_id *id_of(const struct job *job)
{
	const struct state *state = job->p[1];
	struct world w;

	some_addr = lib_addr(IP4, job->port + 1);
	if (!state)
		return NULL;
	if (!world_open(&w, job, RDMA_PS_UDP, false) || !state->enter(&w))
		return NULL;
	return w.id;
}

/* Each is called with NULL for the identifier, and with one that is good. */
#define NULL_CALL(name, call)                          \
	static void null_##name(struct rdma_cm_id *id) \
	{                                              \
		(void)id;                              \
		SAY(#name, call);                      \
	}

NULL_CALL(create_id, rdma_create_id(NULL, NULL, NULL, RDMA_PS_TCP))
NULL_CALL(create_ep, rdma_create_ep(NULL, NULL, NULL, NULL))
NULL_CALL(create_ep_info, rdma_create_ep(&some_id, NULL, NULL, NULL))
NULL_CALL(destroy_id, rdma_destroy_id(NULL))
NULL_CALL(bind, rdma_bind_addr(id, NULL))
NULL_CALL(bind_id, rdma_bind_addr(id, &some_addr.sa))
NULL_CALL(resolve, rdma_resolve_addr(id, NULL, NULL, 10))
NULL_CALL(resolve_id, rdma_resolve_addr(id, NULL, &some_addr.sa, 10))
NULL_CALL(resolve_route, rdma_resolve_route(id, 10))
NULL_CALL(create_qp, rdma_create_qp(id, NULL, NULL))
NULL_CALL(create_qp_id, rdma_create_qp(id, NULL, &qp_attr))
NULL_CALL(create_qp_ex, rdma_create_qp_ex(id, NULL))
NULL_CALL(create_qp_ex_id, rdma_create_qp_ex(id, &qp_attr_ex))
NULL_CALL(create_srq, rdma_create_srq(id, NULL, NULL))
NULL_CALL(create_srq_id, rdma_create_srq(id, NULL, &srq_attr))
NULL_CALL(create_srq_ex, rdma_create_srq_ex(id, NULL))
NULL_CALL(create_srq_ex_id, rdma_create_srq_ex(id, &srq_attr_ex))
NULL_CALL(destroy_qp, (rdma_destroy_qp(id), 0))
NULL_CALL(destroy_srq, (rdma_destroy_srq(id), 0))
NULL_CALL(destroy_ep, (rdma_destroy_ep(NULL), 0))
NULL_CALL(connect, rdma_connect(id, NULL))
NULL_CALL(establish, rdma_establish(id))
NULL_CALL(listen, rdma_listen(id, 0))
NULL_CALL(get_request, rdma_get_request(id, NULL))
NULL_CALL(accept, rdma_accept(id, NULL))
NULL_CALL(reject, rdma_reject(id, NULL, 0))
NULL_CALL(reject_data, rdma_reject(id, NULL, 5))
NULL_CALL(reject_ece, rdma_reject_ece(id, NULL, 5))
NULL_CALL(notify, rdma_notify(id, IBV_EVENT_COMM_EST))
NULL_CALL(disconnect, rdma_disconnect(id))
NULL_CALL(join, rdma_join_multicast(id, NULL, NULL))
NULL_CALL(join_id, rdma_join_multicast(id, &some_addr.sa, NULL))
NULL_CALL(join_ex, rdma_join_multicast_ex(id, NULL, NULL))
NULL_CALL(leave, rdma_leave_multicast(id, NULL))
NULL_CALL(leave_id, rdma_leave_multicast(id, &some_addr.sa))
NULL_CALL(get_event, rdma_get_cm_event(NULL, &some_event))
NULL_CALL(ack, rdma_ack_cm_event(NULL))
NULL_CALL(src_port, !!rdma_get_src_port(id))
NULL_CALL(dst_port, !!rdma_get_dst_port(id))
NULL_CALL(migrate, rdma_migrate_id(id, NULL))
NULL_CALL(set_option, rdma_set_option(id, 0, 0, NULL, 1))
NULL_CALL(set_option_id, rdma_set_option(id, 0, 0, &some_int, 1))
NULL_CALL(getaddrinfo, rdma_getaddrinfo(NULL, NULL, NULL, &info))
NULL_CALL(getaddrinfo_res, rdma_getaddrinfo(IP4, "7", NULL, NULL))
NULL_CALL(freeaddrinfo, (rdma_freeaddrinfo(NULL), 0))
NULL_CALL(init_qp_attr, rdma_init_qp_attr(id, NULL, NULL))
NULL_CALL(init_qp_attr_mask, rdma_init_qp_attr(id, &attr, NULL))
NULL_CALL(init_qp_attr_id, rdma_init_qp_attr(id, &attr, &some_int))
NULL_CALL(set_ece, rdma_set_local_ece(id, NULL))
NULL_CALL(get_ece, rdma_get_remote_ece(id, NULL))
NULL_CALL(destroy_channel, (rdma_destroy_event_channel(NULL), 0))
NULL_CALL(free_devices, (rdma_free_devices(NULL), 0))

#define NULL_ENTRY(name)           \
	{                          \
#name, null_##name \
	}

static const struct {
	const char *name;
	void (*call)(struct rdma_cm_id *id);
} null_calls[] = {
	NULL_ENTRY(create_id),
	NULL_ENTRY(create_ep),
	NULL_ENTRY(create_ep_info),
	NULL_ENTRY(destroy_id),
	NULL_ENTRY(bind),
	NULL_ENTRY(bind_id),
	NULL_ENTRY(resolve),
	NULL_ENTRY(resolve_id),
	NULL_ENTRY(resolve_route),
	NULL_ENTRY(create_qp),
	NULL_ENTRY(create_qp_id),
	NULL_ENTRY(create_qp_ex),
	NULL_ENTRY(create_qp_ex_id),
	NULL_ENTRY(create_srq),
	NULL_ENTRY(create_srq_id),
	NULL_ENTRY(create_srq_ex),
	NULL_ENTRY(create_srq_ex_id),
	NULL_ENTRY(destroy_qp),
	NULL_ENTRY(destroy_srq),
	NULL_ENTRY(destroy_ep),
	NULL_ENTRY(connect),
	NULL_ENTRY(establish),
	NULL_ENTRY(listen),
	NULL_ENTRY(get_request),
	NULL_ENTRY(accept),
	NULL_ENTRY(reject),
	NULL_ENTRY(reject_data),
	NULL_ENTRY(reject_ece),
	NULL_ENTRY(notify),
	NULL_ENTRY(disconnect),
	NULL_ENTRY(join),
	NULL_ENTRY(join_id),
	NULL_ENTRY(join_ex),
	NULL_ENTRY(leave),
	NULL_ENTRY(leave_id),
	NULL_ENTRY(get_event),
	NULL_ENTRY(ack),
	NULL_ENTRY(src_port),
	NULL_ENTRY(dst_port),
	NULL_ENTRY(migrate),
	NULL_ENTRY(set_option),
	NULL_ENTRY(set_option_id),
	NULL_ENTRY(getaddrinfo),
	NULL_ENTRY(getaddrinfo_res),
	NULL_ENTRY(freeaddrinfo),
	NULL_ENTRY(init_qp_attr),
	NULL_ENTRY(init_qp_attr_mask),
	NULL_ENTRY(init_qp_attr_id),
	NULL_ENTRY(set_ece),
	NULL_ENTRY(get_ece),
	NULL_ENTRY(destroy_channel),
	NULL_ENTRY(free_devices),
};

static void run_null(const struct job *job)
{
	void (*const *call)(struct rdma_cm_id * id) = job->p[0];

	(*call)(id_of(job));
}

/* A channel whose file was closed, or is another. */
static void spoil(struct rdma_event_channel *channel, long how)
{
	int fd = -1;

	if (how == 1)
		fd = open("/dev/zero", O_RDONLY);
	else if (how == 2)
		fd = open("/", O_RDONLY);
	if (fd < 0)
		close(channel->fd);
	else
		dup2(fd, channel->fd);
}

static void run_bad_fd(const struct job *job)
{
	const struct state *state = job->p[0];
	const struct op *op = job->p[1];
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	struct world w;

	if (!world_open(&w, job, RDMA_PS_TCP, false) || !state->enter(&w))
		return;
	spoil(w.near, job->n[0]);
	if (op) {
		op->call(&w);
		return;
	}
	SAY("get_event", rdma_get_cm_event(w.near, &event));
	SAY("create", rdma_create_id(w.near, &id, NULL, RDMA_PS_TCP));
	SAY("destroy", rdma_destroy_id(w.id));
}

static void add_bad_fd(int how)
{
	const struct state *state;
	const struct op *op;
	struct job *job;

	for (state = some_states; state->name; state++) {
		job = job_add(run_bad_fd, "fd%d/%s/other", how, state->name);
		job->p[0] = state;
		job->n[0] = how;
		for (op = few_ops; op->name; op++) {
			job = job_add(run_bad_fd, "fd%d/%s/%s", how,
				      state->name, op->name);
			job->p[0] = state;
			job->p[1] = op;
			job->n[0] = how;
		}
	}
}

/**
 * add_null - add what is about NULL and bad channels
 */
void add_null(void)
{
	struct job *job;
	size_t i;
	int how;

	for (i = 0; i < COUNT(null_calls); i++) {
		job = job_add(run_null, "null/%s", null_calls[i].name);
		job->p[0] = &null_calls[i].call;
		job = job_add(run_null, "null-fresh/%s", null_calls[i].name);
		job->p[0] = &null_calls[i].call;
		job->p[1] = &some_states[0];
		job = job_add(run_null, "null-route/%s", null_calls[i].name);
		job->p[0] = &null_calls[i].call;
		job->p[1] = &some_states[2];
	}
	for (how = 0; how < 3; how++)
		add_bad_fd(how);
}
