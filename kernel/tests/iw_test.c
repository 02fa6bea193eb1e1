// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the events of iw_cm mean: the states that programs know from the
 * in-tree manager.
 */
#include <kunit/test.h>
#include <linux/errno.h>

#include "../transport_iw.h"
#include "tests.h"

static void expect_outcome(struct kunit *test, enum iw_cm_event_type event,
			   int status, enum rcm_op op,
			   enum rdma_cm_event_type type, enum rcm_step step)
{
	struct rcm_iw_outcome outcome = rcm_iw_outcome(event, status);

	KUNIT_EXPECT_EQ_MSG(test, outcome.op, op, "event %d status %d", event,
			    status);
	KUNIT_EXPECT_EQ_MSG(test, outcome.event, type, "event %d status %d",
			    event, status);
	KUNIT_EXPECT_EQ_MSG(test, outcome.step, step, "event %d status %d",
			    event, status);
}

static void iw_reply(struct kunit *test)
{
	static const int other[] = { -EINVAL,	    -EPROTO, -ENOMEM,
				     -ECONNABORTED, -1,	     5 };
	unsigned int i;

	expect_outcome(test, IW_CM_EVENT_CONNECT_REPLY, 0, RCM_OP_CONNECTED,
		       RDMA_CM_EVENT_ESTABLISHED, RCM_STEP_NONE);
	expect_outcome(test, IW_CM_EVENT_CONNECT_REPLY, -ECONNREFUSED,
		       RCM_OP_REJ_RCVD, RDMA_CM_EVENT_REJECTED,
		       RCM_STEP_REJECTED);
	expect_outcome(test, IW_CM_EVENT_CONNECT_REPLY, -ECONNRESET,
		       RCM_OP_REJ_RCVD, RDMA_CM_EVENT_REJECTED,
		       RCM_STEP_REJECTED);
	expect_outcome(test, IW_CM_EVENT_CONNECT_REPLY, -ETIMEDOUT,
		       RCM_OP_NO_ANSWER, RDMA_CM_EVENT_UNREACHABLE,
		       RCM_STEP_CONNECT);
	for (i = 0; i < ARRAY_SIZE(other); i++)
		expect_outcome(test, IW_CM_EVENT_CONNECT_REPLY, other[i],
			       RCM_OP_NO_ANSWER, RDMA_CM_EVENT_CONNECT_ERROR,
			       RCM_STEP_CONNECT);
}

static void iw_established(struct kunit *test)
{
	expect_outcome(test, IW_CM_EVENT_ESTABLISHED, 0, RCM_OP_RTU_RCVD,
		       RDMA_CM_EVENT_ESTABLISHED, RCM_STEP_NONE);
	expect_outcome(test, IW_CM_EVENT_ESTABLISHED, -ECONNRESET,
		       RCM_OP_NO_ANSWER, RDMA_CM_EVENT_CONNECT_ERROR,
		       RCM_STEP_CONNECT);
}

static void iw_close(struct kunit *test)
{
	expect_outcome(test, IW_CM_EVENT_CLOSE, 0, RCM_OP_DREQ_RCVD,
		       RDMA_CM_EVENT_DISCONNECTED, RCM_STEP_NONE);
	expect_outcome(test, IW_CM_EVENT_CLOSE, -ECONNRESET, RCM_OP_DREQ_RCVD,
		       RDMA_CM_EVENT_DISCONNECTED, RCM_STEP_DISCONNECT);
}

static void iw_of_no_interest(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rcm_iw_outcome(IW_CM_EVENT_DISCONNECT, 0).op,
			RCM_OP_COUNT);
	KUNIT_EXPECT_EQ(test, rcm_iw_outcome(IW_CM_EVENT_CONNECT_REQUEST, 0).op,
			RCM_OP_COUNT);
	KUNIT_EXPECT_EQ(test, rcm_iw_outcome(99, -EINVAL).op, RCM_OP_COUNT);
}

static struct kunit_case iw_cases[] = { KUNIT_CASE(iw_reply),
					KUNIT_CASE(iw_established),
					KUNIT_CASE(iw_close),
					KUNIT_CASE(iw_of_no_interest),
					{} };

struct kunit_suite rcm_iw_suite = {
	.name = "rcm-iw",
	.test_cases = iw_cases,
};
