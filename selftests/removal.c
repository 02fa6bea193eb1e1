// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * suites: check debug
 * timeout: 240 900
 *
 * RDMA devices that go, under identifiers in any state, and devices that come
 * (C64). On a device of their own, so that the rig's stays.
 */
#include <pthread.h>

#include "rcm_test.h"

#include "kselftest_harness.h"

#define LINK "d1"
#define LIP  "10.81.0.1"
#define DEAD "10.81.0.9"
#define PORT 7471
#define WAIT 8000

FIXTURE(removal)
{
	int fd;
	int peer_fd;
	struct rcm_event event;
};

FIXTURE_SETUP(removal)
{
	ASSERT_EQ(0, add_link(LINK, LIP "/24"));
	self->fd = open_rcm(0);
	ASSERT_LE(0, self->fd);
	self->peer_fd = open_rcm(0);
	ASSERT_LE(0, self->peer_fd);
}

FIXTURE_TEARDOWN(removal)
{
	close(self->fd);
	close(self->peer_fd);
	del_link(LINK);
	EXPECT_TRUE(nothing_left(5000));
}

static int remove_device(void)
{
	return sh("timeout 20 rdma link del x" LINK);
}

static int add_device(void)
{
	int ret = sh("rdma link add x" LINK " type rxe netdev " LINK);

	return ret ?: wait_for_address(LIP) ? 0 : -ENODEV;
}

TEST_F_TIMEOUT(removal, C64_each_identifier_is_told_once_and_then_gets_ENODEV,
	       100)
{
	int fd = self->fd, peer_fd = self->peer_fd;
	struct rcm_init_qp_attr attr;
	int handle[8], count = 0, seen[8] = {}, i, type;
	struct rcm_query arg;
	long long start;

	handle[count++] = create_tcp(fd);
	ASSERT_EQ(0, bind_text(fd, handle[0], LIP, 5000));
	handle[count++] = listener(fd, LIP, 5001, 0);
	handle[count++] = resolve_flags(fd, 0, NULL, LIP, 7, 100, RCM_CREATE);
	ASSERT_EQ(EV_ADDR_RESOLVED, next_event(fd, NULL, 0));
	handle[count++] = ready_to_connect(fd, LIP, PORT);
	/* Bound there, and waiting for a neighbour. */
	handle[count++] = create_tcp(fd);
	ASSERT_EQ(0, bind_text(fd, handle[4], LIP, 5002));
	ASSERT_EQ(0, resolve(fd, handle[4], NULL, DEAD, 7, 60000));
	/* Both ends of a connection. */
	ASSERT_LT(0, listener(peer_fd, "0.0.0.0", PORT, 0));
	handle[count++] = ready_to_connect(fd, LIP, PORT);
	ASSERT_EQ(0, connect_data(fd, handle[5], NULL, 0));
	ASSERT_EQ(EV_CONNECT_REQUEST, next_event(peer_fd, &self->event, WAIT));
	ASSERT_EQ(0, accept_data(peer_fd, self->event.out_new_handle, NULL, 0));
	ASSERT_EQ(EV_CONNECT_RESPONSE, next_event(fd, NULL, WAIT));
	/* One whose neighbour is unknown has no device yet: not concerned. */
	ASSERT_LT(0, resolve_flags(fd, 0, NULL, DEAD, 8, 60000, RCM_CREATE));

	start = now_ms();
	ASSERT_EQ(0, remove_device());
	EXPECT_GT(20000, now_ms() - start);
	while ((type = next_event(fd, &self->event, 0)) >= 0) {
		EXPECT_EQ(EV_DEVICE_REMOVAL, type);
		for (i = 0; i < count; i++)
			seen[i] += handle[i] == (int)self->event.out_handle;
	}
	for (i = 0; i < count; i++) {
		EXPECT_EQ(1, seen[i])
		{
			TH_LOG("identifier %d", i);
		}
		ASSERT_EQ(0, query(fd, handle[i], &arg));
		EXPECT_EQ(RCM_STATE_REMOVED, arg.out_endpoint.state);
		EXPECT_EQ(RCM_STEP_REMOVAL, arg.out_reason.step);
		EXPECT_EQ(~0U, arg.out_endpoint.ibdev_index);
		EXPECT_EQ(-ENODEV, bind_text(fd, handle[i], IP4, 0));
		EXPECT_EQ(-ENODEV, resolve(fd, handle[i], NULL, IP4, 7, 100));
		EXPECT_EQ(-ENODEV, resolve_route(fd, handle[i]));
		EXPECT_EQ(-ENODEV, listen_on(fd, handle[i], 0));
		EXPECT_EQ(-ENODEV, connect_data(fd, handle[i], NULL, 0));
		EXPECT_EQ(-ENODEV, accept_data(fd, handle[i], NULL, 0));
		EXPECT_EQ(-ENODEV, establish(fd, handle[i]));
		EXPECT_EQ(-ENODEV, reject(fd, handle[i], 0, NULL, 0));
		EXPECT_EQ(-ENODEV, disconnect(fd, handle[i]));
		EXPECT_EQ(-ENODEV, notify(fd, handle[i], 4));
		EXPECT_EQ(-ENODEV, init_qp_attr(fd, handle[i], 1, &attr));
		EXPECT_EQ(-ENODEV, set_option(fd, handle[i], OPT_TOS, 0));
	}
	/* It moves like any other. */
	EXPECT_LT(0, migrate(fd, handle[0], peer_fd, NULL));
}

/* ib_cm loses a reference on the GID, which the device then waits for. */
TEST_F_TIMEOUT(removal, a_migration_without_other_path_leaves_nothing, 100)
{
	int client, server;

	client = new_request(self->fd, self->peer_fd, LIP, PORT, &server);
	ASSERT_LT(0, client);
	EXPECT_EQ(-EINVAL, notify(self->peer_fd, server, 6));
	ASSERT_EQ(0, accept_request(self->fd, client, self->peer_fd, server));

	EXPECT_EQ(0, notify(self->fd, client, 6));
	EXPECT_EQ(0, notify(self->peer_fd, server, 6));
	ASSERT_EQ(0, remove_device());
	EXPECT_EQ(1, sh("dmesg | grep 'GID entry ref leak for dev x" LINK "'"));
}

TEST_F_TIMEOUT(removal, C64_a_wildcard_listener_goes_on_when_the_device_is_back,
	       100)
{
	int server = listener(self->fd, "0.0.0.0", PORT, 0);
	int i, client;

	ASSERT_LT(0, server);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, remove_device());
		EXPECT_EQ(RCM_STATE_LISTEN, state_of(self->fd, server));
		ASSERT_EQ(0, add_device());
		client = ready_to_connect(self->peer_fd, LIP, PORT);
		ASSERT_LT(0, client);
		ASSERT_EQ(0, connect_data(self->peer_fd, client, NULL, 0));
		ASSERT_EQ(EV_CONNECT_REQUEST,
			  next_event(self->fd, &self->event, WAIT));
		ASSERT_EQ(0, destroy(self->fd, self->event.out_new_handle));
		ASSERT_EQ(EV_REJECTED, next_event(self->peer_fd, NULL, WAIT));
		ASSERT_LE(0, destroy(self->peer_fd, client));
	}
	/* And on the other device all the time. */
	client = ready_to_connect(self->peer_fd, IP4, PORT);
	ASSERT_EQ(0, connect_data(self->peer_fd, client, NULL, 0));
	EXPECT_EQ(EV_CONNECT_REQUEST, next_event(self->fd, &self->event, WAIT));
}

TEST_F_TIMEOUT(removal, C34_a_wildcard_listener_takes_from_a_device_added_later,
	       100)
{
	int server, client;

	ASSERT_EQ(0, remove_device());
	server = listener(self->fd, "::", PORT, 0);
	ASSERT_LT(0, server);
	ASSERT_EQ(0, set_option(self->fd, server, OPT_TOS, 0x20));
	ASSERT_EQ(0, add_device());
	client = ready_to_connect(self->peer_fd, LIP, PORT);
	ASSERT_LT(0, client);
	ASSERT_EQ(0, connect_data(self->peer_fd, client, NULL, 0));
	ASSERT_EQ(EV_CONNECT_REQUEST, next_event(self->fd, &self->event, WAIT));
	EXPECT_STREQ(LIP, host_of(&self->event.out_endpoint.src));
}

static int count_removals(int fd, int handle)
{
	struct rcm_event event;
	int count = 0, type;

	while ((type = next_event(fd, &event, 0)) >= 0)
		count += type == EV_DEVICE_REMOVAL &&
			 (int)event.out_handle == handle;
	return count;
}

TEST_F_TIMEOUT(removal, C64_an_unread_request_may_lose_its_device, 100)
{
	int client, server;

	ASSERT_LT(0, listener(self->fd, "0.0.0.0", PORT, 0));
	client = ready_to_connect(self->peer_fd, LIP, PORT);
	ASSERT_EQ(0, connect_data(self->peer_fd, client, NULL, 0));
	ASSERT_TRUE(readable(self->fd, WAIT));
	ASSERT_EQ(0, remove_device());
	ASSERT_EQ(EV_CONNECT_REQUEST, next_event(self->fd, &self->event, 0));
	EXPECT_EQ(-ENODEV,
		  accept_data(self->fd, self->event.out_new_handle, NULL, 0));
	server = self->event.out_new_handle;
	/* The end that goes first may still tell the other one. */
	EXPECT_EQ(1, count_removals(self->fd, server));
	EXPECT_EQ(1, count_removals(self->peer_fd, client));
	EXPECT_EQ(RCM_STATE_REMOVED, state_of(self->fd, server));
	EXPECT_EQ(RCM_STATE_REMOVED, state_of(self->peer_fd, client));
}

struct chaos {
	int stop;
	long rounds;
};

static void *busy(void *arg)
{
	struct chaos *chaos = arg;
	int fd = open_rcm(0);

	while (!__atomic_load_n(&chaos->stop, __ATOMIC_RELAXED)) {
		int server = listener(fd, LIP, PORT, 0);
		int any = listener(fd, "0.0.0.0", PORT + 1, 0);
		int a = resolve_flags(fd, 0, NULL, LIP, PORT, 10,
				      RCM_CREATE | RCM_RESOLVE_BOTH);
		int b = resolve_flags(fd, 0, NULL, LIP, PORT + 1, 10,
				      RCM_CREATE | RCM_RESOLVE_BOTH);
		int c = resolve_flags(fd, 0, NULL, DEAD, PORT, 10, RCM_CREATE);

		connect_data(fd, a, NULL, 0);
		connect_data(fd, b, NULL, 0);
		next_event(fd, NULL, 1);
		destroy(fd, server);
		destroy(fd, a);
		destroy(fd, b);
		destroy(fd, c);
		destroy(fd, any);
		while (next_event(fd, NULL, 0) >= 0)
			;
		chaos->rounds++;
		/* One processor has to do the removing, too. */
		sleep_ms(20);
	}
	close(fd);
	return NULL;
}

TEST_F_TIMEOUT(removal, C33_C64_races_with_everything, 200)
{
	struct chaos chaos[2] = {};
	pthread_t thread[2];
	int i;

	for (i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, busy, &chaos[i]);
	for (i = 0; i < 2; i++) {
		long long start = now_ms();

		EXPECT_EQ(0, remove_device());
		/* Under load, with one processor; a hang is looked for. */
		EXPECT_GT(15000, now_ms() - start);
		sleep_ms(100);
		EXPECT_EQ(0, add_device());
	}
	for (i = 0; i < 2; i++) {
		__atomic_store_n(&chaos[i].stop, 1, __ATOMIC_RELAXED);
		pthread_join(thread[i], NULL);
		EXPECT_LT(0, chaos[i].rounds);
	}
}

TEST_F_TIMEOUT(removal, C64_a_process_may_be_killed_meanwhile, 100)
{
	int round;

	for (round = 0; round < 2; round++) {
		pid_t child = fork();
		struct chaos chaos = {};

		ASSERT_LE(0, child);
		if (!child) {
			busy(&chaos);
			_exit(0);
		}
		sleep_ms(50 + round * 30);
		if (fork() == 0) {
			usleep(round * 2000);
			kill(child, SIGKILL);
			_exit(0);
		}
		EXPECT_EQ(0, remove_device());
		while (wait(NULL) > 0)
			;
		ASSERT_TRUE(nothing_left(5000));
		ASSERT_EQ(0, add_device());
	}
}

TEST_HARNESS_MAIN
