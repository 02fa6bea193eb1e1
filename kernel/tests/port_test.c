// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Port spaces: each rule by name, all orders of a few users against a model
 * that walks over all of them, and the whole ephemeral range.
 */
#include <kunit/test.h>
#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/in.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../port.h"
#include "tests.h"

#define PORT  7471
#define USERS 12

#define NOTAVAIL (-EADDRNOTAVAIL)
#define INUSE	 (-EADDRINUSE)

enum host {
	NONE,
	ANY4,
	LOOP4,
	A4,
	B4,
	ANY6,
	LOOP6,
	C6,
	LL6_ETH1, /* the same address behind two interfaces */
	LL6_ETH2,
	HOSTS
};

struct fixture {
	struct rcm_port_space *space;
	struct rcm_binding *users;
	unsigned int count;
};

static void set_addr(union rcm_addr *addr, enum host host, u16 port)
{
	memset(addr, 0, sizeof(*addr));
	if (host == NONE)
		return;

	addr->sa.sa_family = host < ANY6 ? AF_INET : AF_INET6;
	rcm_addr_set_port(addr, htons(port));
	switch (host) {
	case LOOP4:
		addr->sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		break;
	case A4:
		addr->sin.sin_addr.s_addr = htonl(0x0a000001);
		break;
	case B4:
		addr->sin.sin_addr.s_addr = htonl(0x0a000002);
		break;
	case LOOP6:
		addr->sin6.sin6_addr.s6_addr[15] = 1;
		break;
	case C6:
		addr->sin6.sin6_addr.s6_addr[0] = 0xfd;
		addr->sin6.sin6_addr.s6_addr[15] = 3;
		break;
	case LL6_ETH1:
	case LL6_ETH2:
		addr->sin6.sin6_addr.s6_addr[0] = 0xfe;
		addr->sin6.sin6_addr.s6_addr[1] = 0x80;
		addr->sin6.sin6_addr.s6_addr[15] = 1;
		addr->sin6.sin6_scope_id = host == LL6_ETH1 ? 1 : 2;
		break;
	default:
		break;
	}
}

/* clang-format off */
#define addr(host, port)					\
	({							\
		union rcm_addr _addr;				\
								\
		set_addr(&_addr, host, port);			\
		_addr;						\
	})
/* clang-format on */

/* User @n of the fixture, not bound, with a source to bind. */
static struct rcm_binding *user(struct kunit *test, unsigned int n,
				enum host host, u16 port)
{
	struct fixture *fix = test->priv;
	struct rcm_binding *user = &fix->users[n];

	KUNIT_ASSERT_LT(test, n, fix->count);
	KUNIT_ASSERT_NULL(test, user->port);
	memset(user, 0, sizeof(*user));
	user->src = addr(host, port);
	user->v6only = user->src.sa.sa_family == AF_INET;
	return user;
}

static struct rcm_binding *reuser(struct kunit *test, unsigned int n,
				  enum host host, u16 port)
{
	struct rcm_binding *binding = user(test, n, host, port);

	binding->reuse = true;
	return binding;
}

static int bind_range(struct kunit *test, struct rcm_binding *binding, u16 low,
		      u16 high)
{
	struct fixture *fix = test->priv;
	struct rcm_binding before = *binding;
	int ret = rcm_port_bind(fix->space, binding, low, high);

	if (ret)
		KUNIT_EXPECT_EQ(test, 0,
				memcmp(&before, binding, sizeof(before)));
	return ret;
}

static int bind(struct kunit *test, struct rcm_binding *binding)
{
	return bind_range(test, binding, 32768, 60999);
}

static int listen(struct kunit *test, struct rcm_binding *binding)
{
	struct fixture *fix = test->priv;

	return rcm_port_listen(fix->space, binding);
}

static int connect(struct kunit *test, struct rcm_binding *binding,
		   enum host host, u16 port)
{
	struct fixture *fix = test->priv;
	union rcm_addr dst = addr(host, port);

	return rcm_port_connect(fix->space, binding, &dst);
}

static void release(struct kunit *test, struct rcm_binding *binding)
{
	struct fixture *fix = test->priv;

	rcm_port_release(fix->space, binding);
}

static unsigned int in_use(struct kunit *test)
{
	struct fixture *fix = test->priv;

	return rcm_port_space_in_use(fix->space);
}

static void release_all(struct kunit *test)
{
	struct fixture *fix = test->priv;
	unsigned int i;

	for (i = 0; i < fix->count; i++)
		release(test, &fix->users[i]);
	KUNIT_EXPECT_EQ(test, in_use(test), 0U);
}

static int alloc_users(struct kunit *test, unsigned int count)
{
	struct fixture *fix = test->priv;

	kvfree(fix->users);
	fix->users = kvcalloc(count, sizeof(*fix->users), GFP_KERNEL);
	fix->count = fix->users ? count : 0;
	return fix->users ? 0 : -ENOMEM;
}

static int port_init(struct kunit *test)
{
	struct fixture *fix = kunit_kzalloc(test, sizeof(*fix), GFP_KERNEL);

	if (!fix)
		return -ENOMEM;
	test->priv = fix;
	fix->space = rcm_port_space_alloc();
	if (!fix->space)
		return -ENOMEM;
	return alloc_users(test, USERS);
}

static void port_exit(struct kunit *test)
{
	struct fixture *fix = test->priv;

	if (!fix)
		return;
	if (fix->space)
		release_all(test);
	rcm_port_space_free(fix->space);
	kvfree(fix->users);
}

static void port_unbound(struct kunit *test)
{
	struct rcm_binding *a = user(test, 0, A4, PORT);
	struct fixture *fix = test->priv;

	KUNIT_EXPECT_EQ(test, 0, (int)rcm_port_number(a));
	KUNIT_EXPECT_EQ(test, -EINVAL, listen(test, a));
	KUNIT_EXPECT_EQ(test, -EINVAL, connect(test, a, B4, 1));
	rcm_port_unlisten(fix->space, a, true);
	release(test, a);
	release(test, a);
	KUNIT_EXPECT_FALSE(test, a->reuse);
	KUNIT_EXPECT_EQ(test, 0U, in_use(test));
}

static void port_families(struct kunit *test)
{
	struct rcm_binding *a = user(test, 0, NONE, 0);

	KUNIT_EXPECT_EQ(test, -EAFNOSUPPORT, bind(test, a));
	a->src.sa.sa_family = AF_UNIX;
	KUNIT_EXPECT_EQ(test, -EAFNOSUPPORT, bind(test, a));
	a = user(test, 0, A4, 0);
	a->dst.sa.sa_family = AF_UNIX;
	KUNIT_EXPECT_EQ(test, -EAFNOSUPPORT, bind(test, a));
	KUNIT_EXPECT_EQ(test, 0U, in_use(test));
}

static void port_explicit(struct kunit *test)
{
	static const u16 ports[] = { 1, 80, 1024, PORT, 32768, 65535 };
	int i;

	for (i = 0; i < ARRAY_SIZE(ports); i++) {
		struct rcm_binding *a = user(test, i, A4, ports[i]);

		KUNIT_EXPECT_EQ(test, 0, bind(test, a));
		KUNIT_EXPECT_EQ(test, (int)ports[i], (int)rcm_port_number(a));
		KUNIT_EXPECT_EQ(test, i + 1U, in_use(test));
		KUNIT_EXPECT_EQ(test, -EINVAL, bind(test, a));
	}
	for (i = 0; i < ARRAY_SIZE(ports); i++) {
		struct fixture *fix = test->priv;

		release(test, &fix->users[i]);
		KUNIT_EXPECT_EQ(test, 0, (int)rcm_port_number(&fix->users[i]));
		KUNIT_EXPECT_EQ(test, (unsigned int)ARRAY_SIZE(ports) - i - 1,
				in_use(test));
		release(test, &fix->users[i]);
	}
}

/* Case C01: which errno, for all pairs of addresses. */
static void port_conflict_errno(struct kunit *test)
{
	static const struct {
		enum host first;
		enum host second;
		int ret;
	} pairs[] = {
		{ ANY4, ANY4, NOTAVAIL },
		{ ANY4, A4, NOTAVAIL },
		{ A4, ANY4, NOTAVAIL },
		{ A4, A4, INUSE },
		{ A4, B4, 0 },
		{ LOOP4, LOOP4, NOTAVAIL },
		{ LOOP4, A4, NOTAVAIL },
		{ A4, LOOP4, NOTAVAIL },
		{ ANY6, ANY6, NOTAVAIL },
		{ ANY6, C6, NOTAVAIL },
		{ C6, C6, INUSE },
		{ LOOP6, LOOP6, NOTAVAIL },
		{ C6, LOOP6, NOTAVAIL },
		{ LL6_ETH1, LL6_ETH1, INUSE },
		{ LL6_ETH1, LL6_ETH2, 0 },
		{ LL6_ETH1, C6, 0 },
		/* An IPv6 socket that is not only IPv6 takes IPv4's ports. */
		{ ANY6, ANY4, NOTAVAIL },
		{ ANY4, ANY6, NOTAVAIL },
		{ ANY6, A4, NOTAVAIL },
		{ A4, ANY6, NOTAVAIL },
		{ A4, C6, 0 },
		{ C6, A4, 0 },
		{ C6, ANY4, NOTAVAIL },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct rcm_binding *a = user(test, 0, pairs[i].first, PORT);
		struct rcm_binding *b = user(test, 1, pairs[i].second, PORT);

		KUNIT_EXPECT_EQ(test, 0, bind(test, a));
		KUNIT_EXPECT_EQ_MSG(test, pairs[i].ret, bind(test, b),
				    "pair %d", i);
		/* Once it is released it is free. */
		release(test, a);
		release(test, b);
		KUNIT_EXPECT_EQ(test, 0U, in_use(test));
		b = user(test, 1, pairs[i].second, PORT);
		KUNIT_EXPECT_EQ(test, 0, bind(test, b));
		release(test, b);
	}
}

/* Case C06: with v6only on both sides the families do not meet. */
static void port_v6only(struct kunit *test)
{
	struct rcm_binding *six = user(test, 0, ANY6, PORT);
	struct rcm_binding *four = user(test, 1, ANY4, PORT);
	struct rcm_binding *other = user(test, 2, ANY6, PORT);

	six->v6only = true;
	KUNIT_EXPECT_EQ(test, 0, bind(test, six));
	KUNIT_EXPECT_EQ(test, 0, listen(test, six));
	KUNIT_EXPECT_EQ(test, 0, bind(test, four));
	KUNIT_EXPECT_EQ(test, 0, listen(test, four));
	KUNIT_EXPECT_EQ(test, 1U, in_use(test));

	other->v6only = true;
	KUNIT_EXPECT_EQ(test, NOTAVAIL, bind(test, other));
	release(test, six);
	KUNIT_EXPECT_EQ(test, 1U, in_use(test));
	other->v6only = false;
	KUNIT_EXPECT_EQ(test, NOTAVAIL, bind(test, other));
	other->v6only = true;
	KUNIT_EXPECT_EQ(test, 0, bind(test, other));
}

static void port_reuse_needs_both(struct kunit *test)
{
	struct rcm_binding *a = reuser(test, 0, A4, PORT);
	struct rcm_binding *b = reuser(test, 1, A4, PORT);
	struct rcm_binding *c = user(test, 2, A4, PORT);
	struct rcm_binding *d = user(test, 3, ANY4, PORT);

	KUNIT_EXPECT_EQ(test, 0, bind(test, a));
	KUNIT_EXPECT_EQ(test, 0, bind(test, b));
	KUNIT_EXPECT_EQ(test, INUSE, bind(test, c));
	KUNIT_EXPECT_EQ(test, NOTAVAIL, bind(test, d));
	KUNIT_EXPECT_EQ(test, 1U, in_use(test));

	release(test, a);
	release(test, b);
	KUNIT_EXPECT_EQ(test, 0, bind(test, c));
	a = reuser(test, 0, A4, PORT);
	KUNIT_EXPECT_EQ(test, INUSE, bind(test, a));
}

/* Case C04: those who share a bound port get one listener. */
static void port_one_listener(struct kunit *test)
{
	struct rcm_binding *a = reuser(test, 0, ANY4, PORT);
	struct rcm_binding *b = reuser(test, 1, ANY4, PORT);
	struct rcm_binding *c = reuser(test, 2, ANY4, PORT);
	struct fixture *fix = test->priv;

	KUNIT_EXPECT_EQ(test, 0, bind(test, a));
	KUNIT_EXPECT_EQ(test, 0, bind(test, b));
	KUNIT_EXPECT_EQ(test, 0, listen(test, a));
	KUNIT_EXPECT_TRUE(test, a->listening);
	KUNIT_EXPECT_FALSE(test, a->reuse);
	KUNIT_EXPECT_EQ(test, -EINVAL, listen(test, a));

	KUNIT_EXPECT_EQ(test, NOTAVAIL, listen(test, b));
	KUNIT_EXPECT_FALSE(test, b->listening);
	KUNIT_EXPECT_TRUE(test, b->reuse);

	/* Nobody joins a listener. */
	KUNIT_EXPECT_EQ(test, NOTAVAIL, bind(test, c));

	/* It failed further down: as before. */
	rcm_port_unlisten(fix->space, a, true);
	KUNIT_EXPECT_FALSE(test, a->listening);
	KUNIT_EXPECT_TRUE(test, a->reuse);
	KUNIT_EXPECT_EQ(test, 0, bind(test, c));
	KUNIT_EXPECT_EQ(test, 0, listen(test, b));
	KUNIT_EXPECT_EQ(test, NOTAVAIL, listen(test, a));

	release(test, b);
	KUNIT_EXPECT_FALSE(test, b->listening);
	KUNIT_EXPECT_EQ(test, 0, listen(test, a));
}

static void port_listen_errno(struct kunit *test)
{
	struct rcm_binding *a = reuser(test, 0, A4, PORT);
	struct rcm_binding *b = reuser(test, 1, A4, PORT);
	struct rcm_binding *c = reuser(test, 2, B4, PORT);
	struct fixture *fix = test->priv;

	KUNIT_EXPECT_EQ(test, 0, bind(test, a));
	KUNIT_EXPECT_EQ(test, 0, bind(test, b));
	KUNIT_EXPECT_EQ(test, 0, bind(test, c));
	KUNIT_EXPECT_EQ(test, 0, listen(test, a));
	KUNIT_EXPECT_EQ(test, INUSE, listen(test, b));
	KUNIT_EXPECT_EQ(test, 0, listen(test, c));

	/* Nothing happens to what does not listen. */
	rcm_port_unlisten(fix->space, b, false);
	KUNIT_EXPECT_TRUE(test, b->reuse);
}

static void port_listener_does_not_connect(struct kunit *test)
{
	struct rcm_binding *a = user(test, 0, A4, PORT);

	KUNIT_EXPECT_EQ(test, 0, bind(test, a));
	KUNIT_EXPECT_EQ(test, 0, listen(test, a));
	KUNIT_EXPECT_EQ(test, -EINVAL, connect(test, a, B4, 1));
	KUNIT_EXPECT_EQ(test, 0, (int)a->dst.sa.sa_family);
}

/* Case C12: one source port, several destinations. */
static void port_reuse_to_other_destinations(struct kunit *test)
{
	struct rcm_binding *a = reuser(test, 0, A4, 900);
	struct rcm_binding *b = reuser(test, 1, A4, 900);
	struct rcm_binding *c = reuser(test, 2, A4, 900);
	union rcm_addr dst1 = addr(B4, 1), dst2 = addr(B4, 2);

	KUNIT_EXPECT_EQ(test, 0, bind(test, a));
	KUNIT_EXPECT_EQ(test, 0, connect(test, a, B4, 1));
	KUNIT_EXPECT_EQ(test, 0, bind(test, b));
	KUNIT_EXPECT_EQ(test, NOTAVAIL, connect(test, b, B4, 1));
	KUNIT_EXPECT_EQ(test, 0, (int)b->dst.sa.sa_family);
	KUNIT_EXPECT_EQ(test, 0, connect(test, b, B4, 2));

	/* The old destination stays when the new one is refused. */
	KUNIT_EXPECT_EQ(test, NOTAVAIL, connect(test, b, B4, 1));
	KUNIT_EXPECT_EQ(test, 0, memcmp(&b->dst, &dst2, sizeof(dst2)));
	KUNIT_EXPECT_EQ(test, 0, connect(test, b, B4, 2));

	/* Bound and connected in one step. */
	c->dst = dst1;
	KUNIT_EXPECT_EQ(test, NOTAVAIL, bind(test, c));
	c->dst = dst2;
	KUNIT_EXPECT_EQ(test, NOTAVAIL, bind(test, c));
	c->dst = addr(C6, 1);
	KUNIT_EXPECT_EQ(test, 0, bind(test, c));

	/* Gone: to be had again. */
	KUNIT_EXPECT_EQ(test, 0, connect(test, a, NONE, 0));
	KUNIT_EXPECT_EQ(test, 0, (int)a->dst.sa.sa_family);
	KUNIT_EXPECT_EQ(test, 0, connect(test, b, B4, 1));
	release(test, b);
	KUNIT_EXPECT_EQ(test, 0, (int)b->dst.sa.sa_family);
	KUNIT_EXPECT_EQ(test, 0, connect(test, a, B4, 1));
}

/* What it takes for two users of one port to be in each other's way. */
static void port_tuples(struct kunit *test)
{
	static const struct {
		enum host src1, dst1;
		u16 port1;
		enum host src2, dst2;
		u16 port2;
		int ret;
	} pairs[] = {
		{ A4, B4, 1, A4, B4, 1, NOTAVAIL },
		{ A4, B4, 1, A4, B4, 2, 0 },
		{ A4, B4, 1, B4, B4, 1, 0 },
		{ A4, B4, 1, A4, A4, 1, 0 },
		{ A4, B4, 1, A4, C6, 1, 0 },
		{ ANY4, B4, 1, ANY4, B4, 1, NOTAVAIL },
		{ ANY4, B4, 1, A4, B4, 1, NOTAVAIL },
		{ A4, B4, 1, ANY4, B4, 1, NOTAVAIL },
		{ ANY4, B4, 1, A4, B4, 2, 0 },
		{ ANY4, B4, 1, A4, A4, 1, 0 },
		/* Loopback destinations count as wildcards, as sources do. */
		{ A4, LOOP4, 1, A4, B4, 1, NOTAVAIL },
		{ A4, B4, 1, A4, LOOP4, 1, NOTAVAIL },
		{ A4, LOOP4, 1, A4, B4, 2, 0 },
		{ A4, LOOP4, 1, B4, LOOP4, 1, 0 },
		/* A destination without port is any port. */
		{ A4, B4, 0, A4, B4, 1, NOTAVAIL },
		{ A4, B4, 1, A4, B4, 0, NOTAVAIL },
		{ A4, B4, 0, A4, A4, 1, 0 },
		{ A4, B4, 1, A4, A4, 0, 0 },
		{ ANY6, C6, 1, ANY6, C6, 1, NOTAVAIL },
		{ C6, LL6_ETH1, 1, C6, LL6_ETH1, 1, NOTAVAIL },
		{ C6, LL6_ETH1, 1, C6, LL6_ETH2, 1, 0 },
		{ ANY6, C6, 1, ANY4, B4, 1, 0 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct rcm_binding *a = reuser(test, 0, pairs[i].src1, PORT);
		struct rcm_binding *b = reuser(test, 1, pairs[i].src2, PORT);
		struct rcm_binding *c = reuser(test, 2, pairs[i].src2, PORT);

		KUNIT_EXPECT_EQ(test, 0, bind(test, a));
		KUNIT_EXPECT_EQ(test, 0,
				connect(test, a, pairs[i].dst1,
					pairs[i].port1));
		KUNIT_EXPECT_EQ(test, 0, bind(test, b));
		KUNIT_EXPECT_EQ_MSG(test, pairs[i].ret,
				    connect(test, b, pairs[i].dst2,
					    pairs[i].port2),
				    "pair %d", i);
		release(test, b);
		c->dst = addr(pairs[i].dst2, pairs[i].port2);
		KUNIT_EXPECT_EQ_MSG(test, pairs[i].ret, bind(test, c),
				    "pair %d", i);
		release(test, c);
		release(test, a);
	}
}

static void port_ephemeral_range(struct kunit *test)
{
	/* clang-format off */
	static const struct {
		u16 low, high;
		int ports;
	} ranges[] = {
		{ 50000, 50003, 4 },
		{ 50000, 50000, 1 },
		{ 1, 4, 4 },
		{ 0, 4, 4 },		/* there is no port 0 */
		{ 65533, 65535, 3 },
		{ 65535, 65535, 1 },
		{ 0, 0, 0 },
		{ 50001, 50000, 0 },
		{ 60000, 50000, 0 },
		{ 63, 65, 3 },
	};

	/* clang-format on */
	int i, n;

	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		for (n = 0; n <= ranges[i].ports; n++) {
			struct rcm_binding *a = user(test, n, A4, 0);
			int ret = bind_range(test, a, ranges[i].low,
					     ranges[i].high);

			KUNIT_EXPECT_EQ_MSG(test, ret,
					    n < ranges[i].ports ? 0 : NOTAVAIL,
					    "range %d port %d", i, n);
			if (ret)
				continue;
			KUNIT_EXPECT_GE(test, rcm_port_number(a),
					ranges[i].low);
			KUNIT_EXPECT_LE(test, rcm_port_number(a),
					ranges[i].high);
			KUNIT_EXPECT_NE(test, 0, (int)rcm_port_number(a));
		}
		KUNIT_EXPECT_EQ(test, in_use(test),
				(unsigned int)ranges[i].ports);
		release_all(test);
	}
}

/* Nothing but a wholly free port is good for somebody without destination. */
static void port_ephemeral_is_exclusive(struct kunit *test)
{
	struct rcm_binding *a = user(test, 0, A4, 50000);
	struct rcm_binding *b = user(test, 1, B4, 0);

	KUNIT_EXPECT_EQ(test, 0, bind(test, a));
	KUNIT_EXPECT_EQ(test, NOTAVAIL, bind_range(test, b, 50000, 50000));
	KUNIT_EXPECT_EQ(test, 0, connect(test, a, B4, 1));
	KUNIT_EXPECT_EQ(test, NOTAVAIL, bind_range(test, b, 50000, 50000));
	b->reuse = true;
	a->reuse = true;
	KUNIT_EXPECT_EQ(test, NOTAVAIL, bind_range(test, b, 50000, 50000));
}

/* Who has no destination, or listens, does not share an ephemeral port. */
static void port_shared_only_by_connected(struct kunit *test)
{
	struct rcm_binding *a = user(test, 0, A4, 50000);
	struct rcm_binding *b = user(test, 1, A4, 0);
	struct rcm_binding *c = user(test, 2, A4, 0);
	struct rcm_binding *d = user(test, 3, A4, 50000);
	struct fixture *fix = test->priv;

	b->dst = addr(B4, 2);
	c->dst = addr(B4, 3);

	KUNIT_EXPECT_EQ(test, 0, bind(test, a));
	KUNIT_EXPECT_EQ(test, NOTAVAIL, bind_range(test, b, 50000, 50000));
	KUNIT_EXPECT_EQ(test, 0, listen(test, a));
	KUNIT_EXPECT_EQ(test, NOTAVAIL, bind_range(test, b, 50000, 50000));
	rcm_port_unlisten(fix->space, a, false);
	KUNIT_EXPECT_EQ(test, 0, connect(test, a, B4, 1));
	KUNIT_EXPECT_EQ(test, 0, bind_range(test, b, 50000, 50000));
	KUNIT_EXPECT_EQ(test, 50000, (int)rcm_port_number(b));
	KUNIT_EXPECT_EQ(test, 1U, in_use(test));

	/* One without destination is enough ... */
	KUNIT_EXPECT_EQ(test, 0, connect(test, a, NONE, 0));
	KUNIT_EXPECT_EQ(test, NOTAVAIL, bind_range(test, c, 50000, 50000));
	/* ... and it cannot listen either. */
	KUNIT_EXPECT_EQ(test, INUSE, listen(test, a));
	KUNIT_EXPECT_EQ(test, INUSE, bind(test, d));

	release(test, a);
	KUNIT_EXPECT_EQ(test, 0, bind_range(test, c, 50000, 50000));
	release(test, b);
	release(test, c);
	KUNIT_EXPECT_EQ(test, 0U, in_use(test));
	KUNIT_EXPECT_EQ(test, 0, bind(test, d));
}

/* Case C03: twelve destinations from four ports, one from no more than four. */
static void port_range_shared_by_destinations(struct kunit *test)
{
	static const enum host hosts[] = { A4, ANY4 };
	struct rcm_binding *a;
	int i, n;

	for (i = 0; i < ARRAY_SIZE(hosts); i++) {
		for (n = 0; n < 12; n++) {
			a = user(test, n, hosts[i], 0);
			a->dst = addr(B4, 100 + n);
			KUNIT_EXPECT_EQ_MSG(test, 0,
					    bind_range(test, a, 50000, 50003),
					    "destination %d", n);
		}
		KUNIT_EXPECT_EQ(test, 4U, in_use(test));
		release_all(test);

		for (n = 0; n < 5; n++) {
			a = user(test, n, hosts[i], 0);
			a->dst = addr(B4, 100);
			KUNIT_EXPECT_EQ_MSG(test, n < 4 ? 0 : NOTAVAIL,
					    bind_range(test, a, 50000, 50003),
					    "user %d", n);
		}
		release_all(test);

		/* The same on top of ports that others use. */
		for (n = 0; n < 4; n++) {
			a = user(test, n, hosts[i], 0);
			a->dst = addr(B4, 200 + n);
			KUNIT_EXPECT_EQ(test, 0,
					bind_range(test, a, 50000, 50003));
		}
		for (n = 4; n < 9; n++) {
			a = user(test, n, hosts[i], 0);
			a->dst = addr(B4, 100);
			KUNIT_EXPECT_EQ_MSG(test, n < 8 ? 0 : NOTAVAIL,
					    bind_range(test, a, 50000, 50003),
					    "user %d", n);
		}
		KUNIT_EXPECT_EQ(test, 4U, in_use(test));
		release_all(test);
	}
}

static void port_last_one_is_not_next(struct kunit *test)
{
	struct rcm_binding *a;
	int i, last = 0;

	for (i = 0; i < 100; i++) {
		a = user(test, 0, A4, 0);
		KUNIT_ASSERT_EQ(test, 0, bind_range(test, a, 50000, 50001));
		KUNIT_EXPECT_NE(test, last, (int)rcm_port_number(a));
		last = rcm_port_number(a);
		release(test, a);
	}
	/* It is better than none. */
	for (i = 0; i < 3; i++) {
		a = user(test, 0, A4, 0);
		KUNIT_EXPECT_EQ(test, 0, bind_range(test, a, 50002, 50002));
		release(test, a);
	}
}

/* Case C10: what fails takes nothing. */
static void port_failure_leaks_nothing(struct kunit *test)
{
	struct rcm_binding *a = user(test, 0, A4, PORT);
	struct rcm_binding *b = user(test, 1, A4, PORT);
	struct rcm_binding *c = user(test, 2, A4, 0);
	int i;

	KUNIT_EXPECT_EQ(test, 0, bind_range(test, a, 50000, 50000));
	for (i = 0; i < 100; i++) {
		KUNIT_EXPECT_EQ(test, INUSE, bind(test, b));
		KUNIT_EXPECT_EQ(test, NOTAVAIL,
				bind_range(test, c, PORT, PORT));
	}
	KUNIT_EXPECT_EQ(test, 1U, in_use(test));
}

#define LOW  32768
#define HIGH 60999
#define ALL  (HIGH - LOW + 1)

/* Every port of the default range can be had, once, and comes back. */
static void port_whole_range(struct kunit *test)
{
	struct fixture *fix = test->priv;
	struct rcm_binding *a;
	unsigned long *seen;
	int i;

	KUNIT_ASSERT_EQ(test, 28232, ALL);
	KUNIT_ASSERT_EQ(test, 0, alloc_users(test, ALL + 1));
	seen = kunit_kzalloc(test, BITS_TO_LONGS(65536) * sizeof(long),
			     GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seen);

	for (i = 0; i < ALL; i++) {
		a = user(test, i, A4, 0);
		if (rcm_port_bind(fix->space, a, LOW, HIGH) ||
		    __test_and_set_bit(rcm_port_number(a), seen))
			break;
	}
	KUNIT_ASSERT_EQ(test, ALL, i);
	KUNIT_EXPECT_EQ(test, ALL, (int)in_use(test));
	KUNIT_EXPECT_EQ(test, ALL, (int)bitmap_weight(seen, 65536));
	KUNIT_EXPECT_EQ(test, (unsigned long)LOW, find_first_bit(seen, 65536));

	a = user(test, ALL, A4, 0);
	KUNIT_EXPECT_EQ(test, NOTAVAIL, bind_range(test, a, LOW, HIGH));

	/* The one that comes back is the one that is found. */
	for (i = 0; i < 100; i++) {
		u16 number = rcm_port_number(&fix->users[i * 7]);

		release(test, &fix->users[i * 7]);
		a = user(test, i * 7, B4, 0);
		KUNIT_ASSERT_EQ(test, 0, bind_range(test, a, LOW, HIGH));
		KUNIT_EXPECT_EQ(test, (int)number, (int)rcm_port_number(a));
	}

	/* All come back, and one can be had by its number. */
	release_all(test);
	for (i = LOW; i <= HIGH; i += 97) {
		a = user(test, 0, ANY4, i);
		KUNIT_ASSERT_EQ(test, 0, bind(test, a));
		release(test, a);
	}
}

/* A range that is full for one destination is not for another. */
static void port_full_range_is_shared(struct kunit *test)
{
	struct rcm_binding *a;
	int i;

	KUNIT_ASSERT_EQ(test, 0, alloc_users(test, 2003));
	for (i = 0; i < 1000; i++) {
		a = user(test, i, ANY4, 0);
		a->dst = addr(B4, 1);
		KUNIT_ASSERT_EQ(test, 0, bind_range(test, a, 40001, 41000));
	}
	a = user(test, i, ANY4, 0);
	a->dst = addr(B4, 1);
	KUNIT_EXPECT_EQ(test, NOTAVAIL, bind_range(test, a, 40001, 41000));

	for (; i < 2000; i++) {
		a = user(test, i, ANY4, 0);
		a->dst = addr(B4, 2);
		KUNIT_ASSERT_EQ(test, 0, bind_range(test, a, 40001, 41000));
	}
	a = user(test, i, ANY4, 0);
	a->dst = addr(B4, 2);
	KUNIT_EXPECT_EQ(test, NOTAVAIL, bind_range(test, a, 40001, 41000));
	a->dst = addr(A4, 1);
	KUNIT_EXPECT_EQ(test, 0, bind_range(test, a, 40001, 41000));
	a = user(test, i + 1, ANY4, 0);
	KUNIT_EXPECT_EQ(test, NOTAVAIL, bind_range(test, a, 40001, 41000));
	KUNIT_EXPECT_EQ(test, 1000U, in_use(test));
	release_all(test);
}

/*
 * The model: a list of users in the order in which they came, and the rules
 * asked of each of them.  It knows addresses as numbers of a table.
 */
/* clang-format off */
static const struct {
	bool six;
	bool wild;
} hosts[HOSTS] = {
	[ANY4] = { false, true },
	[LOOP4] = { false, true },
	[A4] = { false, false },
	[B4] = { false, false },
	[ANY6] = { true, true },
	[LOOP6] = { true, true },
	[C6] = { true, false },
	[LL6_ETH1] = { true, false },
	[LL6_ETH2] = { true, false },
};

/* clang-format on */

struct model_user {
	enum host src, dst;
	u16 port, dst_port;
	bool reuse, v6only, listening;
};

struct model {
	struct model_user *users[USERS];
	int count;
};

static int model_check_src(struct model *model, struct model_user *me, u16 port)
{
	int i;

	for (i = model->count - 1; i >= 0; i--) {
		struct model_user *it = model->users[i];

		if (it == me || it->port != port || (me->reuse && it->reuse) ||
		    (me->v6only && it->v6only &&
		     hosts[me->src].six != hosts[it->src].six))
			continue;
		if (hosts[me->src].wild || hosts[it->src].wild)
			return NOTAVAIL;
		if (me->src == it->src)
			return INUSE;
	}
	return 0;
}

static bool model_meet(enum host a, enum host b)
{
	return a == b || hosts[a].wild || hosts[b].wild;
}

static int model_check_dst(struct model *model, struct model_user *me, u16 port,
			   enum host dst, u16 dst_port)
{
	int i;

	for (i = 0; dst && i < model->count; i++) {
		struct model_user *it = model->users[i];

		if (it != me && it->port == port && it->dst &&
		    (it->dst_port == dst_port || !it->dst_port || !dst_port) &&
		    model_meet(it->src, me->src) && model_meet(it->dst, dst))
			return NOTAVAIL;
	}
	return 0;
}

static void model_add(struct model *model, struct model_user *me, u16 port)
{
	me->port = port;
	model->users[model->count++] = me;
}

static int model_bind(struct model *model, struct model_user *me, u16 port)
{
	int ret;

	ret = model_check_src(model, me, port);
	if (!ret)
		ret = model_check_dst(model, me, port, me->dst, me->dst_port);
	if (!ret)
		model_add(model, me, port);
	return ret;
}

static int model_listen(struct model *model, struct model_user *me)
{
	int ret = !me->port || me->listening ?
			  -EINVAL :
			  model_check_src(model, me, me->port);

	if (!ret) {
		me->listening = true;
		me->reuse = false;
	}
	return ret;
}

static int model_connect(struct model *model, struct model_user *me,
			 enum host dst, u16 dst_port)
{
	int ret = !me->port || me->listening ?
			  -EINVAL :
			  model_check_dst(model, me, me->port, dst, dst_port);

	if (!ret) {
		me->dst = dst;
		me->dst_port = dst_port;
	}
	return ret;
}

static void model_release(struct model *model, struct model_user *me)
{
	int i, kept = 0;

	for (i = 0; i < model->count; i++)
		if (model->users[i] != me)
			model->users[kept++] = model->users[i];
	model->count = kept;
	me->port = 0;
	me->dst = NONE;
	me->listening = false;
}

static unsigned int model_in_use(struct model *model)
{
	unsigned int ports = 0;
	int i, j;

	for (i = 0; i < model->count; i++) {
		for (j = 0; j < i; j++)
			if (model->users[j]->port == model->users[i]->port)
				break;
		ports += j == i;
	}
	return ports;
}

/* May @me, with a destination or without, be given the ephemeral @port? */
enum ephemeral {
	FREE,
	SHAREABLE,
	TAKEN
};

static enum ephemeral model_ephemeral(struct model *model,
				      struct model_user *me, u16 port)
{
	enum ephemeral ret = FREE;
	int i;

	for (i = 0; i < model->count; i++) {
		struct model_user *it = model->users[i];

		if (it->port != port)
			continue;
		ret = SHAREABLE;
		if (!me->dst || !it->dst || it->listening)
			return TAKEN;
	}
	if (model_check_dst(model, me, port, me->dst, me->dst_port))
		return TAKEN;
	return ret;
}

/* Is @binding what the model thinks it is? */
static bool same(const struct rcm_binding *binding, const struct model_user *me)
{
	union rcm_addr src = addr(me->src, me->port);
	union rcm_addr dst = addr(me->dst, me->dst_port);

	return !memcmp(&binding->src, &src, sizeof(src)) &&
	       !memcmp(&binding->dst, &dst, sizeof(dst)) &&
	       binding->reuse == me->reuse &&
	       binding->listening == me->listening &&
	       rcm_port_number(binding) == me->port &&
	       !binding->port == !me->port;
}

static void both_init(struct rcm_binding *binding, struct model_user *me,
		      enum host src, bool v6only, bool reuse)
{
	memset(binding, 0, sizeof(*binding));
	memset(me, 0, sizeof(*me));
	binding->src = addr(src, 0);
	me->src = src;
	me->v6only = v6only || !hosts[src].six;
	binding->v6only = me->v6only;
	me->reuse = reuse;
	binding->reuse = reuse;
}

/* What one of the users of an order can be, each with reuse and without. */
/* clang-format off */
static const struct {
	enum host src;
	bool v6only;
} ways[] = {
	{ ANY4 }, { A4 }, { ANY6 }, { C6, true }, { ANY6, true }, { B4 }, { C6 },
};

/* clang-format on */

#define MAX_USERS 3
#define MAX_STEPS 6

/**
 * struct orders - some users, and one order after the other of their steps
 * @users: how many users
 * @steps: how many steps each of them does
 * @left: how many each has still to do
 * @way: what each of them is
 * @order: whose turn it is
 * @count: orders done
 */
struct orders {
	unsigned int users, steps;
	unsigned int left[MAX_USERS];
	unsigned int way[MAX_USERS];
	u8 order[MAX_STEPS];
	long count;
};

static void both_way(struct rcm_binding *binding, struct model_user *me,
		     unsigned int way)
{
	both_init(binding, me, ways[way / 4].src, ways[way / 4].v6only,
		  way & 1);
}

static bool way_listens(unsigned int way)
{
	return way & 2;
}

/* Next step of a user: bind, listen or connect, release. */
static int run_step(struct fixture *fix, struct model *model,
		    struct rcm_binding *binding, struct model_user *me,
		    bool listens, int step, int *want)
{
	union rcm_addr dst;
	int ret;

	switch (step) {
	case 0:
		rcm_addr_set_port(&binding->src, htons(PORT));
		ret = rcm_port_bind(fix->space, binding, 1, 1);
		*want = model_bind(model, me, PORT);
		if (ret)
			rcm_addr_set_port(&binding->src, 0);
		return ret;
	case 1:
		if (listens) {
			*want = model_listen(model, me);
			return rcm_port_listen(fix->space, binding);
		}
		set_addr(&dst, B4, 1);
		*want = model_connect(model, me, B4, 1);
		return rcm_port_connect(fix->space, binding, &dst);
	default:
		rcm_port_release(fix->space, binding);
		model_release(model, me);
		*want = 0;
		return 0;
	}
}

static bool run_order(struct kunit *test, struct orders *orders)
{
	struct model_user me[MAX_USERS];
	struct fixture *fix = test->priv;
	unsigned int step[MAX_USERS] = {};
	struct model model = {};
	bool ok = true;
	int i, n, ret, want;

	for (i = 0; i < orders->users; i++)
		both_way(&fix->users[i], &me[i], orders->way[i]);

	for (n = 0; ok && n < orders->users * orders->steps; n++) {
		i = orders->order[n];
		ret = run_step(fix, &model, &fix->users[i], &me[i],
			       way_listens(orders->way[i]), step[i]++, &want);
		ok = ret == want && same(&fix->users[i], &me[i]);
		if (!ok)
			KUNIT_FAIL(
				test,
				"users %u %u %u, step %d of %*ph: %d, not %d\n",
				orders->way[0], orders->way[1], orders->way[2],
				n, n + 1, orders->order, ret, want);
	}

	for (i = 0; i < orders->users; i++)
		release(test, &fix->users[i]);
	orders->count++;
	return ok;
}

/* All orders that begin with the @n steps that are there already. */
static bool run_orders(struct kunit *test, struct orders *orders, int n)
{
	unsigned int *left = orders->left;
	bool ok = true;
	int i;

	if (n == orders->users * orders->steps)
		return run_order(test, orders);

	for (i = 0; ok && i < orders->users; i++) {
		/* Of users that are alike it does not matter who is first. */
		if (!left[i] ||
		    (i && orders->way[i] == orders->way[i - 1] &&
		     left[i] == orders->steps && left[i - 1] == orders->steps))
			continue;
		left[i]--;
		orders->order[n] = i;
		ok = run_orders(test, orders, n + 1);
		left[i]++;
	}
	return ok;
}

/* All sets of two users of any kind, in all orders of all their steps. */
static void port_orders_of_two(struct kunit *test)
{
	struct orders orders = { .users = 2, .steps = 3, .left = { 3, 3 } };
	unsigned int *way = orders.way, kinds = ARRAY_SIZE(ways) * 4;

	for (way[0] = 0; way[0] < kinds; way[0]++)
		for (way[1] = way[0]; way[1] < kinds; way[1]++) {
			if (!run_orders(test, &orders, 0))
				return;
			cond_resched();
		}
	KUNIT_EXPECT_EQ(test, orders.count, 378L * 20 + 28 * 10);
	KUNIT_EXPECT_EQ(test, 0U, in_use(test));
}

/* All sets of three of the first kinds, in all orders until they are set up. */
static void port_orders_of_three(struct kunit *test)
{
	struct orders orders = { .users = 3, .steps = 2, .left = { 2, 2, 2 } };
	unsigned int *way = orders.way, kinds = 2 * 4;

	for (way[0] = 0; way[0] < kinds; way[0]++)
		for (way[1] = way[0]; way[1] < kinds; way[1]++)
			for (way[2] = way[1]; way[2] < kinds; way[2]++) {
				if (!run_orders(test, &orders, 0))
					return;
				cond_resched();
			}
	KUNIT_EXPECT_EQ(test, orders.count, 56L * 90 + 56 * 45 + 8 * 15);
	KUNIT_EXPECT_EQ(test, 0U, in_use(test));
}

static void random_user(struct rnd_state *rnd, struct rcm_binding *binding,
			struct model_user *me)
{
	both_init(binding, me, ANY4 + prandom_u32_state(rnd) % (HOSTS - ANY4),
		  prandom_u32_state(rnd) & 1, prandom_u32_state(rnd) & 1);
	if (prandom_u32_state(rnd) & 1)
		return;
	me->dst = ANY4 + prandom_u32_state(rnd) % (HOSTS - ANY4);
	me->dst_port = prandom_u32_state(rnd) % 4;
	binding->dst = addr(me->dst, me->dst_port);
}

#define RANDOM_LOW  50000
#define RANDOM_HIGH 50002

static void random_bind(struct kunit *test, struct model *model,
			struct rcm_binding *binding, struct model_user *me)
{
	bool any[TAKEN + 1] = {};
	int ret, want, port;

	for (port = RANDOM_LOW; port <= RANDOM_HIGH; port++)
		any[model_ephemeral(model, me, port)] = true;
	want = any[FREE] || any[SHAREABLE] ? 0 : NOTAVAIL;

	ret = bind_range(test, binding, RANDOM_LOW, RANDOM_HIGH);
	KUNIT_ASSERT_EQ(test, ret, want);
	if (ret)
		return;

	port = rcm_port_number(binding);
	KUNIT_ASSERT_GE(test, port, RANDOM_LOW);
	KUNIT_ASSERT_LE(test, port, RANDOM_HIGH);
	KUNIT_ASSERT_EQ(test, (int)model_ephemeral(model, me, port),
			any[FREE] ? (int)FREE : (int)SHAREABLE);
	model_add(model, me, port);
}

/* A long walk with more users, ports and addresses; always the same one. */
static void port_random_walk(struct kunit *test)
{
	struct fixture *fix = test->priv;
	struct model model = {};
	struct model_user *users;
	unsigned long results = 0;
	struct rnd_state rnd;
	int i;

	users = kunit_kcalloc(test, USERS, sizeof(*users), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, users);
	prandom_seed_state(&rnd, 7471);

	for (i = 0; i < 20000; i++) {
		unsigned int n = prandom_u32_state(&rnd) % USERS;
		u16 port = RANDOM_LOW + prandom_u32_state(&rnd) % 4;
		struct rcm_binding *binding = &fix->users[n];
		struct model_user *me = &users[n];
		unsigned int op = prandom_u32_state(&rnd) % 8;
		int ret = 0, want = 0;
		bool reuse;

		switch (op) {
		case 0:
		case 1:
			if (me->port)
				break;
			random_user(&rnd, binding, me);
			rcm_addr_set_port(&binding->src, htons(port));
			ret = bind(test, binding);
			want = model_bind(&model, me, port);
			if (ret)
				rcm_addr_set_port(&binding->src, 0);
			break;
		case 2:
			if (me->port)
				break;
			random_user(&rnd, binding, me);
			random_bind(test, &model, binding, me);
			break;
		case 3:
			ret = listen(test, binding);
			want = model_listen(&model, me);
			break;
		case 4:
			reuse = prandom_u32_state(&rnd) & 1;
			rcm_port_unlisten(fix->space, binding, reuse);
			if (me->listening)
				me->reuse = reuse;
			me->listening = false;
			break;
		case 5: {
			enum host dst = prandom_u32_state(&rnd) % HOSTS;
			u16 dst_port = dst ? prandom_u32_state(&rnd) % 4 : 0;

			ret = connect(test, binding, dst, dst_port);
			want = model_connect(&model, me, dst, dst_port);
			break;
		}
		case 6:
			if (me->port)
				KUNIT_ASSERT_EQ(test, -EINVAL,
						bind(test, binding));
			break;
		case 7:
			release(test, binding);
			model_release(&model, me);
			break;
		}
		KUNIT_ASSERT_EQ_MSG(test, ret, want, "step %d, operation %u", i,
				    op);
		KUNIT_ASSERT_TRUE_MSG(test, same(binding, me) || !me->port,
				      "step %d, operation %u", i, op);
		KUNIT_ASSERT_EQ_MSG(test, in_use(test), model_in_use(&model),
				    "step %d, operation %u", i, op);
		if (ret == 0)
			results |= BIT(0) << op;
		else
			results |= BIT(8) << op;
		cond_resched();
	}
	/* Everything succeeded at times, and failed at times where it can. */
	KUNIT_EXPECT_EQ(test, results, 0x2bffUL);
}

/* Threads that bind, listen and go, all at once. */
struct crowd {
	struct rcm_port_space *space;
	atomic_t listeners;
	atomic_t owners[4];
	atomic_t faults;
	atomic_t listened;
	atomic_t running;
	int rounds;
	struct completion start;
	struct completion done;
};

static void crowd_listen(struct crowd *crowd)
{
	struct rcm_binding binding = {
		.src = addr(ANY4, PORT),
		.reuse = true,
		.v6only = true,
	};

	if (rcm_port_bind(crowd->space, &binding, 1, 1))
		return;
	cond_resched();
	if (!rcm_port_listen(crowd->space, &binding)) {
		if (atomic_inc_return(&crowd->listeners) != 1)
			atomic_inc(&crowd->faults);
		atomic_inc(&crowd->listened);
		cond_resched();
		atomic_dec(&crowd->listeners);
	}
	rcm_port_release(crowd->space, &binding);
}

static void crowd_ephemeral(struct crowd *crowd)
{
	struct rcm_binding binding = {
		.src = addr(ANY4, 0),
		.v6only = true,
	};
	atomic_t *owners;

	if (rcm_port_bind(crowd->space, &binding, 50000, 50003))
		return;
	owners = &crowd->owners[rcm_port_number(&binding) - 50000];
	if (atomic_inc_return(owners) != 1)
		atomic_inc(&crowd->faults);
	cond_resched();
	atomic_dec(owners);
	rcm_port_release(crowd->space, &binding);
}

static void crowd_shared(struct crowd *crowd, int i)
{
	struct rcm_binding binding = {
		.src = addr(ANY4, 0),
		.dst = addr(B4, 1 + i % 8),
		.v6only = true,
	};
	union rcm_addr dst = addr(B4, 1 + i % 7);

	if (rcm_port_bind(crowd->space, &binding, 60000, 60001))
		return;
	cond_resched();
	if (!rcm_port_connect(crowd->space, &binding, &dst) &&
	    rcm_addr_port(&binding.dst) != rcm_addr_port(&dst))
		atomic_inc(&crowd->faults);
	rcm_port_release(crowd->space, &binding);
}

static int crowd_thread(void *arg)
{
	struct crowd *crowd = arg;
	int i;

	wait_for_completion(&crowd->start);
	for (i = 0; i < crowd->rounds; i++) {
		crowd_listen(crowd);
		crowd_ephemeral(crowd);
		crowd_shared(crowd, i);
		cond_resched();
	}
	if (atomic_dec_and_test(&crowd->running))
		complete(&crowd->done);
	return 0;
}

/* Cases C04 and C05, as far as they can be had without a device. */
static void port_crowd(struct kunit *test)
{
	struct fixture *fix = test->priv;
	struct task_struct *thread;
	struct crowd *crowd;
	int i, threads = 0;

	crowd = kunit_kzalloc(test, sizeof(*crowd), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, crowd);
	crowd->space = fix->space;
	crowd->rounds = num_online_cpus() > 1 ? 5000 : 200;
	init_completion(&crowd->start);
	init_completion(&crowd->done);
	atomic_set(&crowd->running, 1);

	for (i = 0; i < 4; i++) {
		atomic_inc(&crowd->running);
		thread = kthread_run(crowd_thread, crowd, "rcm_port_crowd");
		if (IS_ERR(thread))
			atomic_dec(&crowd->running);
		else
			threads++;
	}
	complete_all(&crowd->start);
	if (!atomic_dec_and_test(&crowd->running))
		wait_for_completion(&crowd->done);

	KUNIT_EXPECT_GT(test, threads, 1);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&crowd->faults));
	KUNIT_EXPECT_GT(test, atomic_read(&crowd->listened), 0);
	KUNIT_EXPECT_EQ(test, 0U, in_use(test));
}

static struct kunit_case port_cases[] = {
	KUNIT_CASE(port_unbound),
	KUNIT_CASE(port_families),
	KUNIT_CASE(port_explicit),
	KUNIT_CASE(port_conflict_errno),
	KUNIT_CASE(port_v6only),
	KUNIT_CASE(port_reuse_needs_both),
	KUNIT_CASE(port_one_listener),
	KUNIT_CASE(port_listen_errno),
	KUNIT_CASE(port_listener_does_not_connect),
	KUNIT_CASE(port_reuse_to_other_destinations),
	KUNIT_CASE(port_tuples),
	KUNIT_CASE(port_ephemeral_range),
	KUNIT_CASE(port_ephemeral_is_exclusive),
	KUNIT_CASE(port_shared_only_by_connected),
	KUNIT_CASE(port_range_shared_by_destinations),
	KUNIT_CASE(port_last_one_is_not_next),
	KUNIT_CASE(port_failure_leaks_nothing),
	KUNIT_CASE(port_whole_range),
	KUNIT_CASE(port_full_range_is_shared),
	KUNIT_CASE(port_orders_of_two),
	KUNIT_CASE(port_orders_of_three),
	KUNIT_CASE(port_random_walk),
	KUNIT_CASE(port_crowd),
	{}
};

struct kunit_suite rcm_port_suite = {
	.name = "rcm-port",
	.init = port_init,
	.exit = port_exit,
	.test_cases = port_cases,
};
