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

struct live {
	struct rdma_event_channel *channel;
	uint64_t start;
	double ms;
};

static void *wait_for_live(void *arg)
{
	struct live *live = arg;

	expect_event(live->channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	live->ms = (now_ns() - live->start) / 1e6;
	return NULL;
}

/*
 * Half of the dead ones are before the live one, half behind.  That has a
 * channel and a thread of its own, so that only the kernel could mix them up.
 */
void dead(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct live live = { .channel = open_channel() };
	struct rdma_cm_id *live_id = new_id(live.channel, NULL);
	struct rdma_cm_id **ids;
	struct samples samples;
	struct usage usage;
	pthread_t thread;
	int i;

	ids = calloc(opt.count, sizeof(*ids));
	if (!ids || pthread_create(&thread, NULL, wait_for_live, &live))
		die("memory");
	samples_init(&samples, opt.count);
	usage_begin(&usage);
	for (i = 0; i < opt.count; i++) {
		struct sockaddr_in to = dead_address(i);
		uint64_t start;

		if (i == opt.count / 2) {
			live.start = now_ns();
			start_resolve(live_id, &opt.live);
		}
		start = now_ns();
		ids[i] = new_id(channel, NULL);
		start_resolve(ids[i], &to);
		samples_add(&samples, now_ns() - start);
	}
	usage_end(&usage);
	pthread_join(thread, NULL);
	report("live_ms", live.ms);
	report_step("start", &samples, &usage, opt.count);

	for (i = 0; i < opt.count; i++)
		rdma_destroy_id(ids[i]);
	rdma_destroy_id(live_id);
	rdma_destroy_event_channel(live.channel);
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
