// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The state machine, against rules that are written down state by state.
 */
#include <kunit/test.h>
#include <linux/bitops.h>
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/string.h>

#include "../state.h"
#include "tests.h"

/*
 * What can happen in each state, each in the form operation>NEXT_STATE.
 * remove and destroy are left out: see expected().
 */
static const struct {
	const char *state;
	const char *rules[7];
} rules[] = {
	{ "IDLE", { "bind>BOUND", "req_rcvd>REQ_RCVD" } },
	{ "BOUND",
	  { "bind_fail>IDLE", "resolve_addr>ADDR_QUERY", "listen>LISTEN" } },
	{ "ADDR_QUERY", { "addr_ok>ADDR_RESOLVED", "addr_fail>BOUND" } },
	{ "ADDR_RESOLVED", { "resolve_route>ROUTE_QUERY" } },
	{ "ROUTE_QUERY",
	  { "route_ok>ROUTE_RESOLVED", "route_fail>ADDR_RESOLVED" } },
	{ "ROUTE_RESOLVED", { "connect>REQ_SENT" } },
	{ "LISTEN", { "listen_fail>BOUND" } },
	{ "REQ_SENT",
	  { "connect_fail>ROUTE_RESOLVED", "rep_rcvd>REP_RCVD",
	    "connected>ESTABLISHED", "rej_rcvd>FAILED", "no_answer>FAILED",
	    "disconnect>REQ_SENT" } },
	{ "REP_RCVD",
	  { "establish>ESTABLISHED", "reject>FAILED", "rej_rcvd>FAILED",
	    "dreq_rcvd>DISCONNECTED", "disconnect>REP_RCVD" } },
	{ "REQ_RCVD",
	  { "accept>REP_SENT", "reject>FAILED", "rej_rcvd>FAILED",
	    "disconnect>REQ_RCVD" } },
	{ "REP_SENT",
	  { "rtu_rcvd>ESTABLISHED", "accept_fail>FAILED", "rej_rcvd>FAILED",
	    "no_answer>FAILED", "dreq_rcvd>DISCONNECTED",
	    "disconnect>REP_SENT" } },
	{ "ESTABLISHED",
	  { "disconnect>CLOSING", "dreq_rcvd>DISCONNECTED",
	    "drep_rcvd>DISCONNECTED", "dreq_no_answer>DISCONNECTED",
	    "rej_rcvd>FAILED" } },
	{ "CLOSING",
	  { "drep_rcvd>DISCONNECTED", "dreq_rcvd>DISCONNECTED",
	    "dreq_no_answer>DISCONNECTED", "disconnect>CLOSING" } },
	{ "DISCONNECTED",
	  { "timewait_exit>CLOSED", "disconnect>DISCONNECTED" } },
	{ "CLOSED", { "disconnect>CLOSED" } },
	{ "FAILED", { "disconnect>FAILED" } },
	{ "REMOVED" },
	{ "DESTROYING" },
};

/* What a consumer asks for, as opposed to what happens to an identifier. */
static const char *const consumer_ops[] = {
	"bind",	  "resolve_addr", "resolve_route", "listen",	 "connect",
	"accept", "establish",	  "reject",	   "disconnect", "destroy",
};

static bool is_consumer_op(const char *op)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(consumer_ops); i++)
		if (!strcmp(consumer_ops[i], op))
			return true;
	return false;
}

static int state_by_name(const char *name)
{
	int state;

	for (state = 0; state < RCM_STATE_COUNT; state++)
		if (!strcmp(rcm_state_name(state), name))
			return state;
	return -ENOENT;
}

static const char *const *rules_of(const char *state)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(rules); i++)
		if (!strcmp(rules[i].state, state))
			return rules[i].rules;
	return NULL;
}

/* The state that @op leads to by @words, or a negative number. */
static int find_rule(const char *const *words, const char *op)
{
	size_t len = strlen(op);

	for (; *words; words++)
		if (!strncmp(*words, op, len) && (*words)[len] == '>')
			return state_by_name(*words + len + 1);
	return -EINVAL;
}

static int expected(const char *state, const char *op)
{
	if (!strcmp(state, "DESTROYING"))
		return -EINVAL;
	if (!strcmp(op, "destroy"))
		return state_by_name("DESTROYING");
	if (!strcmp(state, "REMOVED"))
		return is_consumer_op(op) ? -ENODEV : -EINVAL;
	if (!strcmp(op, "remove"))
		return state_by_name("REMOVED");

	return find_rule(rules_of(state), op);
}

static void state_matrix(struct kunit *test)
{
	int state, op;

	KUNIT_ASSERT_EQ(test, (int)ARRAY_SIZE(rules), (int)RCM_STATE_COUNT);

	for (state = 0; state < RCM_STATE_COUNT; state++) {
		KUNIT_ASSERT_NOT_NULL_MSG(test, rules_of(rcm_state_name(state)),
					  "no rules for state %d", state);
		for (op = 0; op < RCM_OP_COUNT; op++)
			KUNIT_EXPECT_EQ_MSG(test, rcm_state_next(state, op),
					    expected(rcm_state_name(state),
						     rcm_op_name(op)),
					    "%s in state %s", rcm_op_name(op),
					    rcm_state_name(state));
	}
}

/* A rule with a misspelt word would be a rule that nothing is held to. */
static void state_rules_are_spelt_right(struct kunit *test)
{
	int i, op, words, used;

	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		used = 0;
		for (words = 0; rules[i].rules[words]; words++)
			;
		for (op = 0; op < RCM_OP_COUNT; op++)
			used += find_rule(rules[i].rules, rcm_op_name(op)) >= 0;
		KUNIT_EXPECT_EQ_MSG(test, words, used, "rules of %s",
				    rules[i].state);
	}
}

static void state_out_of_range(struct kunit *test)
{
	static const int bad[] = { -1, INT_MIN, INT_MAX, 255, 256, 1 << 16 };
	int i, n;

	KUNIT_EXPECT_EQ(test, rcm_state_next(RCM_STATE_COUNT, RCM_OP_DESTROY),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, rcm_state_next(RCM_STATE_IDLE, RCM_OP_COUNT),
			-EINVAL);
	KUNIT_EXPECT_STREQ(test, rcm_state_name(RCM_STATE_COUNT), "?");
	KUNIT_EXPECT_STREQ(test, rcm_op_name(RCM_OP_COUNT), "?");

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		for (n = 0; n < RCM_OP_COUNT; n++)
			KUNIT_EXPECT_EQ(test, rcm_state_next(bad[i], n),
					-EINVAL);
		for (n = 0; n < RCM_STATE_COUNT; n++)
			KUNIT_EXPECT_EQ(test, rcm_state_next(n, bad[i]),
					-EINVAL);
		KUNIT_EXPECT_STREQ(test, rcm_state_name(bad[i]), "?");
		KUNIT_EXPECT_STREQ(test, rcm_op_name(bad[i]), "?");
	}
}

static void state_names(struct kunit *test)
{
	const char *a, *c;
	int i, j;

	for (i = 0; i < RCM_STATE_COUNT; i++) {
		a = rcm_state_name(i);
		KUNIT_ASSERT_NOT_NULL_MSG(test, a, "state %d", i);
		KUNIT_EXPECT_GT_MSG(test, (int)strlen(a), 1, "state %d", i);
		for (c = a; *c; c++)
			KUNIT_EXPECT_TRUE_MSG(test, isupper(*c) || *c == '_',
					      "%s", a);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_STRNEQ(test, a, rcm_state_name(j));
	}
	for (i = 0; i < RCM_OP_COUNT; i++) {
		a = rcm_op_name(i);
		KUNIT_ASSERT_NOT_NULL_MSG(test, a, "operation %d", i);
		KUNIT_EXPECT_GT_MSG(test, (int)strlen(a), 1, "operation %d", i);
		for (c = a; *c; c++)
			KUNIT_EXPECT_TRUE_MSG(test, islower(*c) || *c == '_',
					      "%s", a);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_STRNEQ(test, a, rcm_op_name(j));
	}
}

static void state_resolve_route_before_addr(struct kunit *test)
{
	int state;

	for (state = RCM_STATE_IDLE; state < RCM_STATE_ADDR_RESOLVED; state++)
		KUNIT_EXPECT_EQ(test,
				rcm_state_next(state, RCM_OP_RESOLVE_ROUTE),
				-EINVAL);
	KUNIT_EXPECT_EQ(test,
			rcm_state_next(RCM_STATE_ADDR_RESOLVED,
				       RCM_OP_RESOLVE_ROUTE),
			(int)RCM_STATE_ROUTE_QUERY);
}

static void state_removed(struct kunit *test)
{
	int op, consumer = 0;

	for (op = 0; op < RCM_OP_COUNT; op++) {
		int next = rcm_state_next(RCM_STATE_REMOVED, op);

		if (op == RCM_OP_DESTROY) {
			KUNIT_EXPECT_EQ(test, next, (int)RCM_STATE_DESTROYING);
		} else if (is_consumer_op(rcm_op_name(op))) {
			KUNIT_EXPECT_EQ_MSG(test, next, -ENODEV, "%s",
					    rcm_op_name(op));
			consumer++;
		} else {
			KUNIT_EXPECT_EQ_MSG(test, next, -EINVAL, "%s",
					    rcm_op_name(op));
		}
	}
	KUNIT_EXPECT_EQ(test, consumer, 9);
}

static void state_destroying_is_the_end(struct kunit *test)
{
	int op, state;

	for (op = 0; op < RCM_OP_COUNT; op++)
		KUNIT_EXPECT_EQ(test, rcm_state_next(RCM_STATE_DESTROYING, op),
				-EINVAL);
	for (state = 0; state < RCM_STATE_DESTROYING; state++)
		KUNIT_EXPECT_EQ(test, rcm_state_next(state, RCM_OP_DESTROY),
				(int)RCM_STATE_DESTROYING);
}

static void state_all_are_reachable(struct kunit *test)
{
	unsigned long reached = BIT(RCM_STATE_IDLE), before;
	int state, op, next;

	do {
		before = reached;
		for (state = 0; state < RCM_STATE_COUNT; state++) {
			if (!(reached & BIT(state)))
				continue;
			for (op = 0; op < RCM_OP_COUNT; op++) {
				next = rcm_state_next(state, op);
				if (next >= 0)
					reached |= BIT(next);
			}
		}
	} while (reached != before);

	KUNIT_EXPECT_EQ(test, reached, BIT(RCM_STATE_COUNT) - 1);
}

/* The sequences of the manual pages, one step after the other. */
static void state_walks(struct kunit *test)
{
	static const char *const walks[] = {
		"bind resolve_addr addr_ok resolve_route route_ok connect rep_rcvd establish disconnect drep_rcvd timewait_exit destroy",
		"bind resolve_addr addr_fail resolve_addr addr_ok resolve_route route_fail resolve_route route_ok destroy",
		"bind resolve_addr addr_ok resolve_route route_ok connect rej_rcvd disconnect destroy",
		"bind resolve_addr addr_ok resolve_route route_ok connect no_answer destroy",
		"bind listen destroy",
		"bind listen listen_fail listen remove destroy",
		"req_rcvd accept rtu_rcvd dreq_rcvd disconnect timewait_exit disconnect destroy",
		"req_rcvd accept dreq_rcvd timewait_exit destroy",
		"req_rcvd reject disconnect destroy",
		"bind bind_fail bind remove destroy",
	};
	char word[32];
	int i;

	for (i = 0; i < ARRAY_SIZE(walks); i++) {
		const char *at = walks[i];
		int state = RCM_STATE_IDLE, op;

		while (*at) {
			size_t len = strchrnul(at, ' ') - at;

			KUNIT_ASSERT_LT(test, len, sizeof(word));
			memcpy(word, at, len);
			word[len] = '\0';
			for (op = 0; op < RCM_OP_COUNT; op++)
				if (!strcmp(word, rcm_op_name(op)))
					break;
			state = rcm_state_next(state, op);
			KUNIT_ASSERT_GE_MSG(test, state, 0, "%s of walk %d",
					    word, i);
			at += len + !!at[len];
		}
		KUNIT_EXPECT_EQ(test, state, (int)RCM_STATE_DESTROYING);
	}
}

static struct kunit_case state_cases[] = {
	KUNIT_CASE(state_matrix),
	KUNIT_CASE(state_rules_are_spelt_right),
	KUNIT_CASE(state_out_of_range),
	KUNIT_CASE(state_names),
	KUNIT_CASE(state_resolve_route_before_addr),
	KUNIT_CASE(state_removed),
	KUNIT_CASE(state_destroying_is_the_end),
	KUNIT_CASE(state_all_are_reachable),
	KUNIT_CASE(state_walks),
	{}
};

struct kunit_suite rcm_state_suite = {
	.name = "rcm-state",
	.test_cases = state_cases,
};
