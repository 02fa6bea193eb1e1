/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * An iWARP device (siw), with queue pairs: unlike on RoCE they have to exist,
 * since iw_cm moves them itself. Debian's kernel has no siw.
 */
#ifndef SIW_H
#define SIW_H

#include <infiniband/verbs.h>

#include "rcm_test.h"

#define SIW_LINK "iw0"
#define SIW_DEV	 "siw0"
#define SIW_IP4	 "10.82.0.1"
#define SIW_IP6	 "fd82::1"

static inline void del_siw(void)
{
	sh("{ rdma link del " SIW_DEV "; ip link del " SIW_LINK
	   "; } 2>/dev/null");
}

static inline int add_siw(void)
{
	int ret;

	if (if_nametoindex(SIW_LINK))
		del_siw();
	ret = sh(
		"{ modprobe siw && echo driver siw >/etc/libibverbs.d/siw.driver && "
		"ip link add " SIW_LINK " type dummy && "
		"ip address add " SIW_IP4 "/24 dev " SIW_LINK " && "
		"ip address add " SIW_IP6 "/64 dev " SIW_LINK " nodad && "
		"ip link set " SIW_LINK " up && "
		"rdma link add " SIW_DEV " type siw netdev " SIW_LINK
		"; } 2>&1");
	return ret || !wait_for_address(SIW_IP4) ? -ENODEV : 0;
}

/* --- queue pairs */

static struct ibv_context *verbs;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qps[64];
static int nr_qps;

static inline int open_verbs(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++) {
		if (!strcmp(ibv_get_device_name(list[i]), SIW_DEV))
			verbs = ibv_open_device(list[i]);
	}
	if (list)
		ibv_free_device_list(list);
	pd = verbs ? ibv_alloc_pd(verbs) : NULL;
	cq = pd ? ibv_create_cq(verbs, 64, NULL, NULL, 0) : NULL;
	return cq ? 0 : -ENODEV;
}

static inline void destroy_qps(void)
{
	while (nr_qps)
		ibv_destroy_qp(qps[--nr_qps]);
}

static inline void close_verbs(void)
{
	destroy_qps();
	if (cq)
		ibv_destroy_cq(cq);
	if (pd)
		ibv_dealloc_pd(pd);
	if (verbs)
		ibv_close_device(verbs);
	cq = NULL;
	pd = NULL;
	verbs = NULL;
}

/* The number of a new queue pair, 0 when there is none. */
static inline __u32 new_qp(void)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { 2, 2, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);

	if (!qp)
		return 0;
	qps[nr_qps++] = qp;
	return qp->qp_num;
}

static inline struct rcm_conn_param iw_param(const void *data, int len)
{
	struct rcm_conn_param conn = conn_param(data, len);

	conn.qp_num = new_qp();
	return conn;
}

static inline int iw_connect(int fd, int handle, const void *data, int len)
{
	struct rcm_conn_param conn = iw_param(data, len);

	return connect_with(fd, handle, &conn);
}

static inline int iw_accept(int fd, int handle, const void *data, int len)
{
	struct rcm_conn_param conn = iw_param(data, len);

	return accept_with(fd, handle, 0, &conn);
}

#endif /* SIW_H */
