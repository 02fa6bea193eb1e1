// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The identifiers of one open file, and how commands find them by handle.
 */
#include <linux/moduleparam.h>
#include <linux/slab.h>

#include "uabi.h"

static unsigned int max_ids = 65536;
module_param(max_ids, uint, 0644);
MODULE_PARM_DESC(max_ids, "Identifiers that one open file may own");

static struct kmem_cache *rcm_uctx_cache;

/**
 * rcm_file_max_ids - how many identifiers one file may own
 *
 * Return: the number, which may change at any time.
 */
unsigned int rcm_file_max_ids(void)
{
	return READ_ONCE(max_ids);
}

/**
 * rcm_file_charge - count an identifier more
 * @file: file that it is for
 * @owner: user whose it is so far, or %NULL: nobody's
 *
 * Return: whether that file, and its user, may have it.
 */
bool rcm_file_charge(struct rcm_file *file, const struct rcm_user *owner)
{
	if (!atomic_add_unless(&file->nr_ids, 1, rcm_file_max_ids()))
		return false;
	/* Counted twice while it moves, which must not be too much. */
	if (owner == file->user)
		rcm_user_add(file->user, 1);
	else if (!rcm_user_charge(file->user))
		goto err_count;
	return true;

err_count:
	atomic_dec(&file->nr_ids);
	return false;
}

/**
 * rcm_file_add - count identifiers that come or go without being refused
 * @file: file
 * @count: how many; negative when they go
 */
void rcm_file_add(struct rcm_file *file, int count)
{
	atomic_add(count, &file->nr_ids);
	rcm_user_add(file->user, count);
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
 * rcm_file_publish - give an identifier its handle
 * @file: file
 * @ctx: identifier, complete; the table takes over a reference
 *
 * Return: 0 or -ENOMEM.
 */
int rcm_file_publish(struct rcm_file *file, struct rcm_uctx *ctx)
{
	/* The handle is written before anybody finds it. */
	int ret = xa_alloc_cyclic(&file->ids, &ctx->handle, ctx, xa_limit_31b,
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

	if (!rcm_file_charge(file, NULL))
		return ERR_PTR(-EMFILE);

	ctx = kmem_cache_zalloc(rcm_uctx_cache, rcm_gfp(true));
	if (!ctx) {
		rcm_file_add(file, -1);
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
	kmem_cache_free(rcm_uctx_cache, ctx);
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

	rcm_id_destroy(ctx->priv);
	reported = rcm_uevent_purge(ctx);

	file = rcm_uctx_lock_file(ctx);
	rcm_file_add(file, -1);
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

/**
 * rcm_uctx_take - take an identifier out of the table
 * @file: file
 * @handle: its handle
 *
 * Return: it, with the table's reference; %NULL when there is none.
 */
struct rcm_uctx *rcm_uctx_take(struct rcm_file *file, u32 handle)
{
	struct rcm_uctx *ctx;

	xa_lock(&file->ids);
	ctx = xa_load(&file->ids, handle);
	if (ctx)
		__xa_erase(&file->ids, handle);
	xa_unlock(&file->ids);
	return ctx;
}

void rcm_uctx_unlock(struct rcm_uctx *ctx)
{
	mutex_unlock(&ctx->priv->mutex);
	rcm_uctx_put(ctx);
}

/**
 * rcm_uctx_lock - find the identifier of a command
 * @file: file
 * @handle: its handle
 *
 * What is being destroyed counts as gone: a command may have found it before
 * it left the table, and what it would work on is going, without the mutex.
 *
 * Return: it, with its mutex held and a reference, for rcm_uctx_unlock();
 * %NULL when there is none.
 */
struct rcm_uctx *rcm_uctx_lock(struct rcm_file *file, u32 handle)
{
	struct rcm_uctx *ctx = rcm_uctx_get(file, handle);

	if (!ctx)
		return NULL;
	mutex_lock(&ctx->priv->mutex);
	if (ctx->priv->state != RCM_STATE_DESTROYING)
		return ctx;
	rcm_uctx_unlock(ctx);
	return NULL;
}

/**
 * rcm_uctx_start - find the identifier of a command that does something
 * @file: file
 * @handle: its handle
 *
 * As rcm_uctx_lock(), and it is forgotten why an earlier command failed. For
 * rcm_uctx_finish().
 */
struct rcm_uctx *rcm_uctx_start(struct rcm_file *file, u32 handle)
{
	struct rcm_uctx *ctx = rcm_uctx_lock(file, handle);

	if (ctx)
		rcm_id_no_reason(ctx->priv);
	return ctx;
}

/**
 * rcm_uctx_finish - a command on an identifier is done
 * @ctx: from rcm_uctx_start()
 * @ret: 0 or a negative errno, for which there is a reason afterwards
 *
 * Return: @ret.
 */
int rcm_uctx_finish(struct rcm_uctx *ctx, int ret)
{
	rcm_id_judge(ctx->priv, ret);
	rcm_uctx_unlock(ctx);
	return ret;
}

int rcm_uctx_init(void)
{
	rcm_uctx_cache = KMEM_CACHE(rcm_uctx, SLAB_ACCOUNT);
	return rcm_uctx_cache ? 0 : -ENOMEM;
}

void rcm_uctx_exit(void)
{
	kmem_cache_destroy(rcm_uctx_cache);
}
