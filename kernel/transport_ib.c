// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Connections by the InfiniBand connection manager, ib_cm: RoCE and
 * InfiniBand. IBTA specification volume 1, chapter 12 and annex A11.
 */
#include <linux/log2.h>
#include <linux/math64.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_cm.h>

#include "compat.h"
#include "rcm_priv.h"
#include "transport_ib.h"
#include "wire.h"

static void rcm_ib_rep_event(struct rdma_cm_event *event,
			     const struct ib_cm_event *ib)
{
	const struct ib_cm_rep_event_param *rep = &ib->param.rep_rcvd;

	event->event = RDMA_CM_EVENT_CONNECT_RESPONSE;
	event->param.conn = (struct rdma_conn_param){
		.private_data = ib->private_data,
		.private_data_len = IB_CM_REP_PRIVATE_DATA_SIZE,
		.responder_resources = rep->responder_resources,
		.initiator_depth = rep->initiator_depth,
		.flow_control = rep->flow_control,
		.rnr_retry_count = rep->rnr_retry_count,
		.srq = rep->srq,
		.qp_num = rep->remote_qpn,
	};
	event->ece = rep->ece;
}

static void rcm_ib_rej_event(struct rdma_cm_event *event,
			     const struct ib_cm_event *ib)
{
	event->event = RDMA_CM_EVENT_REJECTED;
	event->status = ib->param.rej_rcvd.reason;
	event->param.conn.private_data = ib->private_data;
	event->param.conn.private_data_len = IB_CM_REJ_PRIVATE_DATA_SIZE;
}

/* What happened, as an operation; RCM_OP_COUNT when it is of no interest. */
static enum rcm_op rcm_ib_op(const struct ib_cm_event *ib)
{
	switch (ib->event) {
	case IB_CM_REQ_ERROR:
	case IB_CM_REP_ERROR:
	case IB_CM_SIDR_REQ_ERROR:
		return RCM_OP_NO_ANSWER;
	case IB_CM_REP_RECEIVED:
		return RCM_OP_REP_RCVD;
	case IB_CM_RTU_RECEIVED:
	case IB_CM_USER_ESTABLISHED:
		return RCM_OP_RTU_RCVD;
	case IB_CM_REJ_RECEIVED:
		return RCM_OP_REJ_RCVD;
	case IB_CM_SIDR_REP_RECEIVED:
		return ib->param.sidr_rep_rcvd.status == IB_SIDR_SUCCESS ?
			       RCM_OP_CONNECTED :
			       RCM_OP_REJ_RCVD;
	case IB_CM_DREQ_RECEIVED:
		return RCM_OP_DREQ_RCVD;
	case IB_CM_DREP_RECEIVED:
		return RCM_OP_DREP_RCVD;
	case IB_CM_DREQ_ERROR:
		return RCM_OP_DREQ_NO_ANSWER;
	case IB_CM_TIMEWAIT_EXIT:
		return RCM_OP_TIMEWAIT_EXIT;
	default:
		return RCM_OP_COUNT;
	}
}

/* Nobody answered; or, the status says why, we cannot use the answer. */
static void rcm_ib_no_answer(struct rcm_id *priv, struct rdma_cm_event *event)
{
	event->event = event->status ? RDMA_CM_EVENT_CONNECT_ERROR :
				       RDMA_CM_EVENT_UNREACHABLE;
	event->status = event->status ?: -ETIMEDOUT;
	rcm_id_blame(priv, RCM_STEP_CONNECT, event->status, 0);
}

/* The consumer's event for what happened. */
static void rcm_ib_event(struct rcm_id *priv, enum rcm_op op,
			 const struct ib_cm_event *ib,
			 struct rdma_cm_event *event)
{
	switch (op) {
	case RCM_OP_NO_ANSWER:
		rcm_ib_no_answer(priv, event);
		break;
	case RCM_OP_REP_RCVD:
		rcm_ib_rep_event(event, ib);
		break;
	case RCM_OP_RTU_RCVD:
		event->event = RDMA_CM_EVENT_ESTABLISHED;
		break;
	case RCM_OP_CONNECTED:
		rcm_ib_ud_rep_event(priv, ib, event);
		break;
	case RCM_OP_REJ_RCVD:
		if (priv->id.qp_type == IB_QPT_UD) {
			rcm_ib_ud_rep_event(priv, ib, event);
			break;
		}
		rcm_ib_rej_event(event, ib);
		rcm_id_blame(priv, RCM_STEP_REJECTED, -ECONNREFUSED,
			     event->status);
		break;
	case RCM_OP_DREQ_NO_ANSWER:
		event->status = -ETIMEDOUT;
		rcm_id_blame(priv, RCM_STEP_DISCONNECT, -ETIMEDOUT, 0);
		fallthrough;
	case RCM_OP_DREQ_RCVD:
	case RCM_OP_DREP_RCVD:
		event->event = RDMA_CM_EVENT_DISCONNECTED;
		break;
	default:
		event->event = RDMA_CM_EVENT_TIMEWAIT_EXIT;
		break;
	}
}

static void rcm_ib_event_done(struct rcm_id *priv, struct rdma_cm_event *event)
{
	if (priv->id.qp_type == IB_QPT_UD)
		rdma_destroy_ah_attr(&event->param.ud.ah_attr);
}

int rcm_ib_handler(struct ib_cm_id *cm, const struct ib_cm_event *ib)
{
	struct rcm_id *priv = cm->context;
	struct rdma_cm_event event = {};
	enum rcm_op op = rcm_ib_op(ib);
	int ret = 0;

	if (op == RCM_OP_COUNT)
		return 0;

	rcm_id_lock_events(priv);
	/* It is tried no more, but the time that was asked for is not over. */
	if (op == RCM_OP_NO_ANSWER && rcm_connect_timer_runs(priv))
		goto out;
	if (ib->event == IB_CM_USER_ESTABLISHED)
		rcm_notify_done(priv);
	/* Our request could not be sent: the time wait stands for its answer. */
	if (op == RCM_OP_TIMEWAIT_EXIT && priv->state == RCM_STATE_CLOSING)
		op = RCM_OP_DREQ_NO_ANSWER;
	if (op == RCM_OP_CONNECTED && priv->state == RCM_STATE_REQ_SENT)
		op = rcm_ib_ud_ah(priv, ib, &event);
	/* Too late, or a second time: the state says so. */
	if (rcm_id_move(priv, op))
		goto out;
	rcm_connect_stop_timer(priv);
	rcm_ib_event(priv, op, ib, &event);
	if (op == RCM_OP_REP_RCVD && priv->id.qp)
		rcm_connect_finish(priv, &event);
	else if (op == RCM_OP_REP_RCVD)
		rcm_ib_prepare_mra(cm);
	else if (op == RCM_OP_REJ_RCVD && priv->id.qp_type != IB_QPT_UD)
		rcm_qp_to_error(priv);

	ret = rcm_id_dispatch(priv, &event);
	rcm_ib_event_done(priv, &event);
	if (ret) {
		/* ib_cm destroys it when we return. */
		priv->cm = NULL;
		rcm_id_destroy_unlock(priv);
		return ret;
	}
	rcm_disconnect_asked(priv, op);
out:
	rcm_id_unlock_events(priv);
	return ret;
}

/* Addresses in a request, and the namespace and interface they belong to. */
struct rcm_ib_request {
	struct rcm_device *device;
	struct net *net;
	union rcm_addr local;
	union rcm_addr remote;
	u16 ps;
	u32 port_num;
	enum ib_qp_type qp_type;
	const struct ib_gid_attr *sgid_attr;
};

static void rcm_ib_set_scope(union rcm_addr *addr, int ifindex)
{
	if (rcm_addr_is_linklocal(addr))
		addr->sin6.sin6_scope_id = ifindex;
}

/*
 * The namespace is the one of the interface that holds the GID. An interface
 * that is down may be about to move to another one.
 */
static struct rcm_id *rcm_ib_find_listener(struct rcm_ib_request *request)
{
	struct rcm_id *listener = NULL;
	struct net_device *ndev;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(request->sgid_attr);
	if (IS_ERR(ndev) || !(ndev->flags & IFF_UP))
		goto out;

	request->net = dev_net(ndev);
	rcm_ib_set_scope(&request->local, ndev->ifindex);
	rcm_ib_set_scope(&request->remote, ndev->ifindex);
	if (rcm_addr_may_talk(request->net, &request->local, &request->remote))
		listener = rcm_listen_find(request->net, request->ps,
					   &request->local, &request->remote);
out:
	rcu_read_unlock();
	return listener;
}

static __be64 rcm_ib_request_service(const struct ib_cm_event *ib,
				     struct rcm_ib_request *request)
{
	if (ib->event == IB_CM_SIDR_REQ_RECEIVED) {
		request->qp_type = IB_QPT_UD;
		request->port_num = ib->param.sidr_req_rcvd.port;
		request->sgid_attr = ib->param.sidr_req_rcvd.sgid_attr;
		return ib->param.sidr_req_rcvd.service_id;
	}
	request->qp_type = ib->param.req_rcvd.qp_type;
	request->port_num = ib->param.req_rcvd.port;
	request->sgid_attr = ib->param.req_rcvd.ppath_sgid_attr;
	return ib->param.req_rcvd.primary_path->service_id;
}

static int rcm_ib_parse(struct ib_cm_id *cm, const struct ib_cm_event *ib,
			struct rcm_ib_request *request)
{
	__be64 service_id = rcm_ib_request_service(ib, request);

	request->device = rcm_device_of(cm->device);
	if (!request->device || !request->sgid_attr)
		return -ENODEV;
	request->ps = rcm_wire_service_ps(service_id);
	return rcm_wire_get(ib->private_data, rcm_wire_service_port(service_id),
			    &request->local, &request->remote);
}

static void rcm_ib_req_event(struct rdma_cm_event *event,
			     const struct ib_cm_event *ib)
{
	const struct ib_cm_req_event_param *req = &ib->param.req_rcvd;

	event->event = RDMA_CM_EVENT_CONNECT_REQUEST;
	event->param.conn = (struct rdma_conn_param){
		.private_data = ib->private_data + sizeof(struct rcm_wire_hdr),
		.private_data_len = RCM_WIRE_REQ_DATA,
		.responder_resources = req->responder_resources,
		.initiator_depth = req->initiator_depth,
		.flow_control = req->flow_control,
		.retry_count = req->retry_count,
		.rnr_retry_count = req->rnr_retry_count,
		.srq = req->srq,
		.qp_num = req->remote_qpn,
	};
	event->ece = req->ece;
}

/* What the request says of the new identifier, and the event for it. */
static void rcm_ib_describe(struct rcm_id *priv, const struct ib_cm_event *ib,
			    struct rdma_cm_event *event)
{
	if (ib->event == IB_CM_SIDR_REQ_RECEIVED) {
		rcm_ib_ud_req_event(ib, event);
		return;
	}
	priv->peer->path = *ib->param.req_rcvd.primary_path;
	rcm_id_use_path(priv);
	priv->hop_limit = priv->peer->path.hop_limit;
	rcm_ib_req_event(event, ib);
}

/* The identifier of the request, with both of its mutexes held. */
static struct rcm_id *rcm_ib_child(struct rcm_id *listener,
				   struct rcm_ib_request *request)
{
	if (listener->state != RCM_STATE_LISTEN)
		return ERR_PTR(-ECONNABORTED);
	if (request->qp_type != listener->id.qp_type)
		return ERR_PTR(-EINVAL);
	return rcm_listen_child(listener, request->device, request->port_num,
				request->sgid_attr, &request->local,
				&request->remote);
}

/* Hands the request to the listener's consumer. */
static int rcm_ib_new_connection(struct rcm_id *priv, struct ib_cm_id *cm,
				 const struct ib_cm_event *ib)
{
	struct rdma_cm_event event = {};
	int ret;

	rcm_ib_describe(priv, ib, &event);
	priv->cm = cm;
	cm->context = priv;
	cm->cm_handler = rcm_ib_handler;

	ret = rcm_id_dispatch(priv, &event);
	if (ret) {
		priv->cm = NULL;
		rcm_id_destroy_unlock(priv);
		return ret;
	}
	if (priv->id.qp_type != IB_QPT_UD)
		rcm_ib_prepare_mra(cm);
	rcm_id_unlock_events(priv);
	return 0;
}

/*
 * A request on one of our service IDs.  Not 0 makes ib_cm reject it, except
 * for -ENOMEM, which makes ib_cm forget it: the peer sends it again.
 */
static int rcm_ib_req_handler(struct ib_cm_id *cm, const struct ib_cm_event *ib)
{
	struct rcm_ib_request request = {};
	struct rcm_id *listener, *priv;
	struct mem_cgroup *memcg;
	int ret;

	if (ib->event != IB_CM_REQ_RECEIVED &&
	    ib->event != IB_CM_SIDR_REQ_RECEIVED)
		return -EINVAL;
	ret = rcm_ib_parse(cm, ib, &request);
	if (ret)
		return ret;
	listener = rcm_ib_find_listener(&request);
	if (!listener)
		return -EINVAL;

	memcg = rcm_listen_lock(listener);
	priv = rcm_ib_child(listener, &request);
	rcm_listen_unlock_mutex(listener);
	ret = IS_ERR(priv) ? PTR_ERR(priv) :
			     rcm_ib_new_connection(priv, cm, ib);
	rcm_listen_unlock(listener, memcg);
	rcm_id_put(listener);
	return ret;
}

/* The caller holds the RCU read lock. */
static const struct ib_gid_attr *rcm_ib_find_gid(struct ib_device *ib, u32 port,
						 const union rcm_addr *addr,
						 struct net_device *ndev)
{
	enum ib_gid_type type = rdma_protocol_roce_udp_encap(ib, port) ?
					IB_GID_TYPE_ROCE_UDP_ENCAP :
					IB_GID_TYPE_ROCE;
	union ib_gid gid;

	if (!rdma_protocol_roce(ib, port))
		return ERR_PTR(-ENODEV);
	rcm_addr_to_gid(addr, &gid);
	return rdma_find_gid_by_port(ib, &gid, type, port, ndev);
}

/* Listeners of one port on one device share a struct ib_cm_id. */
static int rcm_ib_listen(struct rcm_listener *listen, u16 ps, u16 port)
{
	struct ib_cm_id *cm;

	cm = ib_cm_insert_listen(listen->device->ib, rcm_ib_req_handler,
				 rcm_wire_service_id(ps, port));
	if (!IS_ERR(cm)) {
		listen->cm = cm;
		return 0;
	}
	/* The service ID is valid, so it has another manager's handler. */
	return PTR_ERR(cm) == -EINVAL ? -EADDRINUSE : PTR_ERR(cm);
}

static void rcm_ib_unlisten(struct rcm_listener *listen)
{
	ib_destroy_cm_id(listen->cm);
}

__be64 rcm_ib_service_id(struct rcm_id *priv)
{
	return rcm_wire_service_id(priv->id.ps,
				   ntohs(rcm_addr_port(rcm_dst(priv))));
}

/*
 * What the peer gets for its answer, encoded: the longest 4.096 us * 2^n that
 * lets all tries go out in the time there is. For a connection ib_cm adds the
 * way there and back. What is left at the end is the timer's.
 */
u8 rcm_ib_timeout(struct rcm_id *priv)
{
	u64 usec = (u64)priv->connect_timeout_ms * USEC_PER_MSEC;

	if (!usec)
		return RCM_IB_RESPONSE_TIMEOUT;
	usec = div_u64(usec, priv->connect_tries);
	if (priv->id.qp_type != IB_QPT_UD)
		usec -= min(usec, 8ULL << priv->peer->path.packet_life_time);
	usec /= 4;
	return clamp_t(int, usec ? ilog2(usec) : 0, RCM_IB_MIN_TIMEOUT,
		       RCM_IB_RESPONSE_TIMEOUT);
}

static void rcm_ib_fill_req(struct rcm_id *priv,
			    const struct rdma_conn_param *conn,
			    struct ib_cm_req_param *req)
{
	*req = (struct ib_cm_req_param){
		.primary_path = &priv->peer->path,
		.ppath_sgid_attr = priv->sgid_attr,
		.service_id = rcm_ib_service_id(priv),
		.qp_num = priv->qp_num,
		.qp_type = priv->id.qp_type,
		.starting_psn = priv->psn,
		.responder_resources = conn->responder_resources,
		.initiator_depth = conn->initiator_depth,
		.flow_control = conn->flow_control,
		.retry_count = conn->retry_count,
		.rnr_retry_count = conn->rnr_retry_count,
		.remote_cm_response_timeout = rcm_ib_timeout(priv),
		.local_cm_response_timeout = rcm_ib_timeout(priv),
		.max_cm_retries = priv->connect_tries - 1,
		.srq = priv->srq,
		.ece = priv->ece,
	};
}

static int rcm_ib_connect(struct rcm_id *priv,
			  const struct rdma_conn_param *conn)
{
	u8 data[IB_CM_REQ_PRIVATE_DATA_SIZE] = {};
	struct ib_cm_req_param req;
	struct ib_cm_id *cm;
	int ret;

	if (priv->id.qp_type == IB_QPT_UD)
		return rcm_ib_ud_connect(priv, conn);

	rcm_wire_put((struct rcm_wire_hdr *)data, rcm_src(priv), rcm_dst(priv));
	if (conn->private_data_len)
		memcpy(data + sizeof(struct rcm_wire_hdr), conn->private_data,
		       conn->private_data_len);
	rcm_ib_fill_req(priv, conn, &req);
	req.private_data = data;
	req.private_data_len =
		sizeof(struct rcm_wire_hdr) + conn->private_data_len;

	cm = ib_create_cm_id(priv->device->ib, rcm_ib_handler, priv);
	if (IS_ERR(cm))
		return PTR_ERR(cm);

	ret = ib_send_cm_req(cm, &req);
	if (ret) {
		/* Nothing was sent, so no callback runs that wants our mutex. */
		ib_destroy_cm_id(cm);
		return ret;
	}
	priv->cm = cm;
	return 0;
}

static int rcm_ib_accept(struct rcm_id *priv,
			 const struct rdma_conn_param *conn)
{
	struct ib_cm_rep_param rep = {
		.qp_num = priv->qp_num,
		.starting_psn = priv->psn,
		.private_data = conn->private_data,
		.private_data_len = conn->private_data_len,
		.responder_resources = conn->responder_resources,
		.initiator_depth = conn->initiator_depth,
		.flow_control = conn->flow_control,
		.rnr_retry_count = conn->rnr_retry_count,
		.srq = priv->srq,
		.ece = priv->ece,
	};
	int ret;

	if (priv->id.qp_type == IB_QPT_UD)
		return rcm_ib_ud_accept(priv, conn);
	ret = rcm_qp_to_rts(priv, conn);
	return ret ?: ib_send_cm_rep(priv->cm, &rep);
}

static int rcm_ib_establish(struct rcm_id *priv)
{
	return ib_send_cm_rtu(priv->cm, NULL, 0);
}

static int rcm_ib_reject(struct rcm_id *priv, u8 reason, const void *data,
			 u8 len)
{
	if (priv->id.qp_type == IB_QPT_UD)
		return rcm_ib_ud_reject(priv, data, len);
	return ib_send_cm_rej(priv->cm, reason ?: IB_CM_REJ_CONSUMER_DEFINED,
			      NULL, 0, data, len);
}

/*
 * Which of the two is right depends on who was first, and only ib_cm knows.
 * When neither is possible the connection ends by itself.
 */
static int rcm_ib_disconnect(struct rcm_id *priv)
{
	if (ib_send_cm_dreq(priv->cm, NULL, 0))
		ib_send_cm_drep(priv->cm, NULL, 0);
	return 0;
}

/* Each try takes what we asked of the peer, and the way there and back. */
static u64 rcm_ib_try_usec(struct rcm_id *priv)
{
	u64 usec = 4ULL << rcm_ib_timeout(priv);

	if (priv->id.qp_type != IB_QPT_UD)
		usec += 8ULL << priv->peer->path.packet_life_time;
	return usec;
}

static unsigned int rcm_ib_try_ms(struct rcm_id *priv)
{
	return div_u64(rcm_ib_try_usec(priv), USEC_PER_MSEC);
}

/* The peer's request may have asked for less or more of us; it has no bound. */
static unsigned int rcm_ib_disconnect_ms(struct rcm_id *priv)
{
	return div_u64(rcm_ib_try_usec(priv) * (RCM_CONNECT_TRIES + 1),
		       USEC_PER_MSEC);
}

static const char *rcm_ib_reject_msg(int status)
{
	return ibcm_reject_msg(status);
}

/*
 * We give ib_cm no alternate path, so no connection has migrated to one.  It
 * does not look: it would lose the path that there is, and a reference on the
 * GID with it.
 */
static int rcm_ib_notify(struct rcm_id *priv, enum ib_event_type event)
{
	if (event != IB_EVENT_PATH_MIG)
		return ib_cm_notify(priv->cm, event);
	if (priv->state != RCM_STATE_ESTABLISHED ||
	    priv->id.qp_type == IB_QPT_UD)
		return -EINVAL;
	return 0;
}

static int rcm_ib_init_qp_attr(struct rcm_id *priv, struct ib_qp_attr *attr,
			       int *mask)
{
	int ret;

	if (!priv->cm || priv->id.qp_type == IB_QPT_UD)
		return rcm_qp_attr_fresh(priv, attr, mask);

	ret = ib_cm_init_qp_attr(priv->cm, attr, mask);
	/* ib_cm learns it only with our reply, the queue pair needs it before. */
	if (!ret && attr->qp_state == IB_QPS_RTR)
		attr->rq_psn = priv->psn;
	return ret;
}

static void rcm_ib_destroy(void *cm)
{
	ib_destroy_cm_id(cm);
}

const struct rcm_transport rcm_transport_ib = {
	.name = "ib_cm",
	.consumer_reject = IB_CM_REJ_CONSUMER_DEFINED,
	.reject_msg = rcm_ib_reject_msg,
	.has_path = true,
	.max_connect_data = RCM_WIRE_REQ_DATA,
	.max_accept_data = RCM_WIRE_REP_DATA,
	.max_reject_data = RCM_WIRE_REJ_DATA,
	.max_ud_request_data = RCM_WIRE_SIDR_REQ_DATA,
	.max_ud_reply_data = RCM_WIRE_SIDR_REP_DATA,
	.find_gid = rcm_ib_find_gid,
	.listen = rcm_ib_listen,
	.unlisten = rcm_ib_unlisten,
	.connect = rcm_ib_connect,
	.try_ms = rcm_ib_try_ms,
	.accept = rcm_ib_accept,
	.establish = rcm_ib_establish,
	.reject = rcm_ib_reject,
	.disconnect = rcm_ib_disconnect,
	.disconnect_ms = rcm_ib_disconnect_ms,
	.notify = rcm_ib_notify,
	.init_qp_attr = rcm_ib_init_qp_attr,
	.destroy = rcm_ib_destroy,
};
