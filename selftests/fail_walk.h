/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Whole flows, both sides, again and again with the n-th of something failing,
 * for n from 1 on until nothing is left to fail. What that is, the program
 * that includes this says: failwalk.c allocations, failcalls.c calls. It
 * defines a struct way before it calls walk_all(). Nothing may be left.
 */
#ifndef FAIL_WALK_H
#define FAIL_WALK_H

#include "fail_flows.h"

/* One run; whether something failed in it. */
static bool run(const struct flow *flow, struct world *w, int n)
{
	bool hit;
	int i;

	memset(w, 0, sizeof(*w));
	for (i = 0; i < FILES; i++) {
		w->fd[i] = open_rcm(0);
		if (w->fd[i] < 0)
			ksft_exit_fail_msg("open: %s\n", strerror(-w->fd[i]));
	}
	if (!way.arm(n))
		wrong(w, "what is to fail could not be chosen", 0);
	flow->run(w);
	hit = way.was_hit();
	/* What closing has done is part of it. */
	for (i = 0; i < FILES; i++)
		close(w->fd[i]);
	if (!nothing_left(5000))
		wrong(w, "identifiers or ports are left", 0);
	if (!way.idle())
		wrong(w, "a thread hangs", 0);
	hit |= way.was_hit();
	way.disarm();
	if (!hit && (w->told || w->ended))
		wrong(w, w->ended ?: "a call failed without cause", 0);
	return hit;
}

/* What became of each failure. */
struct sum {
	int told;
	int ended;
	int unseen;
};

static void count(struct sum *sum, const struct world *w, const char *flow,
		  int n)
{
	const char *end = w->ended ?: w->told ? "a call said so" : "neither";

	if (w->ended)
		sum->ended++;
	else if (w->told)
		sum->told++;
	else
		sum->unseen++;
	if (*way.what())
		ksft_print_msg("%s %d: %s: %s\n", flow, n, way.what(), end);
}

static bool walk(const struct flow *flow)
{
	long long start = now_ms();
	struct sum sum = {};
	bool ok = true, hit;
	struct world w;
	int n;

	for (n = 1; n < MAX_N; n++) {
		hit = run(flow, &w, n);
		if (w.wrong[0]) {
			ksft_print_msg("%s: n %d: %s %s\n", flow->name, n,
				       w.wrong, way.what());
			ok = false;
		}
		if (!hit)
			break;
		if (!way.fits(&w, flow->name)) {
			ksft_print_msg("%s: n %d: goes unnoticed: %s\n",
				       flow->name, n, way.what());
			ok = false;
		}
		count(&sum, &w, flow->name, n);
	}
	ksft_print_msg(
		"%s: %d injection points: a call said so %d, an event %d, neither %d; %lld ms\n",
		flow->name, n - 1, sum.told, sum.ended, sum.unseen,
		now_ms() - start);
	return ok && n < MAX_N;
}

static bool wanted(const struct flow *flow, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], flow->name))
			return true;
	}
	if (argc > 1)
		return false;
	if (suite_is_debug())
		return way.quick || flow->share != ONLY_QUICK;
	return flow->share <= (way.quick ? ONLY_QUICK : ALWAYS);
}

/* The flows that are asked for, each a test. The caller has its own link. */
static int plan_all(int argc, char **argv)
{
	unsigned int i, plan = 0;

	for (i = 0; i < sizeof(flows) / sizeof(flows[0]); i++)
		plan += wanted(&flows[i], argc, argv);
	return plan;
}

static bool siw_there;

/* Who listens on all devices does not have to know siw, too. */
static bool walk_iwarp(const struct flow *flow)
{
	bool ok = !add_siw() && !open_verbs() && walk(flow);

	close_verbs();
	del_siw();
	return ok;
}

static void walk_one(const struct flow *flow)
{
	bool iwarp = flow->run == flow_iwarp;

	if (iwarp && !siw_there)
		ksft_test_result_skip("%s: kernel without siw\n", flow->name);
	else
		ksft_test_result(iwarp ? walk_iwarp(flow) : walk(flow), "%s\n",
				 flow->name);
}

static void walk_all(int argc, char **argv)
{
	unsigned int i;

	siw_there = !sh("modprobe -q siw");
	if (add_link("fw0", "10.9.9.1/24"))
		ksft_exit_fail_msg("no RDMA device\n");
	sh("ip address add fd09::1/64 dev fw0 nodad");
	if (!wait_for_address("fd09::1"))
		ksft_exit_fail_msg("no IPv6\n");
	for (i = 0; i < sizeof(flows) / sizeof(flows[0]); i++) {
		if (wanted(&flows[i], argc, argv))
			walk_one(&flows[i]);
		else
			ksft_print_msg("%s: not asked for\n", flows[i].name);
	}
	del_link("fw0");
}

/*
 * A reference on the rig's device that is left keeps it from going, and one on
 * a GID the kernel's log tells of.
 */
static bool device_goes(void)
{
	return !sh("rdma link del rxe0 && rdma link add rxe0 type rxe netdev d0") &&
	       wait_for_address(IP4);
}

#endif /* FAIL_WALK_H */
