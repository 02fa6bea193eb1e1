// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The header in front of a request's private data, and service IDs: the bytes
 * themselves, since two ends that are wrong in the same way agree.
 */
#include <kunit/test.h>
#include <linux/in.h>
#include <linux/string.h>
#include <rdma/ib_cm.h>

#include "../wire.h"
#include "tests.h"

static const union rcm_addr src4 = {
	.sin = {
		.sin_family = AF_INET,
		.sin_port = cpu_to_be16(0x1234),
		.sin_addr.s_addr = cpu_to_be32(0x0a010203),
	},
};

static const union rcm_addr dst4 = {
	.sin = {
		.sin_family = AF_INET,
		.sin_port = cpu_to_be16(0x5678),
		.sin_addr.s_addr = cpu_to_be32(0xc0a80001),
	},
};

static const union rcm_addr src6 = {
	.sin6 = {
		.sin6_family = AF_INET6,
		.sin6_port = cpu_to_be16(0x1234),
		.sin6_addr.s6_addr = { 0x20, 1, 0xd, 0xb8, 5, 6, 7, 8,
				       9, 10, 11, 12, 13, 14, 15, 16 },
	},
};

static const union rcm_addr dst6 = {
	.sin6 = {
		.sin6_family = AF_INET6,
		.sin6_port = cpu_to_be16(0x5678),
		.sin6_addr.s6_addr = { 0xfd, 17, 18, 19, 20, 21, 22, 23,
				       24, 25, 26, 27, 28, 29, 30, 31 },
	},
};

/* clang-format off */
static const u8 bytes4[36] = {
	0x00, 0x40, 0x12, 0x34,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 1, 2, 3,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 192, 168, 0, 1,
};

static const u8 bytes6[36] = {
	0x00, 0x60, 0x12, 0x34,
	0x20, 1, 0xd, 0xb8, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
	0xfd, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
};

/* clang-format on */

static void wire_put(struct kunit *test)
{
	struct rcm_wire_hdr hdr;

	KUNIT_EXPECT_EQ(test, 36, (int)sizeof(hdr));

	memset(&hdr, 0xff, sizeof(hdr));
	rcm_wire_put(&hdr, &src4, &dst4);
	KUNIT_EXPECT_EQ(test, 0, memcmp(&hdr, bytes4, 36));

	memset(&hdr, 0xff, sizeof(hdr));
	rcm_wire_put(&hdr, &src6, &dst6);
	KUNIT_EXPECT_EQ(test, 0, memcmp(&hdr, bytes6, 36));
}

/* The receiver's local address is the sender's destination. */
static void wire_get(struct kunit *test)
{
	union rcm_addr local, remote, want;
	struct rcm_wire_hdr hdr;

	memset(&local, 0xff, sizeof(local));
	memset(&remote, 0xff, sizeof(remote));
	memcpy(&hdr, bytes4, 36);
	KUNIT_EXPECT_EQ(test, 0, rcm_wire_get(&hdr, 7471, &local, &remote));
	want = dst4;
	want.sin.sin_port = cpu_to_be16(7471);
	KUNIT_EXPECT_EQ(test, 0, memcmp(&local, &want, sizeof(want)));
	KUNIT_EXPECT_EQ(test, 0, memcmp(&remote, &src4, sizeof(remote)));

	memset(&local, 0xff, sizeof(local));
	memset(&remote, 0xff, sizeof(remote));
	memcpy(&hdr, bytes6, 36);
	KUNIT_EXPECT_EQ(test, 0, rcm_wire_get(&hdr, 7471, &local, &remote));
	want = dst6;
	want.sin6.sin6_port = cpu_to_be16(7471);
	KUNIT_EXPECT_EQ(test, 0, memcmp(&local, &want, sizeof(want)));
	KUNIT_EXPECT_EQ(test, 0, memcmp(&remote, &src6, sizeof(remote)));
}

static void wire_get_ignores_reserved_bits(struct kunit *test)
{
	union rcm_addr local, remote;
	struct rcm_wire_hdr hdr;

	memcpy(&hdr, bytes4, 36);
	hdr.ip_version |= 0x0f;
	KUNIT_EXPECT_EQ(test, 0, rcm_wire_get(&hdr, 1, &local, &remote));
	KUNIT_EXPECT_TRUE(test, rcm_addr_equal(&remote, &src4));
}

static void wire_get_refuses_versions(struct kunit *test)
{
	union rcm_addr local, remote, before;
	struct rcm_wire_hdr hdr;
	int i;

	memset(&local, 0x5a, sizeof(local));
	memset(&remote, 0x5a, sizeof(remote));
	before = local;

	memcpy(&hdr, bytes4, 36);
	for (i = 1; i < 256; i++) {
		hdr.version = i;
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL,
				    rcm_wire_get(&hdr, 1, &local, &remote),
				    "version 0x%02x", i);
	}
	hdr.version = 0;
	for (i = 0; i < 16; i++) {
		if (i == 4 || i == 6)
			continue;
		hdr.ip_version = i << 4 | 4;
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL,
				    rcm_wire_get(&hdr, 1, &local, &remote),
				    "IP version %d", i);
	}
	KUNIT_EXPECT_EQ(test, 0, memcmp(&local, &before, sizeof(before)));
	KUNIT_EXPECT_EQ(test, 0, memcmp(&remote, &before, sizeof(before)));
}

static void wire_service_ids(struct kunit *test)
{
	static const u8 tcp[8] = { 0, 0, 0, 0, 0x01, 0x06, 0x1d, 0x2f };
	static const u8 ib[8] = { 0, 0, 0, 0, 0x01, 0x3f, 0xff, 0xff };
	static const u16 spaces[] = { 0x0002, 0x0106, 0x0111, 0x013f };
	__be64 id;
	int i;
	u32 port;

	id = rcm_wire_service_id(0x0106, 7471);
	KUNIT_EXPECT_EQ(test, 0, memcmp(&id, tcp, 8));
	id = rcm_wire_service_id(0x013f, 65535);
	KUNIT_EXPECT_EQ(test, 0, memcmp(&id, ib, 8));

	for (i = 0; i < ARRAY_SIZE(spaces); i++)
		for (port = 0; port < 65536; port += 257) {
			id = rcm_wire_service_id(spaces[i], port);
			KUNIT_EXPECT_EQ(test, (u32)rcm_wire_service_ps(id),
					(u32)spaces[i]);
			KUNIT_EXPECT_EQ(test, (u32)rcm_wire_service_port(id),
					port);
		}
}

/* An ID of somebody else's is not mistaken for a port's. */
static void wire_foreign_service_ids(struct kunit *test)
{
	int bit;

	for (bit = 32; bit < 64; bit++) {
		__be64 id = rcm_wire_service_id(0x0106, 1) |
			    cpu_to_be64(1ULL << bit);

		KUNIT_EXPECT_EQ_MSG(test, 0, (int)rcm_wire_service_ps(id),
				    "bit %d", bit);
	}
}

/* What ib_cm has room for, less the header where there is one. */
static void wire_limits(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, IB_CM_REQ_PRIVATE_DATA_SIZE - 36,
			(int)RCM_WIRE_REQ_DATA);
	KUNIT_EXPECT_EQ(test, (int)IB_CM_REP_PRIVATE_DATA_SIZE,
			RCM_WIRE_REP_DATA);
	KUNIT_EXPECT_EQ(test, (int)IB_CM_REJ_PRIVATE_DATA_SIZE,
			RCM_WIRE_REJ_DATA);
	KUNIT_EXPECT_EQ(test, IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE - 36,
			(int)RCM_WIRE_SIDR_REQ_DATA);
	KUNIT_EXPECT_EQ(test, (int)IB_CM_SIDR_REP_PRIVATE_DATA_SIZE,
			RCM_WIRE_SIDR_REP_DATA);
}

static struct kunit_case wire_cases[] = {
	KUNIT_CASE(wire_put),
	KUNIT_CASE(wire_get),
	KUNIT_CASE(wire_get_ignores_reserved_bits),
	KUNIT_CASE(wire_get_refuses_versions),
	KUNIT_CASE(wire_service_ids),
	KUNIT_CASE(wire_foreign_service_ids),
	KUNIT_CASE(wire_limits),
	{}
};

struct kunit_suite rcm_wire_suite = {
	.name = "rcm-wire",
	.test_cases = wire_cases,
};
