/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The exported API of rcm.ko, for kernel modules that make or take RDMA
 * connections.
 *
 * Types, arguments and events are those of <rdma/rdma_cm.h>; only the names
 * begin with rcm_, so that both managers can be loaded.  Porting a driver is
 * a rename: Documentation/porting.md.  Each function is described where it is
 * defined, kernel/api*.c.
 *
 * Rules that hold for all of them:
 *
 *  - The handler of an identifier is called from a workqueue or from the
 *    transport's own context, never from within a call of the consumer's, one
 *    event at a time, and may sleep.  It may call any function of this header
 *    but rcm_destroy_id(), rcm_connect() and rcm_listen() on its own
 *    identifier; rcm_connect_locked() is there for it.
 *  - A handler that returns anything but 0 has its identifier destroyed when
 *    it returns.  The consumer must not touch it any more.
 *  - When rcm_destroy_id() has returned no handler of that identifier runs
 *    and none will.
 *  - Consumers may change context, event_handler and qp of an identifier;
 *    rcm reads them for each event.  The two first are changed from within the
 *    handler or between rcm_lock_handler() and rcm_unlock_handler().
 *  - No lock of rcm but that of rcm_lock_handler() is held while a handler
 *    runs, so what a handler locks may also be held around calls, except
 *    rcm_destroy_id() and rcm_connect(), which wait for a running handler.
 *  - After DEVICE_REMOVAL the consumer destroys the identifier, by return value
 *    or by call: the device waits for it.
 *  - Everything may sleep but rcm_notify() and the functions without side
 *    effect (rcm_event_msg() and so on).
 *  - Addresses and ports are in network byte order, times in milliseconds.
 */
#ifndef RCM_RCM_H
#define RCM_RCM_H

#include <rdma/rdma_cm.h>
#include <rdma/rdma_cm_ib.h>

struct rdma_cm_id *
__rcm_create_kernel_id(struct net *net, rdma_cm_event_handler event_handler,
		       void *context, enum rdma_ucm_port_space ps,
		       enum ib_qp_type qp_type, const char *caller);

/**
 * rcm_create_id - make an identifier
 * @net: network namespace; the identifier holds a reference
 * @event_handler: called for its events
 * @context: stored in the identifier, for @event_handler
 * @ps: port space
 * @qp_type: type of the queue pair
 *
 * Context: process; may sleep.
 * Return: the identifier; an ERR_PTR: -ENOMEM, -EPROTONOSUPPORT for a port
 * space that rcm does not know.
 */
#define rcm_create_id(net, event_handler, context, ps, qp_type)          \
	__rcm_create_kernel_id(net, event_handler, context, ps, qp_type, \
			       KBUILD_MODNAME)

struct rdma_cm_id *rcm_create_user_id(rdma_cm_event_handler event_handler,
				      void *context,
				      enum rdma_ucm_port_space ps,
				      enum ib_qp_type qp_type);
void rcm_destroy_id(struct rdma_cm_id *id);

/* Addresses */
int rcm_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr);
int rcm_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr,
		     const struct sockaddr *dst_addr, unsigned long timeout_ms);
int rcm_resolve_route(struct rdma_cm_id *id, unsigned long timeout_ms);
int rcm_set_ib_path(struct rdma_cm_id *id, struct sa_path_rec *path_rec);

/* Options */
void rcm_set_service_type(struct rdma_cm_id *id, int tos);
int rcm_set_reuseaddr(struct rdma_cm_id *id, int reuse);
int rcm_set_afonly(struct rdma_cm_id *id, int afonly);
int rcm_set_ack_timeout(struct rdma_cm_id *id, u8 timeout);
int rcm_set_min_rnr_timer(struct rdma_cm_id *id, u8 min_rnr_timer);
int rcm_restrict_node_type(struct rdma_cm_id *id, u8 node_type);

/* Connections */
int rcm_listen(struct rdma_cm_id *id, int backlog);
int rcm_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn_param);
int rcm_connect_locked(struct rdma_cm_id *id,
		       struct rdma_conn_param *conn_param);
int rcm_connect_ece(struct rdma_cm_id *id, struct rdma_conn_param *conn_param,
		    struct rdma_ucm_ece *ece);
int rcm_accept(struct rdma_cm_id *id, struct rdma_conn_param *conn_param);
int rcm_accept_ece(struct rdma_cm_id *id, struct rdma_conn_param *conn_param,
		   struct rdma_ucm_ece *ece);
int rcm_reject(struct rdma_cm_id *id, const void *private_data,
	       u8 private_data_len, u8 reason);
int rcm_disconnect(struct rdma_cm_id *id);
int rcm_notify(struct rdma_cm_id *id, enum ib_event_type event);
void rcm_lock_handler(struct rdma_cm_id *id);
void rcm_unlock_handler(struct rdma_cm_id *id);

/* Queue pairs */
int rcm_create_qp(struct rdma_cm_id *id, struct ib_pd *pd,
		  struct ib_qp_init_attr *qp_init_attr);
void rcm_destroy_qp(struct rdma_cm_id *id);
int rcm_init_qp_attr(struct rdma_cm_id *id, struct ib_qp_attr *qp_attr,
		     int *qp_attr_mask);

/* Multicast */
int rcm_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr,
		       u8 join_state, void *context);
void rcm_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr);

/* What is what */
const char *__attribute_const__ rcm_event_msg(enum rdma_cm_event_type event);
const char *__attribute_const__ rcm_reject_msg(struct rdma_cm_id *id,
					       int reason);
const void *rcm_consumer_reject_data(struct rdma_cm_id *id,
				     struct rdma_cm_event *ev, u8 *data_len);
__be64 rcm_get_service_id(struct rdma_cm_id *id, struct sockaddr *addr);
void rcm_read_gids(struct rdma_cm_id *id, union ib_gid *sgid,
		   union ib_gid *dgid);
struct iw_cm_id *rcm_iw_cm_id(struct rdma_cm_id *id);

#endif /* RCM_RCM_H */
