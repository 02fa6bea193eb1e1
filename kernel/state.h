/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The state machine of an identifier.  Pure: no locks, no allocation, no I/O.
 */
#ifndef RCM_STATE_H
#define RCM_STATE_H

#include <rdma/rcm.h>

/**
 * enum rcm_op - what can happen to an identifier
 *
 * The first group is asked for by the consumer, the second follows from what
 * the consumer asked for, the third comes from the peer or the device.
 */
enum rcm_op {
	RCM_OP_BIND,
	RCM_OP_RESOLVE_ADDR,
	RCM_OP_RESOLVE_ROUTE,
	RCM_OP_LISTEN,
	RCM_OP_CONNECT,
	RCM_OP_ACCEPT,
	RCM_OP_ESTABLISH,
	RCM_OP_REJECT,
	RCM_OP_DISCONNECT,
	RCM_OP_DESTROY,

	RCM_OP_BIND_FAIL,
	RCM_OP_ADDR_OK,
	RCM_OP_ADDR_FAIL,
	RCM_OP_ROUTE_OK,
	RCM_OP_ROUTE_FAIL,
	RCM_OP_LISTEN_FAIL,
	RCM_OP_CONNECT_FAIL,
	RCM_OP_ACCEPT_FAIL,

	RCM_OP_REQ_RCVD,
	RCM_OP_REP_RCVD,
	RCM_OP_CONNECTED,
	RCM_OP_RTU_RCVD,
	RCM_OP_REJ_RCVD,
	RCM_OP_NO_ANSWER,
	RCM_OP_DREQ_RCVD,
	RCM_OP_DREP_RCVD,
	RCM_OP_DREQ_NO_ANSWER,
	RCM_OP_TIMEWAIT_EXIT,
	RCM_OP_REMOVE,

	RCM_OP_COUNT
};

int rcm_state_next(enum rcm_state state, enum rcm_op op);
const char *rcm_state_name(enum rcm_state state);
const char *rcm_op_name(enum rcm_op op);

#endif /* RCM_STATE_H */
