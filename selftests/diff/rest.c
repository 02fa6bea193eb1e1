// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Names, endpoints, synchronous connections, event strings, and the orders in
 * which two sides can do things.
 */
#include "seq.h"

static void say_info(const struct rdma_addrinfo *info)
{
	char src[64] = "-", dst[64] = "-";

	if (info->ai_src_addr)
		addr_text(info->ai_src_addr, src, sizeof(src));
	if (info->ai_dst_addr)
		addr_text(info->ai_dst_addr, dst, sizeof(dst));
	say("info",
	    "flags=%#x,family=%d,type=%d,ps=%#x,src=%s:%d,dst=%s:%d,srclen=%d,dstlen=%d,names=%s:%s,route=%d,connect=%zu,next=%d",
	    info->ai_flags, info->ai_family, info->ai_qp_type,
	    info->ai_port_space, src, !!info->ai_src_addr, dst,
	    !!info->ai_dst_addr, info->ai_src_len, info->ai_dst_len,
	    info->ai_src_canonname ? info->ai_src_canonname : "-",
	    info->ai_dst_canonname ? info->ai_dst_canonname : "-",
	    !!info->ai_route_len, info->ai_connect_len, !!info->ai_next);
}

static void run_info(const struct job *job)
{
	const struct rdma_addrinfo *hints = job->p[2];
	struct rdma_addrinfo *info = NULL;
	const struct rdma_addrinfo *pos;

	if (SAY("getaddrinfo",
		rdma_getaddrinfo(job->p[0], job->p[1], hints, &info)))
		return;
	for (pos = info; pos; pos = pos->ai_next)
		say_info(pos);
	rdma_freeaddrinfo(info);
}

static const char *const nodes[] = {
	NULL, IP4, IP6, "0.0.0.0", "127.0.0.1", FAR_IP4, "no.such.name.invalid",
};

static const char *const services[] = { NULL, "7471", "0", "65536", "x", "" };

#define HINTS(flags, family, type, ps)                                      \
	{                                                                   \
		.ai_flags = flags, .ai_family = family, .ai_qp_type = type, \
		.ai_port_space = ps                                         \
	}

static const struct rdma_addrinfo hints[] = {
	HINTS(0, 0, 0, 0),
	HINTS(0, 0, 0, RDMA_PS_TCP),
	HINTS(0, 0, 0, RDMA_PS_UDP),
	HINTS(0, 0, 0, RDMA_PS_IB),
	HINTS(0, 0, 0, RDMA_PS_IPOIB),
	HINTS(0, 0, 0, 5),
	HINTS(0, 0, IBV_QPT_RC, 0),
	HINTS(0, 0, IBV_QPT_UD, 0),
	HINTS(0, 0, IBV_QPT_UC, 0),
	HINTS(0, 0, IBV_QPT_UD, RDMA_PS_TCP),
	HINTS(0, 0, 99, 0),
	HINTS(0, AF_INET, 0, RDMA_PS_TCP),
	HINTS(RAI_FAMILY, AF_INET, 0, RDMA_PS_TCP),
	HINTS(RAI_FAMILY, AF_INET6, 0, RDMA_PS_TCP),
	HINTS(RAI_FAMILY, AF_IB, 0, RDMA_PS_TCP),
	HINTS(RAI_FAMILY, 99, 0, RDMA_PS_TCP),
	HINTS(RAI_PASSIVE, 0, 0, RDMA_PS_TCP),
	HINTS(RAI_PASSIVE, 0, 0, RDMA_PS_UDP),
	HINTS(RAI_PASSIVE | RAI_FAMILY, AF_INET6, 0, RDMA_PS_TCP),
	HINTS(RAI_NUMERICHOST, 0, 0, RDMA_PS_TCP),
	HINTS(RAI_NOROUTE, 0, 0, RDMA_PS_TCP),
	HINTS(RAI_NOROUTE | RAI_NUMERICHOST, 0, 0, RDMA_PS_UDP),
	HINTS(0x100, 0, 0, RDMA_PS_TCP),
};

static void add_info(void)
{
	struct job *job;
	size_t i, j, k;

	for (i = 0; i < COUNT(nodes); i++) {
		for (j = 0; j < COUNT(services); j++) {
			for (k = 0; k < COUNT(hints); k++) {
				/* Services matter with plain hints alone. */
				if (j != 1 && k > 1)
					continue;
				job = job_add(run_info, "info/%zu/%zu/%zu", i,
					      j, k);
				job->p[0] = nodes[i];
				job->p[1] = services[j];
				job->p[2] = k ? &hints[k] : NULL;
			}
		}
	}
}

static void run_ep(const struct job *job)
{
	struct rdma_addrinfo hint = *(const struct rdma_addrinfo *)job->p[1];
	struct ibv_qp_init_attr attr = {
		.cap = { 4, 4, 1, 1, 0 },
		.qp_type = job->n[1] ? IBV_QPT_RC : 0,
	};
	struct rdma_cm_id *listener, *id = NULL;
	struct rdma_addrinfo *info;
	struct world w;
	char port[16];

	if (!world_open(&w, job, RDMA_PS_TCP, false))
		return;
	listener = listening_id(w.far, hint.ai_port_space, IP4, job->port);
	snprintf(port, sizeof(port), "%d",
		 job->port + (hint.ai_flags & RAI_PASSIVE ? 1 : 0));
	if (SAY("getaddrinfo", rdma_getaddrinfo(job->p[0], port, &hint, &info)))
		return;
	if (!SAY("create_ep",
		 rdma_create_ep(&id, info, NULL, job->n[0] ? &attr : NULL))) {
		say_id(&w, "id", id);
		say("attr", "type=%d,send=%d,cq=%d", attr.qp_type,
		    attr.cap.max_send_wr >= 4, !!attr.send_cq);
		if (hint.ai_flags & RAI_PASSIVE)
			SAY("listen", rdma_listen(id, 1));
		rdma_destroy_ep(id);
	}
	rdma_freeaddrinfo(info);
	rdma_destroy_id(listener);
}

static const char *const ep_nodes[] = { IP4, IP6, FAR_IP4, DEAD_IP4,
					"127.0.0.1" };

static void add_ep(void)
{
	static const int which[] = { 1, 2, 3, 16, 17 };
	struct job *job;
	size_t i, j;
	int qp;

	for (i = 0; i < COUNT(ep_nodes); i++) {
		for (j = 0; j < COUNT(which); j++) {
			for (qp = 0; qp < 3; qp++) {
				job = job_add(run_ep, "ep/%s/%d/%d",
					      ep_nodes[i], which[j], qp);
				job->p[0] = ep_nodes[i];
				job->p[1] = &hints[which[j]];
				job->n[0] = qp > 0;
				job->n[1] = qp > 1;
			}
		}
	}
}

/* How the peer answers a synchronous rdma_connect(). */
enum answer {
	ANSWER_ACCEPT,
	ANSWER_REJECT,
	ANSWER_REJECT_ECE,
	ANSWER_DESTROY,
	ANSWER_CLOSE,
	ANSWERS,
};

struct answerer {
	struct world *w;
	enum answer how;
};

static void *answer(void *arg)
{
	struct answerer *a = arg;
	struct world *w = a->w;
	struct rdma_conn_param param;

	if (!wait_for(w, w->far, RDMA_CM_EVENT_CONNECT_REQUEST))
		return NULL;
	switch (a->how) {
	case ANSWER_ACCEPT:
		if (create_qp(w->request))
			return NULL;
		param = conn_param(w->request, NULL, 0);
		rdma_accept(w->request, &param);
		break;
	case ANSWER_REJECT:
		rdma_reject(w->request, NULL, 0);
		break;
	case ANSWER_REJECT_ECE:
		rdma_reject_ece(w->request, NULL, 0);
		break;
	case ANSWER_DESTROY:
		rdma_destroy_id(w->request);
		break;
	default:
		rdma_destroy_id(w->request);
		rdma_destroy_id(w->listener);
		rdma_destroy_event_channel(w->far);
		w->listener = NULL;
		w->peer = NULL;
		w->far = NULL;
		break;
	}
	return NULL;
}

static void run_sync_connect(const struct job *job)
{
	struct rdma_conn_param param;
	struct world w;
	struct answerer a = { .w = &w, .how = job->n[1] };
	pthread_t thread;

	if (!world_open(&w, job, job->n[0], true) || !enter_route(&w) ||
	    create_qp(w.id) || pthread_create(&thread, NULL, answer, &a))
		return;
	param = conn_param(w.id, NULL, 0);
	SAY("connect", rdma_connect(w.id, &param));
	pthread_join(thread, NULL);
	if (w.id->event)
		say_event(&w, "left", w.id->event);
	say_id(&w, "id", w.id);
	if (w.id->qp_type != IBV_QPT_UD && a.how == ANSWER_ACCEPT) {
		/* The peer answers by destroying its end. */
		wait_for(&w, w.far, RDMA_CM_EVENT_ESTABLISHED);
		rdma_destroy_qp(w.request);
		rdma_destroy_id(w.request);
		SAY("disconnect", rdma_disconnect(w.id));
	}
	rdma_destroy_qp(w.id);
	SAY("destroy", rdma_destroy_id(w.id));
}

static void add_sync(const char *name, enum rdma_port_space ps)
{
	struct job *job;
	int how;

	for (how = 0; how < ANSWERS; how++) {
		job = job_add(run_sync_connect, "%s-connect/%d", name, how);
		job->n[0] = ps;
		job->n[1] = how;
	}
}

/* A synchronous server: request, accept or reject, end. */
static void run_sync_serve(const struct job *job)
{
	struct rdma_cm_id *listener, *request = NULL;
	union lib_addr addr = lib_addr(IP4, job->port);
	struct rdma_conn_param param;
	struct world w;

	if (!world_open(&w, job, job->n[0], false))
		return;
	listener = listening_id(NULL, w.ps, IP4, job->port);
	if (!listener || !enter_fresh(&w))
		return;
	w.listener = listener;
	if (rdma_resolve_addr(w.id, NULL, &addr.sa, TIMEOUT) ||
	    !wait_for(&w, w.near, RDMA_CM_EVENT_ADDR_RESOLVED) ||
	    rdma_resolve_route(w.id, TIMEOUT) ||
	    !wait_for(&w, w.near, RDMA_CM_EVENT_ROUTE_RESOLVED) ||
	    create_qp(w.id))
		return;
	param = conn_param(w.id, NULL, 0);
	SAY("connect", rdma_connect(w.id, &param));
	if (SAY("get_request", rdma_get_request(listener, &request)))
		return;
	w.peer = request;
	say("channel", "%d", request->channel != listener->channel);
	say_event(&w, "left", request->event);
	if (job->n[1]) {
		SAY("reject", rdma_reject(request, NULL, 0));
		drain(&w);
		rdma_destroy_ep(request);
		rdma_destroy_ep(listener);
		return;
	}
	SAY("create_qp", create_qp(request));
	say_id(&w, "request", request);
}

static void run_event_str(const struct job *job)
{
	int type;

	(void)job;
	for (type = -2; type < 40; type++)
		say("event_str", "%s", rdma_event_str(type));
}

static void run_devices(const struct job *job)
{
	struct ibv_context **list;
	int num = -1;

	(void)job;
	list = rdma_get_devices(&num);
	say("devices", "%d,%d", !!list, num);
	if (list)
		say("name", "%s,%d", ibv_get_device_name(list[0]->device),
		    !!list[num]);
	rdma_free_devices(list);
	list = rdma_get_devices(NULL);
	say("devices", "%d", !!list);
	rdma_free_devices(list);
}

/* Both ends of a connection disconnect, in each order. */
static void run_goodbye(const struct job *job)
{
	const struct state *state = job->p[0];
	struct world w;
	int i;

	if (!world_open(&w, job, RDMA_PS_TCP, false) || !state->enter(&w))
		return;
	for (i = 0; i < 4; i++) {
		struct rdma_cm_id *id = job->n[0] >> i & 1 ? w.peer : w.id;

		SAY(id == w.id ? "disconnect" : "far-disconnect",
		    rdma_disconnect(id));
		drain(&w);
	}
	say_id(&w, "id", w.id);
}

static void add_goodbyes(void)
{
	const struct state *state;
	struct job *job;
	int order;

	for (state = rc_states; state->name; state++) {
		if (strcmp(state->name, "connected") &&
		    strcmp(state->name, "server") &&
		    strcmp(state->name, "established-no-qp"))
			continue;
		for (order = 0; order < 16; order++) {
			job = job_add(run_goodbye, "goodbye/%s/%x", state->name,
				      order);
			job->p[0] = state;
			job->n[0] = order;
		}
	}
}

/**
 * add_rest - add what fits nowhere else
 */
void add_rest(void)
{
	struct job *job;
	int i;

	add_info();
	add_ep();
	add_sync("sync", RDMA_PS_TCP);
	add_sync("sync-udp", RDMA_PS_UDP);
	for (i = 0; i < 4; i++) {
		job = job_add(run_sync_serve, "sync-serve/%d", i);
		job->n[0] = i & 2 ? RDMA_PS_UDP : RDMA_PS_TCP;
		job->n[1] = i & 1;
	}
	add_goodbyes();
	job_add(run_event_str, "event_str");
	job_add(run_devices, "devices");
}
