// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What rcm.ko exports to kernel modules: identifiers, addresses, connections.
 * kernel/include/rcm/rcm.h says what holds for all of these functions.
 *
 * Each operation takes the identifier's mutex for itself: the handler, which
 * may call them, runs without it.
 */
#include <linux/export.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <rcm/rcm.h>

#include "rcm_priv.h"

static int rcm_sockaddr(union rcm_addr *to, const struct sockaddr *from)
{
	return rcm_addr_set(to, (const struct __kernel_sockaddr_storage *)from);
}

static struct rdma_cm_id *rcm_new(struct net *net,
				  rdma_cm_event_handler handler, void *context,
				  enum rdma_ucm_port_space ps,
				  enum ib_qp_type qp_type)
{
	struct rcm_id *priv;

	if (ps != RDMA_PS_TCP && ps != RDMA_PS_UDP && ps != RDMA_PS_IPOIB &&
	    ps != RDMA_PS_IB)
		return ERR_PTR(-EPROTONOSUPPORT);

	priv = rcm_id_create(net, handler, context, ps, qp_type, false);
	return IS_ERR(priv) ? ERR_CAST(priv) : &priv->id;
}

/**
 * __rcm_create_kernel_id - make an identifier
 * @net: network namespace; the identifier holds a reference
 * @event_handler: called for its events
 * @context: stored in the identifier, for @event_handler
 * @ps: port space
 * @qp_type: type of the queue pair
 * @caller: name of the consumer, which rcm has no use for
 *
 * Called by way of rcm_create_id().
 *
 * Context: process; may sleep.
 * Return: the identifier; an ERR_PTR: -ENOMEM, -EPROTONOSUPPORT.
 */
struct rdma_cm_id *
__rcm_create_kernel_id(struct net *net, rdma_cm_event_handler event_handler,
		       void *context, enum rdma_ucm_port_space ps,
		       enum ib_qp_type qp_type, const char *caller)
{
	return rcm_new(net, event_handler, context, ps, qp_type);
}
EXPORT_SYMBOL_GPL(__rcm_create_kernel_id);

/**
 * rcm_create_user_id - make an identifier for the current process
 * @event_handler: called for its events
 * @context: stored in the identifier, for @event_handler
 * @ps: port space
 * @qp_type: type of the queue pair
 *
 * It belongs to the network namespace of the process. Events come as they do
 * to any kernel consumer.
 *
 * Context: process; may sleep.
 * Return: as rcm_create_id().
 */
struct rdma_cm_id *rcm_create_user_id(rdma_cm_event_handler event_handler,
				      void *context,
				      enum rdma_ucm_port_space ps,
				      enum ib_qp_type qp_type)
{
	return rcm_new(current->nsproxy->net_ns, event_handler, context, ps,
		       qp_type);
}
EXPORT_SYMBOL_GPL(rcm_create_user_id);

/**
 * rcm_destroy_id - destroy an identifier
 * @id: identifier without queue pair
 *
 * What it has under way is cancelled, a connection is ended, its port is free.
 * When it returns no handler of @id runs and none will.
 *
 * Context: process; waits for a running handler, so it is not called from
 * one, nor with a lock that one takes.
 */
void rcm_destroy_id(struct rdma_cm_id *id)
{
	rcm_id_destroy(rcm_id_of(id));
}
EXPORT_SYMBOL_GPL(rcm_destroy_id);

/**
 * rcm_lock_handler - keep the handler from running
 * @id: identifier
 *
 * Context: process; waits for a running handler, so it is not called from
 * one.
 */
void rcm_lock_handler(struct rdma_cm_id *id)
{
	mutex_lock(&rcm_id_of(id)->handler_mutex);
}
EXPORT_SYMBOL_GPL(rcm_lock_handler);

/**
 * rcm_unlock_handler - let the handler run again
 * @id: identifier that rcm_lock_handler() was called for
 *
 * Context: process.
 */
void rcm_unlock_handler(struct rdma_cm_id *id)
{
	mutex_unlock(&rcm_id_of(id)->handler_mutex);
}
EXPORT_SYMBOL_GPL(rcm_unlock_handler);

/**
 * rcm_bind_addr - give an identifier a local address and port
 * @id: new identifier
 * @addr: IPv4 or IPv6 address, which may be a wildcard; port 0 for an
 *	ephemeral one. Where it was bound to is in id->route.addr.src_addr.
 *
 * An address that is no wildcard determines id->device.
 *
 * Context: process; may sleep.
 * Return: 0; -EAFNOSUPPORT for another family, otherwise as rcm_id_bind().
 */
int rcm_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct rcm_id *priv = rcm_id_of(id);
	union rcm_addr local;
	int ret;

	ret = rcm_sockaddr(&local, addr);
	if (ret)
		return ret;
	mutex_lock(&priv->mutex);
	ret = rcm_id_bind(priv, &local);
	mutex_unlock(&priv->mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(rcm_bind_addr);

/**
 * rcm_resolve_addr - translate a destination to a device and a link address
 * @id: identifier that is new or bound
 * @src_addr: local address, or %NULL for any; ignored when it is bound
 * @dst_addr: IPv4 or IPv6 address and port
 * @timeout_ms: how long to wait for the neighbour, milliseconds
 *
 * Reports ADDR_RESOLVED, with id->device set, or ADDR_ERROR, from a workqueue.
 *
 * Context: process; may sleep, but not for the network.
 * Return: 0; -EAFNOSUPPORT, otherwise as rcm_id_resolve_addr(); nothing is
 * reported then.
 */
int rcm_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr,
		     const struct sockaddr *dst_addr, unsigned long timeout_ms)
{
	struct rcm_id *priv = rcm_id_of(id);
	union rcm_addr src = {}, dst;
	int ret;

	ret = rcm_sockaddr(&dst, dst_addr);
	if (!ret && src_addr && src_addr->sa_family)
		ret = rcm_sockaddr(&src, src_addr);
	if (ret)
		return ret;
	mutex_lock(&priv->mutex);
	ret = rcm_id_resolve_addr(priv, &src, &dst,
				  min_t(unsigned long, timeout_ms, UINT_MAX));
	mutex_unlock(&priv->mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(rcm_resolve_addr);

/**
 * rcm_resolve_route - find the path to the peer
 * @id: identifier whose address is resolved
 * @timeout_ms: how long to wait, milliseconds; RoCE needs no wait
 *
 * Reports ROUTE_RESOLVED, with id->route.path_rec set, or ROUTE_ERROR, from a
 * workqueue.
 *
 * Context: process; may sleep.
 * Return: 0; as rcm_id_resolve_route() otherwise, and nothing is reported.
 */
int rcm_resolve_route(struct rdma_cm_id *id, unsigned long timeout_ms)
{
	struct rcm_id *priv = rcm_id_of(id);
	int ret;

	mutex_lock(&priv->mutex);
	ret = rcm_id_resolve_route(priv,
				   min_t(unsigned long, timeout_ms, UINT_MAX));
	mutex_unlock(&priv->mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(rcm_resolve_route);

/**
 * rcm_set_ib_path - give an identifier its path instead of resolving it
 * @id: identifier whose address is resolved
 * @path_rec: the path, from and to the GIDs of its addresses
 *
 * Context: process; may sleep.
 * Return: 0, nothing is reported; otherwise as rcm_id_set_path().
 */
int rcm_set_ib_path(struct rdma_cm_id *id, struct sa_path_rec *path_rec)
{
	struct rcm_id *priv = rcm_id_of(id);
	int ret;

	mutex_lock(&priv->mutex);
	ret = rcm_id_set_path(priv, path_rec);
	mutex_unlock(&priv->mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(rcm_set_ib_path);

/**
 * rcm_listen - accept connection requests
 * @id: identifier, bound or new
 * @backlog: not used: a kernel consumer takes each request when it comes
 *
 * Each request is reported as CONNECT_REQUEST on an identifier of its own,
 * which starts with the context and the handler of @id. A wildcard listener
 * listens on devices that come later, too.
 *
 * Context: process; may sleep; not from the handler of @id.
 * Return: as rcm_listen_start().
 */
int rcm_listen(struct rdma_cm_id *id, int backlog)
{
	struct rcm_id *priv = rcm_id_of(id);
	int ret;

	mutex_lock(&priv->mutex);
	ret = rcm_listen_start(priv, backlog);
	mutex_unlock(&priv->mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(rcm_listen);

/* The caller's parameters stay as they are. */
static int rcm_connect_with(struct rcm_id *priv,
			    const struct rdma_conn_param *conn_param,
			    const struct rdma_ucm_ece *ece)
{
	struct rdma_conn_param conn = *conn_param;
	int ret;

	lockdep_assert_held(&priv->handler_mutex);

	mutex_lock(&priv->mutex);
	if (ece)
		priv->ece = *ece;
	ret = rcm_id_connect(priv, &conn);
	mutex_unlock(&priv->mutex);
	return ret;
}

/**
 * rcm_connect_locked - send a connection request, from the handler
 * @id: identifier whose route is resolved
 * @conn_param: parameters; qp_num and srq are used only without id->qp
 *
 * With a queue pair of rcm_create_qp(), ESTABLISHED is reported when the peer
 * accepts and the queue pair is ready; without, CONNECT_RESPONSE, which the
 * consumer answers with rcm_accept(id, NULL). REJECTED, UNREACHABLE and
 * CONNECT_ERROR tell of failure.
 *
 * Context: process; in the handler of @id or under rcm_lock_handler().
 * Return: as rcm_id_connect().
 */
int rcm_connect_locked(struct rdma_cm_id *id,
		       struct rdma_conn_param *conn_param)
{
	return rcm_connect_with(rcm_id_of(id), conn_param, NULL);
}
EXPORT_SYMBOL_GPL(rcm_connect_locked);

/**
 * rcm_connect_ece - send a connection request, with enhanced options
 * @id: identifier whose route is resolved
 * @conn_param: as for rcm_connect_locked()
 * @ece: options of this side
 *
 * Context: process; waits for a running handler, so it is not called from
 * one, nor with a lock that one takes.
 * Return: as rcm_id_connect().
 */
int rcm_connect_ece(struct rdma_cm_id *id, struct rdma_conn_param *conn_param,
		    struct rdma_ucm_ece *ece)
{
	int ret;

	rcm_lock_handler(id);
	ret = rcm_connect_with(rcm_id_of(id), conn_param, ece);
	rcm_unlock_handler(id);
	return ret;
}
EXPORT_SYMBOL_GPL(rcm_connect_ece);

/**
 * rcm_connect - send a connection request
 * @id: identifier whose route is resolved
 * @conn_param: as for rcm_connect_locked()
 *
 * Context: as rcm_connect_ece().
 * Return: as rcm_id_connect().
 */
int rcm_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	return rcm_connect_ece(id, conn_param, NULL);
}
EXPORT_SYMBOL_GPL(rcm_connect);

/**
 * rcm_accept_ece - accept a connection request, with enhanced options
 * @id: identifier of the request, or one that got CONNECT_RESPONSE
 * @conn_param: parameters; %NULL to confirm a CONNECT_RESPONSE, or to answer
 *	a datagram request without more
 * @ece: options of this side
 *
 * A queue pair of rcm_create_qp() is ready to send and receive when it
 * returns. ESTABLISHED is reported when the peer confirms.
 *
 * Context: process; in the handler of @id or under rcm_lock_handler().
 * Return: 0; as rcm_id_accept() or rcm_id_establish() otherwise. When a
 * request was to be accepted and the transport failed it is rejected.
 */
int rcm_accept_ece(struct rdma_cm_id *id, struct rdma_conn_param *conn_param,
		   struct rdma_ucm_ece *ece)
{
	struct rcm_id *priv = rcm_id_of(id);
	struct rdma_conn_param conn = {};
	int ret;

	lockdep_assert_held(&priv->handler_mutex);

	mutex_lock(&priv->mutex);
	if (ece)
		priv->ece = *ece;
	if (conn_param)
		conn = *conn_param;
	if (conn_param || id->qp_type == IB_QPT_UD)
		ret = rcm_id_accept(priv, &conn);
	else
		ret = rcm_id_establish(priv);
	mutex_unlock(&priv->mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(rcm_accept_ece);

/**
 * rcm_accept - accept a connection request
 * @id: as for rcm_accept_ece()
 * @conn_param: as for rcm_accept_ece()
 *
 * Context: as rcm_accept_ece().
 * Return: as rcm_accept_ece().
 */
int rcm_accept(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	return rcm_accept_ece(id, conn_param, NULL);
}
EXPORT_SYMBOL_GPL(rcm_accept);

/**
 * rcm_reject - refuse a connection request, or a peer's acceptance
 * @id: identifier of the request, or one that got CONNECT_RESPONSE
 * @private_data: for the peer
 * @private_data_len: its length, bytes
 * @reason: reason code of the transport, 0 for "consumer defined"
 *
 * Context: process; may sleep.
 * Return: as rcm_id_reject().
 */
int rcm_reject(struct rdma_cm_id *id, const void *private_data,
	       u8 private_data_len, u8 reason)
{
	struct rcm_id *priv = rcm_id_of(id);
	int ret;

	mutex_lock(&priv->mutex);
	ret = rcm_id_reject(priv, private_data, private_data_len, reason);
	mutex_unlock(&priv->mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(rcm_reject);

/* The connection goes with the identifier; what is left is to hurry. */
static int rcm_disconnect_removed(struct rcm_id *priv)
{
	rcm_qp_to_error(priv);
	return priv->device->transport->disconnect(priv);
}

/**
 * rcm_disconnect - end a connection, or answer the peer who ends it
 * @id: identifier that connected or was connected to
 *
 * Moves a queue pair of rcm_create_qp() to the error state. DISCONNECTED is
 * reported when the peer answers. Works, without event, after DEVICE_REMOVAL.
 *
 * Context: process; may sleep.
 * Return: as rcm_id_disconnect().
 */
int rcm_disconnect(struct rdma_cm_id *id)
{
	struct rcm_id *priv = rcm_id_of(id);
	int ret;

	mutex_lock(&priv->mutex);
	if (priv->state == RCM_STATE_REMOVED && priv->cm)
		ret = rcm_disconnect_removed(priv);
	else
		ret = rcm_id_disconnect(priv);
	mutex_unlock(&priv->mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(rcm_disconnect);

/**
 * rcm_notify - tell of an event that the consumer saw on its queue pair
 * @id: identifier with a connection
 * @event: IB_EVENT_COMM_EST: data arrived before the peer's confirmation;
 *	IB_EVENT_PATH_MIG: nothing follows, as no alternate path is set up
 *
 * What follows from it, as ESTABLISHED, is done by a workqueue.
 *
 * Context: any, such as the handler of the queue pair's events.
 * Return: 0; -EINVAL without connection or for another event; -EISCONN when
 * it is established already.
 */
int rcm_notify(struct rdma_cm_id *id, enum ib_event_type event)
{
	struct rcm_id *priv = rcm_id_of(id);

	if (!READ_ONCE(priv->cm))
		return -EINVAL;
	switch (event) {
	case IB_EVENT_COMM_EST:
		if (READ_ONCE(priv->state) == RCM_STATE_ESTABLISHED)
			return -EISCONN;
		rcm_id_defer(priv, RCM_DEFER_COMM_EST);
		return 0;
	case IB_EVENT_PATH_MIG:
		return 0;
	default:
		return -EINVAL;
	}
}
EXPORT_SYMBOL_GPL(rcm_notify);

/**
 * rcm_join_multicast - become member of a group
 * @id: datagram identifier with a device and without id->qp
 * @addr: group
 * @join_state: bit of enum ib_sa_mc_join_states: FULLMEMBER_JOIN, or
 *	SENDONLY_FULLMEMBER_JOIN
 * @context: private_data of the event
 *
 * Reports MULTICAST_JOIN, from a workqueue.
 *
 * Context: process; takes the rtnl lock.
 * Return: 0; -EAFNOSUPPORT; -EINVAL for a queue pair of rcm_create_qp();
 * otherwise as rcm_mcast_join_context().
 */
int rcm_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr,
		       u8 join_state, void *context)
{
	struct rcm_id *priv = rcm_id_of(id);
	union rcm_addr group;
	int ret;

	if (id->qp)
		return -EINVAL;
	ret = rcm_sockaddr(&group, addr);
	if (ret)
		return ret;
	mutex_lock(&priv->mutex);
	ret = rcm_mcast_join_context(
		priv, &group, join_state == BIT(SENDONLY_FULLMEMBER_JOIN),
		context);
	mutex_unlock(&priv->mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(rcm_join_multicast);

/**
 * rcm_leave_multicast - end a membership
 * @id: identifier
 * @addr: group; nothing happens when it is no member
 *
 * A MULTICAST_JOIN that was not reported yet will not be.
 *
 * Context: process; takes the rtnl lock.
 */
void rcm_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct rcm_id *priv = rcm_id_of(id);
	union rcm_addr group;

	if (rcm_sockaddr(&group, addr))
		return;
	mutex_lock(&priv->mutex);
	rcm_mcast_leave_addr(priv, &group);
	mutex_unlock(&priv->mutex);
}
EXPORT_SYMBOL_GPL(rcm_leave_multicast);
