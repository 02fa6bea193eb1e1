// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Commands that lead to a connection or a group, and those that end it.
 */
#include "uabi.h"

int rcm_cmd_listen(struct rcm_file *file, void *arg)
{
	struct rcm_listen *listen = arg;
	u32 backlog = listen->backlog;
	struct rcm_uctx *ctx;
	int ret;

	if (listen->reserved)
		return -EINVAL;
	if (!backlog || backlog > RCM_MAX_BACKLOG)
		backlog = RCM_MAX_BACKLOG;
	ctx = rcm_uctx_start(file, listen->handle);
	if (!ctx)
		return -ENOENT;

	ret = rcm_listen_start(ctx->priv, backlog);
	return rcm_uctx_finish(ctx, ret);
}

static int rcm_conn_from_user(struct rdma_conn_param *to,
			      const struct rcm_conn_param *from)
{
	if (!rcm_is_zero(from->reserved, sizeof(from->reserved)) ||
	    from->private_data_len > U8_MAX)
		return -EINVAL;

	*to = (struct rdma_conn_param){
		.private_data = from->private_data,
		.private_data_len = from->private_data_len,
		.responder_resources = from->responder_resources,
		.initiator_depth = from->initiator_depth,
		.flow_control = from->flow_control,
		.retry_count = from->retry_count,
		.rnr_retry_count = from->rnr_retry_count,
		.srq = from->srq,
		.qp_num = from->qp_num,
		.qkey = from->qkey,
	};
	return 0;
}

static void rcm_set_ece(struct rcm_id *priv, const struct rcm_ece *ece)
{
	priv->ece.vendor_id = ece->vendor_id;
	priv->ece.attr_mod = ece->attr_mod;
}

int rcm_cmd_connect(struct rcm_file *file, void *arg)
{
	struct rcm_connect *connect = arg;
	struct rdma_conn_param conn;
	struct rcm_uctx *ctx;
	int ret;

	ret = rcm_conn_from_user(&conn, &connect->conn);
	if (ret)
		return ret;
	ctx = rcm_uctx_start(file, connect->handle);
	if (!ctx)
		return -ENOENT;

	/* One for the answer, one for the end. */
	ret = rcm_uevent_reserve(ctx, 2);
	if (ret)
		goto out;
	rcm_set_ece(ctx->priv, &connect->ece);
	ret = rcm_id_connect(ctx->priv, &conn);
out:
	return rcm_uctx_finish(ctx, ret);
}

int rcm_cmd_accept(struct rcm_file *file, void *arg)
{
	struct rcm_accept *accept = arg;
	struct rdma_conn_param conn;
	struct rcm_uctx *ctx;
	int ret;

	ret = rcm_conn_from_user(&conn, &accept->conn);
	if (ret)
		return ret;
	ctx = rcm_uctx_start(file, accept->handle);
	if (!ctx)
		return -ENOENT;

	/* One for the confirmation, one for the end. */
	ret = rcm_uevent_reserve(ctx, 2);
	if (ret)
		goto out;
	rcm_set_ece(ctx->priv, &accept->ece);
	ret = rcm_id_accept(ctx->priv, &conn);
	if (ret)
		goto out;
	WRITE_ONCE(ctx->uid, accept->uid);
	ctx->unanswered = false;
out:
	return rcm_uctx_finish(ctx, ret);
}

int rcm_cmd_establish(struct rcm_file *file, void *arg)
{
	struct rcm_establish *establish = arg;
	struct rcm_uctx *ctx = rcm_uctx_start(file, establish->handle);
	int ret;

	if (!ctx)
		return -ENOENT;
	ret = rcm_id_establish(ctx->priv);
	return rcm_uctx_finish(ctx, ret);
}

int rcm_cmd_reject(struct rcm_file *file, void *arg)
{
	struct rcm_reject *reject = arg;
	struct rcm_uctx *ctx;
	int ret;

	if (!rcm_is_zero(reject->reserved, sizeof(reject->reserved)) ||
	    reject->private_data_len > U8_MAX)
		return -EINVAL;
	if (reject->reason && reject->reason != 28 && reject->reason != 35)
		return -EINVAL;
	ctx = rcm_uctx_start(file, reject->handle);
	if (!ctx)
		return -ENOENT;

	ret = rcm_id_reject(ctx->priv, reject->private_data,
			    reject->private_data_len, reject->reason);
	return rcm_uctx_finish(ctx, ret);
}

int rcm_cmd_disconnect(struct rcm_file *file, void *arg)
{
	struct rcm_disconnect *disconnect = arg;
	struct rcm_uctx *ctx = rcm_uctx_start(file, disconnect->handle);
	int ret;

	if (!ctx)
		return -ENOENT;
	ret = rcm_id_disconnect(ctx->priv);
	return rcm_uctx_finish(ctx, ret);
}

int rcm_cmd_notify(struct rcm_file *file, void *arg)
{
	struct rcm_notify *notify = arg;
	struct rcm_uctx *ctx;
	int ret;

	if (notify->reserved)
		return -EINVAL;
	if (notify->event != IB_EVENT_COMM_EST &&
	    notify->event != IB_EVENT_PATH_MIG)
		return -EINVAL;
	ctx = rcm_uctx_start(file, notify->handle);
	if (!ctx)
		return -ENOENT;

	ret = rcm_id_notify(ctx->priv, notify->event);
	if (ret == -EINVAL || ret == -EISCONN)
		rcm_id_blame(ctx->priv, RCM_STEP_STATE, ret, 0);
	return rcm_uctx_finish(ctx, ret);
}

int rcm_cmd_init_qp_attr(struct rcm_file *file, void *arg)
{
	struct rcm_init_qp_attr *init = arg;
	struct ib_qp_attr attr = {};
	struct rcm_uctx *ctx;
	int mask = 0;
	int ret;

	if (init->qp_state < IB_QPS_INIT || init->qp_state > IB_QPS_RTS)
		return -EINVAL;
	ctx = rcm_uctx_start(file, init->handle);
	if (!ctx)
		return -ENOENT;

	attr.qp_state = init->qp_state;
	ret = rcm_id_init_qp_attr(ctx->priv, &attr, &mask);
	if (ret == -EINVAL)
		rcm_id_blame(ctx->priv, RCM_STEP_STATE, ret, 0);
	if (rcm_uctx_finish(ctx, ret))
		return ret;

	mask &= ~IB_QP_ALT_PATH;
	init->out_mask = mask;
	memset(&init->out_attr, 0, sizeof(init->out_attr));
	rcm_qp_attr_one(&init->out_attr, &attr, mask);
	if (init->qp_state == IB_QPS_INIT)
		init->out_attr.init_mask = mask;
	else if (init->qp_state == IB_QPS_RTR)
		init->out_attr.rtr_mask = mask;
	else
		init->out_attr.rts_mask = mask;
	return 0;
}

int rcm_cmd_join_multicast(struct rcm_file *file, void *arg)
{
	struct rcm_join_multicast *join = arg;
	struct rcm_uctx *ctx;
	union rcm_addr addr;
	int ret;

	if (join->flags & ~RCM_JOIN_SEND_ONLY)
		return -EOPNOTSUPP;
	ret = rcm_addr_set(&addr, &join->addr);
	if (ret)
		return ret;
	ctx = rcm_uctx_start(file, join->handle);
	if (!ctx)
		return -ENOENT;

	/* One for the membership, one that a connect may wait for. */
	ret = rcm_uevent_reserve(ctx, 2);
	if (!ret)
		ret = rcm_mcast_join(ctx->priv, &addr,
				     join->flags & RCM_JOIN_SEND_ONLY,
				     join->number);
	return rcm_uctx_finish(ctx, ret);
}

int rcm_cmd_leave_multicast(struct rcm_file *file, void *arg)
{
	struct rcm_leave_multicast *leave = arg;
	struct rcm_uctx *ctx;
	int ret;

	if (leave->reserved)
		return -EINVAL;
	ctx = rcm_uctx_start(file, leave->handle);
	if (!ctx)
		return -ENOENT;

	ret = rcm_mcast_leave(ctx->priv, leave->number);
	if (!ret)
		rcm_uevent_drop_join(ctx, leave->number);
	return rcm_uctx_finish(ctx, ret);
}

int rcm_cmd_write_event(struct rcm_file *file, void *arg)
{
	struct rcm_write_event *write = arg;
	struct rcm_uctx *ctx;
	int ret;

	if (write->event != RCM_EVENT_USER &&
	    write->event != RCM_EVENT_INTERNAL)
		return -EINVAL;
	ctx = rcm_uctx_start(file, write->handle);
	if (!ctx)
		return -ENOENT;
	ret = rcm_uevent_write(ctx, write);
	return rcm_uctx_finish(ctx, ret);
}
