// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What rcm.ko exports to kernel modules: options, queue pairs, and questions.
 */
#include <linux/export.h>
#include <rcm/rcm.h>
#include <rdma/ib.h>

#include "rcm_priv.h"
#include "wire.h"

/**
 * rcm_set_service_type - choose the type of service
 * @id: identifier whose route is not resolved yet
 * @tos: as in the IP header, 0 to 255
 *
 * Context: process; may sleep.
 */
void rcm_set_service_type(struct rdma_cm_id *id, int tos)
{
	struct rcm_id *priv = rcm_id_of(id);

	mutex_lock(&priv->mutex);
	rcm_id_set_tos(priv, tos);
	mutex_unlock(&priv->mutex);
}
EXPORT_SYMBOL_GPL(rcm_set_service_type);

/**
 * rcm_set_reuseaddr - allow others that allow it too to use the same port
 * @id: identifier that is not bound yet
 * @reuse: allow it
 *
 * Context: process; may sleep.
 * Return: as rcm_id_set_reuseaddr().
 */
int rcm_set_reuseaddr(struct rdma_cm_id *id, int reuse)
{
	struct rcm_id *priv = rcm_id_of(id);
	int ret;

	mutex_lock(&priv->mutex);
	ret = rcm_id_set_reuseaddr(priv, reuse);
	mutex_unlock(&priv->mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(rcm_set_reuseaddr);

/**
 * rcm_set_afonly - keep an IPv6 listener from taking IPv4 requests
 * @id: identifier that does not listen yet
 * @afonly: keep it
 *
 * Context: process; may sleep.
 * Return: as rcm_id_set_v6only().
 */
int rcm_set_afonly(struct rdma_cm_id *id, int afonly)
{
	struct rcm_id *priv = rcm_id_of(id);
	int ret;

	mutex_lock(&priv->mutex);
	ret = rcm_id_set_v6only(priv, afonly);
	mutex_unlock(&priv->mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(rcm_set_afonly);

/**
 * rcm_set_ack_timeout - choose the queue pair's local ACK timeout
 * @id: identifier of a reliable connection that is not made yet
 * @timeout: 4.096 us * 2^@timeout, 0 to 31; 0 for no timeout
 *
 * Context: process; may sleep.
 * Return: 0; -EINVAL for another type of queue pair, or when @timeout is
 * larger than 31.
 */
int rcm_set_ack_timeout(struct rdma_cm_id *id, u8 timeout)
{
	struct rcm_id *priv = rcm_id_of(id);
	int ret;

	if (id->qp_type != IB_QPT_RC && id->qp_type != IB_QPT_XRC_INI)
		return -EINVAL;
	mutex_lock(&priv->mutex);
	ret = rcm_id_set_ack_timeout(priv, timeout);
	mutex_unlock(&priv->mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(rcm_set_ack_timeout);

/**
 * rcm_set_min_rnr_timer - choose the queue pair's RNR NAK timer
 * @id: identifier of a reliable connection that is not made yet
 * @min_rnr_timer: encoded, 0 to 31
 *
 * Context: process; may sleep.
 * Return: 0; -EINVAL for another type of queue pair, or when @min_rnr_timer is
 * larger than 31.
 */
int rcm_set_min_rnr_timer(struct rdma_cm_id *id, u8 min_rnr_timer)
{
	struct rcm_id *priv = rcm_id_of(id);
	int ret;

	if (id->qp_type != IB_QPT_RC && id->qp_type != IB_QPT_XRC_TGT)
		return -EINVAL;
	mutex_lock(&priv->mutex);
	ret = rcm_id_set_min_rnr_timer(priv, min_rnr_timer);
	mutex_unlock(&priv->mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(rcm_set_min_rnr_timer);

/**
 * rcm_restrict_node_type - use devices of one kind alone
 * @id: new identifier
 * @node_type: RDMA_NODE_IB_CA (InfiniBand and RoCE), RDMA_NODE_RNIC (iWARP), or
 *	RDMA_NODE_UNSPECIFIED for any
 *
 * Context: process; may sleep.
 * Return: 0; -EINVAL for another type; -EALREADY when it is bound.
 */
int rcm_restrict_node_type(struct rdma_cm_id *id, u8 node_type)
{
	struct rcm_id *priv = rcm_id_of(id);
	int ret = 0;

	if (node_type != RDMA_NODE_UNSPECIFIED &&
	    node_type != RDMA_NODE_IB_CA && node_type != RDMA_NODE_RNIC)
		return -EINVAL;
	mutex_lock(&priv->mutex);
	if (priv->state == RCM_STATE_IDLE)
		priv->node_type = node_type;
	else
		ret = -EALREADY;
	mutex_unlock(&priv->mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(rcm_restrict_node_type);

static int rcm_adopt_qp(struct rcm_id *priv, struct ib_qp *qp)
{
	int ret;

	priv->id.qp = qp;
	ret = rcm_qp_to_init(priv);
	if (ret) {
		priv->id.qp = NULL;
		return ret;
	}
	priv->qp_num = qp->qp_num;
	priv->srq = qp->srq;
	return 0;
}

/**
 * rcm_create_qp - make a queue pair that follows the identifier's connection
 * @id: identifier with a device
 * @pd: protection domain, of the same device
 * @qp_init_attr: attributes; port_num is set
 *
 * id->qp is the queue pair. It is ready for receives to be posted, one for
 * datagrams for sends too; connect and accept make it ready, disconnect and a
 * peer's refusal move it to the error state.
 *
 * Context: process; may sleep.
 * Return: 0; -EINVAL when @pd is of another device, or @id has none; -ENODEV
 * after its removal; the device's error.
 */
int rcm_create_qp(struct rdma_cm_id *id, struct ib_pd *pd,
		  struct ib_qp_init_attr *qp_init_attr)
{
	struct rcm_id *priv = rcm_id_of(id);
	struct ib_qp *qp;
	int ret;

	if (id->device != pd->device)
		return -EINVAL;

	qp_init_attr->port_num = id->port_num;
	qp = ib_create_qp(pd, qp_init_attr);
	if (IS_ERR(qp))
		return PTR_ERR(qp);

	mutex_lock(&priv->mutex);
	ret = rcm_adopt_qp(priv, qp);
	mutex_unlock(&priv->mutex);
	if (ret)
		ib_destroy_qp(qp);
	return ret;
}
EXPORT_SYMBOL_GPL(rcm_create_qp);

/**
 * rcm_destroy_qp - destroy the queue pair of rcm_create_qp()
 * @id: identifier; id->qp is %NULL afterwards
 *
 * Context: process; may sleep.
 */
void rcm_destroy_qp(struct rdma_cm_id *id)
{
	struct rcm_id *priv = rcm_id_of(id);
	struct ib_qp *qp;

	mutex_lock(&priv->mutex);
	qp = id->qp;
	id->qp = NULL;
	mutex_unlock(&priv->mutex);
	if (qp)
		ib_destroy_qp(qp);
}
EXPORT_SYMBOL_GPL(rcm_destroy_qp);

/**
 * rcm_init_qp_attr - attributes to move a queue pair of the consumer's own
 * @id: identifier with a device
 * @qp_attr: qp_state says which state; the others are written as
 *	@qp_attr_mask tells
 * @qp_attr_mask: IB_QP_* mask, written
 *
 * Context: process; may sleep.
 * Return: as rcm_id_init_qp_attr().
 */
int rcm_init_qp_attr(struct rdma_cm_id *id, struct ib_qp_attr *qp_attr,
		     int *qp_attr_mask)
{
	struct rcm_id *priv = rcm_id_of(id);
	int ret;

	mutex_lock(&priv->mutex);
	ret = rcm_id_init_qp_attr(priv, qp_attr, qp_attr_mask);
	mutex_unlock(&priv->mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(rcm_init_qp_attr);

static const char *const rcm_event_names[] = {
	[RDMA_CM_EVENT_ADDR_RESOLVED] = "address resolved",
	[RDMA_CM_EVENT_ADDR_ERROR] = "address error",
	[RDMA_CM_EVENT_ROUTE_RESOLVED] = "route resolved",
	[RDMA_CM_EVENT_ROUTE_ERROR] = "route error",
	[RDMA_CM_EVENT_CONNECT_REQUEST] = "connect request",
	[RDMA_CM_EVENT_CONNECT_RESPONSE] = "connect response",
	[RDMA_CM_EVENT_CONNECT_ERROR] = "connect error",
	[RDMA_CM_EVENT_UNREACHABLE] = "unreachable",
	[RDMA_CM_EVENT_REJECTED] = "rejected",
	[RDMA_CM_EVENT_ESTABLISHED] = "established",
	[RDMA_CM_EVENT_DISCONNECTED] = "disconnected",
	[RDMA_CM_EVENT_DEVICE_REMOVAL] = "device removal",
	[RDMA_CM_EVENT_MULTICAST_JOIN] = "multicast join",
	[RDMA_CM_EVENT_MULTICAST_ERROR] = "multicast error",
	[RDMA_CM_EVENT_ADDR_CHANGE] = "address change",
	[RDMA_CM_EVENT_TIMEWAIT_EXIT] = "timewait exit",
};

/**
 * rcm_event_msg - an event's name, for people
 * @event: event
 *
 * Context: any.
 * Return: the name. Never %NULL.
 */
const char *__attribute_const__ rcm_event_msg(enum rdma_cm_event_type event)
{
	unsigned int index = event;

	return index < ARRAY_SIZE(rcm_event_names) ? rcm_event_names[index] :
						     "unknown event";
}
EXPORT_SYMBOL_GPL(rcm_event_msg);

/* %NULL without device; it stays as long as the identifier. */
static const struct rcm_transport *rcm_transport_of(struct rdma_cm_id *id)
{
	struct rcm_device *device = READ_ONCE(rcm_id_of(id)->device);

	return device ? device->transport : NULL;
}

/**
 * rcm_reject_msg - what the status of REJECTED means, for people
 * @id: identifier that was rejected
 * @reason: status of the event
 *
 * Context: any.
 * Return: the words. Never %NULL.
 */
const char *__attribute_const__ rcm_reject_msg(struct rdma_cm_id *id,
					       int reason)
{
	const struct rcm_transport *transport = rcm_transport_of(id);

	return transport && transport->reject_msg ?
		       transport->reject_msg(reason) :
		       "unknown reason";
}
EXPORT_SYMBOL_GPL(rcm_reject_msg);

/**
 * rcm_consumer_reject_data - private data of a peer that refused
 * @id: identifier that was rejected
 * @ev: REJECTED
 * @data_len: on return the length, bytes
 *
 * Context: any; in the handler, where @ev is valid.
 * Return: the private data; %NULL, with @data_len 0, when it was not the
 * peer's consumer that refused.
 */
const void *rcm_consumer_reject_data(struct rdma_cm_id *id,
				     struct rdma_cm_event *ev, u8 *data_len)
{
	const struct rcm_transport *transport = rcm_transport_of(id);

	if (!transport || ev->status != transport->consumer_reject) {
		*data_len = 0;
		return NULL;
	}
	*data_len = ev->param.conn.private_data_len;
	return ev->param.conn.private_data;
}
EXPORT_SYMBOL_GPL(rcm_consumer_reject_data);

/**
 * rcm_get_service_id - InfiniBand service ID of an address
 * @id: identifier; its port space counts
 * @addr: address whose port counts; one of family AF_IB has the service ID
 *
 * Context: any.
 * Return: the service ID.
 */
__be64 rcm_get_service_id(struct rdma_cm_id *id, struct sockaddr *addr)
{
	if (addr->sa_family == AF_IB)
		return ((struct sockaddr_ib *)addr)->sib_sid;
	return rcm_wire_service_id(
		id->ps, ntohs(((struct sockaddr_in *)addr)->sin_port));
}
EXPORT_SYMBOL_GPL(rcm_get_service_id);

/**
 * rcm_read_gids - GIDs of both sides
 * @id: identifier
 * @sgid: for the local one, or %NULL; all zeros without device
 * @dgid: for the peer's, or %NULL; likewise
 *
 * Context: any; takes no lock, so what is being resolved may be half there.
 */
void rcm_read_gids(struct rdma_cm_id *id, union ib_gid *sgid,
		   union ib_gid *dgid)
{
	struct rcm_id *priv = rcm_id_of(id);
	bool known = READ_ONCE(id->device);

	if (sgid)
		memset(sgid, 0, sizeof(*sgid));
	if (dgid)
		memset(dgid, 0, sizeof(*dgid));
	if (known && sgid)
		rcm_addr_to_gid(rcm_src(priv), sgid);
	if (known && dgid && rcm_dst(priv)->sa.sa_family)
		rcm_addr_to_gid(rcm_dst(priv), dgid);
}
EXPORT_SYMBOL_GPL(rcm_read_gids);

/**
 * rcm_iw_cm_id - the iWARP connection manager's side of a connection
 * @id: identifier
 *
 * Context: any.
 * Return: it; %NULL when @id has no iWARP connection.
 */
struct iw_cm_id *rcm_iw_cm_id(struct rdma_cm_id *id)
{
	const struct rcm_transport *transport = rcm_transport_of(id);

	return transport && transport->iw_cm_id ?
		       transport->iw_cm_id(rcm_id_of(id)) :
		       NULL;
}
EXPORT_SYMBOL_GPL(rcm_iw_cm_id);
