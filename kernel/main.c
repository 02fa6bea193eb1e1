// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Load and unload.
 */
#include <linux/module.h>
#include <linux/workqueue.h>

#include "rcm_priv.h"

/* Not ordered: one identifier's work never waits for another's. */
struct workqueue_struct *rcm_wq;

static int __init rcm_init(void)
{
	int ret;

	rcm_pace_init();
	rcm_wq = alloc_workqueue("rcm", WQ_UNBOUND, 0);
	if (!rcm_wq)
		return -ENOMEM;
	ret = rcm_id_init();
	if (ret)
		goto err_wq;
	ret = rcm_net_init();
	if (ret)
		goto err_id;
	ret = rcm_addr_init();
	if (ret)
		goto err_net;
	ret = rcm_device_init();
	if (ret)
		goto err_addr;
	rcm_debugfs_init();
	ret = rcm_uabi_init();
	if (ret)
		goto err_debugfs;
	return 0;

err_debugfs:
	rcm_debugfs_exit();
	rcm_device_exit();
err_addr:
	rcm_addr_exit();
err_net:
	rcm_net_exit();
err_id:
	rcm_id_exit();
err_wq:
	destroy_workqueue(rcm_wq);
	return ret;
}

static void __exit rcm_exit(void)
{
	rcm_uabi_exit();
	rcm_debugfs_exit();
	rcm_device_exit();
	rcm_addr_exit();
	/* A last reference may be put from there. */
	flush_workqueue(rcm_wq);
	rcm_net_exit();
	rcm_id_exit();
	destroy_workqueue(rcm_wq);
}

module_init(rcm_init);
module_exit(rcm_exit);

MODULE_DESCRIPTION("RDMA connection manager");
/*
 * Who registered last is told first that a device goes: a program has to hear
 * of it from us before ib_uverbs waits until it has let go.
 */
MODULE_SOFTDEP("pre: ib_uverbs");
MODULE_LICENSE("GPL");
MODULE_VERSION(RCM_VERSION);
