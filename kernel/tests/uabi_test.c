// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The ABI's structures: sizes, and that no byte of them is nobody's.  The
 * numbers are those of version 1, and stay; so does what programs that were
 * built with them pass.
 */
#include <kunit/test.h>
#include <linux/stddef.h>
#include <rdma/rcm.h>

#include "tests.h"

struct member {
	const char *name;
	unsigned int offset;
	unsigned int size;
	unsigned int align;
};

/* clang-format off */
#define M(type, member)						\
	{							\
		#member, offsetof(struct type, member),		\
		sizeof_field(struct type, member),		\
		__alignof__(((struct type *)0)->member)		\
	}

static const struct member rcm_reason[] = {
	M(rcm_reason, step),
	M(rcm_reason, error),
	M(rcm_reason, ifindex),
	M(rcm_reason, detail),
};

static const struct member rcm_info[] = {
	M(rcm_info, size),
	M(rcm_info, out_abi_version),
	M(rcm_info, out_features),
	M(rcm_info, out_max_ids),
	M(rcm_info, out_max_backlog),
	M(rcm_info, out_version),
};

static const struct member rcm_create_id[] = {
	M(rcm_create_id, size),
	M(rcm_create_id, flags),
	M(rcm_create_id, uid),
	M(rcm_create_id, ps),
	M(rcm_create_id, qp_type),
	M(rcm_create_id, reserved),
	M(rcm_create_id, out_handle),
	M(rcm_create_id, reserved2),
};

static const struct member rcm_destroy_id[] = {
	M(rcm_destroy_id, size),
	M(rcm_destroy_id, handle),
	M(rcm_destroy_id, out_events_reported),
	M(rcm_destroy_id, reserved),
};

static const struct member rcm_bind[] = {
	M(rcm_bind, size),
	M(rcm_bind, handle),
	M(rcm_bind, flags),
	M(rcm_bind, ps),
	M(rcm_bind, qp_type),
	M(rcm_bind, reserved),
	M(rcm_bind, uid),
	M(rcm_bind, addr),
	M(rcm_bind, out_reason),
	M(rcm_bind, out_endpoint),
};

static const struct member rcm_resolve_addr[] = {
	M(rcm_resolve_addr, size),
	M(rcm_resolve_addr, handle),
	M(rcm_resolve_addr, flags),
	M(rcm_resolve_addr, ps),
	M(rcm_resolve_addr, qp_type),
	M(rcm_resolve_addr, reserved),
	M(rcm_resolve_addr, uid),
	M(rcm_resolve_addr, timeout_ms),
	M(rcm_resolve_addr, reserved2),
	M(rcm_resolve_addr, src),
	M(rcm_resolve_addr, dst),
	M(rcm_resolve_addr, out_reason),
};

static const struct member rcm_resolve_route[] = {
	M(rcm_resolve_route, size),
	M(rcm_resolve_route, handle),
	M(rcm_resolve_route, timeout_ms),
	M(rcm_resolve_route, reserved),
};

static const struct member rcm_listen[] = {
	M(rcm_listen, size),
	M(rcm_listen, handle),
	M(rcm_listen, backlog),
	M(rcm_listen, reserved),
};

static const struct member rcm_conn_param[] = {
	M(rcm_conn_param, qp_num),
	M(rcm_conn_param, qkey),
	M(rcm_conn_param, private_data_len),
	M(rcm_conn_param, srq),
	M(rcm_conn_param, responder_resources),
	M(rcm_conn_param, initiator_depth),
	M(rcm_conn_param, flow_control),
	M(rcm_conn_param, retry_count),
	M(rcm_conn_param, rnr_retry_count),
	M(rcm_conn_param, reserved),
	M(rcm_conn_param, private_data),
};

static const struct member rcm_ece[] = {
	M(rcm_ece, vendor_id),
	M(rcm_ece, attr_mod),
};

static const struct member rcm_connect[] = {
	M(rcm_connect, size),
	M(rcm_connect, handle),
	M(rcm_connect, ece),
	M(rcm_connect, conn),
};

static const struct member rcm_accept[] = {
	M(rcm_accept, size),
	M(rcm_accept, handle),
	M(rcm_accept, uid),
	M(rcm_accept, ece),
	M(rcm_accept, conn),
};

static const struct member rcm_establish[] = {
	M(rcm_establish, size),
	M(rcm_establish, handle),
};

static const struct member rcm_reject[] = {
	M(rcm_reject, size),
	M(rcm_reject, handle),
	M(rcm_reject, reason),
	M(rcm_reject, reserved),
	M(rcm_reject, private_data_len),
	M(rcm_reject, private_data),
};

static const struct member rcm_disconnect[] = {
	M(rcm_disconnect, size),
	M(rcm_disconnect, handle),
};

static const struct member rcm_notify[] = {
	M(rcm_notify, size),
	M(rcm_notify, handle),
	M(rcm_notify, event),
	M(rcm_notify, reserved),
};

static const struct member rcm_ah[] = {
	M(rcm_ah, dgid),
	M(rcm_ah, flow_label),
	M(rcm_ah, dlid),
	M(rcm_ah, sgid_index),
	M(rcm_ah, hop_limit),
	M(rcm_ah, traffic_class),
	M(rcm_ah, sl),
	M(rcm_ah, src_path_bits),
	M(rcm_ah, static_rate),
	M(rcm_ah, is_global),
	M(rcm_ah, port_num),
	M(rcm_ah, dmac),
};

static const struct member rcm_qp_attr[] = {
	M(rcm_qp_attr, init_mask),
	M(rcm_qp_attr, rtr_mask),
	M(rcm_qp_attr, rts_mask),
	M(rcm_qp_attr, qp_access_flags),
	M(rcm_qp_attr, qkey),
	M(rcm_qp_attr, rq_psn),
	M(rcm_qp_attr, sq_psn),
	M(rcm_qp_attr, dest_qp_num),
	M(rcm_qp_attr, pkey_index),
	M(rcm_qp_attr, port_num),
	M(rcm_qp_attr, path_mtu),
	M(rcm_qp_attr, max_rd_atomic),
	M(rcm_qp_attr, max_dest_rd_atomic),
	M(rcm_qp_attr, min_rnr_timer),
	M(rcm_qp_attr, timeout),
	M(rcm_qp_attr, retry_cnt),
	M(rcm_qp_attr, rnr_retry),
	M(rcm_qp_attr, path_mig_state),
	M(rcm_qp_attr, reserved),
	M(rcm_qp_attr, ah),
};

static const struct member rcm_init_qp_attr[] = {
	M(rcm_init_qp_attr, size),
	M(rcm_init_qp_attr, handle),
	M(rcm_init_qp_attr, qp_state),
	M(rcm_init_qp_attr, out_mask),
	M(rcm_init_qp_attr, out_attr),
};

static const struct member rcm_set_option[] = {
	M(rcm_set_option, size),
	M(rcm_set_option, handle),
	M(rcm_set_option, level),
	M(rcm_set_option, optname),
	M(rcm_set_option, optlen),
	M(rcm_set_option, reserved),
	M(rcm_set_option, optval),
};

static const struct member rcm_path[] = {
	M(rcm_path, dgid),
	M(rcm_path, sgid),
	M(rcm_path, flow_label),
	M(rcm_path, dlid),
	M(rcm_path, slid),
	M(rcm_path, pkey),
	M(rcm_path, hop_limit),
	M(rcm_path, traffic_class),
	M(rcm_path, sl),
	M(rcm_path, mtu),
	M(rcm_path, rate),
	M(rcm_path, packet_life_time),
	M(rcm_path, reversible),
	M(rcm_path, reserved),
};

static const struct member rcm_endpoint[] = {
	M(rcm_endpoint, src),
	M(rcm_endpoint, dst),
	M(rcm_endpoint, sgid),
	M(rcm_endpoint, dgid),
	M(rcm_endpoint, node_guid),
	M(rcm_endpoint, ibdev_index),
	M(rcm_endpoint, ifindex),
	M(rcm_endpoint, pkey),
	M(rcm_endpoint, port_num),
	M(rcm_endpoint, num_paths),
	M(rcm_endpoint, state),
	M(rcm_endpoint, ps),
	M(rcm_endpoint, qp_type),
	M(rcm_endpoint, reserved),
	M(rcm_endpoint, path),
};

static const struct member rcm_query[] = {
	M(rcm_query, size),
	M(rcm_query, handle),
	M(rcm_query, out_reason),
	M(rcm_query, out_endpoint),
};

static const struct member rcm_migrate[] = {
	M(rcm_migrate, size),
	M(rcm_migrate, handle),
	M(rcm_migrate, fd),
	M(rcm_migrate, out_handle),
	M(rcm_migrate, out_events_reported),
	M(rcm_migrate, reserved),
};

static const struct member rcm_event[] = {
	M(rcm_event, size),
	M(rcm_event, flags),
	M(rcm_event, out_handle),
	M(rcm_event, out_new_handle),
	M(rcm_event, out_uid),
	M(rcm_event, out_event),
	M(rcm_event, out_status),
	M(rcm_event, out_reason),
	M(rcm_event, out_ece),
	M(rcm_event, out_conn),
	M(rcm_event, out_endpoint),
	M(rcm_event, out_qp),
};

static const struct member rcm_get_events[] = {
	M(rcm_get_events, size),
	M(rcm_get_events, flags),
	M(rcm_get_events, count),
	M(rcm_get_events, event_size),
	M(rcm_get_events, events),
};

#define T(type, size, argument)					\
	{ #type, type, ARRAY_SIZE(type), sizeof(struct type), size, argument }
/* clang-format on */

static const struct {
	const char *name;
	const struct member *members;
	unsigned int count;
	unsigned int size;
	unsigned int want;
	bool argument;
} structs[] = {
	T(rcm_reason, 16, false),	T(rcm_info, 56, true),
	T(rcm_create_id, 32, true),	T(rcm_destroy_id, 16, true),
	T(rcm_bind, 544, true),		T(rcm_resolve_addr, 304, true),
	T(rcm_resolve_route, 16, true), T(rcm_listen, 16, true),
	T(rcm_conn_param, 280, false),	T(rcm_ece, 8, false),
	T(rcm_connect, 296, true),	T(rcm_accept, 304, true),
	T(rcm_establish, 8, true),	T(rcm_reject, 272, true),
	T(rcm_disconnect, 8, true),	T(rcm_notify, 16, true),
	T(rcm_ah, 36, false),		T(rcm_qp_attr, 88, false),
	T(rcm_init_qp_attr, 104, true), T(rcm_set_option, 32, true),
	T(rcm_path, 56, false),		T(rcm_endpoint, 376, false),
	T(rcm_query, 400, true),	T(rcm_migrate, 24, true),
	T(rcm_event, 800, true),	T(rcm_get_events, 24, true),
};

static void uabi_sizes(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(structs); i++)
		KUNIT_EXPECT_EQ_MSG(test, structs[i].size, structs[i].want,
				    "struct %s", structs[i].name);
}

/* Each member starts where the one before ends, and the last ends it. */
static void uabi_no_holes(struct kunit *test)
{
	unsigned int i, n, end;

	for (i = 0; i < ARRAY_SIZE(structs); i++) {
		end = 0;
		for (n = 0; n < structs[i].count; n++) {
			const struct member *it = &structs[i].members[n];

			KUNIT_EXPECT_EQ_MSG(test, it->offset, end, "%s.%s",
					    structs[i].name, it->name);
			end = it->offset + it->size;
		}
		KUNIT_EXPECT_EQ_MSG(test, end, structs[i].size, "end of %s",
				    structs[i].name);
	}
}

/* 32-bit callers that align 64-bit integers to four bytes see the same. */
static void uabi_alignment(struct kunit *test)
{
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(structs); i++)
		for (n = 0; n < structs[i].count; n++) {
			const struct member *it = &structs[i].members[n];

			KUNIT_EXPECT_EQ_MSG(test, 0U, it->offset % it->align,
					    "%s.%s", structs[i].name, it->name);
			if (it->align > 4)
				KUNIT_EXPECT_EQ_MSG(test, 0U,
						    structs[i].size % 8, "%s",
						    structs[i].name);
		}
}

static void uabi_size_comes_first(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(structs); i++) {
		if (!structs[i].argument)
			continue;
		KUNIT_EXPECT_STREQ(test, structs[i].members[0].name, "size");
		KUNIT_EXPECT_EQ(test, structs[i].members[0].offset, 0U);
		KUNIT_EXPECT_EQ(test, structs[i].members[0].size, 4U);
		KUNIT_EXPECT_LE(test, structs[i].size, 4096U);
	}
}

/* Numbers that are compiled into programs. */
static void uabi_numbers(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, RCM_ABI_VERSION, 1);
	KUNIT_EXPECT_EQ(test, (unsigned int)RCM_INFO, 0xcd80U);
	KUNIT_EXPECT_EQ(test, (unsigned int)RCM_GET_EVENT, 0xcd91U);
	KUNIT_EXPECT_EQ(test, (unsigned int)RCM_JOIN_MULTICAST, 0xcd92U);
	KUNIT_EXPECT_EQ(test, (unsigned int)RCM_LEAVE_MULTICAST, 0xcd93U);
	KUNIT_EXPECT_EQ(test, (unsigned int)RCM_TRANSLATE, 0xcd94U);
	KUNIT_EXPECT_EQ(test, (unsigned int)RCM_WRITE_EVENT, 0xcd95U);
	KUNIT_EXPECT_EQ(test, (unsigned int)RCM_GET_EVENTS, 0xcd96U);
	KUNIT_EXPECT_EQ(test, (int)RCM_CMD_END, 0x97);
	KUNIT_EXPECT_EQ(test, (int)RCM_STATE_IDLE, 0);
	KUNIT_EXPECT_EQ(test, (int)RCM_STATE_ESTABLISHED, 11);
	KUNIT_EXPECT_EQ(test, (int)RCM_STATE_COUNT, 18);
	KUNIT_EXPECT_EQ(test, RCM_CREATE, 1U);
	KUNIT_EXPECT_EQ(test, RCM_RESOLVE_BOTH, 2U);
	KUNIT_EXPECT_EQ(test, RCM_EVENT_DONTWAIT, 1U);
	KUNIT_EXPECT_EQ(test, RCM_MAX_PRIVATE_DATA, 256);
	KUNIT_EXPECT_EQ(test, RCM_MAX_GET_EVENTS, 256);
}

static struct kunit_case uabi_cases[] = {
	KUNIT_CASE(uabi_sizes),	    KUNIT_CASE(uabi_no_holes),
	KUNIT_CASE(uabi_alignment), KUNIT_CASE(uabi_size_comes_first),
	KUNIT_CASE(uabi_numbers),   {}
};

struct kunit_suite rcm_uabi_suite = {
	.name = "rcm-uabi",
	.test_cases = uabi_cases,
};
