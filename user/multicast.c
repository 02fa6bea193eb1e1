// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast groups of datagram identifiers.
 *
 * The kernel knows a membership by a number that we choose, the application by
 * the group's address.  The list of memberships is what connects the two.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rcm_user.h"

static struct rcm_mcast **rcm_mcast_by_number(struct rcm_id *id, __u32 number)
{
	struct rcm_mcast **pos = &id->mcasts;

	while (*pos && (*pos)->number != number)
		pos = &(*pos)->next;
	return pos;
}

static struct rcm_mcast **rcm_mcast_by_addr(struct rcm_id *id,
					    const struct sockaddr *addr)
{
	struct rcm_mcast **pos = &id->mcasts;

	while (*pos && memcmp(&(*pos)->addr, addr, rcm_addr_len(addr)))
		pos = &(*pos)->next;
	return pos;
}

static struct rcm_mcast *rcm_mcast_take(struct rcm_mcast **pos)
{
	struct rcm_mcast *mcast = *pos;

	if (mcast)
		*pos = mcast->next;
	return mcast;
}

/**
 * rcm_mcast_free_all - forget the memberships of an identifier
 * @id: identifier that nobody else uses, and the kernel has no more
 */
void rcm_mcast_free_all(struct rcm_id *id)
{
	struct rcm_mcast *mcast;

	while ((mcast = rcm_mcast_take(&id->mcasts)))
		free(mcast);
}

static int rcm_mcast_attach(struct rcm_id *id, struct rcm_mcast *mcast)
{
	int ret;

	if (!id->id.qp || mcast->send_only)
		return 0;
	ret = ibv_attach_mcast(id->id.qp, &mcast->mgid, mcast->mlid);
	mcast->attached = !ret;
	return ret;
}

/**
 * rcm_mcast_joined - the kernel says that an identifier is in a group
 * @evt: the event, completed here; MULTICAST_ERROR when the queue pair cannot
 *	be attached
 * @number: of the membership
 * @ah: the group's address vector
 *
 * Return: false when the application left the group meanwhile.
 */
bool rcm_mcast_joined(struct rcm_cm_event *evt, __u32 number,
		      const struct rcm_ah *ah)
{
	struct rcm_id *id = evt->ref->id;
	struct rcm_mcast *mcast;
	int error;

	pthread_mutex_lock(&id->lock);
	mcast = *rcm_mcast_by_number(id, number);
	if (mcast) {
		memcpy(&mcast->mgid, ah->dgid, sizeof(mcast->mgid));
		mcast->mlid = ah->dlid;
		mcast->reported = true;
		evt->mcast = mcast;
		evt->event.param.ud.private_data = mcast->context;
		error = rcm_mcast_attach(id, mcast);
		if (error) {
			evt->event.event = RDMA_CM_EVENT_MULTICAST_ERROR;
			evt->event.status = -error;
			evt->reason.step = RCM_STEP_MULTICAST;
			evt->reason.error = -error;
		}
	}
	pthread_mutex_unlock(&id->lock);
	return mcast;
}

/**
 * rcm_mcast_ack - the event of a membership is done with
 * @id: identifier
 * @mcast: membership; may be freed afterwards
 */
void rcm_mcast_ack(struct rcm_id *id, struct rcm_mcast *mcast)
{
	pthread_mutex_lock(&id->lock);
	mcast->acked = true;
	pthread_cond_broadcast(&id->acked);
	pthread_mutex_unlock(&id->lock);
}

/* In the list before the kernel is asked: its event may be faster than we. */
static __u32 rcm_mcast_add(struct rcm_id *id, struct rcm_mcast *mcast)
{
	__u32 number;

	pthread_mutex_lock(&id->lock);
	number = ++id->last_mcast;
	mcast->number = number;
	mcast->next = id->mcasts;
	id->mcasts = mcast;
	pthread_mutex_unlock(&id->lock);
	return number;
}

static int rcm_mcast_join(struct rcm_id *id, const struct sockaddr *addr,
			  bool send_only, void *context)
{
	struct rcm_join_multicast cmd = {
		.size = sizeof(cmd),
		.handle = rcm_id_handle(id),
		.flags = send_only ? RCM_JOIN_SEND_ONLY : 0,
	};
	struct rcm_mcast *mcast;
	int error;

	mcast = calloc(1, sizeof(*mcast));
	if (!mcast)
		return rcm_fail(ENOMEM);
	memcpy(&mcast->addr, addr, rcm_addr_len(addr));
	memcpy(&cmd.addr, addr, rcm_addr_len(addr));
	mcast->send_only = send_only;
	mcast->context = context;
	cmd.number = rcm_mcast_add(id, mcast);
	if (!rcm_id_ioctl(id, RCM_JOIN_MULTICAST, &cmd))
		return rcm_complete(id);
	error = errno;
	pthread_mutex_lock(&id->lock);
	free(rcm_mcast_take(rcm_mcast_by_number(id, cmd.number)));
	pthread_mutex_unlock(&id->lock);
	return rcm_fail(error);
}

/**
 * rdma_join_multicast_ex - join a multicast group
 * @id: datagram identifier with an RDMA device, bound or resolved, and not
 *	connected
 * @mc_join_attr: comp_mask has both of its bits; the group, and
 *	RDMA_MC_JOIN_FLAG_FULLMEMBER or RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER
 * @context: the application's, param.ud.private_data of the event
 *
 * RDMA_CM_EVENT_MULTICAST_JOIN follows, with the group's address vector and
 * Q_Key in param.ud.  The queue pair, when there is one by then and not only
 * sending is wanted, is attached to the group when the event is read.  Does
 * not wait unless the identifier is synchronous.
 *
 * Follows rdma_join_multicast_ex(3).
 *
 * Return: 0, or -1 with errno: EINVAL (NULL, not a multicast address, no such
 * identifier, comp_mask or flag is missing or unknown), ENODEV (device is
 * gone), ENOMEM; synchronously also the event's.
 */
int rdma_join_multicast_ex(struct rdma_cm_id *id,
			   struct rdma_cm_join_mc_attr_ex *mc_join_attr,
			   void *context)
{
	if (!id || !mc_join_attr)
		return rcm_fail(EINVAL);
	if (mc_join_attr->comp_mask >= RDMA_CM_JOIN_MC_ATTR_RESERVED)
		return rcm_fail(ENOTSUP);
	if (mc_join_attr->comp_mask != (RDMA_CM_JOIN_MC_ATTR_ADDRESS |
					RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS) ||
	    mc_join_attr->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED ||
	    !rcm_addr_len(mc_join_attr->addr) || !rcm_id_handle(to_rcm_id(id)))
		return rcm_fail(EINVAL);
	return rcm_mcast_join(to_rcm_id(id), mc_join_attr->addr,
			      mc_join_attr->join_flags ==
				      RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER,
			      context);
}

/**
 * rdma_join_multicast - join a multicast group, to send and to receive
 * @id: datagram identifier with an RDMA device, bound or resolved, and not
 *	connected
 * @addr: the group
 * @context: the application's, param.ud.private_data of the event
 *
 * As rdma_join_multicast_ex() with RDMA_MC_JOIN_FLAG_FULLMEMBER.
 *
 * Follows rdma_join_multicast(3).
 *
 * Return: 0, or -1 with errno as of rdma_join_multicast_ex().
 */
int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr,
			void *context)
{
	if (!id || !rcm_addr_len(addr) || !rcm_id_handle(to_rcm_id(id)))
		return rcm_fail(EINVAL);
	return rcm_mcast_join(to_rcm_id(id), addr, false, context);
}

static void rcm_mcast_detach(struct rcm_id *id, struct rcm_mcast *mcast)
{
	if (mcast->attached && id->id.qp)
		ibv_detach_mcast(id->id.qp, &mcast->mgid, mcast->mlid);
}

static void rcm_mcast_wait(struct rcm_id *id, const struct rcm_mcast *mcast)
{
	pthread_mutex_lock(&id->lock);
	while (mcast->reported && !mcast->acked)
		pthread_cond_wait(&id->acked, &id->lock);
	pthread_mutex_unlock(&id->lock);
}

/**
 * rdma_leave_multicast - leave a multicast group
 * @id: identifier
 * @addr: the group, as it was joined; when it was joined several times the
 *	youngest membership ends
 *
 * Detaches the queue pair.  An event of the membership that was not read yet
 * is dropped; waits until one that was read is acknowledged.
 *
 * Follows rdma_leave_multicast(3).
 *
 * Return: 0, or -1 with errno: EINVAL (NULL, unknown family), EADDRNOTAVAIL
 * (it is not in the group), EBADF (the channel is destroyed).
 */
int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct rcm_leave_multicast cmd = { .size = sizeof(cmd) };
	struct rcm_mcast *mcast;
	struct rcm_id *priv;
	int error = 0;

	if (!id || !rcm_addr_len(addr))
		return rcm_fail(EINVAL);
	priv = to_rcm_id(id);
	pthread_mutex_lock(&priv->lock);
	mcast = rcm_mcast_take(rcm_mcast_by_addr(priv, addr));
	pthread_mutex_unlock(&priv->lock);
	if (!mcast)
		return rcm_fail(EADDRNOTAVAIL);

	rcm_mcast_detach(priv, mcast);
	cmd.handle = rcm_id_handle(priv);
	cmd.number = mcast->number;
	/* Memberships end with the device, too. */
	if (rcm_id_ioctl(priv, RCM_LEAVE_MULTICAST, &cmd) && errno != ENOENT)
		error = errno;
	if (priv->sync)
		rcm_drop_event(priv);
	rcm_mcast_wait(priv, mcast);
	free(mcast);
	return error ? rcm_fail(error) : 0;
}
