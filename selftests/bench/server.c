// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The passive side: accepts, answers the client's disconnect, destroys when
 * told.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"

struct peer {
	struct rdma_cm_id *id;
	uint64_t accepted;
};

struct server {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *warm;
	struct peer *peers;
	int used;
	int ended;
	struct samples accept;
	struct samples establish;
	struct samples disconnect;
	struct samples destroy;
};

static void on_request(struct server *srv, struct rdma_cm_id *id)
{
	struct rdma_conn_param param = {
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
	struct peer *peer;
	uint64_t start;

	if (srv->used == opt.count) {
		errno = ERANGE;
		die("more requests than connections");
	}
	peer = &srv->peers[srv->used++];
	peer->id = id;
	id->context = peer;
	if (opt.qp)
		make_qp(id);
	else
		param.qp_num = next_qpn();
	start = now_ns();
	if (rdma_accept(id, &param))
		die("rdma_accept");
	peer->accepted = now_ns();
	samples_add(&srv->accept, peer->accepted - start);
}

static void on_disconnect(struct server *srv, struct rdma_cm_id *id)
{
	uint64_t start = now_ns();

	rdma_disconnect(id);
	samples_add(&srv->disconnect, now_ns() - start);
	srv->ended++;
}

static void on_event(struct server *srv)
{
	struct rdma_cm_event *event = need_event(srv->channel);
	enum rdma_cm_event_type type = event->event;
	struct rdma_cm_id *id = event->id;

	if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
		on_request(srv, id);
	} else if (type == RDMA_CM_EVENT_ESTABLISHED) {
		struct peer *peer = id->context;

		samples_add(&srv->establish, now_ns() - peer->accepted);
	} else if (type == RDMA_CM_EVENT_DISCONNECTED) {
		on_disconnect(srv, id);
	} else if (type != RDMA_CM_EVENT_TIMEWAIT_EXIT) {
		fprintf(stderr, "bench: %s: server: %s, status %d\n", opt.stack,
			rdma_event_str(type), event->status);
		srv->ended++;
	}
	rdma_ack_cm_event(event);
}

static void destroy_all(struct server *srv)
{
	struct usage usage;
	int i;

	usage_begin(&usage);
	for (i = 0; i < srv->used; i++) {
		struct rdma_cm_id *id = srv->peers[i].id;
		uint64_t start;

		if (id->qp)
			rdma_destroy_qp(id);
		start = now_ns();
		if (rdma_destroy_id(id))
			die("rdma_destroy_id");
		samples_add(&srv->destroy, now_ns() - start);
	}
	usage_end(&usage);
}

/*
 * Writes to @started when it listens. Waits for the other end of @finish to
 * be closed before it destroys, so that the client can be measured alone.
 */
void server(int started, int finish)
{
	struct server srv = {};
	char byte = 0;

	srv.peers = calloc(opt.count, sizeof(*srv.peers));
	if (!srv.peers)
		die("memory");
	samples_init(&srv.accept, opt.count);
	samples_init(&srv.establish, opt.count);
	samples_init(&srv.disconnect, opt.count);
	samples_init(&srv.destroy, opt.count);
	srv.channel = open_channel();
	srv.warm = warm_up(srv.channel);
	srv.listener = new_id(srv.channel, NULL);
	bind_any(srv.listener, opt.port);
	/* As many as the kernel allows. */
	if (rdma_listen(srv.listener, 0))
		die("rdma_listen");
	if (write(started, &byte, 1) != 1)
		die("write");

	while (srv.ended < opt.count)
		on_event(&srv);
	while (read(finish, &byte, 1) > 0)
		;
	destroy_all(&srv);
	report_step("accept_call", &srv.accept, NULL, 0);
	report_step("established", &srv.establish, NULL, 0);
	report_step("disconnect_reply", &srv.disconnect, NULL, 0);
	report_step("server_destroy", &srv.destroy, NULL, 0);
	rdma_destroy_id(srv.listener);
	rdma_destroy_id(srv.warm);
	rdma_destroy_event_channel(srv.channel);
}
