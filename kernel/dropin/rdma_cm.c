// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * rdma_cm.ko in place of the kernel's: its names, called through to rcm.ko, so
 * that modules which were built for it run on rcm as they are.
 *
 * The list of includes is part of the symbols' versions: a type that is seen
 * here and not in the kernel's own source, or the other way round, changes
 * them all. Nothing else is included, nothing is defined, and the build ends
 * with check-versions.sh. The prototypes are the kernel's; what a function
 * does is said where rcm defines it.
 */
#include <linux/completion.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/rbtree.h>
#include <linux/igmp.h>
#include <linux/xarray.h>
#include <linux/inetdevice.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <linux/module.h>
#include <net/route.h>

#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/netevent.h>
#include <net/tcp.h>
#include <net/ipv6.h>
#include <net/ip_fib.h>
#include <net/ip6_route.h>

#include <rdma/rdma_cm.h>
#include <rdma/rdma_cm_ib.h>
#include <rdma/rdma_netlink.h>
#include <rdma/ib.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_sa.h>
#include <rdma/iw_cm.h>

#include <rcm/rcm.h>

#include "genksyms_types.h"

MODULE_DESCRIPTION("rdma_cm over rcm");
MODULE_LICENSE("GPL");
MODULE_VERSION(RCM_VERSION);

struct rdma_cm_id *
__rdma_create_kernel_id(struct net *net, rdma_cm_event_handler event_handler,
			void *context, enum rdma_ucm_port_space ps,
			enum ib_qp_type qp_type, const char *caller)
{
	return __rcm_create_kernel_id(net, event_handler, context, ps, qp_type,
				      caller);
}
EXPORT_SYMBOL(__rdma_create_kernel_id);

struct rdma_cm_id *rdma_create_user_id(rdma_cm_event_handler event_handler,
				       void *context,
				       enum rdma_ucm_port_space ps,
				       enum ib_qp_type qp_type)
{
	return rcm_create_user_id(event_handler, context, ps, qp_type);
}
EXPORT_SYMBOL(rdma_create_user_id);

void rdma_destroy_id(struct rdma_cm_id *id)
{
	rcm_destroy_id(id);
}
EXPORT_SYMBOL(rdma_destroy_id);

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	return rcm_bind_addr(id, addr);
}
EXPORT_SYMBOL(rdma_bind_addr);

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr,
		      const struct sockaddr *dst_addr, unsigned long timeout_ms)
{
	return rcm_resolve_addr(id, src_addr, dst_addr, timeout_ms);
}
EXPORT_SYMBOL(rdma_resolve_addr);

int rdma_resolve_route(struct rdma_cm_id *id, unsigned long timeout_ms)
{
	return rcm_resolve_route(id, timeout_ms);
}
EXPORT_SYMBOL(rdma_resolve_route);

int rdma_set_ib_path(struct rdma_cm_id *id, struct sa_path_rec *path_rec)
{
	return rcm_set_ib_path(id, path_rec);
}
EXPORT_SYMBOL(rdma_set_ib_path);

void rdma_set_service_type(struct rdma_cm_id *id, int tos)
{
	rcm_set_service_type(id, tos);
}
EXPORT_SYMBOL(rdma_set_service_type);

int rdma_set_reuseaddr(struct rdma_cm_id *id, int reuse)
{
	return rcm_set_reuseaddr(id, reuse);
}
EXPORT_SYMBOL(rdma_set_reuseaddr);

int rdma_set_afonly(struct rdma_cm_id *id, int afonly)
{
	return rcm_set_afonly(id, afonly);
}
EXPORT_SYMBOL(rdma_set_afonly);

int rdma_set_ack_timeout(struct rdma_cm_id *id, u8 timeout)
{
	return rcm_set_ack_timeout(id, timeout);
}
EXPORT_SYMBOL(rdma_set_ack_timeout);

int rdma_set_min_rnr_timer(struct rdma_cm_id *id, u8 min_rnr_timer)
{
	return rcm_set_min_rnr_timer(id, min_rnr_timer);
}
EXPORT_SYMBOL(rdma_set_min_rnr_timer);

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	return rcm_listen(id, backlog);
}
EXPORT_SYMBOL(rdma_listen);

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	return rcm_connect(id, conn_param);
}
EXPORT_SYMBOL(rdma_connect);

int rdma_connect_locked(struct rdma_cm_id *id,
			struct rdma_conn_param *conn_param)
{
	return rcm_connect_locked(id, conn_param);
}
EXPORT_SYMBOL(rdma_connect_locked);

int rdma_connect_ece(struct rdma_cm_id *id, struct rdma_conn_param *conn_param,
		     struct rdma_ucm_ece *ece)
{
	return rcm_connect_ece(id, conn_param, ece);
}
EXPORT_SYMBOL(rdma_connect_ece);

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	return rcm_accept(id, conn_param);
}
EXPORT_SYMBOL(rdma_accept);

int rdma_accept_ece(struct rdma_cm_id *id, struct rdma_conn_param *conn_param,
		    struct rdma_ucm_ece *ece)
{
	return rcm_accept_ece(id, conn_param, ece);
}
EXPORT_SYMBOL(rdma_accept_ece);

int rdma_reject(struct rdma_cm_id *id, const void *private_data,
		u8 private_data_len, u8 reason)
{
	return rcm_reject(id, private_data, private_data_len, reason);
}
EXPORT_SYMBOL(rdma_reject);

int rdma_disconnect(struct rdma_cm_id *id)
{
	return rcm_disconnect(id);
}
EXPORT_SYMBOL(rdma_disconnect);

int rdma_notify(struct rdma_cm_id *id, enum ib_event_type event)
{
	return rcm_notify(id, event);
}
EXPORT_SYMBOL(rdma_notify);

void rdma_lock_handler(struct rdma_cm_id *id)
{
	rcm_lock_handler(id);
}
EXPORT_SYMBOL(rdma_lock_handler);

void rdma_unlock_handler(struct rdma_cm_id *id)
{
	rcm_unlock_handler(id);
}
EXPORT_SYMBOL(rdma_unlock_handler);

int rdma_create_qp(struct rdma_cm_id *id, struct ib_pd *pd,
		   struct ib_qp_init_attr *qp_init_attr)
{
	return rcm_create_qp(id, pd, qp_init_attr);
}
EXPORT_SYMBOL(rdma_create_qp);

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	rcm_destroy_qp(id);
}
EXPORT_SYMBOL(rdma_destroy_qp);

int rdma_init_qp_attr(struct rdma_cm_id *id, struct ib_qp_attr *qp_attr,
		      int *qp_attr_mask)
{
	return rcm_init_qp_attr(id, qp_attr, qp_attr_mask);
}
EXPORT_SYMBOL(rdma_init_qp_attr);

int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr,
			u8 join_state, void *context)
{
	return rcm_join_multicast(id, addr, join_state, context);
}
EXPORT_SYMBOL(rdma_join_multicast);

void rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr)
{
	rcm_leave_multicast(id, addr);
}
EXPORT_SYMBOL(rdma_leave_multicast);

const char *__attribute_const__ rdma_event_msg(enum rdma_cm_event_type event)
{
	return rcm_event_msg(event);
}
EXPORT_SYMBOL(rdma_event_msg);

const char *__attribute_const__ rdma_reject_msg(struct rdma_cm_id *id,
						int reason)
{
	return rcm_reject_msg(id, reason);
}
EXPORT_SYMBOL(rdma_reject_msg);

const void *rdma_consumer_reject_data(struct rdma_cm_id *id,
				      struct rdma_cm_event *ev, u8 *data_len)
{
	return rcm_consumer_reject_data(id, ev, data_len);
}
EXPORT_SYMBOL(rdma_consumer_reject_data);

__be64 rdma_get_service_id(struct rdma_cm_id *id, struct sockaddr *addr)
{
	return rcm_get_service_id(id, addr);
}
EXPORT_SYMBOL(rdma_get_service_id);

void rdma_read_gids(struct rdma_cm_id *id, union ib_gid *sgid,
		    union ib_gid *dgid)
{
	rcm_read_gids(id, sgid, dgid);
}
EXPORT_SYMBOL(rdma_read_gids);

struct iw_cm_id *rdma_iw_cm_id(struct rdma_cm_id *id)
{
	return rcm_iw_cm_id(id);
}
EXPORT_SYMBOL(rdma_iw_cm_id);

#ifdef RCM_HAS_RES_TO_ID
/**
 * rdma_res_to_id - identifier of a resource list's entry
 * @res: entry
 *
 * Return: %NULL: identifiers of rcm are in no such list.
 */
struct rdma_cm_id *rdma_res_to_id(struct rdma_restrack_entry *res)
{
	return NULL;
}
EXPORT_SYMBOL(rdma_res_to_id);
#endif

#ifdef RCM_HAS_RESTRICT_NODE_TYPE
int rdma_restrict_node_type(struct rdma_cm_id *id, u8 node_type)
{
	return rcm_restrict_node_type(id, node_type);
}
EXPORT_SYMBOL(rdma_restrict_node_type);
#endif

#ifdef RCM_HAS_RESOLVE_IB_SERVICE
/**
 * rdma_resolve_ib_service - look up a service by name
 * @id: identifier
 * @ibs: name or number of the service
 *
 * Return: -EOPNOTSUPP: service records are kept by a subnet manager, which
 * RoCE does not have.
 */
int rdma_resolve_ib_service(struct rdma_cm_id *id,
			    struct rdma_ucm_ib_service *ibs)
{
	return -EOPNOTSUPP;
}
EXPORT_SYMBOL(rdma_resolve_ib_service);
#endif
