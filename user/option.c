// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Options of an identifier.
 */
#include <errno.h>
#include <string.h>

#include <infiniband/sa.h>

#include "rcm_user.h"

/* What a usable path is marked with: for all traffic, there and back. */
#define RCM_PATH_FLAGS                               \
	(IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | \
	 IBV_PATH_FLAG_BIDIRECTIONAL)

static const struct ibv_path_data *
rcm_find_path(const struct ibv_path_data *data, size_t len)
{
	size_t i;

	for (i = 0; i < len / sizeof(*data); i++) {
		if (data[i].flags == RCM_PATH_FLAGS)
			return &data[i];
	}
	return NULL;
}

static bool rcm_path_leads_to(const struct rcm_id *id,
			      const struct ibv_path_data *data)
{
	const struct rdma_ib_addr *ib = &id->id.route.addr.addr.ibaddr;

	return !memcmp(&data->path.sgid, &ib->sgid, sizeof(ib->sgid)) &&
	       !memcmp(&data->path.dgid, &ib->dgid, sizeof(ib->dgid));
}

/*
 * On RoCE the path follows from the addresses, and one that comes from
 * elsewhere can only say the same.  So it takes the place of
 * rdma_resolve_route(), and that is done, without waiting.
 */
static int rcm_set_path(struct rdma_cm_id *id, const void *optval,
			size_t optlen)
{
	const struct ibv_path_data *data;

	if (!optlen || optlen % sizeof(*data))
		return rcm_fail(EINVAL);
	data = rcm_find_path(optval, optlen);
	if (!data || !to_rcm_id(id)->dev ||
	    !rcm_path_leads_to(to_rcm_id(id), data))
		return rcm_fail(EINVAL);
	return rcm_resolve_route(to_rcm_id(id), RCM_DEFAULT_TIMEOUT_MS);
}

/**
 * rdma_set_option - set an option of an identifier
 * @id: identifier
 * @level: RDMA_OPTION_ID, RDMA_OPTION_IB or, with <rcm/librcm.h>, RCM_OPTION
 * @optname: of RDMA_OPTION_ID: RDMA_OPTION_ID_TOS (uint8_t, type of service),
 *	RDMA_OPTION_ID_REUSEADDR (int, before resolving and listening),
 *	RDMA_OPTION_ID_AFONLY (int, likewise), RDMA_OPTION_ID_ACK_TIMEOUT (uint8_t, 4.096 us
 *	times two to its power); of RDMA_OPTION_IB: RDMA_OPTION_IB_PATH (array
 *	of struct ibv_path_data, instead of rdma_resolve_route(), whose event
 *	follows; one of them for both directions, primary, and from and to the
 *	GIDs of the identifier); of RCM_OPTION: RCM_OPTION_CONNECT_TIMEOUT
 *	(uint32_t, milliseconds), RCM_OPTION_CONNECT_TRIES (uint32_t)
 * @optval: the value
 * @optlen: bytes at @optval
 *
 * Follows rdma_set_option(3).  Does not wait, and leaves the event of
 * RDMA_OPTION_IB_PATH to be read of a synchronous identifier, too: rsockets
 * wait for it themselves.
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
	if (level == RDMA_OPTION_IB && optname == RDMA_OPTION_IB_PATH)
		return rcm_set_path(id, optval, optlen);
	if (rcm_id_need_handle(to_rcm_id(id)))
		return -1;
	cmd.handle = rcm_id_handle(to_rcm_id(id));
	if (rcm_id_ioctl(to_rcm_id(id), RCM_SET_OPTION, &cmd))
		return -1;
	/* What the request's event said about RTS may have changed by this. */
	to_rcm_id(id)->qp_attr.rts_mask = 0;
	return 0;
}
