// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The path to the peer.  On RoCE there is nobody to ask: it follows from the
 * addresses and the interface, so it is computed in the caller's context.  On
 * iWARP the path is the TCP connection's own business.
 */
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <net/route.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>

#include "rcm_priv.h"

/* 4.096 us * 2^16 is 268 ms: what the in-tree manager takes, too. */
#define RCM_ROCE_PACKET_LIFE_TIME 16

/* Service level: the priority that the interface maps the TOS to. */
static u8 rcm_tos_to_sl(struct net_device *ndev, u8 tos)
{
	int prio = rt_tos2priority(tos);
	struct net_device *dev = ndev;

	if (is_vlan_dev(ndev))
		return (vlan_dev_get_egress_qos_mask(ndev, prio) &
			VLAN_PRIO_MASK) >>
		       VLAN_PRIO_SHIFT;
	return dev->num_tc ? netdev_get_prio_tc_map(dev, prio) : 0;
}

/* Spreads connections over paths: a function of both ports. */
static __be32 rcm_flow_label(struct rcm_id *priv)
{
	u32 label = 0;

	if (rcm_src(priv)->sa.sa_family == AF_INET6)
		label = be32_to_cpu(rcm_src(priv)->sin6.sin6_flowinfo) &
			IB_GRH_FLOWLABEL_MASK;
	if (!label)
		label = (ntohs(rcm_addr_port(rcm_src(priv))) * 31U +
			 ntohs(rcm_addr_port(rcm_dst(priv)))) &
			IB_GRH_FLOWLABEL_MASK;
	return cpu_to_be32(label);
}

static int rcm_route_roce(struct rcm_id *priv)
{
	struct sa_path_rec *path = &priv->peer->path;
	struct net_device *ndev;
	u8 tos = priv->tos_set ? priv->tos : 0;
	int ret = -ENODEV;

	memset(path, 0, sizeof(*path));
	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(priv->sgid_attr);
	if (IS_ERR(ndev))
		goto out;

	path->rec_type = sa_conv_gid_to_pathrec_type(priv->sgid_attr->gid_type);
	path->roce.route_resolved = true;
	ether_addr_copy(path->roce.dmac, priv->dmac);
	path->sgid = priv->sgid_attr->gid;
	rcm_addr_to_gid(rcm_dst(priv), &path->dgid);
	path->hop_limit = priv->hop_limit;
	path->reversible = 1;
	path->numb_path = 1;
	path->pkey = cpu_to_be16(0xffff);
	path->sl = rcm_tos_to_sl(ndev, tos);
	path->traffic_class = tos;
	path->mtu_selector = IB_SA_EQ;
	path->mtu = iboe_get_mtu(ndev->mtu);
	path->rate_selector = IB_SA_EQ;
	path->rate = IB_RATE_PORT_CURRENT;
	path->packet_life_time_selector = IB_SA_EQ;
	path->packet_life_time = priv->ack_timeout_set && priv->ack_timeout ?
					 priv->ack_timeout - 1 :
					 RCM_ROCE_PACKET_LIFE_TIME;
	if (path->rec_type == SA_PATH_REC_TYPE_ROCE_V2)
		path->flow_label = rcm_flow_label(priv);
	/* An interface with so small an MTU cannot carry RoCE. */
	ret = path->mtu ? 0 : -EINVAL;
out:
	rcu_read_unlock();
	return ret;
}

/**
 * rcm_id_use_path - show the consumer the path
 * @priv: identifier whose path is known, with its mutex held
 */
void rcm_id_use_path(struct rcm_id *priv)
{
	priv->id.route.path_rec = &priv->peer->path;
	priv->id.route.num_pri_alt_paths = 1;
}

/**
 * rcm_route_complete - find the path and say so
 * @priv: identifier, with its mutex held
 *
 * Reports ROUTE_RESOLVED or ROUTE_ERROR, unless nobody waits for it any more.
 *
 * Return: as rcm_id_dispatch().
 */
int rcm_route_complete(struct rcm_id *priv)
{
	int ret;

	if (priv->state != RCM_STATE_ROUTE_QUERY)
		return 0;

	ret = priv->device->transport->has_path ? rcm_route_roce(priv) : 0;
	if (ret) {
		rcm_id_blame(priv, RCM_STEP_PATH, ret, 0);
		rcm_id_move(priv, RCM_OP_ROUTE_FAIL);
		return rcm_id_report(priv, RDMA_CM_EVENT_ROUTE_ERROR, ret);
	}

	if (priv->device->transport->has_path)
		rcm_id_use_path(priv);
	rcm_id_move(priv, RCM_OP_ROUTE_OK);
	return rcm_id_report(priv, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
}

/**
 * rcm_id_resolve_route - find the path to the peer
 * @priv: identifier in state ADDR_RESOLVED, with its mutex held
 * @timeout_ms: how long to wait, milliseconds; RoCE needs no wait
 *
 * Reports ROUTE_RESOLVED or ROUTE_ERROR, before it returns 0 to consumers that
 * take events inline, from a workqueue to others.
 *
 * Context: process.
 * Return: 0; -EINVAL in a state that does not allow it, so before the address
 * is resolved; -ENODEV when the device is gone.
 */
int rcm_id_resolve_route(struct rcm_id *priv, unsigned int timeout_ms)
{
	int ret;

	ret = rcm_id_begin(priv, RCM_OP_RESOLVE_ROUTE);
	if (ret)
		return ret;

	if (priv->inline_events)
		rcm_route_complete(priv);
	else
		rcm_id_defer(priv, RCM_DEFER_ROUTE);
	return 0;
}

/**
 * rcm_id_set_path - take the path from the consumer
 * @priv: identifier in state ADDR_RESOLVED, with its mutex held
 * @path: from and to the GIDs of the identifier's addresses
 *
 * In place of rcm_id_resolve_route(). What follows from the interface on RoCE,
 * the kind of path and the link address, is taken from there.
 *
 * Return: 0; -EINVAL in a state that does not allow it, or when @path leads
 * elsewhere; -EOPNOTSUPP on iWARP; -ENODEV when the device is gone.
 */
int rcm_id_set_path(struct rcm_id *priv, const struct sa_path_rec *path)
{
	struct sa_path_rec own;
	int ret;

	ret = rcm_state_next(priv->state, RCM_OP_RESOLVE_ROUTE);
	if (ret < 0)
		return ret;
	if (!priv->device->transport->has_path)
		return -EOPNOTSUPP;
	ret = rcm_route_roce(priv);
	if (ret)
		return ret;
	own = priv->peer->path;
	if (memcmp(&path->sgid, &own.sgid, sizeof(own.sgid)) ||
	    memcmp(&path->dgid, &own.dgid, sizeof(own.dgid)))
		return -EINVAL;

	priv->peer->path = *path;
	priv->peer->path.rec_type = own.rec_type;
	priv->peer->path.roce = own.roce;
	rcm_id_use_path(priv);
	rcm_id_move(priv, RCM_OP_RESOLVE_ROUTE);
	return rcm_id_move(priv, RCM_OP_ROUTE_OK);
}
