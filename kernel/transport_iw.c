// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Connections by the iWARP connection manager, iw_cm.  RFC 5044 and RFC 6581:
 * request and answer are frames at the start of a TCP connection, which the
 * device makes, and all of their private data is the consumer's.  The end of
 * the TCP connection is the end of ours.
 *
 * iw_cm calls back from one ordered workqueue.  Its calls that wait for such a
 * callback must not be made with an identifier's mutex held, since the
 * callback wants it: iw_destroy_cm_id(), and iw_cm_disconnect() unless the
 * connection is known to be established.
 */
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <rdma/ib_cache.h>
#include <rdma/iw_cm.h>

#include "compat.h"
#include "rcm_priv.h"
#include "transport_iw.h"

/* As much as iw_cm can tell of, in eight bits; the frames take 512 bytes. */
#define RCM_IW_MAX_DATA 255

static struct rcm_iw_outcome rcm_iw_reply_outcome(int status)
{
	switch (status) {
	case 0:
		return (struct rcm_iw_outcome){
			.op = RCM_OP_CONNECTED,
			.event = RDMA_CM_EVENT_ESTABLISHED,
		};
	case -ECONNRESET:
	case -ECONNREFUSED:
		return (struct rcm_iw_outcome){
			.op = RCM_OP_REJ_RCVD,
			.event = RDMA_CM_EVENT_REJECTED,
			.step = RCM_STEP_REJECTED,
		};
	case -ETIMEDOUT:
		return (struct rcm_iw_outcome){
			.op = RCM_OP_NO_ANSWER,
			.event = RDMA_CM_EVENT_UNREACHABLE,
			.step = RCM_STEP_CONNECT,
		};
	default:
		return (struct rcm_iw_outcome){
			.op = RCM_OP_NO_ANSWER,
			.event = RDMA_CM_EVENT_CONNECT_ERROR,
			.step = RCM_STEP_CONNECT,
		};
	}
}

/**
 * rcm_iw_outcome - what an event of iw_cm means
 * @event: the event
 * @status: its status, 0 or a negative errno
 *
 * Context: any; takes no lock.
 * Return: operation, event and step, by value.
 */
struct rcm_iw_outcome rcm_iw_outcome(enum iw_cm_event_type event, int status)
{
	struct rcm_iw_outcome outcome = { .op = RCM_OP_COUNT };

	switch (event) {
	case IW_CM_EVENT_CONNECT_REPLY:
		return rcm_iw_reply_outcome(status);
	case IW_CM_EVENT_ESTABLISHED:
		outcome.op = status ? RCM_OP_NO_ANSWER : RCM_OP_RTU_RCVD;
		outcome.event = status ? RDMA_CM_EVENT_CONNECT_ERROR :
					 RDMA_CM_EVENT_ESTABLISHED;
		outcome.step = status ? RCM_STEP_CONNECT : RCM_STEP_NONE;
		return outcome;
	case IW_CM_EVENT_CLOSE:
		outcome.op = RCM_OP_DREQ_RCVD;
		outcome.event = RDMA_CM_EVENT_DISCONNECTED;
		outcome.step = status ? RCM_STEP_DISCONNECT : RCM_STEP_NONE;
		return outcome;
	default:
		return outcome;
	}
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_iw_outcome);

static void rcm_iw_fill_event(struct rdma_cm_event *event,
			      const struct iw_cm_event *iw)
{
	event->status = iw->status;
	event->param.conn = (struct rdma_conn_param){
		.private_data = iw->private_data,
		.private_data_len = iw->private_data_len,
		.initiator_depth = iw->ird,
		.responder_resources = iw->ord,
	};
}

static int rcm_iw_handler(struct iw_cm_id *cm, struct iw_cm_event *iw)
{
	struct rcm_iw_outcome outcome = rcm_iw_outcome(iw->event, iw->status);
	struct rdma_cm_event event = { .event = outcome.event };
	struct rcm_id *priv = cm->context;
	int ret = 0;

	if (outcome.op == RCM_OP_COUNT)
		return 0;

	rcm_id_lock_events(priv);
	/* Too late, or a second time: the state says so. */
	if (rcm_id_move(priv, outcome.op))
		goto out;
	rcm_connect_stop_timer(priv);
	if (outcome.step != RCM_STEP_NONE)
		rcm_id_blame(priv, outcome.step, iw->status, 0);
	rcm_iw_fill_event(&event, iw);

	ret = rcm_id_dispatch(priv, &event);
	if (ret) {
		/* iw_cm destroys it when we return. */
		priv->cm = NULL;
		rcm_id_destroy_unlock(priv);
		return ret;
	}
	rcm_disconnect_asked(priv, outcome.op);
out:
	rcm_id_unlock_events(priv);
	return ret;
}

/*
 * A port has one GID, which stands for its interface.  Newer kernels say which
 * one that is; with older ones the GID is the interface's link address.  The
 * caller holds the RCU read lock.
 */
static const struct ib_gid_attr *rcm_iw_find_gid(struct ib_device *ib, u32 port,
						 const union rcm_addr *addr,
						 struct net_device *ndev)
{
	const struct ib_gid_attr *attr;
	struct net_device *own;
	bool serves;

	if (!rdma_protocol_iwarp(ib, port))
		return ERR_PTR(-ENODEV);
	attr = rdma_get_gid_attr(ib, port, 0);
	if (IS_ERR(attr))
		return attr;

	own = rdma_read_gid_attr_ndev_rcu(attr);
	if (IS_ERR(own))
		serves = ndev->addr_len == ETH_ALEN &&
			 ether_addr_equal_unaligned(attr->gid.raw,
						    ndev->dev_addr);
	else
		serves = own == ndev ||
			 (is_vlan_dev(ndev) && vlan_dev_real_dev(ndev) == own);
	if (serves)
		return attr;
	rdma_put_gid_attr(attr);
	return ERR_PTR(-ENODEV);
}

/* The device's port on an interface; the caller holds the RCU read lock. */
static const struct ib_gid_attr *rcm_iw_port_on(struct ib_device *ib,
						struct net_device *ndev)
{
	const struct ib_gid_attr *attr;
	u32 port;

	rdma_for_each_port(ib, port) {
		attr = rcm_iw_find_gid(ib, port, NULL, ndev);
		if (!IS_ERR(attr))
			return attr;
	}
	return ERR_PTR(-ENODEV);
}

/*
 * The port that a request came in by: the one that serves the interface of
 * the local address.  A host takes what is for it on any interface, so there
 * may be none; the first port stands in.
 */
static const struct ib_gid_attr *rcm_iw_request_gid(struct ib_device *ib,
						    struct net *net,
						    const union rcm_addr *local)
{
	const struct ib_gid_attr *attr = ERR_PTR(-ENODEV);
	struct net_device *ndev;
	int ifindex;

	rcu_read_lock();
	ifindex = rcm_addr_local_ifindex(net, local);
	ndev = ifindex > 0 ? dev_get_by_index_rcu(net, ifindex) : NULL;
	if (ndev)
		attr = rcm_iw_port_on(ib, ndev);
	rcu_read_unlock();
	return IS_ERR(attr) ? rdma_get_gid_attr(ib, rdma_start_port(ib), 0) :
			      attr;
}

/* The identifier of a request, with both of its mutexes held. */
static struct rcm_id *rcm_iw_child(struct rcm_id *listener, struct iw_cm_id *cm,
				   const struct iw_cm_event *iw)
{
	struct rcm_device *device = rcm_device_of(cm->device);
	const struct ib_gid_attr *attr;
	union rcm_addr local, remote;
	struct rcm_id *priv;
	int ret;

	if (listener->state != RCM_STATE_LISTEN)
		return ERR_PTR(-ECONNABORTED);
	if (!device)
		return ERR_PTR(-ENODEV);
	ret = rcm_addr_set(&local, &iw->local_addr) ?:
		      rcm_addr_set(&remote, &iw->remote_addr);
	if (ret)
		return ERR_PTR(ret);
	rcm_addr_unmap(&local);
	rcm_addr_unmap(&remote);

	attr = rcm_iw_request_gid(cm->device, listener->net, &local);
	if (IS_ERR(attr))
		return ERR_CAST(attr);
	priv = rcm_listen_child(listener, device, attr->port_num, attr, &local,
				&remote);
	rdma_put_gid_attr(attr);
	return priv;
}

/* Hands the request to the listener's consumer. */
static int rcm_iw_new_connection(struct rcm_id *priv, struct iw_cm_id *cm,
				 const struct iw_cm_event *iw)
{
	struct rdma_cm_event event = {
		.event = RDMA_CM_EVENT_CONNECT_REQUEST,
	};
	int ret;

	rcm_iw_fill_event(&event, iw);
	priv->cm = cm;
	cm->context = priv;
	cm->cm_handler = rcm_iw_handler;

	ret = rcm_id_dispatch(priv, &event);
	if (ret) {
		priv->cm = NULL;
		rcm_id_destroy_unlock(priv);
		return ret;
	}
	rcm_id_unlock_events(priv);
	return 0;
}

/* A request for a listener.  Not 0 makes iw_cm reject it. */
static int rcm_iw_req_handler(struct iw_cm_id *cm, struct iw_cm_event *iw)
{
	struct rcm_id *listener = cm->context;
	struct mem_cgroup *memcg;
	struct rcm_id *priv;
	int ret;

	if (iw->event != IW_CM_EVENT_CONNECT_REQUEST)
		return -EINVAL;

	memcg = rcm_listen_lock(listener);
	priv = rcm_iw_child(listener, cm, iw);
	rcm_listen_unlock_mutex(listener);
	ret = IS_ERR(priv) ? PTR_ERR(priv) :
			     rcm_iw_new_connection(priv, cm, iw);
	rcm_listen_unlock(listener, memcg);
	return ret;
}

/*
 * Whether requests can come in on a device at all: it has to be on an
 * interface of the listener's namespace, and for a loopback address on the
 * loopback interface.
 */
static bool rcm_iw_can_hear(struct rcm_id *owner, struct ib_device *ib)
{
	bool loopback = rcm_addr_is_loopback(rcm_src(owner));
	const struct ib_gid_attr *attr;
	struct net_device *ndev;
	bool found = false;

	if (!rdma_dev_access_netns(ib, owner->net))
		return false;
	rcu_read_lock();
	for_each_netdev_rcu(owner->net, ndev) {
		if (loopback && !(ndev->flags & IFF_LOOPBACK))
			continue;
		attr = rcm_iw_port_on(ib, ndev);
		if (IS_ERR(attr))
			continue;
		rdma_put_gid_attr(attr);
		found = true;
		break;
	}
	rcu_read_unlock();
	return found;
}

static void rcm_iw_set_options(struct iw_cm_id *cm, struct rcm_id *priv)
{
	cm->tos = priv->tos;
	cm->tos_set = priv->tos_set;
	memcpy(&cm->local_addr, rcm_src(priv), sizeof(union rcm_addr));
}

static int rcm_iw_listen(struct rcm_listener *listen, u16 ps, u16 port)
{
	struct rcm_id *owner = listen->owner;
	struct iw_cm_id *cm;
	int ret;

	if (owner->id.qp_type != IB_QPT_RC)
		return owner->device ? -EOPNOTSUPP : 0;
	if (!rcm_iw_can_hear(owner, listen->device->ib))
		return owner->device ? -ENODEV : 0;

	cm = iw_create_cm_id(listen->device->ib, rcm_iw_req_handler, owner);
	if (IS_ERR(cm))
		return PTR_ERR(cm);
	rcm_iw_set_options(cm, owner);
	cm->afonly = READ_ONCE(owner->binding.v6only);

	ret = iw_cm_listen(cm, owner->backlog);
	if (ret) {
		iw_destroy_cm_id(cm);
		return ret;
	}
	listen->cm = cm;
	return 0;
}

static void rcm_iw_unlisten(struct rcm_listener *listen)
{
	if (listen->cm)
		iw_destroy_cm_id(listen->cm);
}

/* iw_cm moves the queue pair itself, so it has to be there. */
static int rcm_iw_check_qp(struct rcm_id *priv, u32 qp_num)
{
	struct ib_device *ib = priv->device->ib;

	if (priv->id.qp_type != IB_QPT_RC)
		return -EINVAL;
	return ib->ops.iw_get_qp(ib, qp_num) ? 0 : -EINVAL;
}

static void rcm_iw_fill_param(struct rcm_id *priv,
			      const struct rdma_conn_param *conn,
			      struct iw_cm_conn_param *param)
{
	*param = (struct iw_cm_conn_param){
		.private_data = conn->private_data,
		.private_data_len = conn->private_data_len,
		.ord = conn->initiator_depth,
		.ird = conn->responder_resources,
		.qpn = priv->qp_num,
	};
}

/* A software device makes the TCP connection within the call. */
static int rcm_iw_connect(struct rcm_id *priv,
			  const struct rdma_conn_param *conn)
{
	struct iw_cm_conn_param param;
	struct iw_cm_id *cm;
	int ret;

	ret = rcm_qp_to_rtr(priv, conn);
	if (ret)
		return ret;
	cm = iw_create_cm_id(priv->device->ib, rcm_iw_handler, priv);
	if (IS_ERR(cm))
		return PTR_ERR(cm);
	rcm_iw_set_options(cm, priv);
	memcpy(&cm->remote_addr, rcm_dst(priv), sizeof(union rcm_addr));

	rcm_iw_fill_param(priv, conn, &param);
	ret = iw_cm_connect(cm, &param);
	if (ret) {
		/* No callback comes, so this does not wait for one. */
		iw_destroy_cm_id(cm);
		return ret;
	}
	priv->cm = cm;
	return 0;
}

static int rcm_iw_accept(struct rcm_id *priv,
			 const struct rdma_conn_param *conn)
{
	struct iw_cm_conn_param param;
	int ret;

	ret = rcm_qp_to_rtr(priv, conn);
	if (ret)
		return ret;
	rcm_iw_fill_param(priv, conn, &param);
	return iw_cm_accept(priv->cm, &param);
}

static int rcm_iw_reject(struct rcm_id *priv, u8 reason, const void *data,
			 u8 len)
{
	return iw_cm_reject(priv->cm, data, len);
}

/*
 * In another state than after ESTABLISHED there is nothing to end, and iw_cm
 * might wait for the peer.
 */
static int rcm_iw_disconnect(struct rcm_id *priv)
{
	return priv->state == RCM_STATE_CLOSING ?
		       iw_cm_disconnect(priv->cm, 0) :
		       0;
}

static int rcm_iw_init_qp_attr(struct rcm_id *priv, struct ib_qp_attr *attr,
			       int *mask)
{
	int ret = 0;

	if (priv->cm) {
		ret = iw_cm_init_qp_attr(priv->cm, attr, mask);
	} else {
		attr->qp_access_flags = 0;
		*mask = IB_QP_STATE | IB_QP_ACCESS_FLAGS;
	}
	attr->port_num = priv->id.port_num;
	*mask |= IB_QP_PORT;
	return ret;
}

static const char *rcm_iw_reject_msg(int status)
{
	return iwcm_reject_msg(status);
}

static struct iw_cm_id *rcm_iw_own_id(struct rcm_id *priv)
{
	return READ_ONCE(priv->cm);
}

static void rcm_iw_destroy(void *cm)
{
	iw_destroy_cm_id(cm);
}

const struct rcm_transport rcm_transport_iw = {
	.name = "iw_cm",
	.consumer_reject = -ECONNREFUSED,
	.reject_msg = rcm_iw_reject_msg,
	.iw_cm_id = rcm_iw_own_id,
	.max_connect_data = RCM_IW_MAX_DATA,
	.max_accept_data = RCM_IW_MAX_DATA,
	.max_reject_data = RCM_IW_MAX_DATA,
	.find_gid = rcm_iw_find_gid,
	.listen = rcm_iw_listen,
	.unlisten = rcm_iw_unlisten,
	.check_qp = rcm_iw_check_qp,
	.connect = rcm_iw_connect,
	.accept = rcm_iw_accept,
	.reject = rcm_iw_reject,
	.disconnect = rcm_iw_disconnect,
	.init_qp_attr = rcm_iw_init_qp_attr,
	.destroy = rcm_iw_destroy,
};
