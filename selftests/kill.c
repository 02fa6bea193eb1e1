// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * suites: check debug
 * timeout: 120 600
 *
 * Processes that die, or close their file, at each step of a connection's
 * set-up and leave nothing behind.
 */
#include "rcm_test.h"

#include "kselftest_harness.h"

#define PORT   7471
#define WAIT   8000
#define STEPS  14
#define ROUNDS 6

struct shared {
	int step; /* reached */
	int error;
};

#define STEP(n)                                                       \
	do {                                                          \
		__atomic_store_n(&shared->step, n, __ATOMIC_RELEASE); \
		if (stop == (n))                                      \
			return 0;                                     \
	} while (0)
#define TRY(step)                   \
	do {                        \
		int ret = step;     \
		if (ret < 0)        \
			return ret; \
	} while (0)

/* Both ends, as far as @stop. */
static int run(struct shared *shared, int stop)
{
	struct rcm_event event;
	int passive, active, client, server;

	STEP(0);
	passive = open_rcm(0);
	active = open_rcm(0);
	TRY(passive);
	TRY(active);
	STEP(1);
	TRY(create_tcp(passive));
	STEP(2);
	TRY(listener(passive, "0.0.0.0", PORT, 0));
	STEP(3);
	client = resolve_flags(active, 0, NULL, IP4, PORT, 1000, RCM_CREATE);
	TRY(client);
	STEP(4);
	TRY(expect_event(active, EV_ADDR_RESOLVED, NULL));
	TRY(resolve_route(active, client));
	STEP(5);
	TRY(expect_event(active, EV_ROUTE_RESOLVED, NULL));
	TRY(connect_data(active, client, "hello", 5));
	STEP(6);
	if (!readable(passive, WAIT))
		return -ETIME;
	STEP(7);
	TRY(expect_event(passive, EV_CONNECT_REQUEST, &event));
	server = event.out_new_handle;
	STEP(8);
	TRY(accept_data(passive, server, NULL, 0));
	STEP(9);
	TRY(expect_event(active, EV_CONNECT_RESPONSE, NULL));
	STEP(10);
	TRY(establish(active, client));
	STEP(11);
	TRY(expect_event(passive, EV_ESTABLISHED, NULL));
	TRY(disconnect(active, client));
	STEP(12);
	TRY(expect_event(passive, EV_DISCONNECTED, NULL));
	TRY(disconnect(passive, server));
	STEP(13);
	TRY(expect_event(active, EV_DISCONNECTED, NULL));
	STEP(14);
	return 0;
}

FIXTURE(killed)
{
	struct shared *shared;
};

FIXTURE_SETUP(killed)
{
	self->shared = shared_memory(sizeof(*self->shared));
	ASSERT_NE(NULL, self->shared);
}

FIXTURE_TEARDOWN(killed)
{
	EXPECT_TRUE(nothing_left(5000));
}

TEST_F_TIMEOUT(killed, at_each_step_leaves_nothing, 300)
{
	int step, round, status;

	for (step = 0; step <= STEPS; step++) {
		for (round = 0; round < ROUNDS; round++) {
			pid_t child = fork();

			ASSERT_LE(0, child);
			if (!child) {
				self->shared->error = run(self->shared, step);
				raise(SIGKILL);
			}
			ASSERT_EQ(child, waitpid(child, &status, 0));
			ASSERT_TRUE(WIFSIGNALED(status));
			ASSERT_EQ(0, self->shared->error)
			{
				TH_LOG("step %d", step);
			}
			ASSERT_TRUE(nothing_left(5000))
			{
				TH_LOG("step %d: %d identifiers, %d ports",
				       step, live_ids(), live_ports());
			}
		}
	}
}

/* Not at a step, but somewhere in it. */
TEST_F_TIMEOUT(killed, at_any_moment_leaves_nothing, 200)
{
	long long end = now_ms() + 5000;
	int delay = 0, rounds = 0, status;

	while (now_ms() < end || rounds <= 20) {
		pid_t child = fork();

		ASSERT_LE(0, child);
		if (!child)
			_exit(run(self->shared, STEPS) != 0);
		usleep(delay);
		delay = (delay + 733) % 40000;
		kill(child, SIGKILL);
		ASSERT_EQ(child, waitpid(child, &status, 0));
		ASSERT_TRUE(nothing_left(5000));
		rounds++;
	}
	EXPECT_LT(20, rounds);
}

TEST_F_TIMEOUT(killed, closing_with_everything_open_leaves_nothing, 200)
{
	int step;

	for (step = 0; step <= STEPS; step++) {
		pid_t child = fork();
		int status;

		ASSERT_LE(0, child);
		if (!child)
			_exit(run(self->shared, step) != 0);
		ASSERT_EQ(child, waitpid(child, &status, 0));
		EXPECT_EQ(0, status);
		ASSERT_TRUE(nothing_left(5000));
	}
}

/* C37: a process whose peer says nothing dies at once. */
TEST_F(killed, C37_waiting_for_a_silent_peer_it_dies_at_once)
{
	int pair[2], status;
	long long start;
	pid_t child;
	char byte;

	ASSERT_EQ(0, pipe(pair));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		int fd = open_rcm(0), i;

		for (i = 0; i < 20; i++)
			connect_data(fd, ready_to_connect(fd, IP4_NOBODY, PORT),
				     NULL, 0);
		if (write(pair[1], "x", 1) == 1)
			get_event(fd, &(struct rcm_event){}, 0);
		_exit(1);
	}
	ASSERT_EQ(1, read(pair[0], &byte, 1));
	start = now_ms();
	kill(child, SIGKILL);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_GT(1000, now_ms() - start);
}

/* Two processes, and the one that is left is told. */
TEST_F(killed, C41_the_peer_of_a_dead_process_is_told)
{
	struct rcm_event event;
	int fd = open_rcm(0);
	int server;
	pid_t child;

	ASSERT_LT(0, listener(fd, IP4, PORT, 0));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		int mine, client;

		close(fd);
		mine = open_rcm(0);
		client = ready_to_connect(mine, IP4, PORT);
		if (connect_data(mine, client, NULL, 0) ||
		    expect_event(mine, EV_CONNECT_RESPONSE, NULL) ||
		    establish(mine, client))
			_exit(1);
		raise(SIGKILL);
	}
	ASSERT_EQ(EV_CONNECT_REQUEST, next_event(fd, &event, WAIT));
	server = event.out_new_handle;
	ASSERT_EQ(0, accept_data(fd, server, NULL, 0));
	ASSERT_EQ(EV_ESTABLISHED, next_event(fd, &event, WAIT));
	ASSERT_EQ(EV_DISCONNECTED, next_event(fd, &event, WAIT));
	EXPECT_EQ(server, (int)event.out_handle);
	waitpid(child, NULL, 0);
	close(fd);
}

TEST_HARNESS_MAIN
