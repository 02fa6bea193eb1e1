// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The event queue of one open file.
 *
 * An event is written when it happens, under its identifier's mutex, and is
 * complete: the reader asks for nothing further.  Its memory is set aside
 * when the operation that leads to it starts (rcm_uevent_reserve()), so that
 * none is lost for want of memory.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "uabi.h"

/**
 * struct rcm_uevent_full - an event and what it says
 * @head: must be first
 * @event: what the user gets; handles and uid are filled in on reading
 */
struct rcm_uevent_full {
	struct rcm_uevent head;
	struct rcm_event event;
};

static struct kmem_cache *rcm_uevent_cache;

/*
 * A device's removal may come at any time, so that memory for it would lie
 * there from the first step on. What it says is known later, too: it is
 * written when it is read.
 */
static bool rcm_uevent_is_removal(const struct rcm_uevent *uevent)
{
	return uevent == &uevent->ctx->removal;
}

static struct rcm_uevent_full *rcm_uevent_full(struct rcm_uevent *uevent)
{
	return container_of(uevent, struct rcm_uevent_full, head);
}

static u32 rcm_uevent_type(struct rcm_uevent *uevent)
{
	if (rcm_uevent_is_removal(uevent))
		return RDMA_CM_EVENT_DEVICE_REMOVAL;
	return rcm_uevent_full(uevent)->event.out_event;
}

/* rcm_uevent_fill() writes all of what the user gets, or it is @zeroed. */
static struct rcm_uevent_full *rcm_uevent_alloc(bool zeroed)
{
	struct rcm_uevent_full *full;

	full = kmem_cache_alloc(rcm_uevent_cache,
				rcm_gfp(true) | (zeroed ? __GFP_ZERO : 0));
	if (full)
		full->head.child = NULL;
	return full;
}

/**
 * rcm_uctx_lock_file - lock the file that an identifier is in
 * @ctx: identifier, which may be moving to another file
 *
 * Return: the file, with its lock held.
 */
struct rcm_file *rcm_uctx_lock_file(struct rcm_uctx *ctx)
{
	struct rcm_file *file;

	rcu_read_lock();
	for (;;) {
		file = READ_ONCE(ctx->file);
		spin_lock(&file->lock);
		if (file == ctx->file)
			break;
		spin_unlock(&file->lock);
	}
	rcu_read_unlock();
	return file;
}

/*
 * So many events stay with their identifier when they were read: what the next
 * step needs, so that a connection need not allocate anew for each.
 */
#define RCM_UEVENT_KEEP 2

static bool rcm_uevent_keep(struct rcm_uctx *ctx, struct rcm_uevent_full *full,
			    unsigned int limit)
{
	struct rcm_file *file = rcm_uctx_lock_file(ctx);
	bool room = ctx->nr_spare < limit;

	if (room) {
		list_add(&full->head.node, &ctx->spare);
		ctx->nr_spare++;
	}
	spin_unlock(&file->lock);
	return room;
}

/**
 * rcm_uevent_reserve - set memory aside for events
 * @ctx: identifier
 * @count: how many events the operation that starts may lead to
 *
 * Return: 0 or -ENOMEM.
 */
int rcm_uevent_reserve(struct rcm_uctx *ctx, unsigned int count)
{
	struct rcm_uevent_full *full;

	while (READ_ONCE(ctx->nr_spare) < count) {
		full = rcm_uevent_alloc(false);
		if (!full)
			return -ENOMEM;
		rcm_uevent_keep(ctx, full, UINT_MAX);
	}
	return 0;
}

static struct rcm_uevent_full *rcm_uevent_take(struct rcm_uctx *ctx)
{
	struct rcm_uevent_full *full;
	struct rcm_file *file;

	file = rcm_uctx_lock_file(ctx);
	full = list_first_entry_or_null(&ctx->spare, struct rcm_uevent_full,
					head.node);
	if (full) {
		list_del(&full->head.node);
		ctx->nr_spare--;
		full->head.child = NULL;
	}
	spin_unlock(&file->lock);
	return full;
}

/* One that was queued, or was to be. */
static void rcm_uevent_free(struct rcm_uevent *uevent)
{
	struct rcm_uctx *ctx = uevent->ctx;

	if (!rcm_uevent_is_removal(uevent))
		kmem_cache_free(rcm_uevent_cache, rcm_uevent_full(uevent));
	rcm_uctx_put(ctx);
}

/* An event of @ctx was read: the memory is for @user's next one. */
static void rcm_uevent_recycle(struct rcm_uevent_full *full,
			       struct rcm_uctx *ctx, struct rcm_uctx *user)
{
	if (!rcm_uevent_keep(user, full, RCM_UEVENT_KEEP))
		kmem_cache_free(rcm_uevent_cache, full);
	rcm_uctx_put(ctx);
}

/**
 * rcm_uevent_free_spare - give back what was set aside
 * @ctx: identifier that nobody else has
 */
void rcm_uevent_free_spare(struct rcm_uctx *ctx)
{
	struct rcm_uevent_full *full, *next;

	list_for_each_entry_safe(full, next, &ctx->spare, head.node)
		kmem_cache_free(rcm_uevent_cache, full);
}

static void rcm_uevent_conn(struct rcm_conn_param *to,
			    const struct rdma_conn_param *conn)
{
	to->qp_num = conn->qp_num;
	to->qkey = conn->qkey;
	to->srq = conn->srq;
	to->responder_resources = conn->responder_resources;
	to->initiator_depth = conn->initiator_depth;
	to->flow_control = conn->flow_control;
	to->retry_count = conn->retry_count;
	to->rnr_retry_count = conn->rnr_retry_count;
	to->private_data_len = conn->private_data_len;
	if (conn->private_data_len)
		memcpy(to->private_data, conn->private_data,
		       conn->private_data_len);
}

static void rcm_uevent_ud(struct rcm_event *to, const struct rdma_ud_param *ud)
{
	struct rcm_conn_param *conn = &to->out_conn;

	conn->qp_num = ud->qp_num;
	conn->qkey = ud->qkey;
	conn->private_data_len = ud->private_data_len;
	if (to->out_event == RDMA_CM_EVENT_MULTICAST_JOIN)
		to->out_new_handle = *(const u32 *)ud->private_data;
	else if (ud->private_data_len)
		memcpy(conn->private_data, ud->private_data,
		       ud->private_data_len);
	if (ud->ah_attr.type != RDMA_AH_ATTR_TYPE_UNDEFINED)
		rcm_qp_attr_ah(&to->out_qp.ah, &ud->ah_attr);
}

static void rcm_uevent_fill(struct rcm_event *to, struct rcm_id *priv,
			    const struct rdma_cm_event *event)
{
	/* The other two are written whole. */
	static_assert(offsetofend(struct rcm_event, out_conn) ==
			      offsetof(struct rcm_event, out_endpoint) &&
		      offsetofend(struct rcm_event, out_endpoint) ==
			      offsetof(struct rcm_event, out_qp) &&
		      offsetofend(struct rcm_event, out_qp) == sizeof(*to));
	memset(to, 0, offsetof(struct rcm_event, out_endpoint));
	to->out_event = event->event;
	to->out_status = event->status;
	if (event->status)
		to->out_reason = priv->reason;
	to->out_ece.vendor_id = event->ece.vendor_id;
	to->out_ece.attr_mod = event->ece.attr_mod;
	rcm_id_endpoint(priv, &to->out_endpoint);
	rcm_qp_attr_all(priv, &to->out_qp);
	if (priv->id.qp_type == IB_QPT_UD)
		rcm_uevent_ud(to, &event->param.ud);
	else
		rcm_uevent_conn(&to->out_conn, &event->param.conn);
}

/* Queues an event, with a reference on @ctx; frees it when that is dying. */
static void rcm_uevent_queue(struct rcm_uctx *ctx, struct rcm_uevent *uevent)
{
	struct rcm_file *file;
	bool dead;

	refcount_inc(&ctx->refs);
	uevent->ctx = ctx;
	file = rcm_uctx_lock_file(ctx);
	dead = ctx->dead;
	if (!dead) {
		if (uevent->child)
			uevent->child->file = file;
		list_add_tail(&uevent->node, &file->events);
		list_add_tail(&uevent->ctx_node, &ctx->events);
		wake_up_interruptible(&file->wait);
	}
	spin_unlock(&file->lock);
	if (dead)
		rcm_uevent_free(uevent);
}

/*
 * An event for which nothing was set aside: the end of time wait, which a
 * consumer must not rely on.
 */
static struct rcm_uevent_full *rcm_uevent_for(struct rcm_uctx *ctx,
					      enum rdma_cm_event_type type)
{
	struct rcm_uevent_full *full;
	struct mem_cgroup *memcg;

	if (type != RDMA_CM_EVENT_TIMEWAIT_EXIT)
		return rcm_uevent_take(ctx);
	memcg = set_active_memcg(ctx->priv->memcg);
	full = rcm_uevent_alloc(false);
	set_active_memcg(memcg);
	return full;
}

static bool rcm_uevent_backlog_enter(struct rcm_uctx *listener)
{
	struct rcm_file *file = rcm_uctx_lock_file(listener);
	bool room = listener->waiting < listener->priv->backlog;

	if (room)
		listener->waiting++;
	spin_unlock(&file->lock);
	return room;
}

static void rcm_uevent_backlog_leave(struct rcm_uctx *listener)
{
	struct rcm_file *file = rcm_uctx_lock_file(listener);

	listener->waiting--;
	spin_unlock(&file->lock);
}

/* The new identifier's context, with all the memory it needs to be accepted. */
static struct rcm_uctx *rcm_uevent_child(struct rcm_uctx *listener,
					 struct rcm_id *priv)
{
	struct rcm_uctx *child;

	child = rcm_uctx_alloc(READ_ONCE(listener->file), 0);
	if (IS_ERR(child))
		return child;
	/* The request's own event. */
	if (rcm_uevent_reserve(child, 1)) {
		rcm_file_add(child->file, -1);
		rcm_uctx_put(child);
		return ERR_PTR(-ENOMEM);
	}
	child->parent = listener;
	child->unanswered = true;
	return child;
}

/*
 * A request.  The listener's mutex is held, so that it neither goes nor moves
 * to another file.  When the backlog is full the request is forgotten, as if
 * it had been lost on the wire: the peer sends it again.
 */
static int rcm_uevent_request(struct rcm_id *priv, struct rdma_cm_event *event)
{
	struct rcm_uctx *listener = priv->id.context;
	struct rcm_uevent_full *full;
	struct rcm_uctx *child;

	if (!rcm_uevent_backlog_enter(listener)) {
		rcm_id_blame(listener->priv, RCM_STEP_BACKLOG, -ENOBUFS, 0);
		return -ENOMEM;
	}
	child = rcm_uevent_child(listener, priv);
	if (IS_ERR(child)) {
		rcm_uevent_backlog_leave(listener);
		return -ENOMEM;
	}

	full = rcm_uevent_take(child);
	rcm_uevent_fill(&full->event, priv, event);
	child->priv = rcm_id_get(priv);
	priv->id.context = child;
	full->head.child = child;
	rcm_uevent_queue(listener, &full->head);
	return 0;
}

/**
 * rcm_uevent_handler - the consumer's handler of all identifiers of files
 * @id: identifier
 * @event: event
 *
 * What the peer of a request does before that is accepted is not reported: the
 * caller has no number for it yet.  It learns of it when it tries to accept.
 *
 * Return: 0; -ENOMEM for a request that nobody can take.
 */
int rcm_uevent_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct rcm_id *priv = rcm_id_of(id);
	struct rcm_uctx *ctx = id->context;
	struct rcm_uevent_full *full;

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return rcm_uevent_request(priv, event);
	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL) {
		rcm_uevent_queue(ctx, &ctx->removal);
		return 0;
	}
	if (ctx->unanswered)
		return 0;

	full = rcm_uevent_for(ctx, event->event);
	if (!full)
		return 0;
	rcm_uevent_fill(&full->event, priv, event);
	rcm_uevent_queue(ctx, &full->head);
	return 0;
}

/* Each kind for itself: a library's must not be lost for the application's. */
static bool rcm_uevent_room_to_write(struct rcm_uctx *ctx, u32 type)
{
	struct rcm_uevent *uevent;
	struct rcm_file *file;
	unsigned int count = 0;

	file = rcm_uctx_lock_file(ctx);
	list_for_each_entry(uevent, &ctx->events, ctx_node) {
		if (rcm_uevent_type(uevent) == type)
			count++;
	}
	spin_unlock(&file->lock);
	return count < RCM_MAX_WRITTEN_EVENTS;
}

/**
 * rcm_uevent_write - queue an event that the user made
 * @ctx: identifier, with its mutex held
 * @write: the event, checked by the caller
 *
 * Return: 0; -ENOBUFS when too many were not read yet; -ENOMEM.
 */
int rcm_uevent_write(struct rcm_uctx *ctx, const struct rcm_write_event *write)
{
	struct rcm_uevent_full *full;
	struct rcm_conn_param *conn;

	if (!rcm_uevent_room_to_write(ctx, write->event))
		return -ENOBUFS;
	full = rcm_uevent_alloc(true);
	if (!full)
		return -ENOMEM;
	conn = &full->event.out_conn;
	full->event.out_event = write->event;
	full->event.out_status = write->status;
	conn->private_data_len = sizeof(write->arg);
	memcpy(conn->private_data, &write->arg, sizeof(write->arg));
	rcm_id_endpoint(ctx->priv, &full->event.out_endpoint);
	rcm_uevent_queue(ctx, &full->head);
	return 0;
}

/**
 * rcm_uevent_purge - drop the events of an identifier that nobody read
 * @ctx: identifier that is destroyed already, so that none is added
 *
 * Requests that nobody read are rejected.
 *
 * Return: how many events were read.
 */
u32 rcm_uevent_purge(struct rcm_uctx *ctx)
{
	struct rcm_uevent *uevent, *next;
	struct rcm_file *file;
	LIST_HEAD(events);
	u32 reported;

	file = rcm_uctx_lock_file(ctx);
	ctx->dead = true;
	reported = ctx->reported;
	list_for_each_entry(uevent, &ctx->events, ctx_node)
		list_del(&uevent->node);
	list_splice_init(&ctx->events, &events);
	spin_unlock(&file->lock);

	list_for_each_entry_safe(uevent, next, &events, ctx_node) {
		if (uevent->child)
			rcm_uctx_destroy(uevent->child);
		rcm_uevent_free(uevent);
	}
	return reported;
}

/**
 * rcm_uevent_drop_join - drop the event of a membership that nobody read
 * @ctx: identifier, with its mutex held, that left the group
 * @number: of the membership
 */
void rcm_uevent_drop_join(struct rcm_uctx *ctx, u32 number)
{
	struct rcm_uevent *uevent, *found = NULL;
	struct rcm_file *file;

	file = rcm_uctx_lock_file(ctx);
	list_for_each_entry(uevent, &ctx->events, ctx_node) {
		if (rcm_uevent_type(uevent) != RDMA_CM_EVENT_MULTICAST_JOIN ||
		    rcm_uevent_full(uevent)->event.out_new_handle != number)
			continue;
		list_del(&uevent->node);
		list_del(&uevent->ctx_node);
		found = uevent;
		break;
	}
	spin_unlock(&file->lock);
	if (found)
		rcm_uevent_free(found);
}

static void rcm_uevent_lock_two(struct rcm_file *a, struct rcm_file *b)
{
	if (a > b)
		swap(a, b);
	spin_lock(&a->lock);
	spin_lock_nested(&b->lock, SINGLE_DEPTH_NESTING);
}

/**
 * rcm_uevent_migrate - move an identifier and its events to another file
 * @ctx: identifier, in no file's table, with its mutex held
 * @to: the other file, which counts the identifier already
 * @handle: reserved there
 *
 * Requests that nobody read move along with their listener.
 *
 * Return: how many of its events were read from the old file.
 */
u32 rcm_uevent_migrate(struct rcm_uctx *ctx, struct rcm_file *to, u32 handle)
{
	struct rcm_file *from = ctx->file;
	struct rcm_uevent *uevent, *next;
	u32 reported;
	int moved = 0;

	rcm_uevent_lock_two(from, to);
	list_for_each_entry_safe(uevent, next, &from->events, node) {
		if (uevent->ctx != ctx && uevent->ctx->parent != ctx)
			continue;
		list_move_tail(&uevent->node, &to->events);
		if (uevent->child) {
			WRITE_ONCE(uevent->child->file, to);
			moved++;
		}
	}
	WRITE_ONCE(ctx->file, to);
	ctx->handle = handle;
	reported = ctx->reported;
	ctx->reported = 0;
	if (!list_empty(&to->events))
		wake_up_interruptible(&to->wait);
	spin_unlock(&from->lock);
	spin_unlock(&to->lock);

	rcm_file_add(from, -moved - 1);
	rcm_file_add(to, moved);
	return reported;
}

static struct rcm_uevent *rcm_uevent_dequeue(struct rcm_file *file)
{
	struct rcm_uevent *uevent;

	spin_lock(&file->lock);
	uevent = list_first_entry_or_null(&file->events, struct rcm_uevent,
					  node);
	if (uevent) {
		list_del(&uevent->node);
		list_del(&uevent->ctx_node);
		uevent->ctx->reported++;
		if (uevent->child) {
			uevent->ctx->waiting--;
			uevent->child->parent = NULL;
		}
	}
	spin_unlock(&file->lock);
	return uevent;
}

/* It could not be delivered: the next reader gets it, if it still matters. */
static void rcm_uevent_requeue(struct rcm_uevent *uevent)
{
	struct rcm_uctx *ctx = uevent->ctx;
	struct rcm_file *file;
	bool dead;

	file = rcm_uctx_lock_file(ctx);
	dead = ctx->dead;
	if (!dead) {
		list_add(&uevent->node, &file->events);
		list_add(&uevent->ctx_node, &ctx->events);
		ctx->reported--;
		if (uevent->child) {
			ctx->waiting++;
			uevent->child->parent = ctx;
		}
		wake_up_interruptible(&file->wait);
	}
	spin_unlock(&file->lock);
	if (!dead)
		return;

	if (uevent->child)
		rcm_uctx_destroy(uevent->child);
	rcm_uevent_free(uevent);
}

/* On success file->reading is held. */
static int rcm_uevent_wait(struct rcm_file *file, bool dont_wait,
			   struct rcm_uevent **uevent)
{
	int ret;

	for (;;) {
		mutex_lock(&file->reading);
		*uevent = rcm_uevent_dequeue(file);
		if (*uevent)
			return 0;
		mutex_unlock(&file->reading);
		if (dont_wait)
			return -EAGAIN;
		ret = wait_event_interruptible(
			file->wait, !list_empty_careful(&file->events));
		if (ret)
			return ret;
	}
}

/* A request's identifier gets its handle when it is read, and no earlier. */
static int rcm_uevent_publish_child(struct rcm_file *file,
				    struct rcm_uevent *uevent)
{
	if (!uevent->child)
		return 0;
	return rcm_file_reserve(file, &uevent->child->handle);
}

/* With what it says, which of a removal is filled in now; %NULL: no memory. */
static struct rcm_uevent_full *rcm_uevent_filled(struct rcm_uevent *uevent)
{
	static const struct rdma_cm_event removal = {
		.event = RDMA_CM_EVENT_DEVICE_REMOVAL,
	};
	struct rcm_id *priv = uevent->ctx->priv;
	struct rcm_uevent_full *full;

	if (!rcm_uevent_is_removal(uevent))
		return rcm_uevent_full(uevent);
	full = rcm_uevent_alloc(false);
	if (!full)
		return NULL;
	mutex_lock(&priv->mutex);
	rcm_uevent_fill(&full->event, priv, &removal);
	mutex_unlock(&priv->mutex);
	return full;
}

/**
 * rcm_uevent_read - give the oldest event to the user
 * @file: file
 * @arg: where to
 * @size: how much of struct rcm_event the user knows, bytes
 * @dont_wait: do not wait for one
 *
 * Return: 0; -EAGAIN when there is none and @dont_wait; -ERESTARTSYS when
 * interrupted; -EFAULT, -ENOMEM, and the event can be read again.
 */
int rcm_uevent_read(struct rcm_file *file, void __user *arg, u32 size,
		    bool dont_wait)
{
	struct rcm_uevent_full *full;
	struct rcm_uevent *uevent;
	struct rcm_event *event;
	struct rcm_uctx *child;
	int ret;

	ret = rcm_uevent_wait(file, dont_wait, &uevent);
	if (ret)
		return ret;
	full = rcm_uevent_filled(uevent);
	if (!full) {
		ret = -ENOMEM;
		goto err_requeue;
	}
	ret = rcm_uevent_publish_child(file, uevent);
	if (ret)
		goto err_full;

	child = uevent->child;
	event = &full->event;
	event->size = size;
	event->flags = 0;
	event->out_handle = uevent->ctx->handle;
	event->out_uid = uevent->ctx->uid;
	if (child)
		event->out_new_handle = child->handle;
	if (copy_to_user(arg, event, min_t(size_t, size, sizeof(*event)))) {
		ret = -EFAULT;
		goto err_handle;
	}
	/* Once it can be found, it can be destroyed. */
	rcm_uevent_recycle(full, uevent->ctx, child ?: uevent->ctx);
	if (child)
		xa_store(&file->ids, child->handle, child, GFP_KERNEL_ACCOUNT);
	mutex_unlock(&file->reading);
	return 0;

err_handle:
	if (child) {
		xa_erase(&file->ids, child->handle);
		child->handle = 0;
	}
err_full:
	if (rcm_uevent_is_removal(uevent))
		kmem_cache_free(rcm_uevent_cache, full);
err_requeue:
	rcm_uevent_requeue(uevent);
	mutex_unlock(&file->reading);
	return ret;
}

int rcm_uevent_init(void)
{
	/* Copied to the user from where it lies: hardened usercopy wants to know. */
	rcm_uevent_cache =
		KMEM_CACHE_USERCOPY(rcm_uevent_full, SLAB_ACCOUNT, event);
	return rcm_uevent_cache ? 0 : -ENOMEM;
}

void rcm_uevent_exit(void)
{
	kmem_cache_destroy(rcm_uevent_cache);
}
