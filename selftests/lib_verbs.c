// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The inline functions of <rdma/rdma_verbs.h> on identifiers of ours: every
 * one moves bytes, which are compared.  Both ends are in this process.
 */
#include "lib_test.h"

#include "kselftest_harness.h"

#define PORT 7540
#define SIZE 256
#define HALF (SIZE / 2)

FIXTURE(verbs)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *client;
	struct rdma_cm_id *server;
	char from[SIZE];
	char to[SIZE];
};

/* Of each end one event is next; which of them comes first is not said. */
static int expect_two(struct rdma_event_channel *channel,
		      enum rdma_cm_event_type type)
{
	return expect_event(channel, type) ?: expect_event(channel, type);
}

FIXTURE_SETUP(verbs)
{
	struct rdma_conn_param param = {
		.responder_resources = 1,
		.initiator_depth = 1,
	};
	struct rdma_cm_event *event;
	int i;

	for (i = 0; i < SIZE; i++)
		self->from[i] = i + 1;
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	self->listener = listening_id(self->channel, RDMA_PS_TCP, IP4, PORT);
	ASSERT_NE(NULL, self->listener);
	self->client = resolved_id(self->channel, RDMA_PS_TCP, IP4, PORT);
	ASSERT_NE(NULL, self->client);
	ASSERT_EQ(0, create_qp_sge(self->client, 2));
	ASSERT_EQ(0, rdma_connect(self->client, &param));
	event = next_event(self->channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	ASSERT_NE(NULL, event);
	self->server = event->id;
	ASSERT_EQ(0, rdma_ack_cm_event(event));
	ASSERT_EQ(0, create_qp_sge(self->server, 2));
	ASSERT_EQ(0, rdma_accept(self->server, &param));
	ASSERT_EQ(0, expect_two(self->channel, RDMA_CM_EVENT_ESTABLISHED));
}

FIXTURE_TEARDOWN(verbs)
{
	EXPECT_EQ(0, rdma_disconnect(self->client));
	EXPECT_EQ(0, rdma_disconnect(self->server));
	EXPECT_EQ(0, expect_two(self->channel, RDMA_CM_EVENT_DISCONNECTED));
	rdma_destroy_ep(self->client);
	rdma_destroy_ep(self->server);
	EXPECT_EQ(0, rdma_destroy_id(self->listener));
	rdma_destroy_event_channel(self->channel);
}

static struct ibv_sge sge(char *at, int len, struct ibv_mr *mr)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)at,
		.length = len,
		.lkey = mr->lkey,
	};
}

/* 0 when what was posted first is done, and is this. */
static int sent(struct rdma_cm_id *id, void *context)
{
	struct ibv_wc wc;

	if (rdma_get_send_comp(id, &wc) != 1 || wc.status)
		return -1;
	return (uintptr_t)context == wc.wr_id ? 0 : -1;
}

static int received(struct rdma_cm_id *id, void *context)
{
	struct ibv_wc wc;

	if (rdma_get_recv_comp(id, &wc) != 1 || wc.status)
		return -1;
	return (uintptr_t)context == wc.wr_id ? (int)wc.byte_len : -1;
}

TEST_F(verbs, messages)
{
	struct ibv_mr *from = rdma_reg_msgs(self->client, self->from, SIZE);
	struct ibv_mr *to = rdma_reg_msgs(self->server, self->to, SIZE);

	ASSERT_NE(NULL, from);
	ASSERT_NE(NULL, to);
	ASSERT_EQ(0, rdma_post_recv(self->server, self, self->to, SIZE, to));
	ASSERT_EQ(0, rdma_post_send(self->client, from, self->from, SIZE, from,
				    0));
	EXPECT_EQ(SIZE, received(self->server, self));
	EXPECT_EQ(0, sent(self->client, from));
	EXPECT_EQ(0, memcmp(self->from, self->to, SIZE));
	EXPECT_EQ(0, rdma_dereg_mr(from));
	EXPECT_EQ(0, rdma_dereg_mr(to));
}

TEST_F(verbs, messages_in_pieces)
{
	struct ibv_mr *from = rdma_reg_msgs(self->client, self->from, SIZE);
	struct ibv_mr *to = rdma_reg_msgs(self->server, self->to, SIZE);
	struct ibv_sge in[2], out[2];

	ASSERT_NE(NULL, from);
	ASSERT_NE(NULL, to);
	in[0] = sge(self->to, 7, to);
	in[1] = sge(self->to + 7, SIZE - 7, to);
	out[0] = sge(self->from + HALF, HALF, from);
	out[1] = sge(self->from, HALF, from);
	ASSERT_EQ(0, rdma_post_recvv(self->server, self, in, 2));
	ASSERT_EQ(0, rdma_post_sendv(self->client, from, out, 2, 0));
	EXPECT_EQ(SIZE, received(self->server, self));
	EXPECT_EQ(0, sent(self->client, from));
	EXPECT_EQ(0, memcmp(self->from + HALF, self->to, HALF));
	EXPECT_EQ(0, memcmp(self->from, self->to + HALF, HALF));
	EXPECT_EQ(0, rdma_dereg_mr(from));
	EXPECT_EQ(0, rdma_dereg_mr(to));
}

TEST_F(verbs, writes_into_the_peer_s_memory)
{
	struct ibv_mr *from = rdma_reg_msgs(self->client, self->from, SIZE);
	struct ibv_mr *to = rdma_reg_write(self->server, self->to, SIZE);
	struct ibv_sge out[2];

	ASSERT_NE(NULL, from);
	ASSERT_NE(NULL, to);
	ASSERT_EQ(0, rdma_post_write(self->client, from, self->from, SIZE, from,
				     0, (uintptr_t)self->to, to->rkey));
	EXPECT_EQ(0, sent(self->client, from));
	EXPECT_EQ(0, memcmp(self->from, self->to, SIZE));

	out[0] = sge(self->from + HALF, HALF, from);
	out[1] = sge(self->from, HALF, from);
	ASSERT_EQ(0, rdma_post_writev(self->client, to, out, 2, 0,
				      (uintptr_t)self->to, to->rkey));
	EXPECT_EQ(0, sent(self->client, to));
	EXPECT_EQ(0, memcmp(self->from + HALF, self->to, HALF));
	EXPECT_EQ(0, rdma_dereg_mr(from));
	EXPECT_EQ(0, rdma_dereg_mr(to));
}

TEST_F(verbs, reads_the_peer_s_memory)
{
	struct ibv_mr *from = rdma_reg_read(self->server, self->from, SIZE);
	struct ibv_mr *to = rdma_reg_msgs(self->client, self->to, SIZE);
	struct ibv_sge in[2];

	ASSERT_NE(NULL, from);
	ASSERT_NE(NULL, to);
	ASSERT_EQ(0, rdma_post_read(self->client, to, self->to, SIZE, to, 0,
				    (uintptr_t)self->from, from->rkey));
	EXPECT_EQ(0, sent(self->client, to));
	EXPECT_EQ(0, memcmp(self->from, self->to, SIZE));

	in[0] = sge(self->to + HALF, HALF, to);
	in[1] = sge(self->to, HALF, to);
	ASSERT_EQ(0, rdma_post_readv(self->client, from, in, 2, 0,
				     (uintptr_t)self->from, from->rkey));
	EXPECT_EQ(0, sent(self->client, from));
	EXPECT_EQ(0, memcmp(self->from, self->to + HALF, HALF));
	EXPECT_EQ(0, rdma_dereg_mr(from));
	EXPECT_EQ(0, rdma_dereg_mr(to));
}

/* --- datagrams */

#define GRH 40 /* precedes each one */

static int create_qp_ex(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr_ex attr = {
		.cap = {
			.max_send_wr = 4,
			.max_recv_wr = 4,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = id->qp_type,
		.sq_sig_all = 1,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = id->pd,
	};

	return rdma_create_qp_ex(id, &attr);
}

TEST(datagram)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *listener, *client, *server;
	char from[SIZE] = "a datagram", to[GRH + SIZE] = {};
	struct ibv_mr *from_mr, *to_mr;
	struct rdma_cm_event *event;
	struct ibv_ah *ah;

	ASSERT_NE(NULL, channel);
	listener = listening_id(channel, RDMA_PS_UDP, IP4, PORT);
	ASSERT_NE(NULL, listener);
	client = resolved_id(channel, RDMA_PS_UDP, IP4, PORT);
	ASSERT_NE(NULL, client);
	ASSERT_EQ(0, create_qp_ex(client));
	ASSERT_NE(NULL, client->qp);
	EXPECT_EQ(IBV_QPS_RTS, qp_state(client->qp));
	ASSERT_EQ(0, rdma_connect(client, NULL));
	event = next_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	ASSERT_NE(NULL, event);
	server = event->id;
	ASSERT_EQ(0, rdma_ack_cm_event(event));
	ASSERT_EQ(0, create_qp_ex(server));
	to_mr = rdma_reg_msgs(server, to, sizeof(to));
	ASSERT_NE(NULL, to_mr);
	ASSERT_EQ(0, rdma_post_recv(server, to, to, sizeof(to), to_mr));
	ASSERT_EQ(0, rdma_accept(server, NULL));
	event = next_event(channel, RDMA_CM_EVENT_ESTABLISHED);
	ASSERT_NE(NULL, event);
	ah = ibv_create_ah(client->pd, &event->param.ud.ah_attr);
	ASSERT_NE(NULL, ah);
	from_mr = rdma_reg_msgs(client, from, SIZE);
	ASSERT_NE(NULL, from_mr);
	ASSERT_EQ(0, rdma_post_ud_send(client, from, from, SIZE, from_mr, 0, ah,
				       event->param.ud.qp_num));
	EXPECT_EQ(0, sent(client, from));
	EXPECT_EQ(GRH + SIZE, received(server, to));
	EXPECT_EQ(0, memcmp(from, to + GRH, SIZE));
	EXPECT_EQ(0, rdma_ack_cm_event(event));
	EXPECT_EQ(0, ibv_destroy_ah(ah));
	EXPECT_EQ(0, rdma_dereg_mr(from_mr));
	EXPECT_EQ(0, rdma_dereg_mr(to_mr));
	rdma_destroy_ep(client);
	rdma_destroy_ep(server);
	EXPECT_EQ(0, rdma_destroy_id(listener));
	rdma_destroy_event_channel(channel);
}

/* --- protection domains */

TEST(a_protection_domain_of_ones_own)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE,
				       .ai_port_space = RDMA_PS_TCP };
	struct rdma_cm_id *listener, *id;
	struct ibv_qp_init_attr_ex attr = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
	};
	struct rdma_addrinfo *res;
	struct ibv_context **devs;
	struct ibv_pd *pd;

	devs = rdma_get_devices(NULL);
	ASSERT_NE(NULL, devs);
	pd = ibv_alloc_pd(devs[0]);
	ASSERT_NE(NULL, pd);
	ASSERT_EQ(0, rdma_getaddrinfo(IP4, "7599", &hints, &res));
	ASSERT_EQ(0, rdma_create_ep(&listener, res, pd, NULL));
	rdma_freeaddrinfo(res);
	EXPECT_EQ(pd, listener->pd);
	EXPECT_EQ(devs[0], listener->verbs);
	rdma_destroy_ep(listener);

	/* What is not said is what the identifier has. */
	id = resolved_id(NULL, RDMA_PS_TCP, IP4, 7599);
	ASSERT_NE(NULL, id);
	EXPECT_NE(pd, id->pd);
	id->pd = pd;
	ASSERT_EQ(0, rdma_create_qp_ex(id, &attr));
	EXPECT_EQ(pd, id->qp->pd);
	rdma_destroy_qp(id);
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
	/* And that is not what is gone. */
	attr.pd = NULL;
	ASSERT_EQ(0, rdma_create_qp_ex(id, &attr));
	EXPECT_NE(pd, id->qp->pd);
	rdma_destroy_ep(id);
	rdma_free_devices(devs);
}

TEST_HARNESS_MAIN
