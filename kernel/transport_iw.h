/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The pure part of the iw_cm transport.
 */
#ifndef RCM_TRANSPORT_IW_H
#define RCM_TRANSPORT_IW_H

#include <rdma/iw_cm.h>
#include <rdma/rdma_cm.h>
#include <rdma/rcm.h>

#include "state.h"

/**
 * struct rcm_iw_outcome - what an event of iw_cm means
 * @op: for the state machine; RCM_OP_COUNT when it is of no interest
 * @event: for the consumer
 * @step: what failed
 */
struct rcm_iw_outcome {
	enum rcm_op op;
	enum rdma_cm_event_type event;
	enum rcm_step step;
};

struct rcm_iw_outcome rcm_iw_outcome(enum iw_cm_event_type event, int status);

#endif /* RCM_TRANSPORT_IW_H */
