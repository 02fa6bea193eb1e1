/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the test programs share: one call for each command of
 * /dev/infiniband/rcm, with every output member poisoned before; events; the
 * network around them.
 *
 * Calls return 0 (or a handle) or a negative errno.
 */
#ifndef RCM_TEST_H
#define RCM_TEST_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rdma/rcm.h>

#include "test_util.h"

#define RCM_DEV	   "/dev/infiniband/rcm"
#define POISON	   0xcc
#define BAD_HANDLE 0x7ffffff0

/* The rig's network; see Documentation/testing.md. */
#define IP4	      "10.0.0.1"
#define IP6	      "fd00::1"
#define IP4_NOBODY    "10.0.0.99" /* d0 has no ARP: known, and silent */
#define IP4_NOT_LOCAL "10.77.0.1"

enum {
	PS_IPOIB = 0x0002,
	PS_TCP = 0x0106,
	PS_UDP = 0x0111,
	PS_IB = 0x013f,
};

enum {
	EV_ADDR_RESOLVED,
	EV_ADDR_ERROR,
	EV_ROUTE_RESOLVED,
	EV_ROUTE_ERROR,
	EV_CONNECT_REQUEST,
	EV_CONNECT_RESPONSE,
	EV_CONNECT_ERROR,
	EV_UNREACHABLE,
	EV_REJECTED,
	EV_ESTABLISHED,
	EV_DISCONNECTED,
	EV_DEVICE_REMOVAL,
	EV_MULTICAST_JOIN,
	EV_MULTICAST_ERROR,
	EV_ADDR_CHANGE,
	EV_TIMEWAIT_EXIT,
};

enum {
	OPT_TOS,
	OPT_REUSEADDR,
	OPT_AFONLY,
	OPT_ACK_TIMEOUT,
};

typedef struct __kernel_sockaddr_storage addr_t;

static inline long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static inline void sleep_ms(int ms)
{
	usleep(ms * 1000);
}

/* --- addresses */

/* "10.0.0.1", "fd00::1" or "fe80::1%d0"; anything else is of family 0. */
static inline addr_t addr(const char *text, int port)
{
	addr_t to = {};
	struct sockaddr_in *sin = (struct sockaddr_in *)&to;
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)&to;
	char host[128];
	char *scope;

	snprintf(host, sizeof(host), "%s", text ?: "");
	scope = strchr(host, '%');
	if (scope)
		*scope++ = 0;
	if (inet_pton(AF_INET, host, &sin->sin_addr) == 1) {
		sin->sin_family = AF_INET;
		sin->sin_port = htons(port);
	} else if (inet_pton(AF_INET6, host, &sin6->sin6_addr) == 1) {
		sin6->sin6_family = AF_INET6;
		sin6->sin6_port = htons(port);
		sin6->sin6_scope_id = scope ? if_nametoindex(scope) : 0;
	}
	return to;
}

static inline int port_of(const addr_t *from)
{
	if (from->ss_family == AF_INET)
		return ntohs(((struct sockaddr_in *)from)->sin_port);
	if (from->ss_family == AF_INET6)
		return ntohs(((struct sockaddr_in6 *)from)->sin6_port);
	return 0;
}

static inline const char *host_of(const addr_t *from)
{
	static char text[4][INET6_ADDRSTRLEN];
	static int turn;
	char *to = text[turn++ % 4];

	if (from->ss_family == AF_INET)
		inet_ntop(AF_INET, &((struct sockaddr_in *)from)->sin_addr, to,
			  INET6_ADDRSTRLEN);
	else if (from->ss_family == AF_INET6)
		inet_ntop(AF_INET6, &((struct sockaddr_in6 *)from)->sin6_addr,
			  to, INET6_ADDRSTRLEN);
	else
		return "none";
	return to;
}

/* --- commands */

static inline int open_rcm(int flags)
{
	int fd = open(RCM_DEV, O_RDWR | O_CLOEXEC | flags);

	return fd < 0 ? -errno : fd;
}

static inline int call(int fd, unsigned long cmd, void *arg)
{
	int ret = ioctl(fd, cmd, arg);

	return ret < 0 ? -errno : ret;
}

static inline int create(int fd, __u64 uid, int ps)
{
	struct rcm_create_id arg = {
		.size = sizeof(arg),
		.uid = uid,
		.ps = ps,
		.out_handle = 0xcccccccc,
	};

	return call(fd, RCM_CREATE_ID, &arg) ?: (int)arg.out_handle;
}

static inline int create_tcp(int fd)
{
	return create(fd, 0, PS_TCP);
}

/* How many of its events were read, or a negative errno. */
static inline int destroy(int fd, __u32 handle)
{
	struct rcm_destroy_id arg = {
		.size = sizeof(arg),
		.handle = handle,
		.out_events_reported = 0xcccccccc,
	};

	return call(fd, RCM_DESTROY_ID, &arg) ?: (int)arg.out_events_reported;
}

static inline int bind_to(int fd, __u32 handle, addr_t to)
{
	struct rcm_bind arg = {
		.size = sizeof(arg),
		.handle = handle,
		.addr = to,
	};

	return call(fd, RCM_BIND, &arg);
}

static inline int bind_text(int fd, __u32 handle, const char *host, int port)
{
	return bind_to(fd, handle, addr(host, port));
}

static inline int resolve_flags(int fd, __u32 handle, const char *src,
				const char *dst, int port, int timeout_ms,
				__u32 flags)
{
	struct rcm_resolve_addr arg = {
		.size = sizeof(arg),
		.handle = handle,
		.flags = flags,
		.timeout_ms = timeout_ms,
		.src = addr(src, 0),
		.dst = addr(dst, port),
	};

	if (flags & RCM_CREATE)
		arg.ps = PS_TCP;
	return call(fd, RCM_RESOLVE_ADDR, &arg) ?:
		       (flags & RCM_CREATE)	? (int)arg.handle :
						  0;
}

static inline int resolve(int fd, __u32 handle, const char *src,
			  const char *dst, int port, int timeout_ms)
{
	return resolve_flags(fd, handle, src, dst, port, timeout_ms, 0);
}

static inline int resolve_route(int fd, __u32 handle)
{
	struct rcm_resolve_route arg = {
		.size = sizeof(arg),
		.handle = handle,
		.timeout_ms = 1000,
	};

	return call(fd, RCM_RESOLVE_ROUTE, &arg);
}

static inline int listen_on(int fd, __u32 handle, int backlog)
{
	struct rcm_listen arg = {
		.size = sizeof(arg),
		.handle = handle,
		.backlog = backlog,
	};

	return call(fd, RCM_LISTEN, &arg);
}

/*
 * ib_cm takes a queue pair number that it saw on another connection, or one
 * in time wait, for a sign that the peer was restarted, so each end of each
 * connection needs its own.
 */
static inline __u32 new_qp_num(void)
{
	static __u32 last;

	return ((getpid() << 10) + ++last) & 0xffffff;
}

static inline struct rcm_conn_param conn_param(const void *data, int len)
{
	struct rcm_conn_param conn = {
		.qp_num = new_qp_num(),
		.private_data_len = len,
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};

	if (data)
		memcpy(conn.private_data, data,
		       len < RCM_MAX_PRIVATE_DATA ? len : RCM_MAX_PRIVATE_DATA);
	return conn;
}

static inline int connect_with(int fd, __u32 handle,
			       const struct rcm_conn_param *conn)
{
	struct rcm_connect arg = {
		.size = sizeof(arg),
		.handle = handle,
		.conn = *conn,
	};

	return call(fd, RCM_CONNECT, &arg);
}

static inline int connect_data(int fd, __u32 handle, const void *data, int len)
{
	struct rcm_conn_param conn = conn_param(data, len);

	return connect_with(fd, handle, &conn);
}

static inline int accept_with(int fd, __u32 handle, __u64 uid,
			      const struct rcm_conn_param *conn)
{
	struct rcm_accept arg = {
		.size = sizeof(arg),
		.handle = handle,
		.uid = uid,
		.conn = *conn,
	};

	return call(fd, RCM_ACCEPT, &arg);
}

static inline int accept_data(int fd, __u32 handle, const void *data, int len)
{
	struct rcm_conn_param conn = conn_param(data, len);

	return accept_with(fd, handle, 0, &conn);
}

static inline int establish(int fd, __u32 handle)
{
	struct rcm_establish arg = {
		.size = sizeof(arg),
		.handle = handle,
	};

	return call(fd, RCM_ESTABLISH, &arg);
}

static inline int reject(int fd, __u32 handle, int reason, const void *data,
			 int len)
{
	struct rcm_reject arg = {
		.size = sizeof(arg),
		.handle = handle,
		.reason = reason,
		.private_data_len = len,
	};

	if (data)
		memcpy(arg.private_data, data,
		       len < RCM_MAX_PRIVATE_DATA ? len : RCM_MAX_PRIVATE_DATA);
	return call(fd, RCM_REJECT, &arg);
}

static inline int disconnect(int fd, __u32 handle)
{
	struct rcm_disconnect arg = {
		.size = sizeof(arg),
		.handle = handle,
	};

	return call(fd, RCM_DISCONNECT, &arg);
}

static inline int notify(int fd, __u32 handle, int event)
{
	struct rcm_notify arg = {
		.size = sizeof(arg),
		.handle = handle,
		.event = event,
	};

	return call(fd, RCM_NOTIFY, &arg);
}

static inline int init_qp_attr(int fd, __u32 handle, int qp_state,
			       struct rcm_init_qp_attr *arg)
{
	memset(arg, POISON, sizeof(*arg));
	arg->size = sizeof(*arg);
	arg->handle = handle;
	arg->qp_state = qp_state;
	return call(fd, RCM_INIT_QP_ATTR, arg);
}

static inline int set_option(int fd, __u32 handle, int name, int value)
{
	bool byte = name == OPT_TOS || name == OPT_ACK_TIMEOUT;
	__u8 small = value;
	struct rcm_set_option arg = {
		.size = sizeof(arg),
		.handle = handle,
		.optname = name,
		.optlen = byte ? 1 : 4,
		.optval =
			(__u64)(unsigned long)(byte ? (void *)&small : &value),
	};

	return call(fd, RCM_SET_OPTION, &arg);
}

/* One of those that librdmacm does not have. */
static inline int set_own_option(int fd, __u32 handle, int name, __u32 value)
{
	struct rcm_set_option arg = {
		.size = sizeof(arg),
		.handle = handle,
		.level = RCM_OPTION,
		.optname = name,
		.optlen = sizeof(value),
		.optval = (__u64)(unsigned long)&value,
	};

	return call(fd, RCM_SET_OPTION, &arg);
}

static inline int query(int fd, __u32 handle, struct rcm_query *arg)
{
	memset(arg, POISON, sizeof(*arg));
	arg->size = sizeof(*arg);
	arg->handle = handle;
	return call(fd, RCM_QUERY, arg);
}

static inline int join_group(int fd, __u32 handle, const char *group,
			     int number)
{
	struct rcm_join_multicast arg = {
		.size = sizeof(arg),
		.handle = handle,
		.number = number,
		.addr = addr(group, 0),
	};

	return call(fd, RCM_JOIN_MULTICAST, &arg);
}

static inline int leave_group(int fd, __u32 handle, int number)
{
	struct rcm_leave_multicast arg = {
		.size = sizeof(arg),
		.handle = handle,
		.number = number,
	};

	return call(fd, RCM_LEAVE_MULTICAST, &arg);
}

/* Its handle there, or a negative errno. */
static inline int migrate(int fd, __u32 handle, int to, int *reported)
{
	struct rcm_migrate arg = {
		.size = sizeof(arg),
		.handle = handle,
		.fd = to,
		.out_handle = 0xcccccccc,
		.out_events_reported = 0xcccccccc,
	};
	int ret = call(fd, RCM_MIGRATE, &arg);

	if (!ret && reported)
		*reported = arg.out_events_reported;
	return ret ?: (int)arg.out_handle;
}

/* enum rcm_state, or a negative errno. */
static inline int state_of(int fd, __u32 handle)
{
	struct rcm_query arg;

	return query(fd, handle, &arg) ?: (int)arg.out_endpoint.state;
}

static inline int src_port(int fd, __u32 handle)
{
	struct rcm_query arg;

	return query(fd, handle, &arg) ?: port_of(&arg.out_endpoint.src);
}

/* --- events */

static inline int get_event(int fd, struct rcm_event *event, __u32 flags)
{
	memset(event, POISON, sizeof(*event));
	event->size = sizeof(*event);
	event->flags = flags;
	return call(fd, RCM_GET_EVENT, event);
}

static inline bool readable(int fd, int timeout_ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, timeout_ms) == 1 && (pfd.revents & POLLIN);
}

/* The next event's type, -ETIME when none comes, or another negative errno. */
static inline int next_event(int fd, struct rcm_event *event, int timeout_ms)
{
	long long end = now_ms() + timeout_ms, left;
	struct rcm_event unused;
	int ret;

	if (!event)
		event = &unused;
	do {
		ret = get_event(fd, event, RCM_EVENT_DONTWAIT);
		if (ret != -EAGAIN)
			return ret ?: (int)event->out_event;
		/* Asked for once: below zero, poll() waits for ever. */
		left = end - now_ms();
	} while (readable(fd, left > 0 ? left : 0));
	return -ETIME;
}

/* How many bytes in a row still have the poison's value. */
static inline size_t poisoned(const void *start, size_t len)
{
	const unsigned char *byte = start;
	size_t run = 0, longest = 0;

	while (len--) {
		run = *byte++ == POISON ? run + 1 : 0;
		if (run > longest)
			longest = run;
	}
	return longest;
}

/* --- whole set-ups; each returns a handle or a negative errno */

/* Resolved as far as to connect; its two events are read. */
static inline int ready_to_connect(int fd, const char *dst, int port)
{
	int handle = create_tcp(fd);
	int ret;

	if (handle < 0)
		return handle;
	ret = resolve_flags(fd, handle, NULL, dst, port, 2000,
			    RCM_RESOLVE_BOTH);
	if (ret)
		return ret;
	ret = next_event(fd, NULL, 3000);
	if (ret != EV_ADDR_RESOLVED)
		return ret < 0 ? ret : -EPROTO;
	ret = next_event(fd, NULL, 1000);
	if (ret != EV_ROUTE_RESOLVED)
		return ret < 0 ? ret : -EPROTO;
	return handle;
}

static inline int listener(int fd, const char *host, int port, int backlog)
{
	int handle = create_tcp(fd);
	int ret;

	if (handle < 0)
		return handle;
	ret = bind_text(fd, handle, host, port) ?:
						  listen_on(fd, handle, backlog);
	return ret ?: handle;
}

/* -EPROTO: another one. */
static inline int expect_event(int fd, int type, struct rcm_event *event)
{
	int ret = next_event(fd, event, 8000);

	return ret == type ? 0 : ret < 0 ? ret : -EPROTO;
}

/* A request to a new listener of @peer_fd, which has read it. */
static inline int new_request(int fd, int peer_fd, const char *host, int port,
			      int *peer)
{
	struct rcm_event event = {};
	int handle, ret;

	ret = listener(peer_fd, host, port, 0);
	if (ret < 0)
		return ret;
	handle = ready_to_connect(fd, host, port);
	if (handle < 0)
		return handle;
	ret = connect_data(fd, handle, NULL, 0) ?:
		      expect_event(peer_fd, EV_CONNECT_REQUEST, &event);
	*peer = event.out_new_handle;
	return ret ?: handle;
}

/* The request becomes a connection; returns 0. */
static inline int accept_request(int fd, int handle, int peer_fd, int peer)
{
	return accept_data(peer_fd, peer, NULL, 0)		   ?:
		       expect_event(fd, EV_CONNECT_RESPONSE, NULL) ?:
		       establish(fd, handle)			   ?:
		       expect_event(peer_fd, EV_ESTABLISHED, NULL);
}

/* --- the host around us */

static inline int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	ssize_t len = strlen(text);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, len) != len)
		ret = -errno;
	close(fd);
	return ret;
}

static inline int count_lines(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[512];
	int lines = -1; /* the first one is a header */

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file))
		lines++;
	fclose(file);
	return lines;
}

static inline int live_ids(void)
{
	return count_lines("/sys/kernel/debug/rcm/ids");
}

/* Ports in use in all namespaces. */
static inline int live_ports(void)
{
	FILE *file = fopen("/sys/kernel/debug/rcm/ports", "r");
	int total = 0, count;
	char line[512];

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*u %*s %d", &count) == 1)
			total += count;
	}
	fclose(file);
	return total;
}

/* What is freed from a workqueue or by a dying process takes a moment. */
static inline bool nothing_left(int timeout_ms)
{
	long long end = now_ms() + timeout_ms;

	while (live_ids() || live_ports()) {
		if (now_ms() > end)
			return false;
		sleep_ms(5);
	}
	return true;
}

/* The device has a GID for a new address a moment later; false: never. */
static inline bool wait_for_address(const char *host)
{
	long long end = now_ms() + 3000;
	int fd = open_rcm(0);
	int handle = create_tcp(fd);
	int ret;

	while ((ret = bind_text(fd, handle, host, 0)) && now_ms() < end)
		sleep_ms(10);
	close(fd);
	return !ret;
}

static inline void del_link(const char *name)
{
	sh("rdma link del x%s 2>/dev/null; ip link del %s 2>/dev/null", name,
	   name);
}

/*
 * An interface with ARP and a Soft-RoCE device: asked for a neighbour it gets
 * no answer, as nobody else is on it.
 */
static inline int add_link(const char *name, const char *prefix)
{
	char host[64];
	int ret;

	if (if_nametoindex(name))
		del_link(name);
	ret = sh("{ ip link add %s type dummy && ip link set %s arp on && "
		 "ip address add %s dev %s && ip link set %s up && "
		 "rdma link add x%s type rxe netdev %s; } 2>&1 | sed 's/^/# /'",
		 name, name, prefix, name, name, name, name);

	snprintf(host, sizeof(host), "%.*s", (int)strcspn(prefix, "/"), prefix);
	if (ret || !wait_for_address(host))
		return -ENODEV;
	return 0;
}

#endif /* RCM_TEST_H */
