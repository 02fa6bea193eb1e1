// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * rigs: uml
 * suites: check debug
 * timeout: 900
 *
 * Whole flows, both sides, again and again with the n-th allocation failing
 * that rcm.ko makes itself or has made (by ib_cm, ib_core, the IP stack),
 * whichever thread that is in: ours, a workqueue's, one of "rdma link add". A
 * call that fails says so and can be made again; what fails later ends in an
 * event; nothing is left. failnth.c looks at single commands more closely.
 *
 * Arguments: names of flows. Otherwise all; in make check not those that are
 * much like another and take their time.
 */
#include <net/if_arp.h>
#include <sys/socket.h>

#include "rcm_test.h"

#include "kselftest.h"

#define FAILSLAB "/sys/kernel/debug/failslab/"
#define PORT	 7481
#define MAX_N	 300
#define WAIT	 80000 /* a peer that is still thinking has 69 s, by ib_cm */
#define SILENT	 "10.9.9.2" /* answers when we say so */
#define FILES	 3
#define QUEUE	 16

#define EV_USER 18

struct world {
	int fd[FILES];
	struct rcm_event queue[FILES][QUEUE]; /* read, but not waited for yet */
	int queued[FILES];
	struct rcm_event event; /* the last one waited for */
	int told;		/* calls that said that memory is short */
	const char *ended; /* the flow ended early, by this event or call */
	char wrong[200];   /* what must not happen */
};

struct flow {
	const char *name;
	void (*run)(struct world *w);
	bool debug; /* for make check-debug */
};

/* --- which allocation fails */

static void set_failslab(const char *name, unsigned long value)
{
	char path[100], text[24];

	snprintf(path, sizeof(path), FAILSLAB "%s", name);
	snprintf(text, sizeof(text), "%lu", value);
	if (write_file(path, text))
		ksft_exit_fail_msg("cannot write %s to %s\n", text, path);
}

static bool was_hit(void)
{
	char text[24] = {};
	int fd = open(FAILSLAB "times", O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		ksft_exit_fail_msg("cannot read " FAILSLAB "times\n");
	close(fd);
	return atoi(text) == 0;
}

/* Where a function of the kernel, or all of a module's, are. */
static bool find_text(const char *what, unsigned long *low, unsigned long *high)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	bool module = what[0] == '[', next = false;
	unsigned long address;
	char line[512], name[256], type;

	*low = *high = 0;
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx %c %255s", &address, &type, name) != 3 ||
		    (type != 't' && type != 'T'))
			continue;
		if (next)
			*high = address;
		next = !module && !strcmp(name, what);
		if (next || (module && strstr(line, what))) {
			if (!*low || address < *low)
				*low = address;
			if (address >= *high)
				*high = address + 1;
		}
	}
	if (file)
		fclose(file);
	return *high;
}

/*
 * Allocations with a function of rcm.ko on the stack, but for those that
 * kmemleak makes for each of them.
 */
static bool set_range(void)
{
	unsigned long low, high;

	if (!find_text("[rcm]\n", &low, &high))
		return false;
	set_failslab("require-start", low);
	set_failslab("require-end", high);
	if (find_text("__alloc_object", &low, &high)) {
		set_failslab("reject-start", low);
		set_failslab("reject-end", high);
	}
	set_failslab("stacktrace-depth", 32);
	write_file(FAILSLAB "task-filter", "N");
	write_file(FAILSLAB "ignore-gfp-wait", "N");
	set_failslab("verbose", 0);
	return true;
}

/*
 * With an interval of n each n-th allocation fails, counted from nobody knows
 * when. So allocations are made until one fails, and the next one to fail is
 * the n-th after that. (While times is 0 none is counted.)
 */
static bool arm(int n)
{
	int fd[MAX_N], opened, i;
	bool ok = n == 1;

	set_failslab("interval", n);
	set_failslab("times", 1);
	set_failslab("probability", 100);
	for (opened = 0; !ok && opened < n; opened++) {
		fd[opened] = open_rcm(0);
		ok = was_hit();
	}
	for (i = 0; i < opened; i++) {
		if (fd[i] >= 0)
			close(fd[i]);
	}
	set_failslab("times", 1);
	return ok;
}

static void disarm(void)
{
	set_failslab("probability", 0);
}

/* --- steps of a flow */

static void wrong(struct world *w, const char *what, int ret)
{
	if (!w->wrong[0])
		snprintf(w->wrong, sizeof(w->wrong), "%s: %d (%s)", what, ret,
			 ret < 0 ? strerror(-ret) : "event");
}

static bool want_of_memory(int ret)
{
	return ret == -ENOMEM || ret == -ENOBUFS;
}

/*
 * A call that says that memory is short changed nothing: made again, it
 * succeeds. Any other failure is wrong, and ends the flow.
 */
#define TRY(call)                              \
	({                                     \
		int ret_ = (call);             \
                                               \
		if (want_of_memory(ret_)) {    \
			w->told++;             \
			ret_ = (call);         \
		}                              \
		if (ret_ < 0) {                \
			wrong(w, #call, ret_); \
			return;                \
		}                              \
		ret_;                          \
	})

static bool ends_it(int type)
{
	return type == EV_ADDR_ERROR || type == EV_ROUTE_ERROR ||
	       type == EV_CONNECT_ERROR || type == EV_UNREACHABLE ||
	       type == EV_REJECTED || type == EV_DISCONNECTED;
}

static const char *event_name(int type)
{
	static const char *const names[] = {
		[EV_ADDR_ERROR] = "ADDR_ERROR",
		[EV_ROUTE_ERROR] = "ROUTE_ERROR",
		[EV_CONNECT_ERROR] = "CONNECT_ERROR",
		[EV_UNREACHABLE] = "UNREACHABLE",
		[EV_REJECTED] = "REJECTED",
		[EV_DISCONNECTED] = "DISCONNECTED",
	};

	return names[type];
}

/* Reads what there is. */
static void collect(struct world *w, int timeout_ms)
{
	struct pollfd pfd[FILES];
	struct rcm_event event;
	int i, ret;

	for (i = 0; i < FILES; i++)
		pfd[i] = (struct pollfd){ .fd = w->fd[i], .events = POLLIN };
	poll(pfd, FILES, timeout_ms);
	for (i = 0; i < FILES; i++) {
		while (w->queued[i] < QUEUE) {
			ret = get_event(w->fd[i], &event, RCM_EVENT_DONTWAIT);
			if (want_of_memory(ret)) {
				w->told++;
				continue;
			}
			if (ret && ret != -EAGAIN)
				wrong(w, "get_event", ret);
			if (ret)
				break;
			/* At most once, and not to be relied on. */
			if (event.out_event != EV_TIMEWAIT_EXIT)
				w->queue[i][w->queued[i]++] = event;
		}
	}
}

/* The next event of file @i has to be @type; false: the flow is over. */
static bool wait_event(struct world *w, int i, int type)
{
	long long end = now_ms() + WAIT;
	int n;

	for (;;) {
		collect(w, 0);
		if (w->queued[i]) {
			w->event = w->queue[i][0];
			w->queued[i]--;
			memmove(w->queue[i], w->queue[i] + 1,
				w->queued[i] * sizeof(w->event));
			if ((int)w->event.out_event == type)
				return true;
			if (!ends_it(w->event.out_event))
				wrong(w, "unexpected event",
				      w->event.out_event);
			else
				w->ended = event_name(w->event.out_event);
			return false;
		}
		for (n = 0; n < FILES; n++) {
			if (!w->queued[n] || !ends_it(w->queue[n][0].out_event))
				continue;
			w->ended = event_name(w->queue[n][0].out_event);
			return false;
		}
		if (w->wrong[0])
			return false;
		if (now_ms() > end) {
			wrong(w, "no event of file", i);
			return false;
		}
		collect(w, end - now_ms());
	}
}

#define EVENT(i, type)                       \
	do {                                 \
		if (!wait_event(w, i, type)) \
			return;              \
	} while (0)

/* --- flows */

static void flow_open(struct world *w)
{
	close(TRY(open_rcm(0)));
}

static void flow_create(struct world *w)
{
	TRY(destroy(w->fd[0], TRY(create_tcp(w->fd[0]))));
}

static int bind_new(int fd, const char *host, int port)
{
	struct rcm_bind arg = {
		.size = sizeof(arg),
		.flags = RCM_CREATE,
		.ps = PS_TCP,
		.addr = addr(host, port),
	};

	return call(fd, RCM_BIND, &arg) ?: (int)arg.handle;
}

static void flow_bind(struct world *w)
{
	int handle = TRY(create_tcp(w->fd[0]));

	TRY(bind_text(w->fd[0], handle, IP4, PORT));
	TRY(bind_new(w->fd[0], IP4, 0));
	TRY(bind_new(w->fd[0], IP6, PORT));
	TRY(bind_new(w->fd[0], "::", PORT + 1));
	TRY(destroy(w->fd[0], handle));
}

static void flow_resolve(struct world *w)
{
	int handle = TRY(create_tcp(w->fd[0]));

	TRY(resolve(w->fd[0], handle, NULL, IP4, PORT, 1000));
	EVENT(0, EV_ADDR_RESOLVED);
	TRY(resolve_route(w->fd[0], handle));
	EVENT(0, EV_ROUTE_RESOLVED);
	TRY(resolve_flags(w->fd[0], 0, NULL, IP6, PORT, 1000,
			  RCM_CREATE | RCM_RESOLVE_BOTH));
	EVENT(0, EV_ADDR_RESOLVED);
	EVENT(0, EV_ROUTE_RESOLVED);
}

/* The neighbour goes, or answers. A program for this would take far longer. */
static void neighbour(unsigned long cmd)
{
	struct arpreq arp = {
		.arp_ha = { .sa_family = ARPHRD_ETHER, .sa_data = { 2 } },
		.arp_flags = ATF_COM,
		.arp_dev = "fw0",
	};
	struct sockaddr_in *sin = (struct sockaddr_in *)&arp.arp_pa;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	sin->sin_family = AF_INET;
	inet_pton(AF_INET, SILENT, &sin->sin_addr);
	/* There may be none to go. */
	if (ioctl(fd, cmd, &arp) && cmd == SIOCSARP)
		ksft_exit_fail_msg("SIOCSARP: %s\n", strerror(errno));
	close(fd);
}

/* From a workqueue: the neighbour answers late, or not at all. */
static void flow_neighbour(struct world *w)
{
	int handle = TRY(create_tcp(w->fd[0]));

	neighbour(SIOCDARP);
	TRY(resolve_flags(w->fd[0], handle, NULL, SILENT, PORT, 5000,
			  RCM_RESOLVE_BOTH));
	neighbour(SIOCSARP);
	EVENT(0, EV_ADDR_RESOLVED);
	EVENT(0, EV_ROUTE_RESOLVED);
}

static void flow_no_neighbour(struct world *w)
{
	int handle = TRY(create_tcp(w->fd[0]));

	neighbour(SIOCDARP);
	TRY(resolve(w->fd[0], handle, NULL, SILENT, PORT, 50));
	EVENT(0, EV_ADDR_ERROR);
	if (w->event.out_status != -ETIMEDOUT &&
	    !want_of_memory(w->event.out_status))
		wrong(w, "status of ADDR_ERROR", w->event.out_status);
}

static void flow_listen(struct world *w)
{
	int fd = w->fd[0];
	int handle = TRY(create_tcp(fd));

	TRY(listen_on(fd, handle, 4));
	handle = TRY(bind_new(fd, IP4, PORT));
	TRY(listen_on(fd, handle, 4));
	handle = TRY(bind_new(fd, "::", PORT + 1));
	TRY(listen_on(fd, handle, 4));
	TRY(destroy(fd, handle));
}

/* 1.5 s and three tries for a message that is lost. */
static int be_quick(int fd, __u32 handle)
{
	__u32 values[] = { 1500, 3 };
	int name, ret = 0;

	for (name = 0; name < 2 && !ret; name++) {
		struct rcm_set_option arg = {
			.size = sizeof(arg),
			.handle = handle,
			.level = RCM_OPTION,
			.optname = name,
			.optlen = 4,
			.optval = (unsigned long)&values[name],
		};

		ret = call(fd, RCM_SET_OPTION, &arg);
	}
	return ret;
}

/* File 1 listens, file 0 asks it; handles, or 0 when the flow is over. */
static void request(struct world *w, int ps, const char *host, int *client,
		    int *server)
{
	int listener = TRY(create(w->fd[1], 0, ps));
	int handle = TRY(create(w->fd[0], 0, ps));

	TRY(bind_text(w->fd[1], listener, host, PORT));
	TRY(listen_on(w->fd[1], listener, 4));
	TRY(resolve_flags(w->fd[0], handle, NULL, host, PORT, 1000,
			  RCM_RESOLVE_BOTH));
	EVENT(0, EV_ADDR_RESOLVED);
	EVENT(0, EV_ROUTE_RESOLVED);
	TRY(be_quick(w->fd[0], handle));
	TRY(connect_data(w->fd[0], handle, "hello", 5));
	*client = handle;
	EVENT(1, EV_CONNECT_REQUEST);
	*server = w->event.out_new_handle;
}

/*
 * An accept that fails for want of memory has rejected the request. Of a
 * datagram identifier nothing was sent, so the peer's time-out ends it.
 */
static bool accepted(struct world *w, int server)
{
	int ret = accept_data(w->fd[1], server, "welcome", 7);

	if (!ret)
		return true;
	w->told++;
	if (!want_of_memory(ret))
		wrong(w, "accept", ret);
	else if (wait_event(w, 0, EV_REJECTED))
		w->ended = "REJECTED";
	return false;
}

static void connection(struct world *w, const char *host, bool by_data)
{
	int client = 0, server = 0;

	request(w, PS_TCP, host, &client, &server);
	if (!server || !accepted(w, server))
		return;
	EVENT(0, EV_CONNECT_RESPONSE);
	if (by_data) {
		/* The confirmation is on its way, but data was faster. */
		TRY(notify(w->fd[1], server, 4));
		EVENT(1, EV_ESTABLISHED);
		TRY(establish(w->fd[0], client));
	} else {
		TRY(establish(w->fd[0], client));
		EVENT(1, EV_ESTABLISHED);
	}
	TRY(disconnect(w->fd[0], client));
	EVENT(1, EV_DISCONNECTED);
	TRY(disconnect(w->fd[1], server));
	EVENT(0, EV_DISCONNECTED);
	TRY(destroy(w->fd[0], client));
	TRY(destroy(w->fd[1], server));
}

static void flow_connect(struct world *w)
{
	connection(w, IP4, false);
}

static void flow_connect6(struct world *w)
{
	connection(w, IP6, false);
}

static void flow_comm_est(struct world *w)
{
	connection(w, IP4, true);
}

/*
 * A reject that fails for want of memory is not made again: the connection is
 * over, and the peer learns it from its time-out.
 */
static bool rejected(struct world *w, int i, int handle)
{
	int ret = reject(w->fd[i], handle, 0, "no", 2);
	int state;

	if (!ret)
		return true;
	w->told++;
	if (!want_of_memory(ret)) {
		wrong(w, "reject", ret);
		return false;
	}
	state = state_of(w->fd[i], handle);
	if (state != RCM_STATE_FAILED)
		wrong(w, "state after a reject that failed", state);
	else if (wait_event(w, !i, EV_UNREACHABLE))
		w->ended = "UNREACHABLE";
	return false;
}

static void flow_reject(struct world *w)
{
	int client = 0, server = 0;

	request(w, PS_TCP, IP4, &client, &server);
	if (server && rejected(w, 1, server))
		EVENT(0, EV_REJECTED);
}

static void flow_reject_response(struct world *w)
{
	int client = 0, server = 0;

	request(w, PS_TCP, IP4, &client, &server);
	if (!server || !accepted(w, server))
		return;
	EVENT(0, EV_CONNECT_RESPONSE);
	if (rejected(w, 0, client))
		EVENT(1, EV_REJECTED);
}

/*
 * The peer goes. It says so once, on its way out: when that is lost, only the
 * queue pair can tell.
 */
static void flow_destroy_connected(struct world *w)
{
	int client = 0, server = 0;

	request(w, PS_TCP, IP4, &client, &server);
	if (!server || !accepted(w, server))
		return;
	EVENT(0, EV_CONNECT_RESPONSE);
	TRY(establish(w->fd[0], client));
	EVENT(1, EV_ESTABLISHED);
	TRY(destroy(w->fd[0], client));
	if (was_hit() && !readable(w->fd[1], 1000))
		w->ended = "silence";
	else
		EVENT(1, EV_DISCONNECTED);
}

static void flow_datagram(struct world *w)
{
	int client = 0, server = 0;

	request(w, PS_UDP, IP4, &client, &server);
	if (!server || !accepted(w, server))
		return;
	EVENT(0, EV_ESTABLISHED);
	TRY(destroy(w->fd[0], client));
	TRY(destroy(w->fd[1], server));
}

static void flow_datagram_reject(struct world *w)
{
	int client = 0, server = 0;

	request(w, PS_UDP, IP6, &client, &server);
	if (server && rejected(w, 1, server))
		EVENT(0, EV_UNREACHABLE);
}

static int join(int fd, __u32 handle, const char *group, int number)
{
	struct rcm_join_multicast arg = {
		.size = sizeof(arg),
		.handle = handle,
		.number = number,
		.addr = addr(group, 0),
	};

	return call(fd, RCM_JOIN_MULTICAST, &arg);
}

static int leave(int fd, __u32 handle, int number)
{
	struct rcm_leave_multicast arg = {
		.size = sizeof(arg),
		.handle = handle,
		.number = number,
	};

	return call(fd, RCM_LEAVE_MULTICAST, &arg);
}

static void flow_multicast(struct world *w)
{
	int fd = w->fd[0];
	int handle = TRY(create(fd, 0, PS_UDP));

	TRY(bind_text(fd, handle, IP4, 0));
	TRY(join(fd, handle, "239.1.1.1", 1));
	EVENT(0, EV_MULTICAST_JOIN);
	TRY(join(fd, handle, "ff0e::1:1", 2));
	EVENT(0, EV_MULTICAST_JOIN);
	TRY(leave(fd, handle, 2));
	TRY(leave(fd, handle, 1));
	TRY(join(fd, handle, "239.1.1.1", 3));
	TRY(destroy(fd, handle));
}

/* With events and a request that nobody read. */
static void flow_migrate(struct world *w)
{
	int idle = TRY(create_tcp(w->fd[0]));
	int client, listener;

	TRY(migrate(w->fd[0], idle, w->fd[2], NULL));
	listener = TRY(bind_new(w->fd[1], IP4, PORT));
	TRY(listen_on(w->fd[1], listener, 4));
	client = TRY(resolve_flags(w->fd[0], 0, NULL, IP4, PORT, 1000,
				   RCM_CREATE | RCM_RESOLVE_BOTH));
	EVENT(0, EV_ADDR_RESOLVED);
	EVENT(0, EV_ROUTE_RESOLVED);
	TRY(be_quick(w->fd[0], client));
	TRY(connect_data(w->fd[0], client, NULL, 0));
	/* Nothing reads file 1: what it gets moves. */
	if (!readable(w->fd[1], WAIT)) {
		wrong(w, "no request to migrate", 0);
		return;
	}
	TRY(migrate(w->fd[1], listener, w->fd[2], NULL));
	EVENT(2, EV_CONNECT_REQUEST);
	TRY(migrate(w->fd[2], w->event.out_new_handle, w->fd[1], NULL));
	TRY(migrate(w->fd[0], client, w->fd[2], NULL));
}

static int translate(int fd, const char *to)
{
	struct rcm_translate arg = {
		.size = sizeof(arg),
		.timeout_ms = 1000,
		.dst = addr(to, PORT),
	};

	return call(fd, RCM_TRANSLATE, &arg);
}

static void flow_translate(struct world *w)
{
	TRY(translate(w->fd[0], IP4));
	TRY(translate(w->fd[0], IP6));
}

static void flow_query(struct world *w)
{
	int handle = TRY(bind_new(w->fd[0], IP4, PORT));
	struct rcm_query arg;

	TRY(query(w->fd[0], handle, &arg));
	if (arg.out_endpoint.state != RCM_STATE_BOUND)
		wrong(w, "state", arg.out_endpoint.state);
}

static void flow_option(struct world *w)
{
	int handle = TRY(create_tcp(w->fd[0]));
	int name;

	for (name = OPT_TOS; name <= OPT_ACK_TIMEOUT; name++)
		TRY(set_option(w->fd[0], handle, name, 1));
	TRY(be_quick(w->fd[0], handle));
}

static int write_event(int fd, __u32 handle)
{
	struct rcm_write_event arg = {
		.size = sizeof(arg),
		.handle = handle,
		.event = RCM_EVENT_USER,
	};

	return call(fd, RCM_WRITE_EVENT, &arg);
}

static void flow_write_event(struct world *w)
{
	int handle = TRY(create_tcp(w->fd[0]));

	TRY(write_event(w->fd[0], handle));
	EVENT(0, EV_USER);
}

/*
 * The device goes and comes while identifiers, one of them listening on all
 * devices, are there. Where it could not be added it cannot be used, and that
 * is said; the identifiers do not care.
 */
static void flow_device(struct world *w)
{
	int bound = TRY(bind_new(w->fd[0], "10.9.9.1", 0));
	int all = TRY(bind_new(w->fd[1], "0.0.0.0", PORT));
	int i, ret;

	TRY(listen_on(w->fd[1], all, 4));
	sh("rdma link del xfw0");
	EVENT(0, EV_DEVICE_REMOVAL);
	ret = bind_text(w->fd[0], bound, "10.9.9.1", 0);
	if (want_of_memory(ret)) {
		w->told++;
		ret = bind_text(w->fd[0], bound, "10.9.9.1", 0);
	}
	if (ret != -ENODEV)
		wrong(w, "bind of the removed one", ret);
	sh("rdma link add xfw0 type rxe netdev fw0");
	ret = state_of(w->fd[1], all);
	if (ret != RCM_STATE_LISTEN)
		wrong(w, "state of the listener", ret);
	/* What failed may as well have been a call of the first look for it. */
	for (i = 0; i < 4 && !wait_for_address("10.9.9.1"); i++) {
		if (!i)
			continue;
		w->ended = "ENODEV";
		sh("rdma link del xfw0; rdma link add xfw0 type rxe netdev fw0");
	}
	if (i == 4 || (i && !was_hit()))
		wrong(w, "bind to the new device", -ENODEV);
	TRY(destroy(w->fd[0], bound));
	TRY(destroy(w->fd[1], all));
}

static const struct flow flows[] = {
	{ "open", flow_open, false },
	{ "create", flow_create, false },
	{ "bind", flow_bind, false },
	{ "resolve", flow_resolve, false },
	{ "neighbour", flow_neighbour, false },
	{ "no-neighbour", flow_no_neighbour, false },
	{ "listen", flow_listen, false },
	{ "connect", flow_connect, false },
	{ "connect6", flow_connect6, true },
	{ "comm-est", flow_comm_est, true },
	{ "reject", flow_reject, false },
	{ "reject-response", flow_reject_response, true },
	{ "destroy-connected", flow_destroy_connected, true },
	{ "datagram", flow_datagram, false },
	{ "datagram-reject", flow_datagram_reject, true },
	{ "multicast", flow_multicast, false },
	{ "migrate", flow_migrate, false },
	{ "translate", flow_translate, false },
	{ "query", flow_query, false },
	{ "option", flow_option, false },
	{ "write-event", flow_write_event, false },
	{ "device", flow_device, true },
};

/* --- walking */

/* One run; whether an allocation failed in it. */
static bool run(const struct flow *flow, struct world *w, int n)
{
	bool hit;
	int i;

	memset(w, 0, sizeof(*w));
	for (i = 0; i < FILES; i++) {
		w->fd[i] = open_rcm(0);
		if (w->fd[i] < 0)
			ksft_exit_fail_msg("open: %s\n", strerror(-w->fd[i]));
	}
	if (!arm(n))
		wrong(w, "the failing allocation could not be chosen", 0);
	flow->run(w);
	hit = was_hit();
	/* What closing has done is part of it. */
	for (i = 0; i < FILES; i++)
		close(w->fd[i]);
	if (!nothing_left(5000))
		wrong(w, "identifiers or ports are left", 0);
	hit |= was_hit();
	disarm();
	if (!hit && (w->told || w->ended))
		wrong(w, w->ended ?: "a call failed without cause", 0);
	return hit;
}

static bool walk(const struct flow *flow)
{
	int n, told = 0, ended = 0, unseen = 0;
	long long start = now_ms();
	struct world w;
	bool ok = true;

	for (n = 1; n < MAX_N; n++) {
		bool hit = run(flow, &w, n);

		if (w.wrong[0]) {
			ksft_print_msg("%s: n %d: %s\n", flow->name, n,
				       w.wrong);
			ok = false;
		}
		if (!hit)
			break;
		if (w.ended)
			ended++;
		else if (w.told)
			told++;
		else
			unseen++;
	}
	ksft_print_msg(
		"%s: %d injection points: a call said so %d, an event %d, neither %d; %lld ms\n",
		flow->name, n - 1, told, ended, unseen, now_ms() - start);
	return ok && n < MAX_N;
}

static bool wanted(const struct flow *flow, int argc, char **argv)
{
	const char *suite = getenv("SUITE") ?: "check";
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], flow->name))
			return true;
	}
	return argc == 1 && (!flow->debug || !strcmp(suite, "debug"));
}

int main(int argc, char **argv)
{
	unsigned int i, plan = 0;

	ksft_print_header();
	if (access(FAILSLAB "require-start", W_OK))
		ksft_exit_skip(
			"kernel without CONFIG_FAILSLAB, CONFIG_FAULT_INJECTION_STACKTRACE_FILTER\n");
	if (!set_range())
		ksft_exit_fail_msg("where is rcm.ko?\n");
	if (add_link("fw0", "10.9.9.1/24"))
		ksft_exit_fail_msg("no RDMA device\n");

	for (i = 0; i < sizeof(flows) / sizeof(flows[0]); i++)
		plan += wanted(&flows[i], argc, argv);
	ksft_set_plan(plan);
	for (i = 0; i < sizeof(flows) / sizeof(flows[0]); i++) {
		if (wanted(&flows[i], argc, argv))
			ksft_test_result(walk(&flows[i]), "%s\n",
					 flows[i].name);
		else
			ksft_print_msg("%s: not asked for\n", flows[i].name);
	}
	del_link("fw0");
	ksft_finished();
}
