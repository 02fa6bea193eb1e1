// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How many requests may be on their way at once.
 *
 * A peer that always takes its time and one that is busy with our requests
 * differ in this: the busy one answers the later, the more of them wait for
 * it.  So it is not the time to an answer that counts, but how much longer it
 * is than the shortest that was seen.
 */
#include <linux/jiffies.h>
#include <linux/limits.h>
#include <linux/minmax.h>

#include "compat.h"
#include "pace_window.h"

/* Before anything is known of the peer. */
#define RCM_WINDOW_START 64

/**
 * rcm_window_init - the window for a peer that nothing is known of
 * @window: window
 * @limits: what it has to keep to
 */
void rcm_window_init(struct rcm_window *window,
		     const struct rcm_window_limits *limits)
{
	*window = (struct rcm_window){
		.size = clamp_t(u32, RCM_WINDOW_START, limits->min,
				limits->max),
		.threshold = U32_MAX,
		.shortest = ULONG_MAX,
	};
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_window_init);

/**
 * rcm_window_size - how many requests may be on their way
 * @window: window
 * @limits: what it has to keep to; may be others than the last time
 */
u32 rcm_window_size(const struct rcm_window *window,
		    const struct rcm_window_limits *limits)
{
	return clamp(window->size, limits->min, limits->max);
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_window_size);

static void rcm_window_grow(struct rcm_window *window,
			    const struct rcm_window_limits *limits)
{
	window->size = rcm_window_size(window, limits);
	if (window->size >= window->threshold &&
	    ++window->answers < window->size)
		return;
	window->answers = 0;
	window->size = min(window->size + 1, limits->max);
}

/*
 * What was sent before the window became smaller says nothing of whether it is
 * small enough now.
 */
static void rcm_window_shrink(struct rcm_window *window,
			      const struct rcm_window_limits *limits,
			      unsigned long sent, unsigned long now, u32 size)
{
	if (window->has_shrunk && time_before(sent, window->shrunk))
		return;
	window->size = max(size, limits->min);
	window->threshold = window->size;
	window->answers = 0;
	window->shrunk = now;
	window->has_shrunk = true;
}

/**
 * rcm_window_answered - the peer answered a request
 * @window: window
 * @limits: what it has to keep to
 * @sent: when the request was sent first, jiffies
 * @now: jiffies
 * @wanted: the window was full: more would have been sent
 */
void rcm_window_answered(struct rcm_window *window,
			 const struct rcm_window_limits *limits,
			 unsigned long sent, unsigned long now, bool wanted)
{
	unsigned long took = now - sent;
	u32 size = rcm_window_size(window, limits);

	window->shortest = min(window->shortest, took);
	if (took - window->shortest > limits->delay)
		rcm_window_shrink(window, limits, sent, now, size - size / 4);
	else if (wanted)
		rcm_window_grow(window, limits);
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_window_answered);

/**
 * rcm_window_lost - the peer did not answer a request
 * @window: window
 * @limits: what it has to keep to
 * @sent: when the request was sent first, jiffies
 * @now: jiffies
 *
 * A consumer that waits no longer than the peer may take proves nothing.
 */
void rcm_window_lost(struct rcm_window *window,
		     const struct rcm_window_limits *limits, unsigned long sent,
		     unsigned long now)
{
	if (now - sent > limits->delay)
		rcm_window_shrink(window, limits, sent, now,
				  rcm_window_size(window, limits) / 2);
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_window_lost);
