/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Addresses: the pure half (classification, comparison, conversion) and the
 * translation of a destination into a link address.
 */
#ifndef RCM_ADDR_H
#define RCM_ADDR_H

#include <linux/in6.h>
#include <linux/socket.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

struct net;

/**
 * union rcm_addr - an IPv4 or IPv6 address with its port
 *
 * Everything past the family's own size is zero, so that two of them can be
 * copied and hashed as a whole.
 */
union rcm_addr {
	struct sockaddr sa;
	struct sockaddr_in sin;
	struct sockaddr_in6 sin6;
};

/* The pure half, kernel/addr_pure.c. */
int rcm_addr_set(union rcm_addr *to,
		 const struct __kernel_sockaddr_storage *from);
void rcm_addr_put_user(struct __kernel_sockaddr_storage *to,
		       const union rcm_addr *from);
bool rcm_addr_is_wildcard(const union rcm_addr *addr);
bool rcm_addr_is_any(const union rcm_addr *addr);
bool rcm_addr_is_loopback(const union rcm_addr *addr);
bool rcm_addr_is_linklocal(const union rcm_addr *addr);
bool rcm_addr_is_multicast(const union rcm_addr *addr);
bool rcm_addr_equal(const union rcm_addr *a, const union rcm_addr *b);
__be16 rcm_addr_port(const union rcm_addr *addr);
void rcm_addr_set_port(union rcm_addr *addr, __be16 port);
void rcm_addr_unmap(union rcm_addr *addr);
void rcm_addr_to_gid(const union rcm_addr *addr, union ib_gid *gid);
u32 rcm_addr_hash(const union rcm_addr *addr, u32 seed);

/**
 * struct rcm_addr_result - what a destination was translated to
 * @src: local address, without port
 * @ifindex: network interface that holds it
 * @hop_limit: for packets to the destination
 * @dmac: link address of the destination or the next hop
 */
struct rcm_addr_result {
	union rcm_addr src;
	int ifindex;
	u8 hop_limit;
	u8 dmac[ETH_ALEN];
};

/**
 * struct rcm_addr_query - a translation
 * @net: namespace; the caller keeps it
 * @oif: network interface to use, or 0
 * @src: local address or a wildcard
 * @dst: destination
 * @hash: of the neighbour to be waited for, after -ENODATA
 * @result: after 0
 */
struct rcm_addr_query {
	struct net *net;
	int oif;
	union rcm_addr src;
	union rcm_addr dst;
	u32 hash;
	struct rcm_addr_result result;
};

/**
 * struct rcm_addr_req - a translation that waits for a neighbour
 * @work: runs when the neighbour changed and when time is up
 * @node: in the table of those waiting; lock: the bucket's
 * @query: what is wanted; @query.result is valid when @done says 0
 * @deadline: when to give up, jiffies
 * @pending: @done is still to be called
 * @done: called once, in process context, unless cancelled
 * @context: for @done
 */
struct rcm_addr_req {
	struct delayed_work work;
	struct hlist_node node;
	struct rcm_addr_query query;
	unsigned long deadline;
	atomic_t pending;
	void (*done)(struct rcm_addr_req *req, int status);
	void *context;
};

/* addr.c */
int rcm_addr_try(struct rcm_addr_query *query);
struct rcm_addr_req *rcm_addr_req_alloc(void (*done)(struct rcm_addr_req *req,
						     int status),
					void *context);
void rcm_addr_wait(struct rcm_addr_req *req, unsigned int timeout_ms);
bool rcm_addr_cancel(struct rcm_addr_req *req);
int rcm_addr_local_ifindex(struct net *net, const union rcm_addr *addr);
bool rcm_addr_may_talk(struct net *net, const union rcm_addr *local,
		       const union rcm_addr *remote);
int rcm_addr_init(void);
void rcm_addr_exit(void);

#endif /* RCM_ADDR_H */
