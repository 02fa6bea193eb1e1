// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * rigs: uml vmdebug
 * suites: check debug
 * timeout: 300 900
 *
 * Processes of several threads are killed at any moment, servers and clients,
 * while others go on; and files are closed under calls that wait. Nothing is
 * left.
 */
#include "race_test.h"

#include "kselftest_harness.h"

#define PORT	7471
#define CLIENTS 3
#define WAIT	30000

FIXTURE(killed)
{
	struct storm *storm;
};

FIXTURE_SETUP(killed)
{
	self->storm = shared_memory(sizeof(*self->storm));
	ASSERT_NE(NULL, self->storm);
}

FIXTURE_TEARDOWN(killed)
{
	EXPECT_TRUE(nothing_left(10000));
}

static pid_t start(struct storm *storm, int number)
{
	return number < CLIENTS ? storm_clients(storm, 3, IP4, PORT) :
				  storm_server(storm, "0.0.0.0", PORT);
}

TEST_F_TIMEOUT(killed, C64_processes_of_a_storm_leave_nothing, 600)
{
	unsigned int dice = new_dice(0);
	long long end = now_ms() + share(6000, 180000);
	pid_t pid[CLIENTS + 1];
	long kills = 0;
	int i;

	for (i = 0; i <= CLIENTS; i++)
		pid[i] = start(self->storm, i);
	while (go_on(kills, 20, end)) {
		usleep(roll(&dice, 100000));
		i = roll(&dice, CLIENTS + 1);
		ASSERT_EQ(0, kill(pid[i], SIGKILL));
		ASSERT_EQ(pid[i], waitpid(pid[i], NULL, 0));
		kills++;
		/* Now and then all of them: then nothing may be left at once. */
		if (!roll(&dice, 16)) {
			for (i = 0; i <= CLIENTS; i++)
				kill(pid[i], SIGKILL);
			while (wait(NULL) > 0)
				;
			ASSERT_TRUE(nothing_left(10000));
			for (i = 0; i <= CLIENTS; i++)
				pid[i] = start(self->storm, i);
		} else {
			pid[i] = start(self->storm, i);
		}
	}
	for (i = 0; i <= CLIENTS; i++)
		kill(pid[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	storm_print(self->storm);
	TH_LOG("%ld kills", kills);
	EXPECT_LT(0, self->storm->established);
	EXPECT_EQ(0, self->storm->lost);
	EXPECT_EQ(0, self->storm->wrong);
}

/* --- closing */

struct waiter {
	int fd;
	int ready;
	int ret;
};

static void *wait_for_event(void *arg)
{
	struct waiter *waiter = arg;

	SET(waiter->ready, 1);
	waiter->ret = get_event(waiter->fd, &(struct rcm_event){}, 0);
	return NULL;
}

static void *wait_for_neighbour(void *arg)
{
	struct waiter *waiter = arg;
	struct rcm_translate translate = {
		.size = sizeof(translate),
		.timeout_ms = 600000,
		.dst = addr("10.81.0.9", 7),
	};

	SET(waiter->ready, 1);
	waiter->ret = call(waiter->fd, RCM_TRANSLATE, &translate);
	return NULL;
}

/*
 * The number is closed while other threads wait in calls on the file: it goes
 * with the last of them, when the process dies.
 */
TEST_F_TIMEOUT(killed, C37_a_file_is_closed_under_calls_that_wait, 300)
{
	unsigned int dice = new_dice(1);
	int rounds = 0, status;
	long long end;

	ASSERT_EQ(0, add_link("d1", "10.81.0.1/24"));
	end = now_ms() + share(1500, 20000);
	while (go_on(rounds, 6, end)) {
		pid_t child = fork();

		ASSERT_LE(0, child);
		if (!child) {
			struct waiter waiter[4] = {};
			pthread_t thread;
			int i, fd = open_rcm(0);

			listener(fd, IP4, PORT, 0);
			for (i = 0; i < 4; i++) {
				waiter[i].fd = fd;
				pthread_create(&thread, NULL,
					       i & 1 ? wait_for_neighbour :
						       wait_for_event,
					       &waiter[i]);
			}
			for (i = 0; i < 4; i++) {
				while (!IS_SET(waiter[i].ready))
					sched_yield();
			}
			short_while(&dice);
			close(fd);
			short_while(&dice);
			/* The identifier lives as long as the calls do. */
			raise(SIGKILL);
		}
		roll(&dice, 2);
		ASSERT_EQ(child, waitpid(child, &status, 0));
		ASSERT_TRUE(WIFSIGNALED(status));
		ASSERT_TRUE(nothing_left(10000));
		rounds++;
	}
	TH_LOG("%d rounds", rounds);
	del_link("d1");
}

TEST_HARNESS_MAIN
