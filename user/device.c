// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RDMA devices: looked up when they are needed, opened once, shared.
 *
 * An application may keep what it made on id->verbs longer than the
 * identifier, and rdma_get_devices(3) promises that a device stays open.  So
 * it does, until it was removed from the machine and its last user is gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "rcm_user.h"

static pthread_mutex_t rcm_devices_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rcm_device *rcm_devices;

static void rcm_devices_do_lock(void)
{
	pthread_mutex_lock(&rcm_devices_lock);
}

static void rcm_devices_do_unlock(void)
{
	pthread_mutex_unlock(&rcm_devices_lock);
}

/* A child must not inherit the lock taken by a thread that it has not. */
__attribute__((constructor)) static void rcm_devices_init(void)
{
	pthread_atfork(rcm_devices_do_lock, rcm_devices_do_unlock,
		       rcm_devices_do_unlock);
}

static __u64 rcm_device_inode(struct ibv_device *ibdev)
{
	struct stat st;

	return stat(ibdev->ibdev_path, &st) ? 0 : st.st_ino;
}

static __u8 rcm_limit(int value)
{
	if (value < 0)
		return 0;
	return value > 0xff ? 0xff : value;
}

static void rcm_device_close(struct rcm_device *dev)
{
	struct rcm_device **pos = &rcm_devices;

	while (*pos != dev)
		pos = &(*pos)->next;
	*pos = dev->next;
	if (dev->xrcd)
		ibv_close_xrcd(dev->xrcd);
	ibv_dealloc_pd(dev->pd);
	ibv_close_device(dev->verbs);
	free(dev);
}

static struct rcm_device *rcm_device_open(struct ibv_device *ibdev)
{
	struct ibv_device_attr attr;
	struct rcm_device *dev;

	dev = calloc(1, sizeof(*dev));
	if (!dev)
		return NULL;
	dev->verbs = ibv_open_device(ibdev);
	if (!dev->verbs)
		goto err_free;
	if (ibv_query_device(dev->verbs, &attr))
		goto err_close;
	dev->pd = ibv_alloc_pd(dev->verbs);
	if (!dev->pd)
		goto err_close;
	dev->inode = rcm_device_inode(ibdev);
	dev->guid = ibv_get_device_guid(ibdev);
	dev->index = ibv_get_device_index(ibdev);
	dev->max_responder_resources = rcm_limit(attr.max_qp_rd_atom);
	dev->max_initiator_depth = rcm_limit(attr.max_qp_init_rd_atom);
	dev->next = rcm_devices;
	rcm_devices = dev;
	return dev;

err_close:
	ibv_close_device(dev->verbs);
err_free:
	free(dev);
	return NULL;
}

/*
 * The index says for certain which device is meant.  The GUID serves where
 * the kernel or the verbs library has no index; it need not be unique.
 */
static bool rcm_device_is(int index, __be64 guid, const struct rcm_endpoint *ep)
{
	if (index >= 0 && ep->ibdev_index != ~0U)
		return (__u32)index == ep->ibdev_index;
	return guid && guid == ep->node_guid;
}

/* A device that came back under its old name is another device. */
static bool rcm_device_usable(struct rcm_device *dev)
{
	if (!dev->gone && rcm_device_inode(dev->verbs->device) != dev->inode)
		dev->gone = true;
	return !dev->gone;
}

static struct rcm_device *rcm_device_find_open(const struct rcm_endpoint *ep)
{
	struct rcm_device *dev, *next;

	for (dev = rcm_devices; dev; dev = next) {
		next = dev->next;
		if (!rcm_device_is(dev->index, dev->guid, ep))
			continue;
		if (rcm_device_usable(dev))
			return dev;
		if (!dev->refs)
			rcm_device_close(dev);
	}
	return NULL;
}

static struct rcm_device *rcm_device_find(const struct rcm_endpoint *ep)
{
	struct rcm_device *dev = rcm_device_find_open(ep);
	struct ibv_device **list;
	int i;

	if (dev)
		return dev;
	list = ibv_get_device_list(NULL);
	if (!list)
		return NULL;
	for (i = 0; list[i] && !dev; i++)
		if (rcm_device_is(ibv_get_device_index(list[i]),
				  ibv_get_device_guid(list[i]), ep))
			dev = rcm_device_open(list[i]);
	ibv_free_device_list(list);
	return dev;
}

/**
 * rcm_device_get - the device that an endpoint is on
 * @ep: endpoint with a device
 *
 * Return: the device, opened, with a user more; NULL with errno ENODEV when
 * it cannot be found or opened.
 */
struct rcm_device *rcm_device_get(const struct rcm_endpoint *ep)
{
	struct rcm_device *dev;

	rcm_devices_do_lock();
	dev = rcm_device_find(ep);
	if (dev)
		dev->refs++;
	rcm_devices_do_unlock();
	if (!dev)
		errno = ENODEV;
	return dev;
}

static void rcm_device_put_locked(struct rcm_device *dev)
{
	if (!--dev->refs && dev->gone)
		rcm_device_close(dev);
}

/**
 * rcm_device_put - cease to use a device
 * @dev: device
 */
void rcm_device_put(struct rcm_device *dev)
{
	rcm_devices_do_lock();
	rcm_device_put_locked(dev);
	rcm_devices_do_unlock();
}

/**
 * rcm_device_gone - note that a device was removed from the machine
 * @dev: device, or NULL
 */
void rcm_device_gone(struct rcm_device *dev)
{
	if (!dev)
		return;
	rcm_devices_do_lock();
	dev->gone = true;
	rcm_devices_do_unlock();
}

/**
 * rcm_device_xrcd - the default XRC domain of a device
 * @dev: device
 *
 * Return: the domain, which lasts as long as the device is open; or NULL with
 * errno as of ibv_open_xrcd(), EOPNOTSUPP where the device has no XRC.
 */
struct ibv_xrcd *rcm_device_xrcd(struct rcm_device *dev)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};
	struct ibv_xrcd *xrcd;

	rcm_devices_do_lock();
	if (!dev->xrcd)
		dev->xrcd = ibv_open_xrcd(dev->verbs, &attr);
	xrcd = dev->xrcd;
	rcm_devices_do_unlock();
	return xrcd;
}

static struct ibv_context *rcm_device_share(struct ibv_device *ibdev)
{
	struct rcm_endpoint ep = {
		.node_guid = ibv_get_device_guid(ibdev),
		.ibdev_index = ibv_get_device_index(ibdev),
	};
	struct rcm_device *dev = rcm_device_find_open(&ep);

	if (!dev)
		dev = rcm_device_open(ibdev);
	if (!dev)
		return NULL;
	dev->refs++;
	return dev->verbs;
}

/**
 * rdma_get_devices - open all RDMA devices
 * @num_devices: where to put their number, or NULL
 *
 * A device that cannot be opened is left out.  Devices stay open after
 * rdma_free_devices(), as long as they exist.  Does not wait.
 *
 * Follows rdma_get_devices(3).
 *
 * Return: array of devices that ends with NULL, for rdma_free_devices(); or
 * NULL with errno: ENODEV (none), ENOMEM.
 */
struct ibv_context **rdma_get_devices(int *num_devices)
{
	struct ibv_context **devs = NULL;
	struct ibv_device **list;
	int i, n, count = 0;

	list = ibv_get_device_list(&n);
	if (!list) {
		/* This kernel has no RDMA, which is ENOSYS. */
		if (errno != ENOMEM)
			errno = ENODEV;
		goto out;
	}
	devs = calloc(n + 1, sizeof(*devs));
	if (!devs)
		goto out_list;
	rcm_devices_do_lock();
	for (i = 0; i < n; i++) {
		devs[count] = rcm_device_share(list[i]);
		if (devs[count])
			count++;
	}
	rcm_devices_do_unlock();
	if (!count) {
		free(devs);
		devs = NULL;
		errno = ENODEV;
	}
out_list:
	ibv_free_device_list(list);
out:
	if (num_devices)
		*num_devices = count;
	return devs;
}

/**
 * rdma_free_devices - free an array of devices
 * @list: from rdma_get_devices(), or NULL
 *
 * Follows rdma_free_devices(3).
 */
void rdma_free_devices(struct ibv_context **list)
{
	struct rcm_device *dev;
	int i;

	rcm_devices_do_lock();
	for (i = 0; list && list[i]; i++) {
		for (dev = rcm_devices; dev; dev = dev->next)
			if (dev->verbs == list[i])
				break;
		if (dev)
			rcm_device_put_locked(dev);
	}
	rcm_devices_do_unlock();
	free(list);
}
