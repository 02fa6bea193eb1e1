// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Why did it fail?  The library's own functions, <rcm/librcm.h>.
 */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

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
 * rcm_id_set_reason - remember why the library's part of an operation failed
 * @id: identifier
 * @reason: why
 */
void rcm_id_set_reason(struct rcm_id *id, const struct rcm_reason *reason)
{
	pthread_mutex_lock(&id->reason_lock);
	id->reason = *reason;
	pthread_mutex_unlock(&id->reason_lock);
	__atomic_store_n(&id->has_reason, reason->step != RCM_STEP_NONE,
			 __ATOMIC_RELEASE);
}

/**
 * rcm_id_no_reason - an operation begins, and the kernel's reason counts
 * @id: identifier
 */
void rcm_id_no_reason(struct rcm_id *id)
{
	__atomic_store_n(&id->has_reason, false, __ATOMIC_RELEASE);
}

/**
 * rcm_id_fail - fail without having asked the kernel
 * @id: identifier
 * @step: what was being done
 * @error: positive errno
 *
 * Return: -1, with errno set to @error.
 */
int rcm_id_fail(struct rcm_id *id, enum rcm_step step, int error)
{
	struct rcm_reason reason = {
		.step = step,
		.error = -error,
	};

	rcm_id_set_reason(id, &reason);
	return rcm_fail(error);
}

/**
 * rcm_id_started - check that the kernel has an identifier
 * @id: identifier, or NULL
 *
 * Return: true; false with errno EINVAL when it is NULL or nothing was done
 * with it yet.
 */
bool rcm_id_started(struct rdma_cm_id *id)
{
	if (!id) {
		errno = EINVAL;
		return false;
	}
	return rcm_id_handle(to_rcm_id(id)) ||
	       !rcm_id_fail(to_rcm_id(id), RCM_STEP_STATE, EINVAL);
}

static bool rcm_library_reason(struct rcm_id *id, struct rcm_reason *reason)
{
	if (!__atomic_load_n(&id->has_reason, __ATOMIC_ACQUIRE))
		return false;
	pthread_mutex_lock(&id->reason_lock);
	*reason = id->reason;
	pthread_mutex_unlock(&id->reason_lock);
	return true;
}

/**
 * rcm_last_reason - why the last operation of an identifier failed
 * @id: identifier
 * @reason: where to put it; its step is RCM_STEP_NONE when nothing failed
 *
 * What counts is the last call that did something with the identifier, or what
 * its event said if that came later.  Arguments that are NULL, or no addresses,
 * leave it.  Does not wait.
 *
 * Return: 0, or -1 with errno: EINVAL (NULL), EBADF (the channel is
 * destroyed).
 */
int rcm_last_reason(struct rdma_cm_id *id, struct rcm_reason *reason)
{
	struct rcm_query cmd = { .size = sizeof(cmd) };

	if (!id || !reason)
		return rcm_fail(EINVAL);
	if (rcm_library_reason(to_rcm_id(id), reason))
		return 0;
	cmd.handle = rcm_id_handle(to_rcm_id(id));
	if (cmd.handle && rcm_ioctl(id->channel->fd, RCM_QUERY, &cmd))
		return -1;
	*reason = cmd.out_reason;
	return 0;
}

static const char *const rcm_step_names[] = RCM_STEP_TEXTS;

static_assert(RCM_ARRAY_SIZE(rcm_step_names) == RCM_STEP_COUNT,
	      "each step has a text");

/**
 * rcm_step_str - what a step of struct rcm_reason means
 * @step: enum rcm_step
 *
 * Return: a few words for people, as in the kernel's trace events; "unknown"
 * for other numbers. Never NULL.
 */
const char *rcm_step_str(unsigned int step)
{
	if (step >= RCM_ARRAY_SIZE(rcm_step_names))
		return "unknown";
	return rcm_step_names[step];
}

static const char *rcm_device_name(struct ibv_device **list, __u32 index)
{
	int i;

	for (i = 0; list && list[i]; i++) {
		if ((__u32)ibv_get_device_index(list[i]) == index)
			return ibv_get_device_name(list[i]);
	}
	return NULL;
}

/* What struct rcm_reason.detail is about, in words; may be nothing. */
static void rcm_detail_str(const struct rcm_reason *reason, char *buf,
			   size_t size)
{
	struct ibv_device **list;
	const char *name;

	buf[0] = 0;
	switch (reason->step) {
	case RCM_STEP_REJECTED:
		snprintf(buf, size, ", peer's reason %u", reason->detail);
		break;
	case RCM_STEP_GID:
	case RCM_STEP_NAMESPACE:
	case RCM_STEP_OPEN:
	case RCM_STEP_REMOVAL:
		list = ibv_get_device_list(NULL);
		name = rcm_device_name(list, reason->detail);
		if (name)
			snprintf(buf, size, ", device %s", name);
		else
			snprintf(buf, size, ", device %u", reason->detail);
		if (list)
			ibv_free_device_list(list);
		break;
	default:
		break;
	}
}

/**
 * rcm_reason_str - a reason in words
 * @reason: from rcm_event_reason() or rcm_last_reason()
 * @buf: where to put the text, which ends with NUL
 * @size: bytes at @buf; 128 are enough
 *
 * Names the step, the network interface, the RDMA device or the peer's reason,
 * and the errno underneath, as far as they are known.
 *
 * Return: @buf; NULL when it or @reason is NULL, or @size is 0.
 */
char *rcm_reason_str(const struct rcm_reason *reason, char *buf, size_t size)
{
	char name[IF_NAMESIZE], link[IF_NAMESIZE + 16] = "";
	char error[16] = "", detail[64];

	if (!reason || !buf || !size)
		return NULL;
	if (reason->ifindex && if_indextoname(reason->ifindex, name))
		snprintf(link, sizeof(link), ", interface %s", name);
	else if (reason->ifindex)
		snprintf(link, sizeof(link), ", interface %u", reason->ifindex);
	rcm_detail_str(reason, detail, sizeof(detail));
	if (reason->error)
		snprintf(error, sizeof(error), "%d", -reason->error);
	snprintf(buf, size, "%s%s%s%s%s", rcm_step_str(reason->step), link,
		 detail, reason->error ? ", " : "",
		 reason->error ? strerrordesc_np(-reason->error) ?: error : "");
	return buf;
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
