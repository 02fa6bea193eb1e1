// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Each call in each state, and in some states each call after each other.
 */
#include <fcntl.h>

#include "seq.h"

#define NUM(n) ((void *)(n))

static void op_none(struct world *w)
{
	(void)w;
}

static void bind_to(struct world *w, const char *ip, int port)
{
	union lib_addr addr = lib_addr(ip, port);

	SAY("bind", rdma_bind_addr(w->id, &addr.sa));
}

static void op_bind(struct world *w)
{
	bind_to(w, IP4, w->job->port + 2);
}

static void op_bind_any(struct world *w)
{
	bind_to(w, "0.0.0.0", 0);
}

static void op_bind_far(struct world *w)
{
	bind_to(w, FAR_IP4, w->job->port + 2);
}

static void resolve(struct world *w, const char *src, const char *dst, int port)
{
	union lib_addr from = lib_addr(src ? src : "0.0.0.0", 0);
	union lib_addr to = lib_addr(dst, port);

	SAY("resolve_addr",
	    rdma_resolve_addr(w->id, src ? &from.sa : NULL, &to.sa, TIMEOUT));
}

static void op_resolve(struct world *w)
{
	resolve(w, NULL, IP4, w->job->port);
}

static void op_resolve_from(struct world *w)
{
	resolve(w, IP4, IP4, w->job->port);
}

static void op_resolve6(struct world *w)
{
	resolve(w, NULL, IP6, w->job->port);
}

static void op_resolve_far(struct world *w)
{
	resolve(w, NULL, FAR_IP4, w->job->port);
}

static void op_resolve_route(struct world *w)
{
	SAY("resolve_route", rdma_resolve_route(w->id, TIMEOUT));
}

static void op_listen(struct world *w)
{
	SAY("listen", rdma_listen(w->id, 0));
}

static void op_listen_negative(struct world *w)
{
	SAY("listen", rdma_listen(w->id, -1));
}

static void op_connect(struct world *w)
{
	struct rdma_conn_param param = conn_param(w->id, NULL, 0);

	SAY("connect", rdma_connect(w->id, &param));
}

static void op_connect_null(struct world *w)
{
	SAY("connect", rdma_connect(w->id, NULL));
}

static void op_connect_max(struct world *w)
{
	struct rdma_conn_param param = conn_param(w->id, NULL, 0);

	param.responder_resources = RDMA_MAX_RESP_RES;
	param.initiator_depth = RDMA_MAX_INIT_DEPTH;
	SAY("connect", rdma_connect(w->id, &param));
}

static void op_connect_too_deep(struct world *w)
{
	struct rdma_conn_param param = conn_param(w->id, NULL, 0);

	param.responder_resources = 254;
	SAY("connect", rdma_connect(w->id, &param));
}

static void op_connect_no_data(struct world *w)
{
	struct rdma_conn_param param = conn_param(w->id, NULL, 1);

	SAY("connect", rdma_connect(w->id, &param));
}

static void op_accept(struct world *w)
{
	struct rdma_conn_param param = conn_param(w->id, NULL, 0);

	SAY("accept", rdma_accept(w->id, &param));
}

static void op_accept_null(struct world *w)
{
	SAY("accept", rdma_accept(w->id, NULL));
}

static void op_accept_max(struct world *w)
{
	struct rdma_conn_param param = conn_param(w->id, NULL, 0);

	param.responder_resources = RDMA_MAX_RESP_RES;
	param.initiator_depth = RDMA_MAX_INIT_DEPTH;
	SAY("accept", rdma_accept(w->id, &param));
}

static void op_accept_too_deep(struct world *w)
{
	struct rdma_conn_param param = conn_param(w->id, NULL, 0);

	param.initiator_depth = 254;
	SAY("accept", rdma_accept(w->id, &param));
}

static void op_reject(struct world *w)
{
	SAY("reject", rdma_reject(w->id, NULL, 0));
}

static void op_reject_data(struct world *w)
{
	SAY("reject", rdma_reject(w->id, "\1\2\3", 3));
}

static void op_reject_ece(struct world *w)
{
	SAY("reject_ece", rdma_reject_ece(w->id, "\1\2", 2));
}

static void op_establish(struct world *w)
{
	SAY("establish", rdma_establish(w->id));
}

static void op_disconnect(struct world *w)
{
	SAY("disconnect", rdma_disconnect(w->id));
}

static void op_notify(struct world *w)
{
	SAY("notify", rdma_notify(w->id, IBV_EVENT_COMM_EST));
}

static void op_notify_migrated(struct world *w)
{
	SAY("notify", rdma_notify(w->id, IBV_EVENT_PATH_MIG));
}

static void op_notify_fatal(struct world *w)
{
	SAY("notify", rdma_notify(w->id, IBV_EVENT_QP_FATAL));
}

static void op_migrate(struct world *w)
{
	struct rdma_event_channel *to = rdma_create_event_channel();

	if (SAY("migrate", rdma_migrate_id(w->id, to)))
		return;
	say("migrated", "%d", w->id->channel == to);
	w->near = to;
}

static void op_migrate_same(struct world *w)
{
	SAY("migrate", rdma_migrate_id(w->id, w->id->channel));
}

static void op_migrate_sync(struct world *w)
{
	/* Its channel goes with it, so that its events are not waited for. */
	if (!SAY("migrate", rdma_migrate_id(w->id, NULL)))
		w->near = NULL;
}

static void set_byte(struct world *w, int name, uint8_t value)
{
	SAY("set_option", rdma_set_option(w->id, RDMA_OPTION_ID, name, &value,
					  sizeof(value)));
}

static void set_int(struct world *w, int name, int value)
{
	SAY("set_option", rdma_set_option(w->id, RDMA_OPTION_ID, name, &value,
					  sizeof(value)));
}

static void op_tos(struct world *w)
{
	set_byte(w, RDMA_OPTION_ID_TOS, 0x20);
}

static void op_ack_timeout(struct world *w)
{
	set_byte(w, RDMA_OPTION_ID_ACK_TIMEOUT, 12);
}

static void op_reuse(struct world *w)
{
	set_int(w, RDMA_OPTION_ID_REUSEADDR, 1);
}

static void op_no_reuse(struct world *w)
{
	set_int(w, RDMA_OPTION_ID_REUSEADDR, 0);
}

static void op_afonly(struct world *w)
{
	set_int(w, RDMA_OPTION_ID_AFONLY, 1);
}

/* The path that the route has, set once more. */
static void op_path(struct world *w)
{
	struct ibv_path_data data = {
		.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY |
			 IBV_PATH_FLAG_BIDIRECTIONAL,
	};
	const struct ibv_sa_path_rec *rec = w->id->route.path_rec;

	if (w->id->route.num_paths) {
		memcpy(&data.path.sgid, &rec->sgid, sizeof(rec->sgid));
		memcpy(&data.path.dgid, &rec->dgid, sizeof(rec->dgid));
	} else {
		memcpy(&data.path.sgid, &w->id->route.addr.addr.ibaddr.sgid,
		       sizeof(data.path.sgid));
		memcpy(&data.path.dgid, &w->id->route.addr.addr.ibaddr.dgid,
		       sizeof(data.path.dgid));
	}
	data.path.flowlabel_hoplimit = htonl(64);
	data.path.reversible_numpath = 0x80;
	data.path.pkey = htons(0xffff);
	data.path.mtu = 0x80 | IBV_MTU_1024;
	data.path.rate = 0x80 | IBV_RATE_10_GBPS;
	data.path.packetlifetime = 0x80 | 14;
	SAY("set_path",
	    rdma_set_option(w->id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &data,
			    sizeof(data)));
}

static void op_create_qp(struct world *w)
{
	SAY("create_qp", create_qp(w->id));
}

static void op_create_qp_other(struct world *w)
{
	struct ibv_qp_init_attr attr = {
		.cap = { 1, 1, 1, 1, 0 },
		.qp_type = w->id->qp_type == IBV_QPT_UD ? IBV_QPT_RC :
							  IBV_QPT_UD,
	};

	SAY("create_qp", rdma_create_qp(w->id, NULL, &attr));
}

static void op_create_qp_large(struct world *w)
{
	struct ibv_qp_init_attr attr = {
		.cap = { 1 << 30, 1, 1, 1, 0 },
		.qp_type = w->id->qp_type,
	};

	SAY("create_qp", rdma_create_qp(w->id, NULL, &attr));
}

static void op_create_qp_empty(struct world *w)
{
	struct ibv_qp_init_attr attr = { .qp_type = w->id->qp_type };

	SAY("create_qp", rdma_create_qp(w->id, NULL, &attr));
}

static void op_create_qp_ex(struct world *w)
{
	struct ibv_qp_init_attr_ex attr = {
		.cap = { 2, 2, 1, 1, 0 },
		.qp_type = w->id->qp_type,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = w->id->pd,
	};

	SAY("create_qp_ex", rdma_create_qp_ex(w->id, &attr));
	say("cap", "%d,%d", attr.cap.max_send_wr > 1, !!attr.send_cq);
}

static void op_create_srq(struct world *w)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = 4, .max_sge = 1 },
	};

	if (!SAY("create_srq", rdma_create_srq(w->id, NULL, &attr)))
		SAY("create_qp", create_qp(w->id));
}

static void op_destroy_srq(struct world *w)
{
	rdma_destroy_srq(w->id);
}

static void op_destroy_qp(struct world *w)
{
	rdma_destroy_qp(w->id);
}

static void op_destroy(struct world *w)
{
	if (w->id->qp)
		rdma_destroy_qp(w->id);
	SAY("destroy", rdma_destroy_id(w->id));
	w->id = NULL;
}

static void op_destroy_ep(struct world *w)
{
	rdma_destroy_ep(w->id);
	w->id = NULL;
}

/* Numbers of queue pairs and of packets are random, and left out. */
static void qp_attr(struct world *w, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask = 0;

	if (SAY("init_qp_attr", rdma_init_qp_attr(w->id, &attr, &mask)))
		return;
	say("qp_attr",
	    "mask=%#x,state=%d,access=%#x,pkey=%d,port=%d,qkey=%#x,mtu=%d,rd=%d,%d,rnr_timer=%d,timeout=%d,retry=%d,rnr=%d,mig=%d,dest=%d",
	    mask, attr.qp_state, attr.qp_access_flags, attr.pkey_index,
	    attr.port_num, attr.qkey, attr.path_mtu, attr.max_rd_atomic,
	    attr.max_dest_rd_atomic, attr.min_rnr_timer, attr.timeout,
	    attr.retry_cnt, attr.rnr_retry, attr.path_mig_state,
	    !!attr.dest_qp_num);
	say("ah", "global=%d,sgid=%d,hop=%d,tc=%d,port=%d,sl=%d,rate=%d",
	    attr.ah_attr.is_global, !!attr.ah_attr.grh.sgid_index,
	    attr.ah_attr.grh.hop_limit, attr.ah_attr.grh.traffic_class,
	    attr.ah_attr.port_num, attr.ah_attr.sl, attr.ah_attr.static_rate);
}

static void op_attr_init(struct world *w)
{
	qp_attr(w, IBV_QPS_INIT);
}

static void op_attr_rtr(struct world *w)
{
	qp_attr(w, IBV_QPS_RTR);
}

static void op_attr_rts(struct world *w)
{
	qp_attr(w, IBV_QPS_RTS);
}

static void op_attr_err(struct world *w)
{
	qp_attr(w, IBV_QPS_ERR);
}

static void join(struct world *w, const char *ip)
{
	union lib_addr group = lib_addr(ip, 0);

	SAY("join", rdma_join_multicast(w->id, &group.sa, NUM(5)));
}

static void op_join(struct world *w)
{
	join(w, "239.1.1.2");
}

static void op_join_unicast(struct world *w)
{
	join(w, IP4);
}

static void join_ex(struct world *w, uint32_t mask, uint32_t flags)
{
	union lib_addr group = lib_addr("239.1.1.3", 0);
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = mask,
		.join_flags = flags,
		.addr = &group.sa,
	};

	SAY("join_ex", rdma_join_multicast_ex(w->id, &attr, NUM(6)));
}

static void op_join_send_only(struct world *w)
{
	join_ex(w, 3, RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER);
}

static void op_join_bad_mask(struct world *w)
{
	join_ex(w, 1, RDMA_MC_JOIN_FLAG_FULLMEMBER);
}

static void op_join_unknown_mask(struct world *w)
{
	join_ex(w, 7, RDMA_MC_JOIN_FLAG_FULLMEMBER);
}

static void op_join_bad_flag(struct world *w)
{
	join_ex(w, 3, RDMA_MC_JOIN_FLAG_RESERVED);
}

static void leave(struct world *w, const char *ip)
{
	union lib_addr group = lib_addr(ip, 0);

	SAY("leave", rdma_leave_multicast(w->id, &group.sa));
}

static void op_leave(struct world *w)
{
	leave(w, GROUP4);
}

static void op_leave_other(struct world *w)
{
	leave(w, "239.9.9.9");
}

static void op_join_leave(struct world *w)
{
	join(w, "239.1.1.4");
	drain(w);
	leave(w, "239.1.1.4");
	leave(w, "239.1.1.4");
}

static void op_join_leave_unread(struct world *w)
{
	join(w, "239.1.1.5");
	leave(w, "239.1.1.5");
}

static void op_set_ece(struct world *w)
{
	struct ibv_ece ece = { .vendor_id = 3, .options = 4 };

	SAY("set_ece", rdma_set_local_ece(w->id, &ece));
}

static void op_get_ece(struct world *w)
{
	struct ibv_ece ece = { 9, 9, 9 };

	SAY("get_ece", rdma_get_remote_ece(w->id, &ece));
	say("ece", "%u,%u,%u", ece.vendor_id, ece.options, ece.comp_mask);
}

static void op_get_request(struct world *w)
{
	struct rdma_cm_id *id = NULL;

	SAY("get_request", rdma_get_request(w->id, &id));
}

/* Nothing is there, or what the state left unread. */
static void op_get_event(struct world *w)
{
	struct rdma_cm_event *event = NULL;

	errno = 0;
	if (fcntl(w->id->channel->fd, F_SETFL, O_NONBLOCK))
		say("fcntl", "-1");
	if (!SAY("get_event", rdma_get_cm_event(w->id->channel, &event)))
		rdma_ack_cm_event(event);
}

static const struct op ops[] = {
	{ "none", op_none },
	{ "bind", op_bind },
	{ "resolve", op_resolve },
	{ "resolve-far", op_resolve_far },
	{ "resolve_route", op_resolve_route },
	{ "listen", op_listen },
	{ "connect", op_connect },
	{ "accept", op_accept },
	{ "accept-null", op_accept_null },
	{ "reject", op_reject },
	{ "establish", op_establish },
	{ "disconnect", op_disconnect },
	{ "notify", op_notify },
	{ "migrate", op_migrate },
	{ "reuse", op_reuse },
	{ "afonly", op_afonly },
	{ "path", op_path },
	{ "create_qp", op_create_qp },
	{ "create_srq", op_create_srq },
	{ "destroy", op_destroy },
	{ "attr-init", op_attr_init },
	{ "attr-rtr", op_attr_rtr },
	{ "attr-rts", op_attr_rts },
	{ "join", op_join },
	{ "get_event", op_get_event },
	{ 0 },
};

/* Variants, for some states. */
static const struct op more_ops[] = {
	{ "reject_ece", op_reject_ece },
	{ "set_ece", op_set_ece },
	{ "get_ece", op_get_ece },
	{ "leave-other", op_leave_other },
	{ "connect-null", op_connect_null },
	{ "migrate-sync", op_migrate_sync },
	{ "bind-any", op_bind_any },
	{ "bind-far", op_bind_far },
	{ "resolve-from", op_resolve_from },
	{ "resolve6", op_resolve6 },
	{ "listen-negative", op_listen_negative },
	{ "connect-max", op_connect_max },
	{ "connect-too-deep", op_connect_too_deep },
	{ "connect-no-data", op_connect_no_data },
	{ "accept-max", op_accept_max },
	{ "accept-too-deep", op_accept_too_deep },
	{ "reject-data", op_reject_data },
	{ "notify-migrated", op_notify_migrated },
	{ "notify-fatal", op_notify_fatal },
	{ "migrate-same", op_migrate_same },
	{ "tos", op_tos },
	{ "ack_timeout", op_ack_timeout },
	{ "no-reuse", op_no_reuse },
	{ "create_qp-other", op_create_qp_other },
	{ "create_qp-large", op_create_qp_large },
	{ "create_qp-empty", op_create_qp_empty },
	{ "create_qp_ex", op_create_qp_ex },
	{ "destroy_srq", op_destroy_srq },
	{ "destroy_qp", op_destroy_qp },
	{ "destroy_ep", op_destroy_ep },
	{ "attr-err", op_attr_err },
	{ "join-unicast", op_join_unicast },
	{ "join-send-only", op_join_send_only },
	{ "join-bad-mask", op_join_bad_mask },
	{ "join-unknown-mask", op_join_unknown_mask },
	{ "join-bad-flag", op_join_bad_flag },
	{ "leave", op_leave },
	{ "join-leave", op_join_leave },
	{ "join-leave-unread", op_join_leave_unread },
	{ "get_request", op_get_request },
	{ 0 },
};

/* For what differs little from what has all of them. */
const struct op few_ops[] = {
	{ "bind", op_bind },
	{ "resolve", op_resolve },
	{ "resolve_route", op_resolve_route },
	{ "listen", op_listen },
	{ "connect", op_connect },
	{ "accept", op_accept },
	{ "reject", op_reject },
	{ "establish", op_establish },
	{ "disconnect", op_disconnect },
	{ "notify", op_notify },
	{ "migrate", op_migrate },
	{ "create_qp", op_create_qp },
	{ "attr-rts", op_attr_rts },
	{ "join", op_join },
	{ 0 },
};

/* For pairs. */
static const struct op pair_ops[] = {
	{ "bind", op_bind },
	{ "resolve", op_resolve },
	{ "resolve_route", op_resolve_route },
	{ "listen", op_listen },
	{ "connect", op_connect },
	{ "accept", op_accept },
	{ "reject", op_reject },
	{ "disconnect", op_disconnect },
	{ "migrate", op_migrate },
	{ "create_qp", op_create_qp },
	{ 0 },
};

/* What is left of the identifier, and what its peer hears of its end. */
static void end(struct world *w)
{
	if (!w->id)
		return;
	say_id(w, "id", w->id);
	if (w->id->qp)
		rdma_destroy_qp(w->id);
	SAY("destroy", rdma_destroy_id(w->id));
	w->id = NULL;
	drain(w);
}

static void run_ops(const struct job *job)
{
	const struct state *state = job->p[0];
	const struct op *first = job->p[1], *second = job->p[2];
	struct world w;

	if (!world_open(&w, job, job->n[0], job->n[1]) || !state->enter(&w)) {
		say("enter", "failed");
		return;
	}
	first->call(&w);
	drain(&w);
	if (second && w.id) {
		second->call(&w);
		drain(&w);
	}
	end(&w);
}

static void add_ops(const char *name, enum rdma_port_space ps, bool sync,
		    const struct state *states, const struct op *first)
{
	const struct state *state;
	const struct op *op;
	struct job *job;

	for (state = states; state->name; state++) {
		for (op = first; op->name; op++) {
			job = job_add(run_ops, "%s/%s/%s", name, state->name,
				      op->name);
			job->p[0] = state;
			job->p[1] = op;
			job->n[0] = ps;
			job->n[1] = sync;
		}
	}
}

static void add_pairs(const char *name, enum rdma_port_space ps,
		      const struct state *states)
{
	const struct op *first, *second;
	const struct state *state;
	struct job *job;

	for (state = states; state->name; state++) {
		for (first = pair_ops; first->name; first++) {
			for (second = pair_ops; second->name; second++) {
				job = job_add(run_ops, "%s/%s/%s+%s", name,
					      state->name, first->name,
					      second->name);
				job->p[0] = state;
				job->p[1] = first;
				job->p[2] = second;
				job->n[0] = ps;
			}
		}
	}
}

/**
 * add_states - add each call in each state
 */
void add_states(void)
{
	add_ops("tcp", RDMA_PS_TCP, false, rc_states, ops);
	add_ops("tcp", RDMA_PS_TCP, false, some_states, more_ops);
	add_ops("udp", RDMA_PS_UDP, false, ud_states, ops);
	add_ops("udp", RDMA_PS_UDP, false, some_states, more_ops);
	add_ops("ib", RDMA_PS_IB, false, some_states, few_ops);
	add_ops("ipoib", RDMA_PS_IPOIB, false, some_states, few_ops);
	add_ops("sync", RDMA_PS_TCP, true, sync_states, few_ops);
	add_ops("sync-udp", RDMA_PS_UDP, true, sync_states, few_ops);
	add_pairs("tcp", RDMA_PS_TCP, pair_states);
}
