// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * rigs: uml vmdebug
 * suites: check debug
 * timeout: 300 3000
 *
 * Connections of several processes while their RDMA device is removed and
 * added: each ends in an event or an errno, and all memory comes back.
 */
#include "race_test.h"

#include "kselftest_harness.h"

FIXTURE(storm)
{
	struct storm_team team;
};

FIXTURE_SETUP(storm)
{
	ASSERT_TRUE(storm_team_init(&self->team));
}

FIXTURE_TEARDOWN(storm)
{
	EXPECT_TRUE(storm_team_kill(&self->team));
}

/* Until so many were established; false when it does not go on. */
static bool until_established(struct storm *storm, long count)
{
	long long end = now_ms() + 60000;
	long last = -1;

	while (COUNTED(storm->established) < count) {
		if (last != COUNTED(storm->established)) {
			last = COUNTED(storm->established);
			end = now_ms() + 60000;
		}
		if (now_ms() > end)
			return false;
		sleep_ms(5);
	}
	return true;
}

TEST_F_TIMEOUT(storm, C64_connections_while_the_device_comes_and_goes, 2900)
{
	long connections = share(60, 10000), removals = share(4, 50), i;
	unsigned int dice = new_dice(0);
	struct storm *storm = self->team.storm;
	/* Among few connections what others allocate would count. */
	bool count_all = share(0, 1);
	long before = 0, after;
	long long start;

	if (count_all) {
		before = slab_objects("kmalloc");
		ASSERT_LT(0, before);
	}
	start = now_ms();
	storm_team_start(&self->team, 3);
	for (i = 1; i <= removals; i++) {
		ASSERT_TRUE(until_established(
			storm, connections * i / removals -
				       roll(&dice, connections / removals)))
		{
			storm_print(storm);
		}
		storm_print(storm);
		ASSERT_EQ(0, sh("timeout 60 rdma link del x" STORM_LINK));
		sleep_ms(roll(&dice, 30));
		ASSERT_EQ(0, sh("rdma link add x" STORM_LINK
				" type rxe netdev " STORM_LINK));
	}
	EXPECT_TRUE(until_established(storm, connections));
	EXPECT_TRUE(storm_team_end(&self->team, STORM_SERVER));
	printf("# %ld removals, %lld s\n", removals, (now_ms() - start) / 1000);

	EXPECT_LE(connections, storm->established);
	EXPECT_LT(0, storm->removed);
	EXPECT_EQ(0, storm->lost);
	EXPECT_EQ(0, storm->wrong);
	/* The server was told of the end of each connection. */
	EXPECT_EQ(0, storm->served);

	EXPECT_TRUE(nothing_left(10000));
	EXPECT_EQ(0, slab_objects_settle("rcm_id", 0, 20000));
	EXPECT_EQ(0, slab_objects_settle("rcm_uevent", 0, 20000));
	if (!count_all)
		return;
	/* One lost for each tenth connection would be seen. */
	after = slab_objects_settle("kmalloc", before + connections / 10,
				    60000);
	printf("# kmalloc objects: %ld before, %ld after\n", before, after);
	EXPECT_GE(before + connections / 10, after);
}

TEST_HARNESS_MAIN
