// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Options of an identifier.
 */
#include <errno.h>

#include "rcm_user.h"

/**
 * rdma_set_option - set an option of an identifier
 * @id: identifier
 * @level: RDMA_OPTION_ID
 * @optname: RDMA_OPTION_ID_TOS (uint8_t, type of service),
 *	RDMA_OPTION_ID_REUSEADDR (int, before binding), RDMA_OPTION_ID_AFONLY
 *	(int, before binding), RDMA_OPTION_ID_ACK_TIMEOUT (uint8_t, 4.096 us
 *	times two to its power)
 * @optval: the value
 * @optlen: bytes at @optval
 *
 * Follows rdma_set_option(3).  Does not wait.
 *
 * Return: 0, or -1 with errno: EINVAL (NULL, wrong length, value or state),
 * ENOPROTOOPT (no such level or option), ENOMEM, EMFILE.
 */
int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval,
		    size_t optlen)
{
	struct rcm_set_option cmd = {
		.size = sizeof(cmd),
		.level = level,
		.optname = optname,
		.optlen = optlen,
		.optval = (uintptr_t)optval,
	};

	if (!id || !optval || optlen != cmd.optlen)
		return rcm_fail(EINVAL);
	if (rcm_id_need_handle(to_rcm_id(id)))
		return -1;
	cmd.handle = rcm_id_handle(to_rcm_id(id));
	return rcm_id_ioctl(to_rcm_id(id), RCM_SET_OPTION, &cmd);
}
