/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How many requests may be on their way at once: a number that follows from
 * how soon they are answered.  Pure: no locks, no allocation, no I/O.
 */
#ifndef RCM_PACE_WINDOW_H
#define RCM_PACE_WINDOW_H

#include <linux/types.h>

/**
 * struct rcm_window_limits - what a window has to keep to
 * @min: requests that are on their way whatever the answers say; at least 1
 * @max: never more than this; at least @min
 * @delay: how much longer than the shortest an answer may take before the peer
 *	is thought to be busy with our requests, jiffies
 */
struct rcm_window_limits {
	u32 min;
	u32 max;
	unsigned long delay;
};

/**
 * struct rcm_window - a window
 * @size: requests that may be on their way; limits may have changed since, so
 *	it is read by rcm_window_size()
 * @threshold: below it each answer makes the window grow by one
 * @answers: since it grew last, above the threshold
 * @shortest: time that the quickest answer took, jiffies
 * @shrunk: when it became smaller last, jiffies; valid when @has_shrunk
 * @has_shrunk: it did
 */
struct rcm_window {
	u32 size;
	u32 threshold;
	u32 answers;
	unsigned long shortest;
	unsigned long shrunk;
	bool has_shrunk;
};

void rcm_window_init(struct rcm_window *window,
		     const struct rcm_window_limits *limits);
u32 rcm_window_size(const struct rcm_window *window,
		    const struct rcm_window_limits *limits);
void rcm_window_answered(struct rcm_window *window,
			 const struct rcm_window_limits *limits,
			 unsigned long sent, unsigned long now, bool wanted);
void rcm_window_lost(struct rcm_window *window,
		     const struct rcm_window_limits *limits, unsigned long sent,
		     unsigned long now);

#endif /* RCM_PACE_WINDOW_H */
