// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * States that an identifier can be in, and how it gets there.  What goes
 * wrong on the way is printed as "setup"; what goes well is not.
 */
#include "seq.h"

/* Nothing comes any more when nothing came for so long, milliseconds. */
int quiet_ms = 700;

#define CONTEXT ((void *)0x1234)

/**
 * own_addr - one of the addresses that belong to the sequence
 * @w: the sequence
 * @n: which of its ports
 */
union lib_addr own_addr(const struct world *w, int n)
{
	return lib_addr(IP4, w->job->port + n);
}

static bool failed(const char *what)
{
	say("setup", "%s,%s", what, strerrorname_np(errno));
	return false;
}

/**
 * world_open - begin
 * @w: filled in
 * @job: the sequence
 * @ps: port space
 * @sync: the identifier under test will be synchronous
 *
 * Return: false when there are no channels.
 */
bool world_open(struct world *w, const struct job *job, enum rdma_port_space ps,
		bool sync)
{
	memset(w, 0, sizeof(*w));
	w->job = job;
	w->ps = ps;
	w->sync = sync;
	w->near = rdma_create_event_channel();
	w->far = rdma_create_event_channel();
	return (w->near && w->far) || failed("channel");
}

/**
 * wait_event - wait for one event
 * @w: the sequence
 * @channel: where it comes
 * @type: what it has to be
 *
 * Return: the event, or NULL when another came, or none.
 */
struct rdma_cm_event *wait_event(struct world *w,
				 struct rdma_event_channel *channel,
				 enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;

	if (!readable(channel, PATIENCE) ||
	    rdma_get_cm_event(channel, &event)) {
		failed(rdma_event_str(type));
		return NULL;
	}
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		w->request = event->id;
	if (event->event == type)
		return event;
	say_event(w, "setup", event);
	rdma_ack_cm_event(event);
	return NULL;
}

/**
 * wait_for - wait for one event and acknowledge it
 * @w: the sequence
 * @channel: where it comes
 * @type: what it has to be
 */
bool wait_for(struct world *w, struct rdma_event_channel *channel,
	      enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = wait_event(w, channel, type);

	return event && !rdma_ack_cm_event(event);
}

static void drain_channel(struct world *w, struct rdma_event_channel *channel,
			  const char *key, int ms)
{
	struct rdma_cm_event *event;

	while (channel && readable(channel, ms) &&
	       !rdma_get_cm_event(channel, &event)) {
		/* When it comes is a matter of time, and it may be dropped. */
		if (event->event != RDMA_CM_EVENT_TIMEWAIT_EXIT)
			say_event(w, key, event);
		if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
			w->request = event->id;
		rdma_ack_cm_event(event);
	}
}

/**
 * drain - print the events of either side until no more come
 * @w: the sequence
 */
void drain(struct world *w)
{
	drain_channel(w, w->near, "event", quiet_ms);
	drain_channel(w, w->far, "far", quiet_ms / 2);
	drain_channel(w, w->near, "event", 0);
}

/**
 * conn_param - ordinary parameters of a connection
 * @id: whose they are
 * @data: private data
 * @len: bytes of it
 *
 * The number of the queue pair that is none differs from any other side's: two
 * connections of one would be in each other's way.
 */
struct rdma_conn_param conn_param(const struct rdma_cm_id *id, void *data,
				  int len)
{
	static uint32_t last;

	return (struct rdma_conn_param){
		.private_data = data,
		.private_data_len = len,
		.responder_resources = 2,
		.initiator_depth = 3,
		.flow_control = 1,
		.retry_count = 5,
		.rnr_retry_count = 6,
		.qp_num = id->qp ? id->qp->qp_num :
				   0x100000 + (getpid() << 3) + ++last % 8,
	};
}

/* An event that asynchronous calls are followed by. */
static bool arrived(struct world *w, struct rdma_cm_id *id,
		    enum rdma_cm_event_type type)
{
	return (w->sync && id == w->id) || wait_for(w, id->channel, type);
}

bool enter_fresh(struct world *w)
{
	if (rdma_create_id(w->sync ? NULL : w->near, &w->id, CONTEXT, w->ps))
		return failed("create");
	return true;
}

static bool bind_to(struct world *w, const char *ip)
{
	union lib_addr addr = lib_addr(ip, w->job->port + 1);

	if (!enter_fresh(w))
		return false;
	return !rdma_bind_addr(w->id, &addr.sa) || failed("bind");
}

static bool enter_bound(struct world *w)
{
	return bind_to(w, IP4);
}

static bool enter_bound_any(struct world *w)
{
	return bind_to(w, "0.0.0.0");
}

static bool enter_bound_any6(struct world *w)
{
	return bind_to(w, "::");
}

static bool enter_bind_failed(struct world *w)
{
	union lib_addr addr = lib_addr(FAR_IP4, w->job->port + 1);

	return enter_fresh(w) && rdma_bind_addr(w->id, &addr.sa);
}

static bool listen_far(struct world *w)
{
	w->listener = listening_id(w->far, w->ps, IP4, w->job->port);
	w->peer = w->listener;
	return w->listener || failed("listen");
}

static bool resolve_addr(struct world *w, struct rdma_cm_id *id)
{
	union lib_addr dst = own_addr(w, 0);

	if (rdma_resolve_addr(id, NULL, &dst.sa, TIMEOUT))
		return failed("resolve_addr");
	return arrived(w, id, RDMA_CM_EVENT_ADDR_RESOLVED);
}

static bool resolve_route(struct world *w, struct rdma_cm_id *id)
{
	if (rdma_resolve_route(id, TIMEOUT))
		return failed("resolve_route");
	return arrived(w, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static bool enter_addr(struct world *w)
{
	return listen_far(w) && enter_fresh(w) && resolve_addr(w, w->id);
}

bool enter_route(struct world *w)
{
	return enter_addr(w) && resolve_route(w, w->id);
}

static bool enter_route_qp(struct world *w)
{
	return enter_route(w) && (!create_qp(w->id) || failed("create_qp"));
}

static bool enter_addr_failed(struct world *w)
{
	union lib_addr dst = lib_addr(DEAD_IP4, w->job->port);

	if (!enter_fresh(w) || rdma_resolve_addr(w->id, NULL, &dst.sa, 50))
		return failed("resolve_addr");
	return wait_for(w, w->near, RDMA_CM_EVENT_ADDR_ERROR);
}

static bool enter_resolving(struct world *w)
{
	union lib_addr dst = lib_addr(DEAD_IP4, w->job->port);

	if (!enter_fresh(w) || rdma_resolve_addr(w->id, NULL, &dst.sa, 60000))
		return failed("resolve_addr");
	return true;
}

static bool enter_no_route(struct world *w)
{
	union lib_addr dst = lib_addr(FAR_IP4, w->job->port);

	return enter_fresh(w) &&
	       (rdma_resolve_addr(w->id, NULL, &dst.sa, TIMEOUT) ||
		wait_for(w, w->near, RDMA_CM_EVENT_ADDR_ERROR));
}

static bool enter_listen(struct world *w)
{
	return enter_bound(w) && (!rdma_listen(w->id, 4) || failed("listen"));
}

static bool enter_listen_any(struct world *w)
{
	return enter_bound_any(w) &&
	       (!rdma_listen(w->id, 4) || failed("listen"));
}

static bool connect_to(struct world *w, struct rdma_cm_id *id,
		       struct rdma_event_channel *server)
{
	struct rdma_conn_param param = conn_param(id, NULL, 0);

	if (rdma_connect(id, &param))
		return failed("connect");
	return wait_for(w, server, RDMA_CM_EVENT_CONNECT_REQUEST);
}

bool enter_connecting(struct world *w)
{
	return enter_route_qp(w) && connect_to(w, w->id, w->far);
}

bool enter_connecting_no_qp(struct world *w)
{
	return enter_route(w) && connect_to(w, w->id, w->far);
}

static bool accept_by(struct rdma_cm_id *id, bool qp)
{
	struct rdma_conn_param param;

	if (qp && create_qp(id))
		return failed("create_qp");
	param = conn_param(id, NULL, 0);
	return !rdma_accept(id, &param) || failed("accept");
}

static bool accept_far(struct world *w)
{
	w->peer = w->request;
	return accept_by(w->peer, true);
}

static bool is_ud(const struct world *w)
{
	return w->id->qp_type == IBV_QPT_UD;
}

static bool enter_connected(struct world *w)
{
	return enter_connecting(w) && accept_far(w) &&
	       wait_for(w, w->near, RDMA_CM_EVENT_ESTABLISHED) &&
	       (is_ud(w) || wait_for(w, w->far, RDMA_CM_EVENT_ESTABLISHED));
}

static bool enter_response(struct world *w)
{
	return enter_connecting_no_qp(w) && accept_far(w) &&
	       wait_for(w, w->near, RDMA_CM_EVENT_CONNECT_RESPONSE);
}

static bool enter_established(struct world *w)
{
	return enter_response(w) &&
	       (!rdma_establish(w->id) || failed("establish")) &&
	       wait_for(w, w->far, RDMA_CM_EVENT_ESTABLISHED);
}

static enum rdma_cm_event_type refusal(const struct world *w)
{
	return is_ud(w) ? RDMA_CM_EVENT_UNREACHABLE : RDMA_CM_EVENT_REJECTED;
}

static bool enter_rejected(struct world *w)
{
	if (!enter_connecting(w))
		return false;
	w->peer = w->request;
	if (rdma_reject(w->peer, NULL, 0))
		return failed("reject");
	return wait_for(w, w->near, refusal(w));
}

static bool enter_nobody_listens(struct world *w)
{
	struct rdma_conn_param param;

	if (!enter_route_qp(w))
		return false;
	rdma_destroy_id(w->listener);
	w->peer = NULL;
	w->listener = NULL;
	param = conn_param(w->id, NULL, 0);
	if (rdma_connect(w->id, &param))
		return failed("connect");
	return wait_for(w, w->near, refusal(w));
}

/* @first disconnects and hears of it when the other has answered. */
static bool disconnect(struct world *w, struct rdma_cm_id *first,
		       struct rdma_cm_id *second)
{
	if (rdma_disconnect(first) ||
	    !wait_for(w, second->channel, RDMA_CM_EVENT_DISCONNECTED))
		return failed("disconnect");
	return second == w->id ||
	       (!rdma_disconnect(second) &&
		wait_for(w, first->channel, RDMA_CM_EVENT_DISCONNECTED));
}

static bool enter_disconnected(struct world *w)
{
	return enter_connected(w) && disconnect(w, w->id, w->peer);
}

static bool enter_disconnected_by_peer(struct world *w)
{
	return enter_connected(w) && disconnect(w, w->peer, w->id);
}

static bool enter_disconnecting(struct world *w)
{
	return enter_connected(w) && !rdma_disconnect(w->id);
}

/* The passive side: the peer is active, and the identifier the request's. */
static bool request_from(struct world *w, bool qp)
{
	w->listener = listening_id(w->near, w->ps, IP4, w->job->port);
	if (!w->listener)
		return failed("listen");
	if (rdma_create_id(w->far, &w->peer, NULL, w->ps))
		return failed("create");
	if (!resolve_addr(w, w->peer) || !resolve_route(w, w->peer))
		return false;
	if (qp && create_qp(w->peer))
		return failed("create_qp");
	if (!connect_to(w, w->peer, w->near))
		return false;
	w->id = w->request;
	return true;
}

bool enter_request(struct world *w)
{
	return request_from(w, true);
}

static bool enter_request_qp(struct world *w)
{
	return request_from(w, true) &&
	       (!create_qp(w->id) || failed("create_qp"));
}

static bool enter_accepted(struct world *w)
{
	return request_from(w, false) && accept_by(w->id, true) &&
	       wait_for(w, w->far, RDMA_CM_EVENT_CONNECT_RESPONSE);
}

static bool enter_server(struct world *w)
{
	return request_from(w, true) && accept_by(w->id, true) &&
	       wait_for(w, w->far, RDMA_CM_EVENT_ESTABLISHED) &&
	       (is_ud(w) || wait_for(w, w->near, RDMA_CM_EVENT_ESTABLISHED));
}

static bool enter_rejecter(struct world *w)
{
	return request_from(w, true) &&
	       (!rdma_reject(w->id, NULL, 0) || failed("reject")) &&
	       wait_for(w, w->far, refusal(w));
}

static bool enter_server_disconnected(struct world *w)
{
	return enter_server(w) && disconnect(w, w->id, w->peer);
}

static bool enter_server_disconnected_by_peer(struct world *w)
{
	return enter_server(w) && disconnect(w, w->peer, w->id);
}

/* The peer destroys its identifier before it got an answer. */
static bool enter_request_stale(struct world *w)
{
	if (!request_from(w, true))
		return false;
	rdma_destroy_qp(w->peer);
	rdma_destroy_id(w->peer);
	w->peer = NULL;
	/* Until the rejection has arrived, which no event tells. */
	usleep(quiet_ms * 1000);
	return true;
}

static bool enter_joined(struct world *w)
{
	union lib_addr group = lib_addr(GROUP4, 0);

	return enter_addr(w) && !create_qp(w->id) &&
	       !rdma_join_multicast(w->id, &group.sa, CONTEXT) &&
	       wait_for(w, w->near, RDMA_CM_EVENT_MULTICAST_JOIN);
}

const struct state rc_states[] = {
	{ "fresh", enter_fresh },
	{ "bind-failed", enter_bind_failed },
	{ "bound", enter_bound },
	{ "bound-any", enter_bound_any },
	{ "bound-any6", enter_bound_any6 },
	{ "resolving", enter_resolving },
	{ "addr", enter_addr },
	{ "addr-failed", enter_addr_failed },
	{ "no-route", enter_no_route },
	{ "route", enter_route },
	{ "route-qp", enter_route_qp },
	{ "listen", enter_listen },
	{ "listen-any", enter_listen_any },
	{ "connecting", enter_connecting },
	{ "connecting-no-qp", enter_connecting_no_qp },
	{ "response", enter_response },
	{ "established-no-qp", enter_established },
	{ "connected", enter_connected },
	{ "rejected", enter_rejected },
	{ "nobody-listens", enter_nobody_listens },
	{ "disconnecting", enter_disconnecting },
	{ "disconnected", enter_disconnected },
	{ "disconnected-by-peer", enter_disconnected_by_peer },
	{ "request", enter_request },
	{ "request-qp", enter_request_qp },
	{ "request-stale", enter_request_stale },
	{ "accepted", enter_accepted },
	{ "server", enter_server },
	{ "rejecter", enter_rejecter },
	{ "server-disconnected", enter_server_disconnected },
	{ "server-disconnected-by-peer", enter_server_disconnected_by_peer },
	{ 0 },
};

const struct state ud_states[] = {
	{ "fresh", enter_fresh },
	{ "bound", enter_bound },
	{ "bound-any", enter_bound_any },
	{ "resolving", enter_resolving },
	{ "addr", enter_addr },
	{ "route", enter_route },
	{ "route-qp", enter_route_qp },
	{ "listen", enter_listen },
	{ "connecting", enter_connecting },
	{ "connected", enter_connected },
	{ "rejected", enter_rejected },
	{ "nobody-listens", enter_nobody_listens },
	{ "request", enter_request },
	{ "server", enter_server },
	{ "rejecter", enter_rejecter },
	{ "joined", enter_joined },
	{ 0 },
};

/* For the port spaces that differ from these two in little. */
const struct state some_states[] = {
	{ "fresh", enter_fresh },
	{ "bound", enter_bound },
	{ "route", enter_route },
	{ "listen", enter_listen },
	{ "connected", enter_connected },
	{ "request", enter_request },
	{ 0 },
};

/* Where two calls are made one after the other. */
const struct state pair_states[] = {
	{ "route", enter_route },
	{ "request", enter_request },
	{ 0 },
};

const struct state sync_states[] = {
	{ "fresh", enter_fresh },
	{ "bound", enter_bound },
	{ "addr", enter_addr },
	{ "route", enter_route },
	{ "route-qp", enter_route_qp },
	{ "listen", enter_listen },
	{ 0 },
};
