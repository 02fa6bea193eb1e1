// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * suites: check debug
 * timeout: 180 900
 *
 * Callers that guess, race and misbehave: whatever they do, the kernel has no
 * complaint, and nothing is left when their file is closed.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include "rcm_test.h"

#include "kselftest_harness.h"

#define PORT   7471
#define WAIT   8000
#define GROUP  "239.1.1.9"
#define UNREAD 100

FIXTURE(races)
{
	int fd;
	struct rcm_event event;
};

FIXTURE_SETUP(races)
{
	self->fd = open_rcm(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(races)
{
	close(self->fd);
	EXPECT_TRUE(nothing_left(10000));
}

/* A port is free as soon as the call that destroys its owner returns. */
TEST_F(races, C09_the_port_is_free_when_destroy_returns)
{
	int i, handle;

	for (i = 0; i < 200; i++) {
		handle = i & 1 ? listener(self->fd, "0.0.0.0", PORT, 0) :
				 listener(self->fd, IP4, PORT, 0);
		ASSERT_LT(0, handle);
		ASSERT_EQ(0, destroy(self->fd, handle));
	}
}

struct racer {
	int fd;
	int handle; /* the one that all of them use */
	int stop;
	long calls;
};

static bool stopped(struct racer *racer)
{
	return __atomic_load_n(&racer->stop, __ATOMIC_RELAXED);
}

/* Any command, valid as such, on one identifier or on one that is guessed. */
static void any_command(int fd, int handle, unsigned int dice)
{
	struct rcm_write_event write = {
		.size = sizeof(write),
		.handle = handle,
		.event = RCM_EVENT_USER,
	};
	struct rcm_init_qp_attr attr;
	struct rcm_query query_arg;
	struct rcm_event event;

	switch (dice % 17) {
	case 0:
		bind_text(fd, handle, dice & 64 ? IP4 : "0.0.0.0",
			  dice & 128 ? PORT : 0);
		break;
	case 1:
		resolve(fd, handle, NULL, dice & 64 ? IP4 : IP4_NOBODY, PORT,
			5);
		break;
	case 2:
		resolve_flags(fd, handle, NULL, IP4, PORT, 5, RCM_RESOLVE_BOTH);
		break;
	case 3:
		resolve_route(fd, handle);
		break;
	case 4:
		listen_on(fd, handle, 4);
		break;
	case 5:
		connect_data(fd, handle, "x", 1);
		break;
	case 6:
		accept_data(fd, handle, "x", 1);
		break;
	case 7:
		establish(fd, handle);
		break;
	case 8:
		reject(fd, handle, 0, NULL, 0);
		break;
	case 9:
		disconnect(fd, handle);
		break;
	case 10:
		notify(fd, handle, 4);
		break;
	case 11:
		init_qp_attr(fd, handle, 1 + dice / 17 % 3, &attr);
		break;
	case 12:
		set_option(fd, handle, dice / 17 % 4, 1);
		break;
	case 13:
		query(fd, handle, &query_arg);
		break;
	case 14:
		call(fd, RCM_WRITE_EVENT, &write);
		break;
	case 15:
		migrate(fd, handle, fd, NULL);
		break;
	default:
		get_event(fd, &event, RCM_EVENT_DONTWAIT);
	}
}

static void *use_one(void *arg)
{
	struct racer *racer = arg;
	unsigned int seed = (unsigned long)pthread_self();

	while (!stopped(racer)) {
		any_command(racer->fd,
			    __atomic_load_n(&racer->handle, __ATOMIC_RELAXED),
			    rand_r(&seed));
		__atomic_fetch_add(&racer->calls, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Requests for whatever of it listens. */
static void *ask(void *arg)
{
	struct racer *racer = arg;
	int fd = open_rcm(0);

	while (!stopped(racer)) {
		int client = ready_to_connect(fd, IP4, PORT);

		connect_data(fd, client, NULL, 0);
		next_event(fd, NULL, 20);
		destroy(fd, client);
	}
	close(fd);
	return NULL;
}

TEST_F_TIMEOUT(races, C31_eight_threads_use_one_identifier, 100)
{
	struct racer racer = { .fd = self->fd };
	long long end = now_ms() + 4000;
	pthread_t thread[9];
	int i, next, last;

	racer.handle = create_tcp(self->fd);
	ASSERT_LT(0, racer.handle);
	for (i = 0; i < 9; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL,
					    i < 8 ? use_one : ask, &racer));
	/* Now and then another one; the old one is destroyed under them. */
	while (now_ms() < end) {
		sleep_ms(20);
		next = create_tcp(self->fd);
		ASSERT_LT(0, next);
		last = racer.handle;
		__atomic_store_n(&racer.handle, next, __ATOMIC_RELAXED);
		EXPECT_LE(0, destroy(self->fd, last));
	}
	__atomic_store_n(&racer.stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < 9; i++)
		pthread_join(thread[i], NULL);
	EXPECT_LT(1000, racer.calls);
	/* It still answers. */
	EXPECT_LE(0, state_of(self->fd, racer.handle));
}

/* A listener that goes while a request for it is on its way. */
TEST_F_TIMEOUT(races, C05_listeners_come_and_go_under_a_stream_of_requests, 100)
{
	struct racer racer = { .fd = self->fd };
	long long end = now_ms() + 4000;
	pthread_t thread[3];
	long requests = 0;
	int i, handle;

	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, ask, &racer));
	for (i = 0; now_ms() < end; i++) {
		handle = listener(self->fd, i & 1 ? IP4 : "0.0.0.0", PORT, 0);
		ASSERT_LT(0, handle);
		requests += next_event(self->fd, NULL, i % 50) ==
			    EV_CONNECT_REQUEST;
		EXPECT_LE(0, destroy(self->fd, handle));
	}
	__atomic_store_n(&racer.stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	EXPECT_LT(0, requests);
}

/* Resolved in the call itself, and destroyed before the event is read. */
TEST_F_TIMEOUT(races, C29_our_own_address_again_and_again, 100)
{
	int i, handle;

	for (i = 0; i < 1000; i++) {
		handle = resolve_flags(self->fd, 0, NULL, i & 1 ? IP4 : IP6,
				       PORT, 1000,
				       RCM_CREATE | RCM_RESOLVE_BOTH);
		ASSERT_LT(0, handle);
		ASSERT_EQ(0, destroy(self->fd, handle));
	}
	EXPECT_EQ(0, live_ids());
	EXPECT_EQ(0, live_ports());
	EXPECT_EQ(-ETIME, next_event(self->fd, NULL, 0));
}

static void *guess(void *arg)
{
	struct racer *racer = arg;
	unsigned int seed = (unsigned long)pthread_self();

	while (!stopped(racer)) {
		any_command(racer->fd, rand_r(&seed) % 1024, rand_r(&seed));
		__atomic_fetch_add(&racer->calls, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

TEST_F_TIMEOUT(races, C52_handles_can_be_guessed_and_are_whole_then, 100)
{
	struct racer racer = { .fd = self->fd };
	long long end = now_ms() + 3000;
	pthread_t thread[4];
	struct rcm_query arg;
	int i, handle[8];

	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, guess, &racer));
	while (now_ms() < end) {
		for (i = 0; i < 8; i++)
			handle[i] =
				resolve_flags(self->fd, 0, NULL, IP4, PORT, 5,
					      RCM_CREATE | RCM_RESOLVE_BOTH);
		for (i = 0; i < 8; i++) {
			if (handle[i] <= 0)
				continue;
			EXPECT_EQ(0, query(self->fd, handle[i], &arg));
			EXPECT_EQ(PS_TCP, arg.out_endpoint.ps);
			EXPECT_LE(0, destroy(self->fd, handle[i]));
		}
	}
	__atomic_store_n(&racer.stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	EXPECT_LT(1000, racer.calls);
}

TEST_F_TIMEOUT(races, C52_unread_requests_go_with_the_file, 100)
{
	int clients = open_rcm(0);
	int i, client;

	ASSERT_LT(0, listener(self->fd, IP4, PORT, 0));
	for (i = 0; i < UNREAD; i++) {
		client = ready_to_connect(clients, IP4, PORT);
		ASSERT_LT(0, client);
		ASSERT_EQ(0, connect_data(clients, client, NULL, 0));
	}
	/* Each request is an identifier, though nobody has read of it. */
	for (i = 0; i < 100 && live_ids() < 2 * UNREAD + 1; i++)
		sleep_ms(100);
	EXPECT_EQ(2 * UNREAD + 1, live_ids());
	close(self->fd);
	for (i = 0; i < UNREAD; i++)
		ASSERT_EQ(EV_REJECTED, next_event(clients, NULL, WAIT));
	EXPECT_EQ(UNREAD, live_ids());
	close(clients);
}

/* Nobody is in the namespace any more but the file. */
TEST_F_TIMEOUT(races, C66_a_namespace_that_everybody_has_left, 100)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int fd, i, handle;

	ASSERT_LE(0, home);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, unshare(CLONE_NEWNET));
		fd = open_rcm(0);
		ASSERT_LE(0, fd);
		handle = listener(fd, "0.0.0.0", PORT, 0);
		ASSERT_LT(0, handle);
		ASSERT_EQ(0, setns(home, CLONE_NEWNET));
		/* Its ports are still its own. */
		EXPECT_EQ(-EADDRNOTAVAIL,
			  bind_text(fd, create_tcp(fd), "0.0.0.0", PORT));
		ASSERT_LT(0, listener(self->fd, "0.0.0.0", PORT + i, 0));
		EXPECT_EQ(RCM_STATE_LISTEN, state_of(fd, handle));
		close(fd);
	}
	EXPECT_EQ(3, live_ids());
	close(home);
}

/* --- groups */

static int count_groups(void)
{
	/* As the kernel prints it: the address backwards */
	FILE *from = popen("grep -c 090101EF /proc/net/igmp", "r");
	int count = -1;

	if (from && fscanf(from, "%d", &count) != 1)
		count = -1;
	if (from)
		pclose(from);
	return count;
}

static int bound_datagram(int fd)
{
	int handle = create(fd, 0, PS_UDP);

	return bind_text(fd, handle, IP4, 0) ?: handle;
}

static struct rcm_join_multicast join_arg(int handle, int number)
{
	return (struct rcm_join_multicast){
		.size = sizeof(struct rcm_join_multicast),
		.handle = handle,
		.number = number,
		.addr = addr(GROUP, 0),
	};
}

/*
 * An argument that cannot be written to. Joining has nothing to write, so it
 * either happens or not; there is no membership that the caller does not know.
 */
TEST_F(races, C54_joining_from_memory_that_cannot_be_written)
{
	struct rcm_join_multicast *arg;
	int handle = bound_datagram(self->fd);
	int i, ret;

	ASSERT_LT(0, handle);
	arg = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)arg);
	for (i = 1; i <= 50; i++) {
		ASSERT_EQ(0, mprotect(arg, 4096, PROT_READ | PROT_WRITE));
		*arg = join_arg(handle, i);
		ASSERT_EQ(0, mprotect(arg, 4096, PROT_READ));
		ret = call(self->fd, RCM_JOIN_MULTICAST, arg);
		EXPECT_EQ(ret ? -ENOENT : 0, leave_group(self->fd, handle, i));
	}
	EXPECT_EQ(0, count_groups());
	munmap(arg, 4096);
}

/* Nor from an argument that cannot be read. */
TEST_F(races, C54_an_argument_that_cannot_be_read_joins_nothing)
{
	int handle = bound_datagram(self->fd);
	char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rcm_join_multicast arg = join_arg(handle, 1);

	ASSERT_LT(0, handle);
	ASSERT_NE(MAP_FAILED, (void *)map);
	ASSERT_EQ(0, mprotect(map + 4096, 4096, PROT_NONE));
	memcpy(map + 4096 - 8, &arg, 8);
	EXPECT_EQ(-EFAULT, call(self->fd, RCM_JOIN_MULTICAST, map + 4096 - 8));
	EXPECT_EQ(-ENOENT, leave_group(self->fd, handle, 1));
	EXPECT_EQ(0, count_groups());
	munmap(map, 8192);
}

static void *read_only(const void *arg, size_t len)
{
	void *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return NULL;
	memcpy(map, arg, len);
	mprotect(map, 4096, PROT_READ);
	return map;
}

/* What has a result does its work and cannot say so; the rest does not mind. */
TEST_F(races, arguments_that_cannot_be_written)
{
	struct rcm_listen listen = { .size = sizeof(listen) };
	struct rcm_migrate move = { .size = sizeof(move) };
	struct rcm_destroy_id end = { .size = sizeof(end) };
	int other = open_rcm(0);

	listen.handle = create_tcp(self->fd);
	ASSERT_LT(0, (int)listen.handle);
	EXPECT_EQ(0, call(self->fd, RCM_LISTEN,
			  read_only(&listen, sizeof(listen))));
	EXPECT_EQ(RCM_STATE_LISTEN, state_of(self->fd, listen.handle));

	move.handle = listen.handle;
	move.fd = other;
	EXPECT_EQ(-EFAULT,
		  call(self->fd, RCM_MIGRATE, read_only(&move, sizeof(move))));
	EXPECT_EQ(-ENOENT, state_of(self->fd, move.handle));
	close(other);

	end.handle = create_tcp(self->fd);
	EXPECT_EQ(-EFAULT,
		  call(self->fd, RCM_DESTROY_ID, read_only(&end, sizeof(end))));
	EXPECT_EQ(-ENOENT, state_of(self->fd, end.handle));
	EXPECT_EQ(0, live_ids());
}

struct members {
	int fd;
	int handle;
	int left;
	int joined;
};

static void *join_and_leave(void *arg)
{
	struct members *members = arg;
	struct rcm_event event;
	int i;

	for (i = 0; i < 100; i++) {
		struct rcm_join_multicast join =
			join_arg(members->handle, 1 + i % 3);

		if (!call(members->fd, RCM_JOIN_MULTICAST, &join))
			__atomic_fetch_add(&members->joined, 1,
					   __ATOMIC_RELAXED);
		if (!leave_group(members->fd, members->handle, 1 + (i + 1) % 3))
			__atomic_fetch_add(&members->left, 1, __ATOMIC_RELAXED);
		get_event(members->fd, &event, RCM_EVENT_DONTWAIT);
	}
	return NULL;
}

TEST_F(races, C55_joins_and_leaves_of_two_threads_are_balanced)
{
	struct members members = { .fd = self->fd };
	struct rcm_join_multicast join;
	pthread_t thread[2];
	int i;

	members.handle = bound_datagram(self->fd);
	ASSERT_LT(0, members.handle);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, join_and_leave,
					    &members));
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	for (i = 1; i <= 3; i++)
		members.left += !leave_group(self->fd, members.handle, i);
	EXPECT_LT(10, members.joined);
	EXPECT_EQ(members.joined, members.left);
	EXPECT_EQ(0, count_groups());
	/* A second time is an error, and no more. */
	EXPECT_EQ(-ENOENT, leave_group(self->fd, members.handle, 1));
	/* Of a connection there are none. */
	i = create_tcp(self->fd);
	ASSERT_EQ(0, bind_text(self->fd, i, IP4, 0));
	join = join_arg(i, 1);
	EXPECT_EQ(-EINVAL, call(self->fd, RCM_JOIN_MULTICAST, &join));
}

TEST_HARNESS_MAIN
