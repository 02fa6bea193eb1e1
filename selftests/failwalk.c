// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * rigs: uml
 * suites: check debug
 * timeout: 900
 *
 * Whole flows, both sides, again and again with the n-th allocation failing
 * that rcm.ko makes itself or has made (by ib_cm, ib_core, the IP stack),
 * whichever thread that is in: ours, a workqueue's, one of "rdma link add". A
 * call that fails says so and can be made again; what fails later ends in an
 * event; nothing is left. failnth.c looks at single commands more closely.
 *
 * Arguments: names of flows. Otherwise all; in make check not those that are
 * much like another and take their time.
 */
#include "fail_range.h"
#include "fail_walk.h"

#define FAILSLAB FAULTS "failslab/"

/* --- which allocation fails */

static void set_failslab(const char *name, unsigned long value)
{
	if (set_fault("failslab", name, value))
		ksft_exit_fail_msg("cannot set %s of failslab\n", name);
}

static bool was_hit(void)
{
	char text[24] = {};
	int fd = open(FAILSLAB "times", O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		ksft_exit_fail_msg("cannot read " FAILSLAB "times\n");
	close(fd);
	return atoi(text) == 0;
}

/*
 * Allocations with a function of rcm.ko on the stack, but for those that
 * kmemleak makes for each of them.
 */
static bool set_range(void)
{
	unsigned long low, high;

	if (!find_text("[rcm]\n", &low, &high))
		return false;
	if (!set_fault_range("failslab", "require", low, high))
		return false;
	if (find_text("__alloc_object", &low, &high) &&
	    !set_fault_range("failslab", "reject", low, high))
		return false;
	set_failslab("stacktrace-depth", 32);
	write_file(FAILSLAB "task-filter", "N");
	write_file(FAILSLAB "ignore-gfp-wait", "N");
	set_failslab("verbose", 0);
	return true;
}

/*
 * With an interval of n each n-th allocation fails, counted from nobody knows
 * when. So allocations are made until one fails, and the next one to fail is
 * the n-th after that. (While times is 0 none is counted.)
 */
static bool arm(int n)
{
	int fd[MAX_N], opened, i;
	bool ok = n == 1;

	set_failslab("interval", n);
	set_failslab("times", 1);
	set_failslab("probability", 100);
	for (opened = 0; !ok && opened < n; opened++) {
		fd[opened] = open_rcm(0);
		ok = was_hit();
	}
	for (i = 0; i < opened; i++) {
		if (fd[i] >= 0)
			close(fd[i]);
	}
	set_failslab("times", 1);
	return ok;
}

static void disarm(void)
{
	set_failslab("probability", 0);
}

/* It says which function failed nowhere. */
static const char *what_failed(void)
{
	return "";
}

static bool want_of_memory(int ret)
{
	return ret == -ENOMEM || ret == -ENOBUFS;
}

/* The kernel under test tells of threads that hang, in its log. */
static bool idle(void)
{
	return true;
}

/* Much of what is allocated is for what can do without. */
static bool fits(const struct world *w, const char *flow)
{
	(void)w;
	(void)flow;
	return true;
}

static const struct way way = {
	.arm = arm,
	.was_hit = was_hit,
	.disarm = disarm,
	.explains = want_of_memory,
	.what = what_failed,
	.idle = idle,
	.fits = fits,
};

int main(int argc, char **argv)
{
	ksft_print_header();
	if (access(FAILSLAB "require-start", W_OK))
		ksft_exit_skip(
			"kernel without CONFIG_FAILSLAB, CONFIG_FAULT_INJECTION_STACKTRACE_FILTER\n");
	if (!set_range())
		ksft_exit_fail_msg("failslab cannot be told where rcm.ko is\n");
	ksft_set_plan(plan_all(argc, argv) + 1);
	walk_all(argc, argv);
	ksft_test_result(device_goes(), "device goes\n");
	ksft_finished();
}
