// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The floor of the benchmark: connections made straight on ib_cm, one after
 * the other, with no connection manager on top and no queue pairs.  Runs when
 * it is loaded; its parameters say what came out.
 */
#include <linux/completion.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_cm.h>

#define FLOOR_SERVICE_ID cpu_to_be64(0x0000000001ff0001ULL)
#define FLOOR_FIRST_QPN	 0xf00000
#define FLOOR_GIDS	 32
#define FLOOR_TIMEOUT	 (10 * HZ)

static unsigned int count = 200;
module_param(count, uint, 0444);
MODULE_PARM_DESC(count, "Connections to make");

static unsigned long connect_ns;
module_param(connect_ns, ulong, 0444);
MODULE_PARM_DESC(connect_ns, "What one took, create to established");

static unsigned long disconnect_ns;
module_param(disconnect_ns, ulong, 0444);
MODULE_PARM_DESC(disconnect_ns, "What ending one took");

static unsigned long destroy_ns;
module_param(destroy_ns, ulong, 0444);
MODULE_PARM_DESC(destroy_ns, "What destroying both sides of one took");

/**
 * struct floor_side - one side of the connection that is being made
 * @done: the step is over on this side
 * @cm: its identifier, of the passive side when the request came
 * @failed: something else came
 */
struct floor_side {
	struct completion done;
	struct ib_cm_id *cm;
	bool failed;
};

static struct floor_side active, passive;
static const struct ib_gid_attr *gid_attr;
static struct sa_path_rec path;
static u32 qpn = FLOOR_FIRST_QPN;

static int floor_handler(struct ib_cm_id *cm, const struct ib_cm_event *event)
{
	struct floor_side *side = cm->context;

	switch (event->event) {
	case IB_CM_REP_RECEIVED:
		side->failed = ib_send_cm_rtu(cm, NULL, 0);
		break;
	case IB_CM_RTU_RECEIVED:
	case IB_CM_DREP_RECEIVED:
		break;
	case IB_CM_DREQ_RECEIVED:
		side->failed = ib_send_cm_drep(cm, NULL, 0);
		break;
	case IB_CM_TIMEWAIT_EXIT:
		return 0;
	default:
		side->failed = true;
	}
	complete(&side->done);
	return 0;
}

static int floor_request(struct ib_cm_id *cm, const struct ib_cm_event *event)
{
	struct ib_cm_rep_param rep = {
		.qp_num = qpn++,
		.rnr_retry_count = 7,
	};

	if (event->event != IB_CM_REQ_RECEIVED)
		return -EINVAL;
	cm->context = &passive;
	cm->cm_handler = floor_handler;
	passive.cm = cm;
	passive.failed = ib_send_cm_rep(cm, &rep);
	return 0;
}

static int floor_wait(struct floor_side *side)
{
	if (!wait_for_completion_timeout(&side->done, FLOOR_TIMEOUT))
		return -ETIMEDOUT;
	return side->failed ? -EPROTO : 0;
}

static int floor_wait_both(void)
{
	return floor_wait(&active) ?: floor_wait(&passive);
}

static int floor_connect(void)
{
	struct ib_cm_req_param req = {
		.primary_path = &path,
		.ppath_sgid_attr = gid_attr,
		.service_id = FLOOR_SERVICE_ID,
		.qp_num = qpn++,
		.qp_type = IB_QPT_RC,
		.retry_count = 7,
		.rnr_retry_count = 7,
		.remote_cm_response_timeout = 20,
		.local_cm_response_timeout = 20,
		.max_cm_retries = 15,
	};
	int ret;

	active.cm = ib_create_cm_id(gid_attr->device, floor_handler, &active);
	if (IS_ERR(active.cm))
		return PTR_ERR(active.cm);
	ret = ib_send_cm_req(active.cm, &req);
	return ret ?: floor_wait_both();
}

static int floor_one(void)
{
	u64 start = ktime_get_ns(), up, down;
	int ret;

	active.cm = NULL;
	passive.cm = NULL;
	ret = floor_connect();
	up = ktime_get_ns();
	if (!ret)
		ret = ib_send_cm_dreq(active.cm, NULL, 0) ?: floor_wait_both();
	down = ktime_get_ns();
	if (!IS_ERR_OR_NULL(active.cm))
		ib_destroy_cm_id(active.cm);
	if (passive.cm)
		ib_destroy_cm_id(passive.cm);
	connect_ns += up - start;
	disconnect_ns += down - up;
	destroy_ns += ktime_get_ns() - down;
	return ret;
}

static int floor_run(void)
{
	struct ib_cm_id *listener;
	unsigned int i;
	int ret = 0;

	listener = ib_cm_insert_listen(gid_attr->device, floor_request,
				       FLOOR_SERVICE_ID);
	if (IS_ERR(listener))
		return PTR_ERR(listener);
	/* The first ones find nothing in the caches. */
	for (i = 0; i < 10 && !ret; i++)
		ret = floor_one();
	connect_ns = 0;
	disconnect_ns = 0;
	destroy_ns = 0;
	for (i = 0; i < count && !ret; i++)
		ret = floor_one();
	ib_destroy_cm_id(listener);
	connect_ns /= count;
	disconnect_ns /= count;
	destroy_ns /= count;
	return ret;
}

static int floor_make_path(void)
{
	struct net_device *ndev;
	int ret = -ENODEV;

	path.rec_type = SA_PATH_REC_TYPE_ROCE_V2;
	path.sgid = gid_attr->gid;
	path.dgid = gid_attr->gid;
	path.hop_limit = 64;
	path.reversible = 1;
	path.numb_path = 1;
	path.pkey = cpu_to_be16(0xffff);
	path.mtu_selector = IB_SA_EQ;
	path.rate_selector = IB_SA_EQ;
	path.rate = IB_RATE_10_GBPS;
	path.packet_life_time_selector = IB_SA_EQ;
	path.packet_life_time = 16;
	path.roce.route_resolved = true;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(gid_attr);
	if (!IS_ERR(ndev)) {
		ether_addr_copy(path.roce.dmac, ndev->dev_addr);
		path.mtu = iboe_get_mtu(ndev->mtu);
		ret = 0;
	}
	rcu_read_unlock();
	return ret;
}

/* To itself, from an IPv4 address. */
static void floor_use(struct ib_device *ib)
{
	const struct ib_gid_attr *attr;
	unsigned int i;

	for (i = 0; i < FLOOR_GIDS && !gid_attr; i++) {
		attr = rdma_get_gid_attr(ib, 1, i);
		if (IS_ERR(attr))
			continue;
		if (attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
		    ipv6_addr_v4mapped((const struct in6_addr *)&attr->gid))
			gid_attr = attr;
		else
			rdma_put_gid_attr(attr);
	}
}

static int floor_add(struct ib_device *ib)
{
	if (!gid_attr && rdma_protocol_roce(ib, 1))
		floor_use(ib);
	return 0;
}

static struct ib_client floor_client = {
	.name = "ib_cm_floor",
	.add = floor_add,
};

static int __init floor_init(void)
{
	int ret;

	if (!count)
		return -EINVAL;
	init_completion(&active.done);
	init_completion(&passive.done);
	ret = ib_register_client(&floor_client);
	if (ret)
		return ret;
	ret = -ENODEV;
	if (gid_attr) {
		ret = floor_make_path() ?: floor_run();
		rdma_put_gid_attr(gid_attr);
	}
	ib_unregister_client(&floor_client);
	return ret;
}

static void __exit floor_exit(void)
{
}

module_init(floor_init);
module_exit(floor_exit);
MODULE_DESCRIPTION("Connections straight on ib_cm, for the benchmark of rcm");
MODULE_LICENSE("GPL");
