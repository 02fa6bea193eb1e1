/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The layout of each structure of the ABI, the same for 32- and 64-bit
 * callers (C58). abi_ioctl.c includes this, and compiles it with -m32 where
 * there is a compiler.
 */
#ifndef RCM_ABI_LAYOUT_H
#define RCM_ABI_LAYOUT_H

#include <rdma/rcm.h>

#define SIZE(type, size) \
	_Static_assert(sizeof(struct type) == (size), "size of " #type)
#define AT(type, member, offset)                                            \
	_Static_assert(__builtin_offsetof(struct type, member) == (offset), \
		       "offset of " #type "." #member)

SIZE(rcm_reason, 16);
SIZE(rcm_info, 56);
AT(rcm_info, out_features, 8);
AT(rcm_info, out_version, 24);
SIZE(rcm_create_id, 32);
AT(rcm_create_id, uid, 8);
AT(rcm_create_id, ps, 16);
AT(rcm_create_id, out_handle, 24);
SIZE(rcm_destroy_id, 16);
SIZE(rcm_get_events, 24);
AT(rcm_get_events, event_size, 12);
AT(rcm_get_events, events, 16);
SIZE(rcm_bind, 544);
AT(rcm_bind, ps, 12);
AT(rcm_bind, uid, 16);
AT(rcm_bind, addr, 24);
AT(rcm_bind, out_reason, 152);
AT(rcm_bind, out_endpoint, 168);
SIZE(rcm_resolve_addr, 304);
AT(rcm_resolve_addr, uid, 16);
AT(rcm_resolve_addr, timeout_ms, 24);
AT(rcm_resolve_addr, src, 32);
AT(rcm_resolve_addr, dst, 160);
AT(rcm_resolve_addr, out_reason, 288);
SIZE(rcm_resolve_route, 16);
SIZE(rcm_listen, 16);
SIZE(rcm_conn_param, 280);
AT(rcm_conn_param, private_data_len, 8);
AT(rcm_conn_param, reserved, 16);
AT(rcm_conn_param, private_data, 24);
SIZE(rcm_ece, 8);
SIZE(rcm_connect, 296);
AT(rcm_connect, conn, 16);
SIZE(rcm_accept, 304);
AT(rcm_accept, uid, 8);
AT(rcm_accept, conn, 24);
SIZE(rcm_establish, 8);
SIZE(rcm_reject, 272);
AT(rcm_reject, private_data_len, 14);
AT(rcm_reject, private_data, 16);
SIZE(rcm_disconnect, 8);
SIZE(rcm_notify, 16);
SIZE(rcm_ah, 36);
AT(rcm_ah, dmac, 30);
SIZE(rcm_qp_attr, 88);
AT(rcm_qp_attr, pkey_index, 32);
AT(rcm_qp_attr, ah, 52);
SIZE(rcm_init_qp_attr, 104);
SIZE(rcm_set_option, 32);
AT(rcm_set_option, optval, 24);
SIZE(rcm_path, 56);
SIZE(rcm_endpoint, 376);
AT(rcm_endpoint, sgid, 256);
AT(rcm_endpoint, node_guid, 288);
AT(rcm_endpoint, state, 308);
AT(rcm_endpoint, path, 320);
SIZE(rcm_query, 400);
AT(rcm_query, out_endpoint, 24);
SIZE(rcm_migrate, 24);
SIZE(rcm_event, 800);
AT(rcm_event, out_uid, 16);
AT(rcm_event, out_reason, 32);
AT(rcm_event, out_conn, 56);
AT(rcm_event, out_endpoint, 336);
AT(rcm_event, out_qp, 712);

#undef SIZE
#undef AT

#endif /* RCM_ABI_LAYOUT_H */
