/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The two halves of the device file: commands (uabi.c) and events
 * (uabi_event.c).
 */
#ifndef RCM_UABI_H
#define RCM_UABI_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/xarray.h>

#include "rcm_priv.h"

/**
 * struct rcm_file - one open /dev/infiniband/rcm
 * @net: namespace of its identifiers, with a reference
 * @ids: identifiers by handle; each entry is a reference
 * @next_handle: where to look for a free handle; lock: that of @ids
 * @nr_ids: identifiers, with those of requests that were not read yet
 * @reading: held from taking an event off @events until it is delivered or
 *	back, so that its request's identifier is not used before it has a
 *	handle, and neither moves to another file meanwhile
 * @lock: protects @events and what struct rcm_uctx says
 * @events: to be read, oldest first
 * @wait: for @events
 * @rcu: a context may just be moving away from the file
 */
struct rcm_file {
	struct net *net;
	struct xarray ids;
	u32 next_handle;
	atomic_t nr_ids;
	struct mutex reading; /* from taking an event to its delivery */
	spinlock_t lock;      /* protects events, and what rcm_uctx says */
	struct list_head events;
	wait_queue_head_t wait;
	struct rcu_head rcu;
};

/**
 * struct rcm_uctx - an identifier of a file
 * @priv: identifier, with a reference
 * @refs: the file's table, commands that run, events not read yet
 * @file: the file it is in; see rcm_uctx_lock_file()
 * @handle: in that file's table; 0 until the request was read
 * @uid: the user's number
 * @parent: listener whose request it is, until that was read; file->lock
 * @events: not read yet, by rcm_uevent.ctx_node; file->lock
 * @spare: events to be used, by rcm_uevent.node; file->lock
 * @nr_spare: how many; file->lock
 * @waiting: requests not read yet, of a listener; file->lock
 * @reported: events read; file->lock
 * @dead: being destroyed, nothing may be queued any more; file->lock
 * @unanswered: a request that was not accepted; @priv's mutex
 */
struct rcm_uctx {
	struct rcm_id *priv;
	refcount_t refs;
	struct rcm_file *file;
	u32 handle;
	u64 uid;
	struct rcm_uctx *parent;
	struct list_head events;
	struct list_head spare;
	unsigned int nr_spare;
	u32 waiting;
	u32 reported;
	bool dead;
	bool unanswered;
};

#define RCM_MAX_BACKLOG 1024

struct rcm_file *rcm_uctx_lock_file(struct rcm_uctx *ctx)
	__acquires(&file->lock);
int rcm_file_reserve(struct rcm_file *file, u32 *handle);
struct rcm_uctx *rcm_uctx_alloc(struct rcm_file *file, u64 uid);
void rcm_uctx_put(struct rcm_uctx *ctx);
u32 rcm_uctx_destroy(struct rcm_uctx *ctx);

int rcm_uevent_reserve(struct rcm_uctx *ctx, unsigned int count);
u32 rcm_uevent_purge(struct rcm_uctx *ctx);
void rcm_uevent_drop_join(struct rcm_uctx *ctx, u32 number);
void rcm_uevent_free_spare(struct rcm_uctx *ctx);
u32 rcm_uevent_migrate(struct rcm_uctx *ctx, struct rcm_file *to, u32 handle);
int rcm_uevent_handler(struct rdma_cm_id *id, struct rdma_cm_event *event);
int rcm_uevent_write(struct rcm_uctx *ctx, const struct rcm_write_event *write);
int rcm_uevent_read(struct rcm_file *file, void __user *arg, u32 size,
		    bool dont_wait);
int rcm_uevent_init(void);
void rcm_uevent_exit(void);

#endif /* RCM_UABI_H */
