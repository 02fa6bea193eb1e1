// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Translation of an IP destination: local address, interface, and the link
 * address of the peer or the next hop.
 *
 * rcm_addr_try() answers at once when the neighbour is known.  Otherwise the
 * request waits in a table, hashed by the neighbour's address, until the
 * neighbour changes or its time is up.  Requests do not wait for each other:
 * the workqueue is not ordered and each has a work item of its own.
 */
#include <linux/inetdevice.h>
#include <linux/jhash.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/arp.h>
#include <net/ip6_route.h>
#include <net/neighbour.h>
#include <net/netevent.h>
#include <net/route.h>

#include "addr.h"
#include "compat.h"
#include "rcm_priv.h"

#define RCM_WAIT_BITS 8

/* A neighbour's answer can be lost; ask again this often. */
#define RCM_ADDR_RETRY HZ

struct rcm_wait_bucket {
	spinlock_t lock; /* protects head and rcm_addr_req.node */
	struct hlist_head head;
};

static struct rcm_wait_bucket rcm_waiting[1 << RCM_WAIT_BITS];
static u32 rcm_wait_seed;

static struct rcm_wait_bucket *rcm_wait_bucket(u32 hash)
{
	return &rcm_waiting[hash & ((1 << RCM_WAIT_BITS) - 1)];
}

static u32 rcm_neigh_hash(const struct neighbour *neigh)
{
	return jhash(neigh->primary_key, neigh->tbl->key_len, rcm_wait_seed);
}

/* Interface that holds a local address; the caller holds the RCU lock. */
static struct net_device *rcm_addr_local_dev_rcu(struct net *net,
						 const union rcm_addr *addr)
{
	struct net_device *dev;

	switch (addr->sa.sa_family) {
	case AF_INET:
		return __ip_dev_find(net, addr->sin.sin_addr.s_addr, false);
	case AF_INET6:
		if (rcm_addr_is_linklocal(addr)) {
			dev = dev_get_by_index_rcu(net,
						   addr->sin6.sin6_scope_id);
			if (dev &&
			    ipv6_chk_addr(net, &addr->sin6.sin6_addr, dev, 1))
				return dev;
			return NULL;
		}
		for_each_netdev_rcu(net, dev) {
			if (ipv6_chk_addr(net, &addr->sin6.sin6_addr, dev, 1))
				return dev;
		}
		return NULL;
	default:
		return NULL;
	}
}

/**
 * rcm_addr_local_ifindex - which interface holds a local address
 * @net: namespace to look in
 * @addr: IPv4 or IPv6 address, not a wildcard
 *
 * Context: any; takes the RCU read lock.
 * Return: the interface's index; -EADDRNOTAVAIL when the address is not local.
 */
int rcm_addr_local_ifindex(struct net *net, const union rcm_addr *addr)
{
	struct net_device *dev;
	int ret = -EADDRNOTAVAIL;

	rcu_read_lock();
	dev = rcm_addr_local_dev_rcu(net, addr);
	if (dev)
		ret = dev->ifindex;
	rcu_read_unlock();
	return ret;
}

/**
 * rcm_addr_may_talk - could these two addresses be the ends of a connection
 * @net: namespace of the interface that a request came in by
 * @local: address that the request is for
 * @remote: address that it claims to come from
 *
 * The way back is not looked up: the answer goes where the request came from,
 * so hosts with several interfaces and asymmetric routes work.
 *
 * Context: any.
 * Return: whether @local is an address of this host and @remote one that a
 * host can have.
 */
bool rcm_addr_may_talk(struct net *net, const union rcm_addr *local,
		       const union rcm_addr *remote)
{
	if (local->sa.sa_family != remote->sa.sa_family)
		return false;
	if (rcm_addr_is_wildcard(local) || rcm_addr_is_wildcard(remote) ||
	    rcm_addr_is_multicast(local) || rcm_addr_is_multicast(remote))
		return false;
	if (remote->sa.sa_family == AF_INET &&
	    ipv4_is_lbcast(remote->sin.sin_addr.s_addr))
		return false;
	return rcm_addr_local_ifindex(net, local) > 0;
}

/* Link address of @daddr over @dst; -ENODATA when it has to be waited for. */
static int rcm_neigh_lookup(struct rcm_addr_query *query, struct dst_entry *dst,
			    const void *daddr)
{
	struct neighbour *neigh;
	bool valid;

	/* It does not say why: for want of memory, or of room in its table. */
	neigh = dst_neigh_lookup(dst, daddr);
	if (!neigh)
		return -ENOMEM;

	read_lock_bh(&neigh->lock);
	valid = neigh->nud_state & NUD_VALID;
	if (valid)
		ether_addr_copy(query->result.dmac, neigh->ha);
	read_unlock_bh(&neigh->lock);

	if (!valid) {
		query->hash = rcm_neigh_hash(neigh);
		neigh_event_send(neigh, NULL);
	}
	neigh_release(neigh);
	return valid ? 0 : -ENODATA;
}

/*
 * The route is known.  A route to one of our own addresses goes by the
 * loopback interface, which has no RDMA device: use the interface that holds
 * the address, and let it talk to itself.
 */
static int rcm_addr_by_dst(struct rcm_addr_query *query, struct dst_entry *dst,
			   const void *daddr)
{
	struct net_device *dev;
	int ret = 0;

	rcu_read_lock();
	dev = dst->dev;
	if (dev->flags & IFF_LOOPBACK) {
		dev = rcm_addr_local_dev_rcu(query->net, &query->dst);
		if (!dev) {
			ret = -ENODEV;
			goto out;
		}
		ether_addr_copy(query->result.dmac, dev->dev_addr);
		query->result.ifindex = dev->ifindex;
		goto out;
	}
	query->result.ifindex = dev->ifindex;
	rcu_read_unlock();

	return rcm_neigh_lookup(query, dst, daddr);
out:
	rcu_read_unlock();
	return ret;
}

static int rcm_addr_try4(struct rcm_addr_query *query)
{
	struct flowi4 fl4 = {
		.daddr = query->dst.sin.sin_addr.s_addr,
		.saddr = query->src.sin.sin_addr.s_addr,
		.flowi4_oif = query->oif,
	};
	struct rtable *rt;
	int ret;

	rt = ip_route_output_key(query->net, &fl4);
	if (IS_ERR(rt))
		return PTR_ERR(rt);

	query->result.src.sin.sin_addr.s_addr = fl4.saddr;
	query->result.hop_limit = ip4_dst_hoplimit(&rt->dst);
	ret = rcm_addr_by_dst(query, &rt->dst, &fl4.daddr);
	ip_rt_put(rt);
	return ret;
}

static int rcm_addr_try6(struct rcm_addr_query *query)
{
	struct flowi6 fl6 = {
		.daddr = query->dst.sin6.sin6_addr,
		.saddr = query->src.sin6.sin6_addr,
		.flowi6_oif = query->oif,
	};
	struct dst_entry *dst;
	int ret;

	dst = rcm_ip6_dst_lookup(query->net, &fl6);
	if (IS_ERR(dst))
		return PTR_ERR(dst);

	query->result.src.sin6.sin6_addr = fl6.saddr;
	if (rcm_addr_is_linklocal(&query->result.src))
		query->result.src.sin6.sin6_scope_id = query->oif;
	query->result.hop_limit = ip6_dst_hoplimit(dst);
	ret = rcm_addr_by_dst(query, dst, &fl6.daddr);
	dst_release(dst);
	return ret;
}

/**
 * rcm_addr_try - translate now, if that is possible
 * @query: with net, oif, src and dst set
 *
 * Context: process; does not sleep for the network.
 * Return: 0 with query->result set; -ENODATA when the neighbour is not known
 * and has been asked for; another negative errno when there is no way.
 */
int rcm_addr_try(struct rcm_addr_query *query)
{
	memset(&query->result, 0, sizeof(query->result));
	query->result.src.sa.sa_family = query->dst.sa.sa_family;
	return query->dst.sa.sa_family == AF_INET ? rcm_addr_try4(query) :
						    rcm_addr_try6(query);
}

static void rcm_addr_enqueue(struct rcm_addr_req *req)
{
	struct rcm_wait_bucket *bucket = rcm_wait_bucket(req->query.hash);

	spin_lock_bh(&bucket->lock);
	hlist_add_head(&req->node, &bucket->head);
	spin_unlock_bh(&bucket->lock);
}

static void rcm_addr_dequeue(struct rcm_addr_req *req)
{
	struct rcm_wait_bucket *bucket = rcm_wait_bucket(req->query.hash);

	spin_lock_bh(&bucket->lock);
	hlist_del_init(&req->node);
	spin_unlock_bh(&bucket->lock);
}

static void rcm_addr_work(struct work_struct *work)
{
	struct rcm_addr_req *req =
		container_of(to_delayed_work(work), struct rcm_addr_req, work);
	long left = req->deadline - jiffies;
	u32 hash = req->query.hash;
	int status;

	if (!atomic_read(&req->pending))
		return;

	status = rcm_addr_try(&req->query);
	if (status == -ENODATA && left > 0) {
		/* The route may lead to another neighbour by now. */
		if (hash != req->query.hash) {
			swap(hash, req->query.hash);
			rcm_addr_dequeue(req);
			req->query.hash = hash;
			rcm_addr_enqueue(req);
		}
		/* Not mod_: the neighbour may have changed since we looked. */
		queue_delayed_work(rcm_wq, &req->work,
				   min_t(long, left, RCM_ADDR_RETRY));
		return;
	}

	req->query.hash = hash;
	rcm_addr_dequeue(req);
	if (atomic_xchg(&req->pending, 0))
		req->done(req, status == -ENODATA ? -ETIMEDOUT : status);
}

/**
 * rcm_addr_req_alloc - make a request
 * @done: what to call when it is complete
 * @context: for @done
 *
 * Context: process; may sleep.
 * Return: the request, for kfree() when it does not wait any more, which is
 * allowed from @done; %NULL when memory is short.
 */
struct rcm_addr_req *rcm_addr_req_alloc(void (*done)(struct rcm_addr_req *req,
						     int status),
					void *context)
{
	struct rcm_addr_req *req = kzalloc(sizeof(*req), GFP_KERNEL_ACCOUNT);

	if (!req)
		return NULL;
	INIT_DELAYED_WORK(&req->work, rcm_addr_work);
	INIT_HLIST_NODE(&req->node);
	atomic_set(&req->pending, 0);
	req->done = done;
	req->context = context;
	return req;
}

/* Whether there is still nothing to do but to wait for that neighbour. */
static bool rcm_addr_must_wait(const struct rcm_addr_query *query)
{
	struct rcm_addr_query again = *query;

	return rcm_addr_try(&again) == -ENODATA && again.hash == query->hash;
}

/**
 * rcm_addr_wait - wait for the neighbour, without blocking
 * @req: request with the query for which rcm_addr_try() said -ENODATA; or 0,
 *	which is then said from a workqueue
 * @timeout_ms: how long, milliseconds; 0 for no longer than it takes to look
 *	once more
 *
 * Calls req->done once, from a workqueue, unless rcm_addr_cancel() is first. It
 * may do so before this returns. Before the request is freed or used again,
 * req->done has to wait until this has returned, by a lock that the caller
 * holds, and then to call cancel_delayed_work(): the work may have been queued
 * again while it ran.
 */
void rcm_addr_wait(struct rcm_addr_req *req, unsigned int timeout_ms)
{
	/* Once it is in the table, work may change that of @req. */
	struct rcm_addr_query query = req->query;
	unsigned long timeout = msecs_to_jiffies(min(timeout_ms, INT_MAX / 2U));

	req->deadline = jiffies + timeout;
	atomic_set(&req->pending, 1);
	rcm_addr_enqueue(req);
	/* The neighbour may have answered before that. */
	if (timeout && rcm_addr_must_wait(&query))
		queue_delayed_work(rcm_wq, &req->work,
				   min_t(unsigned long, timeout,
					 RCM_ADDR_RETRY));
	else
		mod_delayed_work(rcm_wq, &req->work, 0);
}

/**
 * rcm_addr_cancel - make sure that a request does not complete any more
 * @req: request, in any stage of its life
 *
 * Waits for a completion that is running, so it must not be called with a lock
 * held that req->done takes. A completion may call it, when it asked again.
 *
 * Context: process; sleeps.
 * Return: true when req->done was not called and will not be.
 */
bool rcm_addr_cancel(struct rcm_addr_req *req)
{
	bool cancelled = atomic_xchg(&req->pending, 0);

	if (cancelled && current_work() == &req->work.work) {
		/* No other thread runs it meanwhile. */
		rcm_addr_dequeue(req);
		cancel_delayed_work(&req->work);
	} else if (cancelled) {
		/* Running, it may enqueue itself; enqueued, it may be queued. */
		cancel_delayed_work_sync(&req->work);
		rcm_addr_dequeue(req);
		cancel_delayed_work_sync(&req->work);
	}
	return cancelled;
}

static int rcm_netevent(struct notifier_block *nb, unsigned long event,
			void *ctx)
{
	struct rcm_wait_bucket *bucket;
	struct neighbour *neigh = ctx;
	struct rcm_addr_req *req;
	u32 hash;

	if (event != NETEVENT_NEIGH_UPDATE)
		return NOTIFY_DONE;
	if (!(READ_ONCE(neigh->nud_state) & NUD_VALID))
		return NOTIFY_DONE;

	hash = rcm_neigh_hash(neigh);
	bucket = rcm_wait_bucket(hash);
	spin_lock_bh(&bucket->lock);
	hlist_for_each_entry(req, &bucket->head, node) {
		if (req->query.hash == hash)
			mod_delayed_work(rcm_wq, &req->work, 0);
	}
	spin_unlock_bh(&bucket->lock);
	return NOTIFY_DONE;
}

static struct notifier_block rcm_netevent_nb = {
	.notifier_call = rcm_netevent,
};

int rcm_addr_init(void)
{
	unsigned int i;

	rcm_wait_seed = get_random_u32();
	for (i = 0; i < ARRAY_SIZE(rcm_waiting); i++)
		spin_lock_init(&rcm_waiting[i].lock);
	return register_netevent_notifier(&rcm_netevent_nb);
}

void rcm_addr_exit(void)
{
	unregister_netevent_notifier(&rcm_netevent_nb);
}
