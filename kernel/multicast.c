// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast groups of datagram identifiers.
 *
 * On RoCE there is no subnet manager to ask: the group's GID follows from its
 * address, and the switches learn of the member by IGMP or MLD.
 */
#include <linux/igmp.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>

#include "rcm_priv.h"

/**
 * struct rcm_mcast - membership of a group
 * @node: on rcm_id.mcasts; the identifier's mutex
 * @number: the consumer's number for it, by which it leaves
 * @addr: group
 * @context: the kernel consumer's word for it
 * @ah: address vector, with a reference, until the membership was reported to
 *	the consumer
 * @unreported: it was not yet
 * @ifindex: interface that reports the membership, in the identifier's
 *	namespace; 0 when none does. It may be deleted meanwhile, and that ends
 *	its part of the membership
 */
struct rcm_mcast {
	struct list_head node;
	u32 number;
	union rcm_addr addr;
	void *context;
	struct rdma_ah_attr ah;
	bool unreported;
	int ifindex;
};

/* The group's GID; RoCE v1 has multicast GIDs of its own kind for IPv4. */
static void rcm_mcast_gid(const union rcm_addr *addr, enum ib_gid_type type,
			  union ib_gid *mgid)
{
	rcm_addr_to_gid(addr, mgid);
	if (addr->sa.sa_family == AF_INET && type == IB_GID_TYPE_ROCE) {
		mgid->raw[0] = 0xff;
		mgid->raw[1] = 0x0e;
	}
}

static int rcm_mcast_igmp(struct net_device *ndev, const union rcm_addr *addr,
			  bool join)
{
	struct in_device *in_dev;
	int ret = 0;

	rtnl_lock();
	if (addr->sa.sa_family == AF_INET6) {
		ret = join ? ipv6_dev_mc_inc(ndev, &addr->sin6.sin6_addr) :
			     ipv6_dev_mc_dec(ndev, &addr->sin6.sin6_addr);
		goto out;
	}
	in_dev = __in_dev_get_rtnl(ndev);
	if (!in_dev)
		ret = -ENODEV;
	else if (join)
		ip_mc_inc_group(in_dev, addr->sin.sin_addr.s_addr);
	else
		ip_mc_dec_group(in_dev, addr->sin.sin_addr.s_addr);
out:
	rtnl_unlock();
	return ret;
}

static struct net_device *rcm_mcast_ndev(struct rcm_id *priv)
{
	struct net_device *ndev;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(priv->sgid_attr);
	/* It may have moved to another namespace. */
	if (!IS_ERR(ndev) && !net_eq(dev_net(ndev), priv->net))
		ndev = ERR_PTR(-ENODEV);
	if (!IS_ERR(ndev))
		dev_hold(ndev);
	rcu_read_unlock();
	return ndev;
}

/* Address vector of the group, for the event that tells of the membership. */
static int rcm_mcast_ah(struct rcm_id *priv, const union rcm_addr *addr,
			struct net_device *ndev, struct rdma_ah_attr *ah)
{
	enum ib_gid_type type = priv->sgid_attr->gid_type;
	struct ib_sa_mcmember_rec rec = {
		.port_gid = priv->sgid_attr->gid,
		.qkey = cpu_to_be32(priv->qkey),
		.pkey = cpu_to_be16(0xffff),
		.rate = IB_RATE_PORT_CURRENT,
		.mtu = iboe_get_mtu(ndev->mtu),
		.hop_limit = type == IB_GID_TYPE_ROCE_UDP_ENCAP ?
				     IPV6_DEFAULT_HOPLIMIT :
				     1,
		.traffic_class = priv->tos_set ? priv->tos : 0,
	};

	rcm_mcast_gid(addr, type, &rec.mgid);
	if (!rec.mtu)
		return -EINVAL;
	return ib_init_ah_from_mcmember(priv->device->ib, priv->id.port_num,
					&rec, ndev, type, ah);
}

static struct rcm_mcast *rcm_mcast_find(struct rcm_id *priv, u32 number)
{
	struct rcm_mcast *mcast;

	list_for_each_entry(mcast, &priv->mcasts, node) {
		if (mcast->number == number)
			return mcast;
	}
	return NULL;
}

static void rcm_mcast_free(struct rcm_id *priv, struct rcm_mcast *mcast)
{
	struct net_device *ndev = NULL;

	if (mcast->unreported)
		rdma_destroy_ah_attr(&mcast->ah);
	if (mcast->ifindex)
		ndev = dev_get_by_index(priv->net, mcast->ifindex);
	if (ndev) {
		rcm_mcast_igmp(ndev, &mcast->addr, false);
		dev_put(ndev);
	}
	kfree(mcast);
}

static int rcm_mcast_check(struct rcm_id *priv, const union rcm_addr *addr,
			   u32 number)
{
	if (priv->state == RCM_STATE_REMOVED)
		return -ENODEV;
	if (!priv->device || priv->id.qp_type != IB_QPT_UD ||
	    (priv->state != RCM_STATE_BOUND &&
	     priv->state != RCM_STATE_ADDR_RESOLVED)) {
		rcm_id_blame(priv, RCM_STEP_STATE, -EINVAL, 0);
		return -EINVAL;
	}
	if (!rcm_addr_is_multicast(addr) || !number)
		return -EINVAL;
	if (!rdma_protocol_roce(priv->device->ib, priv->id.port_num))
		return -ENOSYS;
	return rcm_mcast_find(priv, number) ? -EEXIST : 0;
}

/* Tells the consumer of a membership; @mcast may be gone when it returns. */
static int rcm_mcast_joined(struct rcm_id *priv, struct rcm_mcast *mcast)
{
	struct rdma_cm_event event = {
		.event = RDMA_CM_EVENT_MULTICAST_JOIN,
		.param.ud.qp_num = 0xffffff,
		.param.ud.qkey = priv->qkey,
		.param.ud.ah_attr = mcast->ah,
	};
	u32 number = mcast->number;
	int ret;

	mcast->unreported = false;
	event.param.ud.private_data = priv->inline_events ? &number :
							    mcast->context;
	ret = rcm_id_dispatch(priv, &event);
	rdma_destroy_ah_attr(&event.param.ud.ah_attr);
	return ret;
}

/**
 * rcm_mcast_report - tell a kernel consumer what it joined
 * @priv: identifier, with both of its mutexes held
 *
 * Return: as rcm_id_dispatch().
 */
int rcm_mcast_report(struct rcm_id *priv)
{
	struct rcm_mcast *mcast;
	int ret;

again:
	if (priv->state == RCM_STATE_REMOVED)
		return 0;
	list_for_each_entry(mcast, &priv->mcasts, node) {
		if (!mcast->unreported)
			continue;
		ret = rcm_mcast_joined(priv, mcast);
		if (ret)
			return ret;
		goto again;
	}
	return 0;
}

/* A member that nobody was told of yet. */
static struct rcm_mcast *rcm_mcast_add(struct rcm_id *priv,
				       const union rcm_addr *addr,
				       bool send_only, u32 number)
{
	struct rcm_mcast *mcast;
	struct net_device *ndev;
	int ret;

	ret = rcm_mcast_check(priv, addr, number);
	if (ret)
		return ERR_PTR(ret);
	rcm_set_qkey(priv, 0);
	ndev = rcm_mcast_ndev(priv);
	if (IS_ERR(ndev)) {
		ret = PTR_ERR(ndev);
		goto err;
	}

	ret = -ENOMEM;
	mcast = kzalloc(sizeof(*mcast), GFP_KERNEL_ACCOUNT);
	if (!mcast)
		goto err_ndev;
	mcast->number = number;
	mcast->addr = *addr;
	ret = rcm_mcast_ah(priv, addr, ndev, &mcast->ah);
	if (ret)
		goto err_free;
	mcast->unreported = true;
	if (!send_only) {
		ret = rcm_mcast_igmp(ndev, addr, true);
		if (ret)
			goto err_free;
		mcast->ifindex = ndev->ifindex;
	}
	dev_put(ndev);
	list_add_tail(&mcast->node, &priv->mcasts);
	return mcast;

err_free:
	rcm_mcast_free(priv, mcast);
err_ndev:
	dev_put(ndev);
err:
	if (ret != -ENOMEM)
		rcm_id_blame(priv, RCM_STEP_MULTICAST, ret, 0);
	return ERR_PTR(ret);
}

/**
 * rcm_mcast_join - become member of a group
 * @priv: datagram identifier with a device, BOUND or ADDR_RESOLVED, with its
 *	mutex held
 * @addr: group
 * @send_only: nothing is to be received, so nothing is reported
 * @number: the consumer's number for the membership, not 0
 *
 * For consumers that take events inline: reports MULTICAST_JOIN before it
 * returns 0.
 *
 * Context: process; takes the rtnl lock.
 * Return: 0; -EINVAL for an identifier or address that is not fit; -EEXIST
 * when @number is in use; -ENOSYS on iWARP; -ENODEV; -ENOMEM.
 */
int rcm_mcast_join(struct rcm_id *priv, const union rcm_addr *addr,
		   bool send_only, u32 number)
{
	struct rcm_mcast *mcast;

	mcast = rcm_mcast_add(priv, addr, send_only, number);
	if (IS_ERR(mcast))
		return PTR_ERR(mcast);
	rcm_mcast_joined(priv, mcast);
	return 0;
}

/**
 * rcm_mcast_join_context - become member of a group, for kernel consumers
 * @priv: as for rcm_mcast_join()
 * @addr: group
 * @send_only: nothing is to be received, so nothing is reported
 * @context: private data of the event
 *
 * Reports MULTICAST_JOIN from a workqueue.
 *
 * Context: process; takes the rtnl lock.
 * Return: as rcm_mcast_join().
 */
int rcm_mcast_join_context(struct rcm_id *priv, const union rcm_addr *addr,
			   bool send_only, void *context)
{
	struct rcm_mcast *mcast;
	u32 number = 1;

	/* New ones go to the end, so this is larger than any. */
	if (!list_empty(&priv->mcasts))
		number += list_last_entry(&priv->mcasts, struct rcm_mcast, node)
				  ->number;
	mcast = rcm_mcast_add(priv, addr, send_only, number);
	if (IS_ERR(mcast))
		return PTR_ERR(mcast);
	mcast->context = context;
	rcm_id_defer(priv, RCM_DEFER_MCAST);
	return 0;
}

/**
 * rcm_mcast_leave - end a membership
 * @priv: identifier, with its mutex held
 * @number: what rcm_mcast_join() was given
 *
 * Context: process; takes the rtnl lock.
 * Return: 0; -ENOENT when there is no such membership.
 */
int rcm_mcast_leave(struct rcm_id *priv, u32 number)
{
	struct rcm_mcast *mcast = rcm_mcast_find(priv, number);

	if (!mcast)
		return -ENOENT;
	list_del(&mcast->node);
	rcm_mcast_free(priv, mcast);
	return 0;
}

/**
 * rcm_mcast_leave_addr - end a membership by its address
 * @priv: identifier, with its mutex held
 * @addr: group; does nothing when it is not a member of it
 *
 * Context: process; takes the rtnl lock.
 */
void rcm_mcast_leave_addr(struct rcm_id *priv, const union rcm_addr *addr)
{
	struct rcm_mcast *mcast;

	list_for_each_entry(mcast, &priv->mcasts, node) {
		if (rcm_addr_equal(&mcast->addr, addr)) {
			list_del(&mcast->node);
			rcm_mcast_free(priv, mcast);
			return;
		}
	}
}

/**
 * rcm_mcast_leave_all - end all memberships
 * @priv: identifier that nobody else changes
 */
void rcm_mcast_leave_all(struct rcm_id *priv)
{
	struct rcm_mcast *mcast, *next;

	list_for_each_entry_safe(mcast, next, &priv->mcasts, node) {
		list_del(&mcast->node);
		rcm_mcast_free(priv, mcast);
	}
}
