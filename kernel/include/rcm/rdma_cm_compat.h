/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The names of <rdma/rdma_cm.h> for what rcm.ko exports: a driver that
 * includes this in place of <rdma/rdma_cm.h>, after every other header that
 * names one of these functions, is ported when it is compiled again.
 */
#ifndef RCM_RDMA_CM_COMPAT_H
#define RCM_RDMA_CM_COMPAT_H

#include <rcm/rcm.h>

#undef rdma_create_id

#define rdma_create_id		  rcm_create_id
#define rdma_create_user_id	  rcm_create_user_id
#define rdma_destroy_id		  rcm_destroy_id
#define rdma_bind_addr		  rcm_bind_addr
#define rdma_resolve_addr	  rcm_resolve_addr
#define rdma_resolve_route	  rcm_resolve_route
#define rdma_set_ib_path	  rcm_set_ib_path
#define rdma_set_service_type	  rcm_set_service_type
#define rdma_set_reuseaddr	  rcm_set_reuseaddr
#define rdma_set_afonly		  rcm_set_afonly
#define rdma_set_ack_timeout	  rcm_set_ack_timeout
#define rdma_set_min_rnr_timer	  rcm_set_min_rnr_timer
#define rdma_restrict_node_type	  rcm_restrict_node_type
#define rdma_listen		  rcm_listen
#define rdma_connect		  rcm_connect
#define rdma_connect_locked	  rcm_connect_locked
#define rdma_connect_ece	  rcm_connect_ece
#define rdma_accept		  rcm_accept
#define rdma_accept_ece		  rcm_accept_ece
#define rdma_reject		  rcm_reject
#define rdma_disconnect		  rcm_disconnect
#define rdma_notify		  rcm_notify
#define rdma_lock_handler	  rcm_lock_handler
#define rdma_unlock_handler	  rcm_unlock_handler
#define rdma_create_qp		  rcm_create_qp
#define rdma_destroy_qp		  rcm_destroy_qp
#define rdma_init_qp_attr	  rcm_init_qp_attr
#define rdma_join_multicast	  rcm_join_multicast
#define rdma_leave_multicast	  rcm_leave_multicast
#define rdma_event_msg		  rcm_event_msg
#define rdma_reject_msg		  rcm_reject_msg
#define rdma_consumer_reject_data rcm_consumer_reject_data
#define rdma_get_service_id	  rcm_get_service_id
#define rdma_read_gids		  rcm_read_gids
#define rdma_iw_cm_id		  rcm_iw_cm_id

#endif /* RCM_RDMA_CM_COMPAT_H */
