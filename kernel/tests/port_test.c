// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Port spaces: each rule by name, and the whole ephemeral range.
 */
#include <linux/bitmap.h>

#include "port_fixture.h"
#include "tests.h"

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
	{}
};

struct kunit_suite rcm_port_suite = {
	.name = "rcm-port",
	.init = port_init,
	.exit = port_exit,
	.test_cases = port_cases,
};
