// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ephemeral ports as the range fills, and identifiers' memory.
 */
#include <errno.h>
#include <stdlib.h>

#include "bench.h"

/* Room for what is measured, in the fullest range too. */
#define BINDS 200

static int range_size(void)
{
	FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "r");
	int low, high;

	if (!file || fscanf(file, "%d %d", &low, &high) != 2)
		die("ip_local_port_range");
	fclose(file);
	return high - low + 1;
}

static struct rdma_cm_id **bind_many(struct rdma_event_channel *channel,
				     int count)
{
	struct rdma_cm_id **ids;
	int i;

	ids = calloc(count ? count : 1, sizeof(*ids));
	if (!ids)
		die("memory");
	for (i = 0; i < count; i++) {
		ids[i] = new_id(channel, NULL);
		bind_any(ids[i], 0);
	}
	return ids;
}

static void destroy_many(struct rdma_cm_id **ids, int count)
{
	int i;

	for (i = 0; i < count; i++)
		rdma_destroy_id(ids[i]);
	free(ids);
}

/* Each binds, and lets go: the range stays as full as it is. */
void ports(void)
{
	struct rdma_event_channel *channel = open_channel();
	int full = (long long)range_size() * opt.percent / 100;
	struct rdma_cm_id **ids = bind_many(channel, full);
	struct samples bind, destroy;
	struct usage usage;
	int i;

	samples_init(&bind, BINDS);
	samples_init(&destroy, BINDS);
	usage_begin(&usage);
	for (i = 0; i < BINDS; i++) {
		struct rdma_cm_id *id = new_id(channel, NULL);
		uint64_t start = now_ns();

		bind_any(id, 0);
		samples_add(&bind, now_ns() - start);
		start = now_ns();
		rdma_destroy_id(id);
		samples_add(&destroy, now_ns() - start);
	}
	usage_end(&usage);
	report_step("bind", &bind, NULL, 0);
	report_step("unbind", &destroy, NULL, 0);
	report_step("both", NULL, &usage, BINDS);
	destroy_many(ids, full);
	rdma_destroy_event_channel(channel);
}

static void report_memory(const char *what, uint64_t before)
{
	report(what, ((double)slab_bytes() - before) / opt.count);
}

/* Bytes of slab of a bound identifier. Several share a port. */
void memory(void)
{
	struct rdma_event_channel *channel = open_channel();
	uint64_t before = slab_bytes(), start = now_ns();
	struct rdma_cm_id **ids;
	int i;

	ids = calloc(opt.count, sizeof(*ids));
	if (!ids)
		die("memory");
	for (i = 0; i < opt.count; i++) {
		int one = 1;

		ids[i] = new_id(channel, NULL);
		if (rdma_set_option(ids[i], RDMA_OPTION_ID,
				    RDMA_OPTION_ID_REUSEADDR, &one,
				    sizeof(one)))
			die("rdma_set_option");
		bind_any(ids[i], 10000 + i % 20000);
	}
	report("made_us", (double)(now_ns() - start) / 1000 / opt.count);
	report_memory("bound_bytes", before);
	start = now_ns();
	for (i = 0; i < opt.count; i++)
		rdma_destroy_id(ids[i]);
	report("destroyed_us", (double)(now_ns() - start) / 1000 / opt.count);
	rdma_destroy_event_channel(channel);
}
