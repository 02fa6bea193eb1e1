// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Event channels: one open /dev/infiniband/rcm each, and the table that finds
 * an identifier by the handle that the kernel gave for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "rcm_user.h"

#define RCM_MIN_BUCKETS 16

/**
 * rcm_fail - the library's way to fail
 * @error: positive errno
 *
 * Return: -1, with errno set to @error.
 */
int rcm_fail(int error)
{
	errno = error;
	return -1;
}

/**
 * rcm_ioctl - give the kernel a command
 * @fd: a channel's file
 * @cmd: RCM_*
 * @arg: its structure, size filled in
 *
 * Return: 0 (RCM_GET_EVENTS: how many), or -1 with errno.
 */
int rcm_ioctl(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg);
}

/**
 * rcm_id_ioctl - give the kernel a command on the file that owns @id
 * @id: identifier
 * @cmd: RCM_*
 * @arg: its structure, size and handle filled in
 *
 * Return: 0, or -1 with errno.
 */
int rcm_id_ioctl(struct rcm_id *id, unsigned long cmd, void *arg)
{
	rcm_id_no_reason(id);
	return rcm_ioctl(id->id.channel->fd, cmd, arg);
}

static struct rcm_ref **rcm_bucket(struct rcm_channel *ch, __u32 handle)
{
	return &ch->bucket[handle & ch->mask];
}

static void rcm_table_insert(struct rcm_channel *ch, struct rcm_ref *ref)
{
	struct rcm_ref **bucket = rcm_bucket(ch, ref->handle);

	ref->next = *bucket;
	*bucket = ref;
}

/* Without memory the chains get longer, and that is all. */
static void rcm_table_grow(struct rcm_channel *ch)
{
	unsigned int i, old = ch->mask + 1;
	struct rcm_ref **from = ch->bucket;
	struct rcm_ref **to, *ref;

	to = calloc(old * 2, sizeof(*to));
	if (!to)
		return;
	ch->bucket = to;
	ch->mask = old * 2 - 1;
	for (i = 0; i < old; i++) {
		while ((ref = from[i])) {
			from[i] = ref->next;
			rcm_table_insert(ch, ref);
		}
	}
	free(from);
}

/**
 * rcm_channel_create - open a channel
 *
 * Return: the channel with one user, or NULL with errno.
 */
struct rcm_channel *rcm_channel_create(void)
{
	struct rcm_channel *ch;

	ch = calloc(1, sizeof(*ch));
	if (!ch)
		return NULL;
	ch->bucket = calloc(RCM_MIN_BUCKETS, sizeof(*ch->bucket));
	if (!ch->bucket)
		goto err_free;
	ch->channel.fd = open(RCM_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (ch->channel.fd < 0)
		goto err_bucket;
	ch->mask = RCM_MIN_BUCKETS - 1;
	ch->refs = 1;
	pthread_mutex_init(&ch->lock, NULL);
	pthread_cond_init(&ch->published, NULL);
	return ch;

err_bucket:
	/* What librdmacm says on a machine without RDMA. */
	if (errno == ENOENT || errno == ENXIO)
		errno = ENODEV;
	free(ch->bucket);
err_free:
	free(ch);
	return NULL;
}

/**
 * rcm_channel_get - become a user of a channel
 * @ch: channel
 */
void rcm_channel_get(struct rcm_channel *ch)
{
	__atomic_fetch_add(&ch->refs, 1, __ATOMIC_RELAXED);
}

static void rcm_free_orphans(struct rcm_channel *ch)
{
	struct rcm_orphan *orphan;

	while ((orphan = ch->orphans)) {
		ch->orphans = orphan->next;
		free(orphan);
	}
}

/**
 * rcm_channel_put - cease to be a user of a channel
 * @ch: channel; freed with its last user
 */
void rcm_channel_put(struct rcm_channel *ch)
{
	if (__atomic_sub_fetch(&ch->refs, 1, __ATOMIC_ACQ_REL))
		return;
	rcm_free_orphans(ch);
	pthread_cond_destroy(&ch->published);
	pthread_mutex_destroy(&ch->lock);
	free(ch->bucket);
	free(ch);
}

/**
 * rcm_channel_close - close a channel's file and cease to be a user
 * @ch: channel
 *
 * The kernel destroys what identifiers the file still owns.
 */
void rcm_channel_close(struct rcm_channel *ch)
{
	int fd = ch->channel.fd;

	ch->channel.fd = -1;
	close(fd);
	rcm_channel_put(ch);
}

static void rcm_add_orphan(struct rcm_channel *ch, __u32 handle)
{
	struct rcm_orphan *orphan;

	orphan = calloc(1, sizeof(*orphan));
	if (!orphan)
		return;
	orphan->handle = handle;
	orphan->next = ch->orphans;
	ch->orphans = orphan;
}

static void rcm_adopt_orphans(struct rcm_channel *ch, struct rcm_ref *ref)
{
	struct rcm_orphan **pos = &ch->orphans;
	struct rcm_orphan *orphan;

	while ((orphan = *pos)) {
		if (orphan->handle != ref->handle) {
			pos = &orphan->next;
			continue;
		}
		*pos = orphan->next;
		ref->acked++;
		free(orphan);
	}
}

/**
 * rcm_channel_expect - announce that a handle will be published
 * @ch: channel
 *
 * To be called before the command that makes the handle: an event with it can
 * be read before the command returns.  rcm_channel_publish() must follow.
 */
void rcm_channel_expect(struct rcm_channel *ch)
{
	pthread_mutex_lock(&ch->lock);
	ch->pending++;
	pthread_mutex_unlock(&ch->lock);
}

/**
 * rcm_channel_publish - enter an announced handle into the table
 * @ch: channel
 * @ref: the identifier's entry
 * @handle: the handle, or 0 when the command failed
 */
void rcm_channel_publish(struct rcm_channel *ch, struct rcm_ref *ref,
			 __u32 handle)
{
	pthread_mutex_lock(&ch->lock);
	if (handle) {
		if (ch->count > ch->mask)
			rcm_table_grow(ch);
		ref->handle = handle;
		rcm_table_insert(ch, ref);
		rcm_adopt_orphans(ch, ref);
		ch->count++;
	}
	ch->pending--;
	pthread_cond_broadcast(&ch->published);
	pthread_mutex_unlock(&ch->lock);
}

/**
 * rcm_channel_remove - take an entry out of the table
 * @ch: channel
 * @ref: entry; nothing happens when it was never published
 */
void rcm_channel_remove(struct rcm_channel *ch, struct rcm_ref *ref)
{
	struct rcm_ref **pos;

	if (!ref->handle)
		return;
	pthread_mutex_lock(&ch->lock);
	pos = rcm_bucket(ch, ref->handle);
	while (*pos && *pos != ref)
		pos = &(*pos)->next;
	if (*pos) {
		*pos = ref->next;
		ch->count--;
	}
	pthread_mutex_unlock(&ch->lock);
}

/*
 * The kernel may give the handle of an identifier that is being destroyed to
 * a new one while events of the old one are not acknowledged yet, so that two
 * entries have it.  The number tells them apart; an identifier from a request
 * has none in the kernel before it is accepted, and the newer entry is meant.
 */
static struct rcm_ref *rcm_table_find(struct rcm_channel *ch, __u32 handle,
				      __u64 uid)
{
	struct rcm_ref *ref, *found = NULL;

	for (ref = *rcm_bucket(ch, handle); ref; ref = ref->next) {
		if (ref->handle != handle || (uid && ref->uid != uid))
			continue;
		if (!found || ref->uid > found->uid)
			found = ref;
	}
	return found;
}

/**
 * rcm_channel_find - find the identifier that an event is for
 * @ch: channel that the event came from
 * @handle: handle in the event
 * @uid: number in the event, or 0
 *
 * Waits for announced handles.  An event of a request's identifier whose
 * request another thread has read and not entered yet is counted as
 * acknowledged; the caller drops it.  The entry that is found stays valid until the event is
 * acknowledged, since the kernel counted the event as read and destroying or
 * migrating the identifier waits for it.
 *
 * Return: the entry, or NULL when there is none.
 */
struct rcm_ref *rcm_channel_find(struct rcm_channel *ch, __u32 handle,
				 __u64 uid)
{
	struct rcm_ref *ref;

	pthread_mutex_lock(&ch->lock);
	while (!(ref = rcm_table_find(ch, handle, uid)) && ch->pending)
		pthread_cond_wait(&ch->published, &ch->lock);
	if (!ref && !uid)
		rcm_add_orphan(ch, handle);
	pthread_mutex_unlock(&ch->lock);
	return ref;
}

/**
 * rdma_create_event_channel - open a channel on which events are reported
 *
 * Opens /dev/infiniband/rcm, close-on-exec.  The identifiers made on it live
 * in the caller's network namespace of this moment.  Does not wait.
 *
 * Follows rdma_create_event_channel(3).
 *
 * Return: the channel, or NULL with errno: ENODEV (the module is not loaded),
 * EACCES, EMFILE, ENFILE, ENOMEM.
 */
struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct rcm_channel *ch = rcm_channel_create();

	return ch ? &ch->channel : NULL;
}

/**
 * rdma_destroy_event_channel - close a channel
 * @channel: channel, or NULL
 *
 * All its identifiers should have been destroyed before and all events
 * acknowledged.  Where they were not, the kernel's part of the identifiers
 * ends here, and they can still be passed to rdma_destroy_id().
 *
 * Follows rdma_destroy_event_channel(3).
 */
void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	if (channel)
		rcm_channel_close(to_rcm_channel(channel));
}
