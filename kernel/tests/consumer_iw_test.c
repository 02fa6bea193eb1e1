// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Connections of kernel consumers over iWARP.  What differs from RoCE: iw_cm
 * moves the queue pair itself, there is no path record, the TCP connection is
 * made within the call, and only the active side may send first.  Datagrams
 * and multicast are not there.
 */
#include <net/net_namespace.h>

#include "consumer.h"

#define PORT 7500

static struct end *tcp(struct kunit *test)
{
	return end_new(test, &init_net, RDMA_PS_TCP, IB_QPT_RC);
}

static struct end *server(struct kunit *test, enum habit habit)
{
	struct end *end = tcp(test);

	end->habit = habit;
	KUNIT_ASSERT_EQ(test, end_listen(end, IWARP, PORT), 0);
	return end;
}

/* Up to a resolved route, with a queue pair. */
static struct end *client(struct kunit *test)
{
	struct end *end = tcp(test);

	KUNIT_ASSERT_EQ(test, end_resolve(end, IWARP, PORT), 0);
	KUNIT_ASSERT_TRUE(test,
			  end_expect(end, RDMA_CM_EVENT_ADDR_RESOLVED, 0));
	KUNIT_ASSERT_TRUE(test, rdma_protocol_iwarp(end->id->device,
						    end->id->port_num));
	KUNIT_ASSERT_EQ(test, end_route(end), 0);
	KUNIT_ASSERT_TRUE(test,
			  end_expect(end, RDMA_CM_EVENT_ROUTE_RESOLVED, 0));
	KUNIT_EXPECT_EQ(test, end->id->route.num_pri_alt_paths, 0);
	KUNIT_ASSERT_EQ(test, end_qp(end), 0);
	return end;
}

static void part(struct end *one, struct end *other)
{
	struct kunit *test = one->test;

	KUNIT_EXPECT_EQ(test, end_disconnect(one), 0);
	end_expect(other, RDMA_CM_EVENT_DISCONNECTED, 0);
	end_expect(one, RDMA_CM_EVENT_DISCONNECTED, 0);
	KUNIT_EXPECT_EQ(test, end_disconnect(other), 0);
	KUNIT_EXPECT_EQ(test, end_qp_state(one), IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, end_qp_state(other), IB_QPS_ERR);
	KUNIT_EXPECT_TRUE(test, end_quiet(one));
	KUNIT_EXPECT_TRUE(test, end_quiet(other));
}

static void data_goes_both_ways_and_the_connection_ends(struct kunit *test)
{
	struct end *listener = server(test, ACCEPTS);
	struct end *end = client(test), *child = listener->child;

	end_join(listener, end);
	KUNIT_EXPECT_NOT_NULL(test, rcm_iw_cm_id(end->id));
	KUNIT_ASSERT_EQ(test, end_recv(end), 0);
	KUNIT_ASSERT_EQ(test, end_send(end, 99), 0);
	KUNIT_EXPECT_EQ(test, end_poll(child, IB_WC_RECV), 0);
	KUNIT_EXPECT_TRUE(test, end_holds(child, 99));
	KUNIT_EXPECT_EQ(test, end_poll(end, IB_WC_SEND), 0);

	KUNIT_ASSERT_EQ(test, end_send(child, 7), 0);
	KUNIT_EXPECT_EQ(test, end_poll(end, IB_WC_RECV), 0);
	KUNIT_EXPECT_TRUE(test, end_holds(end, 7));
	part(end, child);
	end_destroy(end);
	end_destroy(listener);
}

static void the_passive_side_ends_the_connection(struct kunit *test)
{
	struct end *listener = server(test, ACCEPTS);
	struct end *end = client(test);

	end_join(listener, end);
	part(listener->child, end);
	end_destroy(end);
	end_destroy(listener);
}

static void a_request_carries_private_data(struct kunit *test)
{
	struct end *listener = server(test, WAITS);
	struct end *end = client(test), *child = listener->child;
	const struct seen *seen;

	KUNIT_ASSERT_EQ(test, end_connect(end, "hello", 6), 0);
	seen = end_next(listener, LONG);
	KUNIT_ASSERT_NOT_NULL(test, seen);
	KUNIT_EXPECT_EQ(test, seen->event, RDMA_CM_EVENT_CONNECT_REQUEST);
	KUNIT_EXPECT_EQ(test, seen->len, 6);
	KUNIT_EXPECT_STREQ(test, (const char *)seen->data, "hello");

	end_accept_later(end, child);
	end_destroy(end);
	end_destroy(listener);
}

/*
 * siw says "reset" where others say "refused". When it looks late it sees that
 * the peer has closed before it reads what that wrote.
 */
static void a_refusal_carries_private_data(struct kunit *test)
{
	struct end *listener = server(test, REJECTS), *end;
	const struct seen *seen;
	int tries = 5;

again:
	end = client(test);
	KUNIT_ASSERT_EQ(test, end_connect(end, NULL, 0), 0);
	seen = end_next(end, LONG);
	KUNIT_ASSERT_NOT_NULL(test, seen);
	KUNIT_EXPECT_EQ(test, seen->event, RDMA_CM_EVENT_REJECTED);
	KUNIT_EXPECT_EQ(test, seen->status, -ECONNRESET);
	if (!seen->len && --tries) {
		end_destroy(end);
		goto again;
	}
	KUNIT_EXPECT_EQ(test, seen->len, 10);
	KUNIT_EXPECT_STREQ(test, (const char *)seen->data, "not today");
	end_destroy(end);
	end_destroy(listener);
}

static void nobody_listens(struct kunit *test)
{
	struct end *end = client(test);

	KUNIT_EXPECT_EQ(test, end_connect(end, NULL, 0), -ECONNREFUSED);
	KUNIT_EXPECT_TRUE(test, end_quiet(end));
	end_destroy(end);
}

static void all_steps_may_be_taken_in_the_handler(struct kunit *test)
{
	struct end *listener = server(test, ACCEPTS);
	struct end *end = tcp(test);

	end->habit = CONNECTS;
	KUNIT_ASSERT_EQ(test, end_resolve(end, IWARP, PORT), 0);
	end_expect(end, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	end_expect(end, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	end_expect(end, RDMA_CM_EVENT_ESTABLISHED, 0);
	end_expect(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	end_expect(listener->child, RDMA_CM_EVENT_ESTABLISHED, 0);
	part(end, listener->child);
	end_destroy(end);
	end_destroy(listener);
}

/*
 * From within the callback of iw_cm, which then destroys its own and lets go of
 * the queue pair. Before DISCONNECTED that does not go, on either manager: it
 * would wait for what comes from the same queue of iw_cm.
 */
static void a_handler_that_says_no_destroys(struct kunit *test, int event)
{
	struct end *listener = server(test, ACCEPTS);
	struct end *end = tcp(test);
	const struct seen *seen;

	end->habit = CONNECTS;
	end->die_on = event;
	end->keeps_qp = event != RDMA_CM_EVENT_DISCONNECTED;
	KUNIT_ASSERT_EQ(test, end_resolve(end, IWARP, PORT), 0);
	end_expect(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	if (event == RDMA_CM_EVENT_DISCONNECTED) {
		end_expect(listener->child, RDMA_CM_EVENT_ESTABLISHED, 0);
		KUNIT_EXPECT_EQ(test, end_disconnect(listener->child), 0);
	}
	while ((seen = end_next(end, LONG)) && seen->event != event)
		;
	KUNIT_EXPECT_NOT_NULL(test, seen);
	KUNIT_EXPECT_TRUE(test, end_quiet(end));
	KUNIT_EXPECT_NULL(test, end->id);
	end_destroy(end);
	end_destroy(listener);
}

static void no_at_established(struct kunit *test)
{
	a_handler_that_says_no_destroys(test, RDMA_CM_EVENT_ESTABLISHED);
}

static void no_at_disconnected(struct kunit *test)
{
	a_handler_that_says_no_destroys(test, RDMA_CM_EVENT_DISCONNECTED);
}

static void destroying_an_end_disconnects_the_other(struct kunit *test)
{
	struct end *listener = server(test, ACCEPTS);
	struct end *end = client(test);

	end_join(listener, end);
	end_destroy(end);
	end_expect(listener->child, RDMA_CM_EVENT_DISCONNECTED, 0);
	end_destroy(listener);
}

static void a_kind_of_device_can_be_asked_for(struct kunit *test)
{
	struct end *end = tcp(test);
	struct sockaddr_in sin;

	KUNIT_EXPECT_EQ(test, rcm_restrict_node_type(end->id, RDMA_NODE_IB_CA),
			0);
	KUNIT_EXPECT_EQ(test, rcm_bind_addr(end->id, ip4(&sin, IWARP, 0)),
			-ENODEV);
	KUNIT_EXPECT_EQ(test, rcm_restrict_node_type(end->id, RDMA_NODE_RNIC),
			0);
	KUNIT_EXPECT_EQ(test, rcm_bind_addr(end->id, ip4(&sin, IWARP, 0)), 0);
	end_destroy(end);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(data_goes_both_ways_and_the_connection_ends),
	KUNIT_CASE(the_passive_side_ends_the_connection),
	KUNIT_CASE(a_request_carries_private_data),
	KUNIT_CASE(a_refusal_carries_private_data),
	KUNIT_CASE(nobody_listens),
	KUNIT_CASE(all_steps_may_be_taken_in_the_handler),
	KUNIT_CASE(no_at_established),
	KUNIT_CASE(no_at_disconnected),
	KUNIT_CASE(destroying_an_end_disconnects_the_other),
	KUNIT_CASE(a_kind_of_device_can_be_asked_for),
	{}
};

struct kunit_suite rcm_consumer_iw_suite = {
	.name = "rcm_consumer_iw",
	.test_cases = cases,
};
