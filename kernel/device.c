// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RDMA devices come and go; identifiers are attached to them.
 */
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "rcm_priv.h"

/* Protects the list of devices and the lists of listens; see rcm_priv.h. */
DEFINE_MUTEX(rcm_device_mutex);
LIST_HEAD(rcm_devices);

static struct ib_client rcm_client;

void rcm_device_get(struct rcm_device *device)
{
	refcount_inc(&device->refs);
}

void rcm_device_put(struct rcm_device *device)
{
	if (refcount_dec_and_test(&device->refs))
		complete(&device->released);
}

/**
 * rcm_device_of - our device for an ib_device
 * @ib: device
 *
 * For callbacks of a transport on that device: it cannot go while they run.
 *
 * Return: the device, or %NULL when we do not use it.
 */
struct rcm_device *rcm_device_of(struct ib_device *ib)
{
	return ib_get_client_data(ib, &rcm_client);
}

/* Publishes the device on the identifier; false when the device is going. */
static bool rcm_device_link(struct rcm_id *priv, struct rcm_device *device,
			    u32 port_num, const struct ib_gid_attr *sgid_attr,
			    int ifindex)
{
	bool dead;

	lockdep_assert_held(&priv->mutex);

	spin_lock(&device->lock);
	dead = device->dead;
	if (!dead) {
		refcount_inc(&device->refs);
		list_add_tail(&priv->device_node, &device->ids);
	}
	spin_unlock(&device->lock);
	if (dead)
		return false;

	priv->device = device;
	priv->sgid_attr = sgid_attr;
	priv->ifindex = ifindex;
	priv->id.device = device->ib;
	priv->id.port_num = port_num;
	return true;
}

/**
 * rcm_device_suits - may an identifier use a device
 * @priv: identifier
 * @device: device
 *
 * Return: whether it is of the kind that the consumer wants.
 */
bool rcm_device_suits(struct rcm_id *priv, struct rcm_device *device)
{
	return priv->node_type == RDMA_NODE_UNSPECIFIED ||
	       priv->node_type == device->ib->node_type;
}

/* The consumer looks for them in its identifier. */
static void rcm_device_addr(struct rcm_id *priv, const struct net_device *ndev)
{
	struct rdma_dev_addr *addr = &priv->id.route.addr.dev_addr;

	addr->dev_type = ndev->type;
	addr->bound_dev_if = ndev->ifindex;
	addr->sgid_attr = priv->sgid_attr;
	addr->network = rcm_src(priv)->sa.sa_family == AF_INET ?
				RDMA_NETWORK_IPV4 :
				RDMA_NETWORK_IPV6;
	memcpy(addr->src_dev_addr, ndev->dev_addr, ndev->addr_len);
	memcpy(addr->broadcast, ndev->broadcast, ndev->addr_len);
}

/* Is the device made on the interface?  Then it has a GID for it, the first. */
static bool rcm_port_is_on(struct ib_device *ib, u32 port,
			   const struct net_device *ndev)
{
	const struct ib_gid_attr *attr = rdma_get_gid_attr(ib, port, 0);
	bool found;

	if (IS_ERR(attr))
		return false;
	found = rdma_read_gid_attr_ndev_rcu(attr) == ndev;
	rdma_put_gid_attr(attr);
	return found;
}

/**
 * struct rcm_device_why - why no device was found
 * @step: how near it came
 * @index: of the device that @step is about
 */
struct rcm_device_why {
	enum rcm_step step;
	u32 index;
};

static bool rcm_device_try(struct rcm_id *priv, struct rcm_device *device,
			   struct net_device *ndev, struct rcm_device_why *why)
{
	bool ours = rdma_dev_access_netns(device->ib, priv->net);
	const struct ib_gid_attr *attr;
	u32 port;

	if (!rcm_device_suits(priv, device))
		return false;

	rdma_for_each_port(device->ib, port) {
		attr = device->transport->find_gid(device->ib, port,
						   rcm_src(priv), ndev);
		if (IS_ERR(attr)) {
			if (ours && rcm_port_is_on(device->ib, port, ndev)) {
				why->step = RCM_STEP_GID;
				why->index = device->ib->index;
			}
			continue;
		}
		if (!ours) {
			why->step = RCM_STEP_NAMESPACE;
			why->index = device->ib->index;
		} else if (rcm_device_link(priv, device, port, attr,
					   ndev->ifindex)) {
			rcm_device_addr(priv, ndev);
			return true;
		}
		rdma_put_gid_attr(attr);
	}
	return false;
}

/**
 * rcm_device_attach - find the RDMA device for an identifier's local address
 * @priv: identifier with a local address, with its mutex held
 * @ifindex: interface that holds the address
 *
 * Context: any that may take a mutex.
 * Return: 0; -ENODEV when no RDMA device in the identifier's namespace has
 * the address on that interface; the reason says more.
 */
int rcm_device_attach(struct rcm_id *priv, int ifindex)
{
	struct rcm_device_why why = { .step = RCM_STEP_DEVICE };
	struct rcm_device *device;
	struct net_device *ndev;
	int ret = -ENODEV;

	rcu_read_lock();
	ndev = dev_get_by_index_rcu(priv->net, ifindex);
	if (!ndev)
		goto out;
	list_for_each_entry_rcu(device, &rcm_devices, node) {
		if (rcm_device_try(priv, device, ndev, &why)) {
			ret = 0;
			break;
		}
	}
out:
	rcu_read_unlock();
	if (ret)
		rcm_id_blame_link(priv, why.step, ret, ifindex, why.index);
	return ret;
}

/* The interface that holds the local address, or %NULL. */
static struct net_device *rcm_device_ndev_rcu(struct rcm_id *priv)
{
	int ifindex = rcm_addr_local_ifindex(priv->net, rcm_src(priv));

	return ifindex > 0 ? dev_get_by_index_rcu(priv->net, ifindex) : NULL;
}

/**
 * rcm_device_attach_child - attach what came in by a device to it
 * @priv: identifier of a connection request, with its mutex held
 * @device: device that the request came in by
 * @port_num: its port
 * @sgid_attr: local GID that the request was sent to
 *
 * Return: 0; -ENODEV when the device is going.
 */
int rcm_device_attach_child(struct rcm_id *priv, struct rcm_device *device,
			    u32 port_num, const struct ib_gid_attr *sgid_attr)
{
	struct net_device *ndev;
	bool linked;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(sgid_attr);
	if (IS_ERR(ndev))
		ndev = rcm_device_ndev_rcu(priv);
	rdma_hold_gid_attr(sgid_attr);
	linked = rcm_device_link(priv, device, port_num, sgid_attr,
				 ndev ? ndev->ifindex : 0);
	if (linked && ndev)
		rcm_device_addr(priv, ndev);
	rcu_read_unlock();
	if (linked)
		return 0;
	rdma_put_gid_attr(sgid_attr);
	return -ENODEV;
}

/* What an identifier holds of a device. */
struct rcm_hold {
	struct rcm_device *device;
	const struct ib_gid_attr *sgid_attr;
	void *cm;
};

/* Takes everything of the device off the identifier, to be let go later. */
static void rcm_device_unlink(struct rcm_id *priv, struct rcm_hold *hold)
{
	hold->device = priv->device;
	hold->sgid_attr = priv->sgid_attr;
	hold->cm = priv->cm;
	priv->device = NULL;
	priv->sgid_attr = NULL;
	priv->cm = NULL;
	priv->id.device = NULL;
	memset(&priv->id.route.addr.dev_addr, 0,
	       sizeof(priv->id.route.addr.dev_addr));
	priv->id.route.addr.dev_addr.net = priv->net;
}

static void rcm_hold_release(struct rcm_id *priv, struct rcm_hold *hold)
{
	if (!hold->device)
		return;

	if (hold->cm)
		rcm_cm_destroy(priv, hold->device, hold->cm);
	spin_lock(&hold->device->lock);
	list_del_init(&priv->device_node);
	spin_unlock(&hold->device->lock);
	rdma_put_gid_attr(hold->sgid_attr);
	rcm_device_put(hold->device);
}

/**
 * rcm_device_detach - give an identifier's device back
 * @priv: identifier that nobody else changes: its mutex is held, or it is
 *	being destroyed; has no connection any more
 */
void rcm_device_detach(struct rcm_id *priv)
{
	struct rcm_hold hold;

	rcm_device_unlink(priv, &hold);
	hold.cm = NULL;
	rcm_hold_release(priv, &hold);
}

/*
 * The device of an identifier is going.  A consumer that takes events inline
 * holds nothing on the device through us and need not do anything: the
 * identifier lives on without device, and each later call says -ENODEV.  Any
 * other consumer has to destroy the identifier, and removal waits for it.
 */
static void rcm_id_device_removed(struct rcm_id *priv,
				  const struct rcm_device *device)
{
	struct rcm_hold hold = {};

	rcm_id_lock_events(priv);
	/* A call that failed may have let go of the device just now. */
	if (priv->device != device || rcm_id_move(priv, RCM_OP_REMOVE)) {
		rcm_id_unlock_events(priv);
		return;
	}
	priv->reason_device = device->ib->index;
	rcm_id_blame(priv, RCM_STEP_REMOVAL, -ENODEV, priv->reason_device);
	if (rcm_id_report(priv, RDMA_CM_EVENT_DEVICE_REMOVAL, 0)) {
		rcm_id_destroy_unlock(priv);
		return;
	}
	if (priv->inline_events) {
		rcm_mcast_leave_all(priv);
		rcm_device_unlink(priv, &hold);
	}
	rcm_id_unlock_events(priv);
	rcm_hold_release(priv, &hold);
}

static struct rcm_id *rcm_device_first_id(struct rcm_device *device)
{
	struct rcm_id *priv, *found = NULL;

	spin_lock(&device->lock);
	while (!found && !list_empty(&device->ids)) {
		priv = list_first_entry(&device->ids, struct rcm_id,
					device_node);
		list_del_init(&priv->device_node);
		/* Without a reference left it detaches itself. */
		if (refcount_inc_not_zero(&priv->refs))
			found = priv;
	}
	spin_unlock(&device->lock);
	return found;
}

/* All ports of a device are of one kind. */
static const struct rcm_transport *rcm_device_transport(struct ib_device *ib)
{
	u32 port;

	rdma_for_each_port(ib, port) {
		if (rdma_protocol_roce(ib, port) && rdma_cap_ib_cm(ib, port))
			return &rcm_transport_ib;
		if (rdma_protocol_iwarp(ib, port) && rdma_cap_iw_cm(ib, port))
			return &rcm_transport_iw;
	}
	return NULL;
}

static int rcm_device_add(struct ib_device *ib)
{
	const struct rcm_transport *transport = rcm_device_transport(ib);
	struct rcm_device *device;

	if (!transport)
		return -EOPNOTSUPP;

	device = kzalloc(sizeof(*device), GFP_KERNEL);
	if (!device)
		return -ENOMEM;

	device->ib = ib;
	device->transport = transport;
	refcount_set(&device->refs, 1);
	init_completion(&device->released);
	spin_lock_init(&device->lock);
	INIT_LIST_HEAD(&device->ids);
	INIT_LIST_HEAD(&device->listens);
	ib_set_client_data(ib, &rcm_client, device);

	mutex_lock(&rcm_device_mutex);
	list_add_tail_rcu(&device->node, &rcm_devices);
	rcm_listen_device_added(device);
	mutex_unlock(&rcm_device_mutex);
	return 0;
}

static void rcm_device_remove(struct ib_device *ib, void *client_data)
{
	struct rcm_device *device = client_data;
	struct rcm_id *priv;

	mutex_lock(&rcm_device_mutex);
	list_del_rcu(&device->node);
	mutex_unlock(&rcm_device_mutex);
	/* Who found it there asks ib_core about it, before it has a reference. */
	synchronize_rcu();

	spin_lock(&device->lock);
	WRITE_ONCE(device->dead, true);
	spin_unlock(&device->lock);

	rcm_listen_device_removed(device);
	while ((priv = rcm_device_first_id(device))) {
		rcm_id_device_removed(priv, device);
		rcm_id_put(priv);
	}

	rcm_device_put(device);
	wait_for_completion(&device->released);
	rcm_pace_device_removed(device);
	kfree_rcu(device, rcu);
}

static struct ib_client rcm_client = {
	.name = "rcm",
	.add = rcm_device_add,
	.remove = rcm_device_remove,
};

int rcm_device_init(void)
{
	return ib_register_client(&rcm_client);
}

void rcm_device_exit(void)
{
	ib_unregister_client(&rcm_client);
}
