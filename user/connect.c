// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Connections: made, answered, ended.
 */
#include <errno.h>
#include <string.h>

#include "rcm_user.h"

/* Private data of an acceptance: REP, SIDR_REP; MPA takes what fits a byte. */
#define RCM_REP_DATA	  196
#define RCM_SIDR_REP_DATA 136
#define RCM_MPA_DATA	  255

/* What is used when the application gives no parameters. */
#define RCM_DEFAULT_RETRY 7

static __u8 rcm_min(__u8 a, __u8 b)
{
	return a < b ? a : b;
}

static int rcm_check_param(struct rcm_id *id,
			   const struct rdma_conn_param *param)
{
	const struct rcm_device *dev = id->dev;

	if (!param)
		return 0;
	if (param->private_data_len && !param->private_data)
		return rcm_id_fail(id, RCM_STEP_PARAM, EINVAL);
	/* Datagrams have none of these. */
	if (rcm_id_is_ud(id))
		return 0;
	if (param->responder_resources != RDMA_MAX_RESP_RES &&
	    param->responder_resources > dev->max_responder_resources)
		return rcm_id_fail(id, RCM_STEP_PARAM, EINVAL);
	if (param->initiator_depth != RDMA_MAX_INIT_DEPTH &&
	    param->initiator_depth > dev->max_initiator_depth)
		return rcm_id_fail(id, RCM_STEP_PARAM, EINVAL);
	return 0;
}

/* The library's data first, see rdma_getaddrinfo(3). */
static int rcm_fill_private_data(struct rcm_conn_param *to, struct rcm_id *id,
				 const struct rdma_conn_param *from)
{
	size_t len = id->connect_len;
	size_t user = from ? from->private_data_len : 0;

	if (len + user > sizeof(to->private_data))
		return rcm_id_fail(id, RCM_STEP_PARAM, EINVAL);
	if (len)
		memcpy(to->private_data, id->connect_data, len);
	if (user)
		memcpy(to->private_data + len, from->private_data, user);
	to->private_data_len = len + user;
	return 0;
}

static int rcm_fill_param(struct rcm_conn_param *to, struct rcm_id *id,
			  const struct rdma_conn_param *from)
{
	to->responder_resources = id->responder_resources;
	to->initiator_depth = id->initiator_depth;
	to->retry_count = from ? from->retry_count : RCM_DEFAULT_RETRY;
	to->rnr_retry_count = from ? from->rnr_retry_count : RCM_DEFAULT_RETRY;
	to->flow_control = from && from->flow_control;
	if (id->id.qp) {
		to->qp_num = id->id.qp->qp_num;
		to->srq = !!id->id.qp->srq;
	} else if (from) {
		to->qp_num = from->qp_num;
		to->srq = !!from->srq;
	}
	return rcm_fill_private_data(to, id, from);
}

static int rcm_fill_ece(struct rcm_ece *to, struct rcm_id *id)
{
	struct ibv_ece ece = { 0 };
	int ret;

	*to = id->local_ece;
	if (!id->id.qp)
		return 0;
	ret = ibv_query_ece(id->id.qp, &ece);
	if (ret)
		return ret == EOPNOTSUPP ? 0 : rcm_fail(ret);
	to->vendor_id = ece.vendor_id;
	to->attr_mod = ece.options;
	return 0;
}

/* What both rdma_connect() and rdma_accept() start with. */
static struct rcm_id *rcm_ready(struct rdma_cm_id *id,
				const struct rdma_conn_param *param)
{
	struct rcm_id *priv;

	if (!rcm_id_started(id))
		return NULL;
	priv = to_rcm_id(id);
	if (!priv->dev) {
		rcm_id_fail(priv, RCM_STEP_STATE, EINVAL);
		return NULL;
	}
	/* Nobody says which queue pair it is for. */
	if (!param && !id->qp && !rcm_id_is_ud(priv)) {
		errno = EINVAL;
		return NULL;
	}
	return rcm_check_param(priv, param) ? NULL : priv;
}

struct rcm_limits {
	__u8 responder_resources;
	__u8 initiator_depth;
};

static struct rcm_limits rcm_get_limits(const struct rcm_id *id)
{
	return (struct rcm_limits){
		.responder_resources = id->responder_resources,
		.initiator_depth = id->initiator_depth,
	};
}

static void rcm_set_limits(struct rcm_id *id, struct rcm_limits limits)
{
	id->responder_resources = limits.responder_resources;
	id->initiator_depth = limits.initiator_depth;
}

static int rcm_connect(struct rcm_id *id, const struct rdma_conn_param *param)
{
	struct rcm_connect cmd = {
		.size = sizeof(cmd),
		.handle = rcm_id_handle(id),
	};

	if (rcm_fill_param(&cmd.conn, id, param) || rcm_fill_ece(&cmd.ece, id))
		return -1;
	return rcm_id_ioctl(id, RCM_CONNECT, &cmd);
}

/**
 * rdma_connect - ask the peer for a connection
 * @id: identifier whose route is resolved
 * @conn_param: parameters; RDMA_MAX_RESP_RES and RDMA_MAX_INIT_DEPTH stand for
 *	the device's limits; NULL, where id->qp is one: these limits, retry
 *	counts 7, no private data
 *
 * At most 56 bytes of private data on RoCE and InfiniBand, 255 on iWARP, 180
 * of a datagram identifier, which asks for the peer's address and queue pair only.  Does not
 * wait unless the identifier is synchronous.  RDMA_CM_EVENT_ESTABLISHED,
 * RDMA_CM_EVENT_REJECTED, RDMA_CM_EVENT_UNREACHABLE or
 * RDMA_CM_EVENT_CONNECT_ERROR follows; for an identifier without a queue pair
 * RDMA_CM_EVENT_CONNECT_RESPONSE instead of the first, to be answered by
 * rdma_establish().
 *
 * Follows rdma_connect(3).
 *
 * Return: 0, or -1 with errno: EINVAL (NULL, route not resolved, private data
 * too long, more resources than the device has), ENODEV (device is gone),
 * ENOMEM; synchronously also the event's: ECONNREFUSED (rejected), ETIMEDOUT.
 */
int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	struct rcm_limits old;
	struct rcm_id *priv;
	int error;

	priv = rcm_ready(id, conn_param);
	if (!priv)
		return -1;
	old = rcm_get_limits(priv);
	priv->responder_resources = priv->dev->max_responder_resources;
	priv->initiator_depth = priv->dev->max_initiator_depth;
	if (conn_param) {
		priv->responder_resources =
			rcm_min(priv->responder_resources,
				conn_param->responder_resources);
		priv->initiator_depth = rcm_min(priv->initiator_depth,
						conn_param->initiator_depth);
	}
	if (rcm_connect(priv, conn_param)) {
		error = errno;
		rcm_set_limits(priv, old);
		return rcm_fail(error);
	}
	return rcm_complete(priv);
}

/**
 * rdma_establish - confirm the peer's acceptance
 * @id: identifier without a queue pair that got RDMA_CM_EVENT_CONNECT_RESPONSE
 *
 * To be called when the application's own queue pair can receive.  The
 * connection is established when this returns; no event follows.  Does not
 * wait.
 *
 * Follows rdma_establish(3).
 *
 * Return: 0, or -1 with errno: EINVAL (NULL, it has a queue pair, wrong
 * state), ENODEV (device is gone), ENOMEM.
 */
int rdma_establish(struct rdma_cm_id *id)
{
	struct rcm_establish cmd = { .size = sizeof(cmd) };

	if (!id || id->qp || !rcm_id_handle(to_rcm_id(id)))
		return rcm_fail(EINVAL);
	cmd.handle = rcm_id_handle(to_rcm_id(id));
	if (rcm_id_ioctl(to_rcm_id(id), RCM_ESTABLISH, &cmd))
		return -1;
	to_rcm_id(id)->connected = true;
	return 0;
}

/**
 * rdma_listen - accept connection requests from now on
 * @id: identifier; bound to 0.0.0.0 and a port that the kernel chooses when it
 *	is not bound
 * @backlog: requests that may wait unread; 0 or less, or more than the
 *	kernel's limit, means the limit
 *
 * Each request comes as RDMA_CM_EVENT_CONNECT_REQUEST with a new identifier.
 * Bound to a wildcard address it listens on all RDMA devices, those that come
 * later included.  Does not wait.
 *
 * Follows rdma_listen(3).
 *
 * Return: 0, or -1 with errno: EINVAL (NULL, wrong state), EADDRINUSE and
 * EADDRNOTAVAIL (port taken, see rdma_bind_addr()), ENODEV, ENOMEM, EMFILE.
 */
int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	struct rcm_listen cmd = { .size = sizeof(cmd) };
	struct rcm_id *priv;

	if (!id)
		return rcm_fail(EINVAL);
	priv = to_rcm_id(id);
	if (rcm_id_need_handle(priv))
		return -1;
	cmd.handle = rcm_id_handle(priv);
	cmd.backlog = backlog > 0 ? backlog : 0;
	if (rcm_id_ioctl(priv, RCM_LISTEN, &cmd))
		return -1;
	return rdma_get_src_port(id) ? 0 : rcm_id_refresh(priv);
}

/* What the application asks for, or what both sides can. */
static void rcm_accept_limits(struct rcm_id *id,
			      const struct rdma_conn_param *param)
{
	struct rcm_limits limits = {
		.responder_resources =
			rcm_min(id->responder_resources,
				id->dev->max_responder_resources),
		.initiator_depth = rcm_min(id->initiator_depth,
					   id->dev->max_initiator_depth),
	};

	if (param && param->responder_resources != RDMA_MAX_RESP_RES)
		limits.responder_resources = param->responder_resources;
	if (param && param->initiator_depth != RDMA_MAX_INIT_DEPTH)
		limits.initiator_depth = param->initiator_depth;
	rcm_set_limits(id, limits);
}

static int rcm_accept_room(const struct rcm_id *id)
{
	if (id->dev->verbs->device->transport_type == IBV_TRANSPORT_IWARP)
		return RCM_MPA_DATA;
	return rcm_id_is_ud(id) ? RCM_SIDR_REP_DATA : RCM_REP_DATA;
}

static int rcm_accept(struct rcm_id *id, const struct rdma_conn_param *param)
{
	struct rcm_accept cmd = {
		.size = sizeof(cmd),
		.handle = rcm_id_handle(id),
		.uid = id->uid,
	};
	int error;

	if (rcm_fill_param(&cmd.conn, id, param))
		return -1;
	/* The kernel says so, too, but then the queue pair has moved on. */
	if (cmd.conn.private_data_len > rcm_accept_room(id))
		return rcm_fail(EINVAL);
	if (id->id.qp && !rcm_id_is_ud(id) && rcm_qp_connect(id))
		return -1;
	if (rcm_fill_ece(&cmd.ece, id))
		return -1;
	if (!rcm_id_ioctl(id, RCM_ACCEPT, &cmd))
		return 0;
	error = errno;
	rcm_qp_error(id);
	return rcm_fail(error);
}

/**
 * rdma_accept - accept a connection request
 * @id: identifier of a RDMA_CM_EVENT_CONNECT_REQUEST
 * @conn_param: parameters; RDMA_MAX_RESP_RES and RDMA_MAX_INIT_DEPTH stand for
 *	the smaller of what the peer offers and the device's limit; NULL, where
 *	id->qp is one: these, and no private data
 *
 * At most 196 bytes of private data on RoCE and InfiniBand, 255 on iWARP, 136
 * of a datagram identifier.  Does not wait unless the identifier is synchronous.
 * RDMA_CM_EVENT_ESTABLISHED follows; RDMA_CM_EVENT_DISCONNECTED may come
 * without it when the peer is quick.  A datagram identifier is done when the
 * call returns, and no event follows.
 *
 * Follows rdma_accept(3).
 *
 * Return: 0, or -1 with errno: EINVAL (NULL, no request to answer, private data
 * too long, more resources than the device has), those of ibv_modify_qp(),
 * ENODEV (device is gone), ENOMEM; synchronously also the event's.
 */
int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	struct rcm_limits offered;
	struct rcm_id *priv;
	int error;

	priv = rcm_ready(id, conn_param);
	if (!priv)
		return -1;
	offered = rcm_get_limits(priv);
	rcm_accept_limits(priv, conn_param);
	if (rcm_accept(priv, conn_param)) {
		error = errno;
		rcm_set_limits(priv, offered);
		return rcm_fail(error);
	}
	if (!rcm_id_is_ud(priv))
		return rcm_complete(priv);
	/* No other event will take the place of the request's. */
	if (priv->sync)
		rcm_drop_event(priv);
	return 0;
}

static int rcm_reject(struct rdma_cm_id *id, const void *private_data,
		      __u8 private_data_len, __u8 reason)
{
	struct rcm_reject cmd = {
		.size = sizeof(cmd),
		.reason = reason,
		.private_data_len = private_data_len,
	};
	struct rcm_id *priv;
	int ret;

	if (!rcm_id_started(id))
		return -1;
	if (private_data_len && !private_data)
		return rcm_fail(EINVAL);
	priv = to_rcm_id(id);
	cmd.handle = rcm_id_handle(priv);
	if (private_data_len)
		memcpy(cmd.private_data, private_data, private_data_len);
	ret = rcm_id_ioctl(priv, RCM_REJECT, &cmd);
	if (!ret)
		rcm_drop_event(priv);
	return ret;
}

/**
 * rdma_reject - refuse a connection request
 * @id: identifier of a RDMA_CM_EVENT_CONNECT_REQUEST; still to be destroyed
 * @private_data: data for the peer, or NULL
 * @private_data_len: bytes of it, at most 148 on RoCE and InfiniBand, 136 of a
 *	datagram identifier, 255 on iWARP
 *
 * The peer gets RDMA_CM_EVENT_REJECTED with status 28, on iWARP with a negative
 * errno of its device's; of a datagram identifier RDMA_CM_EVENT_UNREACHABLE
 * with status 2.  Does not wait.
 *
 * Follows rdma_reject(3).
 *
 * Return: 0, or -1 with errno: EINVAL (NULL, no request to answer, private data
 * too long), ENODEV (device is gone), ENOMEM.
 */
int rdma_reject(struct rdma_cm_id *id, const void *private_data,
		__u8 private_data_len)
{
	return rcm_reject(id, private_data, private_data_len, RCM_REJ_CONSUMER);
}

/**
 * rdma_reject_ece - refuse a connection request for its ECE options
 * @id: identifier of a RDMA_CM_EVENT_CONNECT_REQUEST; still to be destroyed
 * @private_data: data for the peer, or NULL
 * @private_data_len: bytes of it, at most 148 on RoCE and InfiniBand, 136 of a
 *	datagram identifier, 255 on iWARP
 *
 * As rdma_reject(), with status 35.
 *
 * Follows the comment in <rdma/rdma_cma.h>.
 *
 * Return: 0, or -1 with errno as of rdma_reject().
 */
int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data,
		    __u8 private_data_len)
{
	return rcm_reject(id, private_data, private_data_len,
			  RCM_REJ_VENDOR_OPTION);
}

/**
 * rdma_notify - tell of an event on the queue pair
 * @id: identifier
 * @event: IBV_EVENT_COMM_EST: data came before the peer's confirmation did
 *
 * Follows rdma_notify(3).  Does not wait.
 *
 * Return: 0, or -1 with errno: EISCONN (established already, may be ignored),
 * EINVAL (NULL, other events, wrong state), ENODEV (device is gone).
 */
int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
	struct rcm_notify cmd = {
		.size = sizeof(cmd),
		.event = event,
	};

	if (!rcm_id_started(id))
		return -1;
	cmd.handle = rcm_id_handle(to_rcm_id(id));
	return rcm_id_ioctl(to_rcm_id(id), RCM_NOTIFY, &cmd);
}

/**
 * rdma_disconnect - end a connection
 * @id: identifier
 *
 * Moves the queue pair, when there is one, to the error state, so that what
 * was posted is flushed; on iWARP what was posted is finished first, where the
 * device can do that.  RDMA_CM_EVENT_DISCONNECTED follows once on either
 * side.  Does not wait unless the identifier is synchronous.
 *
 * Follows rdma_disconnect(3).
 *
 * Return: 0, or -1 with errno: EINVAL (NULL, or nothing was connected), ENODEV
 * (device is gone), ENOMEM.
 */
int rdma_disconnect(struct rdma_cm_id *id)
{
	struct rcm_disconnect cmd = { .size = sizeof(cmd) };
	struct rcm_id *priv;

	if (!rcm_id_started(id))
		return -1;
	priv = to_rcm_id(id);
	cmd.handle = rcm_id_handle(priv);
	rcm_qp_close(priv);
	if (rcm_id_ioctl(priv, RCM_DISCONNECT, &cmd))
		return -1;
	/* Nothing else to wait for. */
	if (!priv->connected || priv->disconnected)
		return 0;
	return rcm_complete(priv);
}

/**
 * rdma_set_local_ece - options to offer for a queue pair of the application's
 * @id: identifier without a queue pair
 * @ece: options; vendor_id not 0
 *
 * Follows rdma_set_local_ece(3).  Does not wait.
 *
 * Return: 0, or -1 with errno EINVAL (NULL, it has a queue pair, no vendor,
 * comp_mask not 0).
 */
int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	if (!id || id->qp || !ece || !ece->vendor_id || ece->comp_mask)
		return rcm_fail(EINVAL);
	to_rcm_id(id)->local_ece.vendor_id = ece->vendor_id;
	to_rcm_id(id)->local_ece.attr_mod = ece->options;
	return 0;
}

/**
 * rdma_get_remote_ece - options that came with the request or the response
 * @id: identifier without a queue pair
 * @ece: where to put them; all 0 when there were none
 *
 * Follows rdma_get_remote_ece(3).  Does not wait.
 *
 * Return: 0, or -1 with errno EINVAL (NULL, or it has a queue pair).
 */
int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	if (!id || id->qp || !ece)
		return rcm_fail(EINVAL);
	ece->vendor_id = to_rcm_id(id)->remote_ece.vendor_id;
	ece->options = to_rcm_id(id)->remote_ece.attr_mod;
	ece->comp_mask = 0;
	return 0;
}
