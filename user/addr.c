// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Addresses and routes.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include <rcm/librcm.h>

#include "rcm_user.h"

/* InfiniBand specification, selector of a path record member: exactly. */
#define RCM_SELECT_EXACTLY 2

/**
 * rcm_addr_len - size of an address
 * @addr: address, or NULL
 *
 * Return: bytes, 0 when @addr is NULL or of a family that we do not know.
 */
socklen_t rcm_addr_len(const struct sockaddr *addr)
{
	if (!addr)
		return 0;
	switch (addr->sa_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	default:
		return 0;
	}
}

/**
 * rcm_addr_port - port of an address
 * @addr: address
 *
 * Return: the port in network byte order, 0 when the family has none.
 */
__be16 rcm_addr_port(const struct sockaddr *addr)
{
	switch (addr->sa_family) {
	case AF_INET:
		return ((const struct sockaddr_in *)addr)->sin_port;
	case AF_INET6:
		return ((const struct sockaddr_in6 *)addr)->sin6_port;
	default:
		return 0;
	}
}

/**
 * rcm_addr_set_port - change the port of an address
 * @addr: address, IPv4 or IPv6
 * @port: port in network byte order
 */
void rcm_addr_set_port(struct sockaddr *addr, __be16 port)
{
	if (addr->sa_family == AF_INET)
		((struct sockaddr_in *)addr)->sin_port = port;
	else if (addr->sa_family == AF_INET6)
		((struct sockaddr_in6 *)addr)->sin6_port = port;
}

static void rcm_apply_path(struct rcm_id *id, const struct rcm_path *path)
{
	struct ibv_sa_path_rec *rec = &id->path;

	memset(rec, 0, sizeof(*rec));
	memcpy(&rec->dgid, path->dgid, sizeof(rec->dgid));
	memcpy(&rec->sgid, path->sgid, sizeof(rec->sgid));
	rec->dlid = htons(path->dlid);
	rec->slid = htons(path->slid);
	rec->flow_label = htonl(path->flow_label);
	rec->hop_limit = path->hop_limit;
	rec->traffic_class = path->traffic_class;
	rec->reversible = path->reversible;
	rec->pkey = htons(path->pkey);
	rec->sl = path->sl;
	rec->mtu_selector = RCM_SELECT_EXACTLY;
	rec->mtu = path->mtu;
	rec->rate_selector = RCM_SELECT_EXACTLY;
	rec->rate = path->rate;
	rec->packet_life_time_selector = RCM_SELECT_EXACTLY;
	rec->packet_life_time = path->packet_life_time;
	id->id.route.path_rec = rec;
	id->id.route.num_paths = 1;
}

static void rcm_apply_addr(struct sockaddr_storage *to,
			   const struct __kernel_sockaddr_storage *from)
{
	socklen_t len = rcm_addr_len((const struct sockaddr *)from);

	if (len)
		memcpy(to, from, len);
}

/* The destination will be of the same family, and librdmacm says so at once. */
static void rcm_apply_src(struct rcm_id *id,
			  const struct __kernel_sockaddr_storage *from)
{
	struct rdma_addr *addr = &id->id.route.addr;

	rcm_apply_addr(&addr->src_storage, from);
	if (!addr->dst_addr.sa_family)
		addr->dst_addr.sa_family = addr->src_addr.sa_family;
}

static bool rcm_endpoint_has_device(const struct rcm_endpoint *ep)
{
	return ep->ibdev_index != ~0U || ep->node_guid;
}

static int rcm_apply_device(struct rcm_id *id, const struct rcm_endpoint *ep)
{
	struct rcm_device *dev;

	if (id->dev || !rcm_endpoint_has_device(ep))
		return 0;
	dev = rcm_device_get(ep);
	if (!dev) {
		struct rcm_reason reason = {
			.step = RCM_STEP_OPEN,
			.error = -errno,
			.ifindex = ep->ifindex,
			.detail = ep->ibdev_index,
		};

		rcm_id_set_reason(id, &reason);
		return rcm_fail(-reason.error);
	}
	id->dev = dev;
	id->id.verbs = dev->verbs;
	/* rdma_create_ep() may have been given one. */
	if (!id->id.pd)
		id->id.pd = dev->pd;
	return 0;
}

/**
 * rcm_id_apply - fill an identifier with what the kernel says of it
 * @id: identifier
 * @ep: from an event or a query
 *
 * Return: 0, or -1 with errno as of rcm_device_get() when the RDMA device
 * cannot be used; the addresses are filled in nevertheless.
 */
int rcm_id_apply(struct rcm_id *id, const struct rcm_endpoint *ep)
{
	struct rdma_addr *addr = &id->id.route.addr;
	struct rdma_ib_addr *ib = &addr->addr.ibaddr;

	rcm_apply_src(id, &ep->src);
	rcm_apply_addr(&addr->dst_storage, &ep->dst);
	if (!rcm_endpoint_has_device(ep))
		return 0;
	memcpy(&ib->sgid, ep->sgid, sizeof(ib->sgid));
	memcpy(&ib->dgid, ep->dgid, sizeof(ib->dgid));
	ib->pkey = htons(ep->pkey);
	id->id.port_num = ep->port_num;
	if (ep->num_paths)
		rcm_apply_path(id, &ep->path);
	return rcm_apply_device(id, ep);
}

/**
 * rcm_id_refresh - ask the kernel where an identifier stands, and note it
 * @id: identifier
 *
 * Return: 0, or -1 with errno.
 */
int rcm_id_refresh(struct rcm_id *id)
{
	struct rcm_query cmd = {
		.size = sizeof(cmd),
		.handle = rcm_id_handle(id),
	};

	if (rcm_id_ioctl(id, RCM_QUERY, &cmd))
		return -1;
	return rcm_id_apply(id, &cmd.out_endpoint);
}

/* Commands that can make the identifier have the same members to say so. */
#define RCM_TARGET_SIZE offsetof(struct rcm_bind, addr)
static_assert(offsetof(struct rcm_bind, handle) ==
			      offsetof(struct rcm_resolve_addr, handle) &&
		      offsetof(struct rcm_bind, uid) ==
			      offsetof(struct rcm_resolve_addr, uid),
	      "must be at the same place");

/*
 * Gives a command that makes the kernel's identifier on the way, unless it is
 * there.  @id's lock is held.  @reason is in @cmd.
 */
static int rcm_create_ioctl(struct rcm_id *id, unsigned long nr, void *cmd,
			    const struct rcm_reason *reason)
{
	struct rcm_channel *ch = rcm_id_channel(id);
	struct rcm_bind target;
	int ret, error;

	memcpy(&target, cmd, RCM_TARGET_SIZE);
	target.handle = id->ref->handle;
	if (target.handle) {
		memcpy(cmd, &target, RCM_TARGET_SIZE);
		return rcm_id_ioctl(id, nr, cmd);
	}
	target.flags |= RCM_CREATE;
	target.ps = id->id.ps;
	target.qp_type = id->id.qp_type;
	target.uid = id->uid;
	memcpy(cmd, &target, RCM_TARGET_SIZE);
	rcm_channel_expect(ch);
	ret = rcm_id_ioctl(id, nr, cmd);
	memcpy(&target, cmd, RCM_TARGET_SIZE);
	rcm_channel_publish(ch, id->ref, ret ? 0 : target.handle);
	/* Nothing is left that the kernel could be asked about later. */
	if (ret) {
		error = errno;
		rcm_id_set_reason(id, reason);
		errno = error;
	}
	return ret;
}

static int rcm_bind(struct rcm_id *id, struct sockaddr *addr, socklen_t len,
		    struct rcm_endpoint *ep)
{
	struct rcm_bind cmd = { .size = sizeof(cmd) };
	int ret;

	memcpy(&cmd.addr, addr, len);
	pthread_mutex_lock(&id->lock);
	ret = rcm_create_ioctl(id, RCM_BIND, &cmd, &cmd.out_reason);
	pthread_mutex_unlock(&id->lock);
	if (!ret)
		*ep = cmd.out_endpoint;
	return ret;
}

/**
 * rdma_bind_addr - give an identifier a local address
 * @id: identifier
 * @addr: IPv4 or IPv6 address, a wildcard allowed; port in network byte
 *	order, 0 for one that the kernel chooses
 *
 * Afterwards the identifier has the address and the port that was taken
 * (rdma_get_src_port()) and, unless the address is a wildcard, the RDMA device
 * in id->verbs.  Does not wait.
 *
 * Follows rdma_bind_addr(3).
 *
 * Return: 0, or -1 with errno: EINVAL (NULL, unknown family, bound already,
 * link-local address without scope), EADDRNOTAVAIL (not a local address; port
 * taken, and one of the two addresses is a wildcard; no port free), EADDRINUSE
 * (the same address and port is taken), EACCES (privileged port, or an RDMA
 * device that must not be opened), ENODEV (no RDMA device has the address),
 * ENOMEM, EMFILE.
 */
int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	socklen_t len = rcm_addr_len(addr);
	struct rcm_endpoint ep;
	struct rcm_id *priv;
	bool fresh;
	int error;

	if (!id || !len)
		return rcm_fail(EINVAL);
	priv = to_rcm_id(id);
	fresh = !rcm_id_handle(priv);
	if (rcm_bind(priv, addr, len, &ep))
		return -1;
	if (!rcm_id_apply(priv, &ep))
		return 0;
	/* As before, so that it can be bound to another device's address. */
	error = errno;
	if (fresh) {
		struct rcm_reason reason;

		rcm_last_reason(id, &reason);
		rcm_id_unmake(priv);
		rcm_id_set_reason(priv, &reason);
		memset(&id->route.addr, 0, sizeof(id->route.addr));
	}
	return rcm_fail(error);
}

static int rcm_resolve_addr(struct rcm_id *id, const struct sockaddr *src,
			    const struct sockaddr *dst, int timeout_ms)
{
	struct rcm_resolve_addr cmd = {
		.size = sizeof(cmd),
		.timeout_ms = timeout_ms,
	};
	struct sockaddr_storage *stored = &id->id.route.addr.dst_storage;
	struct sockaddr_storage old = *stored;
	int ret;

	if (src)
		memcpy(&cmd.src, src, rcm_addr_len(src));
	memcpy(&cmd.dst, dst, rcm_addr_len(dst));
	pthread_mutex_lock(&id->lock);
	/* Before the command, whose event another thread may get at once. */
	memcpy(stored, &cmd.dst, rcm_addr_len(dst));
	ret = rcm_create_ioctl(id, RCM_RESOLVE_ADDR, &cmd, &cmd.out_reason);
	if (ret)
		*stored = old;
	pthread_mutex_unlock(&id->lock);
	return ret;
}

/**
 * rdma_resolve_addr - find the RDMA device and address for a destination
 * @id: identifier
 * @src_addr: local address to use, or NULL to let the routing table decide
 * @dst_addr: destination; port in network byte order
 * @timeout_ms: how long to wait for the peer's link address, milliseconds
 *
 * Binds the identifier when it is not bound.  Does not wait unless the
 * identifier is synchronous.  RDMA_CM_EVENT_ADDR_RESOLVED or
 * RDMA_CM_EVENT_ADDR_ERROR follows.
 *
 * Follows rdma_resolve_addr(3).
 *
 * Return: 0, or -1 with errno: EINVAL (NULL, unknown or different families,
 * wrong state), ENETUNREACH, EHOSTUNREACH (no route), those of
 * rdma_bind_addr(); synchronously also the event's, as ETIMEDOUT.
 */
int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr,
		      struct sockaddr *dst_addr, int timeout_ms)
{
	if (!id || !rcm_addr_len(dst_addr) ||
	    (src_addr && !rcm_addr_len(src_addr)))
		return rcm_fail(EINVAL);
	if (rcm_resolve_addr(to_rcm_id(id), src_addr, dst_addr, timeout_ms))
		return -1;
	return rcm_complete(to_rcm_id(id));
}

/**
 * rcm_resolve_route - find the path to the destination, and do not wait
 * @id: identifier whose destination address is resolved
 * @timeout_ms: how long the kernel waits, milliseconds
 *
 * Return: 0, or -1 with errno.
 */
int rcm_resolve_route(struct rcm_id *id, int timeout_ms)
{
	struct rcm_resolve_route cmd = {
		.size = sizeof(cmd),
		.handle = rcm_id_handle(id),
		.timeout_ms = timeout_ms,
	};

	return rcm_id_ioctl(id, RCM_RESOLVE_ROUTE, &cmd);
}

/**
 * rdma_resolve_route - find the path to the destination
 * @id: identifier whose destination address is resolved
 * @timeout_ms: how long to wait, milliseconds
 *
 * Does not wait unless the identifier is synchronous.
 * RDMA_CM_EVENT_ROUTE_RESOLVED or RDMA_CM_EVENT_ROUTE_ERROR follows; after the
 * first, id->route.path_rec is the path.
 *
 * Follows rdma_resolve_route(3).
 *
 * Return: 0, or -1 with errno: EINVAL (NULL, or the address is not resolved),
 * ENODEV (device is gone), ENOMEM; synchronously also the event's, as
 * ETIMEDOUT.
 */
int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	if (!rcm_id_started(id))
		return -1;
	if (rcm_resolve_route(to_rcm_id(id), timeout_ms))
		return -1;
	return rcm_complete(to_rcm_id(id));
}
