/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the files of the ioctl interface share: uabi.c (files, the table of
 * commands), uabi_ctx.c (handles), uabi_id.c and uabi_conn.c (commands),
 * uabi_event.c (events).
 */
#ifndef RCM_UABI_H
#define RCM_UABI_H

#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/xarray.h>

#include "rcm_priv.h"

struct rcm_user;

/**
 * struct rcm_file - one open /dev/infiniband/rcm
 * @user: who opened it
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
	struct rcm_user *user;
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
 * struct rcm_uevent - an event that was not read yet
 * @node: on rcm_file.events or rcm_uctx.spare
 * @ctx_node: on rcm_uctx.events
 * @ctx: whose event, with a reference; of a request the listener's
 * @child: of a request the new identifier, which belongs to the event until
 *	it is read
 */
struct rcm_uevent {
	struct list_head node;
	struct list_head ctx_node;
	struct rcm_uctx *ctx;
	struct rcm_uctx *child;
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
 * @removal: that the device went, which happens once
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
	struct rcm_uevent removal;
	struct list_head spare;
	unsigned int nr_spare;
	u32 waiting;
	u32 reported;
	bool dead;
	bool unanswered;
};

#define RCM_MAX_BACKLOG 1024

static inline bool rcm_is_zero(const void *start, size_t len)
{
	return !memchr_inv(start, 0, len);
}

/* uabi.c */
struct rcm_file *rcm_file_of(struct file *filp);

/* uabi_ctx.c */
unsigned int rcm_file_max_ids(void);
bool rcm_file_charge(struct rcm_file *file, const struct rcm_user *owner);
void rcm_file_add(struct rcm_file *file, int count);
int rcm_file_reserve(struct rcm_file *file, u32 *handle);
int rcm_file_publish(struct rcm_file *file, struct rcm_uctx *ctx);
struct rcm_uctx *rcm_uctx_alloc(struct rcm_file *file, u64 uid);
void rcm_uctx_put(struct rcm_uctx *ctx);
u32 rcm_uctx_destroy(struct rcm_uctx *ctx);
struct rcm_uctx *rcm_uctx_take(struct rcm_file *file, u32 handle);
struct rcm_uctx *rcm_uctx_lock(struct rcm_file *file, u32 handle);
void rcm_uctx_unlock(struct rcm_uctx *ctx);
int rcm_uctx_init(void);
void rcm_uctx_exit(void);
struct rcm_uctx *rcm_uctx_start(struct rcm_file *file, u32 handle);
int rcm_uctx_finish(struct rcm_uctx *ctx, int ret);

/* uabi_user.c */
struct rcm_user *rcm_user_get(kuid_t uid);
void rcm_user_put(struct rcm_user *user);
bool rcm_user_charge(struct rcm_user *user);
void rcm_user_add(struct rcm_user *user, int count);

/* uabi_id.c */
int rcm_cmd_create_id(struct rcm_file *file, void *arg);
void rcm_undo_create_id(struct rcm_file *file, void *arg);
int rcm_cmd_destroy_id(struct rcm_file *file, void *arg);
int rcm_cmd_bind(struct rcm_file *file, void *arg);
void rcm_undo_bind(struct rcm_file *file, void *arg);
void rcm_undo_resolve_addr(struct rcm_file *file, void *arg);
int rcm_cmd_resolve_addr(struct rcm_file *file, void *arg);
int rcm_cmd_resolve_route(struct rcm_file *file, void *arg);
int rcm_cmd_set_option(struct rcm_file *file, void *arg);
int rcm_cmd_translate(struct rcm_file *file, void *arg);
int rcm_cmd_query(struct rcm_file *file, void *arg);
int rcm_cmd_migrate(struct rcm_file *file, void *arg);

/* uabi_conn.c */
int rcm_cmd_listen(struct rcm_file *file, void *arg);
int rcm_cmd_connect(struct rcm_file *file, void *arg);
int rcm_cmd_accept(struct rcm_file *file, void *arg);
int rcm_cmd_establish(struct rcm_file *file, void *arg);
int rcm_cmd_reject(struct rcm_file *file, void *arg);
int rcm_cmd_disconnect(struct rcm_file *file, void *arg);
int rcm_cmd_notify(struct rcm_file *file, void *arg);
int rcm_cmd_init_qp_attr(struct rcm_file *file, void *arg);
int rcm_cmd_join_multicast(struct rcm_file *file, void *arg);
int rcm_cmd_leave_multicast(struct rcm_file *file, void *arg);
int rcm_cmd_write_event(struct rcm_file *file, void *arg);

/* uabi_event.c */
struct rcm_file *rcm_uctx_lock_file(struct rcm_uctx *ctx)
	__acquires(&file->lock);
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
