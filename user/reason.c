// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Why did it fail?  The library's own functions, <rcm/librcm.h>.
 */
#include <errno.h>

#include <rcm/librcm.h>

#include "rcm_user.h"

/**
 * rcm_event_reason - why an event reports a failure
 * @event: from rdma_get_cm_event(), not acknowledged yet
 *
 * Return: the reason, valid until @event is acknowledged; its step is
 * RCM_STEP_NONE when nothing failed. NULL when @event is.
 */
const struct rcm_reason *rcm_event_reason(const struct rdma_cm_event *event)
{
	const struct rcm_cm_event *evt = (const void *)event;

	return evt ? &evt->reason : NULL;
}

/**
 * rcm_last_reason - why the last operation of an identifier failed
 * @id: identifier
 * @reason: where to put it; its step is RCM_STEP_NONE when nothing failed
 *
 * Does not wait.
 *
 * Return: 0, or -1 with errno: EINVAL (NULL, or nothing was done with @id).
 */
int rcm_last_reason(struct rdma_cm_id *id, struct rcm_reason *reason)
{
	struct rcm_query cmd = { .size = sizeof(cmd) };

	if (!id || !reason || !rcm_id_handle(to_rcm_id(id)))
		return rcm_fail(EINVAL);
	cmd.handle = rcm_id_handle(to_rcm_id(id));
	if (rcm_id_ioctl(to_rcm_id(id), RCM_QUERY, &cmd))
		return -1;
	*reason = cmd.out_reason;
	return 0;
}

static const char *const rcm_step_names[] = {
	[RCM_STEP_NONE] = "nothing failed",
	[RCM_STEP_ROUTE_LOOKUP] = "no IP route to the destination",
	[RCM_STEP_NEIGHBOUR] = "link address of the next hop not found",
	[RCM_STEP_DEVICE] = "interface has no usable RDMA device",
	[RCM_STEP_GID] = "RDMA device has no GID for the address",
	[RCM_STEP_PATH] = "path not found",
	[RCM_STEP_CONNECT] = "peer does not answer",
	[RCM_STEP_REJECTED] = "rejected by the peer",
	[RCM_STEP_DISCONNECT] = "peer does not answer the disconnect request",
	[RCM_STEP_REMOVAL] = "RDMA device was removed",
	[RCM_STEP_BACKLOG] = "listener's backlog is full",
};

/**
 * rcm_step_str - what a step of struct rcm_reason means
 * @step: enum rcm_step
 *
 * Return: a few words for people, "unknown" for other numbers. Never NULL.
 */
const char *rcm_step_str(unsigned int step)
{
	if (step >= RCM_ARRAY_SIZE(rcm_step_names))
		return "unknown";
	return rcm_step_names[step];
}

/**
 * rcm_gai_strerror - what an error of rdma_getaddrinfo() means
 * @error: what it returned, not 0 and not -1 with errno
 *
 * Return: as gai_strerror(3), and a text for EAI_QPTYPE. Never NULL.
 */
const char *rcm_gai_strerror(int error)
{
	if (error == EAI_QPTYPE)
		return "Queue pair type and port space do not go together";
	return gai_strerror(error);
}
