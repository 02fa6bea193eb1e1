// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * rigs: vm vmdebug
 * suites: check debug
 * timeout: 200 900
 *
 * Who pays for memory: a listener's control group for the requests that wait
 * for it, though they come in by a kernel thread. None of its processes is
 * killed for them.
 */
#include <limits.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "rcm_test.h"

#include "kselftest_harness.h"

#define PORT	 7471
#define REQUESTS 200
#define MANY	 400
#define ROOT	 "/tmp/cgroup"
#define GROUP	 ROOT "/listens"
/* The least that one takes: its identifier alone has more than that. */
#define EACH 1000
/* Not enough for MANY. */
#define ROOM 500000

/* A figure of the group, in a file of "NAME FIGURE"; negative errno. */
static long figure(const char *path, const char *name)
{
	FILE *file = fopen(path, "r");
	char line[256], word[200];
	long value = -ENOENT;

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%199s %ld", word, &value) == 2 &&
		    !strcmp(word, name))
			break;
		value = -ENOENT;
	}
	fclose(file);
	return value;
}

/* Bytes of slab that the group pays for. */
static long slab(void)
{
	return figure(GROUP "/memory.stat", "slab");
}

/* What it uses, and @room more. */
static int limit_memory(long room)
{
	FILE *file = fopen(GROUP "/memory.current", "r");
	long used = -1;
	char text[24];

	if (file && fscanf(file, "%ld", &used) != 1)
		used = -1;
	if (file)
		fclose(file);
	if (used < 0)
		return -ENODATA;
	snprintf(text, sizeof(text), "%ld", used + room);
	return write_file(GROUP "/memory.max", text);
}

/*
 * The slab's bytes once they are between these two, or what they are in the
 * end. The kernel adds them up every other second.
 */
static long slab_between(long least, long most)
{
	long long end = now_ms() + 20000;
	long bytes;

	while (((bytes = slab()) < least || bytes > most) && now_ms() < end)
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
	if (listener(fd, IP4, PORT, 0) < 0)
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

/* Connects so often; whether each call did what it has to. */
static bool ask(int fd, int count)
{
	int i, client;

	for (i = 0; i < count; i++) {
		client = ready_to_connect(fd, IP4, PORT);
		if (client < 0 || connect_data(fd, client, NULL, 0))
			return false;
	}
	return true;
}

/* Clients, listener, and as many requests as clients, or less; how many. */
static int wait_for_ids(int count, int timeout_ms)
{
	long long end = now_ms() + timeout_ms;

	while (live_ids() < count && now_ms() < end)
		sleep_ms(100);
	return live_ids();
}

TEST_F_TIMEOUT(memcg, a_listener_pays_for_requests_that_wait, 100)
{
	long before, after, most;

	sleep_ms(3000);
	before = slab();
	ASSERT_LE(0, before);
	ASSERT_TRUE(ask(self->fd, REQUESTS));
	ASSERT_EQ(1 + 2 * REQUESTS, wait_for_ids(1 + 2 * REQUESTS, 40000));

	after = slab_between(before + REQUESTS * EACH, LONG_MAX);
	printf("# %ld bytes of slab before, %ld with %d requests\n", before,
	       after, REQUESTS);
	EXPECT_LE(before + REQUESTS * EACH, after);

	end_listener(self->pid);
	self->pid = 0;
	most = before + REQUESTS * EACH / 10;
	EXPECT_GE(most, slab_between(0, most));
}

TEST_F_TIMEOUT(memcg, a_full_group_forgets_requests_and_loses_nobody, 400)
{
	const int all = 1 + 2 * MANY;
	int ids;

	ASSERT_EQ(0, limit_memory(ROOM));
	ASSERT_TRUE(ask(self->fd, MANY));
	ids = wait_for_ids(all, 8000);
	printf("# %d of %d requests\n", ids - 1 - MANY, MANY);
	EXPECT_LT(1 + MANY, ids);
	EXPECT_GT(all, ids);
	EXPECT_EQ(0, figure(GROUP "/memory.events", "oom_kill"));
	EXPECT_EQ(0, waitpid(self->pid, NULL, WNOHANG));

	/* They come again. */
	ASSERT_EQ(0, write_file(GROUP "/memory.max", "max"));
	EXPECT_EQ(all, wait_for_ids(all, 60000));
}

TEST_HARNESS_MAIN
