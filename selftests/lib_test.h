/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the tests of the library share: identifiers, events, a datagram queue
 * pair to send by.  Plain librdmacm calls only, so that the same program says
 * what the in-tree manager does.
 */
#ifndef LIB_TEST_H
#define LIB_TEST_H

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include "test_util.h"

/* The rig's network; see Documentation/testing.md. */
#define IP4	"10.0.0.1"
#define IP6	"fd00::1"
#define GROUP4	"239.1.1.1"
#define GROUP6	"ff0e::101"
#define TIMEOUT 2000
#define PATIENCE \
	8000 /* milliseconds for an event; a lost message takes 4.3 s */

union lib_addr {
	struct sockaddr sa;
	struct sockaddr_in sin;
	struct sockaddr_in6 sin6;
	struct sockaddr_storage storage;
};

static inline union lib_addr lib_addr(const char *text, int port)
{
	union lib_addr to;

	memset(&to, 0, sizeof(to));
	if (inet_pton(AF_INET, text, &to.sin.sin_addr) == 1) {
		to.sa.sa_family = AF_INET;
		to.sin.sin_port = htons(port);
	} else if (inet_pton(AF_INET6, text, &to.sin6.sin6_addr) == 1) {
		to.sa.sa_family = AF_INET6;
		to.sin6.sin6_port = htons(port);
	}
	return to;
}

/* 0, or the errno of a call that says -1. */
static inline int err(int ret)
{
	return ret == -1 ? errno : ret;
}

static inline long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static inline bool readable(struct rdma_event_channel *channel, int ms)
{
	struct pollfd pfd = { .fd = channel->fd, .events = POLLIN };

	return poll(&pfd, 1, ms) == 1;
}

/* The next event, which must come and be of this type; NULL otherwise. */
static inline struct rdma_cm_event *
next_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;

	if (!readable(channel, PATIENCE) || rdma_get_cm_event(channel, &event))
		return NULL;
	if (event->event == type)
		return event;
	printf("# %s, status %d, instead of %s\n", rdma_event_str(event->event),
	       event->status, rdma_event_str(type));
	rdma_ack_cm_event(event);
	return NULL;
}

/* 0 when the next event is of this type; it is acknowledged. */
static inline int expect_event(struct rdma_event_channel *channel,
			       enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = next_event(channel, type);

	return event ? rdma_ack_cm_event(event) : -1;
}

/* An identifier with its route to @ip resolved; NULL when that fails. */
static inline struct rdma_cm_id *resolved_id(struct rdma_event_channel *channel,
					     enum rdma_port_space ps,
					     const char *ip, int port)
{
	union lib_addr addr = lib_addr(ip, port);
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, ps))
		return NULL;
	if (!rdma_resolve_addr(id, NULL, &addr.sa, TIMEOUT) &&
	    (!channel || !expect_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED)) &&
	    !rdma_resolve_route(id, TIMEOUT) &&
	    (!channel || !expect_event(channel, RDMA_CM_EVENT_ROUTE_RESOLVED)))
		return id;
	rdma_destroy_id(id);
	return NULL;
}

/* A listening identifier; NULL when that fails. */
static inline struct rdma_cm_id *
listening_id(struct rdma_event_channel *channel, enum rdma_port_space ps,
	     const char *ip, int port)
{
	union lib_addr addr = lib_addr(ip, port);
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, ps))
		return NULL;
	if (!rdma_bind_addr(id, &addr.sa) && !rdma_listen(id, 4))
		return id;
	rdma_destroy_id(id);
	return NULL;
}

static inline int create_qp_sge(struct rdma_cm_id *id, int sge)
{
	struct ibv_qp_init_attr attr = {
		.cap = {
			.max_send_wr = 4,
			.max_recv_wr = 4,
			.max_send_sge = sge,
			.max_recv_sge = sge,
		},
		.qp_type = id->qp_type,
		.sq_sig_all = 1,
	};

	return rdma_create_qp(id, NULL, &attr);
}

static inline int create_qp(struct rdma_cm_id *id)
{
	return create_qp_sge(id, 1);
}

static inline enum ibv_qp_state qp_state(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(qp, &attr, IBV_QP_STATE, &init))
		return IBV_QPS_UNKNOWN;
	return attr.qp_state;
}

#endif /* LIB_TEST_H */
