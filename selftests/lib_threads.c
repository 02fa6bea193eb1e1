// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * timeout: 120
 *
 * The library in several threads: the first calls of all at once, reading and
 * destroying at the same time, and what destroying waits for.
 */
#include <fcntl.h>

#include "lib_test.h"

#include "kselftest_harness.h"

#define PORT	7580
#define THREADS 64

struct first_call {
	pthread_t thread;
	pthread_barrier_t *barrier;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	int error;
};

/* Everything that the library does once is done by one of them. */
static void *call_first(void *arg)
{
	union lib_addr addr = lib_addr(IP4, 0);
	struct first_call *call = arg;

	pthread_barrier_wait(call->barrier);
	call->channel = rdma_create_event_channel();
	if (!call->channel ||
	    rdma_create_id(call->channel, &call->id, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(call->id, &addr.sa))
		call->error = errno ?: -1;
	return NULL;
}

/* Each test is a process: these are its first uses of the library. */
TEST(C71_first_calls_of_64_threads)
{
	struct first_call call[THREADS] = {};
	pthread_barrier_t barrier;
	int i;

	ASSERT_EQ(0, pthread_barrier_init(&barrier, NULL, THREADS));
	for (i = 0; i < THREADS; i++) {
		call[i].barrier = &barrier;
		ASSERT_EQ(0, pthread_create(&call[i].thread, NULL, call_first,
					    &call[i]));
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(call[i].thread, NULL);
	for (i = 0; i < THREADS; i++) {
		ASSERT_EQ(0, call[i].error);
		/* One device, opened once. */
		ASSERT_NE(NULL, call[i].id->verbs);
		EXPECT_EQ(call[0].id->verbs, call[i].id->verbs);
		EXPECT_EQ(call[0].id->pd, call[i].id->pd);
	}
	for (i = 0; i < THREADS; i++) {
		EXPECT_EQ(0, rdma_destroy_id(call[i].id));
		rdma_destroy_event_channel(call[i].channel);
	}
}

struct crowd {
	struct rdma_event_channel *channel;
	int stop;
	int wrong;
	long events;
	long rounds;
};

/* Each event is of an identifier that is there until it is acknowledged. */
static void *read_all(void *arg)
{
	struct crowd *crowd = arg;
	struct rdma_cm_event *event;

	while (!__atomic_load_n(&crowd->stop, __ATOMIC_ACQUIRE)) {
		if (!readable(crowd->channel, 50))
			continue;
		if (rdma_get_cm_event(crowd->channel, &event))
			continue;
		if (event->id->context != crowd)
			crowd->wrong++;
		crowd->events++;
		rdma_ack_cm_event(event);
	}
	return NULL;
}

static void *come_and_go(void *arg)
{
	union lib_addr addr = lib_addr(IP4, PORT);
	struct crowd *crowd = arg;
	struct rdma_cm_id *id;

	while (!__atomic_load_n(&crowd->stop, __ATOMIC_ACQUIRE)) {
		if (rdma_create_id(crowd->channel, &id, crowd, RDMA_PS_TCP))
			continue;
		if (!rdma_resolve_addr(id, NULL, &addr.sa, TIMEOUT))
			rdma_resolve_route(id, TIMEOUT);
		rdma_destroy_id(id);
		__atomic_fetch_add(&crowd->rounds, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

TEST(C71_one_reads_while_others_create_and_destroy)
{
	struct crowd crowd = {};
	pthread_t thread[5];
	int i;

	crowd.channel = rdma_create_event_channel();
	ASSERT_NE(NULL, crowd.channel);
	ASSERT_EQ(0, fcntl(crowd.channel->fd, F_SETFL, O_NONBLOCK));
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0,
			  pthread_create(&thread[i], NULL,
					 i ? come_and_go : read_all, &crowd));
	sleep(3);
	__atomic_store_n(&crowd.stop, 1, __ATOMIC_RELEASE);
	for (i = 4; i >= 0; i--)
		pthread_join(thread[i], NULL);
	printf("# %ld identifiers, %ld events\n", crowd.rounds, crowd.events);
	EXPECT_LT(10, crowd.rounds);
	EXPECT_LT(0, crowd.events);
	EXPECT_EQ(0, crowd.wrong);
	rdma_destroy_event_channel(crowd.channel);
}

struct waiter {
	struct rdma_cm_id *id;
	int done;
};

static void *destroy_it(void *arg)
{
	struct waiter *waiter = arg;

	rdma_destroy_id(waiter->id);
	__atomic_store_n(&waiter->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

TEST(C70_destroy_waits_until_what_was_read_is_acknowledged)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	union lib_addr addr = lib_addr(IP4, PORT);
	struct rdma_cm_event *event;
	struct waiter waiter = {};
	pthread_t thread;

	ASSERT_NE(NULL, channel);
	ASSERT_EQ(0, rdma_create_id(channel, &waiter.id, NULL, RDMA_PS_TCP));
	ASSERT_EQ(0, rdma_resolve_addr(waiter.id, NULL, &addr.sa, TIMEOUT));
	event = next_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	ASSERT_NE(NULL, event);
	/* This one is not read, and is dropped. */
	ASSERT_EQ(0, rdma_resolve_route(waiter.id, TIMEOUT));
	ASSERT_TRUE(readable(channel, PATIENCE));

	ASSERT_EQ(0, pthread_create(&thread, NULL, destroy_it, &waiter));
	usleep(500 * 1000);
	EXPECT_EQ(0, __atomic_load_n(&waiter.done, __ATOMIC_ACQUIRE));
	/* The identifier is still whole. */
	EXPECT_EQ(htons(PORT), rdma_get_dst_port(event->id));
	EXPECT_EQ(0, rdma_ack_cm_event(event));
	EXPECT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(1, waiter.done);
	EXPECT_FALSE(readable(channel, 0));
	rdma_destroy_event_channel(channel);
}

TEST_HARNESS_MAIN
