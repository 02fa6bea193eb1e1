// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Listeners, and which one a connection request is for.
 *
 * A listener is in a hash by (namespace, port space, port, address), where
 * all wildcard addresses of a family count as one.  A request is looked up by
 * its exact address first, then by the wildcard of its family, then by the
 * IPv6 wildcard when that takes IPv4 too: three probes, however many
 * listeners and connections there are.
 *
 * A listener bound to an address listens on that address's device.  One bound
 * to a wildcard listens on all devices, also on those that come later: it has
 * one struct rcm_listener for each.  There are no child identifiers, so nothing
 * has to be copied to them.
 */
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "rcm_priv.h"

#define RCM_LISTEN_BITS 13

static struct hlist_head rcm_listeners[1 << RCM_LISTEN_BITS];
static DEFINE_SPINLOCK(rcm_listeners_lock); /* for writers; readers use RCU */
static LIST_HEAD(rcm_wildcards);	    /* protected by rcm_device_mutex */

static struct hlist_head *rcm_listen_head(struct net *net,
					  enum rdma_ucm_port_space ps,
					  const union rcm_addr *addr)
{
	union rcm_addr key = {};
	u32 hash;

	if (rcm_addr_is_wildcard(addr))
		key.sa.sa_family = addr->sa.sa_family;
	else
		key = *addr;
	rcm_addr_set_port(&key, rcm_addr_port(addr));
	hash = rcm_addr_hash(&key, net_hash_mix(net) ^ ps);
	return &rcm_listeners[hash & ((1 << RCM_LISTEN_BITS) - 1)];
}

static bool rcm_listen_matches(struct rcm_id *priv, struct net *net,
			       enum rdma_ucm_port_space ps,
			       const union rcm_addr *key,
			       const union rcm_addr *local,
			       const union rcm_addr *remote)
{
	const union rcm_addr *addr = rcm_src(priv);

	if (priv->net != net || priv->id.ps != ps ||
	    rcm_addr_port(addr) != rcm_addr_port(key) ||
	    addr->sa.sa_family != key->sa.sa_family)
		return false;
	if (!rcm_addr_is_wildcard(key))
		return rcm_addr_equal(addr, key);
	if (!rcm_addr_is_wildcard(addr))
		return false;
	if (local->sa.sa_family != key->sa.sa_family && priv->binding.v6only)
		return false;
	/* A loopback listener is for this host alone. */
	return !rcm_addr_is_loopback(addr) ||
	       rcm_addr_local_ifindex(net, remote) > 0;
}

static struct rcm_id *rcm_listen_probe(struct net *net,
				       enum rdma_ucm_port_space ps,
				       const union rcm_addr *key,
				       const union rcm_addr *local,
				       const union rcm_addr *remote)
{
	struct rcm_id *priv;

	hlist_for_each_entry_rcu(priv, rcm_listen_head(net, ps, key),
				 listen_node) {
		if (rcm_listen_matches(priv, net, ps, key, local, remote) &&
		    refcount_inc_not_zero(&priv->refs))
			return priv;
	}
	return NULL;
}

/**
 * rcm_listen_find - which listener is a request for
 * @net: namespace of the interface that it came in by
 * @ps: port space
 * @local: address and port that it is for
 * @remote: address that it came from
 *
 * Context: any; takes the RCU read lock.
 * Return: the listener, with a reference; %NULL when there is none.
 */
struct rcm_id *rcm_listen_find(struct net *net, enum rdma_ucm_port_space ps,
			       const union rcm_addr *local,
			       const union rcm_addr *remote)
{
	union rcm_addr any = {};
	struct rcm_id *priv;

	rcu_read_lock();
	priv = rcm_listen_probe(net, ps, local, local, remote);
	if (priv)
		goto out;

	any.sa.sa_family = local->sa.sa_family;
	rcm_addr_set_port(&any, rcm_addr_port(local));
	priv = rcm_listen_probe(net, ps, &any, local, remote);
	if (priv || local->sa.sa_family == AF_INET6)
		goto out;

	any.sa.sa_family = AF_INET6;
	priv = rcm_listen_probe(net, ps, &any, local, remote);
out:
	rcu_read_unlock();
	return priv;
}

static void rcm_listen_hash(struct rcm_id *priv)
{
	spin_lock(&rcm_listeners_lock);
	hlist_add_head_rcu(&priv->listen_node,
			   rcm_listen_head(priv->net, priv->id.ps,
					   rcm_src(priv)));
	spin_unlock(&rcm_listeners_lock);
}

static void rcm_listen_unhash(struct rcm_id *priv)
{
	spin_lock(&rcm_listeners_lock);
	hlist_del_init_rcu(&priv->listen_node);
	spin_unlock(&rcm_listeners_lock);
}

static int rcm_listen_on(struct rcm_id *priv, struct rcm_device *device)
{
	struct rcm_listener *listen;
	int ret;

	lockdep_assert_held(&rcm_device_mutex);

	/* Removal stops listens once, after it has said so. */
	if (READ_ONCE(device->dead))
		return -ENODEV;

	listen = kzalloc(sizeof(*listen), GFP_KERNEL_ACCOUNT);
	if (!listen)
		return -ENOMEM;

	listen->device = device;
	listen->owner = priv;
	ret = device->transport->listen(listen, priv->id.ps,
					ntohs(rcm_addr_port(rcm_src(priv))));
	if (ret) {
		kfree(listen);
		return ret;
	}
	/* It may be heard until it is freed, which may be after its owner's end. */
	rcm_id_get(priv);
	rcm_device_get(device);
	list_add_tail(&listen->owner_node, &priv->listens);
	list_add_tail(&listen->device_node, &device->listens);
	return 0;
}

static void rcm_listen_free(struct rcm_listener *listen)
{
	listen->device->transport->unlisten(listen);
	rcm_device_put(listen->device);
	rcm_id_put(listen->owner);
	kfree(listen);
}

static int rcm_listen_on_all(struct rcm_id *priv)
{
	struct rcm_device *device;
	int ret;

	lockdep_assert_held(&rcm_device_mutex);

	list_for_each_entry(device, &rcm_devices, node) {
		if (!rcm_device_suits(priv, device))
			continue;
		ret = rcm_listen_on(priv, device);
		if (ret)
			return ret;
	}
	list_add_tail(&priv->wildcard_node, &rcm_wildcards);
	return 0;
}

/*
 * Stops all listens of an identifier.  The transport waits for requests being
 * handled, and those want the identifier's mutex, so it must not be held.
 */
static void rcm_listen_off(struct rcm_id *priv)
{
	struct rcm_listener *listen, *next;
	LIST_HEAD(listens);

	mutex_lock(&rcm_device_mutex);
	list_del_init(&priv->wildcard_node);
	list_for_each_entry(listen, &priv->listens, owner_node)
		list_del(&listen->device_node);
	list_splice_init(&priv->listens, &listens);
	mutex_unlock(&rcm_device_mutex);

	list_for_each_entry_safe(listen, next, &listens, owner_node) {
		rcm_listen_free(listen);
	}
}

static int rcm_listen_bind_any(struct rcm_id *priv)
{
	const union rcm_addr any = { .sin.sin_family = AF_INET };

	return rcm_id_bind(priv, &any);
}

/**
 * rcm_listen_start - accept connection requests
 * @priv: identifier, with its mutex held; it is released for a while when
 *	the call fails
 * @backlog: for the consumer to respect
 *
 * An identifier that is not bound is bound to 0.0.0.0 and an ephemeral port.
 *
 * Context: process; sleeps.
 * Return: 0; -EINVAL in a state that does not allow it; -EADDRNOTAVAIL or
 * -EADDRINUSE when the port has another user, or another connection manager
 * listens there on the same device; -ENODEV when the address's device is iWARP
 * and has no interface to hear requests by; -ENOMEM.
 */
int rcm_listen_start(struct rcm_id *priv, int backlog)
{
	bool was_idle = priv->state == RCM_STATE_IDLE;
	bool reuse = priv->binding.reuse;
	int ret;

	lockdep_assert_held(&priv->mutex);

	if (was_idle) {
		ret = rcm_listen_bind_any(priv);
		if (ret)
			return ret;
	}
	ret = rcm_id_begin(priv, RCM_OP_LISTEN);
	if (ret)
		return ret;

	ret = rcm_port_listen(priv->space, &priv->binding);
	if (ret)
		goto err_state;

	priv->backlog = backlog;
	rcm_listen_hash(priv);

	mutex_lock(&rcm_device_mutex);
	ret = priv->device ? rcm_listen_on(priv, priv->device) :
			     rcm_listen_on_all(priv);
	mutex_unlock(&rcm_device_mutex);
	if (ret)
		goto err_listen;
	return 0;

err_listen:
	rcm_listen_unhash(priv);
	mutex_unlock(&priv->mutex);
	rcm_listen_off(priv);
	mutex_lock(&priv->mutex);
	if (priv->state != RCM_STATE_LISTEN)
		return ret;
	rcm_port_unlisten(priv->space, &priv->binding, reuse);
err_state:
	if (ret == -EADDRINUSE || ret == -EADDRNOTAVAIL)
		rcm_id_blame(priv, RCM_STEP_PORT, ret, 0);
	rcm_id_move(priv, RCM_OP_LISTEN_FAIL);
	if (was_idle)
		rcm_unbind(priv);
	return ret;
}

/**
 * rcm_listen_stop - stop to listen
 * @priv: identifier that is being destroyed, without its mutex
 *
 * When it returns no request for it is being handled.
 *
 * Context: process; sleeps.
 */
void rcm_listen_stop(struct rcm_id *priv)
{
	if (hlist_unhashed(&priv->listen_node))
		return;
	rcm_listen_unhash(priv);
	rcm_listen_off(priv);
}

/**
 * rcm_listen_device_added - let wildcard listeners use a new device
 * @device: on the list of devices already; rcm_device_mutex is held
 *
 * A listener that cannot listen on it goes on with the others.
 */
void rcm_listen_device_added(struct rcm_device *device)
{
	struct rcm_id *priv;
	int ret;

	list_for_each_entry(priv, &rcm_wildcards, wildcard_node) {
		if (!rcm_device_suits(priv, device))
			continue;
		ret = rcm_listen_on(priv, device);
		if (ret)
			pr_warn_ratelimited(
				"rcm: listener %u does not listen on new device %s: error %d\n",
				priv->number, dev_name(&device->ib->dev), ret);
	}
}

/**
 * rcm_listen_device_removed - stop all listens on a device
 * @device: off the list of devices already
 *
 * Context: process; sleeps.
 */
void rcm_listen_device_removed(struct rcm_device *device)
{
	struct rcm_listener *listen, *next;
	LIST_HEAD(listens);

	mutex_lock(&rcm_device_mutex);
	list_for_each_entry(listen, &device->listens, device_node)
		list_del(&listen->owner_node);
	list_splice_init(&device->listens, &listens);
	mutex_unlock(&rcm_device_mutex);

	list_for_each_entry_safe(listen, next, &listens, device_node) {
		rcm_listen_free(listen);
	}
}

/**
 * rcm_listen_lock - lock a listener for a request that came in
 * @listener: whom it is for
 *
 * From here on its memory cgroup pays for what the request needs.
 *
 * Return: who paid before, for rcm_listen_unlock().
 */
struct mem_cgroup *rcm_listen_lock(struct rcm_id *listener)
{
	rcm_id_lock_events(listener);
	return set_active_memcg(listener->memcg);
}

/**
 * rcm_listen_unlock_mutex - let go of what a request's handler is called without
 * @listener: after rcm_listen_lock()
 *
 * A kernel consumer's handler is called with its handler_mutex alone, which
 * keeps it from being destroyed meanwhile.
 */
void rcm_listen_unlock_mutex(struct rcm_id *listener)
{
	if (!listener->inline_events)
		mutex_unlock(&listener->mutex);
}

/**
 * rcm_listen_unlock - let go of the rest
 * @listener: after rcm_listen_unlock_mutex()
 * @memcg: what rcm_listen_lock() returned
 */
void rcm_listen_unlock(struct rcm_id *listener, struct mem_cgroup *memcg)
{
	set_active_memcg(memcg);
	if (listener->inline_events)
		mutex_unlock(&listener->mutex);
	mutex_unlock(&listener->handler_mutex);
}

/**
 * rcm_listen_child - make the identifier of a connection request
 * @listener: whom it is for, with its mutex held
 * @device: device that it came in by
 * @port_num: its port
 * @sgid_attr: local GID that it was sent to
 * @local: local address and port
 * @remote: peer's address and port
 *
 * Everything that a request takes over from its listener is copied here.
 *
 * Context: process; may sleep.
 * Return: the identifier, in state REQ_RCVD, with both of its mutexes held; an
 * ERR_PTR: -ENOMEM, -ENODEV.
 */
struct rcm_id *rcm_listen_child(struct rcm_id *listener,
				struct rcm_device *device, u32 port_num,
				const struct ib_gid_attr *sgid_attr,
				const union rcm_addr *local,
				const union rcm_addr *remote)
{
	struct rcm_id *priv;
	int ret;

	priv = rcm_id_create(listener->net, listener->id.event_handler,
			     listener->id.context, listener->id.ps,
			     listener->id.qp_type, listener->inline_events);
	if (IS_ERR(priv))
		return priv;

	/* Nobody else has it yet, so there is nothing to wait for. */
	mutex_trylock(&priv->handler_mutex);
	mutex_lock_nested(&priv->mutex, SINGLE_DEPTH_NESTING);
	priv->node_type = listener->node_type;
	priv->tos = listener->tos;
	priv->tos_set = listener->tos_set;
	priv->ack_timeout = listener->ack_timeout;
	priv->ack_timeout_set = listener->ack_timeout_set;
	priv->min_rnr_timer = listener->min_rnr_timer;
	priv->min_rnr_timer_set = listener->min_rnr_timer_set;
	priv->binding.v6only = listener->binding.v6only;
	*rcm_src(priv) = *local;
	*rcm_dst(priv) = *remote;

	ret = rcm_peer_alloc(priv);
	if (!ret)
		ret = rcm_device_attach_child(priv, device, port_num,
					      sgid_attr);
	if (ret) {
		rcm_id_destroy_unlock(priv);
		return ERR_PTR(ret);
	}
	rcm_id_move(priv, RCM_OP_REQ_RCVD);
	return priv;
}
