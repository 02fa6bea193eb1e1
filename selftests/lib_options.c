// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * timeout: 240
 *
 * rdma_set_option(): every option, what it does, and what is refused. A peer
 * that is dead: how long until a connect gives up.
 */
#include <infiniband/sa.h>

#include <rdma/rcm.h>

#include "lib_test.h"

#include "kselftest_harness.h"

#define PORT 7520
#define PATH_FLAGS                                   \
	(IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | \
	 IBV_PATH_FLAG_BIDIRECTIONAL)

FIXTURE(option)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
};

FIXTURE_SETUP(option)
{
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	ASSERT_EQ(0,
		  rdma_create_id(self->channel, &self->id, NULL, RDMA_PS_TCP));
}

FIXTURE_TEARDOWN(option)
{
	EXPECT_EQ(0, rdma_destroy_id(self->id));
	rdma_destroy_event_channel(self->channel);
}

static int set8(struct rdma_cm_id *id, int level, int name, __u8 value)
{
	return err(rdma_set_option(id, level, name, &value, sizeof(value)));
}

static int set32(struct rdma_cm_id *id, int level, int name, __u32 value)
{
	return err(rdma_set_option(id, level, name, &value, sizeof(value)));
}

TEST_F(option, lengths_and_names)
{
	struct rdma_cm_id *id = self->id;
	int value = 0;

	EXPECT_EQ(EINVAL, err(rdma_set_option(NULL, RDMA_OPTION_ID,
					      RDMA_OPTION_ID_TOS, &value, 1)));
	EXPECT_EQ(EINVAL, err(rdma_set_option(id, RDMA_OPTION_ID,
					      RDMA_OPTION_ID_TOS, NULL, 1)));
	EXPECT_EQ(0, set8(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 0x20));
	EXPECT_EQ(EINVAL, set32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 0));
	EXPECT_EQ(0, set32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 1));
	EXPECT_EQ(EINVAL,
		  set8(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 1));
	EXPECT_EQ(0, set32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, 1));
	EXPECT_EQ(EINVAL, set8(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, 1));
	EXPECT_EQ(0, set8(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 31));
	EXPECT_EQ(EINVAL,
		  set8(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 32));
	EXPECT_EQ(EINVAL,
		  set32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 1));
	EXPECT_EQ(ENOSYS, set32(id, RDMA_OPTION_ID, 77, 0));
	EXPECT_EQ(ENOSYS, set32(id, RDMA_OPTION_IB, 77, 0));
	EXPECT_EQ(ENOSYS, set32(id, 77, 0, 0));
	EXPECT_EQ(ENOSYS, set32(id, RCM_OPTION, 77, 0));
}

TEST_F(option, datagrams_have_no_ack_timeout)
{
	struct rdma_cm_id *id;

	ASSERT_EQ(0, rdma_create_id(self->channel, &id, NULL, RDMA_PS_UDP));
	EXPECT_EQ(EINVAL,
		  set8(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 14));
	EXPECT_EQ(0, rdma_destroy_id(id));
}

TEST_F(option, values_of_our_own_level)
{
	struct rdma_cm_id *id = self->id;

	EXPECT_EQ(0, set32(id, RCM_OPTION, RCM_OPTION_CONNECT_TIMEOUT, 1));
	EXPECT_EQ(0, set32(id, RCM_OPTION, RCM_OPTION_CONNECT_TIMEOUT, 0));
	EXPECT_EQ(EINVAL,
		  set32(id, RCM_OPTION, RCM_OPTION_CONNECT_TIMEOUT, ~0U));
	EXPECT_EQ(EINVAL, set8(id, RCM_OPTION, RCM_OPTION_CONNECT_TIMEOUT, 1));
	EXPECT_EQ(0, set32(id, RCM_OPTION, RCM_OPTION_CONNECT_TRIES, 1));
	EXPECT_EQ(0, set32(id, RCM_OPTION, RCM_OPTION_CONNECT_TRIES, 16));
	EXPECT_EQ(EINVAL, set32(id, RCM_OPTION, RCM_OPTION_CONNECT_TRIES, 0));
	EXPECT_EQ(EINVAL, set32(id, RCM_OPTION, RCM_OPTION_CONNECT_TRIES, 17));
}

TEST_F(option, reuse_and_v6only_come_before_resolving)
{
	union lib_addr addr = lib_addr(IP4, PORT);

	ASSERT_EQ(0, rdma_resolve_addr(self->id, NULL, &addr.sa, TIMEOUT));
	ASSERT_EQ(0, expect_event(self->channel, RDMA_CM_EVENT_ADDR_RESOLVED));
	EXPECT_EQ(EINVAL,
		  set32(self->id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, 1));
}

TEST_F(option, tos_is_in_the_path)
{
	union lib_addr addr = lib_addr(IP4, PORT);

	ASSERT_EQ(0, set8(self->id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 0x20));
	ASSERT_EQ(0, rdma_resolve_addr(self->id, NULL, &addr.sa, TIMEOUT));
	ASSERT_EQ(0, expect_event(self->channel, RDMA_CM_EVENT_ADDR_RESOLVED));
	ASSERT_EQ(0, rdma_resolve_route(self->id, TIMEOUT));
	ASSERT_EQ(0, expect_event(self->channel, RDMA_CM_EVENT_ROUTE_RESOLVED));
	EXPECT_EQ(0x20, self->id->route.path_rec->traffic_class);
}

static void path_of(struct rdma_cm_id *id, struct ibv_path_data *data)
{
	memset(data, 0, sizeof(*data));
	data->flags = PATH_FLAGS;
	data->path.sgid = id->route.addr.addr.ibaddr.sgid;
	data->path.dgid = id->route.addr.addr.ibaddr.dgid;
}

TEST_F(option, path_takes_the_place_of_resolve_route)
{
	union lib_addr addr = lib_addr(IP4, PORT);
	struct ibv_path_data data[2] = {};
	struct rdma_cm_id *id = self->id;

	data[0].flags = PATH_FLAGS;
	EXPECT_EQ(EINVAL,
		  err(rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH,
				      data, sizeof(data[0]))));
	ASSERT_EQ(0, rdma_resolve_addr(id, NULL, &addr.sa, TIMEOUT));
	ASSERT_EQ(0, expect_event(self->channel, RDMA_CM_EVENT_ADDR_RESOLVED));
	/* Not from here to there. */
	EXPECT_EQ(EINVAL,
		  err(rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH,
				      data, sizeof(data))));
	path_of(id, &data[1]);
	data[0].flags = IBV_PATH_FLAG_ALTERNATE;
	EXPECT_EQ(EINVAL,
		  err(rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH,
				      data, sizeof(data[0]))));
	EXPECT_EQ(EINVAL,
		  err(rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH,
				      data, sizeof(data) - 1)));
	ASSERT_EQ(0, rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH,
				     data, sizeof(data)));
	ASSERT_EQ(0, expect_event(self->channel, RDMA_CM_EVENT_ROUTE_RESOLVED));
	EXPECT_EQ(1, id->route.num_paths);
	EXPECT_EQ(EINVAL,
		  err(rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH,
				      data, sizeof(data))));
}

static int qp_timeout(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return ibv_query_qp(qp, &attr, IBV_QP_TIMEOUT, &init) ? -1 :
								attr.timeout;
}

/* Either side's, set as late as its queue pair allows. */
TEST_F(option, ack_timeout_is_the_queue_pairs)
{
	struct rdma_conn_param param = {};
	struct rdma_cm_id *listener, *child, *id;
	struct rdma_cm_event *event;

	listener = listening_id(self->channel, RDMA_PS_TCP, IP4, PORT);
	ASSERT_NE(NULL, listener);
	id = resolved_id(self->channel, RDMA_PS_TCP, IP4, PORT);
	ASSERT_NE(NULL, id);
	ASSERT_EQ(0, create_qp(id));
	ASSERT_EQ(0, set8(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 21));
	ASSERT_EQ(0, rdma_connect(id, &param));

	event = next_event(self->channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	ASSERT_NE(NULL, event);
	child = event->id;
	ASSERT_EQ(0, rdma_ack_cm_event(event));
	ASSERT_EQ(0, create_qp(child));
	ASSERT_EQ(0,
		  set8(child, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 22));
	ASSERT_EQ(0, rdma_accept(child, &param));
	EXPECT_EQ(22, qp_timeout(child->qp));
	/* Of both sides, in either order. */
	ASSERT_EQ(0, expect_event(self->channel, RDMA_CM_EVENT_ESTABLISHED));
	ASSERT_EQ(0, expect_event(self->channel, RDMA_CM_EVENT_ESTABLISHED));
	EXPECT_EQ(21, qp_timeout(id->qp));

	rdma_destroy_qp(child);
	rdma_destroy_qp(id);
	EXPECT_EQ(0, rdma_destroy_id(child));
	EXPECT_EQ(0, rdma_destroy_id(id));
	EXPECT_EQ(0, rdma_destroy_id(listener));
}

/*
 * A dead peer: the other end of a pair of interfaces has the address and
 * answers for it, but no RDMA device.
 */
#define DEAD_PEER "10.9.0.2"

FIXTURE(dead_peer)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
};

FIXTURE_VARIANT(dead_peer)
{
	enum rdma_port_space ps;
	__u32 timeout_ms;
	__u32 tries;
	int least_ms;
	int most_ms;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(dead_peer, rc_1s_once) {
	.ps = RDMA_PS_TCP, .timeout_ms = 1000, .tries = 1,
	.least_ms = 1000, .most_ms = 1100,
};
FIXTURE_VARIANT_ADD(dead_peer, rc_2s_2_tries) {
	.ps = RDMA_PS_TCP, .timeout_ms = 2000, .tries = 2,
	.least_ms = 2000, .most_ms = 2200,
};
FIXTURE_VARIANT_ADD(dead_peer, rc_5s_4_tries) {
	.ps = RDMA_PS_TCP, .timeout_ms = 5000, .tries = 4,
	.least_ms = 5000, .most_ms = 5500,
};
FIXTURE_VARIANT_ADD(dead_peer, ud_2s_3_tries) {
	.ps = RDMA_PS_UDP, .timeout_ms = 2000, .tries = 3,
	.least_ms = 2000, .most_ms = 2200,
};
FIXTURE_VARIANT_ADD(dead_peer, rc_3s_5_tries) {
	.ps = RDMA_PS_TCP, .timeout_ms = 3000, .tries = 5,
	.least_ms = 3000, .most_ms = 3300,
};
/* Tries alone: 4.1 s and twice the path's life time, 0.5 s, each. */
FIXTURE_VARIANT_ADD(dead_peer, rc_2_tries) {
	.ps = RDMA_PS_TCP, .tries = 2,
	.least_ms = 8200, .most_ms = 10200,
};
/* clang-format on */

FIXTURE_SETUP(dead_peer)
{
	system("ip link add lo0 type veth peer name lo1;"
	       "echo 1 >/proc/sys/net/ipv6/conf/lo0/disable_ipv6;"
	       "ip address add 10.9.0.1/24 dev lo0;"
	       "ip link set lo0 up; ip link set lo1 up;"
	       "ip neighbour add " DEAD_PEER
	       " lladdr 02:00:00:00:00:02 dev lo0 nud permanent;"
	       "rdma link add rxe_dead type rxe netdev lo0");
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	self->id = resolved_id(self->channel, variant->ps, DEAD_PEER, PORT);
	ASSERT_NE(NULL, self->id);
}

FIXTURE_TEARDOWN(dead_peer)
{
	if (self->id)
		EXPECT_EQ(0, rdma_destroy_id(self->id));
	rdma_destroy_event_channel(self->channel);
	system("timeout 30 rdma link del rxe_dead; ip link del lo0");
}

static int packets_sent(void)
{
	int count = -1;
	FILE *from;

	from = fopen("/sys/class/net/lo0/statistics/tx_packets", "r");
	if (!from)
		return -1;
	if (fscanf(from, "%d", &count) != 1)
		count = -1;
	fclose(from);
	return count;
}

TEST_F(dead_peer, C49_unreachable_in_time)
{
	struct rdma_conn_param param = { .qp_num = 17 };
	struct rdma_cm_id *id = self->id;
	struct rdma_cm_event *event;
	long long start, took;
	int before;

	if (variant->timeout_ms)
		ASSERT_EQ(0, set32(id, RCM_OPTION, RCM_OPTION_CONNECT_TIMEOUT,
				   variant->timeout_ms));
	ASSERT_EQ(0, set32(id, RCM_OPTION, RCM_OPTION_CONNECT_TRIES,
			   variant->tries));
	before = packets_sent();
	start = now_ms();
	ASSERT_EQ(0, rdma_connect(id, &param));
	EXPECT_EQ(EINVAL, set32(id, RCM_OPTION, RCM_OPTION_CONNECT_TIMEOUT, 1));
	ASSERT_TRUE(readable(self->channel, 20000));
	took = now_ms() - start;
	ASSERT_EQ(0, rdma_get_cm_event(self->channel, &event));
	EXPECT_EQ(RDMA_CM_EVENT_UNREACHABLE, event->event);
	EXPECT_EQ(-ETIMEDOUT, event->status);
	EXPECT_EQ(0, rdma_ack_cm_event(event));
	usleep(200 * 1000);
	printf("# %lld ms, %d sent\n", took, packets_sent() - before);
	EXPECT_LE(variant->least_ms, took);
	EXPECT_GE(variant->most_ms, took);
	/* The last one may be a word to the peer that we gave up. */
	EXPECT_LE((int)variant->tries, packets_sent() - before);
	EXPECT_GE((int)variant->tries + 1, packets_sent() - before);
	EXPECT_FALSE(readable(self->channel, 0));
	EXPECT_EQ(0, rdma_disconnect(id));
}

TEST_HARNESS_MAIN
