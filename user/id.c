// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * An identifier's life: created, moved between channels, destroyed.
 *
 * Creating one asks nothing of the kernel.  The kernel's identifier is made
 * by the first command that needs it, and where that is possible by the same
 * system call.
 */
#include <errno.h>
#include <stdlib.h>

#include "rcm_user.h"

static __u64 rcm_last_uid;

static struct rcm_ref *rcm_ref_alloc(struct rcm_id *id)
{
	struct rcm_ref *ref = calloc(1, sizeof(*ref));

	if (ref) {
		ref->id = id;
		ref->uid = id->uid;
	}
	return ref;
}

static struct rcm_id *rcm_id_alloc(struct rcm_channel *ch)
{
	struct rcm_id *id;

	id = calloc(1, sizeof(*id));
	if (!id)
		return NULL;
	id->uid = __atomic_add_fetch(&rcm_last_uid, 1, __ATOMIC_RELAXED);
	id->ref = rcm_ref_alloc(id);
	if (!id->ref) {
		free(id);
		return NULL;
	}
	pthread_mutex_init(&id->lock, NULL);
	pthread_mutex_init(&id->event_lock, NULL);
	pthread_mutex_init(&id->reason_lock, NULL);
	pthread_cond_init(&id->acked, NULL);
	rcm_channel_get(ch);
	id->id.channel = &ch->channel;
	return id;
}

static void rcm_id_free(struct rcm_id *id)
{
	struct rcm_channel *ch = rcm_id_channel(id);

	rcm_channel_remove(ch, id->ref);
	if (id->sync)
		rcm_channel_close(ch);
	rcm_channel_put(ch);
	if (id->dev)
		rcm_device_put(id->dev);
	pthread_cond_destroy(&id->acked);
	pthread_mutex_destroy(&id->reason_lock);
	pthread_mutex_destroy(&id->event_lock);
	pthread_mutex_destroy(&id->lock);
	rcm_mcast_free_all(id);
	free(id->ep_attr);
	free(id->connect_data);
	free(id->ref);
	free(id);
}

/**
 * rcm_ref_ack - one event read from a channel is done with
 * @ref: the identifier's entry in that channel; may be freed afterwards
 */
void rcm_ref_ack(struct rcm_ref *ref)
{
	struct rcm_id *id = ref->id;

	pthread_mutex_lock(&id->lock);
	ref->acked++;
	pthread_cond_broadcast(&id->acked);
	pthread_mutex_unlock(&id->lock);
}

static void rcm_ref_wait(struct rcm_ref *ref, __u32 reported)
{
	struct rcm_id *id = ref->id;

	pthread_mutex_lock(&id->lock);
	while (ref->acked < reported)
		pthread_cond_wait(&id->acked, &id->lock);
	pthread_mutex_unlock(&id->lock);
}

/**
 * rcm_ps_qp_type - the usual type of queue pair of a port space
 * @ps: port space
 */
enum ibv_qp_type rcm_ps_qp_type(int ps)
{
	return ps == RDMA_PS_UDP || ps == RDMA_PS_IPOIB ? IBV_QPT_UD :
							  IBV_QPT_RC;
}

/**
 * rcm_ps_has_qp_type - whether a type of queue pair goes with a port space
 * @ps: port space
 * @qp_type: type of queue pair
 */
bool rcm_ps_has_qp_type(int ps, int qp_type)
{
	switch (ps) {
	case RDMA_PS_TCP:
		return qp_type == IBV_QPT_RC;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		return qp_type == IBV_QPT_UD;
	case RDMA_PS_IB:
		return qp_type == IBV_QPT_RC || qp_type == IBV_QPT_UC ||
		       qp_type == IBV_QPT_UD || qp_type == IBV_QPT_XRC_SEND ||
		       qp_type == IBV_QPT_XRC_RECV;
	default:
		return false;
	}
}

/**
 * rcm_id_create - make an identifier
 * @channel: channel, or NULL for a private one and synchronous calls
 * @out: the identifier
 * @context: the application's
 * @ps: port space
 * @qp_type: type of queue pair
 *
 * Return: 0, or -1 with errno.
 */
int rcm_id_create(struct rdma_event_channel *channel, struct rcm_id **out,
		  void *context, enum rdma_port_space ps,
		  enum ibv_qp_type qp_type)
{
	struct rcm_channel *ch;
	struct rcm_id *id;

	if (!rcm_ps_has_qp_type(ps, qp_type))
		return rcm_fail(EINVAL);
	ch = channel ? to_rcm_channel(channel) : rcm_channel_create();
	if (!ch)
		return -1;
	id = rcm_id_alloc(ch);
	if (!id) {
		if (!channel)
			rcm_channel_close(ch);
		return rcm_fail(ENOMEM);
	}
	id->sync = !channel;
	rcm_id_show_sync(id);
	id->id.context = context;
	id->id.ps = ps;
	id->id.qp_type = qp_type;
	*out = id;
	return 0;
}

/**
 * rcm_id_create_child - make the identifier of a connection request
 * @ch: channel that the request was read from
 * @listener: the listening identifier; its attributes are taken over
 * @handle: the kernel's handle for the new one
 *
 * Return: the identifier, in @ch's table, or NULL with errno.
 */
struct rcm_id *rcm_id_create_child(struct rcm_channel *ch,
				   const struct rcm_id *listener, __u32 handle)
{
	struct rcm_id *id = rcm_id_alloc(ch);

	if (!id)
		return NULL;
	id->id.context = listener->id.context;
	id->id.ps = listener->id.ps;
	id->id.qp_type = listener->id.qp_type;
	rcm_channel_expect(ch);
	rcm_channel_publish(ch, id->ref, handle);
	return id;
}

/**
 * rcm_id_need_handle - make the kernel's identifier unless it exists
 * @id: identifier
 *
 * Return: 0, or -1 with errno as of RCM_CREATE_ID.
 */
int rcm_id_need_handle(struct rcm_id *id)
{
	struct rcm_create_id cmd = {
		.size = sizeof(cmd),
		.uid = id->uid,
		.ps = id->id.ps,
		.qp_type = id->id.qp_type,
	};
	struct rcm_channel *ch = rcm_id_channel(id);
	int ret = 0;

	pthread_mutex_lock(&id->lock);
	if (!id->ref->handle) {
		rcm_channel_expect(ch);
		ret = rcm_id_ioctl(id, RCM_CREATE_ID, &cmd);
		rcm_channel_publish(ch, id->ref, ret ? 0 : cmd.out_handle);
	}
	pthread_mutex_unlock(&id->lock);
	return ret;
}

/**
 * rdma_create_id - make an identifier
 * @channel: channel on which its events are reported; NULL for synchronous
 *	operation: calls wait, and the identifier's event member holds the event
 *	that ended the last one
 * @id: where to put the identifier
 * @context: the application's own, unchanged in id->context
 * @ps: RDMA_PS_TCP or RDMA_PS_IB for a reliable connection, RDMA_PS_UDP or
 *	RDMA_PS_IPOIB for datagrams
 *
 * Makes no system call when a channel is given.  Does not wait.
 *
 * Follows rdma_create_id(3).
 *
 * Return: 0, or -1 with errno: EINVAL (@id is NULL, or @ps is no port space),
 * ENOMEM; without @channel also those of rdma_create_event_channel().
 */
int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id,
		   void *context, enum rdma_port_space ps)
{
	struct rcm_id *priv;
	int ret;

	if (!id)
		return rcm_fail(EINVAL);
	ret = rcm_id_create(channel, &priv, context, ps, rcm_ps_qp_type(ps));
	if (!ret)
		*id = &priv->id;
	return ret;
}

static int rcm_id_destroy_kernel(struct rcm_id *id, __u32 *reported)
{
	struct rcm_destroy_id cmd = {
		.size = sizeof(cmd),
		.handle = rcm_id_handle(id),
	};

	*reported = 0;
	/* The channel was closed before: the kernel has nothing left. */
	if (!cmd.handle || id->id.channel->fd < 0)
		return 0;
	if (rcm_id_ioctl(id, RCM_DESTROY_ID, &cmd))
		return -1;
	*reported = cmd.out_events_reported;
	return 0;
}

/**
 * rcm_id_unmake - destroy the kernel's part of an identifier, and only that
 * @id: identifier; the next command that needs it makes it anew
 */
void rcm_id_unmake(struct rcm_id *id)
{
	__u32 reported;

	if (rcm_id_destroy_kernel(id, &reported))
		return;
	rcm_ref_wait(id->ref, reported);
	rcm_channel_remove(rcm_id_channel(id), id->ref);
	id->ref->handle = 0;
	id->ref->acked = 0;
}

/**
 * rdma_destroy_id - destroy an identifier
 * @id: identifier; its queue pair should have been destroyed before
 *
 * Cancels what is under way.  Events that were not read yet are dropped.
 * Waits until every event that was read is acknowledged, so that it must not
 * be called between rdma_get_cm_event() and rdma_ack_cm_event() by the thread
 * that acknowledges.  After it returned no event of the identifier comes.
 *
 * Follows rdma_destroy_id(3).
 *
 * Return: 0, or -1 with errno: EINVAL (@id is NULL).
 */
int rdma_destroy_id(struct rdma_cm_id *id)
{
	struct rcm_id *priv;
	__u32 reported;

	if (!id)
		return rcm_fail(EINVAL);
	priv = to_rcm_id(id);
	rcm_resolution_stop(priv);
	if (rcm_id_destroy_kernel(priv, &reported))
		return -1;
	rcm_drop_event(priv);
	rcm_ref_wait(priv->ref, reported);
	rcm_id_free(priv);
	return 0;
}

/* Moves the kernel's identifier and waits for the old channel's events. */
static int rcm_id_move(struct rcm_id *id, struct rcm_channel *to,
		       struct rcm_ref *ref)
{
	struct rcm_migrate cmd = {
		.size = sizeof(cmd),
		.handle = rcm_id_handle(id),
		.fd = to->channel.fd,
	};
	struct rcm_channel *from = rcm_id_channel(id);
	int ret;

	if (!cmd.handle)
		return 0;
	rcm_channel_expect(to);
	ret = rcm_id_ioctl(id, RCM_MIGRATE, &cmd);
	rcm_channel_publish(to, ref, ret ? 0 : cmd.out_handle);
	if (ret)
		return -1;
	rcm_drop_event(id);
	rcm_ref_wait(id->ref, cmd.out_events_reported);
	rcm_channel_remove(from, id->ref);
	return 0;
}

/**
 * rdma_migrate_id - move an identifier to another channel
 * @id: identifier
 * @channel: channel for its further events; NULL for a private one and
 *	synchronous operation
 *
 * Events not read yet move along.  Waits until every event of @id that was
 * read from the old channel is acknowledged, and for the name servers that
 * rdma_resolve_addrinfo() asked.  Nothing else may be done with @id meanwhile.
 *
 * Follows rdma_migrate_id(3).
 *
 * Return: 0, or -1 with errno: EINVAL (@id is NULL, or the channels are of
 * different network namespaces), ENOMEM; without @channel also those of
 * rdma_create_event_channel().
 */
int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	struct rcm_channel *from, *to;
	struct rcm_ref *ref;
	struct rcm_id *priv;

	if (!id)
		return rcm_fail(EINVAL);
	if (channel == id->channel)
		return 0;
	priv = to_rcm_id(id);
	/* Its thread writes the event through the channel. */
	rcm_resolution_wait(priv);
	from = rcm_id_channel(priv);
	ref = rcm_ref_alloc(priv);
	if (!ref)
		return rcm_fail(ENOMEM);
	to = channel ? to_rcm_channel(channel) : rcm_channel_create();
	if (!to)
		goto err_ref;
	if (rcm_id_move(priv, to, ref))
		goto err_channel;

	rcm_channel_get(to);
	free(priv->ref);
	priv->ref = ref;
	id->channel = &to->channel;
	if (priv->sync)
		rcm_channel_close(from);
	priv->sync = !channel;
	rcm_id_show_sync(priv);
	rcm_channel_put(from);
	return 0;

err_channel:
	if (!channel)
		rcm_channel_close(to);
err_ref:
	free(ref);
	return -1;
}

/**
 * rdma_get_src_port - the local port of an identifier
 * @id: identifier
 *
 * Does not ask the kernel: rdma_bind_addr(), rdma_resolve_addr() and
 * rdma_listen() leave the port that was taken in the identifier.
 *
 * Follows rdma_get_src_port(3).
 *
 * Return: the port in network byte order; 0 when not bound, or @id is NULL.
 */
__be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	return id ? rcm_addr_port(&id->route.addr.src_addr) : 0;
}

/**
 * rdma_get_dst_port - the peer's port of an identifier
 * @id: identifier
 *
 * Says what the identifier's destination address says: known as soon as
 * rdma_resolve_addr() succeeded, and not only when connected, as in librdmacm.
 *
 * Follows rdma_get_dst_port(3).
 *
 * Return: the port in network byte order; 0 when there is no destination yet,
 * or @id is NULL.
 */
__be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
	return id ? rcm_addr_port(&id->route.addr.dst_addr) : 0;
}
