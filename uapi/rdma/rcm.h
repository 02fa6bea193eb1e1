/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The ioctl interface of /dev/infiniband/rcm.
 *
 * One open file is one event channel and owns the identifiers made on it.
 * Each command is one ioctl whose argument is a pointer to the structure
 * named beside it.  Rules that hold for all of them:
 *
 *  - Every structure starts with its size in bytes as the caller knows it.
 *    A shorter structure than this header's is completed with zeros, as long
 *    as it reaches the end of the first version (RCM_*_SIZE_VER0 in
 *    Documentation/abi.md); a longer one is accepted while all bytes that the
 *    kernel does not know are zero.
 *  - Members named reserved must be zero.  Members named out_* are written by
 *    the kernel and ignored on input.
 *  - A handle is a non-zero number that is valid for the file that it came
 *    from, and for no other.
 *  - Integers are in host byte order; addresses and ports inside a sockaddr,
 *    GIDs, GUIDs, flow labels and P_Keys marked "network order" are not.
 *
 * Errors common to all commands:
 *
 *  EFAULT      the argument cannot be read or written
 *  EINVAL      size below the first version's, reserved member not zero,
 *              value out of range, or the identifier's state does not allow
 *              the command (Documentation/state-machine.md)
 *  E2BIG       a byte that this kernel does not know is not zero, or size is
 *              larger than a page
 *  EOPNOTSUPP  a flag that this kernel does not know is set
 *  ENOTTY      unknown command
 *  ENOENT      no identifier has this handle
 *  ENODEV      the identifier's RDMA device is gone
 *  ENOMEM      out of memory; the identifier is as it was before the call
 */
#ifndef _UAPI_RDMA_RCM_H
#define _UAPI_RDMA_RCM_H

#include <linux/ioctl.h>
#include <linux/socket.h>
#include <linux/types.h>

#define RCM_ABI_VERSION 1
#define RCM_IOC_TYPE	0xcd

enum rcm_cmd {
	RCM_CMD_INFO = 0x80,
	RCM_CMD_CREATE_ID,
	RCM_CMD_DESTROY_ID,
	RCM_CMD_BIND,
	RCM_CMD_RESOLVE_ADDR,
	RCM_CMD_RESOLVE_ROUTE,
	RCM_CMD_LISTEN,
	RCM_CMD_CONNECT,
	RCM_CMD_ACCEPT,
	RCM_CMD_ESTABLISH,
	RCM_CMD_REJECT,
	RCM_CMD_DISCONNECT,
	RCM_CMD_NOTIFY,
	RCM_CMD_INIT_QP_ATTR,
	RCM_CMD_SET_OPTION,
	RCM_CMD_QUERY,
	RCM_CMD_MIGRATE,
	RCM_CMD_GET_EVENT,
	RCM_CMD_JOIN_MULTICAST,
	RCM_CMD_LEAVE_MULTICAST,
	RCM_CMD_TRANSLATE,
	RCM_CMD_WRITE_EVENT,
	RCM_CMD_GET_EVENTS,
	RCM_CMD_END
};

#define RCM_INFO	    _IO(RCM_IOC_TYPE, RCM_CMD_INFO)
#define RCM_CREATE_ID	    _IO(RCM_IOC_TYPE, RCM_CMD_CREATE_ID)
#define RCM_DESTROY_ID	    _IO(RCM_IOC_TYPE, RCM_CMD_DESTROY_ID)
#define RCM_BIND	    _IO(RCM_IOC_TYPE, RCM_CMD_BIND)
#define RCM_RESOLVE_ADDR    _IO(RCM_IOC_TYPE, RCM_CMD_RESOLVE_ADDR)
#define RCM_RESOLVE_ROUTE   _IO(RCM_IOC_TYPE, RCM_CMD_RESOLVE_ROUTE)
#define RCM_LISTEN	    _IO(RCM_IOC_TYPE, RCM_CMD_LISTEN)
#define RCM_CONNECT	    _IO(RCM_IOC_TYPE, RCM_CMD_CONNECT)
#define RCM_ACCEPT	    _IO(RCM_IOC_TYPE, RCM_CMD_ACCEPT)
#define RCM_ESTABLISH	    _IO(RCM_IOC_TYPE, RCM_CMD_ESTABLISH)
#define RCM_REJECT	    _IO(RCM_IOC_TYPE, RCM_CMD_REJECT)
#define RCM_DISCONNECT	    _IO(RCM_IOC_TYPE, RCM_CMD_DISCONNECT)
#define RCM_NOTIFY	    _IO(RCM_IOC_TYPE, RCM_CMD_NOTIFY)
#define RCM_INIT_QP_ATTR    _IO(RCM_IOC_TYPE, RCM_CMD_INIT_QP_ATTR)
#define RCM_SET_OPTION	    _IO(RCM_IOC_TYPE, RCM_CMD_SET_OPTION)
#define RCM_QUERY	    _IO(RCM_IOC_TYPE, RCM_CMD_QUERY)
#define RCM_MIGRATE	    _IO(RCM_IOC_TYPE, RCM_CMD_MIGRATE)
#define RCM_GET_EVENT	    _IO(RCM_IOC_TYPE, RCM_CMD_GET_EVENT)
#define RCM_JOIN_MULTICAST  _IO(RCM_IOC_TYPE, RCM_CMD_JOIN_MULTICAST)
#define RCM_LEAVE_MULTICAST _IO(RCM_IOC_TYPE, RCM_CMD_LEAVE_MULTICAST)
#define RCM_TRANSLATE	    _IO(RCM_IOC_TYPE, RCM_CMD_TRANSLATE)
#define RCM_WRITE_EVENT	    _IO(RCM_IOC_TYPE, RCM_CMD_WRITE_EVENT)
#define RCM_GET_EVENTS	    _IO(RCM_IOC_TYPE, RCM_CMD_GET_EVENTS)

/**
 * enum rcm_state - where an identifier is in its life
 *
 * The transitions are one table, kernel/state.c, from which
 * Documentation/state-machine.md is generated.
 *
 * @RCM_STATE_IDLE: made, nothing else
 * @RCM_STATE_BOUND: has a local address and owns a port
 * @RCM_STATE_ADDR_QUERY: destination is being translated
 * @RCM_STATE_ADDR_RESOLVED: local device and peer's link address known
 * @RCM_STATE_ROUTE_QUERY: path is being looked up
 * @RCM_STATE_ROUTE_RESOLVED: ready to connect
 * @RCM_STATE_LISTEN: accepts connection requests
 * @RCM_STATE_REQ_SENT: active side, waiting for the peer's answer
 * @RCM_STATE_REP_RCVD: active side, peer accepted, we did not confirm yet
 * @RCM_STATE_REQ_RCVD: passive side, waiting for accept or reject
 * @RCM_STATE_REP_SENT: passive side, accepted, waiting for confirmation
 * @RCM_STATE_ESTABLISHED: connected
 * @RCM_STATE_CLOSING: we asked to disconnect, peer did not answer yet
 * @RCM_STATE_DISCONNECTED: connection is over; time wait runs
 * @RCM_STATE_CLOSED: time wait is over
 * @RCM_STATE_FAILED: rejected, unreachable or broken before it was established
 * @RCM_STATE_REMOVED: the RDMA device went away
 * @RCM_STATE_DESTROYING: being destroyed; never seen by a caller
 */
enum rcm_state {
	RCM_STATE_IDLE,
	RCM_STATE_BOUND,
	RCM_STATE_ADDR_QUERY,
	RCM_STATE_ADDR_RESOLVED,
	RCM_STATE_ROUTE_QUERY,
	RCM_STATE_ROUTE_RESOLVED,
	RCM_STATE_LISTEN,
	RCM_STATE_REQ_SENT,
	RCM_STATE_REP_RCVD,
	RCM_STATE_REQ_RCVD,
	RCM_STATE_REP_SENT,
	RCM_STATE_ESTABLISHED,
	RCM_STATE_CLOSING,
	RCM_STATE_DISCONNECTED,
	RCM_STATE_CLOSED,
	RCM_STATE_FAILED,
	RCM_STATE_REMOVED,
	RCM_STATE_DESTROYING,
	RCM_STATE_COUNT
};

/**
 * enum rcm_step - what was being done when something failed
 */
enum rcm_step {
	RCM_STEP_NONE,
	RCM_STEP_ROUTE_LOOKUP, /* no IP route to the destination */
	RCM_STEP_NEIGHBOUR,    /* link address of the next hop */
	RCM_STEP_DEVICE,       /* interface has no usable RDMA device */
	RCM_STEP_GID,	       /* RDMA device has no GID for the address */
	RCM_STEP_PATH,	       /* path record */
	RCM_STEP_CONNECT,      /* request got no answer */
	RCM_STEP_REJECTED,     /* peer said no; detail is its reason */
	RCM_STEP_DISCONNECT,   /* disconnect request got no answer */
	RCM_STEP_REMOVAL,      /* RDMA device went away */
	RCM_STEP_BACKLOG,      /* listener had no room */
	RCM_STEP_STATE,	       /* identifier's state does not allow it */
	RCM_STEP_PARAM,	       /* a value that was given is not allowed */
	RCM_STEP_RESOURCES,    /* memory, or a limit was reached */
	RCM_STEP_ADDRESS,      /* address is not local */
	RCM_STEP_PORT,	       /* port is taken, privileged, or none is free */
	RCM_STEP_NAMESPACE,    /* RDMA device is in another network namespace */
	RCM_STEP_SEND,	       /* request or answer could not be sent */
	RCM_STEP_MULTICAST,    /* group could not be joined */
	/* Of the library: */
	RCM_STEP_OPEN, /* RDMA device cannot be opened */
	RCM_STEP_QP,   /* queue pair cannot follow the connection */
	RCM_STEP_NAME, /* name has no address */
	RCM_STEP_COUNT
};

/*
 * Each step in words, for people: the initializer of an array, so that the
 * kernel's traces and the library say the same.
 */
#define RCM_STEP_TEXTS                                                        \
	{                                                                     \
		[RCM_STEP_NONE] = "nothing failed",                           \
		[RCM_STEP_ROUTE_LOOKUP] = "no IP route to the destination",   \
		[RCM_STEP_NEIGHBOUR] =                                        \
			"link address of the next hop not found",             \
		[RCM_STEP_DEVICE] = "interface has no usable RDMA device",    \
		[RCM_STEP_GID] = "RDMA device has no GID for the address",    \
		[RCM_STEP_PATH] = "path not found",                           \
		[RCM_STEP_CONNECT] = "peer does not answer",                  \
		[RCM_STEP_REJECTED] = "rejected by the peer",                 \
		[RCM_STEP_DISCONNECT] =                                       \
			"peer does not answer the disconnect request",        \
		[RCM_STEP_REMOVAL] = "RDMA device was removed",               \
		[RCM_STEP_BACKLOG] = "listener's backlog is full",            \
		[RCM_STEP_STATE] = "not possible in this state",              \
		[RCM_STEP_PARAM] = "parameter not allowed",                   \
		[RCM_STEP_RESOURCES] = "out of memory, or limit reached",     \
		[RCM_STEP_ADDRESS] = "address is not local",                  \
		[RCM_STEP_PORT] = "port is taken or not permitted",           \
		[RCM_STEP_NAMESPACE] =                                        \
			"RDMA device is in another network namespace",        \
		[RCM_STEP_SEND] = "message could not be sent",                \
		[RCM_STEP_MULTICAST] = "multicast group could not be joined", \
		[RCM_STEP_OPEN] = "RDMA device cannot be opened",             \
		[RCM_STEP_QP] = "queue pair cannot follow the connection",    \
		[RCM_STEP_NAME] = "name has no address",                      \
	}

/**
 * struct rcm_reason - why an operation failed
 * @step: enum rcm_step, RCM_STEP_NONE when nothing failed
 * @error: negative errno underneath, or 0
 * @ifindex: network interface concerned, or 0
 * @detail: for RCM_STEP_REJECTED the peer's reason; for RCM_STEP_GID,
 *	RCM_STEP_NAMESPACE, RCM_STEP_OPEN and RCM_STEP_REMOVAL the index of the
 *	RDMA device, as in netlink; otherwise 0
 *
 * Each command that gets as far as its identifier sets it or, when it
 * succeeds, clears it; and so does what happens later and fails.
 */
struct rcm_reason {
	__u32 step;
	__s32 error;
	__u32 ifindex;
	__u32 detail;
};

/**
 * struct rcm_info - RCM_INFO: what this module is and can do
 * @size: sizeof(struct rcm_info)
 * @out_abi_version: RCM_ABI_VERSION of the module
 * @out_features: RCM_FEATURE_* bits
 * @out_max_ids: largest number of identifiers that one file may own
 * @out_max_backlog: largest backlog of a listener
 * @out_version: version of the module, a NUL-terminated string
 *
 * No errors but the common ones.
 */
struct rcm_info {
	__u32 size;
	__u32 out_abi_version;
	__aligned_u64 out_features;
	__u32 out_max_ids;
	__u32 out_max_backlog;
	__u8 out_version[32];
};

#define RCM_FEATURE_ROCE	    0x1ULL
#define RCM_FEATURE_CREATE_ON_USE   0x2ULL
#define RCM_FEATURE_RESOLVE_BOTH    0x4ULL
#define RCM_FEATURE_DATAGRAM	    0x8ULL
#define RCM_FEATURE_MULTICAST	    0x10ULL
#define RCM_FEATURE_TRANSLATE	    0x20ULL
#define RCM_FEATURE_CONNECT_TIMEOUT 0x40ULL
#define RCM_FEATURE_WRITE_EVENT	    0x80ULL
#define RCM_FEATURE_IWARP	    0x100ULL
#define RCM_FEATURE_GET_EVENTS	    0x200ULL

/**
 * struct rcm_create_id - RCM_CREATE_ID: make an identifier
 * @size: sizeof(struct rcm_create_id)
 * @flags: must be 0
 * @uid: the caller's own number, returned in events of this identifier
 * @ps: port space: RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IPOIB or RDMA_PS_IB
 * @qp_type: IB_QPT_RC (2) with RDMA_PS_TCP, IB_QPT_UD (4) with RDMA_PS_UDP and
 *	RDMA_PS_IPOIB, either of them, IB_QPT_UC (3), IB_QPT_XRC_INI (9) or
 *	IB_QPT_XRC_TGT (10) with RDMA_PS_IB; or 0 for the usual one, which for
 *	RDMA_PS_IB is IB_QPT_RC
 * @reserved: must be 0
 * @out_handle: handle of the new identifier
 *
 * The identifier lives in the network namespace that the file was opened in.
 *
 * EPROTONOSUPPORT  @ps is unknown or not supported
 * EINVAL           @qp_type does not fit @ps
 * EMFILE           the file owns out_max_ids identifiers already
 */
struct rcm_create_id {
	__u32 size;
	__u32 flags;
	__aligned_u64 uid;
	__u16 ps;
	__u8 qp_type;
	__u8 reserved[5];
	__u32 out_handle;
	__u32 reserved2;
};

/**
 * struct rcm_destroy_id - RCM_DESTROY_ID: destroy an identifier
 * @size: sizeof(struct rcm_destroy_id)
 * @handle: identifier
 * @out_events_reported: how many of its events were read from this file, so
 *	that a library can wait until all of them are acknowledged
 * @reserved: must be 0
 *
 * Events not read yet are dropped.  A connection is disconnected, a request
 * not answered yet is rejected, the port is free when the call returns.
 */
struct rcm_destroy_id {
	__u32 size;
	__u32 handle;
	__u32 out_events_reported;
	__u32 reserved;
};

/**
 * struct rcm_path - a path record, with all members in host byte order but
 *	the GIDs, and lifetimes, rates and MTU encoded as in the specification
 */
struct rcm_path {
	__u8 dgid[16];
	__u8 sgid[16];
	__u32 flow_label;
	__u16 dlid;
	__u16 slid;
	__u16 pkey;
	__u8 hop_limit;
	__u8 traffic_class;
	__u8 sl;
	__u8 mtu;
	__u8 rate;
	__u8 packet_life_time;
	__u8 reversible;
	__u8 reserved[7];
};

/**
 * struct rcm_endpoint - where an identifier stands
 * @src: local address and port; family 0 when not bound
 * @dst: peer's address and port; family 0 when not known
 * @sgid: local GID, network order
 * @dgid: peer's GID, network order
 * @node_guid: of the RDMA device, network order; 0 with @ibdev_index set is
 *	a device whose GUID is 0
 * @ibdev_index: index of the RDMA device as in netlink; ~0 when none
 * @ifindex: network interface, or 0
 * @pkey: host order
 * @port_num: port of the RDMA device, or 0 when none
 * @num_paths: 0, or 1 when @path is valid
 * @state: enum rcm_state
 * @ps: port space
 * @qp_type: as for RCM_CREATE_ID, never 0
 * @reserved: 0
 * @path: path to the peer
 */
struct rcm_endpoint {
	struct __kernel_sockaddr_storage src;
	struct __kernel_sockaddr_storage dst;
	__u8 sgid[16];
	__u8 dgid[16];
	__aligned_be64 node_guid;
	__u32 ibdev_index;
	__u32 ifindex;
	__u16 pkey;
	__u8 port_num;
	__u8 num_paths;
	__u32 state;
	__u16 ps;
	__u8 qp_type;
	__u8 reserved[5];
	struct rcm_path path;
};

/**
 * struct rcm_bind - RCM_BIND: give an identifier a local address
 * @size: sizeof(struct rcm_bind)
 * @handle: identifier; 0 with RCM_CREATE, then the new handle on return
 * @flags: 0 or RCM_CREATE
 * @ps: with RCM_CREATE, as in struct rcm_create_id; otherwise must be 0
 * @qp_type: likewise
 * @reserved: must be 0
 * @uid: likewise
 * @addr: struct sockaddr_in or sockaddr_in6, port in network byte order, port
 *	0 for an ephemeral one; on return with the port that was taken
 * @out_reason: why it failed; written then, too, and then alone
 * @out_endpoint: where the identifier stands now
 *
 * With RCM_CREATE, nothing is left when the call fails.
 *
 * EAFNOSUPPORT   address family not supported
 * EADDRNOTAVAIL  address is not local; or the port is taken and one of the
 *                two addresses is a wildcard; or no ephemeral port is free
 * EADDRINUSE     the same address and port is taken
 * EACCES         privileged port without CAP_NET_BIND_SERVICE
 * ENODEV         no RDMA device has this address
 * EINVAL         link-local IPv6 address without scope, or already bound
 */
struct rcm_bind {
	__u32 size;
	__u32 handle;
	__u32 flags;
	__u16 ps;
	__u8 qp_type;
	__u8 reserved;
	__aligned_u64 uid;
	struct __kernel_sockaddr_storage addr;
	struct rcm_reason out_reason;
	struct rcm_endpoint out_endpoint;
};

/* Make the identifier first; for RCM_BIND and RCM_RESOLVE_ADDR. */
#define RCM_CREATE 0x1U
/* Resolve the route too; for RCM_RESOLVE_ADDR. */
#define RCM_RESOLVE_BOTH 0x2U

/**
 * struct rcm_resolve_addr - RCM_RESOLVE_ADDR: translate a destination
 * @size: sizeof(struct rcm_resolve_addr)
 * @handle: identifier; 0 with RCM_CREATE, then the new handle on return
 * @flags: RCM_CREATE, RCM_RESOLVE_BOTH or 0
 * @ps: with RCM_CREATE, as in struct rcm_create_id; otherwise must be 0
 * @qp_type: likewise
 * @reserved: must be 0
 * @uid: likewise
 * @timeout_ms: how long to wait for the peer's link address, milliseconds
 * @reserved2: must be 0
 * @src: local address to use, or family 0 (AF_UNSPEC) to let the route decide;
 *	ignored when the identifier is bound already
 * @dst: destination address and port
 * @out_reason: as in struct rcm_bind
 *
 * Binds the identifier when it is not bound.  Success means that exactly one
 * of ADDR_RESOLVED and ADDR_ERROR follows; when the neighbour is known the
 * event can be read before the call returns.  With RCM_RESOLVE_BOTH,
 * ADDR_RESOLVED is followed by ROUTE_RESOLVED or ROUTE_ERROR.
 *
 * Errors as for RCM_BIND, and
 * ENETUNREACH, EHOSTUNREACH  no IP route
 * EINVAL                     families of @src and @dst differ
 */
struct rcm_resolve_addr {
	__u32 size;
	__u32 handle;
	__u32 flags;
	__u16 ps;
	__u8 qp_type;
	__u8 reserved;
	__aligned_u64 uid;
	__u32 timeout_ms;
	__u32 reserved2;
	struct __kernel_sockaddr_storage src;
	struct __kernel_sockaddr_storage dst;
	struct rcm_reason out_reason;
};

/**
 * struct rcm_resolve_route - RCM_RESOLVE_ROUTE: find the path
 * @size: sizeof(struct rcm_resolve_route)
 * @handle: identifier, in state ADDR_RESOLVED
 * @timeout_ms: how long to wait, milliseconds
 * @reserved: must be 0
 *
 * Success means that exactly one of ROUTE_RESOLVED and ROUTE_ERROR follows.
 */
struct rcm_resolve_route {
	__u32 size;
	__u32 handle;
	__u32 timeout_ms;
	__u32 reserved;
};

/**
 * struct rcm_listen - RCM_LISTEN: accept connection requests
 * @size: sizeof(struct rcm_listen)
 * @handle: identifier; bound to 0.0.0.0 and an ephemeral port when not bound
 * @backlog: requests that may wait unread; 0 or more than out_max_backlog
 *	means out_max_backlog
 * @reserved: must be 0
 *
 * EADDRNOTAVAIL, EADDRINUSE  the port has another user, see RCM_BIND
 * EADDRINUSE                 another connection manager on this host listens
 *                            there on the same device
 */
struct rcm_listen {
	__u32 size;
	__u32 handle;
	__u32 backlog;
	__u32 reserved;
};

#define RCM_MAX_PRIVATE_DATA 256

/**
 * struct rcm_conn_param - parameters of a connection
 * @qp_num: queue pair number
 * @qkey: Q_Key, datagram only
 * @private_data_len: bytes used in @private_data.  In events: the size of the
 *	message's field; what the peer did not fill is zero
 * @srq: non-zero: the queue pair uses a shared receive queue
 * @responder_resources: RDMA reads that may be outstanding towards us
 * @initiator_depth: RDMA reads that we may have outstanding
 * @flow_control: non-zero: end-to-end flow control
 * @retry_count: 0 to 7, larger means 7
 * @rnr_retry_count: 0 to 7, larger means 7; 7 is forever
 * @reserved: must be 0
 * @private_data: for the peer
 *
 * In CONNECT_REQUEST and CONNECT_RESPONSE events @responder_resources is the
 * peer's initiator depth and the reverse.
 */
struct rcm_conn_param {
	__u32 qp_num;
	__u32 qkey;
	__u16 private_data_len;
	__u8 srq;
	__u8 responder_resources;
	__u8 initiator_depth;
	__u8 flow_control;
	__u8 retry_count;
	__u8 rnr_retry_count;
	__u8 reserved[8];
	__u8 private_data[RCM_MAX_PRIVATE_DATA];
};

/**
 * struct rcm_ece - enhanced connection establishment options
 */
struct rcm_ece {
	__u32 vendor_id;
	__u32 attr_mod;
};

/**
 * struct rcm_connect - RCM_CONNECT: send a connection request
 * @size: sizeof(struct rcm_connect)
 * @handle: identifier, in state ROUTE_RESOLVED
 * @ece: options offered to the peer
 * @conn: parameters; private data at most 56 bytes on RoCE and InfiniBand, 255
 *	on iWARP
 *
 * Success means that exactly one of CONNECT_RESPONSE, REJECTED, UNREACHABLE
 * and CONNECT_ERROR follows, unless the identifier is destroyed or
 * disconnected before.  On iWARP ESTABLISHED takes the place of
 * CONNECT_RESPONSE: the peer's answer needs no confirmation.
 *
 * EINVAL        private data too long, or more read resources than the device
 *               has; on iWARP also no such queue pair
 * ECONNREFUSED, ETIMEDOUT, EADDRINUSE and others of a TCP connect
 *               on iWARP, where the device makes the connection at once
 */
struct rcm_connect {
	__u32 size;
	__u32 handle;
	struct rcm_ece ece;
	struct rcm_conn_param conn;
};

/**
 * struct rcm_accept - RCM_ACCEPT: accept a connection request
 * @size: sizeof(struct rcm_accept)
 * @handle: identifier from a CONNECT_REQUEST event
 * @uid: the caller's own number for it
 * @ece: options agreed to
 * @conn: parameters; private data at most 196 bytes on RoCE and InfiniBand, 136
 *	of datagrams, 255 on iWARP
 *
 * ESTABLISHED follows, or DISCONNECTED, UNREACHABLE or REJECTED.
 * When the call fails the request was rejected, except for EINVAL, which
 * changes nothing.
 */
struct rcm_accept {
	__u32 size;
	__u32 handle;
	__aligned_u64 uid;
	struct rcm_ece ece;
	struct rcm_conn_param conn;
};

/**
 * struct rcm_establish - RCM_ESTABLISH: confirm the peer's acceptance
 * @size: sizeof(struct rcm_establish)
 * @handle: identifier that got CONNECT_RESPONSE
 *
 * To be called when the queue pair can receive.  The connection is
 * established when this returns 0; no event follows.
 */
struct rcm_establish {
	__u32 size;
	__u32 handle;
};

/**
 * struct rcm_reject - RCM_REJECT: refuse a connection request or acceptance
 * @size: sizeof(struct rcm_reject)
 * @handle: identifier
 * @reason: 28 (consumer defined) or 35 (vendor option not supported); 0
 *	means 28; not sent on iWARP
 * @reserved: must be 0
 * @private_data_len: bytes used in @private_data, at most 148, of datagrams 136,
 *	on iWARP 255
 * @private_data: for the peer
 *
 * When the call fails the connection is over but the peer was not told, except
 * for EINVAL, which changes nothing.
 */
struct rcm_reject {
	__u32 size;
	__u32 handle;
	__u8 reason;
	__u8 reserved[5];
	__u16 private_data_len;
	__u8 private_data[RCM_MAX_PRIVATE_DATA];
};

/**
 * struct rcm_disconnect - RCM_DISCONNECT: end a connection
 * @size: sizeof(struct rcm_disconnect)
 * @handle: identifier
 *
 * DISCONNECTED follows exactly once on either side.  Answers the peer's
 * request when it was first.
 */
struct rcm_disconnect {
	__u32 size;
	__u32 handle;
};

/**
 * struct rcm_notify - RCM_NOTIFY: tell of an event on the queue pair
 * @size: sizeof(struct rcm_notify)
 * @handle: identifier
 * @event: IB_EVENT_COMM_EST (4) or IB_EVENT_PATH_MIG (6)
 * @reserved: must be 0
 *
 * EISCONN  the connection is established already
 */
struct rcm_notify {
	__u32 size;
	__u32 handle;
	__u32 event;
	__u32 reserved;
};

/**
 * struct rcm_ah - address vector, the members of struct ibv_ah_attr
 * @dgid: destination GID, network order
 * @flow_label: host order
 * @dmac: destination MAC address, RoCE
 */
struct rcm_ah {
	__u8 dgid[16];
	__u32 flow_label;
	__u16 dlid;
	__u8 sgid_index;
	__u8 hop_limit;
	__u8 traffic_class;
	__u8 sl;
	__u8 src_path_bits;
	__u8 static_rate;
	__u8 is_global;
	__u8 port_num;
	__u8 dmac[6];
};

/**
 * struct rcm_qp_attr - what a queue pair needs to move to INIT, RTR and RTS
 * @init_mask: IB_QP_* attribute mask for INIT; 0: not known yet
 * @rtr_mask: likewise for RTR
 * @rts_mask: likewise for RTS
 *
 * The other members are those of struct ibv_qp_attr of the same name.
 * qp_state is not in it: the mask used says which state is meant.
 */
struct rcm_qp_attr {
	__u32 init_mask;
	__u32 rtr_mask;
	__u32 rts_mask;
	__u32 qp_access_flags;
	__u32 qkey;
	__u32 rq_psn;
	__u32 sq_psn;
	__u32 dest_qp_num;
	__u16 pkey_index;
	__u8 port_num;
	__u8 path_mtu;
	__u8 max_rd_atomic;
	__u8 max_dest_rd_atomic;
	__u8 min_rnr_timer;
	__u8 timeout;
	__u8 retry_cnt;
	__u8 rnr_retry;
	__u8 path_mig_state;
	__u8 reserved[9];
	struct rcm_ah ah;
};

/**
 * struct rcm_init_qp_attr - RCM_INIT_QP_ATTR: attributes for one transition
 * @size: sizeof(struct rcm_init_qp_attr)
 * @handle: identifier with a device
 * @qp_state: IB_QPS_INIT (1), IB_QPS_RTR (2) or IB_QPS_RTS (3)
 * @out_mask: IB_QP_* attribute mask
 * @out_attr: attributes; only the mask of @qp_state is set
 */
struct rcm_init_qp_attr {
	__u32 size;
	__u32 handle;
	__u32 qp_state;
	__u32 out_mask;
	struct rcm_qp_attr out_attr;
};

/*
 * Our own option level, 4 bytes each, to be set before RCM_CONNECT.
 * RCM_OPTION_CONNECT_TIMEOUT: milliseconds until a connect without answer
 * ends with UNREACHABLE; 0, the default, leaves it to the number of tries.
 * RCM_OPTION_CONNECT_TRIES: how often the request is sent, 1 to 16 times, with
 * the time shared out among them, though not less than 0.5 s apart for a
 * connection; default 16, every 4.6 s (datagrams: 4.1 s).
 */
#define RCM_OPTION		   0x72636d
#define RCM_OPTION_CONNECT_TIMEOUT 0
#define RCM_OPTION_CONNECT_TRIES   1

/**
 * struct rcm_set_option - RCM_SET_OPTION
 * @size: sizeof(struct rcm_set_option)
 * @handle: identifier
 * @level: 0 (RDMA_OPTION_ID) or RCM_OPTION
 * @optname: of RDMA_OPTION_ID: 0 type of service (1 byte), 1 reuse address (4
 *	bytes), 2 IPv6 only (4 bytes), 3 ACK timeout (1 byte, 0 to 31); of
 *	RCM_OPTION: see there
 * @optlen: bytes at @optval
 * @reserved: must be 0
 * @optval: pointer to the value
 *
 * ENOPROTOOPT  unknown level or name
 * EINVAL       wrong length or value, or state does not allow it
 */
struct rcm_set_option {
	__u32 size;
	__u32 handle;
	__u32 level;
	__u32 optname;
	__u32 optlen;
	__u32 reserved;
	__aligned_u64 optval;
};

/**
 * struct rcm_query - RCM_QUERY: where an identifier stands now
 * @size: sizeof(struct rcm_query)
 * @handle: identifier
 * @out_reason: why its last operation failed
 * @out_endpoint: addresses, device, path and state
 */
struct rcm_query {
	__u32 size;
	__u32 handle;
	struct rcm_reason out_reason;
	struct rcm_endpoint out_endpoint;
};

/**
 * struct rcm_migrate - RCM_MIGRATE: move an identifier to another file
 * @size: sizeof(struct rcm_migrate)
 * @handle: identifier
 * @fd: the other file, an open /dev/infiniband/rcm of the same network
 *	namespace; the ioctl is made on the file that owns the identifier
 * @out_handle: its handle there
 * @out_events_reported: its events that were read from the old file
 * @reserved: must be 0
 *
 * Events not read yet move along.
 *
 * EBADF   @fd is not open
 * EINVAL  @fd is not such a file, or of another network namespace
 * EMFILE  the other file owns out_max_ids identifiers already
 */
struct rcm_migrate {
	__u32 size;
	__u32 handle;
	__s32 fd;
	__u32 out_handle;
	__u32 out_events_reported;
	__u32 reserved;
};

/**
 * struct rcm_event - RCM_GET_EVENT: take the oldest event
 * @size: sizeof(struct rcm_event)
 * @flags: 0, or RCM_EVENT_DONTWAIT
 * @out_handle: identifier; for a CONNECT_REQUEST the listener
 * @out_new_handle: for a CONNECT_REQUEST the new identifier, for a
 *	MULTICAST_JOIN the number of the membership, otherwise 0
 * @out_uid: the caller's number for @out_handle
 * @out_event: enum rdma_cm_event_type of librdmacm
 * @out_status: negative errno, or the peer's reason, or 0, as librdmacm has it
 * @out_reason: why it failed
 * @out_ece: the peer's options
 * @out_conn: parameters and private data that came with it
 * @out_endpoint: of the identifier; for a CONNECT_REQUEST of the new one
 * @out_qp: what the next steps of the queue pair need
 *
 * Waits unless the file is O_NONBLOCK or RCM_EVENT_DONTWAIT is set.  poll()
 * says POLLIN exactly while an event can be read.
 *
 * EAGAIN       nothing to read, and not to wait
 * EINTR        interrupted by a signal
 */
struct rcm_event {
	__u32 size;
	__u32 flags;
	__u32 out_handle;
	__u32 out_new_handle;
	__aligned_u64 out_uid;
	__u32 out_event;
	__s32 out_status;
	struct rcm_reason out_reason;
	struct rcm_ece out_ece;
	struct rcm_conn_param out_conn;
	struct rcm_endpoint out_endpoint;
	struct rcm_qp_attr out_qp;
};

#define RCM_EVENT_DONTWAIT 0x1U

/**
 * struct rcm_get_events - RCM_GET_EVENTS: take several events
 * @size: sizeof(struct rcm_get_events)
 * @flags: 0, or RCM_EVENT_DONTWAIT
 * @count: how many there is room for, not 0
 * @event_size: bytes of each, a multiple of 8: sizeof(struct rcm_event)
 * @events: pointer to an array of struct rcm_event, aligned as one
 *
 * Waits as RCM_GET_EVENT does for the first; then takes those that are there,
 * at most RCM_MAX_GET_EVENTS. The ioctl returns how many it took. One that
 * cannot be delivered stays, with those after it.
 *
 * EAGAIN       nothing to read, and not to wait
 * EINTR        interrupted by a signal
 */
struct rcm_get_events {
	__u32 size;
	__u32 flags;
	__u32 count;
	__u32 event_size;
	__aligned_u64 events;
};

#define RCM_MAX_GET_EVENTS 256

/**
 * struct rcm_join_multicast - RCM_JOIN_MULTICAST: become member of a group
 * @size: sizeof(struct rcm_join_multicast)
 * @handle: datagram identifier with a device, BOUND or ADDR_RESOLVED
 * @flags: 0, or RCM_JOIN_SEND_ONLY: nothing is to be received
 * @number: the caller's number for the membership, not 0, unique among those
 *	of the identifier
 * @addr: struct sockaddr_in or sockaddr_in6 of the group
 *
 * MULTICAST_JOIN follows: @number is its out_new_handle, the address vector is
 * in out_qp.ah, Q_Key and queue pair number are in out_conn.
 *
 * EAFNOSUPPORT  address family not supported
 * EINVAL        not a multicast address, or not such an identifier
 * EEXIST        @number is in use
 */
struct rcm_join_multicast {
	__u32 size;
	__u32 handle;
	__u32 flags;
	__u32 number;
	struct __kernel_sockaddr_storage addr;
};

#define RCM_JOIN_SEND_ONLY 0x1U

/**
 * struct rcm_leave_multicast - RCM_LEAVE_MULTICAST: end a membership
 * @size: sizeof(struct rcm_leave_multicast)
 * @handle: identifier
 * @number: as given to RCM_JOIN_MULTICAST
 * @reserved: must be 0
 *
 * ENOENT  no such identifier or membership
 */
struct rcm_leave_multicast {
	__u32 size;
	__u32 handle;
	__u32 number;
	__u32 reserved;
};

/**
 * struct rcm_translate - RCM_TRANSLATE: translate without an identifier
 * @size: sizeof(struct rcm_translate)
 * @timeout_ms: how long to wait for the peer's link address, milliseconds
 * @src: local address to use, or family 0
 * @dst: destination address and port
 * @out_endpoint: local address, device, GIDs and path; no port is taken
 *
 * Waits. Errors as for RCM_RESOLVE_ADDR, and
 * ETIMEDOUT  the neighbour did not answer
 * ENODEV     no RDMA device on the way
 * EINTR      interrupted by a signal
 */
struct rcm_translate {
	__u32 size;
	__u32 timeout_ms;
	struct __kernel_sockaddr_storage src;
	struct __kernel_sockaddr_storage dst;
	struct rcm_endpoint out_endpoint;
};

/* Events that RCM_WRITE_EVENT writes; numbers of librdmacm. */
#define RCM_EVENT_USER	   18
#define RCM_EVENT_INTERNAL 19

#define RCM_MAX_WRITTEN_EVENTS 64

/**
 * struct rcm_write_event - RCM_WRITE_EVENT: put an event into the queue
 * @size: sizeof(struct rcm_write_event)
 * @handle: identifier whose event it is
 * @event: RCM_EVENT_USER, or RCM_EVENT_INTERNAL, which is for libraries
 * @status: out_status of the event
 * @arg: the first 8 bytes of the event's out_conn.private_data
 *
 * ENOBUFS  RCM_MAX_WRITTEN_EVENTS of the identifier and of that kind were not
 *	    read yet
 * EINVAL   another event
 */
struct rcm_write_event {
	__u32 size;
	__u32 handle;
	__u32 event;
	__s32 status;
	__aligned_u64 arg;
};

#endif /* _UAPI_RDMA_RCM_H */
