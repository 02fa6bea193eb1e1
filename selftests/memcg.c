// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * rigs: vm vmdebug
 * suites: check debug
 * timeout: 120 600
 *
 * Who pays for memory: a listener's control group for the requests that wait
 * for it, though they come in by a kernel thread.
 */
#include <sys/mount.h>
#include <sys/stat.h>

#include "rcm_test.h"

#include "kselftest_harness.h"

#define PORT	 7471
#define REQUESTS 200
#define ROOT	 "/tmp/cgroup"
#define GROUP	 ROOT "/listens"
/* The least that one takes: its identifier alone has more than that. */
#define EACH 1000

/* Bytes of slab that the group pays for; negative errno. */
static long slab(void)
{
	FILE *file = fopen(GROUP "/memory.stat", "r");
	long bytes = -ENOENT;
	char line[256];

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "slab %ld", &bytes) == 1)
			break;
	}
	fclose(file);
	return bytes;
}

/* The kernel adds it up every other second. */
static long slab_at_least(long least)
{
	long long end = now_ms() + 10000;
	long bytes;

	while ((bytes = slab()) < least && now_ms() < end)
		sleep_ms(200);
	return bytes;
}

static long slab_at_most(long most)
{
	long long end = now_ms() + 20000;
	long bytes;

	while ((bytes = slab()) > most && now_ms() < end)
		sleep_ms(200);
	return bytes;
}

FIXTURE(memcg)
{
	int fd;
	int pipe[2];
	pid_t pid;
};

/* In the group; listens until it is killed, and reads nothing. */
static void listen_in_group(int told)
{
	int fd;

	if (write_file(GROUP "/cgroup.procs", "0"))
		_exit(1);
	fd = open_rcm(0);
	if (listener(fd, IP4, PORT, REQUESTS) < 0)
		_exit(2);
	if (write(told, "x", 1) != 1)
		_exit(3);
	for (;;)
		pause();
}

static void end_listener(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

FIXTURE_SETUP(memcg)
{
	char byte;

	mkdir(ROOT, 0700);
	ASSERT_EQ(0, mount("cgroup", ROOT, "cgroup2", 0, NULL));
	ASSERT_EQ(0, write_file(ROOT "/cgroup.subtree_control", "+memory"));
	ASSERT_EQ(0, mkdir(GROUP, 0700));
	ASSERT_EQ(0, pipe(self->pipe));
	self->fd = open_rcm(0);
	ASSERT_LE(0, self->fd);
	self->pid = fork();
	if (!self->pid)
		listen_in_group(self->pipe[1]);
	close(self->pipe[1]);
	ASSERT_EQ(1, read(self->pipe[0], &byte, 1));
}

FIXTURE_TEARDOWN(memcg)
{
	if (self->pid)
		end_listener(self->pid);
	close(self->fd);
	EXPECT_TRUE(nothing_left(10000));
	/* Nothing holds on to the group. */
	EXPECT_EQ(0, rmdir(GROUP));
	EXPECT_EQ(0, umount(ROOT));
}

TEST_F_TIMEOUT(memcg, a_listener_pays_for_requests_that_wait, 100)
{
	long long end = now_ms() + 40000;
	long before, after, most;
	int i, client;

	sleep_ms(3000);
	before = slab();
	ASSERT_LE(0, before);
	for (i = 0; i < REQUESTS; i++) {
		client = ready_to_connect(self->fd, IP4, PORT);
		ASSERT_LT(0, client);
		ASSERT_EQ(0, connect_data(self->fd, client, NULL, 0));
	}
	while (live_ids() < 1 + 2 * REQUESTS && now_ms() < end)
		sleep_ms(100);
	ASSERT_EQ(1 + 2 * REQUESTS, live_ids());

	after = slab_at_least(before + REQUESTS * EACH);
	printf("# %ld bytes of slab before, %ld with %d requests\n", before,
	       after, REQUESTS);
	EXPECT_LE(before + REQUESTS * EACH, after);

	end_listener(self->pid);
	self->pid = 0;
	most = before + REQUESTS * EACH / 10;
	EXPECT_GE(most, slab_at_most(most));
}

TEST_HARNESS_MAIN
