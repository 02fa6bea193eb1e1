// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Queue pairs, completion queues and shared receive queues on an identifier.
 */
#include <errno.h>
#include <string.h>

#include <rdma/rdma_verbs.h>

#include "rcm_user.h"

/* The kernel's masks have bits of its own beyond the last of verbs'. */
#define RCM_QP_MASK ((IBV_QP_RATE_LIMIT << 1) - 1)

/**
 * rcm_copy_ah - an address vector as verbs has it
 * @to: written whole
 * @from: the kernel's
 */
void rcm_copy_ah(struct ibv_ah_attr *to, const struct rcm_ah *from)
{
	memcpy(&to->grh.dgid, from->dgid, sizeof(to->grh.dgid));
	to->grh.flow_label = from->flow_label;
	to->grh.sgid_index = from->sgid_index;
	to->grh.hop_limit = from->hop_limit;
	to->grh.traffic_class = from->traffic_class;
	to->dlid = from->dlid;
	to->sl = from->sl;
	to->src_path_bits = from->src_path_bits;
	to->static_rate = from->static_rate;
	to->is_global = from->is_global;
	to->port_num = from->port_num;
}

static void rcm_copy_qp_attr(struct ibv_qp_attr *to, enum ibv_qp_state state,
			     const struct rcm_qp_attr *from)
{
	memset(to, 0, sizeof(*to));
	to->qp_state = state;
	to->path_mtu = from->path_mtu;
	to->path_mig_state = from->path_mig_state;
	to->qkey = from->qkey;
	to->rq_psn = from->rq_psn;
	to->sq_psn = from->sq_psn;
	to->dest_qp_num = from->dest_qp_num;
	to->qp_access_flags = from->qp_access_flags;
	to->pkey_index = from->pkey_index;
	to->max_rd_atomic = from->max_rd_atomic;
	to->max_dest_rd_atomic = from->max_dest_rd_atomic;
	to->min_rnr_timer = from->min_rnr_timer;
	to->port_num = from->port_num;
	to->timeout = from->timeout;
	to->retry_cnt = from->retry_cnt;
	to->rnr_retry = from->rnr_retry;
	rcm_copy_ah(&to->ah_attr, &from->ah);
}

static __u32 *rcm_mask_of(struct rcm_qp_attr *attr, enum ibv_qp_state state)
{
	switch (state) {
	case IBV_QPS_INIT:
		return &attr->init_mask;
	case IBV_QPS_RTR:
		return &attr->rtr_mask;
	default:
		return &attr->rts_mask;
	}
}

static int rcm_query_qp_attr(struct rcm_id *id, enum ibv_qp_state state,
			     struct rcm_qp_attr *attr, __u32 *mask)
{
	struct rcm_init_qp_attr cmd = {
		.size = sizeof(cmd),
		.handle = rcm_id_handle(id),
		.qp_state = state,
	};

	if (rcm_id_ioctl(id, RCM_INIT_QP_ATTR, &cmd))
		return -1;
	*attr = cmd.out_attr;
	*mask = cmd.out_mask;
	return 0;
}

/* What the last event said, and only where it said nothing the kernel again. */
static int rcm_get_qp_attr(struct rcm_id *id, enum ibv_qp_state state,
			   struct rcm_qp_attr *attr, __u32 *mask)
{
	*mask = *rcm_mask_of(&id->qp_attr, state);
	*attr = id->qp_attr;
	return *mask ? 0 : rcm_query_qp_attr(id, state, attr, mask);
}

/* Where the mask has no state the device makes the transition by itself. */
static int rcm_modify_qp(struct ibv_qp *qp, enum ibv_qp_state state,
			 const struct rcm_qp_attr *from, __u32 mask)
{
	struct ibv_qp_attr attr;
	int ret;

	if (!(mask & IBV_QP_STATE))
		return 0;
	rcm_copy_qp_attr(&attr, state, from);
	ret = ibv_modify_qp(qp, &attr, mask & RCM_QP_MASK);
	return ret ? rcm_fail(ret) : 0;
}

static bool rcm_same_init(const struct rcm_qp_attr *a,
			  const struct rcm_qp_attr *b)
{
	return a->init_mask == b->init_mask &&
	       a->qp_access_flags == b->qp_access_flags && a->qkey == b->qkey &&
	       a->pkey_index == b->pkey_index && a->port_num == b->port_num;
}

/* Once more when the connection needs another access, P_Key or port. */
static int rcm_qp_init(struct rcm_id *id, struct ibv_qp *qp)
{
	struct rcm_qp_attr attr;
	__u32 mask;

	if (rcm_get_qp_attr(id, IBV_QPS_INIT, &attr, &mask))
		return -1;
	attr.init_mask = mask;
	if (rcm_same_init(&attr, &id->init_attr))
		return 0;
	if (rcm_modify_qp(qp, IBV_QPS_INIT, &attr, mask))
		return -1;
	id->init_attr = attr;
	return 0;
}

static int rcm_qp_rtr(struct rcm_id *id, struct ibv_qp *qp)
{
	struct rcm_qp_attr attr;
	__u32 mask;

	if (rcm_get_qp_attr(id, IBV_QPS_RTR, &attr, &mask))
		return -1;
	attr.max_dest_rd_atomic = id->responder_resources;
	return rcm_modify_qp(qp, IBV_QPS_RTR, &attr, mask);
}

static int rcm_qp_rts(struct rcm_id *id, struct ibv_qp *qp)
{
	struct rcm_qp_attr attr;
	__u32 mask;

	if (rcm_get_qp_attr(id, IBV_QPS_RTS, &attr, &mask))
		return -1;
	attr.max_rd_atomic = id->initiator_depth;
	return rcm_modify_qp(qp, IBV_QPS_RTS, &attr, mask);
}

/* A datagram queue pair waits for nobody. */
static int rcm_qp_init_ud(struct rcm_id *id, struct ibv_qp *qp)
{
	static const struct rcm_qp_attr none;

	if (rcm_qp_init(id, qp) ||
	    rcm_modify_qp(qp, IBV_QPS_RTR, &none, IBV_QP_STATE))
		return -1;
	return rcm_modify_qp(qp, IBV_QPS_RTS, &none,
			     IBV_QP_STATE | IBV_QP_SQ_PSN);
}

static int rcm_qp_set_ece(struct rcm_id *id, struct ibv_qp *qp)
{
	struct ibv_ece ece = {
		.vendor_id = id->remote_ece.vendor_id,
		.options = id->remote_ece.attr_mod,
	};
	int ret;

	if (!ece.vendor_id)
		return 0;
	ret = ibv_set_ece(qp, &ece);
	return ret && ret != EOPNOTSUPP ? rcm_fail(ret) : 0;
}

/**
 * rcm_qp_connect - make the queue pair of an identifier ready to send
 * @id: identifier with a queue pair; its responder_resources and
 *	initiator_depth are what the connection will have
 *
 * Return: 0, or -1 with errno.
 */
int rcm_qp_connect(struct rcm_id *id)
{
	struct ibv_qp *qp = id->id.qp;

	if (rcm_qp_set_ece(id, qp) || rcm_qp_init(id, qp) ||
	    rcm_qp_rtr(id, qp) || rcm_qp_rts(id, qp))
		return rcm_id_fail(id, RCM_STEP_QP, errno);
	return 0;
}

/**
 * rcm_qp_error - stop the queue pair of an identifier
 * @id: identifier; nothing happens when it has no queue pair
 *
 * Its work requests are flushed to the completion queues.
 */
void rcm_qp_error(struct rcm_id *id)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (id->id.qp)
		ibv_modify_qp(id->id.qp, &attr, IBV_QP_STATE);
}

/**
 * rcm_qp_close - end what the queue pair of an identifier does
 * @id: identifier; nothing happens when it has no queue pair
 *
 * As rcm_qp_error(), but on iWARP what is under way is finished before the
 * connection ends, where the device can do that.
 */
void rcm_qp_close(struct rcm_id *id)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };
	struct ibv_qp *qp = id->id.qp;

	if (qp && qp->context->device->transport_type == IBV_TRANSPORT_IWARP)
		ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	else
		rcm_qp_error(id);
}

/**
 * rdma_init_qp_attr - what a queue pair of the application's own needs
 * @id: identifier with an RDMA device
 * @qp_attr: on entry, qp_state says for which transition: IBV_QPS_INIT,
 *	IBV_QPS_RTR or IBV_QPS_RTS; on return the attributes
 * @qp_attr_mask: where to put the IBV_QP_* mask of those that are valid
 *
 * Follows rdma_init_qp_attr(3).  Does not wait.
 *
 * Return: 0, or -1 with errno: EINVAL (NULL, no RDMA device yet, wrong state
 * of the identifier or the queue pair), ENODEV (device is gone).
 */
int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *qp_attr,
		      int *qp_attr_mask)
{
	struct rcm_qp_attr attr;
	__u32 mask;

	if (!id || !qp_attr || !qp_attr_mask || !rcm_id_handle(to_rcm_id(id)))
		return rcm_fail(EINVAL);
	if (rcm_query_qp_attr(to_rcm_id(id), qp_attr->qp_state, &attr, &mask))
		return -1;
	rcm_copy_qp_attr(qp_attr, qp_attr->qp_state, &attr);
	*qp_attr_mask = mask & RCM_QP_MASK;
	return 0;
}

static void rcm_destroy_cq(struct ibv_cq **cq,
			   struct ibv_comp_channel **channel)
{
	if (*cq)
		ibv_destroy_cq(*cq);
	if (*channel)
		ibv_destroy_comp_channel(*channel);
	*cq = NULL;
	*channel = NULL;
}

static int rcm_create_cq(struct rdma_cm_id *id, __u32 size, struct ibv_cq **cq,
			 struct ibv_comp_channel **channel)
{
	if (!size || *cq)
		return 0;
	*channel = ibv_create_comp_channel(id->verbs);
	if (!*channel)
		return -1;
	*cq = ibv_create_cq(id->verbs, size, id, *channel, 0);
	if (*cq)
		return 0;
	ibv_destroy_comp_channel(*channel);
	*channel = NULL;
	return -1;
}

/*
 * Those made by us are in the identifier, and those that the application put
 * there, rsockets do: one for both directions.
 */
static void rcm_destroy_cqs(struct rdma_cm_id *id)
{
	/* An XRC receive queue reports to them, too, and outlives the queue pair. */
	if (id->qp_type == IBV_QPT_XRC_RECV && id->srq)
		return;
	if (id->send_cq == id->recv_cq)
		id->send_cq = NULL;
	if (id->send_cq_channel == id->recv_cq_channel)
		id->send_cq_channel = NULL;
	rcm_destroy_cq(&id->recv_cq, &id->recv_cq_channel);
	rcm_destroy_cq(&id->send_cq, &id->send_cq_channel);
}

static int rcm_create_cqs(struct rdma_cm_id *id,
			  struct ibv_qp_init_attr_ex *attr)
{
	if (rcm_create_cq(id, attr->recv_cq ? 0 : attr->cap.max_recv_wr,
			  &id->recv_cq, &id->recv_cq_channel))
		return -1;
	if (rcm_create_cq(id, attr->send_cq ? 0 : attr->cap.max_send_wr,
			  &id->send_cq, &id->send_cq_channel)) {
		if (!id->srq)
			rcm_destroy_cqs(id);
		return -1;
	}
	if (!attr->recv_cq)
		attr->recv_cq = id->recv_cq;
	if (!attr->send_cq)
		attr->send_cq = id->send_cq;
	return 0;
}

static int rcm_check_qp(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	if (id->qp || !id->verbs || attr->qp_type != id->qp_type)
		return rcm_fail(EINVAL);
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd) {
		attr->comp_mask |= IBV_QP_INIT_ATTR_PD;
		attr->pd = id->pd;
	}
	if (!attr->pd || attr->pd->context != id->verbs)
		return rcm_fail(EINVAL);
	if (attr->qp_type == IBV_QPT_XRC_RECV &&
	    (!(attr->comp_mask & IBV_QP_INIT_ATTR_XRCD) || !attr->xrcd)) {
		attr->xrcd = rcm_device_xrcd(to_rcm_id(id)->dev);
		if (!attr->xrcd)
			return -1;
		attr->comp_mask |= IBV_QP_INIT_ATTR_XRCD;
	}
	return 0;
}

static int rcm_create_qp(struct rdma_cm_id *id,
			 struct ibv_qp_init_attr_ex *attr)
{
	struct rcm_id *priv = to_rcm_id(id);
	struct ibv_qp *qp;
	int error;

	if (rcm_check_qp(id, attr) || rcm_create_cqs(id, attr))
		return -1;
	if (!attr->srq)
		attr->srq = id->srq;
	qp = ibv_create_qp_ex(id->verbs, attr);
	if (!qp)
		goto err_cqs;
	memset(&priv->init_attr, 0, sizeof(priv->init_attr));
	if (rcm_id_is_ud(priv) ? rcm_qp_init_ud(priv, qp) :
				 rcm_qp_init(priv, qp))
		goto err_qp;
	id->pd = qp->pd;
	id->qp = qp;
	return 0;

err_qp:
	error = errno;
	ibv_destroy_qp(qp);
	errno = error;
err_cqs:
	error = errno;
	rcm_destroy_cqs(id);
	return rcm_fail(error);
}

/**
 * rdma_create_qp_ex - make a queue pair on an identifier
 * @id: identifier with an RDMA device
 * @qp_init_attr: attributes as for ibv_create_qp_ex(); on return its cap is
 *	what the queue pair has, the rest is as it was
 *
 * Receives can be posted afterwards.  A datagram queue pair is ready to send;
 * any other is in state INIT, and the library moves it further when the
 * connection is made.  Without a protection
 * domain id->pd is used: that of rdma_create_ep() or of the shared receive queue,
 * or else the device's default one.  Completion queues that are not given are
 * made, each with a completion channel, and are in the identifier.
 *
 * Follows rdma_create_qp(3).  Does not wait.
 *
 * Return: 0, or -1 with errno: EINVAL (NULL, no device yet, it has a queue
 * pair, another type than id->qp_type, protection domain of another device), and
 * those of ibv_create_cq(), ibv_create_qp_ex() and ibv_modify_qp().
 */
int rdma_create_qp_ex(struct rdma_cm_id *id,
		      struct ibv_qp_init_attr_ex *qp_init_attr)
{
	struct ibv_qp_init_attr_ex attr;
	int ret;

	if (!id || !qp_init_attr)
		return rcm_fail(EINVAL);
	attr = *qp_init_attr;
	ret = rcm_create_qp(id, &attr);
	if (ret)
		return rcm_id_fail(to_rcm_id(id), RCM_STEP_QP, errno);
	qp_init_attr->cap = attr.cap;
	return 0;
}

/**
 * rdma_create_qp - make a queue pair on an identifier
 * @id: identifier with an RDMA device
 * @pd: protection domain, or NULL for id->pd
 * @qp_init_attr: attributes as for ibv_create_qp(); on return its cap is what
 *	the queue pair has, the rest is as it was
 *
 * Follows rdma_create_qp(3).  See rdma_create_qp_ex().
 *
 * Return: 0, or -1 with errno as of rdma_create_qp_ex().
 */
int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd,
		   struct ibv_qp_init_attr *qp_init_attr)
{
	struct ibv_qp_init_attr_ex attr = { 0 };
	int ret;

	if (!id || !qp_init_attr)
		return rcm_fail(EINVAL);
	attr.qp_context = qp_init_attr->qp_context;
	attr.send_cq = qp_init_attr->send_cq;
	attr.recv_cq = qp_init_attr->recv_cq;
	attr.srq = qp_init_attr->srq;
	attr.cap = qp_init_attr->cap;
	attr.qp_type = qp_init_attr->qp_type;
	attr.sq_sig_all = qp_init_attr->sq_sig_all;
	attr.comp_mask = pd ? IBV_QP_INIT_ATTR_PD : 0;
	attr.pd = pd;
	ret = rcm_create_qp(id, &attr);
	if (ret)
		return rcm_id_fail(to_rcm_id(id), RCM_STEP_QP, errno);
	qp_init_attr->cap = attr.cap;
	return 0;
}

/* Of what is gone the application may free the protection domain. */
static void rcm_reset_pd(struct rdma_cm_id *id)
{
	struct rcm_id *priv = to_rcm_id(id);

	if (id->qp)
		id->pd = id->qp->pd;
	else if (id->srq)
		id->pd = id->srq->pd;
	else
		id->pd = priv->ep_pd ? priv->ep_pd : priv->dev->pd;
}

/**
 * rdma_destroy_qp - destroy the queue pair of an identifier
 * @id: identifier; nothing happens when it is NULL or has no queue pair
 *
 * Destroys the completion queues that rdma_create_qp() made, too.
 *
 * Follows rdma_destroy_qp(3).
 */
void rdma_destroy_qp(struct rdma_cm_id *id)
{
	if (!id || !id->qp)
		return;
	ibv_destroy_qp(id->qp);
	id->qp = NULL;
	rcm_reset_pd(id);
	rcm_destroy_cqs(id);
}

static bool rcm_srq_is_xrc(const struct ibv_srq_init_attr_ex *attr)
{
	return (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) &&
	       attr->srq_type == IBV_SRQT_XRC;
}

/* An XRC queue has a domain and completions of its own. */
static int rcm_complete_xrc(struct rdma_cm_id *id,
			    struct ibv_srq_init_attr_ex *attr)
{
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_XRCD) || !attr->xrcd) {
		attr->xrcd = rcm_device_xrcd(to_rcm_id(id)->dev);
		if (!attr->xrcd)
			return -1;
		attr->comp_mask |= IBV_SRQ_INIT_ATTR_XRCD;
	}
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_CQ) || !attr->cq) {
		if (rcm_create_cq(id, attr->attr.max_wr, &id->recv_cq,
				  &id->recv_cq_channel))
			return -1;
		attr->cq = id->recv_cq;
		attr->comp_mask |= IBV_SRQ_INIT_ATTR_CQ;
	}
	return 0;
}

/**
 * rdma_create_srq_ex - make a shared receive queue on an identifier
 * @id: identifier with an RDMA device
 * @attr: attributes as for ibv_create_srq_ex(), updated by it
 *
 * Queue pairs made on the identifier later use it.  A queue of type
 * IBV_SRQT_XRC gets the device's default XRC domain and a completion queue,
 * which is in the identifier, where it is given none.
 *
 * Follows rdma_create_srq(3).  Does not wait.
 *
 * Return: 0, or -1 with errno: EINVAL (NULL, no device yet, it has one,
 * protection domain of another device), and those of ibv_create_srq_ex(),
 * ibv_open_xrcd() and ibv_create_cq(): EOPNOTSUPP where the device has no XRC.
 */
int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
	struct ibv_srq *srq;
	int error;

	if (!id || !attr || !id->verbs || id->srq)
		return rcm_fail(EINVAL);
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) || !attr->pd) {
		attr->pd = id->pd;
		attr->comp_mask |= IBV_SRQ_INIT_ATTR_PD;
	}
	if (attr->pd->context != id->verbs)
		return rcm_fail(EINVAL);
	if (rcm_srq_is_xrc(attr) && rcm_complete_xrc(id, attr))
		return -1;
	srq = ibv_create_srq_ex(id->verbs, attr);
	if (!srq) {
		error = errno;
		if (!id->qp)
			rcm_destroy_cqs(id);
		return rcm_fail(error);
	}
	id->srq = srq;
	id->pd = attr->pd;
	return 0;
}

/**
 * rdma_create_srq - make a shared receive queue on an identifier
 * @id: identifier with an RDMA device
 * @pd: protection domain, or NULL for id->pd
 * @attr: attributes; on return what the queue has
 *
 * Follows rdma_create_srq(3).  See rdma_create_srq_ex().
 *
 * Return: 0, or -1 with errno as of rdma_create_srq_ex().
 */
int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd,
		    struct ibv_srq_init_attr *attr)
{
	struct ibv_srq_init_attr_ex attr_ex = {
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_BASIC,
		.pd = pd,
	};
	int ret;

	if (!id || !attr)
		return rcm_fail(EINVAL);
	if (id->qp_type == IBV_QPT_XRC_RECV)
		attr_ex.srq_type = IBV_SRQT_XRC;
	attr_ex.srq_context = attr->srq_context;
	attr_ex.attr = attr->attr;
	ret = rdma_create_srq_ex(id, &attr_ex);
	if (!ret)
		attr->attr = attr_ex.attr;
	return ret;
}

/**
 * rdma_destroy_srq - destroy the shared receive queue of an identifier
 * @id: identifier; nothing happens when it is NULL or has none
 *
 * Follows rdma_create_srq(3).
 */
void rdma_destroy_srq(struct rdma_cm_id *id)
{
	if (!id || !id->srq)
		return;
	ibv_destroy_srq(id->srq);
	id->srq = NULL;
	rcm_reset_pd(id);
	if (!id->qp)
		rcm_destroy_cqs(id);
}
