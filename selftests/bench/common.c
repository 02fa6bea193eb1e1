// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* IB_CM remembers numbers of queue pairs for a while: each is used once. */
static atomic_uint last_qpn;

void die(const char *text)
{
	fprintf(stderr, "bench: %s: %s: %s\n", opt.stack, text,
		strerror(errno));
	exit(1);
}

struct rdma_event_channel *open_channel(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	if (!channel)
		die("rdma_create_event_channel");
	return channel;
}

struct rdma_cm_event *need_event(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(channel, &event))
		die("rdma_get_cm_event");
	return event;
}

void expect_event(struct rdma_event_channel *channel,
		  enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = need_event(channel);

	if (event->event != type) {
		fprintf(stderr, "bench: %s: %s instead of %s, status %d\n",
			opt.stack, rdma_event_str(event->event),
			rdma_event_str(type), event->status);
		exit(1);
	}
	rdma_ack_cm_event(event);
}

struct rdma_cm_id *new_id(struct rdma_event_channel *channel, void *context)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, context, RDMA_PS_TCP))
		die("rdma_create_id");
	return id;
}

void bind_any(struct rdma_cm_id *id, uint16_t port)
{
	struct sockaddr_in any = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};

	if (rdma_bind_addr(id, (struct sockaddr *)&any))
		die("rdma_bind_addr");
}

struct sockaddr *server_address(void)
{
	opt.address.sin_port = htons(opt.port);
	return (struct sockaddr *)&opt.address;
}

/*
 * What a process does once is not what a connection costs: the library opens
 * the device.  Keep the identifier, so that it stays open.
 */
struct rdma_cm_id *warm_up(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *id = new_id(channel, NULL);

	if (rdma_resolve_addr(id, NULL, server_address(), TIMEOUT_MS))
		die("rdma_resolve_addr");
	expect_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	return id;
}

/* All queue pairs share a completion queue: nothing is ever sent. */
struct ibv_qp *make_qp(struct rdma_cm_id *id)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct ibv_pd *pd;
	static struct ibv_cq *cq;
	struct ibv_qp_init_attr attr = {
		.cap = {
			.max_send_wr = 1,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_RC,
	};

	pthread_mutex_lock(&lock);
	if (!pd)
		pd = ibv_alloc_pd(id->verbs);
	if (pd && !cq)
		cq = ibv_create_cq(id->verbs, 16, NULL, NULL, 0);
	pthread_mutex_unlock(&lock);
	if (!cq)
		die("ibv_create_cq");
	attr.send_cq = cq;
	attr.recv_cq = cq;
	if (rdma_create_qp(id, pd, &attr))
		die("rdma_create_qp");
	return id->qp;
}

uint32_t next_qpn(void)
{
	return (opt.qpn + atomic_fetch_add(&last_qpn, 1)) & 0xffffff;
}
