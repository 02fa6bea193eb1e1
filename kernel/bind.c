// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Local and remote addresses of an identifier: bind, resolve, and the options
 * that matter to them.
 */
#include <linux/capability.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "rcm_priv.h"

/* Does port 0..65535 need a privilege in the identifier's namespace? */
static bool rcm_port_permitted(struct rcm_id *priv, u16 port)
{
	return !port || !inet_port_requires_bind_service(priv->net, port) ||
	       ns_capable(priv->net->user_ns, CAP_NET_BIND_SERVICE);
}

static int rcm_blame_port(struct rcm_id *priv, int ret)
{
	if (ret == -EADDRINUSE || ret == -EADDRNOTAVAIL)
		rcm_id_blame(priv, RCM_STEP_PORT, ret, 0);
	return ret;
}

static int rcm_blame_address(struct rcm_id *priv, int ret)
{
	rcm_id_blame(priv, RCM_STEP_ADDRESS, ret, 0);
	return ret;
}

static int rcm_take_port(struct rcm_id *priv, const union rcm_addr *src,
			 const union rcm_addr *dst)
{
	struct rcm_binding *binding = &priv->binding;
	int low, high, ret;

	if (!rcm_port_permitted(priv, ntohs(rcm_addr_port(src)))) {
		rcm_id_blame(priv, RCM_STEP_PORT, -EACCES, 0);
		return -EACCES;
	}

	priv->space = rcm_net_port_space(priv->net, priv->id.ps);
	if (IS_ERR(priv->space)) {
		ret = PTR_ERR(priv->space);
		priv->space = NULL;
		return ret;
	}

	binding->src = *src;
	binding->dst = *dst;
	if (!priv->v6only_set)
		binding->v6only = src->sa.sa_family == AF_INET ||
				  READ_ONCE(priv->net->ipv6.sysctl.bindv6only);

	inet_get_local_port_range(priv->net, &low, &high);
	ret = rcm_port_bind(priv->space, binding, low, high);
	if (!ret)
		rcm_addr_set_port(rcm_src(priv), rcm_addr_port(&binding->src));
	return rcm_blame_port(priv, ret);
}

/**
 * rcm_unbind - undo what rcm_id_bind() did
 * @priv: identifier in state BOUND, with its mutex held
 */
void rcm_unbind(struct rcm_id *priv)
{
	if (priv->space)
		rcm_port_release(priv->space, &priv->binding);
	rcm_device_detach(priv);
	memset(rcm_src(priv), 0, sizeof(union rcm_addr));
	memset(rcm_dst(priv), 0, sizeof(union rcm_addr));
	priv->ifindex = 0;
	rcm_id_move(priv, RCM_OP_BIND_FAIL);
}

/* The device and interface that hold a local address. */
static int rcm_bind_device(struct rcm_id *priv, const union rcm_addr *src)
{
	int ifindex;

	if (rcm_addr_is_linklocal(src)) {
		if (!src->sin6.sin6_scope_id)
			return rcm_blame_address(priv, -EINVAL);
		priv->ifindex = src->sin6.sin6_scope_id;
	}
	if (rcm_addr_is_wildcard(src))
		return 0;

	ifindex = rcm_addr_local_ifindex(priv->net, src);
	if (ifindex < 0)
		return rcm_blame_address(priv, ifindex);
	return rcm_device_attach(priv, ifindex);
}

/* The destination has to be known before an ephemeral port is chosen. */
static int rcm_bind(struct rcm_id *priv, const union rcm_addr *src,
		    const union rcm_addr *dst)
{
	int ret;

	ret = rcm_id_begin(priv, RCM_OP_BIND);
	if (ret)
		return ret;

	*rcm_src(priv) = *src;
	*rcm_dst(priv) = *dst;
	ret = rcm_bind_device(priv, src);
	if (ret)
		goto err_unbind;
	ret = rcm_take_port(priv, src, dst);
	if (ret)
		goto err_unbind;
	return 0;

err_unbind:
	rcm_unbind(priv);
	return ret;
}

/**
 * rcm_id_bind - give an identifier a local address and port
 * @priv: identifier, with its mutex held
 * @addr: address and port, network byte order; port 0 for an ephemeral one
 *
 * Context: process; may sleep.
 * Return: 0; -EINVAL in a state other than IDLE, or for a link-local address
 * without scope; -EADDRNOTAVAIL, -EADDRINUSE (see rcm_port_bind()); -EACCES
 * for a privileged port; -ENODEV when no RDMA device has the address;
 * -ENOMEM. The identifier is as before when it fails.
 */
int rcm_id_bind(struct rcm_id *priv, const union rcm_addr *addr)
{
	static const union rcm_addr none;

	lockdep_assert_held(&priv->mutex);

	return rcm_bind(priv, addr, &none);
}

/* An unbound identifier is bound to what the caller gave, or to anything. */
static int rcm_bind_for_dst(struct rcm_id *priv, const union rcm_addr *src,
			    const union rcm_addr *dst)
{
	union rcm_addr any = {};

	if (src->sa.sa_family)
		return rcm_bind(priv, src, dst);

	any.sa.sa_family = dst->sa.sa_family;
	return rcm_bind(priv, &any, dst);
}

static void rcm_addr_take_result(struct rcm_id *priv,
				 const struct rcm_addr_result *result)
{
	__be16 port = rcm_addr_port(rcm_src(priv));

	*rcm_src(priv) = result->src;
	rcm_addr_set_port(rcm_src(priv), port);
	priv->hop_limit = result->hop_limit;
	ether_addr_copy(priv->dmac, result->dmac);
	ether_addr_copy(priv->id.route.addr.dev_addr.dst_dev_addr,
			result->dmac);
	priv->id.route.addr.dev_addr.hoplimit = result->hop_limit;
}

static enum rcm_step rcm_addr_step(int status)
{
	switch (status) {
	case -ETIMEDOUT:
		return RCM_STEP_NEIGHBOUR;
	case -ENODEV:
		return RCM_STEP_DEVICE;
	case -ENOMEM:
	case -ENOBUFS:
		return RCM_STEP_RESOURCES;
	default:
		return RCM_STEP_ROUTE_LOOKUP;
	}
}

static void rcm_addr_blame(struct rcm_id *priv, int status,
			   const struct rcm_addr_result *result)
{
	/* The interface may be known, though nothing came of it. */
	int ifindex = result->ifindex ?: priv->ifindex;

	rcm_id_blame_link(priv, rcm_addr_step(status), status, ifindex, 0);
}

/*
 * A translation ended with 0 or a negative errno: reports ADDR_RESOLVED or
 * ADDR_ERROR, unless the identifier is gone. Returns what rcm_id_dispatch() does.
 */
static int rcm_addr_complete(struct rcm_id *priv, int status,
			     const struct rcm_addr_result *result)
{
	union rcm_addr src = *rcm_src(priv);
	int ret;

	if (priv->state != RCM_STATE_ADDR_QUERY)
		return 0;

	if (status) {
		rcm_addr_blame(priv, status, result);
	} else {
		rcm_addr_take_result(priv, result);
		if (!priv->device)
			status = rcm_device_attach(priv, result->ifindex);
	}
	if (status) {
		*rcm_src(priv) = src;
		rcm_id_move(priv, RCM_OP_ADDR_FAIL);
		return rcm_id_report(priv, RDMA_CM_EVENT_ADDR_ERROR, status);
	}

	rcm_id_move(priv, RCM_OP_ADDR_OK);
	ret = rcm_id_report(priv, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	if (!ret && priv->route_follows)
		rcm_id_resolve_route(priv, 0);
	return ret;
}

/* Runs in a workqueue, with a reference on the identifier. */
static void rcm_addr_done(struct rcm_addr_req *req, int status)
{
	struct rcm_id *priv = req->context;

	rcm_id_lock_events(priv);
	/* With the mutex: whoever made it wait is done with it. */
	cancel_delayed_work(&req->work);
	if (rcm_addr_complete(priv, status, &req->query.result))
		rcm_id_destroy_unlock(priv);
	else
		rcm_id_unlock_events(priv);
	rcm_id_put(priv);
}

/* The request stays with the identifier, for the next time. */
static int rcm_addr_later(struct rcm_id *priv,
			  const struct rcm_addr_query *query,
			  unsigned int timeout_ms)
{
	if (!priv->addr_req)
		priv->addr_req = rcm_addr_req_alloc(rcm_addr_done, priv);
	if (!priv->addr_req)
		return -ENOMEM;

	priv->addr_req->query = *query;
	rcm_id_get(priv);
	rcm_addr_wait(priv->addr_req, timeout_ms);
	return 0;
}

static int rcm_addr_start(struct rcm_id *priv, unsigned int timeout_ms)
{
	struct rcm_addr_query query = {
		.net = priv->net,
		.oif = priv->ifindex,
		.src = *rcm_src(priv),
		.dst = *rcm_dst(priv),
	};
	int ret;

	if (rcm_addr_is_wildcard(&query.src)) {
		memset(&query.src, 0, sizeof(query.src));
		query.src.sa.sa_family = query.dst.sa.sa_family;
	}
	if (!query.oif && rcm_addr_is_linklocal(&query.dst))
		query.oif = query.dst.sin6.sin6_scope_id;

	ret = rcm_addr_try(&query);
	if (!ret && priv->inline_events)
		return rcm_addr_complete(priv, 0, &query.result);
	if (!ret)
		timeout_ms = 0;
	if (!ret || ret == -ENODATA)
		ret = rcm_addr_later(priv, &query, timeout_ms);
	if (ret)
		rcm_addr_blame(priv, ret, &query.result);
	return ret;
}

/**
 * rcm_id_resolve_addr - translate a destination to a device and a link address
 * @priv: identifier, with its mutex held
 * @src: local address, or family 0; ignored when it is bound already
 * @dst: destination address and port, network byte order
 * @timeout_ms: how long to wait for the neighbour, milliseconds
 *
 * Binds an identifier that is not bound. When the neighbour is known and the
 * consumer takes events inline, ADDR_RESOLVED is reported before the return.
 *
 * Context: process; may sleep, but not for the network.
 * Return: 0 when exactly one of ADDR_RESOLVED and ADDR_ERROR was or will be
 * reported; otherwise the errors of rcm_id_bind(); -ENETUNREACH or
 * -EHOSTUNREACH without a route; -EINVAL for mixed families, a link-local
 * destination without scope, or a state that does not allow it; -ENODEV for
 * a destination that no RDMA device can reach, such as 127.0.0.1, or from
 * there. The identifier is as before when it fails.
 */
int rcm_id_resolve_addr(struct rcm_id *priv, const union rcm_addr *src,
			const union rcm_addr *dst, unsigned int timeout_ms)
{
	static const union rcm_addr none;
	bool bound = priv->state == RCM_STATE_BOUND;
	union rcm_addr old_dst = *rcm_dst(priv);
	int ret;

	lockdep_assert_held(&priv->mutex);

	ret = rcm_id_allows(priv, priv->state == RCM_STATE_IDLE ?
					  RCM_OP_BIND :
					  RCM_OP_RESOLVE_ADDR);
	if (ret)
		return ret;
	if (!bound && src->sa.sa_family &&
	    src->sa.sa_family != dst->sa.sa_family)
		return -EINVAL;
	if (bound && rcm_src(priv)->sa.sa_family != dst->sa.sa_family)
		return -EINVAL;
	if (rcm_addr_is_linklocal(dst) && !dst->sin6.sin6_scope_id)
		return rcm_blame_address(priv, -EINVAL);
	if (rcm_addr_is_wildcard(dst) ||
	    rcm_addr_is_loopback(bound ? rcm_src(priv) : src)) {
		rcm_id_blame(priv, RCM_STEP_DEVICE, -ENODEV, 0);
		return -ENODEV;
	}
	ret = rcm_peer_alloc(priv);
	if (ret)
		return ret;

	if (bound) {
		ret = rcm_port_connect(priv->space, &priv->binding, dst);
		if (ret)
			return rcm_blame_port(priv, ret);
		*rcm_dst(priv) = *dst;
	} else {
		ret = rcm_bind_for_dst(priv, src, dst);
		if (ret)
			return ret;
	}

	rcm_id_move(priv, RCM_OP_RESOLVE_ADDR);
	ret = rcm_addr_start(priv, timeout_ms);
	if (!ret)
		return 0;

	rcm_id_move(priv, RCM_OP_ADDR_FAIL);
	if (bound) {
		*rcm_dst(priv) = old_dst;
		/* Somebody may have the old pair of addresses by now. */
		if (rcm_port_connect(priv->space, &priv->binding, &old_dst))
			rcm_port_connect(priv->space, &priv->binding, &none);
	} else {
		rcm_unbind(priv);
	}
	return ret;
}

static int rcm_blame_state(struct rcm_id *priv)
{
	rcm_id_blame(priv, RCM_STEP_STATE, -EINVAL, 0);
	return -EINVAL;
}

/**
 * rcm_id_set_reuseaddr - allow others that allow it too to use the same port
 * @priv: identifier, with its mutex held
 * @reuse: allow it
 *
 * Return: 0; -EINVAL for a listener, and for taking it back once bound.
 */
int rcm_id_set_reuseaddr(struct rcm_id *priv, bool reuse)
{
	lockdep_assert_held(&priv->mutex);

	if (priv->state != RCM_STATE_IDLE &&
	    (!reuse || priv->state == RCM_STATE_LISTEN))
		return rcm_blame_state(priv);

	WRITE_ONCE(priv->binding.reuse, reuse);
	return 0;
}

/**
 * rcm_id_set_v6only - keep an IPv6 listener from taking IPv4 requests
 * @priv: identifier, with its mutex held
 * @v6only: keep it
 *
 * Return: 0; -EINVAL once it is more than bound.
 */
int rcm_id_set_v6only(struct rcm_id *priv, bool v6only)
{
	lockdep_assert_held(&priv->mutex);

	if (priv->state != RCM_STATE_IDLE && priv->state != RCM_STATE_BOUND)
		return rcm_blame_state(priv);

	WRITE_ONCE(priv->binding.v6only, v6only);
	priv->v6only_set = true;
	return 0;
}

/**
 * rcm_id_set_tos - choose the type of service
 * @priv: identifier, with its mutex held
 * @tos: as in the IP header (RFC 2474)
 *
 * Takes effect when the route is resolved.
 *
 * Return: 0.
 */
int rcm_id_set_tos(struct rcm_id *priv, u8 tos)
{
	priv->tos = tos;
	priv->tos_set = true;
	return 0;
}

/**
 * rcm_id_set_ack_timeout - choose the queue pair's local ACK timeout
 * @priv: identifier, with its mutex held
 * @timeout: 4.096 us * 2^@timeout, 0 to 31; 0 for no timeout
 *
 * Return: 0; -EINVAL when @timeout is larger than 31, or the queue pair's
 * type has no acknowledgements.
 */
int rcm_id_set_ack_timeout(struct rcm_id *priv, u8 timeout)
{
	if (timeout > 31 || (priv->id.qp_type != IB_QPT_RC &&
			     priv->id.qp_type != IB_QPT_XRC_INI))
		return -EINVAL;

	priv->ack_timeout = timeout;
	priv->ack_timeout_set = true;
	return 0;
}

/**
 * rcm_id_set_min_rnr_timer - choose the queue pair's RNR NAK timer
 * @priv: identifier, with its mutex held
 * @timer: encoded as in IBTA volume 1, table 45; 0 to 31
 *
 * Return: 0; -EINVAL when @timer is larger than 31.
 */
int rcm_id_set_min_rnr_timer(struct rcm_id *priv, u8 timer)
{
	if (timer > 31)
		return -EINVAL;

	priv->min_rnr_timer = timer;
	priv->min_rnr_timer_set = true;
	return 0;
}
