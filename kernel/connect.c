// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Connect, accept, reject, disconnect: what does not depend on the transport.
 */
#include "rcm_priv.h"

/* 0xff asks for as much as the device can do. */
static int rcm_limit(u8 *value, int limit)
{
	if (*value == 0xff)
		*value = min(limit, 0xff);
	return *value > limit ? -EINVAL : 0;
}

static int rcm_check_conn(struct rcm_id *priv, struct rdma_conn_param *conn,
			  u8 max_data)
{
	const struct ib_device_attr *attrs = &priv->device->ib->attrs;

	if (conn->private_data_len > max_data)
		return -EINVAL;
	if (rcm_limit(&conn->responder_resources, attrs->max_qp_rd_atom) ||
	    rcm_limit(&conn->initiator_depth, attrs->max_qp_init_rd_atom))
		return -EINVAL;

	/* Fields of three bits. */
	conn->retry_count = min_t(u8, conn->retry_count, 7);
	conn->rnr_retry_count = min_t(u8, conn->rnr_retry_count, 7);
	return 0;
}

static void rcm_take_qp(struct rcm_id *priv, const struct rdma_conn_param *conn)
{
	if (!priv->id.qp) {
		priv->qp_num = conn->qp_num;
		priv->srq = conn->srq;
	}
}

/**
 * rcm_connect - send a connection request
 * @priv: identifier in state ROUTE_RESOLVED, with its mutex held
 * @conn: parameters; read resources of 0xff are replaced by the device's
 *	limits, retry counts above 7 by 7
 *
 * Context: process; may sleep, but not for the network.
 * Return: 0 when the peer's answer, or that there is none, will be reported;
 * -EINVAL in a state that does not allow it, for too much private data, or
 * more read resources than the device has; -ENODEV when the device is gone;
 * -ENOMEM. The identifier is as before when it fails.
 */
int rcm_connect(struct rcm_id *priv, struct rdma_conn_param *conn)
{
	int ret;

	ret = rcm_state_next(priv->state, RCM_OP_CONNECT);
	if (ret < 0)
		return ret;
	ret = rcm_check_conn(priv, conn,
			     priv->device->transport->max_connect_data);
	if (ret)
		return ret;

	rcm_id_move(priv, RCM_OP_CONNECT);
	rcm_take_qp(priv, conn);
	ret = priv->device->transport->connect(priv, conn);
	if (ret) {
		rcm_id_blame(priv, RCM_STEP_CONNECT, ret, 0);
		rcm_id_move(priv, RCM_OP_CONNECT_FAIL);
	}
	return ret;
}

/**
 * rcm_accept - accept a connection request
 * @priv: identifier of the request, with its mutex held
 * @conn: parameters, as for rcm_connect()
 *
 * Context: process; may sleep, but not for the network.
 * Return: 0; -EINVAL as for rcm_connect(), with nothing changed; -ENODEV when
 * the device is gone. When the transport fails, its error, and the request is
 * rejected.
 */
int rcm_accept(struct rcm_id *priv, struct rdma_conn_param *conn)
{
	int ret;

	ret = rcm_state_next(priv->state, RCM_OP_ACCEPT);
	if (ret < 0)
		return ret;
	ret = rcm_check_conn(priv, conn,
			     priv->device->transport->max_accept_data);
	if (ret)
		return ret;

	rcm_id_move(priv, RCM_OP_ACCEPT);
	rcm_take_qp(priv, conn);
	ret = priv->device->transport->accept(priv, conn);
	if (ret) {
		rcm_id_blame(priv, RCM_STEP_CONNECT, ret, 0);
		rcm_id_move(priv, RCM_OP_ACCEPT_FAIL);
		priv->device->transport->reject(priv, 0, NULL, 0);
	}
	return ret;
}

/**
 * rcm_establish - confirm the peer's acceptance
 * @priv: identifier in state REP_RCVD, with its mutex held
 *
 * Return: 0, the connection is established; -EINVAL in a state that does not
 * allow it; -ENODEV when the device is gone; the transport's error, with
 * nothing changed.
 */
int rcm_establish(struct rcm_id *priv)
{
	int ret;

	ret = rcm_state_next(priv->state, RCM_OP_ESTABLISH);
	if (ret < 0)
		return ret;
	ret = priv->device->transport->establish(priv);
	if (ret)
		return ret;
	return rcm_id_move(priv, RCM_OP_ESTABLISH);
}

/**
 * rcm_reject - refuse a connection request, or a peer's acceptance
 * @priv: identifier, with its mutex held
 * @data: private data for the peer
 * @len: its length, bytes
 * @reason: reason code of the transport; 0 for "consumer defined"
 *
 * Return: 0; -EINVAL in a state that does not allow it or for too much
 * private data; -ENODEV when the device is gone; the transport's error, with
 * nothing changed.
 */
int rcm_reject(struct rcm_id *priv, const void *data, u8 len, u8 reason)
{
	int ret;

	ret = rcm_state_next(priv->state, RCM_OP_REJECT);
	if (ret < 0)
		return ret;
	if (len > priv->device->transport->max_reject_data)
		return -EINVAL;
	ret = priv->device->transport->reject(priv, reason, data, len);
	if (ret)
		return ret;
	return rcm_id_move(priv, RCM_OP_REJECT);
}

/**
 * rcm_disconnect - end a connection, or answer the peer who ends it
 * @priv: identifier that connected or was connected to, with its mutex held
 *
 * Return: 0; -EINVAL when there never was a connection; -ENODEV when the
 * device is gone.
 */
int rcm_disconnect(struct rcm_id *priv)
{
	int ret;

	ret = rcm_id_move(priv, RCM_OP_DISCONNECT);
	if (ret)
		return ret;
	if (!priv->cm)
		return -EINVAL;
	return priv->device->transport->disconnect(priv);
}

/**
 * rcm_notify - tell of an event that the consumer saw on its queue pair
 * @priv: identifier with a connection, with its mutex held
 * @event: IB_EVENT_COMM_EST: data arrived before the peer's confirmation
 *
 * Return: 0; -EINVAL without connection or for an event of no interest;
 * -EISCONN when it is established already.
 */
int rcm_notify(struct rcm_id *priv, enum ib_event_type event)
{
	if (priv->state == RCM_STATE_REMOVED)
		return -ENODEV;
	if (!priv->cm)
		return -EINVAL;
	return priv->device->transport->notify(priv, event);
}
