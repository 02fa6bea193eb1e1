// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The window of requests that may be on their way, against peers of several
 * kinds. Times are in jiffies, and start where they are about to wrap.
 */
#include <kunit/test.h>

#include "../pace_window.h"
#include "tests.h"

#define START ((unsigned long)-100)

static const struct rcm_window_limits limits = {
	.min = 8,
	.max = 200,
	.delay = 50,
};

/* Answers of requests that were sent just now, each after @took. */
static void answer(struct rcm_window *window, unsigned long *now,
		   unsigned long took, unsigned int count)
{
	while (count--) {
		rcm_window_answered(window, &limits, *now, *now + took, true);
		*now += took;
	}
}

static void window_starts_within_its_limits(struct kunit *test)
{
	static const struct rcm_window_limits narrow = { .min = 1, .max = 3 };
	static const struct rcm_window_limits wide = { .min = 100, .max = 300 };
	struct rcm_window window;

	rcm_window_init(&window, &limits);
	KUNIT_EXPECT_EQ(test, rcm_window_size(&window, &limits), 64);
	rcm_window_init(&window, &narrow);
	KUNIT_EXPECT_EQ(test, rcm_window_size(&window, &narrow), 3);
	rcm_window_init(&window, &wide);
	KUNIT_EXPECT_EQ(test, rcm_window_size(&window, &wide), 100);
	/* Limits may change while it is in use. */
	KUNIT_EXPECT_EQ(test, rcm_window_size(&window, &narrow), 3);
}

static void window_grows_with_each_answer(struct kunit *test)
{
	unsigned long now = START;
	struct rcm_window window;

	rcm_window_init(&window, &limits);
	answer(&window, &now, 2, 36);
	KUNIT_EXPECT_EQ(test, rcm_window_size(&window, &limits), 100);
	answer(&window, &now, 2, 1000);
	KUNIT_EXPECT_EQ(test, rcm_window_size(&window, &limits), limits.max);
}

static void window_does_not_grow_when_nobody_waits(struct kunit *test)
{
	struct rcm_window window;
	unsigned int i;

	rcm_window_init(&window, &limits);
	for (i = 0; i < 100; i++)
		rcm_window_answered(&window, &limits, START, START + 1, false);
	KUNIT_EXPECT_EQ(test, rcm_window_size(&window, &limits), 64);
}

/* A peer that thinks for long, but answers all at once. */
static void window_of_a_slow_peer_grows(struct kunit *test)
{
	unsigned long now = START;
	struct rcm_window window;

	rcm_window_init(&window, &limits);
	answer(&window, &now, 1000, 36);
	KUNIT_EXPECT_EQ(test, rcm_window_size(&window, &limits), 100);
	answer(&window, &now, 1050, 1);
	KUNIT_EXPECT_EQ(test, rcm_window_size(&window, &limits), 101);
}

/* One that needs the longer the more it is asked. */
static void window_of_a_busy_peer_shrinks(struct kunit *test)
{
	unsigned long now = START;
	struct rcm_window window;

	rcm_window_init(&window, &limits);
	answer(&window, &now, 2, 1);
	answer(&window, &now, 53, 1);
	KUNIT_EXPECT_EQ(test, rcm_window_size(&window, &limits), 49);
	answer(&window, &now, 53, 1);
	KUNIT_EXPECT_EQ(test, rcm_window_size(&window, &limits), 37);
	answer(&window, &now, 53, 100);
	KUNIT_EXPECT_EQ(test, rcm_window_size(&window, &limits), limits.min);
}

/* All that was sent into too large a window comes late: that is one reason. */
static void window_shrinks_once_for_what_was_sent_before(struct kunit *test)
{
	struct rcm_window window;
	unsigned int i;

	rcm_window_init(&window, &limits);
	rcm_window_answered(&window, &limits, START, START + 2, true);
	for (i = 0; i < 64; i++)
		rcm_window_answered(&window, &limits, START + 1, START + 60 + i,
				    true);
	KUNIT_EXPECT_EQ(test, rcm_window_size(&window, &limits), 49);
}

/* What was too much once is come near to slowly. */
static void window_grows_slowly_where_it_shrank(struct kunit *test)
{
	unsigned long now = START;
	struct rcm_window window;

	rcm_window_init(&window, &limits);
	answer(&window, &now, 2, 1);
	answer(&window, &now, 53, 1);
	answer(&window, &now, 2, 48);
	KUNIT_EXPECT_EQ(test, rcm_window_size(&window, &limits), 49);
	answer(&window, &now, 2, 1);
	KUNIT_EXPECT_EQ(test, rcm_window_size(&window, &limits), 50);
}

static void window_of_a_silent_peer_is_halved(struct kunit *test)
{
	struct rcm_window window;

	rcm_window_init(&window, &limits);
	/* The consumer did not wait for long. */
	rcm_window_lost(&window, &limits, START, START + 50);
	KUNIT_EXPECT_EQ(test, rcm_window_size(&window, &limits), 64);
	rcm_window_lost(&window, &limits, START, START + 51);
	KUNIT_EXPECT_EQ(test, rcm_window_size(&window, &limits), 32);
	rcm_window_lost(&window, &limits, START, START + 52);
	KUNIT_EXPECT_EQ(test, rcm_window_size(&window, &limits), 32);
	rcm_window_lost(&window, &limits, START + 51, START + 151);
	rcm_window_lost(&window, &limits, START + 151, START + 251);
	rcm_window_lost(&window, &limits, START + 251, START + 351);
	KUNIT_EXPECT_EQ(test, rcm_window_size(&window, &limits), limits.min);
}

static struct kunit_case pace_cases[] = {
	KUNIT_CASE(window_starts_within_its_limits),
	KUNIT_CASE(window_grows_with_each_answer),
	KUNIT_CASE(window_does_not_grow_when_nobody_waits),
	KUNIT_CASE(window_of_a_slow_peer_grows),
	KUNIT_CASE(window_of_a_busy_peer_shrinks),
	KUNIT_CASE(window_shrinks_once_for_what_was_sent_before),
	KUNIT_CASE(window_grows_slowly_where_it_shrank),
	KUNIT_CASE(window_of_a_silent_peer_is_halved),
	{}
};

struct kunit_suite rcm_pace_suite = {
	.name = "rcm-pace",
	.test_cases = pace_cases,
};
