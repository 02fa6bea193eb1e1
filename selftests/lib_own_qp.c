// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * timeout: 60
 *
 * C73: queue pairs that the application makes itself, and moves by what
 * rdma_init_qp_attr() says; enhanced connection establishment; refusals.
 */
#include "lib_test.h"

#include "kselftest_harness.h"

#define PORT 7560

FIXTURE(own_qp)
{
	struct rdma_event_channel *channel;
	struct rdma_event_channel *peer_channel;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_qp *peer_qp;
};

static struct ibv_qp *make_qp(struct rdma_cm_id *id, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { 2, 2, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};

	return ibv_create_qp(id->pd, &attr);
}

FIXTURE_SETUP(own_qp)
{
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	self->peer_channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->peer_channel);
	self->listener =
		listening_id(self->peer_channel, RDMA_PS_TCP, IP4, PORT);
	ASSERT_NE(NULL, self->listener);
	self->id = resolved_id(self->channel, RDMA_PS_TCP, IP4, PORT);
	ASSERT_NE(NULL, self->id);
	self->cq = ibv_create_cq(self->id->verbs, 8, NULL, NULL, 0);
	ASSERT_NE(NULL, self->cq);
	self->qp = make_qp(self->id, self->cq);
	ASSERT_NE(NULL, self->qp);
	self->peer_qp = make_qp(self->id, self->cq);
	ASSERT_NE(NULL, self->peer_qp);
}

FIXTURE_TEARDOWN(own_qp)
{
	ibv_destroy_qp(self->qp);
	ibv_destroy_qp(self->peer_qp);
	ibv_destroy_cq(self->cq);
	EXPECT_EQ(0, rdma_destroy_id(self->id));
	EXPECT_EQ(0, rdma_destroy_id(self->listener));
	rdma_destroy_event_channel(self->channel);
	rdma_destroy_event_channel(self->peer_channel);
}

static int move(struct rdma_cm_id *id, struct ibv_qp *qp,
		enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	if (rdma_init_qp_attr(id, &attr, &mask))
		return errno;
	return ibv_modify_qp(qp, &attr, mask);
}

static int move_all(struct rdma_cm_id *id, struct ibv_qp *qp)
{
	int ret;

	ret = move(id, qp, IBV_QPS_INIT);
	if (!ret)
		ret = move(id, qp, IBV_QPS_RTR);
	return ret ? ret : move(id, qp, IBV_QPS_RTS);
}

TEST_F(own_qp, response_and_establish)
{
	struct rdma_conn_param param = {
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	struct rdma_cm_event *event;
	struct rdma_cm_id *child;
	int mask;

	/* Nobody knows the peer yet. */
	EXPECT_EQ(EINVAL, err(rdma_init_qp_attr(self->id, &attr, &mask)));
	param.qp_num = self->qp->qp_num;
	ASSERT_EQ(0, rdma_connect(self->id, &param));
	event = next_event(self->peer_channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(self->qp->qp_num, event->param.conn.qp_num);
	child = event->id;
	EXPECT_EQ(0, move_all(child, self->peer_qp));
	param.qp_num = self->peer_qp->qp_num;
	ASSERT_EQ(0, rdma_accept(child, &param));
	EXPECT_EQ(0, rdma_ack_cm_event(event));

	event = next_event(self->channel, RDMA_CM_EVENT_CONNECT_RESPONSE);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(self->peer_qp->qp_num, event->param.conn.qp_num);
	EXPECT_EQ(0, rdma_ack_cm_event(event));
	EXPECT_EQ(0, move_all(self->id, self->qp));
	EXPECT_EQ(IBV_QPS_RTS, qp_state(self->qp));
	ASSERT_EQ(0, rdma_establish(self->id));
	EXPECT_EQ(EINVAL, err(rdma_establish(self->id)));
	EXPECT_EQ(0,
		  expect_event(self->peer_channel, RDMA_CM_EVENT_ESTABLISHED));
	EXPECT_EQ(EISCONN, err(rdma_notify(child, IBV_EVENT_COMM_EST)));
	EXPECT_EQ(EINVAL, err(rdma_notify(child, IBV_EVENT_SQ_DRAINED)));

	EXPECT_EQ(0, rdma_disconnect(self->id));
	EXPECT_EQ(0,
		  expect_event(self->peer_channel, RDMA_CM_EVENT_DISCONNECTED));
	EXPECT_EQ(0, rdma_disconnect(child));
	EXPECT_EQ(0, expect_event(self->channel, RDMA_CM_EVENT_DISCONNECTED));
	EXPECT_EQ(0, rdma_destroy_id(child));
}

TEST_F(own_qp, ece_goes_both_ways)
{
	struct ibv_ece mine = { .vendor_id = 0x15b3, .options = 0x1234 };
	struct ibv_ece other = { .vendor_id = 0x15b3, .options = 0x1200 };
	struct ibv_ece none = { .options = 1 }, got;
	struct rdma_conn_param param = { .retry_count = 7 };
	struct rdma_cm_event *event;
	struct rdma_cm_id *child;

	EXPECT_EQ(EINVAL, err(rdma_set_local_ece(self->id, NULL)));
	EXPECT_EQ(EINVAL, err(rdma_set_local_ece(self->id, &none)));
	EXPECT_EQ(EINVAL, err(rdma_get_remote_ece(NULL, &got)));
	ASSERT_EQ(0, rdma_set_local_ece(self->id, &mine));
	param.qp_num = self->qp->qp_num;
	ASSERT_EQ(0, rdma_connect(self->id, &param));
	event = next_event(self->peer_channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	ASSERT_NE(NULL, event);
	child = event->id;
	ASSERT_EQ(0, rdma_get_remote_ece(child, &got));
	EXPECT_EQ(mine.vendor_id, got.vendor_id);
	EXPECT_EQ(mine.options, got.options);
	ASSERT_EQ(0, rdma_set_local_ece(child, &other));
	param.qp_num = self->peer_qp->qp_num;
	ASSERT_EQ(0, rdma_accept(child, &param));
	EXPECT_EQ(0, rdma_ack_cm_event(event));
	EXPECT_EQ(0,
		  expect_event(self->channel, RDMA_CM_EVENT_CONNECT_RESPONSE));
	ASSERT_EQ(0, rdma_get_remote_ece(self->id, &got));
	EXPECT_EQ(other.vendor_id, got.vendor_id);
	EXPECT_EQ(other.options, got.options);
	EXPECT_EQ(0, rdma_destroy_id(child));
}

TEST_F(own_qp, refusal_for_ece)
{
	struct rdma_conn_param param = { .qp_num = self->qp->qp_num };
	struct rdma_cm_event *event;
	struct rdma_cm_id *child;

	ASSERT_EQ(0, rdma_connect(self->id, &param));
	event = next_event(self->peer_channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	ASSERT_NE(NULL, event);
	child = event->id;
	EXPECT_EQ(0, rdma_reject_ece(child, "no", 3));
	EXPECT_EQ(0, rdma_ack_cm_event(event));
	EXPECT_EQ(0, rdma_destroy_id(child));
	event = next_event(self->channel, RDMA_CM_EVENT_REJECTED);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(35, event->status);
	EXPECT_STREQ("no", event->param.conn.private_data);
	EXPECT_EQ(0, rdma_ack_cm_event(event));
}

TEST(C73_a_fresh_identifier_refuses_everything)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC };
	struct rdma_conn_param param = {};
	struct ibv_srq_init_attr srq = {};
	struct rdma_cm_id *id;
	int mask;

	ASSERT_NE(NULL, channel);
	ASSERT_EQ(0, rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	EXPECT_EQ(EINVAL, err(rdma_connect(id, &param)));
	EXPECT_EQ(EINVAL, err(rdma_accept(id, &param)));
	EXPECT_EQ(EINVAL, err(rdma_reject(id, NULL, 0)));
	EXPECT_EQ(EINVAL, err(rdma_establish(id)));
	EXPECT_EQ(EINVAL, err(rdma_notify(id, IBV_EVENT_COMM_EST)));
	EXPECT_EQ(EINVAL, err(rdma_disconnect(id)));
	EXPECT_EQ(EINVAL, err(rdma_resolve_route(id, TIMEOUT)));
	EXPECT_EQ(EINVAL, err(rdma_init_qp_attr(id, &attr, &mask)));
	EXPECT_EQ(EINVAL, err(rdma_create_qp(id, NULL, &init)));
	EXPECT_EQ(EINVAL, err(rdma_create_srq(id, NULL, &srq)));
	rdma_destroy_qp(id);
	rdma_destroy_srq(id);
	EXPECT_EQ(0, rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

TEST_F(own_qp, C73_one_queue_pair_and_attributes_as_they_were)
{
	struct ibv_qp_init_attr attr = {
		.cap = { 2, 2, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp_init_attr ud = {
		.cap = { 2, 2, 1, 1, 0 },
		.qp_type = IBV_QPT_UD,
	};

	EXPECT_EQ(EOPNOTSUPP, err(rdma_create_qp(self->id, NULL, &ud)));
	ASSERT_EQ(0, rdma_create_qp(self->id, NULL, &attr));
	EXPECT_EQ(NULL, attr.send_cq);
	EXPECT_EQ(NULL, attr.recv_cq);
	EXPECT_EQ(EINVAL, err(rdma_create_qp(self->id, NULL, &attr)));
	rdma_destroy_qp(self->id);
	EXPECT_EQ(NULL, self->id->send_cq);
}

/* Soft-RoCE has no XRC, and says so; where there is, it works. */
TEST_F(own_qp, xrc_shared_receive_queue)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 2, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE,
		.srq_type = IBV_SRQT_XRC,
	};
	int ret = err(rdma_create_srq_ex(self->id, &attr));

	EXPECT_TRUE(!ret || ret == EOPNOTSUPP);
	if (ret)
		EXPECT_EQ(NULL, self->id->srq);
	rdma_destroy_srq(self->id);
	EXPECT_EQ(NULL, self->id->recv_cq);
}

TEST_HARNESS_MAIN
