// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Addresses: copied, classified, compared, converted.
 */
#include <kunit/test.h>
#include <linux/in.h>
#include <linux/inet.h>
#include <linux/string.h>

#include "../addr.h"
#include "tests.h"

#define ANY	  1
#define LOOPBACK  2
#define LINKLOCAL 4
#define MULTICAST 8

static const struct {
	const char *text;
	unsigned int class;
} addrs[] = {
	{ "0.0.0.0", ANY },
	{ "0.0.0.1", 0 },
	{ "0.255.255.255", 0 },
	{ "1.0.0.0", 0 },
	{ "10.0.0.1", 0 },
	{ "126.255.255.255", 0 },
	{ "127.0.0.0", LOOPBACK },
	{ "127.0.0.1", LOOPBACK },
	{ "127.255.255.255", LOOPBACK },
	{ "128.0.0.0", 0 },
	{ "169.254.1.1", 0 },
	{ "223.255.255.255", 0 },
	{ "224.0.0.1", MULTICAST },
	{ "239.255.255.255", MULTICAST },
	{ "240.0.0.0", 0 },
	{ "255.255.255.255", 0 },
	{ "::", ANY },
	{ "::1", LOOPBACK },
	{ "::2", 0 },
	{ "::ffff:0.0.0.0", 0 },
	{ "::ffff:127.0.0.1", 0 },
	{ "2001:db8::1", 0 },
	{ "fe7f:ffff::1", 0 },
	{ "fe80::", LINKLOCAL },
	{ "fe80::1", LINKLOCAL },
	{ "febf:ffff::1", LINKLOCAL },
	{ "fec0::1", 0 },
	{ "ff02::1", LINKLOCAL | MULTICAST },
	{ "ff05::1", MULTICAST },
	{ "ff0e::1", MULTICAST },
};

static void set_addr(struct kunit *test, union rcm_addr *addr, const char *text,
		     u16 port)
{
	struct __kernel_sockaddr_storage ss = {};

	if (strchr(text, ':')) {
		struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)&ss;

		sin6->sin6_family = AF_INET6;
		sin6->sin6_port = htons(port);
		KUNIT_ASSERT_EQ(test, 1,
				in6_pton(text, -1, sin6->sin6_addr.s6_addr, -1,
					 NULL));
	} else {
		struct sockaddr_in *sin = (struct sockaddr_in *)&ss;

		sin->sin_family = AF_INET;
		sin->sin_port = htons(port);
		KUNIT_ASSERT_EQ(test, 1,
				in4_pton(text, -1, (u8 *)&sin->sin_addr, -1,
					 NULL));
	}
	KUNIT_ASSERT_EQ(test, 0, rcm_addr_set(addr, &ss));
}

/* clang-format off */
#define parse(test, text, port)					\
	({							\
		union rcm_addr _addr;				\
								\
		set_addr(test, &_addr, text, port);		\
		_addr;						\
	})
/* clang-format on */

static void addr_classes(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(addrs); i++) {
		union rcm_addr addr = parse(test, addrs[i].text, 1);
		unsigned int class = addrs[i].class;

		KUNIT_EXPECT_EQ_MSG(test, rcm_addr_is_any(&addr),
				    !!(class & ANY), "%s", addrs[i].text);
		KUNIT_EXPECT_EQ_MSG(test, rcm_addr_is_loopback(&addr),
				    !!(class & LOOPBACK), "%s", addrs[i].text);
		KUNIT_EXPECT_EQ_MSG(test, rcm_addr_is_wildcard(&addr),
				    !!(class & (ANY | LOOPBACK)), "%s",
				    addrs[i].text);
		KUNIT_EXPECT_EQ_MSG(test, rcm_addr_is_linklocal(&addr),
				    !!(class & LINKLOCAL), "%s", addrs[i].text);
		KUNIT_EXPECT_EQ_MSG(test, rcm_addr_is_multicast(&addr),
				    !!(class & MULTICAST), "%s", addrs[i].text);
	}
}

static void addr_none_has_no_class(struct kunit *test)
{
	union rcm_addr none = {};

	KUNIT_EXPECT_FALSE(test, rcm_addr_is_any(&none));
	KUNIT_EXPECT_FALSE(test, rcm_addr_is_loopback(&none));
	KUNIT_EXPECT_FALSE(test, rcm_addr_is_wildcard(&none));
	KUNIT_EXPECT_FALSE(test, rcm_addr_is_linklocal(&none));
	KUNIT_EXPECT_FALSE(test, rcm_addr_is_multicast(&none));
	KUNIT_EXPECT_EQ(test, 0, (int)ntohs(rcm_addr_port(&none)));
	rcm_addr_set_port(&none, htons(1));
	KUNIT_EXPECT_NULL(test, memchr_inv(&none, 0, sizeof(none)));
	KUNIT_EXPECT_TRUE(test, rcm_addr_equal(&none, &none));
}

static void addr_set_refuses_other_families(struct kunit *test)
{
	struct __kernel_sockaddr_storage ss;
	union rcm_addr addr, before;
	int family;

	memset(&addr, 0x5a, sizeof(addr));
	before = addr;
	for (family = 0; family < 300; family++) {
		if (family == AF_INET || family == AF_INET6)
			continue;
		memset(&ss, 0xff, sizeof(ss));
		ss.ss_family = family;
		KUNIT_EXPECT_EQ(test, rcm_addr_set(&addr, &ss), -EAFNOSUPPORT);
		KUNIT_EXPECT_EQ(test, 0, memcmp(&addr, &before, sizeof(addr)));
	}
}

/* What lies past the members of the family does not get in. */
static void addr_set_drops_the_rest(struct kunit *test)
{
	struct __kernel_sockaddr_storage ss;
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)&ss;
	struct sockaddr_in *sin = (struct sockaddr_in *)&ss;
	union rcm_addr addr;
	u8 *bytes = (u8 *)&addr;

	memset(&ss, 0xff, sizeof(ss));
	sin->sin_family = AF_INET;
	sin->sin_port = htons(0x1234);
	sin->sin_addr.s_addr = htonl(0x0a000001);
	memset(&addr, 0x5a, sizeof(addr));
	KUNIT_EXPECT_EQ(test, 0, rcm_addr_set(&addr, &ss));
	KUNIT_EXPECT_EQ(test, AF_INET, (int)addr.sin.sin_family);
	KUNIT_EXPECT_EQ(test, 0x1234, (int)ntohs(addr.sin.sin_port));
	KUNIT_EXPECT_EQ(test, 0x0a000001U, ntohl(addr.sin.sin_addr.s_addr));
	KUNIT_EXPECT_NULL(test, memchr_inv(bytes + 8, 0, sizeof(addr) - 8));

	memset(&ss, 0xff, sizeof(ss));
	sin6->sin6_family = AF_INET6;
	sin6->sin6_port = htons(0x1234);
	sin6->sin6_scope_id = 7;
	memset(&addr, 0x5a, sizeof(addr));
	KUNIT_EXPECT_EQ(test, 0, rcm_addr_set(&addr, &ss));
	KUNIT_EXPECT_EQ(test, 0,
			memcmp(&addr, &ss, sizeof(struct sockaddr_in6)));
	KUNIT_EXPECT_NULL(
		test, memchr_inv(bytes + sizeof(struct sockaddr_in6), 0,
				 sizeof(addr) - sizeof(struct sockaddr_in6)));
}

static void addr_put_user_writes_every_byte(struct kunit *test)
{
	static const char *const texts[] = { "10.0.0.1", "fe80::1" };
	static const size_t sizes[] = { sizeof(struct sockaddr_in),
					sizeof(struct sockaddr_in6) };
	struct __kernel_sockaddr_storage ss;
	union rcm_addr addr, back, none = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		addr = parse(test, texts[i], 7471);
		if (addr.sa.sa_family == AF_INET6)
			addr.sin6.sin6_scope_id = 3;
		memset(&ss, 0xff, sizeof(ss));
		rcm_addr_put_user(&ss, &addr);
		KUNIT_EXPECT_NULL(test, memchr_inv((u8 *)&ss + sizes[i], 0,
						   sizeof(ss) - sizes[i]));
		KUNIT_EXPECT_EQ(test, 0, rcm_addr_set(&back, &ss));
		KUNIT_EXPECT_EQ(test, 0, memcmp(&addr, &back, sizeof(addr)));
	}

	memset(&ss, 0xff, sizeof(ss));
	rcm_addr_put_user(&ss, &none);
	KUNIT_EXPECT_NULL(test, memchr_inv(&ss, 0, sizeof(ss)));
}

static void addr_equal(struct kunit *test)
{
	int i, j;

	for (i = 0; i < ARRAY_SIZE(addrs); i++)
		for (j = 0; j < ARRAY_SIZE(addrs); j++) {
			union rcm_addr a = parse(test, addrs[i].text, 1);
			union rcm_addr b = parse(test, addrs[j].text, 2);

			KUNIT_EXPECT_EQ_MSG(test, rcm_addr_equal(&a, &b),
					    i == j, "%s %s", addrs[i].text,
					    addrs[j].text);
		}
}

/* Case C27: the scope is part of a link-local address, and of no other. */
static void addr_scope(struct kunit *test)
{
	union rcm_addr a = parse(test, "fe80::1", 1), b = a;

	a.sin6.sin6_scope_id = 1;
	b.sin6.sin6_scope_id = 2;
	KUNIT_EXPECT_FALSE(test, rcm_addr_equal(&a, &b));
	KUNIT_EXPECT_NE(test, rcm_addr_hash(&a, 0), rcm_addr_hash(&b, 0));
	b.sin6.sin6_scope_id = 1;
	KUNIT_EXPECT_TRUE(test, rcm_addr_equal(&a, &b));
	KUNIT_EXPECT_EQ(test, rcm_addr_hash(&a, 0), rcm_addr_hash(&b, 0));

	a = parse(test, "2001:db8::1", 1);
	b = a;
	a.sin6.sin6_scope_id = 1;
	b.sin6.sin6_scope_id = 2;
	KUNIT_EXPECT_TRUE(test, rcm_addr_equal(&a, &b));
	KUNIT_EXPECT_EQ(test, rcm_addr_hash(&a, 0), rcm_addr_hash(&b, 0));
}

static void addr_ports(struct kunit *test)
{
	union rcm_addr four = parse(test, "10.0.0.1", 1);
	union rcm_addr six = parse(test, "::2", 65535);
	union rcm_addr before = four;

	KUNIT_EXPECT_EQ(test, 1, (int)ntohs(rcm_addr_port(&four)));
	KUNIT_EXPECT_EQ(test, 65535, (int)ntohs(rcm_addr_port(&six)));
	rcm_addr_set_port(&four, htons(0x1234));
	rcm_addr_set_port(&six, htons(0x5678));
	KUNIT_EXPECT_EQ(test, 0x1234, (int)ntohs(rcm_addr_port(&four)));
	KUNIT_EXPECT_EQ(test, 0x5678, (int)ntohs(rcm_addr_port(&six)));
	KUNIT_EXPECT_TRUE(test, rcm_addr_equal(&four, &before));
	KUNIT_EXPECT_EQ(test, 0x1234, (int)ntohs(four.sin.sin_port));
	KUNIT_EXPECT_EQ(test, 0x5678, (int)ntohs(six.sin6.sin6_port));
}

static void addr_gid(struct kunit *test)
{
	/* clang-format off */
	static const u8 mapped[16] = { 0, 0, 0, 0, 0, 0, 0, 0,
				       0, 0, 0xff, 0xff, 10, 1, 2, 3 };
	static const u8 raw[16] = { 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0,
				    0, 0, 0, 0, 0, 0, 0xab, 0xcd };
	/* clang-format on */
	union rcm_addr addr, none = {};
	union ib_gid gid;

	memset(&gid, 0xff, sizeof(gid));
	addr = parse(test, "10.1.2.3", 1);
	rcm_addr_to_gid(&addr, &gid);
	KUNIT_EXPECT_EQ(test, 0, memcmp(&gid, mapped, 16));

	memset(&gid, 0xff, sizeof(gid));
	addr = parse(test, "2001:db8::abcd", 1);
	rcm_addr_to_gid(&addr, &gid);
	KUNIT_EXPECT_EQ(test, 0, memcmp(&gid, raw, 16));

	memset(&gid, 0xff, sizeof(gid));
	rcm_addr_to_gid(&none, &gid);
	KUNIT_EXPECT_NULL(test, memchr_inv(&gid, 0, 16));
}

static void addr_unmap(struct kunit *test)
{
	static const char *const stay[] = { "2001:db8::1", "::", "::1",
					    "::10.1.2.3", "10.1.2.3" };
	union rcm_addr addr, expect;
	unsigned int i;

	addr = parse(test, "::ffff:10.1.2.3", 7);
	expect = parse(test, "10.1.2.3", 7);
	rcm_addr_unmap(&addr);
	KUNIT_EXPECT_EQ(test, 0, memcmp(&addr, &expect, sizeof(addr)));
	for (i = 0; i < ARRAY_SIZE(stay); i++) {
		addr = parse(test, stay[i], 7);
		expect = addr;
		rcm_addr_unmap(&addr);
		KUNIT_EXPECT_EQ_MSG(test, 0,
				    memcmp(&addr, &expect, sizeof(addr)), "%s",
				    stay[i]);
	}
}

static void addr_hash(struct kunit *test)
{
	unsigned int used[64] = {};
	union rcm_addr addr;
	int i;

	/* All parts count. */
	addr = parse(test, "10.0.0.1", 1);
	KUNIT_EXPECT_EQ(test, rcm_addr_hash(&addr, 5), rcm_addr_hash(&addr, 5));
	KUNIT_EXPECT_NE(test, rcm_addr_hash(&addr, 5), rcm_addr_hash(&addr, 6));

	/* Neighbours spread: far from what one list would get. */
	for (i = 0; i < 6400; i++) {
		addr.sin.sin_port = htons(1000 + i % 100);
		addr.sin.sin_addr.s_addr = htonl(0x0a000000 + i / 100);
		used[rcm_addr_hash(&addr, 1) % 64]++;
	}
	for (i = 0; i < 64; i++) {
		KUNIT_EXPECT_GT(test, used[i], 20U);
		KUNIT_EXPECT_LT(test, used[i], 300U);
	}

	memset(used, 0, sizeof(used));
	addr = parse(test, "2001:db8::1", 1);
	for (i = 0; i < 6400; i++) {
		addr.sin6.sin6_port = htons(1000 + i % 100);
		addr.sin6.sin6_addr.s6_addr[15] = i / 100;
		used[rcm_addr_hash(&addr, 1) % 64]++;
	}
	for (i = 0; i < 64; i++) {
		KUNIT_EXPECT_GT(test, used[i], 20U);
		KUNIT_EXPECT_LT(test, used[i], 300U);
	}
}

static struct kunit_case addr_cases[] = {
	KUNIT_CASE(addr_classes),
	KUNIT_CASE(addr_none_has_no_class),
	KUNIT_CASE(addr_set_refuses_other_families),
	KUNIT_CASE(addr_set_drops_the_rest),
	KUNIT_CASE(addr_put_user_writes_every_byte),
	KUNIT_CASE(addr_equal),
	KUNIT_CASE(addr_scope),
	KUNIT_CASE(addr_ports),
	KUNIT_CASE(addr_gid),
	KUNIT_CASE(addr_unmap),
	KUNIT_CASE(addr_hash),
	{}
};

struct kunit_suite rcm_addr_suite = {
	.name = "rcm-addr",
	.test_cases = addr_cases,
};
