// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * timeout: 180
 *
 * Translation of addresses: at once where the neighbour is known, and what
 * happens where it is not, never answers, answers late, or is not reachable.
 */
#include <pthread.h>

#include "rcm_test.h"

#include "kselftest_harness.h"

#define LINK "d1" /* with ARP, and nobody on it */
#define DEAD "10.81.0.9"
#define LATE "10.81.0.10"
#define PORT 7

static void end(void)
{
	del_link(LINK);
}

/* Once for the whole program. */
static void __attribute__((constructor)) begin(void)
{
	add_link(LINK, "10.81.0.1/24");
	sh("ip address add fd81::1/64 dev " LINK " nodad");
	wait_for_address("fd81::1");
	atexit(end);
}

FIXTURE(resolve)
{
	int fd;
	struct rcm_event event;
};

FIXTURE_SETUP(resolve)
{
	ASSERT_NE(0, if_nametoindex(LINK));
	self->fd = open_rcm(0);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(resolve)
{
	close(self->fd);
	EXPECT_TRUE(nothing_left(2000));
}

TEST_F(resolve, a_known_neighbour_is_there_before_the_call_returns)
{
	static const char *const known[] = { IP4, IP4_NOBODY, IP6, "10.81.0.1",
					     "fd81::1" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		int handle = resolve_flags(self->fd, 0, NULL, known[i], PORT,
					   1000, RCM_CREATE);

		ASSERT_LT(0, handle)
		{
			TH_LOG("%s", known[i]);
		}
		ASSERT_EQ(0, get_event(self->fd, &self->event,
				       RCM_EVENT_DONTWAIT));
		EXPECT_EQ(EV_ADDR_RESOLVED, (int)self->event.out_event);
		EXPECT_EQ(handle, (int)self->event.out_handle);
		EXPECT_EQ(0, self->event.out_status);
		EXPECT_STREQ(known[i], host_of(&self->event.out_endpoint.dst));
		EXPECT_EQ(PORT, port_of(&self->event.out_endpoint.dst));
		EXPECT_NE(0, port_of(&self->event.out_endpoint.src));
		EXPECT_EQ(1, self->event.out_endpoint.port_num);
		EXPECT_EQ(0, self->event.out_endpoint.num_paths);
	}
}

TEST_F(resolve, a_permanent_neighbour_is_known)
{
	sh("ip neighbour replace " LATE " lladdr 02:00:00:00:00:01 dev " LINK);
	ASSERT_LT(0, resolve_flags(self->fd, 0, NULL, LATE, PORT, 1000,
				   RCM_CREATE | RCM_RESOLVE_BOTH));
	ASSERT_EQ(0, get_event(self->fd, &self->event, RCM_EVENT_DONTWAIT));
	EXPECT_EQ(EV_ADDR_RESOLVED, (int)self->event.out_event);
	EXPECT_STREQ("10.81.0.1", host_of(&self->event.out_endpoint.src));
	EXPECT_EQ(if_nametoindex(LINK), self->event.out_endpoint.ifindex);
	ASSERT_EQ(0, get_event(self->fd, &self->event, RCM_EVENT_DONTWAIT));
	EXPECT_EQ(EV_ROUTE_RESOLVED, (int)self->event.out_event);
	EXPECT_EQ(1, self->event.out_endpoint.num_paths);
	EXPECT_EQ(0, self->event.out_endpoint.path.sgid[0]);
}

TEST_F(resolve, both_in_one_call_or_one_after_the_other)
{
	int a = create_tcp(self->fd);

	ASSERT_EQ(0, resolve(self->fd, a, NULL, IP4, PORT, 1000));
	ASSERT_EQ(EV_ADDR_RESOLVED, next_event(self->fd, NULL, 0));
	ASSERT_EQ(-ETIME, next_event(self->fd, NULL, 0));
	ASSERT_EQ(0, resolve_route(self->fd, a));
	ASSERT_EQ(EV_ROUTE_RESOLVED, next_event(self->fd, &self->event, 0));
	EXPECT_EQ(1, self->event.out_endpoint.num_paths);
	EXPECT_LT(0, ready_to_connect(self->fd, IP4, PORT));
	EXPECT_LT(0, ready_to_connect(self->fd, IP6, PORT));
}

static const int timeouts[] = { 0, 200, 700, 1500 };

TEST_F(resolve, a_neighbour_that_does_not_answer_is_ETIMEDOUT_in_time)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(timeouts); i++) {
		long long start = now_ms(), took;
		struct rcm_query arg;
		int handle;

		handle = resolve_flags(self->fd, 0, NULL, DEAD, PORT,
				       timeouts[i], RCM_CREATE);
		ASSERT_LT(0, handle);
		EXPECT_GT(100, now_ms() - start);
		ASSERT_EQ(EV_ADDR_ERROR,
			  next_event(self->fd, &self->event, 5000));
		took = now_ms() - start;
		EXPECT_EQ(-ETIMEDOUT, self->event.out_status);
		EXPECT_EQ(RCM_STEP_NEIGHBOUR, self->event.out_reason.step);
		EXPECT_EQ(-ETIMEDOUT, self->event.out_reason.error);
		EXPECT_EQ(if_nametoindex(LINK), self->event.out_reason.ifindex);
		EXPECT_LE(timeouts[i], took + 20);
		EXPECT_GT(timeouts[i] + 500, took);
		ASSERT_EQ(0, query(self->fd, handle, &arg));
		EXPECT_EQ(RCM_STATE_BOUND, arg.out_endpoint.state);
		EXPECT_EQ(RCM_STEP_NEIGHBOUR, arg.out_reason.step);
		EXPECT_EQ(-ETIME, next_event(self->fd, NULL, 100));
	}
}

TEST_F(resolve, a_v6_neighbour_that_does_not_answer)
{
	ASSERT_LT(0, resolve_flags(self->fd, 0, NULL, "fd81::9", PORT, 300,
				   RCM_CREATE));
	ASSERT_EQ(EV_ADDR_ERROR, next_event(self->fd, &self->event, 3000));
	EXPECT_EQ(-ETIMEDOUT, self->event.out_status);
}

TEST_F(resolve, a_neighbour_that_answers_late_is_taken_at_once)
{
	long long start;

	sh("ip neighbour del " LATE " dev " LINK " 2>/dev/null");
	ASSERT_LT(0, resolve_flags(self->fd, 0, NULL, LATE, PORT, 10000,
				   RCM_CREATE | RCM_RESOLVE_BOTH));
	EXPECT_EQ(-ETIME, next_event(self->fd, NULL, 150));
	sh("ip neighbour replace " LATE " lladdr 02:00:00:00:00:01 dev " LINK);
	start = now_ms();
	ASSERT_EQ(EV_ADDR_RESOLVED, next_event(self->fd, &self->event, 5000));
	EXPECT_GT(300, now_ms() - start);
	EXPECT_STREQ("10.81.0.1", host_of(&self->event.out_endpoint.src));
	ASSERT_EQ(EV_ROUTE_RESOLVED, next_event(self->fd, NULL, 1000));
}

TEST_F(resolve, it_may_be_tried_again_after_an_error)
{
	int handle = create_tcp(self->fd);
	int port;

	ASSERT_EQ(0, resolve(self->fd, handle, NULL, DEAD, PORT, 50));
	ASSERT_EQ(EV_ADDR_ERROR, next_event(self->fd, NULL, 3000));
	port = src_port(self->fd, handle);
	ASSERT_EQ(0, resolve(self->fd, handle, NULL, DEAD, PORT, 50));
	ASSERT_EQ(EV_ADDR_ERROR, next_event(self->fd, NULL, 3000));
	ASSERT_EQ(0, resolve(self->fd, handle, NULL, IP4, PORT, 50));
	ASSERT_EQ(EV_ADDR_RESOLVED, next_event(self->fd, NULL, 3000));
	EXPECT_EQ(port, src_port(self->fd, handle));
}

TEST_F(resolve, requests_do_not_delay_each_other)
{
	long long start = now_ms();
	int i;

	for (i = 0; i < 20; i++)
		ASSERT_LT(0, resolve_flags(self->fd, 0, NULL, DEAD, PORT + i,
					   400, RCM_CREATE));
	ASSERT_LT(0,
		  resolve_flags(self->fd, 0, NULL, IP4, PORT, 400, RCM_CREATE));
	EXPECT_EQ(EV_ADDR_RESOLVED, next_event(self->fd, NULL, 0));
	for (i = 0; i < 20; i++)
		EXPECT_EQ(EV_ADDR_ERROR, next_event(self->fd, NULL, 2000));
	EXPECT_GT(1500, now_ms() - start);
}

TEST_F(resolve, no_route_is_told_at_once)
{
	struct rcm_query arg;
	int handle = create_tcp(self->fd);

	EXPECT_EQ(-ENETUNREACH,
		  resolve(self->fd, handle, NULL, IP4_NOT_LOCAL, PORT, 1000));
	EXPECT_EQ(-ENETUNREACH,
		  resolve(self->fd, handle, NULL, "fd77::1", PORT, 1000));
	ASSERT_EQ(0, query(self->fd, handle, &arg));
	EXPECT_EQ(RCM_STATE_IDLE, arg.out_endpoint.state);
	EXPECT_EQ(0, arg.out_endpoint.src.ss_family);
	EXPECT_EQ(0, arg.out_endpoint.dst.ss_family);
	EXPECT_EQ(RCM_STEP_ROUTE_LOOKUP, arg.out_reason.step);
	EXPECT_EQ(-ENETUNREACH, arg.out_reason.error);
	EXPECT_EQ(0, live_ports());
	EXPECT_EQ(-ETIME, next_event(self->fd, NULL, 0));

	/* A bound one stays bound. */
	ASSERT_EQ(0, bind_text(self->fd, handle, IP6, 0));
	EXPECT_EQ(-ENETUNREACH,
		  resolve(self->fd, handle, NULL, "fd77::1", PORT, 1000));
	ASSERT_EQ(0, query(self->fd, handle, &arg));
	EXPECT_EQ(RCM_STATE_BOUND, arg.out_endpoint.state);
	EXPECT_STREQ(IP6, host_of(&arg.out_endpoint.src));
	EXPECT_EQ(0, arg.out_endpoint.dst.ss_family);
}

TEST_F(resolve, unreachable_and_prohibited_routes_are_told_at_once)
{
	int handle = create_tcp(self->fd);

	sh("ip route add unreachable 10.82.0.1/32; ip route add prohibit 10.82.0.2/32");
	EXPECT_EQ(-EHOSTUNREACH,
		  resolve(self->fd, handle, NULL, "10.82.0.1", PORT, 1000));
	EXPECT_EQ(-EACCES,
		  resolve(self->fd, handle, NULL, "10.82.0.2", PORT, 1000));
	sh("ip route del unreachable 10.82.0.1/32; ip route del prohibit 10.82.0.2/32");
	EXPECT_EQ(RCM_STATE_IDLE, state_of(self->fd, handle));
}

TEST_F(resolve, C24_an_interface_without_rdma_device_is_ENODEV)
{
	int handle;

	sh("ip link add nordma type dummy; ip address add 10.78.0.1/24 dev nordma; ip link set nordma up");
	handle = resolve_flags(self->fd, 0, NULL, "10.78.0.9", PORT, 500,
			       RCM_CREATE);
	ASSERT_LT(0, handle);
	ASSERT_EQ(EV_ADDR_ERROR, next_event(self->fd, &self->event, 1000));
	EXPECT_EQ(-ENODEV, self->event.out_status);
	EXPECT_EQ(RCM_STEP_DEVICE, self->event.out_reason.step);
	EXPECT_EQ(if_nametoindex("nordma"), self->event.out_reason.ifindex);
	EXPECT_EQ(RCM_STATE_BOUND, state_of(self->fd, handle));
	sh("ip link del nordma");
}

TEST_F(resolve, wrong_addresses_are_refused_and_change_nothing)
{
	int handle = create_tcp(self->fd);
	struct rcm_query before, after;

	ASSERT_EQ(0, query(self->fd, handle, &before));
	EXPECT_EQ(-EINVAL, resolve(self->fd, handle, IP4, IP6, PORT, 100));
	EXPECT_EQ(-EINVAL, resolve(self->fd, handle, IP6, IP4, PORT, 100));
	EXPECT_EQ(-EAFNOSUPPORT,
		  resolve(self->fd, handle, IP4, NULL, PORT, 100));
	EXPECT_EQ(-EADDRNOTAVAIL,
		  resolve(self->fd, handle, IP4_NOT_LOCAL, IP4, PORT, 100));
	EXPECT_EQ(-ENODEV,
		  resolve(self->fd, handle, NULL, "0.0.0.0", PORT, 100));
	EXPECT_EQ(-ENODEV,
		  resolve(self->fd, handle, NULL, "127.0.0.1", PORT, 100));
	EXPECT_EQ(-ENODEV, resolve(self->fd, handle, NULL, "::1", PORT, 100));
	EXPECT_EQ(-ENODEV,
		  resolve(self->fd, handle, "127.0.0.1", IP4, PORT, 100));
	ASSERT_EQ(0, query(self->fd, handle, &after));
	EXPECT_EQ(0, memcmp(&before.out_endpoint, &after.out_endpoint,
			    sizeof(before.out_endpoint)));
	EXPECT_EQ(0, live_ports());
	EXPECT_EQ(-ETIME, next_event(self->fd, NULL, 0));
}

TEST_F(resolve, the_source_address_is_used)
{
	ASSERT_LT(0, resolve_flags(self->fd, 0, IP4, IP4_NOBODY, PORT, 100,
				   RCM_CREATE));
	ASSERT_EQ(EV_ADDR_RESOLVED, next_event(self->fd, &self->event, 0));
	EXPECT_STREQ(IP4, host_of(&self->event.out_endpoint.src));
	EXPECT_EQ(if_nametoindex("d0"), self->event.out_endpoint.ifindex);
}

TEST_F(resolve, destroy_does_not_wait_for_the_neighbour)
{
	long long start = now_ms();
	int i;

	for (i = 0; i < 20; i++) {
		int handle = resolve_flags(self->fd, 0, NULL, DEAD, PORT, 10000,
					   RCM_CREATE);

		ASSERT_LT(0, handle);
		if (i % 2)
			sleep_ms(5);
		EXPECT_EQ(0, destroy(self->fd, handle));
	}
	EXPECT_GT(2000, now_ms() - start);
	EXPECT_EQ(-ETIME, next_event(self->fd, NULL, 100));
}

static void *again_and_again(void *arg)
{
	int fd = *(int *)arg, i;

	for (i = 0; i < 40; i++) {
		int handle = create_tcp(fd);

		resolve(fd, handle, NULL, DEAD, PORT, 1);
		resolve(fd, handle, NULL, DEAD, PORT, 1);
		next_event(fd, NULL, 20);
		resolve(fd, handle, NULL, DEAD, PORT, 1);
		destroy(fd, handle);
	}
	return NULL;
}

TEST_F(resolve, C14_one_request_at_a_time_whatever_the_caller_does)
{
	pthread_t thread[8];
	int i;

	for (i = 0; i < 8; i++)
		pthread_create(&thread[i], NULL, again_and_again, &self->fd);
	for (i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
	EXPECT_EQ(0, live_ids());
	EXPECT_EQ(0, live_ports());
}

struct impatient {
	int fd;
	int handle;
	int stop;
};

static void *route_without_end(void *arg)
{
	struct impatient *impatient = arg;

	while (!__atomic_load_n(&impatient->stop, __ATOMIC_RELAXED)) {
		int handle =
			__atomic_load_n(&impatient->handle, __ATOMIC_RELAXED);

		resolve_route(impatient->fd, handle);
		connect_data(impatient->fd, handle, NULL, 0);
		disconnect(impatient->fd, handle);
	}
	return NULL;
}

TEST_F(resolve, C19_a_state_is_there_with_all_it_promises)
{
	struct impatient impatient = { .fd = self->fd };
	pthread_t thread[2];
	int i;

	for (i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, route_without_end, &impatient);
	for (i = 0; i < 300; i++) {
		int handle = create_tcp(self->fd);

		__atomic_store_n(&impatient.handle, handle, __ATOMIC_RELAXED);
		EXPECT_EQ(0, resolve(self->fd, handle, NULL, i % 2 ? IP4 : DEAD,
				     PORT, 1));
		while (next_event(self->fd, NULL, 2) >= 0)
			;
		EXPECT_LE(0, destroy(self->fd, handle));
	}
	__atomic_store_n(&impatient.stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

TEST_HARNESS_MAIN
