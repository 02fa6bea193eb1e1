/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The flows that fail_walk.h walks, with both of their sides.
 */
#ifndef FAIL_FLOWS_H
#define FAIL_FLOWS_H

#include <net/if_arp.h>
#include <sys/socket.h>

#include "fail_steps.h"
#include "module.h"
#include "siw.h"

#define SILENT	"10.9.9.2" /* answers when we say so */
#define SILENT6 "fd09::2"

#define EV_USER 18

/* What make check has time for; make check-debug has for nearly all. */
enum share {
	ALWAYS,	    /* of any way */
	WHEN_QUICK, /* of a way that has few points */
	ONLY_QUICK, /* and never of another */
	NEVER,
};

struct flow {
	const char *name;
	void (*run)(struct world *w);
	enum share share;
};

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

/* The event of what was asked for; false: it failed, and may be asked again. */
static bool resolved(struct world *w, int type)
{
	bool ok = wait_event(w, 0, type);

	return ok || w->wrong[0];
}

/* An address or a route that could not be found can be looked for again. */
static void resolve_twice(struct world *w, const char *host)
{
	int handle = TRY(create_tcp(w->fd[0]));

	TRY(resolve(w->fd[0], handle, NULL, host, PORT, 1000));
	if (!resolved(w, EV_ADDR_RESOLVED)) {
		TRY(resolve(w->fd[0], handle, NULL, host, PORT, 1000));
		EVENT(0, EV_ADDR_RESOLVED);
	}
	TRY(resolve_route(w->fd[0], handle));
	if (!resolved(w, EV_ROUTE_RESOLVED)) {
		TRY(resolve_route(w->fd[0], handle));
		EVENT(0, EV_ROUTE_RESOLVED);
	}
}

static void flow_resolve(struct world *w)
{
	resolve_twice(w, IP4);
	resolve_twice(w, IP6);
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
	if (w->event.out_status != -ETIMEDOUT)
		w->ended = "ADDR_ERROR";
}

static void flow_no_neighbour6(struct world *w)
{
	int handle = TRY(create_tcp(w->fd[0]));

	TRY(resolve(w->fd[0], handle, NULL, SILENT6, PORT, 50));
	EVENT(0, EV_ADDR_ERROR);
	if (w->event.out_status != -ETIMEDOUT)
		w->ended = "ADDR_ERROR";
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
	return set_own_option(fd, handle, RCM_OPTION_CONNECT_TIMEOUT, 1500) ?:
		       set_own_option(fd, handle, RCM_OPTION_CONNECT_TRIES, 3);
}

/* File 0's identifier, up to its request; 0 when the flow is over. */
static void ready(struct world *w, int ps, const char *host, int *client)
{
	int handle = TRY(create(w->fd[0], 0, ps));

	TRY(resolve_flags(w->fd[0], handle, NULL, host, PORT, 1000,
			  RCM_RESOLVE_BOTH));
	EVENT(0, EV_ADDR_RESOLVED);
	EVENT(0, EV_ROUTE_RESOLVED);
	TRY(be_quick(w->fd[0], handle));
	*client = handle;
}

/* File 1 listens, file 0 asks it; handles, or 0 when the flow is over. */
static void request(struct world *w, int ps, const char *host, int *client,
		    int *server)
{
	int listener = TRY(create(w->fd[1], 0, ps));

	TRY(bind_text(w->fd[1], listener, host, PORT));
	TRY(listen_on(w->fd[1], listener, 4));
	ready(w, ps, host, client);
	if (!*client)
		return;
	TRY(connect_data(w->fd[0], *client, "hello", 5));
	EVENT(1, EV_CONNECT_REQUEST);
	*server = w->event.out_new_handle;
}

/*
 * An accept that fails has rejected the request. Of a datagram identifier
 * nothing was sent, so the peer's time-out ends it.
 */
static bool accept_done(struct world *w, int ret)
{
	if (!ret)
		return true;
	w->told++;
	if (!way.explains(ret))
		wrong(w, "accept", ret);
	else if (wait_event(w, 0, EV_REJECTED))
		w->ended = "REJECTED";
	return false;
}

static bool accepted(struct world *w, int server)
{
	return accept_done(w, accept_data(w->fd[1], server, "welcome", 7));
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
 * A reject that fails is not made again: the connection is over, and the peer
 * learns it from its time-out, or when the identifier is destroyed.
 */
static bool rejected(struct world *w, int i, int handle)
{
	int ret = reject(w->fd[i], handle, 0, "no", 2);
	int state;

	if (!ret)
		return true;
	w->told++;
	if (!way.explains(ret)) {
		wrong(w, "reject", ret);
		return false;
	}
	state = state_of(w->fd[i], handle);
	if (state != RCM_STATE_FAILED)
		wrong(w, "state after a reject that failed", state);
	/* While it is there, ib_cm may tell the peer to be patient. */
	else if (!readable(w->fd[!i], 3000) && destroy(w->fd[i], handle) < 0)
		wrong(w, "destroy", 0);
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

/* The second request waits until the first one is answered. */
static void paced(struct world *w)
{
	int first = 0, second = 0, server = 0;

	request(w, PS_TCP, IP4, &first, &server);
	if (!server)
		return;
	ready(w, PS_TCP, IP4, &second);
	if (!second)
		return;
	TRY(connect_data(w->fd[0], second, "hello", 5));
	if (!rejected(w, 1, server))
		return;
	EVENT(0, EV_REJECTED);
	EVENT(1, EV_CONNECT_REQUEST);
	if (!rejected(w, 1, w->event.out_new_handle))
		return;
	EVENT(0, EV_REJECTED);
}

static void flow_paced(struct world *w)
{
	static const char path[] = "/sys/module/rcm/parameters/pace_max";

	if (write_file(path, "1"))
		wrong(w, path, 0);
	paced(w);
	write_file(path, "1024");
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
	if (way.was_hit() && !readable(w->fd[1], 1000))
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

static int qp_attr(int fd, int handle, int qp_state)
{
	struct rcm_init_qp_attr arg;

	return init_qp_attr(fd, handle, qp_state, &arg);
}

/* What a queue pair has to know, on both sides, before and while connected. */
static void flow_qp_attr(struct world *w)
{
	int client = 0, server = 0, state;

	request(w, PS_TCP, IP4, &client, &server);
	if (!server)
		return;
	TRY(qp_attr(w->fd[1], server, IBV_QPS_INIT));
	TRY(qp_attr(w->fd[1], server, IBV_QPS_RTR));
	if (!accepted(w, server))
		return;
	EVENT(0, EV_CONNECT_RESPONSE);
	for (state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++)
		TRY(qp_attr(w->fd[0], client, state));
	TRY(establish(w->fd[0], client));
	EVENT(1, EV_ESTABLISHED);
	TRY(qp_attr(w->fd[1], server, IBV_QPS_RTS));
	TRY(qp_attr(w->fd[0], TRY(bind_new(w->fd[0], IP4, 0)), IBV_QPS_INIT));
}

static void flow_multicast(struct world *w)
{
	int fd = w->fd[0];
	int handle = TRY(create(fd, 0, PS_UDP));

	TRY(bind_text(fd, handle, IP4, 0));
	TRY(join_group(fd, handle, "239.1.1.1", 1));
	EVENT(0, EV_MULTICAST_JOIN);
	TRY(join_group(fd, handle, "ff0e::1:1", 2));
	EVENT(0, EV_MULTICAST_JOIN);
	TRY(leave_group(fd, handle, 2));
	TRY(leave_group(fd, handle, 1));
	TRY(join_group(fd, handle, "239.1.1.1", 3));
	TRY(destroy(fd, handle));
}

/* For file 1; or the client, of file 0, was refused. */
static bool request_waits(struct world *w)
{
	long long end = now_ms() + WAIT;

	while (!readable(w->fd[1], 50)) {
		if (readable(w->fd[0], 0)) {
			wait_event(w, 0, EV_REJECTED);
			w->ended = "REJECTED";
			return false;
		}
		if (now_ms() > end) {
			wrong(w, "no request to migrate", 0);
			return false;
		}
	}
	return true;
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
	if (!request_waits(w))
		return;
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
	if (way.explains(ret)) {
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
	if (i == 4 || (i && !way.was_hit()))
		wrong(w, "bind to the new device", -ENODEV);
	TRY(destroy(w->fd[0], bound));
	TRY(destroy(w->fd[1], all));
}

/* File 1 listens already; handles, or 0 when the flow is over. */
static void iw_request(struct world *w, int *client, int *server)
{
	int handle = TRY(resolve_flags(w->fd[0], 0, NULL, SIW_IP4, PORT, 1000,
				       RCM_CREATE | RCM_RESOLVE_BOTH));

	EVENT(0, EV_ADDR_RESOLVED);
	EVENT(0, EV_ROUTE_RESOLVED);
	TRY(qp_attr(w->fd[0], handle, IBV_QPS_INIT));
	TRY(iw_connect(w->fd[0], handle, "hello", 5));
	EVENT(1, EV_CONNECT_REQUEST);
	*client = handle;
	*server = w->event.out_new_handle;
}

/* Either side may be told first; one that could not ask, alone. */
static void iw_disconnected(struct world *w)
{
	long long end = now_ms() + WAIT;

	while (!w->queued[0] || (!w->queued[1] && !w->queue[0][0].out_status)) {
		if (w->wrong[0] || now_ms() > end)
			break;
		collect(w, 100);
	}
	EVENT(1, EV_DISCONNECTED);
	EVENT(0, EV_DISCONNECTED);
}

static void iw_connection(struct world *w)
{
	int client = 0, server = 0;

	iw_request(w, &client, &server);
	if (!server)
		return;
	TRY(qp_attr(w->fd[1], server, IBV_QPS_RTS));
	if (!accept_done(w, iw_accept(w->fd[1], server, "welcome", 7)))
		return;
	EVENT(1, EV_ESTABLISHED);
	EVENT(0, EV_ESTABLISHED);
	TRY(disconnect(w->fd[0], client));
	iw_disconnected(w);
	if (w->ended)
		return;
	TRY(disconnect(w->fd[1], server));
	TRY(destroy(w->fd[0], client));
	TRY(destroy(w->fd[1], server));
}

/* iWARP: one request is refused, the next one accepted. */
static void flow_iwarp(struct world *w)
{
	int listener = TRY(create_tcp(w->fd[1]));
	int client = 0, server = 0;

	destroy_qps();
	TRY(bind_text(w->fd[1], listener, SIW_IP4, PORT));
	TRY(listen_on(w->fd[1], listener, 4));
	iw_request(w, &client, &server);
	if (!server || !rejected(w, 1, server))
		return;
	EVENT(0, EV_REJECTED);
	iw_connection(w);
}

/* It connects to itself while it is loaded, which then says how that went. */
static void flow_consumer(struct world *w)
{
	int ret = load_ours("rcm_fail_consumer.ko");

	/* A queue pair of Soft-RoCE has a socket, which has a file. */
	if (way.explains(ret) || ret == -ENFILE)
		w->told++;
	else if (ret == -ECONNREFUSED)
		w->ended = "REJECTED";
	else if (ret != -EALREADY)
		wrong(w, "the consumer's connection", ret);
}

static const struct flow flows[] = {
	{ "open", flow_open, ALWAYS },
	{ "create", flow_create, ALWAYS },
	{ "bind", flow_bind, ALWAYS },
	{ "resolve", flow_resolve, ALWAYS },
	{ "neighbour", flow_neighbour, ALWAYS },
	{ "no-neighbour", flow_no_neighbour, ALWAYS },
	{ "no-neighbour6", flow_no_neighbour6, WHEN_QUICK },
	{ "listen", flow_listen, ALWAYS },
	{ "connect", flow_connect, ALWAYS },
	{ "connect6", flow_connect6, WHEN_QUICK },
	{ "comm-est", flow_comm_est, WHEN_QUICK },
	{ "reject", flow_reject, ALWAYS },
	{ "paced", flow_paced, WHEN_QUICK },
	{ "reject-response", flow_reject_response, WHEN_QUICK },
	{ "destroy-connected", flow_destroy_connected, WHEN_QUICK },
	{ "qp-attr", flow_qp_attr, WHEN_QUICK },
	{ "datagram", flow_datagram, ALWAYS },
	{ "datagram-reject", flow_datagram_reject, WHEN_QUICK },
	{ "multicast", flow_multicast, ALWAYS },
	{ "migrate", flow_migrate, ALWAYS },
	{ "translate", flow_translate, ALWAYS },
	{ "query", flow_query, ALWAYS },
	{ "option", flow_option, ALWAYS },
	{ "write-event", flow_write_event, ALWAYS },
	{ "consumer", flow_consumer, WHEN_QUICK },
	{ "device", flow_device, NEVER },
	/* siw uses what it has freed when it has no memory. */
	{ "iwarp", flow_iwarp, ONLY_QUICK },
};

#endif /* FAIL_FLOWS_H */
