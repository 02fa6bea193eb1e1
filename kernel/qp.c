// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a queue pair needs to know to follow its connection.
 */
#include <rdma/ib_cache.h>
#include <rdma/rdma_cm_ib.h>

#include "rcm_priv.h"

/**
 * rcm_set_qkey - choose the Q_Key of a datagram identifier
 * @priv: identifier, with its mutex held
 * @qkey: Q_Key, or 0 for the port space's own
 *
 * Return: 0; -EINVAL when it has another one already.
 */
int rcm_set_qkey(struct rcm_id *priv, u32 qkey)
{
	if (!qkey)
		qkey = priv->qkey ?: RDMA_UDP_QKEY;
	if (priv->qkey && priv->qkey != qkey)
		return -EINVAL;
	priv->qkey = qkey;
	return 0;
}

static void rcm_qp_attr_kind(struct rcm_id *priv, struct ib_qp_attr *attr,
			     int *mask)
{
	if (priv->id.qp_type == IB_QPT_UD) {
		rcm_set_qkey(priv, 0);
		attr->qkey = priv->qkey;
		*mask |= IB_QP_QKEY;
	} else {
		attr->qp_access_flags = 0;
		*mask |= IB_QP_ACCESS_FLAGS;
	}
}

/**
 * rcm_qp_attr_fresh - attributes for INIT, without a connection
 * @priv: identifier with a device that has P_Keys, with its mutex held
 * @attr: qp_state says which state; the others are written as @mask tells
 * @mask: IB_QP_* mask, written
 *
 * Return: 0; -EINVAL for another state than INIT.
 */
int rcm_qp_attr_fresh(struct rcm_id *priv, struct ib_qp_attr *attr, int *mask)
{
	int ret;

	if (attr->qp_state != IB_QPS_INIT)
		return -EINVAL;

	ret = ib_find_cached_pkey(priv->device->ib, priv->id.port_num, 0xffff,
				  &attr->pkey_index);
	if (ret)
		return ret;

	attr->port_num = priv->id.port_num;
	*mask = IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT;
	rcm_qp_attr_kind(priv, attr, mask);
	return 0;
}

/**
 * rcm_init_qp_attr - attributes to move a queue pair to a state
 * @priv: identifier with a device, with its mutex held
 * @attr: qp_state says which state; the others are written as @mask tells
 * @mask: IB_QP_* mask, written
 *
 * Return: 0; -ENODEV when the device is gone; -EINVAL without device, or when
 * the connection is not so far.
 */
int rcm_init_qp_attr(struct rcm_id *priv, struct ib_qp_attr *attr, int *mask)
{
	int ret;

	lockdep_assert_held(&priv->mutex);

	if (priv->state == RCM_STATE_REMOVED)
		return -ENODEV;
	if (!priv->device)
		return -EINVAL;

	ret = priv->device->transport->init_qp_attr(priv, attr, mask);
	if (ret)
		return ret;

	if ((*mask & IB_QP_TIMEOUT) && priv->ack_timeout_set)
		attr->timeout = priv->ack_timeout;
	return 0;
}

void rcm_qp_attr_ah(struct rcm_ah *to, const struct rdma_ah_attr *ah)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(ah);

	to->sl = rdma_ah_get_sl(ah);
	to->static_rate = rdma_ah_get_static_rate(ah);
	to->port_num = rdma_ah_get_port_num(ah);
	if (ah->type == RDMA_AH_ATTR_TYPE_ROCE)
		ether_addr_copy(to->dmac, ah->roce.dmac);
	else
		to->dlid = rdma_ah_get_dlid(ah);
	if (!(rdma_ah_get_ah_flags(ah) & IB_AH_GRH))
		return;

	to->is_global = 1;
	memcpy(to->dgid, grh->dgid.raw, sizeof(to->dgid));
	to->flow_label = grh->flow_label;
	to->sgid_index = grh->sgid_index;
	to->hop_limit = grh->hop_limit;
	to->traffic_class = grh->traffic_class;
}

/**
 * rcm_qp_attr_one - write the attributes of one transition
 * @to: written as @mask tells; the rest stays
 * @attr: attributes
 * @mask: IB_QP_* mask, which says what of @attr is valid
 */
void rcm_qp_attr_one(struct rcm_qp_attr *to, const struct ib_qp_attr *attr,
		     int mask)
{
	if (mask & IB_QP_ACCESS_FLAGS)
		to->qp_access_flags = attr->qp_access_flags;
	if (mask & IB_QP_PKEY_INDEX)
		to->pkey_index = attr->pkey_index;
	if (mask & IB_QP_PORT)
		to->port_num = attr->port_num;
	if (mask & IB_QP_QKEY)
		to->qkey = attr->qkey;
	if (mask & IB_QP_AV)
		rcm_qp_attr_ah(&to->ah, &attr->ah_attr);
	if (mask & IB_QP_PATH_MTU)
		to->path_mtu = attr->path_mtu;
	if (mask & IB_QP_TIMEOUT)
		to->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT)
		to->retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		to->rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_RQ_PSN)
		to->rq_psn = attr->rq_psn;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & IB_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_SQ_PSN)
		to->sq_psn = attr->sq_psn;
	if (mask & IB_QP_PATH_MIG_STATE)
		to->path_mig_state = attr->path_mig_state;
	if (mask & IB_QP_DEST_QPN)
		to->dest_qp_num = attr->dest_qp_num;
}

static u32 rcm_qp_attr_state(struct rcm_id *priv, struct rcm_qp_attr *to,
			     enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };
	int mask = 0;

	if (rcm_init_qp_attr(priv, &attr, &mask))
		return 0;
	/* The alternate path is not passed on. */
	mask &= ~IB_QP_ALT_PATH;
	rcm_qp_attr_one(to, &attr, mask);
	return mask;
}

/**
 * rcm_qp_attr_all - attributes of all transitions that are known by now
 * @priv: identifier, with its mutex held
 * @to: written whole; a mask is 0 when its transition is not known yet
 */
void rcm_qp_attr_all(struct rcm_id *priv, struct rcm_qp_attr *to)
{
	memset(to, 0, sizeof(*to));
	to->init_mask = rcm_qp_attr_state(priv, to, IB_QPS_INIT);
	to->rtr_mask = rcm_qp_attr_state(priv, to, IB_QPS_RTR);
	to->rts_mask = rcm_qp_attr_state(priv, to, IB_QPS_RTS);
}
