// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * timeout: 120
 *
 * Datagrams and multicast by the library: what udaddy and mckey do not look
 * at. Contents of events, refusals, synchronous use, errno of misuse.
 */
#include "lib_test.h"

#include "kselftest_harness.h"

#define PORT 7500
#define SIZE 64

FIXTURE(udp)
{
	struct rdma_event_channel *channel;
	struct rdma_event_channel *peer_channel;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *id;
};

FIXTURE_VARIANT(udp)
{
	enum rdma_port_space ps;
	const char *ip;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(udp, v4) { .ps = RDMA_PS_UDP, .ip = IP4 };
FIXTURE_VARIANT_ADD(udp, v6) { .ps = RDMA_PS_UDP, .ip = IP6 };
FIXTURE_VARIANT_ADD(udp, ipoib) { .ps = RDMA_PS_IPOIB, .ip = IP4 };
/* clang-format on */

FIXTURE_SETUP(udp)
{
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	self->peer_channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->peer_channel);
	self->listener = listening_id(self->peer_channel, variant->ps,
				      variant->ip, PORT);
	ASSERT_NE(NULL, self->listener);
	self->id = resolved_id(self->channel, variant->ps, variant->ip, PORT);
	ASSERT_NE(NULL, self->id);
}

FIXTURE_TEARDOWN(udp)
{
	rdma_destroy_qp(self->id);
	EXPECT_EQ(0, rdma_destroy_id(self->id));
	EXPECT_EQ(0, rdma_destroy_id(self->listener));
	rdma_destroy_event_channel(self->channel);
	rdma_destroy_event_channel(self->peer_channel);
}

TEST_F(udp, queue_pair_is_ready_at_once)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	ASSERT_EQ(0, create_qp(self->id));
	EXPECT_EQ(IBV_QPT_UD, self->id->qp_type);
	ASSERT_EQ(0, ibv_query_qp(self->id->qp, &attr,
				  IBV_QP_STATE | IBV_QP_QKEY, &init));
	EXPECT_EQ(IBV_QPS_RTS, attr.qp_state);
	EXPECT_EQ(RDMA_UDP_QKEY, attr.qkey);
}

static void fill(char *to, size_t len, char first)
{
	size_t i;

	for (i = 0; i < len; i++)
		to[i] = first + i;
}

TEST_F(udp, what_the_events_say)
{
	struct rdma_conn_param param = { .private_data_len = 20 };
	struct rdma_cm_event *event;
	struct rdma_cm_id *child;
	char data[20], answer[30];
	__u32 qp_num;

	fill(data, sizeof(data), 'a');
	fill(answer, sizeof(answer), 'A');
	ASSERT_EQ(0, create_qp(self->id));
	param.private_data = data;
	ASSERT_EQ(0, rdma_connect(self->id, &param));

	event = next_event(self->peer_channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(self->listener, event->listen_id);
	child = event->id;
	EXPECT_EQ(IBV_QPT_UD, child->qp_type);
	EXPECT_EQ(variant->ps, child->ps);
	EXPECT_NE(NULL, child->verbs);
	EXPECT_LE(sizeof(data), event->param.ud.private_data_len);
	EXPECT_EQ(0, memcmp(event->param.ud.private_data, data, sizeof(data)));
	EXPECT_EQ(rdma_get_src_port(self->id), rdma_get_dst_port(child));
	ASSERT_EQ(0, create_qp(child));
	qp_num = child->qp->qp_num;
	param.private_data = answer;
	param.private_data_len = sizeof(answer);
	ASSERT_EQ(0, rdma_accept(child, &param));
	EXPECT_EQ(0, rdma_ack_cm_event(event));

	event = next_event(self->channel, RDMA_CM_EVENT_ESTABLISHED);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(0, event->status);
	EXPECT_EQ(qp_num, event->param.ud.qp_num);
	EXPECT_EQ(RDMA_UDP_QKEY, event->param.ud.qkey);
	EXPECT_EQ(1, event->param.ud.ah_attr.is_global);
	EXPECT_EQ(self->id->port_num, event->param.ud.ah_attr.port_num);
	EXPECT_EQ(0, memcmp(&event->param.ud.ah_attr.grh.dgid,
			    &self->id->route.addr.addr.ibaddr.dgid, 16));
	EXPECT_LE(sizeof(answer), event->param.ud.private_data_len);
	EXPECT_EQ(0,
		  memcmp(event->param.ud.private_data, answer, sizeof(answer)));
	EXPECT_EQ(0, rdma_ack_cm_event(event));
	/* The passive side is told nothing more. */
	EXPECT_FALSE(readable(self->peer_channel, 200));
	rdma_destroy_qp(child);
	EXPECT_EQ(0, rdma_destroy_id(child));
}

TEST_F(udp, a_refusal_is_unreachable_with_the_reply_s_status)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *child;

	ASSERT_EQ(0, create_qp(self->id));
	ASSERT_EQ(0, rdma_connect(self->id, NULL));
	event = next_event(self->peer_channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	ASSERT_NE(NULL, event);
	child = event->id;
	EXPECT_EQ(0, rdma_reject(child, "no", 3));
	EXPECT_EQ(0, rdma_ack_cm_event(event));
	EXPECT_EQ(0, rdma_destroy_id(child));

	event = next_event(self->channel, RDMA_CM_EVENT_UNREACHABLE);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(2, event->status);
	EXPECT_STREQ("no", event->param.ud.private_data);
	EXPECT_EQ(0, rdma_ack_cm_event(event));
}

TEST_F(udp, private_data_has_a_limit)
{
	struct rdma_conn_param param = { .private_data_len = 181 };
	char data[255] = "";

	ASSERT_EQ(0, create_qp(self->id));
	param.private_data = data;
	EXPECT_EQ(EINVAL, err(rdma_connect(self->id, &param)));
	param.private_data_len = 180;
	EXPECT_EQ(0, rdma_connect(self->id, &param));
	EXPECT_EQ(0, expect_event(self->peer_channel,
				  RDMA_CM_EVENT_CONNECT_REQUEST));
}

TEST_F(udp, disconnecting_succeeds_and_says_nothing)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *child;

	ASSERT_EQ(0, create_qp(self->id));
	ASSERT_EQ(0, rdma_connect(self->id, NULL));
	event = next_event(self->peer_channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	ASSERT_NE(NULL, event);
	child = event->id;
	EXPECT_EQ(0, create_qp(child));
	EXPECT_EQ(0, rdma_accept(child, NULL));
	EXPECT_EQ(0, rdma_ack_cm_event(event));
	EXPECT_EQ(0, expect_event(self->channel, RDMA_CM_EVENT_ESTABLISHED));
	EXPECT_EQ(0, rdma_disconnect(self->id));
	EXPECT_EQ(0, rdma_disconnect(child));
	EXPECT_FALSE(readable(self->channel, 200));
	EXPECT_FALSE(readable(self->peer_channel, 0));
	rdma_destroy_qp(child);
	EXPECT_EQ(0, rdma_destroy_id(child));
}

TEST(port_spaces)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	ASSERT_NE(NULL, channel);
	ASSERT_EQ(0, rdma_create_id(channel, &id, NULL, RDMA_PS_UDP));
	EXPECT_EQ(IBV_QPT_UD, id->qp_type);
	EXPECT_EQ(0, rdma_destroy_id(id));
	ASSERT_EQ(0, rdma_create_id(channel, &id, NULL, RDMA_PS_IPOIB));
	EXPECT_EQ(IBV_QPT_UD, id->qp_type);
	EXPECT_EQ(0, rdma_destroy_id(id));
	ASSERT_EQ(0, rdma_create_id(channel, &id, NULL, RDMA_PS_IB));
	EXPECT_EQ(IBV_QPT_RC, id->qp_type);
	EXPECT_EQ(0, rdma_destroy_id(id));
	EXPECT_EQ(EINVAL, err(rdma_create_id(channel, &id, NULL, 0x1234)));
	rdma_destroy_event_channel(channel);
}

TEST(nobody_listens)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	ASSERT_NE(NULL, channel);
	id = resolved_id(channel, RDMA_PS_UDP, IP4, PORT + 1);
	ASSERT_NE(NULL, id);
	ASSERT_EQ(0, create_qp(id));
	ASSERT_EQ(0, rdma_connect(id, NULL));
	event = next_event(channel, RDMA_CM_EVENT_UNREACHABLE);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(1, event->status);
	EXPECT_EQ(0, rdma_ack_cm_event(event));
	rdma_destroy_qp(id);
	EXPECT_EQ(0, rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

/* --- synchronous: C70, neither side may hang */

struct sync_server {
	struct rdma_cm_id *listener;
	bool refuse;
	int result;
};

static void *sync_serve(void *arg)
{
	struct sync_server *server = arg;
	struct rdma_cm_id *id;

	server->result = err(rdma_get_request(server->listener, &id));
	if (server->result)
		return NULL;
	if (server->refuse)
		server->result = err(rdma_reject(id, NULL, 0));
	else
		server->result = err(create_qp(id)) ?:
						      err(rdma_accept(id, NULL));
	/* The request's event holds it up no more. */
	rdma_destroy_ep(server->listener);
	rdma_destroy_ep(id);
	return NULL;
}

static int sync_round(bool refuse, int *connected)
{
	struct sync_server server = { .refuse = refuse };
	struct rdma_cm_id *id;
	pthread_t thread;

	server.listener = listening_id(NULL, RDMA_PS_UDP, IP4, PORT + 2);
	if (!server.listener)
		return -1;
	pthread_create(&thread, NULL, sync_serve, &server);
	id = resolved_id(NULL, RDMA_PS_UDP, IP4, PORT + 2);
	if (!id || create_qp(id))
		return -1;
	*connected = err(rdma_connect(id, NULL));
	if (!*connected && id->event->param.ud.qkey != RDMA_UDP_QKEY)
		return -1;
	pthread_join(thread, NULL);
	rdma_destroy_ep(id);
	return server.result;
}

TEST(C70_synchronous_connect_accept_destroy)
{
	int connected = -1;

	EXPECT_EQ(0, sync_round(false, &connected));
	EXPECT_EQ(0, connected);
}

TEST(synchronous_refusal)
{
	int connected = -1;

	EXPECT_EQ(0, sync_round(true, &connected));
	EXPECT_EQ(ECONNREFUSED, connected);
}

/* --- multicast */

static int count_members(const char *file, const char *group)
{
	char line[256];
	int count = 0;
	FILE *from;

	from = fopen(file, "r");
	if (!from)
		return -1;
	while (fgets(line, sizeof(line), from))
		count += !!strstr(line, group);
	fclose(from);
	return count;
}

FIXTURE(group)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	union lib_addr addr;
};

FIXTURE_VARIANT(group)
{
	const char *ip;
	const char *group;
	const char *file;
	const char *entry;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(group, v4) {
	.ip = IP4, .group = GROUP4, .file = "/proc/net/igmp", .entry = "010101EF",
};
FIXTURE_VARIANT_ADD(group, v6) {
	.ip = IP6, .group = GROUP6, .file = "/proc/net/igmp6",
	.entry = "ff0e0000000000000000000000000101",
};
/* clang-format on */

FIXTURE_SETUP(group)
{
	union lib_addr local = lib_addr(variant->ip, 0);

	self->addr = lib_addr(variant->group, 0);
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	ASSERT_EQ(0,
		  rdma_create_id(self->channel, &self->id, NULL, RDMA_PS_UDP));
	ASSERT_EQ(0, rdma_bind_addr(self->id, &local.sa));
}

FIXTURE_TEARDOWN(group)
{
	rdma_destroy_qp(self->id);
	EXPECT_EQ(0, rdma_destroy_id(self->id));
	EXPECT_EQ(0, count_members(variant->file, variant->entry));
	rdma_destroy_event_channel(self->channel);
}

TEST_F(group, join_is_reported_and_received)
{
	struct rdma_cm_event *event;
	struct ibv_ah_attr ah_attr;
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .num_sge = 1 };
	struct ibv_send_wr *bad;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct ibv_mr *mr;
	static char buf[40 + SIZE];
	int i, ret = 0;

	ASSERT_EQ(0, create_qp(self->id));
	mr = rdma_reg_msgs(self->id, buf, sizeof(buf));
	ASSERT_NE(NULL, mr);
	ASSERT_EQ(0, rdma_post_recv(self->id, NULL, buf, sizeof(buf), mr));
	ASSERT_EQ(0, rdma_join_multicast(self->id, &self->addr.sa, self));
	event = next_event(self->channel, RDMA_CM_EVENT_MULTICAST_JOIN);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(0, event->status);
	EXPECT_EQ(self->id, event->id);
	EXPECT_EQ((void *)self, event->param.ud.private_data);
	EXPECT_EQ(0xffffff, event->param.ud.qp_num);
	EXPECT_EQ(RDMA_UDP_QKEY, event->param.ud.qkey);
	EXPECT_EQ(1, event->param.ud.ah_attr.is_global);
	EXPECT_EQ(self->id->port_num, event->param.ud.ah_attr.port_num);
	EXPECT_EQ(1, count_members(variant->file, variant->entry));
	ah_attr = event->param.ud.ah_attr;
	EXPECT_EQ(0, rdma_ack_cm_event(event));

	/* To the group, and so to ourselves. */
	wr.wr.ud.ah = ibv_create_ah(self->id->pd, &ah_attr);
	ASSERT_NE(NULL, wr.wr.ud.ah);
	wr.wr.ud.remote_qpn = 0xffffff;
	wr.wr.ud.remote_qkey = RDMA_UDP_QKEY;
	sge = (struct ibv_sge){ (uintptr_t)buf, SIZE, mr->lkey };
	wr.sg_list = &sge;
	ASSERT_EQ(0, ibv_post_send(self->id->qp, &wr, &bad));
	for (i = 0; i < 2000 && ret <= 0; i++) {
		ret = ibv_poll_cq(self->id->recv_cq, 1, &wc);
		usleep(1000);
	}
	EXPECT_EQ(1, ret);
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(40 + SIZE, wc.byte_len);
	EXPECT_EQ(0, ibv_destroy_ah(wr.wr.ud.ah));

	EXPECT_EQ(0, rdma_leave_multicast(self->id, &self->addr.sa));
	EXPECT_EQ(0, count_members(variant->file, variant->entry));
	EXPECT_EQ(EADDRNOTAVAIL,
		  err(rdma_leave_multicast(self->id, &self->addr.sa)));
	EXPECT_EQ(0, rdma_dereg_mr(mr));
}

TEST_F(group, send_only_is_no_membership)
{
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS |
			     RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER,
		.addr = &self->addr.sa,
	};

	ASSERT_EQ(0, create_qp(self->id));
	ASSERT_EQ(0, rdma_join_multicast_ex(self->id, &attr, NULL));
	EXPECT_EQ(0, expect_event(self->channel, RDMA_CM_EVENT_MULTICAST_JOIN));
	EXPECT_EQ(0, count_members(variant->file, variant->entry));
	EXPECT_EQ(0, rdma_leave_multicast(self->id, &self->addr.sa));
}

TEST_F(group, same_group_twice)
{
	struct rdma_cm_event *event;
	int first, second;

	ASSERT_EQ(0, rdma_join_multicast(self->id, &self->addr.sa, &first));
	ASSERT_EQ(0, rdma_join_multicast(self->id, &self->addr.sa, &second));
	event = next_event(self->channel, RDMA_CM_EVENT_MULTICAST_JOIN);
	ASSERT_NE(NULL, event);
	EXPECT_EQ((void *)&first, event->param.ud.private_data);
	EXPECT_EQ(0, rdma_ack_cm_event(event));
	event = next_event(self->channel, RDMA_CM_EVENT_MULTICAST_JOIN);
	ASSERT_NE(NULL, event);
	EXPECT_EQ((void *)&second, event->param.ud.private_data);
	EXPECT_EQ(0, rdma_ack_cm_event(event));
	EXPECT_EQ(0, rdma_leave_multicast(self->id, &self->addr.sa));
	EXPECT_EQ(1, count_members(variant->file, variant->entry));
	EXPECT_EQ(0, rdma_leave_multicast(self->id, &self->addr.sa));
	EXPECT_EQ(0, count_members(variant->file, variant->entry));
	EXPECT_EQ(EADDRNOTAVAIL,
		  err(rdma_leave_multicast(self->id, &self->addr.sa)));
}

TEST_F(group, leave_before_the_event_is_read)
{
	struct rdma_cm_event *event;

	ASSERT_EQ(0, rdma_join_multicast(self->id, &self->addr.sa, NULL));
	EXPECT_EQ(0, rdma_leave_multicast(self->id, &self->addr.sa));
	EXPECT_FALSE(readable(self->channel, 0));
	/* The event that tells of the second is the first that is seen. */
	ASSERT_EQ(0, rdma_join_multicast(self->id, &self->addr.sa, self));
	event = next_event(self->channel, RDMA_CM_EVENT_MULTICAST_JOIN);
	ASSERT_NE(NULL, event);
	EXPECT_EQ((void *)self, event->param.ud.private_data);
	EXPECT_EQ(0, rdma_ack_cm_event(event));
}

TEST_F(group, destroy_leaves)
{
	ASSERT_EQ(0, rdma_join_multicast(self->id, &self->addr.sa, NULL));
	EXPECT_EQ(1, count_members(variant->file, variant->entry));
}

TEST_F(group, C55_misuse)
{
	struct rdma_cm_join_mc_attr_ex attr = { .addr = &self->addr.sa };
	union lib_addr unicast = lib_addr(variant->ip, 0);
	union lib_addr local = unicast;
	struct rdma_cm_id *id;

	EXPECT_EQ(EINVAL, err(rdma_join_multicast(NULL, &self->addr.sa, NULL)));
	EXPECT_EQ(EINVAL, err(rdma_join_multicast(self->id, NULL, NULL)));
	EXPECT_EQ(EINVAL,
		  err(rdma_join_multicast(self->id, &unicast.sa, NULL)));
	EXPECT_EQ(EINVAL, err(rdma_join_multicast_ex(self->id, NULL, NULL)));
	EXPECT_EQ(EINVAL, err(rdma_join_multicast_ex(self->id, &attr, NULL)));
	attr.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS;
	EXPECT_EQ(EINVAL, err(rdma_join_multicast_ex(self->id, &attr, NULL)));
	attr.comp_mask = 3;
	attr.join_flags = RDMA_MC_JOIN_FLAG_RESERVED;
	EXPECT_EQ(EINVAL, err(rdma_join_multicast_ex(self->id, &attr, NULL)));
	attr.comp_mask = 7;
	EXPECT_EQ(ENOTSUP, err(rdma_join_multicast_ex(self->id, &attr, NULL)));
	EXPECT_EQ(EADDRNOTAVAIL,
		  err(rdma_leave_multicast(self->id, &self->addr.sa)));
	EXPECT_EQ(EINVAL, err(rdma_leave_multicast(self->id, NULL)));

	ASSERT_EQ(0, rdma_create_id(self->channel, &id, NULL, RDMA_PS_TCP));
	EXPECT_EQ(EINVAL, err(rdma_join_multicast(id, &self->addr.sa, NULL)));
	EXPECT_EQ(0, rdma_bind_addr(id, &local.sa));
	EXPECT_EQ(EINVAL, err(rdma_join_multicast(id, &self->addr.sa, NULL)));
	EXPECT_EQ(0, rdma_destroy_id(id));
}

TEST_F(group, C54_joins_and_leaves_with_and_without_reading)
{
	struct rdma_cm_id *id = self->id;
	int i;

	for (i = 0; i < 50; i++) {
		ASSERT_EQ(0, rdma_join_multicast(id, &self->addr.sa, NULL));
		if (i & 1)
			EXPECT_EQ(0,
				  expect_event(self->channel,
					       RDMA_CM_EVENT_MULTICAST_JOIN));
		ASSERT_EQ(0, rdma_leave_multicast(id, &self->addr.sa));
	}
}

TEST(synchronous_join)
{
	union lib_addr local = lib_addr(IP4, 0), group = lib_addr(GROUP4, 0);
	struct rdma_cm_id *id;

	ASSERT_EQ(0, rdma_create_id(NULL, &id, NULL, RDMA_PS_UDP));
	ASSERT_EQ(0, rdma_bind_addr(id, &local.sa));
	ASSERT_EQ(0, create_qp(id));
	ASSERT_EQ(0, rdma_join_multicast(id, &group.sa, &group));
	ASSERT_NE(NULL, id->event);
	EXPECT_EQ((void *)&group, id->event->param.ud.private_data);
	EXPECT_EQ(0, rdma_leave_multicast(id, &group.sa));
	rdma_destroy_ep(id);
}

TEST_HARNESS_MAIN
