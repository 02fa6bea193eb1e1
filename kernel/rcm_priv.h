/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the rooms of the module share: the identifier, the device, the
 * transport.
 *
 * Lock order, outermost first:
 *
 *	rcm_file.reading	at most one
 *	rcm_id.handler_mutex	(a new child's any time: nobody waits for it)
 *	rcm_id.mutex		(listener before its new child)
 *	rcm_device_mutex	the device list, wildcard listeners, listens
 *	rcm_device.lock, listener hash lock, port bucket locks, id table locks,
 *	waiting table locks, pacer bucket locks, rcm_file.lock
 *
 * The locks of the last group are leaves: none is taken under another,
 * except two rcm_file.lock, in the order of their addresses.
 *
 * A kernel consumer's handler runs with rcm_id.handler_mutex and nothing else
 * of ours, so that its own locks may be taken both in the handler and around
 * calls of rcm.  A file's handler runs with rcm_id.mutex as well.
 */
#ifndef RCM_PRIV_H
#define RCM_PRIV_H

#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include <rdma/rcm.h>

#include "addr.h"
#include "port.h"
#include "state.h"

/* How often a request is sent unless the consumer says otherwise. */
#define RCM_CONNECT_TRIES 16

struct rcm_id;
struct rcm_pace_wait;
struct rcm_pacer;
struct rcm_transport;
struct iw_cm_id;
struct mem_cgroup;

/**
 * struct rcm_device - an RDMA device that identifiers can use
 * @ib: the device
 * @transport: how connections are made on it
 * @node: on the list of devices; writers hold rcm_device_mutex, readers RCU
 * @refs: one for the list, one for each identifier attached and each listen
 * @released: @refs is zero
 * @lock: protects @ids and @dead
 * @ids: identifiers attached, by rcm_id.device_node
 * @dead: removal has begun, nothing may be attached
 * @listens: listens on it, by rcm_listen.device_node; lock: rcm_device_mutex
 */
struct rcm_device {
	struct ib_device *ib;
	const struct rcm_transport *transport;
	struct list_head node;
	refcount_t refs;
	struct completion released;
	spinlock_t lock; /* protects ids, dead */
	struct list_head ids;
	bool dead;
	struct list_head listens;
	struct rcu_head rcu;
};

/**
 * struct rcm_listener - a listener on one device
 * @device: the device; the listen goes before the device does
 * @owner: the listening identifier
 * @device_node: on rcm_device.listens
 * @owner_node: on rcm_id.listens
 * @cm: the transport's own object, or %NULL where no request can come
 *
 * Both lists are protected by rcm_device_mutex.
 */
struct rcm_listener {
	struct rcm_device *device;
	struct rcm_id *owner;
	struct list_head device_node;
	struct list_head owner_node;
	void *cm;
};

/**
 * enum rcm_deferred - what is left to a workqueue
 * @RCM_DEFER_ROUTE: resolve the route, and say so
 * @RCM_DEFER_MCAST: say which multicast groups were joined
 * @RCM_DEFER_COMM_EST: notify of IB_EVENT_COMM_EST
 */
enum rcm_deferred {
	RCM_DEFER_ROUTE,
	RCM_DEFER_MCAST,
	RCM_DEFER_COMM_EST,
};

/**
 * struct rcm_peer - what an identifier needs that is to have a peer
 * @priv: the identifier
 * @path: to it; where id.route.path_rec points to
 * @timer: runs while rcm_id.connect_timeout_ms does, and while the end of
 *	the connection waits for its answer
 * @due: when @timer was to run, jiffies
 * @pacer: what counts the request, while it has no answer; see pace.c
 * @wait: while it waits to be sent
 * @sent: when it was sent, jiffies; valid while it is counted and not waiting
 */
struct rcm_peer {
	struct rcm_id *priv;
	struct sa_path_rec path;
	struct delayed_work timer;
	unsigned long due;
	struct rcm_pacer *pacer;
	struct rcm_pace_wait *wait;
	unsigned long sent;
};

/**
 * struct rcm_id - an identifier
 * @id: what the consumer sees of it
 * @refs: the consumer, and everything asynchronous, hold one each
 * @handler_mutex: serialises handlers; everything that may call one but the
 *	consumer's own operations takes it before @mutex
 * @mutex: serialises operations and callbacks; protects what follows
 *	unless it says otherwise
 * @net: namespace, with a reference
 * @memcg: pays for it and for what callbacks allocate, with a reference; %NULL
 *	for a kernel consumer's
 * @number: for people to tell identifiers apart
 * @state: see state.c; changed by rcm_id_move() alone
 * @inline_events: the consumer's handler may be called from within its own
 *	calls, and a removed device may be detached without it
 * @route_follows: resolve the route as soon as the address is
 * @tos_set: @tos was chosen
 * @ack_timeout_set: @ack_timeout was chosen
 * @min_rnr_timer_set: @min_rnr_timer was chosen
 * @v6only_set: the binding's v6only was chosen
 * @srq: the queue pair uses a shared receive queue
 * @disconnect_asked: the consumer wants the connection to end
 * @notified: the transport was told of an event and did not act on it yet
 * @tos: type of service
 * @ack_timeout: local ACK timeout, encoded
 * @node_type: kind of device to use, RDMA_NODE_UNSPECIFIED for any
 * @min_rnr_timer: shortest RNR NAK timer, encoded
 * @connect_timeout_ms: until a connect without answer ends; 0: @connect_tries
 *	decides
 * @connect_tries: how often a request is sent
 * @deferred_work: does what @deferred says
 * @deferred: bits of enum rcm_deferred, atomic
 * @qp_num: queue pair number of this side
 * @qkey: of a datagram queue pair; 0 until it is needed
 * @psn: first packet sequence number that the peer sends
 * @ece: options of this side
 * @reason: why the last operation failed
 * @reason_device: index of the RDMA device that was removed
 * @device: RDMA device, with a reference, or %NULL
 * @device_node: on rcm_device.ids; lock: rcm_device.lock
 * @sgid_attr: local GID, with a reference, or %NULL
 * @cm: the transport's own object of a connection
 * @peer: from the first resolution on, or of a request; else %NULL
 * @ifindex: network interface of the address, or 0
 * @hop_limit: to the peer
 * @dmac: link address of the peer or next hop
 * @space: port space
 * @binding: port; see port.h
 * @addr_req: address translation that had to wait, or %NULL
 * @listen_node: in the hash of listeners; see listen.c
 * @listens: one for each device listened on; lock: rcm_device_mutex
 * @wildcard_node: on the list of wildcard listeners; lock: rcm_device_mutex
 * @mcasts: multicast groups joined, by rcm_mcast.node
 * @backlog: longest queue of requests that nobody read yet
 * @table_node: in the table of all identifiers; see id.c
 * @rcu: for lookups without lock
 */
struct rcm_id {
	struct rdma_cm_id id;
	refcount_t refs;
	struct mutex handler_mutex; /* serialises handlers */
	struct mutex mutex;	    /* serialises operations and callbacks */
	struct net *net;
	struct mem_cgroup *memcg;
	u32 number;
	enum rcm_state state;

	bool inline_events;
	bool route_follows;
	bool tos_set;
	bool ack_timeout_set;
	bool min_rnr_timer_set;
	bool v6only_set;
	bool srq;
	bool disconnect_asked;
	bool notified;
	u8 tos;
	u8 ack_timeout;
	u8 min_rnr_timer;
	u8 node_type;
	u32 connect_timeout_ms;
	u8 connect_tries;
	struct work_struct deferred_work;
	unsigned long deferred;
	u32 qp_num;
	u32 qkey;
	u32 psn;
	struct rdma_ucm_ece ece;
	struct rcm_reason reason;
	u32 reason_device;

	struct rcm_device *device;
	struct list_head device_node;
	const struct ib_gid_attr *sgid_attr;
	void *cm;
	struct rcm_peer *peer;
	int ifindex;
	u8 hop_limit;
	u8 dmac[ETH_ALEN];

	struct rcm_port_space *space;
	struct rcm_binding binding;
	struct rcm_addr_req *addr_req;

	struct hlist_node listen_node;
	struct list_head listens;
	struct list_head wildcard_node;
	struct list_head mcasts;
	u32 backlog;

	struct hlist_node table_node;
	struct rcu_head rcu;
};

/**
 * struct rcm_transport - how connections are made on a kind of device
 * @name: for people
 * @consumer_reject: status of REJECTED when it was the peer's consumer that
 *	refused, so that its private data counts
 * @reject_msg: what a status of REJECTED means, for people
 * @iw_cm_id: the iWARP manager's own object of a connection; may be %NULL
 * @has_path: a path record describes the way to the peer
 * @max_connect_data: private data that a request can carry, bytes
 * @max_accept_data: likewise an acceptance
 * @max_reject_data: likewise a rejection
 * @max_ud_request_data: likewise a datagram identifier's request
 * @max_ud_reply_data: likewise the answer to it
 * @find_gid: what a port has for a local address on an interface, with a
 *	reference; an ERR_PTR when it has nothing
 * @listen: start to listen on listen->device; 0 or a negative errno
 * @unlisten: undo it; waits for requests being handled, may sleep
 * @check_qp: 0 or -EINVAL: whether a queue pair of this number can be
 *	connected; %NULL when the number is only passed on
 * @connect: send a request; makes priv->cm
 * @try_ms: after how long a request without answer is sent again,
 *	milliseconds; %NULL where it is not, so that requests need not be paced
 * @accept: accept the request of priv->cm
 * @establish: confirm the peer's acceptance; %NULL where it needs none
 * @reject: refuse
 * @disconnect: ask to disconnect, or answer the peer's request; an error when
 *	nobody was asked
 * @disconnect_ms: after how long the peer certainly did not answer that,
 *	milliseconds; %NULL where the transport says so itself
 * @notify: tell of an event on the queue pair; %NULL where none is of interest
 * @init_qp_attr: attributes for qp_attr->qp_state, before and after priv->cm
 *	is there
 * @destroy: let go of what was priv->cm; waits for callbacks, may sleep
 *
 * @find_gid is called with the RCU read lock held, @listen with
 * rcm_device_mutex, @unlisten and @destroy with no lock, the others with
 * rcm_id.mutex held.
 */
struct rcm_transport {
	const char *name;
	int consumer_reject;
	const char *(*reject_msg)(int status);
	struct iw_cm_id *(*iw_cm_id)(struct rcm_id *priv);
	bool has_path;
	u8 max_connect_data;
	u8 max_accept_data;
	u8 max_reject_data;
	u8 max_ud_request_data;
	u8 max_ud_reply_data;
	const struct ib_gid_attr *(*find_gid)(struct ib_device *ib, u32 port,
					      const union rcm_addr *addr,
					      struct net_device *ndev);
	int (*listen)(struct rcm_listener *listen, u16 ps, u16 port);
	void (*unlisten)(struct rcm_listener *listen);
	int (*check_qp)(struct rcm_id *priv, u32 qp_num);
	int (*connect)(struct rcm_id *priv, const struct rdma_conn_param *conn);
	unsigned int (*try_ms)(struct rcm_id *priv);
	int (*accept)(struct rcm_id *priv, const struct rdma_conn_param *conn);
	int (*establish)(struct rcm_id *priv);
	int (*reject)(struct rcm_id *priv, u8 reason, const void *data, u8 len);
	int (*disconnect)(struct rcm_id *priv);
	unsigned int (*disconnect_ms)(struct rcm_id *priv);
	int (*notify)(struct rcm_id *priv, enum ib_event_type event);
	int (*init_qp_attr)(struct rcm_id *priv, struct ib_qp_attr *attr,
			    int *mask);
	void (*destroy)(void *cm);
};

/*
 * How to allocate for an identifier that a process has, or a kernel consumer. In
 * a callback a process's control group pays for what others do: when it is full
 * the request is forgotten, rather than one of its processes killed.
 */
static inline gfp_t rcm_gfp(bool process)
{
	if (process && current->flags & PF_KTHREAD)
		return GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN;
	return GFP_KERNEL_ACCOUNT;
}

static inline struct rcm_id *rcm_id_of(struct rdma_cm_id *id)
{
	return container_of(id, struct rcm_id, id);
}

static inline union rcm_addr *rcm_src(struct rcm_id *priv)
{
	return (union rcm_addr *)&priv->id.route.addr.src_addr;
}

static inline union rcm_addr *rcm_dst(struct rcm_id *priv)
{
	return (union rcm_addr *)&priv->id.route.addr.dst_addr;
}

extern struct workqueue_struct *rcm_wq;
extern struct mutex rcm_device_mutex;
extern struct list_head rcm_devices;

/* id.c */
struct rcm_id *rcm_id_create(struct net *net, rdma_cm_event_handler handler,
			     void *context, enum rdma_ucm_port_space ps,
			     enum ib_qp_type qp_type, bool inline_events);
void rcm_id_destroy(struct rcm_id *priv);
void rcm_id_destroy_unlock(struct rcm_id *priv);
void rcm_id_lock_events(struct rcm_id *priv);
void rcm_id_unlock_events(struct rcm_id *priv);
void rcm_id_defer(struct rcm_id *priv, enum rcm_deferred what);
struct rcm_id *rcm_id_get(struct rcm_id *priv);
void rcm_id_put(struct rcm_id *priv);
int rcm_id_move(struct rcm_id *priv, enum rcm_op op);
int rcm_id_dispatch(struct rcm_id *priv, struct rdma_cm_event *event);
int rcm_id_report(struct rcm_id *priv, enum rdma_cm_event_type type,
		  int status);
int rcm_id_allows(struct rcm_id *priv, enum rcm_op op);
int rcm_id_begin(struct rcm_id *priv, enum rcm_op op);
void rcm_id_no_reason(struct rcm_id *priv);
void rcm_id_judge(struct rcm_id *priv, int error);
void rcm_reason_for(struct rcm_reason *reason, int error);
const char *rcm_step_text(u32 step);
void rcm_id_blame_link(struct rcm_id *priv, enum rcm_step step, int error,
		       int ifindex, u32 detail);
void rcm_id_blame(struct rcm_id *priv, enum rcm_step step, int error,
		  u32 detail);
void rcm_id_endpoint(struct rcm_id *priv, struct rcm_endpoint *to);
int rcm_id_init(void);
void rcm_id_exit(void);

/* bind.c */
int rcm_id_bind(struct rcm_id *priv, const union rcm_addr *addr);
int rcm_id_resolve_addr(struct rcm_id *priv, const union rcm_addr *src,
			const union rcm_addr *dst, unsigned int timeout_ms);
void rcm_unbind(struct rcm_id *priv);
int rcm_translate(struct net *net, const union rcm_addr *src,
		  const union rcm_addr *dst, unsigned int timeout_ms,
		  struct rcm_endpoint *to);
int rcm_set_connect_timeout(struct rcm_id *priv, u32 timeout_ms);
int rcm_set_connect_tries(struct rcm_id *priv, u32 tries);
int rcm_id_set_reuseaddr(struct rcm_id *priv, bool reuse);
int rcm_id_set_v6only(struct rcm_id *priv, bool v6only);
int rcm_id_set_tos(struct rcm_id *priv, u8 tos);
int rcm_id_set_ack_timeout(struct rcm_id *priv, u8 timeout);
int rcm_id_set_min_rnr_timer(struct rcm_id *priv, u8 timer);

/* route.c */
int rcm_id_resolve_route(struct rcm_id *priv, unsigned int timeout_ms);
int rcm_route_complete(struct rcm_id *priv);
int rcm_id_set_path(struct rcm_id *priv, const struct sa_path_rec *path);
void rcm_id_use_path(struct rcm_id *priv);

/* device.c */
void rcm_device_get(struct rcm_device *device);
void rcm_device_put(struct rcm_device *device);
struct rcm_device *rcm_device_of(struct ib_device *ib);
bool rcm_device_suits(struct rcm_id *priv, struct rcm_device *device);
int rcm_device_attach(struct rcm_id *priv, int ifindex);
int rcm_device_attach_child(struct rcm_id *priv, struct rcm_device *device,
			    u32 port_num, const struct ib_gid_attr *sgid_attr);
void rcm_device_detach(struct rcm_id *priv);
int rcm_device_init(void);
void rcm_device_exit(void);

/* listen.c */
int rcm_listen_start(struct rcm_id *priv, int backlog);
void rcm_listen_stop(struct rcm_id *priv);
struct rcm_id *rcm_listen_find(struct net *net, enum rdma_ucm_port_space ps,
			       const union rcm_addr *local,
			       const union rcm_addr *remote);
void rcm_listen_device_added(struct rcm_device *device);
void rcm_listen_device_removed(struct rcm_device *device);
struct mem_cgroup *rcm_listen_lock(struct rcm_id *listener);
void rcm_listen_unlock_mutex(struct rcm_id *listener);
void rcm_listen_unlock(struct rcm_id *listener, struct mem_cgroup *memcg);
struct rcm_id *rcm_listen_child(struct rcm_id *listener,
				struct rcm_device *device, u32 port_num,
				const struct ib_gid_attr *sgid_attr,
				const union rcm_addr *local,
				const union rcm_addr *remote);

/* pace.c */
int rcm_pace_enter(struct rcm_id *priv, const struct rdma_conn_param *conn);
void rcm_pace_leave(struct rcm_id *priv, enum rcm_op op);
bool rcm_pace_waits(struct rcm_id *priv);
void rcm_pace_device_removed(const struct rcm_device *device);
void rcm_pace_init(void);

/* connect.c */
int rcm_id_connect(struct rcm_id *priv, struct rdma_conn_param *conn);
int rcm_connect_send_late(struct rcm_id *priv,
			  const struct rdma_conn_param *conn);
int rcm_id_accept(struct rcm_id *priv, struct rdma_conn_param *conn);
int rcm_peer_alloc(struct rcm_id *priv);
void rcm_connect_stop_timer(struct rcm_id *priv);
bool rcm_connect_timer_runs(struct rcm_id *priv);
int rcm_id_establish(struct rcm_id *priv);
void rcm_connect_finish(struct rcm_id *priv, struct rdma_cm_event *event);
int rcm_id_reject(struct rcm_id *priv, const void *data, u8 len, u8 reason);
int rcm_id_disconnect(struct rcm_id *priv);
void rcm_disconnect_asked(struct rcm_id *priv, enum rcm_op op);
int rcm_id_notify(struct rcm_id *priv, enum ib_event_type event);
void rcm_notify_done(struct rcm_id *priv);
void rcm_cm_destroy(struct rcm_id *priv, struct rcm_device *device, void *cm);

/* qp.c */
int rcm_set_qkey(struct rcm_id *priv, u32 qkey);
int rcm_id_init_qp_attr(struct rcm_id *priv, struct ib_qp_attr *attr,
			int *mask);
int rcm_qp_attr_fresh(struct rcm_id *priv, struct ib_qp_attr *attr, int *mask);
void rcm_qp_attr_all(struct rcm_id *priv, struct rcm_qp_attr *to);
void rcm_qp_attr_ah(struct rcm_ah *to, const struct rdma_ah_attr *ah);
void rcm_qp_attr_one(struct rcm_qp_attr *to, const struct ib_qp_attr *attr,
		     int mask);

int rcm_qp_to_init(struct rcm_id *priv);
int rcm_qp_to_rtr(struct rcm_id *priv, const struct rdma_conn_param *conn);
int rcm_qp_to_rts(struct rcm_id *priv, const struct rdma_conn_param *conn);
void rcm_qp_to_error(struct rcm_id *priv);

/* multicast.c */
int rcm_mcast_join(struct rcm_id *priv, const union rcm_addr *addr,
		   bool send_only, u32 number);
int rcm_mcast_join_context(struct rcm_id *priv, const union rcm_addr *addr,
			   bool send_only, void *context);
int rcm_mcast_report(struct rcm_id *priv);
int rcm_mcast_leave(struct rcm_id *priv, u32 number);
void rcm_mcast_leave_addr(struct rcm_id *priv, const union rcm_addr *addr);
void rcm_mcast_leave_all(struct rcm_id *priv);

/* transport_ib.c, transport_iw.c */
extern const struct rcm_transport rcm_transport_ib;
extern const struct rcm_transport rcm_transport_iw;

/* net.c */
struct rcm_port_space *rcm_net_port_space(struct net *net,
					  enum rdma_ucm_port_space ps);
int rcm_net_init(void);
void rcm_net_exit(void);

/* uabi.c */
int rcm_uabi_init(void);
void rcm_uabi_exit(void);

/* debugfs.c */
void rcm_debugfs_init(void);
void rcm_debugfs_exit(void);
struct seq_file;
void rcm_id_show_all(struct seq_file *seq);
void rcm_net_show_ports(struct seq_file *seq);
void rcm_pace_show(struct seq_file *seq);
void rcm_pace_show_totals(struct seq_file *seq);

#endif /* RCM_PRIV_H */
