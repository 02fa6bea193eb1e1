// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * rigs: uml vmdebug
 * suites: debug
 * timeout: 600 1800
 *
 * What a host's administrator does to addresses, interfaces and namespaces
 * during storms of connections: each identifier ends in an event or an errno,
 * and afterwards all works again.
 */
#include <sched.h>

#include "race_test.h"

#include "kselftest_harness.h"

#define INSIDE "d5" /* in a namespace of its own */
#define IIP    "10.85.0.1"

FIXTURE(network)
{
	struct storm_team team;
	unsigned int dice;
};

FIXTURE_SETUP(network)
{
	ASSERT_TRUE(storm_team_init(&self->team));
	self->dice = new_dice(0);
}

FIXTURE_TEARDOWN(network)
{
	EXPECT_TRUE(storm_team_kill(&self->team));
}

/* A connection as if nothing had been. */
static bool works(void)
{
	struct storm *storm = shared_memory(sizeof(*storm));
	pid_t server = storm_server(storm, STORM_IP, STORM_PORT + 1);
	bool good = false;
	int fd = open_rcm(0), i;

	/* The address may have come back this moment, the server later. */
	for (i = 0; !good && i < 10; i++) {
		storm_connect(storm, fd, STORM_IP, STORM_PORT + 1);
		good = storm->closed == 1;
		if (!good)
			sleep_ms(100);
	}
	close(fd);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	munmap(storm, sizeof(*storm));
	return good;
}

/*
 * An interface that goes down, or an address that goes, in the middle of a
 * message leaves Soft-RoCE's queue pair for them in error for ever, with the
 * in-tree manager too.
 */
static bool device_again(void)
{
	return !sh("rdma link del x" STORM_LINK " && rdma link add x" STORM_LINK
		   " type rxe netdev " STORM_LINK);
}

/* The clients have to come to their end; the server may wait for the dead. */
#define END_WELL(repaired)                                               \
	do {                                                             \
		struct storm *storm = self->team.storm;                  \
                                                                         \
		EXPECT_TRUE(storm_team_end(&self->team, STORM_CLIENTS)); \
		EXPECT_LT(0, storm->established);                        \
		EXPECT_EQ(0, storm->lost);                               \
		EXPECT_EQ(0, storm->wrong);                              \
		EXPECT_TRUE(repaired);                                   \
		EXPECT_TRUE(works());                                    \
	} while (0)

TEST_F_TIMEOUT(network, C18_the_interface_goes_down_and_up, 300)
{
	long long stop = now_ms() + share(3000, 40000);
	int rounds;

	storm_team_start(&self->team, 2);
	for (rounds = 0; go_on(rounds, 3, stop); rounds++) {
		usleep(roll(&self->dice, 400000));
		ASSERT_EQ(0, sh("ip link set " STORM_LINK " down"));
		usleep(roll(&self->dice, 100000));
		ASSERT_EQ(0, sh("ip link set " STORM_LINK " up"));
	}
	END_WELL(device_again());
}

TEST_F_TIMEOUT(network, C26_the_address_goes_and_comes, 300)
{
	long long stop = now_ms() + share(3000, 40000);
	int rounds;

	storm_team_start(&self->team, 2);
	for (rounds = 0; go_on(rounds, 3, stop); rounds++) {
		usleep(roll(&self->dice, 400000));
		ASSERT_EQ(0,
			  sh("ip address del " STORM_IP "/24 dev " STORM_LINK));
		usleep(roll(&self->dice, 100000));
		ASSERT_EQ(0,
			  sh("ip address add " STORM_IP "/24 dev " STORM_LINK));
	}
	END_WELL(device_again());
}

static bool device_is_gone(const char *name, int timeout_ms)
{
	long long end = now_ms() + timeout_ms;

	while (!sh("rdma link show %s/1 >/dev/null 2>&1", name)) {
		if (now_ms() > end)
			return false;
		sleep_ms(20);
	}
	return true;
}

/* A process alone in a namespace. */
static pid_t empty_namespace(void)
{
	int pair[2];
	pid_t pid;
	char byte;

	if (pipe(pair))
		return -1;
	pid = fork();
	if (!pid) {
		if (unshare(CLONE_NEWNET) || write(pair[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(1);
	}
	close(pair[1]);
	if (read(pair[0], &byte, 1) != 1)
		pid = -1;
	close(pair[0]);
	return pid;
}

/* The RDMA device stays behind without interface, and goes. */
TEST_F_TIMEOUT(network, C66_the_interface_moves_to_another_namespace, 300)
{
	long long stop = now_ms() + share(3000, 40000);
	pid_t away;
	int rounds;

	storm_team_start(&self->team, 2);
	for (rounds = 0; go_on(rounds, 3, stop); rounds++) {
		usleep(roll(&self->dice, 400000));
		away = empty_namespace();
		ASSERT_LT(0, away);
		ASSERT_EQ(0, sh("ip link set " STORM_LINK " netns %d", away));
		kill(away, SIGKILL);
		ASSERT_EQ(away, waitpid(away, NULL, 0));
		ASSERT_TRUE(device_is_gone("x" STORM_LINK, 20000));
		ASSERT_EQ(0, add_link(STORM_LINK, STORM_IP "/24"));
	}
	TH_LOG("%d times", rounds);
	END_WELL(true);
}

/* Both sides, in a namespace that ends when they are killed. */
static pid_t start_inside(struct storm *storm)
{
	pid_t pid = fork();

	setpgid(pid, pid);
	if (pid)
		return pid;
	if (unshare(CLONE_NEWNET) ||
	    sh("ip link set lo up && ip link add " INSIDE
	       " type dummy && ip address add " IIP "/24 dev " INSIDE
	       " && ip link set " INSIDE " up && rdma link add x" INSIDE
	       " type rxe netdev " INSIDE))
		_exit(1);
	storm_server(storm, "0.0.0.0", STORM_PORT);
	storm_clients(storm, 2, IIP, STORM_PORT);
	pause();
	_exit(1);
}

TEST_F_TIMEOUT(network, C66_a_namespace_ends_with_all_that_is_in_it, 300)
{
	long long stop = now_ms() + share(3000, 40000);
	struct storm *storm = shared_memory(sizeof(*storm));
	int rounds, status;
	pid_t inside;
	long begun;

	ASSERT_NE(NULL, storm);
	storm_team_start(&self->team, 2);
	for (rounds = 0; go_on(rounds, 3, stop); rounds++) {
		begun = COUNTED(storm->begun);
		inside = start_inside(storm);
		while (COUNTED(storm->begun) == begun &&
		       !waitpid(inside, NULL, WNOHANG))
			sleep_ms(10);
		usleep(roll(&self->dice, 300000));
		ASSERT_EQ(0, kill(-inside, SIGKILL));
		ASSERT_EQ(inside, waitpid(inside, &status, 0));
		ASSERT_TRUE(WIFSIGNALED(status));
		ASSERT_TRUE(device_is_gone("x" INSIDE, 20000));
	}
	TH_LOG("%d namespaces", rounds);
	storm_print(storm);
	EXPECT_EQ(0, storm->wrong);
	END_WELL(true);
}

TEST_HARNESS_MAIN
