// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * rigs: uml vmdebug
 * suites: check debug
 * timeout: 300 900
 *
 * The module goes as soon as its last user has gone, whatever that left
 * unfinished, and comes back (C48).
 */
#include "module.h"
#include "race_test.h"

#include "kselftest_harness.h"

#define LINK "d1"
#define LIP  "10.81.0.1"
#define DEAD "10.81.0.9"
#define PORT 7471

/* As soon as that is possible at all. */
static int unload_at_once(void)
{
	long long end = now_ms() + 20000;
	int ret;

	while ((ret = unload_module("rcm")) == -EAGAIN || ret == -EWOULDBLOCK) {
		if (now_ms() > end)
			break;
	}
	return ret;
}

/* Everything that may be under way, most of it for long. */
static void begin_everything(void)
{
	int fd = open_rcm(0), i, handle;

	for (i = 0; i < 4; i++) {
		resolve_flags(fd, 0, NULL, DEAD, PORT, i * 2, RCM_CREATE);
		handle = ready_to_connect(fd, IP4_NOBODY, PORT);
		set_connect_timeout(fd, handle, 1 + i * 10);
		connect_data(fd, handle, NULL, 0);
		resolve_flags(fd, 0, NULL, IP4, PORT, 100,
			      RCM_CREATE | RCM_RESOLVE_BOTH);
		listener(fd, i & 1 ? IP4 : "0.0.0.0", PORT + 10 + i, 0);
	}
	handle = create(fd, 0, PS_UDP);
	bind_text(fd, handle, IP4, 0);
	join_group(fd, handle, "239.1.1.9", 1);
	/* The file is left open. */
}

static pid_t user(struct storm *storm, int number)
{
	pid_t pid;

	if (number < 2)
		return storm_clients(storm, 2, IP4, PORT);
	if (number == 2)
		return storm_server(storm, "0.0.0.0", PORT);
	pid = fork();
	if (pid)
		return pid;
	begin_everything();
	pause();
	_exit(0);
}

static pid_t remove_device(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	_exit(sh("rdma link del x" LINK));
}

FIXTURE(unload)
{
	struct storm *storm;
};

FIXTURE_SETUP(unload)
{
	self->storm = shared_memory(sizeof(*self->storm));
	ASSERT_NE(NULL, self->storm);
	ASSERT_EQ(0, add_link(LINK, LIP "/24"));
}

FIXTURE_TEARDOWN(unload)
{
	/* Those that come after want it. */
	load_rcm();
	del_link(LINK);
}

TEST_F_TIMEOUT(unload, C48_as_soon_as_the_last_user_is_gone, 600)
{
	long long end = now_ms() + share(6000, 120000);
	unsigned int dice = new_dice(0);
	pid_t pid[4], device;
	int rounds, i, status;

	/* It is there to begin with. */
	for (rounds = 0; go_on(rounds, 6, end); rounds++) {
		if (rounds)
			ASSERT_EQ(0, load_rcm());
		for (i = 0; i < 4; i++)
			pid[i] = user(self->storm, i);
		usleep(roll(&dice, 200000));
		EXPECT_EQ(-EAGAIN, unload_module("rcm"));
		/* Now and then a device goes at the same time. */
		device = roll(&dice, 3) ? 0 : remove_device();
		for (i = 0; i < 4; i++)
			kill(pid[i], SIGKILL);
		ASSERT_EQ(0, unload_at_once());
		for (i = 0; i < 4; i++)
			waitpid(pid[i], NULL, 0);
		if (device) {
			ASSERT_EQ(device, waitpid(device, &status, 0));
			EXPECT_EQ(0, status);
			ASSERT_EQ(0, sh("rdma link add x" LINK
					" type rxe netdev " LINK));
		}
	}
	ASSERT_EQ(0, load_rcm());
	TH_LOG("%d rounds", rounds);
	storm_print(self->storm);
	EXPECT_LT(0, self->storm->established);
	EXPECT_EQ(0, self->storm->wrong);
	EXPECT_TRUE(nothing_left(10000));
}

TEST_HARNESS_MAIN
