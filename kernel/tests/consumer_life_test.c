// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The life of a kernel consumer's identifier: who may destroy it and when,
 * what is locked while its handler runs, devices and namespaces that go.
 */
#include <linux/kthread.h>
#include <net/net_namespace.h>
#include <rdma/ib_cm.h>

#include "consumer.h"

#define PORT 7490

static struct end *tcp(struct kunit *test)
{
	return end_new(test, &init_net, RDMA_PS_TCP, IB_QPT_RC);
}

static void listen_at(struct end *end, u32 addr, u16 port)
{
	KUNIT_ASSERT_EQ(end->test, end_listen(end, addr, port), 0);
}

static void start_connect(struct end *end, u32 addr, u16 port)
{
	end->habit = CONNECTS;
	KUNIT_ASSERT_EQ(end->test, end_resolve(end, addr, port), 0);
}

/* The port of a destroyed identifier is free. */
static bool port_is_free(struct kunit *test, u16 port)
{
	struct end *end = tcp(test);
	struct sockaddr_in sin;
	unsigned int i;
	int ret;

	for (i = 0; i < 100; i++) {
		ret = rcm_bind_addr(end->id, ip4(&sin, HERE, port));
		if (!ret)
			break;
		msleep(20);
	}
	end_destroy(end);
	return !ret;
}

static struct task_struct *start(struct kunit *test, int (*fn)(void *data),
				 void *data)
{
	struct task_struct *task = kthread_create(fn, data, "consumer");

	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	wake_up_process(task);
	return task;
}

static int stop(struct task_struct *task)
{
	int ret = kthread_stop(task);

	put_task_struct(task);
	return ret;
}

static void a_handler_that_says_no_destroys(struct kunit *test, int event)
{
	struct end *listener = tcp(test), *end = tcp(test);
	struct sockaddr_in sin;
	const struct seen *seen;

	listener->habit = ACCEPTS;
	listen_at(listener, HERE, PORT);
	KUNIT_ASSERT_EQ(test, rcm_bind_addr(end->id, ip4(&sin, HERE, PORT + 1)),
			0);
	end->die_on = event;
	start_connect(end, HERE, PORT);
	while ((seen = end_next(end, LONG)) && seen->event != event)
		;
	KUNIT_EXPECT_NOT_NULL(test, seen);
	KUNIT_EXPECT_TRUE(test, port_is_free(test, PORT + 1));
	KUNIT_EXPECT_TRUE(test, end_quiet(end));
	KUNIT_EXPECT_NULL(test, end->id);
	end_destroy(end);
	end_destroy(listener);
}

static void no_at_addr_resolved(struct kunit *test)
{
	a_handler_that_says_no_destroys(test, RDMA_CM_EVENT_ADDR_RESOLVED);
}

static void no_at_route_resolved(struct kunit *test)
{
	a_handler_that_says_no_destroys(test, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

/* C32: up to there the handler itself went on, route to connect included. */
static void no_at_established(struct kunit *test)
{
	a_handler_that_says_no_destroys(test, RDMA_CM_EVENT_ESTABLISHED);
}

static void no_at_a_request_refuses_it(struct kunit *test)
{
	struct end *listener = tcp(test), *end = tcp(test);

	listener->child->id = ERR_PTR(-EBUSY);
	listen_at(listener, HERE, PORT);
	start_connect(end, HERE, PORT);
	end_expect(end, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	end_expect(end, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	end_expect(end, RDMA_CM_EVENT_REJECTED, IB_CM_REJ_CONSUMER_DEFINED);
	listener->child->id = NULL;
	end_destroy(end);
	end_destroy(listener);
}

static void no_at_disconnected(struct kunit *test)
{
	struct end *listener = tcp(test), *end = tcp(test);

	listener->habit = ACCEPTS;
	listener->child->die_on = RDMA_CM_EVENT_DISCONNECTED;
	listen_at(listener, HERE, PORT);
	start_connect(end, HERE, PORT);
	end_expect(listener->child, RDMA_CM_EVENT_ESTABLISHED, 0);
	/* Not before its own event: the order of the two is open. */
	while (end->id->qp && end_qp_state(end) != IB_QPS_RTS)
		msleep(20);
	KUNIT_EXPECT_EQ(test, end_disconnect(end), 0);
	end_expect(listener->child, RDMA_CM_EVENT_DISCONNECTED, 0);
	end_destroy(end);
	end_destroy(listener);
}

static int destroy_now(void *data)
{
	struct end *end = data;

	rcm_destroy_id(end->id);
	WRITE_ONCE(end->id, NULL);
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static void destroy_waits_for_the_handler(struct kunit *test)
{
	struct end *end = tcp(test);
	struct task_struct *task;

	end->pause_on = RDMA_CM_EVENT_ADDR_RESOLVED;
	KUNIT_ASSERT_EQ(test, end_resolve(end, HERE, PORT), 0);
	wait_for_completion(&end->paused);
	task = start(test, destroy_now, end);
	msleep(SHORT);
	KUNIT_EXPECT_NOT_NULL(test, READ_ONCE(end->id));
	complete(&end->go);
	KUNIT_EXPECT_EQ(test, stop(task), 0);
	KUNIT_EXPECT_NULL(test, end->id);
	end_destroy(end);
}

static void destroy_silences_what_is_under_way(struct kunit *test)
{
	struct end *end;
	unsigned int i;

	for (i = 0; i < 50; i++) {
		end = tcp(test);
		KUNIT_ASSERT_EQ(test, end_resolve(end, HERE, PORT), 0);
		if (i % 2) {
			end_expect(end, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
			KUNIT_ASSERT_EQ(test, end_route(end), 0);
		}
		rcm_destroy_id(end->id);
		end->id = NULL;
		end->read = end->count;
		end->calling = current;
		if (i > 47)
			KUNIT_EXPECT_TRUE(test, end_quiet(end));
		KUNIT_EXPECT_EQ(test, end->read, end->count);
	}
}

static void the_handler_can_be_locked_out(struct kunit *test)
{
	struct end *end = tcp(test);

	rcm_lock_handler(end->id);
	KUNIT_ASSERT_EQ(test, end_resolve(end, HERE, PORT), 0);
	KUNIT_EXPECT_TRUE(test, end_quiet(end));
	rcm_unlock_handler(end->id);
	end_expect(end, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	end_destroy(end);
}

static DEFINE_MUTEX(mine); /* a consumer's lock */

/*
 * Storage drivers take a lock of theirs in the handler and also around calls:
 * those must not wait for a handler, and lockdep must see no cycle.
 */
static void a_call_does_not_wait_for_the_handler(struct kunit *test)
{
	struct end *listener = tcp(test), *end = tcp(test);
	struct end *child = listener->child;

	listener->habit = ACCEPTS;
	child->held = &mine;
	end->held = &mine;
	child->pause_on = RDMA_CM_EVENT_ESTABLISHED;
	listen_at(listener, HERE, PORT);
	start_connect(end, HERE, PORT);
	wait_for_completion(&child->paused);
	/* Its handler waits for us, so this would never return. */
	KUNIT_EXPECT_EQ(test, end_disconnect(child), 0);
	KUNIT_EXPECT_EQ(test, end_qp_state(child), IB_QPS_ERR);
	complete(&child->go);
	end_expect(child, RDMA_CM_EVENT_ESTABLISHED, 0);

	mutex_lock(&mine);
	rcm_disconnect(end->id);
	rcm_destroy_qp(end->id);
	mutex_unlock(&mine);
	end_destroy(end);
	end_destroy(listener);
}

static int another_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	return end_handler(id, event);
}

static void handler_and_context_are_read_anew(struct kunit *test)
{
	struct end *listener = tcp(test), *end = tcp(test);
	struct end *heir = end_alloc(test);

	listener->habit = ACCEPTS;
	listen_at(listener, HERE, PORT);
	start_connect(end, HERE, PORT);
	end_expect(listener->child, RDMA_CM_EVENT_ESTABLISHED, 0);
	rcm_lock_handler(listener->child->id);
	listener->child->id->context = heir;
	listener->child->id->event_handler = another_handler;
	rcm_unlock_handler(listener->child->id);
	while (end_qp_state(end) != IB_QPS_RTS)
		msleep(20);
	end_disconnect(end);
	end_expect(heir, RDMA_CM_EVENT_DISCONNECTED, 0);
	KUNIT_EXPECT_TRUE(test, end_quiet(listener->child));
	end_destroy(end);
	end_destroy(listener);
	end_destroy(heir);
}

static int add_device(void)
{
	return shell("ip link add c1 type dummy")		   ?:
		       shell("ip address add 10.82.0.1/24 dev c1") ?:
		       shell("ip link set c1 up")		   ?:
		       shell("rdma link add xc1 type rxe netdev c1");
}

static int remove_device(void *data)
{
	int ret = shell("rdma link del xc1");

	while (!kthread_should_stop())
		msleep(20);
	return ret;
}

static void a_removed_device_waits_for_its_consumers(struct kunit *test)
{
	struct end *wild = tcp(test), *listener = tcp(test), *end = tcp(test);
	struct end *child = wild->child;
	struct task_struct *task;

	KUNIT_ASSERT_EQ(test, add_device(), 0);
	wild->habit = ACCEPTS;
	listen_at(wild, 0, PORT);
	listen_at(listener, OTHER, PORT + 1);
	start_connect(end, OTHER, PORT);
	end_expect(wild, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	end_expect(child, RDMA_CM_EVENT_ESTABLISHED, 0);
	end_expect(end, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	end_expect(end, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	end_expect(end, RDMA_CM_EVENT_ESTABLISHED, 0);

	/* One goes by return value, two wait for a call. */
	child->die_on = RDMA_CM_EVENT_DEVICE_REMOVAL;
	task = start(test, remove_device, NULL);
	end_expect(child, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	end_expect(end, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	end_expect(listener, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	KUNIT_EXPECT_TRUE(test, end_quiet(end));
	KUNIT_EXPECT_NOT_NULL(test, end->id->device);
	KUNIT_EXPECT_EQ(test, end_disconnect(end), 0);
	KUNIT_EXPECT_EQ(test, end_qp_state(end), IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, end_route(end), -ENODEV);
	end_destroy(end);
	end_destroy(listener);
	KUNIT_EXPECT_EQ(test, stop(task), 0);

	/* The wildcard listener does not care. */
	KUNIT_EXPECT_TRUE(test, end_quiet(wild));
	end = tcp(test);
	start_connect(end, HERE, PORT);
	end_expect(child, RDMA_CM_EVENT_ESTABLISHED, 0);
	end_destroy(end);
	end_destroy(wild);
	shell("ip link del c1");
}

/* Another namespace has ports of its own, and none of our addresses. */
static void namespaces_are_apart(struct kunit *test)
{
	struct end *end = tcp(test), *far;
	struct sockaddr_in sin;
	struct net *net;

	KUNIT_ASSERT_EQ(test, shell("ip netns add rcm_consumer"), 0);
	KUNIT_ASSERT_EQ(test, shell("ip netns set rcm_consumer 77"), 0);
	net = get_net_ns_by_id(&init_net, 77);
	KUNIT_ASSERT_NOT_NULL(test, net);
	far = end_new(test, net, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, rcm_bind_addr(far->id, ip4(&sin, HERE, PORT)),
			-EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test,
			rcm_resolve_addr(far->id, NULL, ip4(&sin, HERE, PORT),
					 SHORT),
			-ENETUNREACH);
	far->habit = ACCEPTS;
	listen_at(far, 0, PORT);
	start_connect(end, HERE, PORT);
	end_expect(end, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	end_expect(end, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	end_expect(end, RDMA_CM_EVENT_REJECTED, IB_CM_REJ_CONSUMER_DEFINED);
	KUNIT_EXPECT_TRUE(test, end_quiet(far));
	KUNIT_EXPECT_TRUE(test, port_is_free(test, PORT));
	end_destroy(end);
	/* The identifier keeps its namespace. */
	put_net(net);
	KUNIT_EXPECT_EQ(test, shell("ip netns del rcm_consumer"), 0);
	end_destroy(far);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(no_at_addr_resolved),
	KUNIT_CASE(no_at_route_resolved),
	KUNIT_CASE(no_at_established),
	KUNIT_CASE(no_at_a_request_refuses_it),
	KUNIT_CASE(no_at_disconnected),
	KUNIT_CASE(destroy_waits_for_the_handler),
	KUNIT_CASE(destroy_silences_what_is_under_way),
	KUNIT_CASE(the_handler_can_be_locked_out),
	KUNIT_CASE(a_call_does_not_wait_for_the_handler),
	KUNIT_CASE(handler_and_context_are_read_anew),
	KUNIT_CASE(a_removed_device_waits_for_its_consumers),
	KUNIT_CASE_SLOW(namespaces_are_apart),
	{}
};

struct kunit_suite rcm_consumer_life_suite = {
	.name = "rcm_consumer_life",
	.test_cases = cases,
};
