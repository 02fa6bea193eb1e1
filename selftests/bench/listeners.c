// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How long a connection request takes to find its listener among many.
 */
#include <errno.h>
#include <stdlib.h>

#include "bench.h"

#define FIRST_PORT 10000
#define CONNECTS   200

struct side {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
};

static void resolve(struct side *client)
{
	client->id = new_id(client->channel, NULL);
	if (rdma_resolve_addr(client->id, NULL, server_address(), TIMEOUT_MS))
		die("rdma_resolve_addr");
	expect_event(client->channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(client->id, TIMEOUT_MS))
		die("rdma_resolve_route");
	expect_event(client->channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static void start_connect(struct side *client)
{
	struct rdma_conn_param param = {
		.retry_count = 7,
		.rnr_retry_count = 7,
		.qp_num = next_qpn(),
	};

	if (rdma_connect(client->id, &param))
		die("rdma_connect");
}

static void take_request(struct side *server)
{
	struct rdma_cm_event *event = need_event(server->channel);

	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
		errno = EPROTO;
		die(rdma_event_str(event->event));
	}
	server->id = event->id;
	rdma_ack_cm_event(event);
}

/* Refused, which leaves nothing behind that would take time later. */
static void refuse(struct side *client, struct side *server)
{
	rdma_reject(server->id, NULL, 0);
	rdma_destroy_id(server->id);
	expect_event(client->channel, RDMA_CM_EVENT_REJECTED);
	rdma_destroy_id(client->id);
}

/* On ports in a row, but for the one that is @taken. */
static struct rdma_cm_id **listen_many(struct rdma_event_channel *channel,
				       uint16_t taken)
{
	uint16_t port = FIRST_PORT;
	struct rdma_cm_id **ids;
	int i;

	ids = calloc(opt.count, sizeof(*ids));
	if (!ids)
		die("memory");
	for (i = 0; i < opt.count; i++) {
		if (port == taken)
			port++;
		ids[i] = new_id(channel, NULL);
		bind_any(ids[i], port++);
		if (rdma_listen(ids[i], 1))
			die("rdma_listen");
	}
	return ids;
}

/* Time from rdma_connect() until the request can be read. */
void listeners(void)
{
	struct side client = { .channel = open_channel() };
	struct side server = { .channel = open_channel() };
	struct samples request, reject;
	struct rdma_cm_id **ids, *warm;
	struct usage usage;
	int i;

	warm = warm_up(client.channel);
	usage_begin(&usage);
	ids = listen_many(server.channel, ntohs(rdma_get_src_port(warm)));
	usage_end(&usage);
	report_step("listen", NULL, &usage, opt.count);

	samples_init(&request, CONNECTS);
	samples_init(&reject, CONNECTS);
	usage_begin(&usage);
	for (i = 0; i < CONNECTS; i++) {
		unsigned int to = (unsigned int)i * 7919 % opt.count;
		uint64_t start;

		opt.port = ntohs(rdma_get_src_port(ids[to]));
		resolve(&client);
		start = now_ns();
		start_connect(&client);
		take_request(&server);
		samples_add(&request, now_ns() - start);
		start = now_ns();
		refuse(&client, &server);
		samples_add(&reject, now_ns() - start);
	}
	usage_end(&usage);
	report_step("request", &request, NULL, 0);
	report_step("refused", &reject, NULL, 0);
	report_step("both", NULL, &usage, CONNECTS);

	rdma_destroy_id(warm);
	for (i = 0; i < opt.count; i++)
		rdma_destroy_id(ids[i]);
	rdma_destroy_event_channel(server.channel);
	rdma_destroy_event_channel(client.channel);
}
