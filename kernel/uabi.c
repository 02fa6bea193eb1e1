// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * /dev/infiniband/rcm: one table of commands, one dispatcher.
 *
 * The dispatcher copies the argument in and out; a command sees a kernel copy
 * of it and nothing of the user's memory.
 */
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>

#include "uabi.h"

static unsigned int max_ids = 65536;
module_param(max_ids, uint, 0644);
MODULE_PARM_DESC(max_ids, "Identifiers that one open file may own");

static const struct file_operations rcm_fops;

static bool rcm_is_zero(const void *start, size_t len)
{
	return !memchr_inv(start, 0, len);
}

/**
 * rcm_file_reserve - reserve a handle
 * @file: file
 * @handle: written
 *
 * Nothing is found by it until something is stored there. Handles are not
 * given again soon, so that one of the past is not taken for a new one.
 *
 * Return: 0 or -ENOMEM.
 */
int rcm_file_reserve(struct rcm_file *file, u32 *handle)
{
	int ret = xa_alloc_cyclic(&file->ids, handle, NULL, xa_limit_31b,
				  &file->next_handle, GFP_KERNEL_ACCOUNT);

	return ret < 0 ? ret : 0;
}

/**
 * rcm_uctx_alloc - make a file's side of an identifier
 * @file: file that it counts for
 * @uid: the user's number
 *
 * Return: it, with one reference and without an identifier; an ERR_PTR:
 * -EMFILE, -ENOMEM.
 */
struct rcm_uctx *rcm_uctx_alloc(struct rcm_file *file, u64 uid)
{
	struct rcm_uctx *ctx;

	if (!atomic_add_unless(&file->nr_ids, 1, READ_ONCE(max_ids)))
		return ERR_PTR(-EMFILE);

	ctx = kzalloc(sizeof(*ctx), GFP_KERNEL_ACCOUNT);
	if (!ctx) {
		atomic_dec(&file->nr_ids);
		return ERR_PTR(-ENOMEM);
	}
	ctx->file = file;
	ctx->uid = uid;
	refcount_set(&ctx->refs, 1);
	INIT_LIST_HEAD(&ctx->events);
	INIT_LIST_HEAD(&ctx->spare);
	return ctx;
}

void rcm_uctx_put(struct rcm_uctx *ctx)
{
	if (!refcount_dec_and_test(&ctx->refs))
		return;

	rcm_uevent_free_spare(ctx);
	if (ctx->priv)
		rcm_id_put(ctx->priv);
	kfree(ctx);
}

/**
 * rcm_uctx_destroy - destroy an identifier of a file
 * @ctx: identifier that is in no table any more; its reference is taken
 *
 * Return: how many of its events were read.
 */
u32 rcm_uctx_destroy(struct rcm_uctx *ctx)
{
	struct rcm_file *file;
	u32 reported;

	rcm_destroy_id(ctx->priv);
	reported = rcm_uevent_purge(ctx);

	file = rcm_uctx_lock_file(ctx);
	atomic_dec(&file->nr_ids);
	spin_unlock(&file->lock);
	rcm_uctx_put(ctx);
	return reported;
}

static struct rcm_uctx *rcm_uctx_get(struct rcm_file *file, u32 handle)
{
	struct rcm_uctx *ctx;

	xa_lock(&file->ids);
	ctx = xa_load(&file->ids, handle);
	if (ctx)
		refcount_inc(&ctx->refs);
	xa_unlock(&file->ids);
	return ctx;
}

/* Takes an identifier out of the table, and the table's reference with it. */
static struct rcm_uctx *rcm_uctx_take(struct rcm_file *file, u32 handle)
{
	struct rcm_uctx *ctx;

	xa_lock(&file->ids);
	ctx = xa_load(&file->ids, handle);
	if (ctx)
		__xa_erase(&file->ids, handle);
	xa_unlock(&file->ids);
	return ctx;
}

/* The identifier of a command, with its mutex held and a reference. */
static struct rcm_uctx *rcm_uctx_lock(struct rcm_file *file, u32 handle)
{
	struct rcm_uctx *ctx = rcm_uctx_get(file, handle);

	if (ctx)
		mutex_lock(&ctx->priv->mutex);
	return ctx;
}

static void rcm_uctx_unlock(struct rcm_uctx *ctx)
{
	mutex_unlock(&ctx->priv->mutex);
	rcm_uctx_put(ctx);
}

static bool rcm_ib_has_qp_type(u8 qp_type)
{
	return qp_type == IB_QPT_RC || qp_type == IB_QPT_UC ||
	       qp_type == IB_QPT_UD || qp_type == IB_QPT_XRC_INI ||
	       qp_type == IB_QPT_XRC_TGT;
}

static int rcm_check_qp_type(u16 ps, u8 *qp_type)
{
	switch (ps) {
	case RDMA_PS_TCP:
		if (!*qp_type)
			*qp_type = IB_QPT_RC;
		return *qp_type == IB_QPT_RC ? 0 : -EINVAL;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		if (!*qp_type)
			*qp_type = IB_QPT_UD;
		return *qp_type == IB_QPT_UD ? 0 : -EINVAL;
	case RDMA_PS_IB:
		if (!*qp_type)
			*qp_type = IB_QPT_RC;
		return rcm_ib_has_qp_type(*qp_type) ? 0 : -EINVAL;
	default:
		return -EPROTONOSUPPORT;
	}
}

/* On success it can be found by its handle. */
static struct rcm_uctx *rcm_uctx_create(struct rcm_file *file, u64 uid, u16 ps,
					u8 qp_type)
{
	struct rcm_uctx *ctx;
	struct rcm_id *priv;
	int ret;

	ret = rcm_check_qp_type(ps, &qp_type);
	if (ret)
		return ERR_PTR(ret);

	ctx = rcm_uctx_alloc(file, uid);
	if (IS_ERR(ctx))
		return ctx;
	priv = rcm_create_id(file->net, rcm_uevent_handler, ctx, ps, qp_type,
			     true);
	if (IS_ERR(priv)) {
		ret = PTR_ERR(priv);
		goto err_ctx;
	}
	/* One reference is the identifier's life, one is the pointer. */
	ctx->priv = rcm_id_get(priv);

	ret = rcm_file_reserve(file, &ctx->handle);
	if (ret)
		goto err_id;
	xa_store(&file->ids, ctx->handle, ctx, GFP_KERNEL_ACCOUNT);
	return ctx;

err_id:
	rcm_destroy_id(priv);
err_ctx:
	atomic_dec(&file->nr_ids);
	rcm_uctx_put(ctx);
	return ERR_PTR(ret);
}

static int rcm_cmd_info(struct rcm_file *file, void *arg)
{
	struct rcm_info *info = arg;

	info->out_abi_version = RCM_ABI_VERSION;
	info->out_features = RCM_FEATURE_ROCE | RCM_FEATURE_CREATE_ON_USE |
			     RCM_FEATURE_RESOLVE_BOTH | RCM_FEATURE_DATAGRAM |
			     RCM_FEATURE_MULTICAST | RCM_FEATURE_TRANSLATE |
			     RCM_FEATURE_CONNECT_TIMEOUT |
			     RCM_FEATURE_WRITE_EVENT;
	info->out_max_ids = READ_ONCE(max_ids);
	info->out_max_backlog = RCM_MAX_BACKLOG;
	memset(info->out_version, 0, sizeof(info->out_version));
	strscpy(info->out_version, RCM_VERSION, sizeof(info->out_version));
	return 0;
}

static int rcm_cmd_create_id(struct rcm_file *file, void *arg)
{
	struct rcm_create_id *create = arg;
	struct rcm_uctx *ctx;

	if (create->flags)
		return -EOPNOTSUPP;
	if (!rcm_is_zero(create->reserved, sizeof(create->reserved)) ||
	    create->reserved2)
		return -EINVAL;

	ctx = rcm_uctx_create(file, create->uid, create->ps, create->qp_type);
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	create->out_handle = ctx->handle;
	return 0;
}

static void rcm_undo_create(struct rcm_file *file, u32 handle)
{
	struct rcm_uctx *ctx = rcm_uctx_take(file, handle);

	if (ctx)
		rcm_uctx_destroy(ctx);
}

static void rcm_undo_create_id(struct rcm_file *file, void *arg)
{
	struct rcm_create_id *create = arg;

	rcm_undo_create(file, create->out_handle);
}

static int rcm_cmd_destroy_id(struct rcm_file *file, void *arg)
{
	struct rcm_destroy_id *destroy = arg;
	struct rcm_uctx *ctx;

	if (destroy->reserved)
		return -EINVAL;
	ctx = rcm_uctx_take(file, destroy->handle);
	if (!ctx)
		return -ENOENT;
	destroy->out_events_reported = rcm_uctx_destroy(ctx);
	return 0;
}

/*
 * The identifier for a command that may make it. Commands of this kind have
 * the same members at the same place, so one view of them serves all.
 */
static_assert(offsetof(struct rcm_bind, uid) ==
	      offsetof(struct rcm_resolve_addr, uid));

static int rcm_open_target(struct rcm_file *file, const struct rcm_bind *arg,
			   u32 known_flags, struct rcm_uctx **ctx)
{
	if (arg->flags & ~known_flags)
		return -EOPNOTSUPP;
	if (arg->reserved)
		return -EINVAL;

	if (arg->flags & RCM_CREATE) {
		if (arg->handle)
			return -EINVAL;
		*ctx = rcm_uctx_create(file, arg->uid, arg->ps, arg->qp_type);
		if (IS_ERR(*ctx))
			return PTR_ERR(*ctx);
		/* The table's reference goes with the handle, this is ours. */
		refcount_inc(&(*ctx)->refs);
		mutex_lock(&(*ctx)->priv->mutex);
		return 0;
	}
	if (arg->ps || arg->qp_type || arg->uid)
		return -EINVAL;
	*ctx = rcm_uctx_lock(file, arg->handle);
	return *ctx ? 0 : -ENOENT;
}

static void rcm_close_target(struct rcm_file *file, struct rcm_bind *arg,
			     struct rcm_uctx *ctx, int ret)
{
	u32 handle = ctx->handle;

	rcm_uctx_unlock(ctx);
	if (!(arg->flags & RCM_CREATE))
		return;
	if (ret)
		rcm_undo_create(file, handle);
	else
		arg->handle = handle;
}

static int rcm_cmd_bind(struct rcm_file *file, void *arg)
{
	struct rcm_bind *bind = arg;
	struct rcm_uctx *ctx;
	union rcm_addr addr;
	int ret;

	ret = rcm_addr_set(&addr, &bind->addr);
	if (ret)
		return ret;
	ret = rcm_open_target(file, bind, RCM_CREATE, &ctx);
	if (ret)
		return ret;

	ret = rcm_uevent_reserve(ctx, 1);
	if (!ret)
		ret = rcm_bind_addr(ctx->priv, &addr);
	if (!ret)
		rcm_addr_put_user(&bind->addr, rcm_src(ctx->priv));
	rcm_close_target(file, bind, ctx, ret);
	return ret;
}

static void rcm_undo_bind(struct rcm_file *file, void *arg)
{
	struct rcm_bind *bind = arg;

	if (bind->flags & RCM_CREATE)
		rcm_undo_create(file, bind->handle);
}

static int rcm_resolve_addrs(const struct rcm_resolve_addr *resolve,
			     union rcm_addr *src, union rcm_addr *dst)
{
	memset(src, 0, sizeof(*src));
	if (resolve->src.ss_family) {
		int ret = rcm_addr_set(src, &resolve->src);

		if (ret)
			return ret;
	}
	return rcm_addr_set(dst, &resolve->dst);
}

static int rcm_cmd_resolve_addr(struct rcm_file *file, void *arg)
{
	struct rcm_resolve_addr *resolve = arg;
	union rcm_addr src, dst;
	struct rcm_uctx *ctx;
	bool follows;
	int ret;

	if (resolve->reserved2)
		return -EINVAL;
	ret = rcm_resolve_addrs(resolve, &src, &dst);
	if (ret)
		return ret;
	ret = rcm_open_target(file, arg, RCM_CREATE | RCM_RESOLVE_BOTH, &ctx);
	if (ret)
		return ret;

	/* One for the address, one for the route, one for removal. */
	ret = rcm_uevent_reserve(ctx, 3);
	if (ret)
		goto out;
	follows = ctx->priv->route_follows;
	ctx->priv->route_follows = resolve->flags & RCM_RESOLVE_BOTH;
	ret = rcm_resolve_addr(ctx->priv, &src, &dst, resolve->timeout_ms);
	/* One that is under way goes on as it was. */
	if (ret)
		ctx->priv->route_follows = follows;
out:
	rcm_close_target(file, arg, ctx, ret);
	return ret;
}

static int rcm_cmd_resolve_route(struct rcm_file *file, void *arg)
{
	struct rcm_resolve_route *resolve = arg;
	struct rcm_uctx *ctx;
	int ret;

	if (resolve->reserved)
		return -EINVAL;
	ctx = rcm_uctx_lock(file, resolve->handle);
	if (!ctx)
		return -ENOENT;

	ret = rcm_uevent_reserve(ctx, 2);
	if (!ret)
		ret = rcm_resolve_route(ctx->priv, resolve->timeout_ms);
	rcm_uctx_unlock(ctx);
	return ret;
}

static int rcm_cmd_listen(struct rcm_file *file, void *arg)
{
	struct rcm_listen *listen = arg;
	u32 backlog = listen->backlog;
	struct rcm_uctx *ctx;
	int ret;

	if (listen->reserved)
		return -EINVAL;
	if (!backlog || backlog > RCM_MAX_BACKLOG)
		backlog = RCM_MAX_BACKLOG;
	ctx = rcm_uctx_lock(file, listen->handle);
	if (!ctx)
		return -ENOENT;

	ret = rcm_uevent_reserve(ctx, 1);
	if (!ret)
		ret = rcm_listen_start(ctx->priv, backlog);
	rcm_uctx_unlock(ctx);
	return ret;
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

static int rcm_cmd_connect(struct rcm_file *file, void *arg)
{
	struct rcm_connect *connect = arg;
	struct rdma_conn_param conn;
	struct rcm_uctx *ctx;
	int ret;

	ret = rcm_conn_from_user(&conn, &connect->conn);
	if (ret)
		return ret;
	ctx = rcm_uctx_lock(file, connect->handle);
	if (!ctx)
		return -ENOENT;

	/* One for the answer, one for the end, one for removal. */
	ret = rcm_uevent_reserve(ctx, 3);
	if (ret)
		goto out;
	rcm_set_ece(ctx->priv, &connect->ece);
	ret = rcm_connect(ctx->priv, &conn);
out:
	rcm_uctx_unlock(ctx);
	return ret;
}

static int rcm_cmd_accept(struct rcm_file *file, void *arg)
{
	struct rcm_accept *accept = arg;
	struct rdma_conn_param conn;
	struct rcm_uctx *ctx;
	int ret;

	ret = rcm_conn_from_user(&conn, &accept->conn);
	if (ret)
		return ret;
	ctx = rcm_uctx_lock(file, accept->handle);
	if (!ctx)
		return -ENOENT;

	/* One for the confirmation, one for the end, one for removal. */
	ret = rcm_uevent_reserve(ctx, 3);
	if (ret)
		goto out;
	rcm_set_ece(ctx->priv, &accept->ece);
	ret = rcm_accept(ctx->priv, &conn);
	if (ret)
		goto out;
	WRITE_ONCE(ctx->uid, accept->uid);
	ctx->unanswered = false;
out:
	rcm_uctx_unlock(ctx);
	return ret;
}

static int rcm_cmd_establish(struct rcm_file *file, void *arg)
{
	struct rcm_establish *establish = arg;
	struct rcm_uctx *ctx = rcm_uctx_lock(file, establish->handle);
	int ret;

	if (!ctx)
		return -ENOENT;
	ret = rcm_establish(ctx->priv);
	rcm_uctx_unlock(ctx);
	return ret;
}

static int rcm_cmd_reject(struct rcm_file *file, void *arg)
{
	struct rcm_reject *reject = arg;
	struct rcm_uctx *ctx;
	int ret;

	if (!rcm_is_zero(reject->reserved, sizeof(reject->reserved)) ||
	    reject->private_data_len > U8_MAX)
		return -EINVAL;
	if (reject->reason && reject->reason != 28 && reject->reason != 35)
		return -EINVAL;
	ctx = rcm_uctx_lock(file, reject->handle);
	if (!ctx)
		return -ENOENT;

	ret = rcm_reject(ctx->priv, reject->private_data,
			 reject->private_data_len, reject->reason);
	rcm_uctx_unlock(ctx);
	return ret;
}

static int rcm_cmd_disconnect(struct rcm_file *file, void *arg)
{
	struct rcm_disconnect *disconnect = arg;
	struct rcm_uctx *ctx = rcm_uctx_lock(file, disconnect->handle);
	int ret;

	if (!ctx)
		return -ENOENT;
	ret = rcm_disconnect(ctx->priv);
	rcm_uctx_unlock(ctx);
	return ret;
}

static int rcm_cmd_notify(struct rcm_file *file, void *arg)
{
	struct rcm_notify *notify = arg;
	struct rcm_uctx *ctx;
	int ret;

	if (notify->reserved)
		return -EINVAL;
	if (notify->event != IB_EVENT_COMM_EST &&
	    notify->event != IB_EVENT_PATH_MIG)
		return -EINVAL;
	ctx = rcm_uctx_lock(file, notify->handle);
	if (!ctx)
		return -ENOENT;

	ret = rcm_notify(ctx->priv, notify->event);
	rcm_uctx_unlock(ctx);
	return ret;
}

static int rcm_cmd_init_qp_attr(struct rcm_file *file, void *arg)
{
	struct rcm_init_qp_attr *init = arg;
	struct ib_qp_attr attr = {};
	struct rcm_uctx *ctx;
	int mask = 0;
	int ret;

	if (init->qp_state < IB_QPS_INIT || init->qp_state > IB_QPS_RTS)
		return -EINVAL;
	ctx = rcm_uctx_lock(file, init->handle);
	if (!ctx)
		return -ENOENT;

	attr.qp_state = init->qp_state;
	ret = rcm_init_qp_attr(ctx->priv, &attr, &mask);
	rcm_uctx_unlock(ctx);
	if (ret)
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

static int rcm_apply_option(struct rcm_id *priv, u32 level, u32 optname,
			    u32 value)
{
	if (level == RCM_OPTION)
		return optname == RCM_OPTION_CONNECT_TIMEOUT ?
			       rcm_set_connect_timeout(priv, value) :
			       rcm_set_connect_tries(priv, value);

	switch (optname) {
	case RDMA_OPTION_ID_TOS:
		return rcm_set_tos(priv, value);
	case RDMA_OPTION_ID_REUSEADDR:
		return rcm_set_reuseaddr(priv, value);
	case RDMA_OPTION_ID_AFONLY:
		return rcm_set_v6only(priv, value);
	default:
		return rcm_set_ack_timeout(priv, value);
	}
}

static int rcm_option_size(u32 level, u32 optname)
{
	if (level == RCM_OPTION)
		return optname <= RCM_OPTION_CONNECT_TRIES ? sizeof(u32) :
							     -ENOPROTOOPT;
	if (level != RDMA_OPTION_ID)
		return -ENOPROTOOPT;
	switch (optname) {
	case RDMA_OPTION_ID_TOS:
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		return sizeof(u8);
	case RDMA_OPTION_ID_REUSEADDR:
	case RDMA_OPTION_ID_AFONLY:
		return sizeof(int);
	default:
		return -ENOPROTOOPT;
	}
}

static int rcm_cmd_set_option(struct rcm_file *file, void *arg)
{
	struct rcm_set_option *option = arg;
	struct rcm_uctx *ctx;
	u32 value = 0;
	u8 byte = 0;
	int ret;

	if (option->reserved)
		return -EINVAL;
	ret = rcm_option_size(option->level, option->optname);
	if (ret < 0)
		return ret;
	if (option->optlen != ret)
		return -EINVAL;
	if (ret == sizeof(byte)) {
		if (get_user(byte,
			     (u8 __user *)u64_to_user_ptr(option->optval)))
			return -EFAULT;
		value = byte;
	} else if (get_user(value,
			    (u32 __user *)u64_to_user_ptr(option->optval))) {
		return -EFAULT;
	}
	ctx = rcm_uctx_lock(file, option->handle);
	if (!ctx)
		return -ENOENT;

	ret = ctx->priv->state == RCM_STATE_REMOVED ?
		      -ENODEV :
		      rcm_apply_option(ctx->priv, option->level,
				       option->optname, value);
	rcm_uctx_unlock(ctx);
	return ret;
}

static int rcm_cmd_join_multicast(struct rcm_file *file, void *arg)
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
	ctx = rcm_uctx_lock(file, join->handle);
	if (!ctx)
		return -ENOENT;

	ret = rcm_uevent_reserve(ctx, 2);
	if (!ret)
		ret = rcm_mcast_join(ctx->priv, &addr,
				     join->flags & RCM_JOIN_SEND_ONLY,
				     join->number);
	rcm_uctx_unlock(ctx);
	return ret;
}

static int rcm_cmd_leave_multicast(struct rcm_file *file, void *arg)
{
	struct rcm_leave_multicast *leave = arg;
	struct rcm_uctx *ctx;
	int ret;

	if (leave->reserved)
		return -EINVAL;
	ctx = rcm_uctx_lock(file, leave->handle);
	if (!ctx)
		return -ENOENT;

	ret = rcm_mcast_leave(ctx->priv, leave->number);
	if (!ret)
		rcm_uevent_drop_join(ctx, leave->number);
	rcm_uctx_unlock(ctx);
	return ret;
}

static int rcm_cmd_translate(struct rcm_file *file, void *arg)
{
	struct rcm_translate *translate = arg;
	union rcm_addr src = {}, dst;
	int ret;

	if (translate->src.ss_family) {
		ret = rcm_addr_set(&src, &translate->src);
		if (ret)
			return ret;
	}
	ret = rcm_addr_set(&dst, &translate->dst);
	if (ret)
		return ret;
	return rcm_translate(file->net, &src, &dst, translate->timeout_ms,
			     &translate->out_endpoint);
}

static int rcm_cmd_write_event(struct rcm_file *file, void *arg)
{
	struct rcm_write_event *write = arg;
	struct rcm_uctx *ctx;
	int ret;

	if (write->event != RCM_EVENT_USER &&
	    write->event != RCM_EVENT_INTERNAL)
		return -EINVAL;
	ctx = rcm_uctx_lock(file, write->handle);
	if (!ctx)
		return -ENOENT;
	ret = rcm_uevent_write(ctx, write);
	rcm_uctx_unlock(ctx);
	return ret;
}

static int rcm_cmd_query(struct rcm_file *file, void *arg)
{
	struct rcm_query *query = arg;
	struct rcm_uctx *ctx = rcm_uctx_lock(file, query->handle);

	if (!ctx)
		return -ENOENT;
	query->out_reason = ctx->priv->reason;
	rcm_id_endpoint(ctx->priv, &query->out_endpoint);
	rcm_uctx_unlock(ctx);
	return 0;
}

/*
 * The identifier leaves one table before it enters the other, so whoever
 * closes or destroys finds it in one of them or not at all.
 */
static int rcm_migrate_to(struct rcm_file *from, struct rcm_file *to,
			  struct rcm_migrate *migrate)
{
	struct rcm_uctx *ctx;
	u32 handle;
	int ret;

	if (!atomic_add_unless(&to->nr_ids, 1, READ_ONCE(max_ids)))
		return -EMFILE;
	ret = rcm_file_reserve(to, &handle);
	if (ret)
		goto err_count;
	ctx = rcm_uctx_take(from, migrate->handle);
	if (!ctx) {
		ret = -ENOENT;
		goto err_handle;
	}

	/* Whoever finds it there waits until it has arrived. */
	refcount_inc(&ctx->refs);
	mutex_lock(&ctx->priv->mutex);
	xa_store(&to->ids, handle, ctx, GFP_KERNEL_ACCOUNT);
	migrate->out_events_reported = rcm_uevent_migrate(ctx, to, handle);
	mutex_unlock(&ctx->priv->mutex);
	rcm_uctx_put(ctx);
	migrate->out_handle = handle;
	return 0;

err_handle:
	xa_erase(&to->ids, handle);
err_count:
	atomic_dec(&to->nr_ids);
	return ret;
}

static int rcm_migrate_same(struct rcm_file *file, struct rcm_migrate *migrate)
{
	struct rcm_uctx *ctx = rcm_uctx_lock(file, migrate->handle);

	if (!ctx)
		return -ENOENT;
	migrate->out_handle = migrate->handle;
	migrate->out_events_reported = READ_ONCE(ctx->reported);
	rcm_uctx_unlock(ctx);
	return 0;
}

static int rcm_cmd_migrate(struct rcm_file *file, void *arg)
{
	struct rcm_migrate *migrate = arg;
	struct rcm_file *to;
	struct file *filp;
	int ret = -EINVAL;

	if (migrate->reserved)
		return -EINVAL;
	filp = fget(migrate->fd);
	if (!filp)
		return -EBADF;
	if (filp->f_op != &rcm_fops)
		goto out;
	to = filp->private_data;
	if (!net_eq(to->net, file->net))
		goto out;
	/* An event that is being read here belongs here until it is. */
	mutex_lock(&file->reading);
	ret = to == file ? rcm_migrate_same(file, migrate) :
			   rcm_migrate_to(file, to, migrate);
	mutex_unlock(&file->reading);
out:
	fput(filp);
	return ret;
}

/**
 * struct rcm_uabi_cmd - a command
 * @size: of its structure as this kernel knows it, bytes
 * @min: of its first version
 * @run: does it; gets the kernel's copy of the argument
 * @undo: called when the result cannot be written, for a command that makes
 *	something
 */
struct rcm_uabi_cmd {
	size_t size;
	size_t min;
	int (*run)(struct rcm_file *file, void *arg);
	void (*undo)(struct rcm_file *file, void *arg);
};

union rcm_uabi_arg {
	struct rcm_info info;
	struct rcm_create_id create_id;
	struct rcm_bind bind;
	struct rcm_resolve_addr resolve_addr;
	struct rcm_connect connect;
	struct rcm_accept accept;
	struct rcm_reject reject;
	struct rcm_query query;
	struct rcm_init_qp_attr init_qp_attr;
	struct rcm_set_option set_option;
	struct rcm_migrate migrate;
	struct rcm_join_multicast join_multicast;
	struct rcm_translate translate;
	struct rcm_write_event write_event;
};

#define RCM_UABI_CMD(nr, type, last, run_fn, undo_fn)                  \
	[RCM_CMD_##nr - RCM_CMD_INFO] = {                              \
		.size = sizeof(struct type) +                          \
			BUILD_BUG_ON_ZERO(sizeof(struct type) >        \
					  sizeof(union rcm_uabi_arg)), \
		.min = offsetofend(struct type, last),                 \
		.run = run_fn,                                         \
		.undo = undo_fn,                                       \
	}

static const struct rcm_uabi_cmd rcm_uabi_cmds[] = {
	RCM_UABI_CMD(INFO, rcm_info, out_version, rcm_cmd_info, NULL),
	RCM_UABI_CMD(CREATE_ID, rcm_create_id, reserved2, rcm_cmd_create_id,
		     rcm_undo_create_id),
	RCM_UABI_CMD(DESTROY_ID, rcm_destroy_id, reserved, rcm_cmd_destroy_id,
		     NULL),
	RCM_UABI_CMD(BIND, rcm_bind, addr, rcm_cmd_bind, rcm_undo_bind),
	RCM_UABI_CMD(RESOLVE_ADDR, rcm_resolve_addr, dst, rcm_cmd_resolve_addr,
		     rcm_undo_bind),
	RCM_UABI_CMD(RESOLVE_ROUTE, rcm_resolve_route, reserved,
		     rcm_cmd_resolve_route, NULL),
	RCM_UABI_CMD(LISTEN, rcm_listen, reserved, rcm_cmd_listen, NULL),
	RCM_UABI_CMD(CONNECT, rcm_connect, conn, rcm_cmd_connect, NULL),
	RCM_UABI_CMD(ACCEPT, rcm_accept, conn, rcm_cmd_accept, NULL),
	RCM_UABI_CMD(ESTABLISH, rcm_establish, handle, rcm_cmd_establish, NULL),
	RCM_UABI_CMD(REJECT, rcm_reject, private_data, rcm_cmd_reject, NULL),
	RCM_UABI_CMD(DISCONNECT, rcm_disconnect, handle, rcm_cmd_disconnect,
		     NULL),
	RCM_UABI_CMD(NOTIFY, rcm_notify, reserved, rcm_cmd_notify, NULL),
	RCM_UABI_CMD(INIT_QP_ATTR, rcm_init_qp_attr, out_attr,
		     rcm_cmd_init_qp_attr, NULL),
	RCM_UABI_CMD(SET_OPTION, rcm_set_option, optval, rcm_cmd_set_option,
		     NULL),
	RCM_UABI_CMD(QUERY, rcm_query, out_endpoint, rcm_cmd_query, NULL),
	RCM_UABI_CMD(MIGRATE, rcm_migrate, reserved, rcm_cmd_migrate, NULL),
	RCM_UABI_CMD(JOIN_MULTICAST, rcm_join_multicast, addr,
		     rcm_cmd_join_multicast, NULL),
	RCM_UABI_CMD(LEAVE_MULTICAST, rcm_leave_multicast, reserved,
		     rcm_cmd_leave_multicast, NULL),
	RCM_UABI_CMD(TRANSLATE, rcm_translate, out_endpoint, rcm_cmd_translate,
		     NULL),
	RCM_UABI_CMD(WRITE_EVENT, rcm_write_event, arg, rcm_cmd_write_event,
		     NULL),
};

static int rcm_uabi_size(void __user *arg, size_t min, u32 *size)
{
	/* All members are aligned, so their structure has to be. */
	if (!IS_ALIGNED((unsigned long)arg, sizeof(u32)))
		return -EINVAL;
	if (get_user(*size, (u32 __user *)arg))
		return -EFAULT;
	if (*size < min)
		return -EINVAL;
	return *size > PAGE_SIZE ? -E2BIG : 0;
}

static int rcm_uabi_run(struct rcm_file *file, const struct rcm_uabi_cmd *cmd,
			void __user *uarg)
{
	union rcm_uabi_arg arg;
	u32 size;
	int ret;

	ret = rcm_uabi_size(uarg, cmd->min, &size);
	if (ret)
		return ret;
	ret = copy_struct_from_user(&arg, cmd->size, uarg, size);
	if (ret)
		return ret;
	ret = cmd->run(file, &arg);
	if (ret)
		return ret;
	if (copy_to_user(uarg, &arg, min_t(size_t, size, cmd->size))) {
		if (cmd->undo)
			cmd->undo(file, &arg);
		return -EFAULT;
	}
	return 0;
}

static int rcm_uabi_get_event(struct file *filp, void __user *uarg)
{
	struct {
		u32 size;
		u32 flags;
	} arg;
	u32 size;
	int ret;

	ret = rcm_uabi_size(uarg, offsetofend(struct rcm_event, out_qp), &size);
	if (ret)
		return ret;
	if (copy_from_user(&arg, uarg, sizeof(arg)))
		return -EFAULT;
	if (arg.flags & ~RCM_EVENT_DONTWAIT)
		return -EOPNOTSUPP;
	/* Of what this kernel does not know, it could not fill in anything. */
	if (size > sizeof(struct rcm_event)) {
		ret = check_zeroed_user(uarg + sizeof(struct rcm_event),
					size - sizeof(struct rcm_event));
		if (ret <= 0)
			return ret ?: -E2BIG;
	}
	return rcm_uevent_read(filp->private_data, uarg, size,
			       (arg.flags & RCM_EVENT_DONTWAIT) ||
				       (filp->f_flags & O_NONBLOCK));
}

static long rcm_uabi_ioctl(struct file *filp, unsigned int cmd,
			   unsigned long arg)
{
	unsigned int nr = _IOC_NR(cmd) - RCM_CMD_INFO;

	if (cmd == RCM_GET_EVENT)
		return rcm_uabi_get_event(filp, (void __user *)arg);
	if (_IOC_NR(cmd) < RCM_CMD_INFO || nr >= ARRAY_SIZE(rcm_uabi_cmds) ||
	    cmd != _IO(RCM_IOC_TYPE, _IOC_NR(cmd)))
		return -ENOTTY;
	return rcm_uabi_run(filp->private_data, &rcm_uabi_cmds[nr],
			    (void __user *)arg);
}

static __poll_t rcm_uabi_poll(struct file *filp, struct poll_table_struct *wait)
{
	struct rcm_file *file = filp->private_data;

	poll_wait(filp, &file->wait, wait);
	return list_empty_careful(&file->events) ? 0 : EPOLLIN | EPOLLRDNORM;
}

static int rcm_uabi_open(struct inode *inode, struct file *filp)
{
	struct rcm_file *file;

	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		return -ENOMEM;

	file->net = get_net(current->nsproxy->net_ns);
	xa_init_flags(&file->ids, XA_FLAGS_ALLOC1);
	mutex_init(&file->reading);
	spin_lock_init(&file->lock);
	INIT_LIST_HEAD(&file->events);
	init_waitqueue_head(&file->wait);
	filp->private_data = file;
	return stream_open(inode, filp);
}

static int rcm_uabi_release(struct inode *inode, struct file *filp)
{
	struct rcm_file *file = filp->private_data;
	struct rcm_uctx *ctx;
	unsigned long handle;

	/* No command runs any more, so nothing is added. */
	xa_for_each(&file->ids, handle, ctx) {
		xa_erase(&file->ids, handle);
		rcm_uctx_destroy(ctx);
	}
	xa_destroy(&file->ids);
	put_net(file->net);
	kfree_rcu(file, rcu);
	return 0;
}

static const struct file_operations rcm_fops = {
	.owner = THIS_MODULE,
	.open = rcm_uabi_open,
	.release = rcm_uabi_release,
	.unlocked_ioctl = rcm_uabi_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.poll = rcm_uabi_poll,
};

static struct miscdevice rcm_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "rcm",
	.nodename = "infiniband/rcm",
	.mode = 0666,
	.fops = &rcm_fops,
};

int rcm_uabi_init(void)
{
	int ret;

	ret = rcm_uevent_init();
	if (ret)
		return ret;
	ret = misc_register(&rcm_misc);
	if (ret)
		rcm_uevent_exit();
	return ret;
}

void rcm_uabi_exit(void)
{
	misc_deregister(&rcm_misc);
	rcm_uevent_exit();
}
