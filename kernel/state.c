// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The state machine of an identifier: one table.
 *
 * Nothing else decides whether an operation is allowed.  The table says for
 * each operation in which states it may happen and what state follows; what
 * is not in it is refused.  Documentation/state-machine.md is generated from
 * this file by selftests/gen-state-doc.sh.
 */
#include <linux/errno.h>
#include <linux/kernel.h>

#include "compat.h"
#include "state.h"

#define NEXT(from, to) [RCM_STATE_##from] = RCM_STATE_##to + 1

/*
 * Entries are the next state plus one, so that what is not listed is 0 and
 * means "not allowed".
 */
static const u8 rcm_table[RCM_OP_COUNT][RCM_STATE_COUNT] = {
	[RCM_OP_BIND] = {
		NEXT(IDLE, BOUND),
	},
	[RCM_OP_BIND_FAIL] = {
		NEXT(BOUND, IDLE),
	},
	[RCM_OP_RESOLVE_ADDR] = {
		NEXT(BOUND, ADDR_QUERY),
	},
	[RCM_OP_ADDR_OK] = {
		NEXT(ADDR_QUERY, ADDR_RESOLVED),
	},
	/* The destination may be tried again. */
	[RCM_OP_ADDR_FAIL] = {
		NEXT(ADDR_QUERY, BOUND),
	},
	[RCM_OP_RESOLVE_ROUTE] = {
		NEXT(ADDR_RESOLVED, ROUTE_QUERY),
	},
	[RCM_OP_ROUTE_OK] = {
		NEXT(ROUTE_QUERY, ROUTE_RESOLVED),
	},
	[RCM_OP_ROUTE_FAIL] = {
		NEXT(ROUTE_QUERY, ADDR_RESOLVED),
	},
	[RCM_OP_LISTEN] = {
		NEXT(BOUND, LISTEN),
	},
	[RCM_OP_LISTEN_FAIL] = {
		NEXT(LISTEN, BOUND),
	},
	[RCM_OP_CONNECT] = {
		NEXT(ROUTE_RESOLVED, REQ_SENT),
	},
	[RCM_OP_CONNECT_FAIL] = {
		NEXT(REQ_SENT, ROUTE_RESOLVED),
	},
	[RCM_OP_REQ_RCVD] = {
		NEXT(IDLE, REQ_RCVD),
	},
	[RCM_OP_REP_RCVD] = {
		NEXT(REQ_SENT, REP_RCVD),
	},
	/* The answer of a datagram or iWARP peer needs no confirmation. */
	[RCM_OP_CONNECTED] = {
		NEXT(REQ_SENT, ESTABLISHED),
	},
	[RCM_OP_ESTABLISH] = {
		NEXT(REP_RCVD, ESTABLISHED),
	},
	[RCM_OP_ACCEPT] = {
		NEXT(REQ_RCVD, REP_SENT),
	},
	[RCM_OP_ACCEPT_FAIL] = {
		NEXT(REP_SENT, FAILED),
	},
	[RCM_OP_REJECT] = {
		NEXT(REQ_RCVD, FAILED),
		NEXT(REP_RCVD, FAILED),
	},
	[RCM_OP_RTU_RCVD] = {
		NEXT(REP_SENT, ESTABLISHED),
	},
	/*
	 * The peer may reject at any time before it is established; for us it
	 * may be already, when the peer dies without having seen our RTU.
	 */
	[RCM_OP_REJ_RCVD] = {
		NEXT(REQ_SENT, FAILED),
		NEXT(REP_RCVD, FAILED),
		NEXT(REQ_RCVD, FAILED),
		NEXT(REP_SENT, FAILED),
		NEXT(ESTABLISHED, FAILED),
	},
	[RCM_OP_NO_ANSWER] = {
		NEXT(REQ_SENT, FAILED),
		NEXT(REP_SENT, FAILED),
	},
	/*
	 * Before it is established there is nothing to disconnect, and after
	 * it is over nothing is left to do: both succeed, as applications
	 * rely on, and change nothing.
	 */
	[RCM_OP_DISCONNECT] = {
		NEXT(REQ_SENT, REQ_SENT),
		NEXT(REP_RCVD, REP_RCVD),
		NEXT(REQ_RCVD, REQ_RCVD),
		NEXT(REP_SENT, REP_SENT),
		NEXT(ESTABLISHED, CLOSING),
		NEXT(CLOSING, CLOSING),
		NEXT(DISCONNECTED, DISCONNECTED),
		NEXT(CLOSED, CLOSED),
		NEXT(FAILED, FAILED),
	},
	/* The peer may disconnect before its confirmation reached us. */
	[RCM_OP_DREQ_RCVD] = {
		NEXT(REP_RCVD, DISCONNECTED),
		NEXT(REP_SENT, DISCONNECTED),
		NEXT(ESTABLISHED, DISCONNECTED),
		NEXT(CLOSING, DISCONNECTED),
	},
	/*
	 * ib_cm ends a connection on its own when the peer's queue pair asks
	 * for another one: then the answer is the first that we hear of it.
	 */
	[RCM_OP_DREP_RCVD] = {
		NEXT(ESTABLISHED, DISCONNECTED),
		NEXT(CLOSING, DISCONNECTED),
	},
	[RCM_OP_DREQ_NO_ANSWER] = {
		NEXT(ESTABLISHED, DISCONNECTED),
		NEXT(CLOSING, DISCONNECTED),
	},
	[RCM_OP_TIMEWAIT_EXIT] = {
		NEXT(DISCONNECTED, CLOSED),
	},
	[RCM_OP_REMOVE] = {
		NEXT(IDLE, REMOVED),
		NEXT(BOUND, REMOVED),
		NEXT(ADDR_QUERY, REMOVED),
		NEXT(ADDR_RESOLVED, REMOVED),
		NEXT(ROUTE_QUERY, REMOVED),
		NEXT(ROUTE_RESOLVED, REMOVED),
		NEXT(LISTEN, REMOVED),
		NEXT(REQ_SENT, REMOVED),
		NEXT(REP_RCVD, REMOVED),
		NEXT(REQ_RCVD, REMOVED),
		NEXT(REP_SENT, REMOVED),
		NEXT(ESTABLISHED, REMOVED),
		NEXT(CLOSING, REMOVED),
		NEXT(DISCONNECTED, REMOVED),
		NEXT(CLOSED, REMOVED),
		NEXT(FAILED, REMOVED),
	},
	[RCM_OP_DESTROY] = {
		NEXT(IDLE, DESTROYING),
		NEXT(BOUND, DESTROYING),
		NEXT(ADDR_QUERY, DESTROYING),
		NEXT(ADDR_RESOLVED, DESTROYING),
		NEXT(ROUTE_QUERY, DESTROYING),
		NEXT(ROUTE_RESOLVED, DESTROYING),
		NEXT(LISTEN, DESTROYING),
		NEXT(REQ_SENT, DESTROYING),
		NEXT(REP_RCVD, DESTROYING),
		NEXT(REQ_RCVD, DESTROYING),
		NEXT(REP_SENT, DESTROYING),
		NEXT(ESTABLISHED, DESTROYING),
		NEXT(CLOSING, DESTROYING),
		NEXT(DISCONNECTED, DESTROYING),
		NEXT(CLOSED, DESTROYING),
		NEXT(FAILED, DESTROYING),
		NEXT(REMOVED, DESTROYING),
	},
};

#undef NEXT

static const char *const rcm_state_names[RCM_STATE_COUNT] = {
	[RCM_STATE_IDLE] = "IDLE",
	[RCM_STATE_BOUND] = "BOUND",
	[RCM_STATE_ADDR_QUERY] = "ADDR_QUERY",
	[RCM_STATE_ADDR_RESOLVED] = "ADDR_RESOLVED",
	[RCM_STATE_ROUTE_QUERY] = "ROUTE_QUERY",
	[RCM_STATE_ROUTE_RESOLVED] = "ROUTE_RESOLVED",
	[RCM_STATE_LISTEN] = "LISTEN",
	[RCM_STATE_REQ_SENT] = "REQ_SENT",
	[RCM_STATE_REP_RCVD] = "REP_RCVD",
	[RCM_STATE_REQ_RCVD] = "REQ_RCVD",
	[RCM_STATE_REP_SENT] = "REP_SENT",
	[RCM_STATE_ESTABLISHED] = "ESTABLISHED",
	[RCM_STATE_CLOSING] = "CLOSING",
	[RCM_STATE_DISCONNECTED] = "DISCONNECTED",
	[RCM_STATE_CLOSED] = "CLOSED",
	[RCM_STATE_FAILED] = "FAILED",
	[RCM_STATE_REMOVED] = "REMOVED",
	[RCM_STATE_DESTROYING] = "DESTROYING",
};

static const char *const rcm_op_names[RCM_OP_COUNT] = {
	[RCM_OP_BIND] = "bind",
	[RCM_OP_RESOLVE_ADDR] = "resolve_addr",
	[RCM_OP_RESOLVE_ROUTE] = "resolve_route",
	[RCM_OP_LISTEN] = "listen",
	[RCM_OP_CONNECT] = "connect",
	[RCM_OP_ACCEPT] = "accept",
	[RCM_OP_ESTABLISH] = "establish",
	[RCM_OP_REJECT] = "reject",
	[RCM_OP_DISCONNECT] = "disconnect",
	[RCM_OP_DESTROY] = "destroy",
	[RCM_OP_BIND_FAIL] = "bind_fail",
	[RCM_OP_ADDR_OK] = "addr_ok",
	[RCM_OP_ADDR_FAIL] = "addr_fail",
	[RCM_OP_ROUTE_OK] = "route_ok",
	[RCM_OP_ROUTE_FAIL] = "route_fail",
	[RCM_OP_LISTEN_FAIL] = "listen_fail",
	[RCM_OP_CONNECT_FAIL] = "connect_fail",
	[RCM_OP_ACCEPT_FAIL] = "accept_fail",
	[RCM_OP_REQ_RCVD] = "req_rcvd",
	[RCM_OP_REP_RCVD] = "rep_rcvd",
	[RCM_OP_CONNECTED] = "connected",
	[RCM_OP_RTU_RCVD] = "rtu_rcvd",
	[RCM_OP_REJ_RCVD] = "rej_rcvd",
	[RCM_OP_NO_ANSWER] = "no_answer",
	[RCM_OP_DREQ_RCVD] = "dreq_rcvd",
	[RCM_OP_DREP_RCVD] = "drep_rcvd",
	[RCM_OP_DREQ_NO_ANSWER] = "dreq_no_answer",
	[RCM_OP_TIMEWAIT_EXIT] = "timewait_exit",
	[RCM_OP_REMOVE] = "remove",
};

/**
 * rcm_state_next - what state follows when something happens
 * @state: the state an identifier is in
 * @op: what happens
 *
 * Context: any; takes no lock.
 * Return: the next state; -ENODEV when the consumer asks for something after
 * the device went away; -EINVAL when @op is not allowed in @state, or either
 * is out of range.
 */
int rcm_state_next(enum rcm_state state, enum rcm_op op)
{
	int next;

	if ((unsigned int)state >= RCM_STATE_COUNT ||
	    (unsigned int)op >= RCM_OP_COUNT)
		return -EINVAL;

	next = rcm_table[op][state];
	if (next)
		return next - 1;
	if (state == RCM_STATE_REMOVED && op <= RCM_OP_DISCONNECT)
		return -ENODEV;
	return -EINVAL;
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_state_next);

/**
 * rcm_state_name - a state's name without its prefix
 * @state: a state
 *
 * Return: the name, "?" when @state is out of range. Never %NULL.
 */
const char *rcm_state_name(enum rcm_state state)
{
	return (unsigned int)state < RCM_STATE_COUNT ? rcm_state_names[state] :
						       "?";
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_state_name);

/**
 * rcm_op_name - an operation's name in lower case
 * @op: an operation
 *
 * Return: the name, "?" when @op is out of range. Never %NULL.
 */
const char *rcm_op_name(enum rcm_op op)
{
	return (unsigned int)op < RCM_OP_COUNT ? rcm_op_names[op] : "?";
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_op_name);
