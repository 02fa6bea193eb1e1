// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Commands on an identifier as such: create, destroy, bind, resolve, options,
 * query, move to another file.
 */
#include <linux/file.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>

#include "uabi.h"

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
	priv = rcm_id_create(file->net, rcm_uevent_handler, ctx, ps, qp_type,
			     true);
	if (IS_ERR(priv)) {
		ret = PTR_ERR(priv);
		goto err_ctx;
	}
	/* One reference is the identifier's life, one is the pointer. */
	ctx->priv = rcm_id_get(priv);

	ret = rcm_file_publish(file, ctx);
	if (ret)
		goto err_id;
	return ctx;

err_id:
	rcm_id_destroy(priv);
err_ctx:
	rcm_file_add(file, -1);
	rcm_uctx_put(ctx);
	return ERR_PTR(ret);
}

int rcm_cmd_create_id(struct rcm_file *file, void *arg)
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

void rcm_undo_create_id(struct rcm_file *file, void *arg)
{
	struct rcm_create_id *create = arg;

	rcm_undo_create(file, create->out_handle);
}

int rcm_cmd_destroy_id(struct rcm_file *file, void *arg)
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
	*ctx = rcm_uctx_start(file, arg->handle);
	return *ctx ? 0 : -ENOENT;
}

static void rcm_close_target(struct rcm_file *file, struct rcm_bind *arg,
			     struct rcm_uctx *ctx, int ret,
			     struct rcm_reason *reason)
{
	u32 handle = ctx->handle;

	rcm_id_judge(ctx->priv, ret);
	*reason = ctx->priv->reason;
	rcm_uctx_unlock(ctx);
	if (!(arg->flags & RCM_CREATE))
		return;
	if (ret)
		rcm_undo_create(file, handle);
	else
		arg->handle = handle;
}

int rcm_cmd_bind(struct rcm_file *file, void *arg)
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

	ret = rcm_id_bind(ctx->priv, &addr);
	if (!ret) {
		rcm_addr_put_user(&bind->addr, rcm_src(ctx->priv));
		rcm_id_endpoint(ctx->priv, &bind->out_endpoint);
	}
	rcm_close_target(file, bind, ctx, ret, &bind->out_reason);
	return ret;
}

void rcm_undo_bind(struct rcm_file *file, void *arg)
{
	struct rcm_bind *bind = arg;
	struct rcm_uctx *ctx;

	if (bind->flags & RCM_CREATE) {
		rcm_undo_create(file, bind->handle);
		return;
	}
	ctx = rcm_uctx_lock(file, bind->handle);
	if (!ctx)
		return;
	/* Another thread may have gone on from there. */
	if (ctx->priv->state == RCM_STATE_BOUND)
		rcm_unbind(ctx->priv);
	rcm_uctx_unlock(ctx);
}

void rcm_undo_resolve_addr(struct rcm_file *file, void *arg)
{
	struct rcm_resolve_addr *resolve = arg;

	if (resolve->flags & RCM_CREATE)
		rcm_undo_create(file, resolve->handle);
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

int rcm_cmd_resolve_addr(struct rcm_file *file, void *arg)
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

	/* One for the address, one for the route. */
	follows = resolve->flags & RCM_RESOLVE_BOTH;
	ret = rcm_uevent_reserve(ctx, follows ? 2 : 1);
	if (ret)
		goto out;
	swap(follows, ctx->priv->route_follows);
	ret = rcm_id_resolve_addr(ctx->priv, &src, &dst, resolve->timeout_ms);
	/* One that is under way goes on as it was. */
	if (ret)
		ctx->priv->route_follows = follows;
out:
	rcm_close_target(file, arg, ctx, ret, &resolve->out_reason);
	return ret;
}

int rcm_cmd_resolve_route(struct rcm_file *file, void *arg)
{
	struct rcm_resolve_route *resolve = arg;
	struct rcm_uctx *ctx;
	int ret;

	if (resolve->reserved)
		return -EINVAL;
	ctx = rcm_uctx_start(file, resolve->handle);
	if (!ctx)
		return -ENOENT;

	ret = rcm_uevent_reserve(ctx, 1);
	if (!ret)
		ret = rcm_id_resolve_route(ctx->priv, resolve->timeout_ms);
	return rcm_uctx_finish(ctx, ret);
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
		return rcm_id_set_tos(priv, value);
	case RDMA_OPTION_ID_REUSEADDR:
		return rcm_id_set_reuseaddr(priv, value);
	case RDMA_OPTION_ID_AFONLY:
		return rcm_id_set_v6only(priv, value);
	default:
		return rcm_id_set_ack_timeout(priv, value);
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

int rcm_cmd_set_option(struct rcm_file *file, void *arg)
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
	ctx = rcm_uctx_start(file, option->handle);
	if (!ctx)
		return -ENOENT;

	ret = ctx->priv->state == RCM_STATE_REMOVED ?
		      -ENODEV :
		      rcm_apply_option(ctx->priv, option->level,
				       option->optname, value);
	return rcm_uctx_finish(ctx, ret);
}

int rcm_cmd_translate(struct rcm_file *file, void *arg)
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

int rcm_cmd_query(struct rcm_file *file, void *arg)
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

	if (!rcm_file_charge(to, from->user))
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
	rcm_file_add(to, -1);
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

int rcm_cmd_migrate(struct rcm_file *file, void *arg)
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
	to = rcm_file_of(filp);
	if (!to || !net_eq(to->net, file->net))
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
