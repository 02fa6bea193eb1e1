// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RDMA devices: looked up when they are needed, opened once, shared, and
 * closed when nothing uses them any more: no identifier (an event has one), no
 * list of rdma_get_devices(), and no object that the application made on
 * id->verbs, which it may keep longer than the identifier.
 *
 * Nobody waits for another device to be opened, which can take long.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rcm_user.h"

static pthread_mutex_t rcm_devices_lock = PTHREAD_MUTEX_INITIALIZER;
/* Signalled when a device was opened, or could not be. */
static pthread_cond_t rcm_device_opened = PTHREAD_COND_INITIALIZER;
static struct rcm_device *rcm_devices;

static void rcm_device_unlink(struct rcm_device *dev)
{
	struct rcm_device **pos = &rcm_devices;

	while (*pos != dev)
		pos = &(*pos)->next;
	*pos = dev->next;
}

/* A thread that is cancelled in there would keep the lock. */
static __thread int rcm_devices_cancel;

static void rcm_devices_do_lock(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&rcm_devices_lock);
	rcm_devices_cancel = state;
}

static void rcm_devices_do_unlock(void)
{
	pthread_mutex_unlock(&rcm_devices_lock);
	pthread_setcancelstate(rcm_devices_cancel, NULL);
}

/*
 * A child must not inherit the lock taken by a thread that it has not, nor
 * wait for one to open a device.
 */
static void rcm_devices_in_child(void)
{
	struct rcm_device *dev, *next;

	for (dev = rcm_devices; dev; dev = next) {
		next = dev->next;
		if (dev->opening)
			rcm_device_unlink(dev);
	}
	pthread_cond_init(&rcm_device_opened, NULL);
	rcm_devices_do_unlock();
}

__attribute__((constructor)) static void rcm_devices_init(void)
{
	pthread_atfork(rcm_devices_do_lock, rcm_devices_do_unlock,
		       rcm_devices_in_child);
}

/*
 * Of the directory that stands for opening the device: it goes first, while
 * removal waits for those who have it open.
 */
static __u64 rcm_device_inode(struct ibv_device *ibdev)
{
	struct stat st;

	return stat(ibdev->dev_path, &st) ? 0 : st.st_ino;
}

static __u8 rcm_limit(int value)
{
	if (value < 0)
		return 0;
	return value > 0xff ? 0xff : value;
}

/* Lets go of what has no other user than us. */
static void rcm_device_close(struct rcm_device *dev)
{
	rcm_device_unlink(dev);
	if (dev->xrcd)
		ibv_close_xrcd(dev->xrcd);
	if (dev->pd)
		ibv_dealloc_pd(dev->pd);
	rcm_verbs_retire(dev->verbs);
	free(dev);
}

/* A device that came back under its old name is another device. */
static bool rcm_device_usable(struct rcm_device *dev)
{
	if (!dev->gone && !dev->opening &&
	    rcm_device_inode(dev->verbs->device) != dev->inode)
		dev->gone = true;
	return !dev->gone;
}

/*
 * rdma_get_devices(3) promises that a device stays open after its list was
 * freed, and programs rely on it; for as long as there is such a device.
 */
static bool rcm_device_idle(struct rcm_device *dev)
{
	if (dev->refs || (rcm_device_usable(dev) && dev->listed))
		return false;
	return !rcm_verbs_in_use(dev);
}

static void rcm_devices_close_idle(void)
{
	struct rcm_device *dev, *next;

	for (dev = rcm_devices; dev; dev = next) {
		next = dev->next;
		if (rcm_device_idle(dev))
			rcm_device_close(dev);
	}
}

/* A negative errno: what the caller can do something about, or no device. */
static int rcm_open_errno(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
	case EMFILE:
	case ENFILE:
	case ENOMEM:
		return -error;
	default:
		return -ENODEV;
	}
}

/* libibverbs says something else when the file must not be opened. */
static int rcm_verbs_open(struct ibv_device *ibdev, struct ibv_context **out)
{
	char path[sizeof(RCM_DEVICE_DIR) + sizeof(ibdev->dev_name)];
	int error;

	errno = 0;
	*out = ibv_open_device(ibdev);
	if (*out)
		return 0;
	error = errno;
	snprintf(path, sizeof(path), RCM_DEVICE_DIR "%s", ibdev->dev_name);
	if (faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS))
		error = errno;
	return rcm_open_errno(error);
}

/* 0, or a negative errno. */
static int rcm_device_open(struct rcm_device *dev, struct ibv_device *ibdev)
{
	struct ibv_device_attr attr;
	int error;

	error = rcm_verbs_open(ibdev, &dev->verbs);
	if (error)
		return error;
	if (ibv_query_device(dev->verbs, &attr)) {
		ibv_close_device(dev->verbs);
		dev->verbs = NULL;
		return -ENODEV;
	}
	dev->inode = rcm_device_inode(ibdev);
	dev->driver = rcm_verbs_driver(dev->verbs);
	dev->max_responder_resources = rcm_limit(attr.max_qp_rd_atom);
	dev->max_initiator_depth = rcm_limit(attr.max_qp_init_rd_atom);
	return 0;
}

static void rcm_device_put_locked(struct rcm_device *dev)
{
	if (--dev->refs)
		return;
	if (!dev->verbs) {
		/* It is off the list. */
		free(dev);
		return;
	}
	rcm_devices_close_idle();
}

/* Gives the device a user more, whom it costs one if that is not possible. */
static int rcm_device_wait(struct rcm_device *dev)
{
	int error;

	dev->refs++;
	while (dev->opening)
		pthread_cond_wait(&rcm_device_opened, &rcm_devices_lock);
	error = dev->error;
	if (error)
		rcm_device_put_locked(dev);
	return error;
}

/* A new entry of the list, opened without the lock. */
static int rcm_device_add(struct ibv_device *ibdev, struct rcm_device **out)
{
	struct rcm_device *dev;

	dev = calloc(1, sizeof(*dev));
	if (!dev)
		return -ENOMEM;
	dev->guid = ibv_get_device_guid(ibdev);
	dev->index = ibv_get_device_index(ibdev);
	dev->opening = true;
	dev->refs = 1;
	dev->next = rcm_devices;
	rcm_devices = dev;
	*out = dev;

	/* Others wait for it, so it is not cancelled either. */
	pthread_mutex_unlock(&rcm_devices_lock);
	dev->error = rcm_device_open(dev, ibdev);
	pthread_mutex_lock(&rcm_devices_lock);

	dev->opening = false;
	if (dev->error)
		rcm_device_unlink(dev);
	pthread_cond_broadcast(&rcm_device_opened);
	return dev->error;
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

/*
 * The kernel hands out all other indices before it gives one a second time, so
 * a device found by its index is the one that is meant.  Asking whether it is
 * still there costs more than the command that the endpoint came from.
 */
static bool rcm_device_current(struct rcm_device *dev,
			       const struct rcm_endpoint *ep)
{
	if (dev->index >= 0 && ep->ibdev_index != ~0U)
		return !dev->gone;
	return rcm_device_usable(dev);
}

static struct rcm_device *rcm_device_find(const struct rcm_endpoint *ep)
{
	struct rcm_device *dev;

	for (dev = rcm_devices; dev; dev = dev->next)
		if (rcm_device_is(dev->index, dev->guid, ep) &&
		    rcm_device_current(dev, ep))
			return dev;
	return NULL;
}

/* Opens a device unless it is open; the list is locked. 0, or a negative errno. */
static int rcm_device_share(struct ibv_device *ibdev, struct rcm_device **out)
{
	struct rcm_endpoint ep = {
		.node_guid = ibv_get_device_guid(ibdev),
		.ibdev_index = ibv_get_device_index(ibdev),
	};
	int error;

	*out = rcm_device_find(&ep);
	if (*out)
		return rcm_device_wait(*out);
	error = rcm_device_add(ibdev, out);
	if (error && *out)
		rcm_device_put_locked(*out);
	return error;
}

static int rcm_device_look_up(const struct rcm_endpoint *ep,
			      struct rcm_device **out)
{
	struct ibv_device **list;
	int error = -ENODEV;
	int i;

	list = ibv_get_device_list(NULL);
	if (!list)
		return errno == ENOMEM ? -ENOMEM : -ENODEV;
	for (i = 0; list[i]; i++)
		if (rcm_device_is(ibv_get_device_index(list[i]),
				  ibv_get_device_guid(list[i]), ep))
			break;
	if (list[i]) {
		rcm_devices_do_lock();
		error = rcm_device_share(list[i], out);
		rcm_devices_do_unlock();
	}
	ibv_free_device_list(list);
	return error;
}

/* Each identifier's default protection domain; the list is locked. */
static int rcm_device_need_pd(struct rcm_device *dev)
{
	if (!dev->pd)
		dev->pd = ibv_alloc_pd(dev->verbs);
	return dev->pd ? 0 : rcm_open_errno(errno);
}

/**
 * rcm_device_get - the device that an endpoint is on
 * @ep: endpoint with a device
 *
 * Return: the device, opened and with a protection domain, with a user more;
 * NULL with errno: EACCES, EPERM (its file must not be opened), EMFILE,
 * ENFILE, ENOMEM, or ENODEV when it cannot be found or used.
 */
struct rcm_device *rcm_device_get(const struct rcm_endpoint *ep)
{
	struct rcm_device *dev;
	int error;

	rcm_devices_do_lock();
	dev = rcm_device_find(ep);
	if (dev) {
		error = rcm_device_wait(dev);
		rcm_devices_do_unlock();
	} else {
		rcm_devices_do_unlock();
		error = rcm_device_look_up(ep, &dev);
	}
	if (error)
		goto err;

	rcm_devices_do_lock();
	error = rcm_device_need_pd(dev);
	if (error)
		rcm_device_put_locked(dev);
	rcm_devices_do_unlock();
	if (error)
		goto err;
	return dev;

err:
	errno = -error;
	return NULL;
}

/**
 * rcm_device_put - cease to use a device
 * @dev: device; closed with its last user
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
 * NULL with errno: ENODEV (none), EACCES, EMFILE (there is one, but it cannot
 * be opened), ENOMEM.
 */
struct ibv_context **rdma_get_devices(int *num_devices)
{
	struct ibv_context **devs = NULL;
	int i, n, error = -ENODEV, count = 0;
	struct ibv_device **list;
	struct rcm_device *dev;

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
	rcm_devices_close_idle();
	for (i = 0; i < n; i++) {
		int ret = rcm_device_share(list[i], &dev);

		if (ret) {
			error = ret;
			continue;
		}
		dev->listed = true;
		devs[count++] = dev->verbs;
	}
	rcm_devices_do_unlock();
	if (!count) {
		free(devs);
		devs = NULL;
		errno = -error;
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
