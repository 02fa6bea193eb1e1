// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Connections of kernel consumers: made, refused, used, ended.
 */
#include <linux/delay.h>
#include <net/net_namespace.h>
#include <rdma/ib_cm.h>

#include "consumer.h"

#define PORT 7480

static struct end *client(struct kunit *test)
{
	return end_new(test, &init_net, RDMA_PS_TCP, IB_QPT_RC);
}

static struct end *server(struct kunit *test, enum habit habit, u16 port)
{
	struct end *end = end_new(test, &init_net, RDMA_PS_TCP, IB_QPT_RC);

	end->habit = habit;
	KUNIT_ASSERT_EQ(test, end_listen(end, HERE, port), 0);
	return end;
}

/* Up to a resolved route. */
static void reach(struct end *end, u32 addr, u16 port)
{
	KUNIT_ASSERT_EQ(end->test, end_resolve(end, addr, port), 0);
	KUNIT_ASSERT_TRUE(end->test,
			  end_expect(end, RDMA_CM_EVENT_ADDR_RESOLVED, 0));
	KUNIT_ASSERT_NOT_NULL(end->test, end->id->device);
	KUNIT_ASSERT_EQ(end->test, end_route(end), 0);
	KUNIT_ASSERT_TRUE(end->test,
			  end_expect(end, RDMA_CM_EVENT_ROUTE_RESOLVED, 0));
	KUNIT_ASSERT_NOT_NULL(end->test, end->id->route.path_rec);
	KUNIT_EXPECT_EQ(end->test, end->id->route.num_pri_alt_paths, 1);
}

/* A connection with queue pairs. */
static void join(struct end *listener, struct end *end, u16 port)
{
	struct kunit *test = end->test;

	reach(end, HERE, port);
	KUNIT_ASSERT_EQ(test, end_qp(end), 0);
	KUNIT_ASSERT_EQ(test, end_qp_state(end), IB_QPS_INIT);
	end_join(listener, end);
}

static void part(struct end *one, struct end *other)
{
	struct kunit *test = one->test;

	KUNIT_EXPECT_EQ(test, end_disconnect(one), 0);
	KUNIT_EXPECT_EQ(test, end_qp_state(one), IB_QPS_ERR);
	end_expect(other, RDMA_CM_EVENT_DISCONNECTED, 0);
	KUNIT_EXPECT_EQ(test, end_disconnect(other), 0);
	KUNIT_EXPECT_EQ(test, end_qp_state(other), IB_QPS_ERR);
	end_expect(one, RDMA_CM_EVENT_DISCONNECTED, 0);
}

static void data_goes_both_ways_and_the_connection_ends(struct kunit *test)
{
	struct end *listener = server(test, ACCEPTS, PORT);
	struct end *end = client(test), *child = listener->child;

	join(listener, end, PORT);
	KUNIT_ASSERT_EQ(test, end_send(child, 7), 0);
	KUNIT_EXPECT_EQ(test, end_poll(end, IB_WC_RECV), 0);
	KUNIT_EXPECT_TRUE(test, end_holds(end, 7));
	KUNIT_EXPECT_EQ(test, end_poll(child, IB_WC_SEND), 0);

	KUNIT_ASSERT_EQ(test, end_recv(child), 0);
	memset(child->buffer, 0, BYTES);
	KUNIT_ASSERT_EQ(test, end_send(end, 99), 0);
	KUNIT_EXPECT_EQ(test, end_poll(child, IB_WC_RECV), 0);
	KUNIT_EXPECT_TRUE(test, end_holds(child, 99));
	part(end, child);
	end_destroy(end);
	end_destroy(listener);
}

static void the_passive_side_ends_the_connection(struct kunit *test)
{
	struct end *listener = server(test, ACCEPTS, PORT);
	struct end *end = client(test);

	join(listener, end, PORT);
	part(listener->child, end);
	end_destroy(end);
	end_destroy(listener);
}

static void a_request_carries_private_data(struct kunit *test)
{
	struct end *listener = server(test, WAITS, PORT);
	struct end *end = client(test), *child = listener->child;
	const struct seen *seen;

	reach(end, HERE, PORT);
	KUNIT_ASSERT_EQ(test, end_qp(end), 0);
	KUNIT_EXPECT_EQ(test, end_connect(end, "hello", 57), -EINVAL);
	KUNIT_ASSERT_EQ(test, end_connect(end, "hello", 6), 0);
	seen = end_next(listener, LONG);
	KUNIT_ASSERT_NOT_NULL(test, seen);
	KUNIT_EXPECT_EQ(test, seen->event, RDMA_CM_EVENT_CONNECT_REQUEST);
	KUNIT_EXPECT_GE(test, seen->len, 6);
	KUNIT_EXPECT_STREQ(test, (const char *)seen->data, "hello");
	KUNIT_EXPECT_PTR_EQ(test, seen->id, child->id);

	end_accept_later(end, child);
	end_destroy(end);
	end_destroy(listener);
}

static int saw_refusal(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct end *end = id->context;
	const void *data;
	u8 len = 77;

	if (event->event == RDMA_CM_EVENT_REJECTED) {
		data = rcm_consumer_reject_data(id, event, &len);
		if (event->status == IB_CM_REJ_CONSUMER_DEFINED ?
			    !data || len < 10 || memcmp(data, "not today", 10) :
			    data || len)
			atomic_inc(&end->faults);
	}
	return end_handler(id, event);
}

static void a_refusal_carries_private_data(struct kunit *test)
{
	struct end *listener = server(test, REJECTS, PORT);
	struct end *end = client(test);

	reach(end, HERE, PORT);
	KUNIT_ASSERT_EQ(test, end_qp(end), 0);
	end->id->event_handler = saw_refusal;
	KUNIT_ASSERT_EQ(test, end_connect(end, NULL, 0), 0);
	end_expect(end, RDMA_CM_EVENT_REJECTED, IB_CM_REJ_CONSUMER_DEFINED);
	KUNIT_EXPECT_STREQ(test,
			   rcm_reject_msg(end->id, IB_CM_REJ_CONSUMER_DEFINED),
			   "consumer defined");
	KUNIT_EXPECT_EQ(test, end_qp_state(end), IB_QPS_ERR);
	end_destroy(end);
	end_destroy(listener);
}

static void nobody_listens(struct kunit *test)
{
	struct end *end = client(test);

	reach(end, HERE, PORT);
	KUNIT_ASSERT_EQ(test, end_qp(end), 0);
	end->id->event_handler = saw_refusal;
	KUNIT_ASSERT_EQ(test, end_connect(end, NULL, 0), 0);
	end_expect(end, RDMA_CM_EVENT_REJECTED, IB_CM_REJ_INVALID_SERVICE_ID);
	end_destroy(end);
}

static void all_steps_may_be_taken_in_the_handler(struct kunit *test)
{
	struct end *listener = server(test, ACCEPTS, PORT);
	struct end *end = client(test);

	end->habit = CONNECTS;
	KUNIT_ASSERT_EQ(test, end_resolve(end, HERE, PORT), 0);
	end_expect(end, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	end_expect(end, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	end_expect(end, RDMA_CM_EVENT_ESTABLISHED, 0);
	end_expect(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	end_expect(listener->child, RDMA_CM_EVENT_ESTABLISHED, 0);
	part(end, listener->child);
	end_destroy(end);
	end_destroy(listener);
}

/* What rdma_ucm does: the queue pair is somebody else's. */
static void a_consumer_may_move_its_queue_pair_itself(struct kunit *test)
{
	struct end *listener = server(test, WAITS, PORT);
	struct end *end = client(test), *child = listener->child;
	struct rdma_conn_param conn = { .qp_num = 0x1234,
					.responder_resources = 1,
					.initiator_depth = 1,
					.retry_count = 3 };
	struct rdma_ucm_ece ece = { .vendor_id = 0x15b3, .attr_mod = 9 };
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTR };
	int mask = 0;

	reach(end, HERE, PORT);
	KUNIT_EXPECT_EQ(test, rcm_init_qp_attr(end->id, &attr, &mask), -EINVAL);
	KUNIT_ASSERT_EQ(test, rcm_connect_ece(end->id, &conn, &ece), 0);
	end_expect(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	KUNIT_ASSERT_NOT_NULL(test, child->id);
	conn.qp_num = 0x4321;
	rcm_lock_handler(child->id);
	KUNIT_EXPECT_EQ(test, rcm_accept_ece(child->id, &conn, &ece), 0);
	rcm_unlock_handler(child->id);

	end_expect(end, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
	KUNIT_EXPECT_EQ(test, rcm_init_qp_attr(end->id, &attr, &mask), 0);
	KUNIT_EXPECT_TRUE(test, mask & IB_QP_DEST_QPN);
	KUNIT_EXPECT_EQ(test, attr.dest_qp_num, 0x4321);
	KUNIT_EXPECT_TRUE(test, end_quiet(child));
	rcm_lock_handler(end->id);
	KUNIT_EXPECT_EQ(test, rcm_accept(end->id, NULL), 0);
	KUNIT_EXPECT_EQ(test, rcm_accept(end->id, NULL), -EINVAL);
	rcm_unlock_handler(end->id);
	end_expect(child, RDMA_CM_EVENT_ESTABLISHED, 0);
	end_destroy(end);
	end_destroy(listener);
}

/* Data may overtake the confirmation; the queue pair's event says so. */
static void a_notice_establishes_the_passive_side(struct kunit *test)
{
	struct end *listener = server(test, WAITS, PORT);
	struct end *end = client(test), *child = listener->child;
	struct rdma_conn_param conn = { .qp_num = 0x2345, .retry_count = 3 };
	unsigned long flags;
	int ret;

	KUNIT_EXPECT_EQ(test, rcm_notify(end->id, IB_EVENT_COMM_EST), -EINVAL);
	reach(end, HERE, PORT);
	KUNIT_ASSERT_EQ(test, rcm_connect(end->id, &conn), 0);
	end_expect(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	KUNIT_ASSERT_NOT_NULL(test, child->id);
	conn.qp_num = 0x5432;
	rcm_lock_handler(child->id);
	KUNIT_EXPECT_EQ(test, rcm_accept(child->id, &conn), 0);
	rcm_unlock_handler(child->id);
	end_expect(end, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);

	/* From where a queue pair's events come: nothing may sleep. */
	local_irq_save(flags);
	ret = rcm_notify(child->id, IB_EVENT_COMM_EST);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, ret, 0);
	end_expect(child, RDMA_CM_EVENT_ESTABLISHED, 0);
	KUNIT_EXPECT_EQ(test, rcm_notify(child->id, IB_EVENT_COMM_EST),
			-EISCONN);
	KUNIT_EXPECT_EQ(test, rcm_notify(child->id, IB_EVENT_QP_FATAL),
			-EINVAL);
	end_destroy(end);
	end_destroy(listener);
}

static void datagrams_find_their_peer(struct kunit *test)
{
	struct end *listener = end_new(test, &init_net, RDMA_PS_UDP, IB_QPT_UD);
	struct end *end = end_new(test, &init_net, RDMA_PS_UDP, IB_QPT_UD);
	struct end *child = listener->child;

	listener->habit = WAITS;
	KUNIT_ASSERT_EQ(test, end_listen(listener, HERE, PORT), 0);
	reach(end, HERE, PORT);
	KUNIT_ASSERT_EQ(test, end_qp(end), 0);
	KUNIT_EXPECT_EQ(test, end_qp_state(end), IB_QPS_RTS);
	KUNIT_ASSERT_EQ(test, end_connect(end, NULL, 0), 0);
	end_expect(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	KUNIT_ASSERT_NOT_NULL(test, child->id);
	KUNIT_ASSERT_EQ(test, end_qp(child), 0);
	KUNIT_EXPECT_EQ(test, end_accept(child), 0);
	end_expect(end, RDMA_CM_EVENT_ESTABLISHED, 0);
	end_destroy(end);
	end_destroy(listener);
}

/* The queue pair has other peers, so it goes on. */
static void a_refused_datagram_leaves_the_queue_pair(struct kunit *test)
{
	struct end *listener = end_new(test, &init_net, RDMA_PS_UDP, IB_QPT_UD);
	struct end *end = end_new(test, &init_net, RDMA_PS_UDP, IB_QPT_UD);

	listener->habit = REJECTS;
	KUNIT_ASSERT_EQ(test, end_listen(listener, HERE, PORT), 0);
	reach(end, HERE, PORT);
	KUNIT_ASSERT_EQ(test, end_qp(end), 0);
	KUNIT_ASSERT_EQ(test, end_connect(end, NULL, 0), 0);
	end_expect(end, RDMA_CM_EVENT_UNREACHABLE, IB_SIDR_REJECT);
	KUNIT_EXPECT_EQ(test, end_qp_state(end), IB_QPS_RTS);
	end_destroy(end);
	end_destroy(listener);
}

static void *joined_context;

static int saw_join(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	if (event->event == RDMA_CM_EVENT_MULTICAST_JOIN)
		joined_context = (void *)event->param.ud.private_data;
	return end_handler(id, event);
}

static void a_group_is_joined_and_left(struct kunit *test)
{
	struct end *end = end_new(test, &init_net, RDMA_PS_UDP, IB_QPT_UD);
	struct sockaddr_in sin, group;
	struct sockaddr *addr = ip4(&group, 0xe0010203, 0);
	const u8 member = BIT(FULLMEMBER_JOIN);

	KUNIT_EXPECT_EQ(test, rcm_join_multicast(end->id, addr, member, test),
			-EINVAL);
	KUNIT_ASSERT_EQ(test, rcm_bind_addr(end->id, ip4(&sin, HERE, 0)), 0);
	end->id->event_handler = saw_join;
	end->calling = current;
	KUNIT_EXPECT_EQ(test, rcm_join_multicast(end->id, addr, member, test),
			0);
	end->calling = NULL;
	end_expect(end, RDMA_CM_EVENT_MULTICAST_JOIN, 0);
	KUNIT_EXPECT_PTR_EQ(test, joined_context, (void *)test);

	/* Left before it was reported: it is not, any more. */
	rcm_leave_multicast(end->id, addr);
	rcm_lock_handler(end->id);
	KUNIT_EXPECT_EQ(test, rcm_join_multicast(end->id, addr, member, test),
			0);
	rcm_leave_multicast(end->id, addr);
	rcm_unlock_handler(end->id);
	KUNIT_EXPECT_TRUE(test, end_quiet(end));

	KUNIT_ASSERT_EQ(test, end_qp(end), 0);
	KUNIT_EXPECT_EQ(test, rcm_join_multicast(end->id, addr, member, test),
			-EINVAL);
	end_destroy(end);
}

static void options_take_effect(struct kunit *test)
{
	struct end *end = client(test);
	struct end *v6 = client(test), *v4 = client(test);
	struct end *ud = end_new(test, &init_net, RDMA_PS_UDP, IB_QPT_UD);
	struct sockaddr_in6 any6 = { .sin6_family = AF_INET6,
				     .sin6_port = htons(PORT) };
	struct sockaddr_in sin;
	union ib_gid sgid, dgid;

	memset(&sgid, 1, sizeof(sgid));
	rcm_read_gids(end->id, &sgid, NULL);
	KUNIT_EXPECT_TRUE(test, !memchr_inv(&sgid, 0, sizeof(sgid)));
	rcm_set_service_type(end->id, 96);
	KUNIT_EXPECT_EQ(test, rcm_set_ack_timeout(end->id, 17), 0);
	KUNIT_EXPECT_EQ(test, rcm_set_ack_timeout(end->id, 32), -EINVAL);
	KUNIT_EXPECT_EQ(test, rcm_set_ack_timeout(ud->id, 17), -EINVAL);
	KUNIT_EXPECT_EQ(test, rcm_set_min_rnr_timer(end->id, 5), 0);
	KUNIT_EXPECT_EQ(test, rcm_set_min_rnr_timer(end->id, 32), -EINVAL);
	KUNIT_EXPECT_EQ(test, rcm_set_min_rnr_timer(ud->id, 5), -EINVAL);
	reach(end, HERE, PORT);
	KUNIT_EXPECT_EQ(test, end->id->route.path_rec->traffic_class, 96);
	KUNIT_EXPECT_EQ(test, end->id->route.path_rec->packet_life_time, 16);
	/* Some ask while they walk a list of their connections. */
	rcu_read_lock();
	rcm_read_gids(end->id, &sgid, &dgid);
	rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, be32_to_cpu(*(__be32 *)&sgid.raw[12]), HERE);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(*(__be32 *)&dgid.raw[12]), HERE);
	KUNIT_EXPECT_EQ(
		test,
		be64_to_cpu(rcm_get_service_id(end->id, ip4(&sin, 0, PORT))),
		0x0106ULL << 16 | PORT);
	KUNIT_EXPECT_NULL(test, rcm_iw_cm_id(end->id));

	KUNIT_EXPECT_EQ(test, rcm_set_afonly(v6->id, 1), 0);
	KUNIT_EXPECT_EQ(test, rcm_bind_addr(v6->id, (struct sockaddr *)&any6),
			0);
	KUNIT_EXPECT_EQ(test, rcm_listen(v6->id, 1), 0);
	KUNIT_EXPECT_EQ(test, rcm_set_afonly(v6->id, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, end_listen(v4, 0, PORT), 0);
	KUNIT_EXPECT_EQ(test, rcm_set_reuseaddr(v4->id, 1), -EINVAL);
	end_destroy(end);
	end_destroy(v6);
	end_destroy(v4);
	end_destroy(ud);
}

static void a_kind_of_device_can_be_asked_for(struct kunit *test)
{
	struct end *end = client(test), *listener = client(test);
	struct sockaddr_in sin;

	KUNIT_EXPECT_EQ(test, rcm_restrict_node_type(end->id, 99), -EINVAL);
	KUNIT_EXPECT_EQ(test, rcm_restrict_node_type(end->id, RDMA_NODE_RNIC),
			0);
	KUNIT_EXPECT_EQ(test, rcm_bind_addr(end->id, ip4(&sin, HERE, 0)),
			-ENODEV);
	KUNIT_EXPECT_EQ(test, rcm_restrict_node_type(end->id, RDMA_NODE_IB_CA),
			0);
	KUNIT_EXPECT_EQ(test, rcm_bind_addr(end->id, ip4(&sin, HERE, 0)), 0);
	KUNIT_EXPECT_EQ(test, rcm_restrict_node_type(end->id, RDMA_NODE_RNIC),
			-EALREADY);
	end_destroy(end);

	/* A wildcard listener for iWARP alone hears nothing here. */
	end = client(test);
	rcm_restrict_node_type(listener->id, RDMA_NODE_RNIC);
	KUNIT_ASSERT_EQ(test, end_listen(listener, 0, PORT), 0);
	reach(end, HERE, PORT);
	KUNIT_ASSERT_EQ(test, end_qp(end), 0);
	KUNIT_ASSERT_EQ(test, end_connect(end, NULL, 0), 0);
	end_expect(end, RDMA_CM_EVENT_REJECTED, IB_CM_REJ_INVALID_SERVICE_ID);
	end_destroy(end);
	end_destroy(listener);
}

static void a_path_can_be_given(struct kunit *test)
{
	struct end *listener = server(test, ACCEPTS, PORT);
	struct end *end = client(test), *model = client(test);
	struct sa_path_rec path;

	reach(model, HERE, PORT);
	path = *model->id->route.path_rec;
	KUNIT_EXPECT_EQ(test, rcm_set_ib_path(end->id, &path), -EINVAL);
	KUNIT_ASSERT_EQ(test, end_resolve(end, HERE, PORT), 0);
	KUNIT_ASSERT_TRUE(test,
			  end_expect(end, RDMA_CM_EVENT_ADDR_RESOLVED, 0));
	path.dgid.raw[15] ^= 1;
	KUNIT_EXPECT_EQ(test, rcm_set_ib_path(end->id, &path), -EINVAL);
	path.dgid.raw[15] ^= 1;
	path.mtu = IB_MTU_512;
	KUNIT_EXPECT_EQ(test, rcm_set_ib_path(end->id, &path), 0);
	KUNIT_EXPECT_EQ(test, end->id->route.path_rec->mtu, IB_MTU_512);
	KUNIT_EXPECT_EQ(test, end_route(end), -EINVAL);
	KUNIT_ASSERT_EQ(test, end_qp(end), 0);
	KUNIT_ASSERT_EQ(test, end_connect(end, NULL, 0), 0);
	end_expect(end, RDMA_CM_EVENT_ESTABLISHED, 0);
	end_destroy(end);
	end_destroy(model);
	end_destroy(listener);
}

static void errors_are_precise(struct kunit *test)
{
	struct rdma_conn_param conn = {};
	struct ib_qp_init_attr attr = { .qp_type = IB_QPT_RC };
	struct sockaddr unknown = { .sa_family = AF_UNIX };
	struct end *end = client(test), *other = client(test);
	struct sockaddr_in sin;
	struct ib_pd pd = {};

	KUNIT_EXPECT_EQ(test,
			PTR_ERR_OR_ZERO(rcm_create_id(&init_net, end_handler,
						      NULL, 0x1234, IB_QPT_RC)),
			-EPROTONOSUPPORT);
	KUNIT_EXPECT_EQ(test, rcm_bind_addr(end->id, &unknown), -EAFNOSUPPORT);
	KUNIT_EXPECT_EQ(test, rcm_resolve_addr(end->id, NULL, &unknown, 1),
			-EAFNOSUPPORT);
	KUNIT_EXPECT_EQ(test, rcm_bind_addr(end->id, ip4(&sin, 0x01020304, 0)),
			-EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, end_route(end), -EINVAL);
	KUNIT_EXPECT_EQ(test, rcm_connect(end->id, &conn), -EINVAL);
	KUNIT_EXPECT_EQ(test, rcm_reject(end->id, NULL, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, rcm_disconnect(end->id), -EINVAL);
	pd.device = (struct ib_device *)&pd;
	KUNIT_EXPECT_EQ(test, rcm_create_qp(end->id, &pd, &attr), -EINVAL);
	rcm_destroy_qp(end->id);

	KUNIT_EXPECT_EQ(test, rcm_bind_addr(end->id, ip4(&sin, HERE, PORT)), 0);
	KUNIT_EXPECT_EQ(test, rcm_bind_addr(other->id, ip4(&sin, HERE, PORT)),
			-EADDRINUSE);
	KUNIT_EXPECT_STREQ(test, rcm_event_msg(RDMA_CM_EVENT_REJECTED),
			   "rejected");
	KUNIT_EXPECT_STREQ(test, rcm_event_msg(4711), "unknown event");
	end_destroy(end);
	end_destroy(other);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(data_goes_both_ways_and_the_connection_ends),
	KUNIT_CASE(the_passive_side_ends_the_connection),
	KUNIT_CASE(a_request_carries_private_data),
	KUNIT_CASE(a_refusal_carries_private_data),
	KUNIT_CASE(nobody_listens),
	KUNIT_CASE(all_steps_may_be_taken_in_the_handler),
	KUNIT_CASE(a_consumer_may_move_its_queue_pair_itself),
	KUNIT_CASE(a_notice_establishes_the_passive_side),
	KUNIT_CASE(datagrams_find_their_peer),
	KUNIT_CASE(a_refused_datagram_leaves_the_queue_pair),
	KUNIT_CASE(a_group_is_joined_and_left),
	KUNIT_CASE(options_take_effect),
	KUNIT_CASE(a_kind_of_device_can_be_asked_for),
	KUNIT_CASE(a_path_can_be_given),
	KUNIT_CASE(errors_are_precise),
	{}
};

struct kunit_suite rcm_consumer_suite = {
	.name = "rcm_consumer",
	.test_cases = cases,
};
