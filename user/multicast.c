// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast.  Not supported yet: datagram port spaces come first.
 *
 * The functions are here so that programs that have multicast as one feature
 * among others start and can use the rest.
 */
#include <errno.h>

#include "rcm_user.h"

/**
 * rdma_join_multicast_ex - join a multicast group
 * @id: identifier
 * @mc_join_attr: the group
 * @context: the application's
 *
 * Return: -1 with errno: EINVAL (NULL), otherwise EOPNOTSUPP.
 */
int rdma_join_multicast_ex(struct rdma_cm_id *id,
			   struct rdma_cm_join_mc_attr_ex *mc_join_attr,
			   void *context)
{
	(void)context;
	return rcm_fail(id && mc_join_attr ? EOPNOTSUPP : EINVAL);
}

/**
 * rdma_join_multicast - join a multicast group
 * @id: identifier
 * @addr: the group
 * @context: the application's
 *
 * Return: -1 with errno: EINVAL (NULL), otherwise EOPNOTSUPP.
 */
int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr,
			void *context)
{
	(void)context;
	return rcm_fail(id && addr ? EOPNOTSUPP : EINVAL);
}

/**
 * rdma_leave_multicast - leave a multicast group
 * @id: identifier
 * @addr: the group
 *
 * Return: -1 with errno: EINVAL (NULL), otherwise EADDRNOTAVAIL, since the
 * identifier is in no group.
 */
int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr)
{
	return rcm_fail(id && addr ? EADDRNOTAVAIL : EINVAL);
}
