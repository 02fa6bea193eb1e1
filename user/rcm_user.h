/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the files of the library share.
 *
 * Locks, outermost first:
 *
 *  id->event_lock	what an event says of the identifier is being noted
 *  id->lock	the identifier's handle, its acknowledgements
 *  channel->lock	the channel's table of handles
 *  the devices' lock, in device.c
 *
 * No lock is held while the kernel may wait for the network, while an event
 * is waited for, or while an application's code runs.  id->lock is held over
 * the commands that can make the kernel's identifier, and these do not wait.
 */
#ifndef RCM_USER_H
#define RCM_USER_H

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <rdma/rdma_cma.h>
#include <rdma/rcm.h>

#define RCM_DEVICE_DIR	       "/dev/infiniband/"
#define RCM_DEVICE_PATH	       RCM_DEVICE_DIR "rcm"
#define RCM_DEFAULT_TIMEOUT_MS 2000

/* Reasons of a rejection, InfiniBand specification 12.6.7.2. */
#define RCM_REJ_CONSUMER      28
#define RCM_REJ_VENDOR_OPTION 35

/* As much of an identifier as rsockets may look at, in eight bytes. */
#define RCM_FOREIGN_WORDS 32

#define RCM_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

struct rcm_id;
struct rcm_resolution;

/**
 * struct rcm_ref - an identifier's place in a channel's table
 * @next: in the same bucket
 * @id: the identifier
 * @uid: its number, which the kernel repeats in events
 * @handle: the kernel's handle for it, valid for this channel's file
 * @acked: events read from this channel that are done with; @id's lock
 *
 * An identifier has one, and while it migrates two.
 */
struct rcm_ref {
	struct rcm_ref *next;
	struct rcm_id *id;
	__u64 uid;
	__u32 handle;
	__u32 acked;
};

/**
 * struct rcm_orphan - an event that came before its identifier was known
 * @next: in the channel's list
 * @handle: the kernel's handle
 *
 * Happens when one thread has read a connection request and another an event
 * of the same connection, and the second is faster.
 */
struct rcm_orphan {
	struct rcm_orphan *next;
	__u32 handle;
};

/**
 * struct rcm_channel - an event channel
 * @channel: what the application sees; first
 * @lock: the table, @pending
 * @published: signalled when @pending changes
 * @pending: commands under way whose handle is not in the table yet although
 *	an event with it can be read already
 * @refs: users: the application, and each identifier; atomic
 * @mask: buckets minus one
 * @count: entries
 * @bucket: hash table of entries by handle
 * @orphans: events to count for an identifier not entered yet
 */
struct rcm_channel {
	struct rdma_event_channel channel;
	pthread_mutex_t lock;
	pthread_cond_t published;
	unsigned int pending;
	unsigned int refs;
	unsigned int mask;
	unsigned int count;
	struct rcm_ref **bucket;
	struct rcm_orphan *orphans;
};

/**
 * struct rcm_device - an open RDMA device, shared by all that use it
 * @next: in the list of all
 * @verbs: the open device
 * @pd: its default protection domain, or NULL before an identifier needs it
 * @xrcd: its default XRC domain, or NULL when none was needed yet
 * @inode: of its directory in sysfs, to notice that it went or was replaced
 * @guid: node GUID, network order
 * @index: as in struct rcm_endpoint, negative when not known
 * @driver: number of its kernel driver, see uverbs.c; negative when not known
 * @error: why it could not be opened, a negative errno; then it is not listed
 * @refs: identifiers and lists that use it, and those who wait for @opening
 * @opening: a thread opens it, without the lock; nothing else is valid
 * @listed: rdma_get_devices() told of it
 * @gone: the device was removed; nobody new may use it
 * @max_responder_resources: limit of the device, at most 255
 * @max_initiator_depth: limit of the device, at most 255
 */
struct rcm_device {
	struct rcm_device *next;
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct ibv_xrcd *xrcd;
	__u64 inode;
	__be64 guid;
	int index;
	int driver;
	int error;
	unsigned int refs;
	bool opening;
	bool listed;
	bool gone;
	__u8 max_responder_resources;
	__u8 max_initiator_depth;
};

/**
 * struct rcm_mcast - membership of a multicast group
 * @next: in the identifier's list, newest first
 * @number: its number, unique for the identifier, repeated in its event
 * @send_only: the queue pair is not attached
 * @attached: the queue pair is
 * @reported: its event was given to the application
 * @acked: and acknowledged
 * @mgid: what the queue pair is attached to
 * @mlid: likewise
 * @context: the application's
 * @addr: group
 *
 * All of it is under the identifier's lock.
 */
struct rcm_mcast {
	struct rcm_mcast *next;
	__u32 number;
	bool send_only;
	bool attached;
	bool reported;
	bool acked;
	union ibv_gid mgid;
	__u16 mlid;
	void *context;
	struct sockaddr_storage addr;
};

/**
 * struct rcm_id - an identifier
 * @id: what the application sees; first
 * @foreign: what the distribution's rsockets look at, see rsocket.c; second
 * @uid: its number, unique in the process
 * @lock: @ref's handle while it is being made, acknowledgements
 * @event_lock: serialises what threads that read events of one identifier note
 *	in it
 * @acked: signalled when an event was acknowledged
 * @ref: place in the table of @id.channel; handle 0 until the kernel has it
 * @dev: the RDMA device, or NULL
 * @path: storage for @id.route.path_rec
 * @qp_attr: what the kernel said last about the queue pair's transitions
 * @init_attr: what INIT was done with; init_mask 0 when it was not
 * @local_ece: set by rdma_set_local_ece()
 * @remote_ece: came with the request or the response
 * @responder_resources: of the connection
 * @initiator_depth: likewise
 * @sync: calls wait for the event that ends them
 * @connected: a DISCONNECTED event will come or came
 * @disconnected: it came
 * @connect_failed: the library said so, in place of the peer
 * @connect_data: precedes the application's private data, see rdma_create_ep()
 * @connect_len: bytes of it
 * @ep_pd: what rdma_create_ep() was given, also for the queue pairs of a passive
 *	endpoint's requests; or NULL
 * @ep_attr: for these queue pairs, or NULL
 * @reason_lock: protects @reason; nothing is locked inside
 * @reason: why the library failed where the kernel had no part in it
 * @has_reason: @reason is newer than what the kernel says; atomic
 * @mcasts: memberships of multicast groups; @lock
 * @last_mcast: number given last; @lock
 * @resolution: names being looked up, or what was found, or NULL; @lock
 */
struct rcm_id {
	struct rdma_cm_id id;
	__u64 foreign[RCM_FOREIGN_WORDS];
	__u64 uid;
	pthread_mutex_t lock;
	pthread_mutex_t event_lock;
	pthread_cond_t acked;
	struct rcm_ref *ref;
	struct rcm_device *dev;
	struct ibv_sa_path_rec path;
	struct rcm_qp_attr qp_attr;
	struct rcm_qp_attr init_attr;
	struct rcm_ece local_ece;
	struct rcm_ece remote_ece;
	__u8 responder_resources;
	__u8 initiator_depth;
	bool sync;
	bool connected;
	bool disconnected;
	bool connect_failed;
	__u8 connect_len;
	void *connect_data;
	struct ibv_pd *ep_pd;
	struct ibv_qp_init_attr *ep_attr;
	pthread_mutex_t reason_lock;
	struct rcm_reason reason;
	bool has_reason;
	struct rcm_mcast *mcasts;
	__u32 last_mcast;
	struct rcm_resolution *resolution;
};

/**
 * struct rcm_cm_event - an event given to the application
 * @event: what the application sees; first
 * @ref: where acknowledging it counts
 * @reason: why it failed
 * @mcast: membership that it tells of, or NULL
 * @private_data: storage for the event's private data
 */
struct rcm_cm_event {
	struct rdma_cm_event event;
	struct rcm_ref *ref;
	struct rcm_reason reason;
	struct rcm_mcast *mcast;
	__u8 private_data[RCM_MAX_PRIVATE_DATA];
};

/* What the application sees comes first in what is behind it. */
static_assert(!offsetof(struct rcm_id, id), "must be first");
static_assert(!offsetof(struct rcm_channel, channel), "must be first");
static_assert(!offsetof(struct rcm_cm_event, event), "must be first");

static inline struct rcm_id *to_rcm_id(struct rdma_cm_id *id)
{
	return (struct rcm_id *)id;
}

static inline struct rcm_channel *
to_rcm_channel(struct rdma_event_channel *channel)
{
	return (struct rcm_channel *)channel;
}

static inline bool rcm_id_is_ud(const struct rcm_id *id)
{
	return id->id.qp_type == IBV_QPT_UD;
}

static inline struct rcm_channel *rcm_id_channel(const struct rcm_id *id)
{
	return to_rcm_channel(id->id.channel);
}

/* 0 until the kernel has the identifier. */
static inline __u32 rcm_id_handle(const struct rcm_id *id)
{
	return id->ref->handle;
}

/* channel.c */
int rcm_fail(int error);
int rcm_ioctl(int fd, unsigned long cmd, void *arg);
int rcm_id_ioctl(struct rcm_id *id, unsigned long cmd, void *arg);
struct rcm_channel *rcm_channel_create(void);
void rcm_channel_close(struct rcm_channel *ch);
void rcm_channel_get(struct rcm_channel *ch);
void rcm_channel_put(struct rcm_channel *ch);
void rcm_channel_expect(struct rcm_channel *ch);
void rcm_channel_publish(struct rcm_channel *ch, struct rcm_ref *ref,
			 __u32 handle);
void rcm_channel_remove(struct rcm_channel *ch, struct rcm_ref *ref);
struct rcm_ref *rcm_channel_find(struct rcm_channel *ch, __u32 handle,
				 __u64 uid);

/* id.c */
enum ibv_qp_type rcm_ps_qp_type(int ps);
bool rcm_ps_has_qp_type(int ps, int qp_type);
int rcm_id_create(struct rdma_event_channel *channel, struct rcm_id **out,
		  void *context, enum rdma_port_space ps,
		  enum ibv_qp_type qp_type);
struct rcm_id *rcm_id_create_child(struct rcm_channel *ch,
				   const struct rcm_id *listener, __u32 handle);
int rcm_id_need_handle(struct rcm_id *id);
void rcm_id_unmake(struct rcm_id *id);
void rcm_ref_ack(struct rcm_ref *ref);

/* addr.c */
socklen_t rcm_addr_len(const struct sockaddr *addr);
__be16 rcm_addr_port(const struct sockaddr *addr);
void rcm_addr_set_port(struct sockaddr *addr, __be16 port);
int rcm_id_apply(struct rcm_id *id, const struct rcm_endpoint *ep);
int rcm_id_refresh(struct rcm_id *id);
int rcm_resolve_route(struct rcm_id *id, int timeout_ms);

/* addrinfo.c */
struct rdma_addrinfo *rcm_addrinfo_dup(const struct rdma_addrinfo *list);

/* resolve.c */
void rcm_resolution_wait(struct rcm_id *id);
void rcm_resolution_stop(struct rcm_id *id);

/* device.c */
struct rcm_device *rcm_device_get(const struct rcm_endpoint *ep);
void rcm_device_put(struct rcm_device *dev);
void rcm_device_gone(struct rcm_device *dev);
struct ibv_xrcd *rcm_device_xrcd(struct rcm_device *dev);

/* uverbs.c */
int rcm_verbs_driver(struct ibv_context *verbs);
bool rcm_verbs_in_use(const struct rcm_device *dev);
void rcm_verbs_retire(struct ibv_context *verbs);

/* multicast.c */
bool rcm_mcast_joined(struct rcm_cm_event *evt, __u32 number,
		      const struct rcm_ah *ah);
void rcm_mcast_ack(struct rcm_id *id, struct rcm_mcast *mcast);
void rcm_mcast_free_all(struct rcm_id *id);

/* qp.c */
void rcm_copy_ah(struct ibv_ah_attr *to, const struct rcm_ah *from);
int rcm_qp_connect(struct rcm_id *id);
void rcm_qp_error(struct rcm_id *id);
void rcm_qp_close(struct rcm_id *id);

/* event.c */
int rcm_event_errno(const struct rdma_cm_event *event);
void rcm_drop_event(struct rcm_id *id);

/* reason.c */
void rcm_id_set_reason(struct rcm_id *id, const struct rcm_reason *reason);
void rcm_id_no_reason(struct rcm_id *id);
int rcm_id_fail(struct rcm_id *id, enum rcm_step step, int error);
bool rcm_id_started(struct rdma_cm_id *id);

/* rsocket.c */
void rcm_id_show_sync(struct rcm_id *id);

/* sync.c */
int rcm_complete(struct rcm_id *id);

#endif /* RCM_USER_H */
