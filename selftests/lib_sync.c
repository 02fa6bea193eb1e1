// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Synchronous calls (no event channel): connect, a message each way, and the
 * end, over real queue pairs, in two threads.
 */
#include <errno.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>
#include <string.h>

#include "kselftest_harness.h"

#define IP4    "10.0.0.1"
#define IP6    "fd00::1"
#define SIZE   4096
#define ROUNDS 5

static void fill(unsigned char *to, int seed)
{
	int i;

	for (i = 0; i < SIZE; i++)
		to[i] = i * 31 + i / 256 + seed;
}

static struct rdma_cm_id *endpoint(const char *ip, const char *port,
				   bool passive)
{
	struct rdma_addrinfo hints = {
		.ai_flags = RAI_NUMERICHOST | (passive ? RAI_PASSIVE : 0),
		.ai_port_space = RDMA_PS_TCP,
	};
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 4,
			 .max_recv_wr = 4,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.sq_sig_all = 1,
	};
	struct rdma_addrinfo *res;
	struct rdma_cm_id *id;
	int ret;

	if (rdma_getaddrinfo(ip, port, &hints, &res))
		return NULL;
	ret = rdma_create_ep(&id, res, NULL, &attr);
	rdma_freeaddrinfo(res);
	return ret ? NULL : id;
}

/*
 * Soft-RoCE forgets the acknowledgement it owes when a queue pair goes to the
 * error state, so neither side may disconnect before both have all
 * completions.
 */
static pthread_barrier_t all_done;

/* A message there and back; returns the line that failed, or 0. */
static int ping(struct rdma_cm_id *id, bool first)
{
	unsigned char send[SIZE], receive[SIZE], expect[SIZE];
	struct ibv_mr *send_mr, *receive_mr;
	struct ibv_wc wc;
	int line = 0;

	fill(send, first ? 1 : 2);
	fill(expect, first ? 2 : 1);
	memset(receive, 0, sizeof(receive));
	send_mr = rdma_reg_msgs(id, send, SIZE);
	receive_mr = rdma_reg_msgs(id, receive, SIZE);
	if (!send_mr || !receive_mr)
		return __LINE__;
	if (rdma_post_recv(id, NULL, receive, SIZE, receive_mr))
		line = __LINE__;
	else if (first ? rdma_connect(id, NULL) : rdma_accept(id, NULL))
		line = __LINE__;
	else if (first && (rdma_post_send(id, NULL, send, SIZE, send_mr, 0) ||
			   rdma_get_send_comp(id, &wc) <= 0 || wc.status))
		line = __LINE__;
	else if (rdma_get_recv_comp(id, &wc) <= 0 || wc.status ||
		 wc.byte_len != SIZE || memcmp(receive, expect, SIZE))
		line = __LINE__;
	else if (!first && (rdma_post_send(id, NULL, send, SIZE, send_mr, 0) ||
			    rdma_get_send_comp(id, &wc) <= 0 || wc.status))
		line = __LINE__;
	pthread_barrier_wait(&all_done);
	if (!line && rdma_disconnect(id))
		line = __LINE__;
	rdma_dereg_mr(send_mr);
	rdma_dereg_mr(receive_mr);
	return line;
}

static void *serve(void *arg)
{
	struct rdma_cm_id *listener = arg, *id;
	int round, line = 0;

	for (round = 0; round < ROUNDS && !line; round++) {
		if (rdma_get_request(listener, &id)) {
			line = __LINE__;
			break;
		}
		line = ping(id, false);
		rdma_destroy_ep(id);
	}
	return (void *)(long)line;
}

FIXTURE(sync)
{
	struct rdma_cm_id *listener;
};

FIXTURE_VARIANT(sync)
{
	const char *ip;
};

FIXTURE_VARIANT_ADD(sync, v4){ .ip = IP4 };
FIXTURE_VARIANT_ADD(sync, v6){ .ip = IP6 };

FIXTURE_SETUP(sync)
{
	self->listener = endpoint(variant->ip, "7471", true);
	ASSERT_NE(NULL, self->listener);
	ASSERT_EQ(0, rdma_listen(self->listener, 4));
}

FIXTURE_TEARDOWN(sync)
{
	rdma_destroy_ep(self->listener);
}

TEST_F(sync, connect_a_message_each_way_disconnect)
{
	pthread_t thread;
	void *line;
	int round;

	ASSERT_EQ(0, pthread_barrier_init(&all_done, NULL, 2));
	ASSERT_EQ(0, pthread_create(&thread, NULL, serve, self->listener));
	for (round = 0; round < ROUNDS; round++) {
		struct rdma_cm_id *id = endpoint(variant->ip, "7471", false);

		ASSERT_NE(NULL, id);
		EXPECT_EQ(htons(7471), rdma_get_dst_port(id));
		EXPECT_EQ(0, ping(id, true));
		rdma_destroy_ep(id);
	}
	ASSERT_EQ(0, pthread_join(thread, &line));
	EXPECT_EQ(0, (long)line);
}

static void *refuse(void *arg)
{
	struct rdma_cm_id *id;

	if (rdma_get_request(arg, &id))
		return (void *)(long)__LINE__;
	if (rdma_reject(id, NULL, 0))
		return (void *)(long)__LINE__;
	rdma_destroy_ep(id);
	return NULL;
}

TEST_F(sync, C62_a_rejected_connect_is_ECONNREFUSED)
{
	struct rdma_cm_id *id = endpoint(variant->ip, "7471", false);
	pthread_t thread;
	void *line;

	ASSERT_NE(NULL, id);
	ASSERT_EQ(0, pthread_create(&thread, NULL, refuse, self->listener));
	errno = 0;
	EXPECT_EQ(-1, rdma_connect(id, NULL));
	EXPECT_EQ(ECONNREFUSED, errno);
	ASSERT_EQ(0, pthread_join(thread, &line));
	EXPECT_EQ(0, (long)line);
	rdma_destroy_ep(id);

	/* Nobody there. */
	id = endpoint(variant->ip, "7499", false);
	ASSERT_NE(NULL, id);
	errno = 0;
	EXPECT_EQ(-1, rdma_connect(id, NULL));
	EXPECT_NE(0, errno);
	rdma_destroy_ep(id);
}

TEST_F(sync, resolve_route_before_resolve_addr_is_EINVAL)
{
	struct rdma_cm_id *id;

	ASSERT_EQ(0, rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	errno = 0;
	EXPECT_EQ(-1, rdma_resolve_route(id, 100));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(0, rdma_destroy_id(id));
}

TEST_HARNESS_MAIN
