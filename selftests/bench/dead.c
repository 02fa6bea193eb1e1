// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One that answers among many that do not, and how fast events are read.
 */
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"

static void start_resolve(struct rdma_cm_id *id, const struct sockaddr_in *to)
{
	struct sockaddr_in dst = *to;

	dst.sin_port = htons(opt.port);
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&dst, TIMEOUT_MS))
		die("rdma_resolve_addr");
}

/* The n-th address after opt.address. */
static struct sockaddr_in dead_address(int n)
{
	struct sockaddr_in address = opt.address;

	address.sin_addr.s_addr = htonl(ntohl(address.sin_addr.s_addr) + n);
	return address;
}

/* Half of the dead ones are before the live one, half behind. */
void dead(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id **ids, *live;
	struct rdma_cm_event *event;
	struct usage usage;
	uint64_t start = 0;
	int i;

	ids = calloc(opt.count, sizeof(*ids));
	if (!ids)
		die("memory");
	live = new_id(channel, NULL);
	usage_begin(&usage);
	for (i = 0; i < opt.count; i++) {
		struct sockaddr_in to = dead_address(i);

		if (i == opt.count / 2) {
			start = now_ns();
			start_resolve(live, &opt.live);
		}
		ids[i] = new_id(channel, NULL);
		start_resolve(ids[i], &to);
	}
	event = need_event(channel);
	report("live_ms", (now_ns() - start) / 1e6);
	usage_end(&usage);
	if (event->id != live || event->event != RDMA_CM_EVENT_ADDR_RESOLVED)
		fprintf(stderr, "bench: %s: first comes %s of the %s one\n",
			opt.stack, rdma_event_str(event->event),
			event->id == live ? "live" : "wrong");
	rdma_ack_cm_event(event);
	report_step("start", NULL, &usage, opt.count);

	for (i = 0; i < opt.count; i++)
		rdma_destroy_id(ids[i]);
	rdma_destroy_id(live);
	rdma_destroy_event_channel(channel);
}

/* Of addresses resolved. */
void events(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id **ids;
	struct samples samples;
	struct usage usage;
	int i;

	ids = calloc(opt.count, sizeof(*ids));
	if (!ids)
		die("memory");
	samples_init(&samples, opt.count);
	server_address();
	for (i = 0; i < opt.count; i++) {
		ids[i] = new_id(channel, NULL);
		start_resolve(ids[i], &opt.address);
	}
	sleep(2);
	usage_begin(&usage);
	for (i = 0; i < opt.count; i++) {
		uint64_t start = now_ns();

		expect_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
		samples_add(&samples, now_ns() - start);
	}
	usage_end(&usage);
	report_step("event", &samples, &usage, opt.count);
	for (i = 0; i < opt.count; i++)
		rdma_destroy_id(ids[i]);
	rdma_destroy_event_channel(channel);
}
