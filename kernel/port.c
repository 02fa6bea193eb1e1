// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Port spaces: who uses which port.
 *
 * A port exists while it has users.  All that is known about it - the port,
 * its users, and where they are connected to - hangs off one of a few
 * buckets, chosen by the low bits of its number.
 *
 * Locking: the lock of a port's bucket covers the port, all members of its
 * users' struct rcm_binding, and the port's bits in the two bitmaps.  The
 * bitmaps are read without it to find candidates, which are then looked at
 * again under the lock.  A bucket's lock is a leaf: nothing is taken under
 * it, and no two of them are held at once.  None is taken in interrupt
 * context.  Calls for one binding must not overlap; the owner's lock, whatever
 * it is, is taken before the bucket's.
 */
#include <linux/bitmap.h>
#include <linux/errno.h>
#include <linux/in.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "addr.h"
#include "compat.h"
#include "port.h"

#define RCM_PORTS	  65536
#define RCM_PORT_BUCKETS  64
#define RCM_BUCKET_PORTS  32
#define RCM_BUCKET_TUPLES 64

/**
 * struct rcm_port - a port that has users
 * @node: on its bucket's list
 * @users: bindings, the newest first
 * @number: the port, host order
 * @exclusive: how many users keep it from being shared: those that have no
 *	destination and those that listen
 * @vague: how many users have a destination that matches more than itself
 */
struct rcm_port {
	struct hlist_node node;
	struct hlist_head users;
	unsigned int number;
	unsigned int exclusive;
	unsigned int vague;
};

/**
 * struct rcm_port_bucket - the ports whose number has the same low bits
 * @lock: covers the ports, their users and their bits in the bitmaps
 * @ports: ports by number
 * @tuples: their users that have a destination, by port and destination
 */
struct rcm_port_bucket {
	spinlock_t lock; /* of the ports here, their users and their bits */
	struct hlist_head ports[RCM_BUCKET_PORTS];
	struct hlist_head tuples[RCM_BUCKET_TUPLES];
};

/**
 * struct rcm_port_space - ports of one port space in one network namespace
 * @last: ephemeral port handed out last; a hint, not covered by a lock
 * @seed: start value of hashes
 * @in_use: ports that exist
 * @shareable: those that have no exclusive user
 * @buckets: ports, by the low bits of the number
 */
struct rcm_port_space {
	unsigned int last;
	u32 seed;
	DECLARE_BITMAP(in_use, RCM_PORTS);
	DECLARE_BITMAP(shareable, RCM_PORTS);
	struct rcm_port_bucket buckets[RCM_PORT_BUCKETS];
};

static struct rcm_port_bucket *rcm_bucket(struct rcm_port_space *space,
					  unsigned int number)
{
	return &space->buckets[number % RCM_PORT_BUCKETS];
}

static struct hlist_head *rcm_port_head(struct rcm_port_bucket *bucket,
					unsigned int number)
{
	return &bucket->ports[number / RCM_PORT_BUCKETS % RCM_BUCKET_PORTS];
}

static struct hlist_head *rcm_tuple_head(struct rcm_port_space *space,
					 const struct rcm_port *port,
					 const union rcm_addr *dst)
{
	u32 hash = rcm_addr_hash(dst, space->seed + port->number);

	return &rcm_bucket(space, port->number)
			->tuples[hash % RCM_BUCKET_TUPLES];
}

static struct rcm_port *rcm_port_find(struct rcm_port_bucket *bucket,
				      unsigned int number)
{
	struct rcm_port *port;

	lockdep_assert_held(&bucket->lock);

	hlist_for_each_entry(port, rcm_port_head(bucket, number), node)
		if (port->number == number)
			return port;
	return NULL;
}

static bool rcm_family_ok(const union rcm_addr *addr)
{
	return addr->sa.sa_family == AF_INET || addr->sa.sa_family == AF_INET6;
}

/* Does a destination match others than itself? */
static bool rcm_dst_is_vague(const union rcm_addr *dst)
{
	return !rcm_addr_port(dst) || rcm_addr_is_wildcard(dst);
}

static bool rcm_addr_match(const union rcm_addr *a, const union rcm_addr *b)
{
	return rcm_addr_is_wildcard(a) || rcm_addr_is_wildcard(b) ||
	       rcm_addr_equal(a, b);
}

static bool rcm_tuple_match(const struct rcm_binding *user,
			    const union rcm_addr *src,
			    const union rcm_addr *dst)
{
	__be16 a = rcm_addr_port(&user->dst), b = rcm_addr_port(dst);

	return (a == b || !a || !b) && rcm_addr_match(&user->src, src) &&
	       rcm_addr_match(&user->dst, dst);
}

/*
 * May @binding talk to @dst from @port?  Two destinations that match only
 * themselves clash when they are equal, and equal ones are on one hash list;
 * the users are looked at one by one only where it takes less to clash.
 */
static int rcm_port_check_dst(struct rcm_port_space *space,
			      const struct rcm_port *port,
			      const struct rcm_binding *binding,
			      const union rcm_addr *dst)
{
	struct rcm_binding *user;

	if (!dst->sa.sa_family)
		return 0;

	if (port->vague || rcm_dst_is_vague(dst)) {
		hlist_for_each_entry(user, &port->users, node)
			if (user != binding && user->dst.sa.sa_family &&
			    rcm_tuple_match(user, &binding->src, dst))
				return -EADDRNOTAVAIL;
		return 0;
	}

	hlist_for_each_entry(user, rcm_tuple_head(space, port, dst), tuple_node)
		if (user != binding && user->port == port &&
		    rcm_tuple_match(user, &binding->src, dst))
			return -EADDRNOTAVAIL;
	return 0;
}

/*
 * May @binding have its address on @port?  A listener has no reuse, so one
 * rule serves both those who bind and those who want to listen.
 */
static int rcm_port_check_src(const struct rcm_port *port,
			      const struct rcm_binding *binding)
{
	struct rcm_binding *user;

	hlist_for_each_entry(user, &port->users, node) {
		if (user == binding)
			continue;
		if (binding->reuse && user->reuse)
			continue;
		if (binding->v6only && user->v6only &&
		    binding->src.sa.sa_family != user->src.sa.sa_family)
			continue;
		if (rcm_addr_is_wildcard(&binding->src) ||
		    rcm_addr_is_wildcard(&user->src))
			return -EADDRNOTAVAIL;
		if (rcm_addr_equal(&binding->src, &user->src))
			return -EADDRINUSE;
	}
	return 0;
}

static bool rcm_binding_is_exclusive(const struct rcm_binding *binding)
{
	return !binding->dst.sa.sa_family || binding->listening;
}

static void rcm_port_update_shareable(struct rcm_port_space *space,
				      const struct rcm_port *port)
{
	bool shareable = !port->exclusive && !hlist_empty(&port->users);

	if (shareable != test_bit(port->number, space->shareable))
		change_bit(port->number, space->shareable);
}

/* Let the port know what @binding's destination and listening mean for it. */
static void rcm_port_account(struct rcm_port_space *space,
			     struct rcm_binding *binding)
{
	struct rcm_port *port = binding->port;

	if (binding->dst.sa.sa_family) {
		hlist_add_head(&binding->tuple_node,
			       rcm_tuple_head(space, port, &binding->dst));
		port->vague += rcm_dst_is_vague(&binding->dst);
	}
	port->exclusive += rcm_binding_is_exclusive(binding);
	rcm_port_update_shareable(space, port);
}

/* Undo rcm_port_account(), before any of it changes. */
static void rcm_port_unaccount(struct rcm_binding *binding)
{
	struct rcm_port *port = binding->port;

	if (binding->dst.sa.sa_family) {
		hlist_del_init(&binding->tuple_node);
		port->vague -= rcm_dst_is_vague(&binding->dst);
	}
	port->exclusive -= rcm_binding_is_exclusive(binding);
}

static void rcm_port_attach(struct rcm_port_space *space, struct rcm_port *port,
			    struct rcm_binding *binding)
{
	rcm_addr_set_port(&binding->src, htons(port->number));
	binding->port = port;
	hlist_add_head(&binding->node, &port->users);
	rcm_port_account(space, binding);
}

static void rcm_port_publish(struct rcm_port_space *space,
			     struct rcm_port *port, unsigned int number)
{
	port->number = number;
	hlist_add_head(&port->node,
		       rcm_port_head(rcm_bucket(space, number), number));
	set_bit(number, space->in_use);
}

/* Returns false when the port got a user meanwhile. */
static bool rcm_port_take_free(struct rcm_port_space *space,
			       struct rcm_binding *binding,
			       struct rcm_port *new, unsigned int number)
{
	struct rcm_port_bucket *bucket = rcm_bucket(space, number);
	bool free;

	spin_lock(&bucket->lock);
	free = !test_bit(number, space->in_use);
	if (free) {
		rcm_port_publish(space, new, number);
		rcm_port_attach(space, new, binding);
	}
	spin_unlock(&bucket->lock);
	return free;
}

/* Returns false when the port cannot be shared with @binding. */
static bool rcm_port_take_shared(struct rcm_port_space *space,
				 struct rcm_binding *binding,
				 unsigned int number)
{
	struct rcm_port_bucket *bucket = rcm_bucket(space, number);
	struct rcm_port *port = NULL;

	spin_lock(&bucket->lock);
	if (test_bit(number, space->shareable))
		port = rcm_port_find(bucket, number);
	if (port && rcm_port_check_dst(space, port, binding, &binding->dst))
		port = NULL;
	if (port)
		rcm_port_attach(space, port, binding);
	spin_unlock(&bucket->lock);
	return port;
}

/* Takes over @new and returns 0, or returns -EADDRNOTAVAIL. */
static int rcm_port_bind_free(struct rcm_port_space *space,
			      struct rcm_binding *binding, struct rcm_port *new,
			      unsigned int low, unsigned int high)
{
	unsigned int start =
		low + reciprocal_scale(get_random_u32(), high - low + 1);
	unsigned int last = READ_ONCE(space->last);
	unsigned int number;

	number = start;
	for_each_clear_bit_from(number, space->in_use, high + 1)
		if (number != last &&
		    rcm_port_take_free(space, binding, new, number))
			goto found;

	number = low;
	for_each_clear_bit_from(number, space->in_use, start)
		if (number != last &&
		    rcm_port_take_free(space, binding, new, number))
			goto found;

	/* The last one is better than none. */
	number = last;
	if (number >= low && number <= high &&
	    rcm_port_take_free(space, binding, new, number))
		goto found;

	return -EADDRNOTAVAIL;

found:
	WRITE_ONCE(space->last, number);
	return 0;
}

static int rcm_port_bind_shared(struct rcm_port_space *space,
				struct rcm_binding *binding, unsigned int low,
				unsigned int high)
{
	unsigned int start =
		low + reciprocal_scale(get_random_u32(), high - low + 1);
	unsigned int number;

	number = start;
	for_each_set_bit_from(number, space->shareable, high + 1) {
		if (rcm_port_take_shared(space, binding, number))
			goto found;
		cond_resched();
	}

	number = low;
	for_each_set_bit_from(number, space->shareable, start) {
		if (rcm_port_take_shared(space, binding, number))
			goto found;
		cond_resched();
	}

	return -EADDRNOTAVAIL;

found:
	WRITE_ONCE(space->last, number);
	return 0;
}

/* When this returns 0 and the port is new, *@new was taken over. */
static int rcm_port_bind_number(struct rcm_port_space *space,
				struct rcm_binding *binding,
				struct rcm_port **new, unsigned int number)
{
	struct rcm_port_bucket *bucket = rcm_bucket(space, number);
	struct rcm_port *port;
	int ret = 0;

	spin_lock(&bucket->lock);
	port = rcm_port_find(bucket, number);
	if (port) {
		ret = rcm_port_check_src(port, binding);
		if (!ret)
			ret = rcm_port_check_dst(space, port, binding,
						 &binding->dst);
	} else {
		port = *new;
		*new = NULL;
		rcm_port_publish(space, port, number);
	}
	if (!ret)
		rcm_port_attach(space, port, binding);
	spin_unlock(&bucket->lock);
	return ret;
}

/**
 * rcm_port_space_alloc - make an empty port space
 *
 * Context: process; may sleep.  The memory is charged to the caller.
 * Return: the port space, or %NULL when memory is short.
 */
struct rcm_port_space *rcm_port_space_alloc(void)
{
	struct rcm_port_space *space;
	unsigned int i;

	space = kvzalloc(sizeof(*space), GFP_KERNEL_ACCOUNT);
	if (!space)
		return NULL;

	space->seed = get_random_u32();
	for (i = 0; i < RCM_PORT_BUCKETS; i++)
		spin_lock_init(&space->buckets[i].lock);
	return space;
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_port_space_alloc);

/**
 * rcm_port_space_free - free a port space that nobody uses any more
 * @space: what rcm_port_space_alloc() returned, or %NULL
 *
 * Whoever still has a port in it would use freed memory later.  That is a
 * fault of this module, and @space is better leaked then.
 *
 * Context: process; may sleep.
 */
void rcm_port_space_free(struct rcm_port_space *space)
{
	if (space &&
	    WARN_ONCE(!bitmap_empty(space->in_use, RCM_PORTS),
		      "rcm: a port is in use while its port space is freed\n"))
		return;
	kvfree(space);
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_port_space_free);

/**
 * rcm_port_space_in_use - how many ports have users
 * @space: a port space
 *
 * Context: any; takes no lock, so that the number may be of the past.
 * Return: number of ports, 0 to 65535.
 */
unsigned int rcm_port_space_in_use(struct rcm_port_space *space)
{
	return bitmap_weight(space->in_use, RCM_PORTS);
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_port_space_in_use);

/**
 * rcm_port_bind - take a port
 * @space: a port space
 * @binding: zeroed, or released before; the caller set src, dst, reuse and
 *	v6only.  The port in src is the one to take, 0 for an ephemeral one
 * @low: smallest ephemeral port
 * @high: largest ephemeral port
 *
 * An ephemeral port is one that nobody uses or, when there is none and dst is
 * set, one whose users are all connected, all to other destinations or from
 * other addresses.
 *
 * Whether the caller may have a privileged port is for the caller to check.
 * When this fails @binding is as it was.
 *
 * Context: process; may sleep.  Takes a bucket's lock.
 * Return:
 * * 0 - src has the port
 * * -EADDRNOTAVAIL - the port has a user and one of the two addresses is a
 *   wildcard; or another user is connected to dst; or no ephemeral port is left
 * * -EADDRINUSE - the port has a user with the same address
 * * -EAFNOSUPPORT - src, or dst when it is set, is neither IPv4 nor IPv6
 * * -EINVAL - @binding has a port
 * * -ENOMEM - out of memory
 */
int rcm_port_bind(struct rcm_port_space *space, struct rcm_binding *binding,
		  u16 low, u16 high)
{
	struct rcm_port *new;
	unsigned int number;
	int ret;

	if (binding->port)
		return -EINVAL;
	if (!rcm_family_ok(&binding->src) ||
	    (binding->dst.sa.sa_family && !rcm_family_ok(&binding->dst)))
		return -EAFNOSUPPORT;

	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return -ENOMEM;

	number = ntohs(rcm_addr_port(&binding->src));
	if (number) {
		ret = rcm_port_bind_number(space, binding, &new, number);
		goto out;
	}

	ret = -EADDRNOTAVAIL;
	if (!low)
		low = 1;
	if (low > high)
		goto out;
	ret = rcm_port_bind_free(space, binding, new, low, high);
	if (!ret)
		new = NULL;
	else if (binding->dst.sa.sa_family)
		ret = rcm_port_bind_shared(space, binding, low, high);
out:
	kfree(new);
	return ret;
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_port_bind);

/**
 * rcm_port_listen - become the listener
 * @space: a port space
 * @binding: has a port
 *
 * There is one listener for an address and port: whoever else bound it, and
 * could do so because both have reuse set, is refused when it wants to listen
 * too.  reuse is cleared in the same step, so that nobody new can bind it.
 * When this fails @binding is as it was.
 *
 * Context: process; does not sleep.  Takes a bucket's lock.
 * Return:
 * * 0 - @binding is the listener
 * * -EADDRNOTAVAIL - the port has a user that listens or does not have reuse
 *   set, and one of the two addresses is a wildcard
 * * -EADDRINUSE - the port has such a user with the same address
 * * -EINVAL - @binding has no port, or listens
 */
int rcm_port_listen(struct rcm_port_space *space, struct rcm_binding *binding)
{
	struct rcm_port_bucket *bucket;
	int ret;

	if (!binding->port)
		return -EINVAL;

	bucket = rcm_bucket(space, binding->port->number);
	spin_lock(&bucket->lock);
	ret = binding->listening ? -EINVAL :
				   rcm_port_check_src(binding->port, binding);
	if (!ret) {
		rcm_port_unaccount(binding);
		binding->listening = true;
		binding->reuse = false;
		rcm_port_account(space, binding);
	}
	spin_unlock(&bucket->lock);
	return ret;
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_port_listen);

/**
 * rcm_port_unlisten - undo rcm_port_listen()
 * @space: a port space
 * @binding: nothing happens when it does not listen
 * @reuse: what reuse was before
 *
 * Context: process; does not sleep.  Takes a bucket's lock.
 */
void rcm_port_unlisten(struct rcm_port_space *space,
		       struct rcm_binding *binding, bool reuse)
{
	struct rcm_port_bucket *bucket;

	if (!binding->port)
		return;

	bucket = rcm_bucket(space, binding->port->number);
	spin_lock(&bucket->lock);
	if (binding->listening) {
		rcm_port_unaccount(binding);
		binding->listening = false;
		binding->reuse = reuse;
		rcm_port_account(space, binding);
	}
	spin_unlock(&bucket->lock);
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_port_unlisten);

/**
 * rcm_port_connect - set where a binding is connected to
 * @space: a port space
 * @binding: has a port and does not listen
 * @dst: destination, or family 0 for none
 *
 * When this fails @binding is as it was.
 *
 * Context: process; does not sleep.  Takes a bucket's lock.
 * Return:
 * * 0 - dst is set
 * * -EADDRNOTAVAIL - another user of the port is connected to @dst from the
 *   same address
 * * -EAFNOSUPPORT - @dst is of another family than IPv4, IPv6 and 0
 * * -EINVAL - @binding has no port, or listens
 */
int rcm_port_connect(struct rcm_port_space *space, struct rcm_binding *binding,
		     const union rcm_addr *dst)
{
	struct rcm_port_bucket *bucket;
	int ret;

	if (!binding->port)
		return -EINVAL;
	if (dst->sa.sa_family && !rcm_family_ok(dst))
		return -EAFNOSUPPORT;

	bucket = rcm_bucket(space, binding->port->number);
	spin_lock(&bucket->lock);
	ret = binding->listening ?
		      -EINVAL :
		      rcm_port_check_dst(space, binding->port, binding, dst);
	if (!ret) {
		rcm_port_unaccount(binding);
		binding->dst = *dst;
		rcm_port_account(space, binding);
	}
	spin_unlock(&bucket->lock);
	return ret;
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_port_connect);

/**
 * rcm_port_release - give a port back
 * @space: a port space
 * @binding: nothing happens when it has no port
 *
 * The port is free when it had no other user.  @binding has neither port nor
 * destination then and does not listen; src keeps its address.
 *
 * Context: process; does not sleep.  Takes a bucket's lock.
 */
void rcm_port_release(struct rcm_port_space *space, struct rcm_binding *binding)
{
	struct rcm_port *port = binding->port;
	struct rcm_port_bucket *bucket;
	bool unused;

	if (!port)
		return;

	bucket = rcm_bucket(space, port->number);
	spin_lock(&bucket->lock);
	rcm_port_unaccount(binding);
	hlist_del_init(&binding->node);
	binding->port = NULL;
	binding->listening = false;
	memset(&binding->dst, 0, sizeof(binding->dst));
	rcm_addr_set_port(&binding->src, 0);

	rcm_port_update_shareable(space, port);
	unused = hlist_empty(&port->users);
	if (unused) {
		hlist_del(&port->node);
		clear_bit(port->number, space->in_use);
	}
	spin_unlock(&bucket->lock);

	if (unused)
		kfree(port);
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_port_release);

/**
 * rcm_port_number - which port a binding has
 * @binding: a binding
 *
 * Context: any; takes no lock.
 * Return: the port in host order, 0 when it has none.
 */
u16 rcm_port_number(const struct rcm_binding *binding)
{
	return binding->port ? ntohs(rcm_addr_port(&binding->src)) : 0;
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_port_number);
