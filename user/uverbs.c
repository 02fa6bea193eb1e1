// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * An open RDMA device that the application may still be using.
 *
 * What an application makes on id->verbs it may keep longer than the
 * identifier.  We are not told, but the kernel knows which objects a context
 * has, and says so.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "rcm_user.h"

/* The kernel insists on the driver's number and does not tell it. */
#define RCM_MAX_DRIVER 64

/* Closed contexts whose memory stays, see rcm_verbs_retire(). */
#define RCM_RETIRED 4

#define RCM_NO_HANDLE ~0U

static struct ibv_context *rcm_retired[RCM_RETIRED];
static unsigned int rcm_next_retired;

/* How many of @max: at least that many, or -1 with errno. */
static int rcm_count_objects(struct ibv_context *verbs, __u32 driver,
			     __u16 type, int max)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr[3];
	} cmd = {
		.hdr = {
			.length = sizeof(cmd),
			.object_id = UVERBS_OBJECT_DEVICE,
			.method_id = UVERBS_METHOD_INFO_HANDLES,
			.num_attrs = RCM_ARRAY_SIZE(cmd.attr),
			.driver_id = driver,
		},
	};
	__u32 handles[4], total;
	int count = 0;

	memset(handles, 0xff, sizeof(handles));
	cmd.attr[0].attr_id = UVERBS_ATTR_INFO_OBJECT_ID;
	cmd.attr[0].len = sizeof(cmd.attr[0].data);
	cmd.attr[0].data = type;
	cmd.attr[1].attr_id = UVERBS_ATTR_INFO_HANDLES_LIST;
	cmd.attr[1].len = max * sizeof(handles[0]);
	cmd.attr[1].data = (uintptr_t)handles;
	/* Must be there, and is no use: the kernel writes half a number. */
	cmd.attr[2].attr_id = UVERBS_ATTR_INFO_TOTAL_HANDLES;
	cmd.attr[2].len = sizeof(total);
	cmd.attr[2].data = (uintptr_t)&total;
	if (ioctl(verbs->cmd_fd, RDMA_VERBS_IOCTL, &cmd))
		return -1;
	while (count < max && handles[count] != RCM_NO_HANDLE)
		count++;
	return count;
}

/**
 * rcm_verbs_driver - find out what rcm_verbs_in_use() has to know
 * @verbs: open device
 *
 * Return: number of its kernel driver, negative when the kernel does not tell
 * which objects there are.
 */
int rcm_verbs_driver(struct ibv_context *verbs)
{
	int driver;

	for (driver = 0; driver < RCM_MAX_DRIVER; driver++) {
		if (rcm_count_objects(verbs, driver, UVERBS_OBJECT_PD, 1) >= 0)
			return driver;
		if (errno != EINVAL)
			break;
	}
	return -1;
}

static bool rcm_has_objects(const struct rcm_device *dev, __u16 type, int ours)
{
	int count = rcm_count_objects(dev->verbs, dev->driver, type, ours + 1);

	/* A type that this kernel or device has not. */
	if (count < 0 && (errno == ENOENT || errno == ENOMSG))
		return false;
	return count < 0 || count > ours;
}

/**
 * rcm_verbs_in_use - whether the application has objects on a device
 * @dev: device
 *
 * Return: true when it has, or may have because the kernel does not tell.
 */
bool rcm_verbs_in_use(const struct rcm_device *dev)
{
	__u16 type;

	if (dev->driver < 0)
		return true;
	for (type = UVERBS_OBJECT_PD; type <= UVERBS_OBJECT_COUNTERS; type++) {
		int ours = 0;

		if (type == UVERBS_OBJECT_PD)
			ours = !!dev->pd;
		else if (type == UVERBS_OBJECT_XRCD)
			ours = !!dev->xrcd;
		if (rcm_has_objects(dev, type, ours))
			return true;
	}
	return false;
}

/**
 * rcm_verbs_retire - close a device, and keep the context's memory for a while
 * @verbs: open device without objects; no longer used by us
 *
 * An application that kept the pointer, although it has nothing on the device,
 * gets an error and not a crash.  The caller serialises.
 */
void rcm_verbs_retire(struct ibv_context *verbs)
{
	struct ibv_context *old = rcm_retired[rcm_next_retired];

	close(verbs->cmd_fd);
	close(verbs->async_fd);
	verbs->cmd_fd = -1;
	verbs->async_fd = -1;
	rcm_retired[rcm_next_retired] = verbs;
	rcm_next_retired = (rcm_next_retired + 1) % RCM_RETIRED;
	if (old)
		ibv_close_device(old);
}
