/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Every function of ib_core, ib_cm, iw_cm and the IP stack that rcm.ko calls,
 * and how it fails; selftests/lint/calls.sh compares this with what rcm.ko has
 * undefined. Included by fail.c, which says what the macros make of a line.
 *
 * FAILS(function, how): one that can be made to fail, and returns then
 *	error	a negative errno, as an int, a long or an ERR_PTR
 *	nothing	NULL, false or 0
 * LEFT(function, why): one that is not made to fail
 */

/* ib_cm; a kernel has one of the two that prepare an MRA */
FAILS(ib_create_cm_id, error)
FAILS(ib_cm_insert_listen, error)
FAILS(ib_cm_init_qp_attr, error)
FAILS(ib_cm_notify, error)
FAILS(ib_send_cm_req, error)
FAILS(ib_send_cm_rep, error)
FAILS(ib_send_cm_rtu, error)
FAILS(ib_send_cm_rej, error)
FAILS(ib_send_cm_mra, error)
FAILS(ib_prepare_cm_mra, error)
FAILS(ib_send_cm_dreq, error)
FAILS(ib_send_cm_drep, error)
FAILS(ib_send_cm_sidr_req, error)
FAILS(ib_send_cm_sidr_rep, error)
LEFT(ib_destroy_cm_id, "returns nothing")
LEFT(ibcm_reject_msg, "a text, always")

/* iw_cm */
FAILS(iw_create_cm_id, error)
FAILS(iw_cm_listen, error)
FAILS(iw_cm_connect, error)
FAILS(iw_cm_accept, error)
FAILS(iw_cm_reject, error)
FAILS(iw_cm_disconnect, error)
FAILS(iw_cm_init_qp_attr, error)
LEFT(iw_destroy_cm_id, "returns nothing")
LEFT(iwcm_reject_msg, "a text, always")

/* ib_core */
FAILS(ib_register_client, error)
FAILS(ib_create_qp_kernel, error)
FAILS(ib_modify_qp, error)
FAILS(ib_find_cached_pkey, error)
FAILS(ib_init_ah_attr_from_path, error)
FAILS(ib_init_ah_from_mcmember, error)
FAILS(rdma_get_gid_attr, error)
FAILS(rdma_find_gid_by_port, error)
FAILS(rdma_read_gid_attr_ndev_rcu, error)
FAILS(rdma_dev_access_netns, nothing)
LEFT(ib_unregister_client, "returns nothing")
LEFT(ib_set_client_data, "returns nothing")
LEFT(ib_destroy_qp_user, "nothing can be done, the queue pair stays")
LEFT(rdma_hold_gid_attr, "returns nothing")
LEFT(rdma_put_gid_attr, "returns nothing")
LEFT(rdma_destroy_ah_attr, "returns nothing")

/* The IP stack, of which three are called through pointers */
FAILS(ip_route_output_flow, error)
FAILS(ip6_dst_lookup_flow, error)
FAILS(ipv4_neigh_lookup, nothing)
FAILS(ip6_dst_neigh_lookup, nothing)
FAILS(__ip_dev_find, nothing)
FAILS(ipv6_chk_addr, nothing)
FAILS(dev_get_by_index_rcu, nothing)
FAILS(ipv6_dev_mc_inc, error)
LEFT(ipv6_dev_mc_dec, "nothing can be done, the group stays")
LEFT(dev_get_by_index, "finds nothing once it is gone, as in addr_changes")
LEFT(__ip_mc_dec_group, "returns nothing")
LEFT(ip_mc_inc_group, "returns nothing")
LEFT(__neigh_event_send, "asks; a neighbour that is not asked does not answer")
LEFT(neigh_destroy, "returns nothing")
LEFT(dst_release, "returns nothing")
LEFT(ip6_dst_hoplimit, "a number, always")
LEFT(inet_get_local_port_range, "returns nothing")
LEFT(vlan_dev_real_dev, "of an interface that is a VLAN, always")
LEFT(vlan_dev_vlan_id, "of an interface that is a VLAN, always")
LEFT(vlan_dev_get_egress_qos_mask, "a number, always")
LEFT(ip_tos2prio, "data")
LEFT(ipv6_stub, "data")
LEFT(__ipv6_addr_type, "a number, always")
LEFT(rtnl_lock, "returns nothing")
LEFT(rtnl_unlock, "returns nothing")

/* Loading the module; a kernel has one of the two that create a cache */
FAILS(alloc_workqueue, nothing)
FAILS(kmem_cache_create, nothing)
FAILS(__kmem_cache_create_args, nothing)
FAILS(register_pernet_subsys, error)
FAILS(register_netevent_notifier, error)
FAILS(misc_register, error)
LEFT(unregister_pernet_subsys, "returns nothing")
LEFT(unregister_netevent_notifier, "removes what is there")
LEFT(misc_deregister, "returns nothing")
