// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Names and services to RDMA addresses, for IP addresses.
 *
 * Names are translated by getaddrinfo(3); which local address leads to a
 * destination is asked of the kernel module, on a channel of its own.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/ib.h>
#include <infiniband/sa.h>
#include <rcm/librcm.h>

#include "rcm_user.h"

#define RCM_RAI_FLAGS                                                         \
	(RAI_PASSIVE | RAI_NUMERICHOST | RAI_NOROUTE | RAI_FAMILY | RAI_DNS | \
	 RAI_SA)

static const struct rdma_addrinfo rcm_no_hints;

static int rcm_default_ps(int qp_type)
{
	switch (qp_type) {
	case IBV_QPT_RC:
		return RDMA_PS_TCP;
	case IBV_QPT_UD:
		return RDMA_PS_UDP;
	default:
		return RDMA_PS_IB;
	}
}

/*
 * An address of the hints; 0 or what rdma_getaddrinfo() returns.  InfiniBand
 * addresses are understood, but none of the devices that the module serves has
 * one.
 */
static int rcm_check_addr(const struct sockaddr *addr, socklen_t len)
{
	if (!len)
		return 0;
	if (!addr || len < sizeof(addr->sa_family))
		return rcm_fail(EINVAL);
	if (addr->sa_family == AF_IB)
		return len < sizeof(struct sockaddr_ib) ? rcm_fail(EINVAL) :
							  EAI_ADDRFAMILY;
	if (!rcm_addr_len(addr))
		return EAI_FAMILY;
	return len < rcm_addr_len(addr) ? rcm_fail(EINVAL) : 0;
}

static int rcm_check_family(const struct rdma_addrinfo *hints)
{
	if (!(hints->ai_flags & RAI_FAMILY))
		return 0;
	switch (hints->ai_family) {
	case AF_UNSPEC:
	case AF_INET:
	case AF_INET6:
		return 0;
	case AF_IB:
		return EAI_ADDRFAMILY;
	default:
		return EAI_FAMILY;
	}
}

static bool rcm_passive(const struct rdma_addrinfo *hints)
{
	return hints->ai_flags & RAI_PASSIVE;
}

static int rcm_check_flags(int flags)
{
	/* EAI_BADFLAGS is -1, which says that errno tells. */
	if ((flags & ~RCM_RAI_FLAGS) ||
	    (flags & (RAI_DNS | RAI_SA)) == (RAI_DNS | RAI_SA)) {
		errno = EINVAL;
		return EAI_BADFLAGS;
	}
	return 0;
}

static int rcm_check_types(struct rdma_addrinfo *wanted)
{
	if (!wanted->ai_qp_type && !wanted->ai_port_space)
		wanted->ai_port_space = RDMA_PS_TCP;
	if (!wanted->ai_qp_type)
		wanted->ai_qp_type = rcm_ps_qp_type(wanted->ai_port_space);
	if (!wanted->ai_port_space)
		wanted->ai_port_space = rcm_default_ps(wanted->ai_qp_type);
	return rcm_ps_has_qp_type(wanted->ai_port_space, wanted->ai_qp_type) ?
		       0 :
		       EAI_QPTYPE;
}

/* The paths of the hints, of either type; NULL when there is no such path. */
static const struct ibv_path_record *
rcm_hint_path(const struct rdma_addrinfo *wanted, size_t n)
{
	size_t len = wanted->ai_route_len;

	if (!len)
		return NULL;
	if (len % sizeof(struct ibv_path_data) == 0) {
		const struct ibv_path_data *data = wanted->ai_route;

		return n < len / sizeof(*data) ? &data[n].path : NULL;
	}
	if (len % sizeof(struct ibv_path_record) == 0) {
		const struct ibv_path_record *path = wanted->ai_route;

		return n < len / sizeof(*path) ? &path[n] : NULL;
	}
	return NULL;
}

/* Completes @wanted, a copy of the hints. */
static int rcm_check_hints(struct rdma_addrinfo *wanted)
{
	int ret;

	ret = rcm_check_flags(wanted->ai_flags);
	if (!ret)
		ret = rcm_check_types(wanted);
	if (!ret)
		ret = rcm_check_family(wanted);
	if (!ret)
		ret = rcm_check_addr(wanted->ai_src_addr, wanted->ai_src_len);
	if (ret)
		return ret;
	if ((wanted->ai_route_len &&
	     (!wanted->ai_route || !rcm_hint_path(wanted, 0))) ||
	    (wanted->ai_connect_len && !wanted->ai_connect))
		return rcm_fail(EINVAL);
	if (rcm_passive(wanted))
		wanted->ai_dst_len = 0;
	return rcm_check_addr(wanted->ai_dst_addr, wanted->ai_dst_len);
}

static struct sockaddr *rcm_copy_addr(const struct sockaddr *addr,
				      socklen_t *len)
{
	struct sockaddr *copy;

	*len = rcm_addr_len(addr);
	copy = malloc(*len);
	if (copy)
		memcpy(copy, addr, *len);
	else
		*len = 0;
	return copy;
}

static int rcm_set_src(struct rdma_addrinfo *rai, const struct sockaddr *addr)
{
	rai->ai_src_addr = rcm_copy_addr(addr, &rai->ai_src_len);
	return rai->ai_src_addr ? 0 : EAI_MEMORY;
}

static int rcm_set_dst(struct rdma_addrinfo *rai, const struct sockaddr *addr)
{
	rai->ai_dst_addr = rcm_copy_addr(addr, &rai->ai_dst_len);
	return rai->ai_dst_addr ? 0 : EAI_MEMORY;
}

/* A passive side's address is its source. */
static int rcm_set_addr(struct rdma_addrinfo *rai, const struct sockaddr *addr)
{
	return rcm_passive(rai) ? rcm_set_src(rai, addr) :
				  rcm_set_dst(rai, addr);
}

static int rcm_set_canonname(struct rdma_addrinfo *rai, const char *name)
{
	char *copy;

	if (!name)
		return 0;
	copy = strdup(name);
	if (!copy)
		return EAI_MEMORY;
	if (rcm_passive(rai))
		rai->ai_src_canonname = copy;
	else
		rai->ai_dst_canonname = copy;
	return 0;
}

/* An entry at the end of the list, with all but its addresses. */
static struct rdma_addrinfo *rcm_append(struct rdma_addrinfo **list,
					const struct rdma_addrinfo *wanted,
					int family)
{
	struct rdma_addrinfo *rai = calloc(1, sizeof(*rai));

	if (!rai)
		return NULL;
	rai->ai_flags = wanted->ai_flags;
	rai->ai_family = family;
	rai->ai_qp_type = wanted->ai_qp_type;
	rai->ai_port_space = wanted->ai_port_space;
	while (*list)
		list = &(*list)->ai_next;
	*list = rai;
	return rai;
}

static int rcm_set_connect(struct rdma_addrinfo *rai,
			   const struct rdma_addrinfo *wanted)
{
	if (!wanted->ai_connect_len)
		return 0;
	rai->ai_connect = malloc(wanted->ai_connect_len);
	if (!rai->ai_connect)
		return EAI_MEMORY;
	memcpy(rai->ai_connect, wanted->ai_connect, wanted->ai_connect_len);
	rai->ai_connect_len = wanted->ai_connect_len;
	return 0;
}

static int rcm_append_ai(struct rdma_addrinfo **list,
			 const struct rdma_addrinfo *wanted,
			 const struct addrinfo *ai)
{
	struct rdma_addrinfo *rai;
	int ret;

	if (!rcm_addr_len(ai->ai_addr))
		return 0;
	rai = rcm_append(list, wanted, ai->ai_family);
	if (!rai)
		return EAI_MEMORY;
	ret = rcm_set_addr(rai, ai->ai_addr);
	return ret ? ret : rcm_set_canonname(rai, ai->ai_canonname);
}

static int rcm_from_name(const char *node, const char *service,
			 const struct rdma_addrinfo *wanted,
			 struct rdma_addrinfo **list)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC };
	struct addrinfo *found, *ai;
	int ret;

	/* With or without RAI_FAMILY: programs rely on it, and it is quicker. */
	if (wanted->ai_family == AF_INET || wanted->ai_family == AF_INET6)
		hints.ai_family = wanted->ai_family;
	else if (!rcm_passive(wanted) && wanted->ai_src_len)
		hints.ai_family = wanted->ai_src_addr->sa_family;
	hints.ai_socktype = wanted->ai_qp_type == IBV_QPT_UD ? SOCK_DGRAM :
							       SOCK_STREAM;
	if (rcm_passive(wanted))
		hints.ai_flags |= AI_PASSIVE;
	if (wanted->ai_flags & RAI_NUMERICHOST)
		hints.ai_flags |= AI_NUMERICHOST;
	if (node)
		hints.ai_flags |= AI_CANONNAME;
	ret = getaddrinfo(node, service, &hints, &found);
	if (ret)
		return ret;
	for (ai = found; ai && !ret; ai = ai->ai_next)
		ret = rcm_append_ai(list, wanted, ai);
	freeaddrinfo(found);
	if (!ret && !*list)
		ret = EAI_FAMILY;
	return ret;
}

/* The number of a service, 0 for none; network byte order. */
static int rcm_service_port(const char *service,
			    const struct rdma_addrinfo *wanted, __be16 *port)
{
	struct addrinfo hints = {
		.ai_family = AF_INET,
		.ai_socktype = wanted->ai_qp_type == IBV_QPT_UD ? SOCK_DGRAM :
								  SOCK_STREAM,
	};
	struct addrinfo *found;
	int ret;

	*port = 0;
	if (!service)
		return 0;
	ret = getaddrinfo(NULL, service, &hints, &found);
	if (ret)
		return ret;
	*port = rcm_addr_port(found->ai_addr);
	freeaddrinfo(found);
	return 0;
}

/* Without a node the address is one of the hints, or the path says where. */
static int rcm_from_hints(const char *service,
			  const struct rdma_addrinfo *wanted,
			  const struct sockaddr *addr,
			  struct rdma_addrinfo **list)
{
	struct rdma_addrinfo *rai;
	__be16 port;
	int ret;

	if ((wanted->ai_flags & RAI_FAMILY) && wanted->ai_family &&
	    wanted->ai_family != addr->sa_family)
		return EAI_ADDRFAMILY;
	ret = rcm_service_port(service, wanted, &port);
	if (ret)
		return ret;
	rai = rcm_append(list, wanted, addr->sa_family);
	if (!rai)
		return EAI_MEMORY;
	ret = rcm_set_addr(rai, addr);
	if (!ret && port)
		rcm_addr_set_port(rcm_passive(rai) ? rai->ai_src_addr :
						     rai->ai_dst_addr,
				  port);
	return ret;
}

/* Only the local side is known, and that is what comes back. */
static int rcm_from_source(const struct rdma_addrinfo *wanted,
			   struct rdma_addrinfo **list)
{
	return rcm_append(list, wanted, wanted->ai_src_addr->sa_family) ?
		       0 :
		       EAI_MEMORY;
}

static bool rcm_gid_is_zero(const union ibv_gid *gid)
{
	return !gid->global.subnet_prefix && !gid->global.interface_id;
}

/* On RoCE a GID is an IP address. */
static void rcm_addr_of_gid(const union ibv_gid *gid,
			    struct sockaddr_storage *addr)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)addr;
	struct sockaddr_in *sin = (struct sockaddr_in *)addr;

	memset(addr, 0, sizeof(*addr));
	if (IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)gid)) {
		sin->sin_family = AF_INET;
		memcpy(&sin->sin_addr, &gid->raw[12], sizeof(sin->sin_addr));
		return;
	}
	sin6->sin6_family = AF_INET6;
	memcpy(&sin6->sin6_addr, gid, sizeof(sin6->sin6_addr));
}

static int rcm_from_route(const char *service,
			  const struct rdma_addrinfo *wanted,
			  struct rdma_addrinfo **list)
{
	const struct ibv_path_record *path = rcm_hint_path(wanted, 0);
	struct sockaddr_storage addr;

	if (rcm_gid_is_zero(&path->dgid))
		return EAI_NONAME;
	rcm_addr_of_gid(&path->dgid, &addr);
	return rcm_from_hints(service, wanted, (struct sockaddr *)&addr, list);
}

static void rcm_fill_path(struct ibv_path_data *to, const struct rcm_path *from)
{
	struct ibv_path_record *path = &to->path;

	memset(to, 0, sizeof(*to));
	to->flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY |
		    IBV_PATH_FLAG_BIDIRECTIONAL;
	memcpy(&path->dgid, from->dgid, sizeof(path->dgid));
	memcpy(&path->sgid, from->sgid, sizeof(path->sgid));
	path->dlid = htons(from->dlid);
	path->slid = htons(from->slid);
	path->flowlabel_hoplimit =
		htonl(from->flow_label << 8 | from->hop_limit);
	path->tclass = from->traffic_class;
	path->reversible_numpath = (from->reversible ? 0x80 : 0) | 1;
	path->pkey = htons(from->pkey);
	path->qosclass_sl = htons(from->sl);
	/* Each is said to be exactly this. */
	path->mtu = 2 << 6 | from->mtu;
	path->rate = 2 << 6 | from->rate;
	path->packetlifetime = 2 << 6 | from->packet_life_time;
}

static bool rcm_gid_allows(const union ibv_gid *hint, const union ibv_gid *gid)
{
	return rcm_gid_is_zero(hint) || !memcmp(hint, gid, sizeof(*hint));
}

static bool rcm_bits_allow(__u32 hint, __u32 value, __u32 mask)
{
	return !(hint & mask) || (hint & mask) == (value & mask);
}

/* What the two upper bits of @hint say of its value: more, less, that, most. */
static bool rcm_selector_allows(__u8 hint, __u8 path)
{
	__u8 wanted = hint & 0x3f;
	__u8 value = path & 0x3f;

	if (!wanted)
		return true;
	switch (hint >> 6) {
	case 0:
		return value > wanted;
	case 1:
		return value < wanted;
	case 2:
		return value == wanted;
	default:
		return true;
	}
}

/*
 * But for the flow label, which each connection chooses for itself, and the rate,
 * which is the port's, whatever that is.
 */
static bool rcm_hint_allows(const struct ibv_path_record *hint,
			    const struct ibv_path_record *path)
{
	return rcm_gid_allows(&hint->dgid, &path->dgid) &&
	       rcm_gid_allows(&hint->sgid, &path->sgid) &&
	       rcm_bits_allow(hint->dlid, path->dlid, 0xffff) &&
	       rcm_bits_allow(hint->slid, path->slid, 0xffff) &&
	       rcm_bits_allow(ntohl(hint->flowlabel_hoplimit),
			      ntohl(path->flowlabel_hoplimit), 0xff) &&
	       rcm_bits_allow(hint->tclass, path->tclass, 0xff) &&
	       rcm_bits_allow(hint->pkey, path->pkey, 0xffff) &&
	       rcm_bits_allow(ntohs(hint->qosclass_sl),
			      ntohs(path->qosclass_sl), 0xf) &&
	       rcm_selector_allows(hint->mtu, path->mtu) &&
	       rcm_selector_allows(hint->packetlifetime, path->packetlifetime);
}

/* Zero in a path of the hints stands for whatever it is. */
static bool rcm_path_allowed(const struct rdma_addrinfo *wanted,
			     const struct ibv_path_record *path)
{
	const struct ibv_path_record *hint;
	size_t i;

	for (i = 0; (hint = rcm_hint_path(wanted, i)); i++) {
		if (rcm_hint_allows(hint, path))
			return true;
	}
	return !i;
}

static int rcm_set_route(struct rdma_addrinfo *rai,
			 const struct rdma_addrinfo *wanted,
			 const struct rcm_endpoint *ep)
{
	struct ibv_path_data data;

	if (!ep->num_paths)
		return 0;
	rcm_fill_path(&data, &ep->path);
	if (!rcm_path_allowed(wanted, &data.path))
		return 0;
	rai->ai_route = malloc(sizeof(data));
	if (!rai->ai_route)
		return EAI_MEMORY;
	memcpy(rai->ai_route, &data, sizeof(data));
	rai->ai_route_len = sizeof(data);
	return 0;
}

/*
 * The local address and the path that lead to a destination, where there are
 * any.  The kernel takes no port for this.
 */
static int rcm_translate(int fd, struct rdma_addrinfo *rai,
			 const struct rdma_addrinfo *wanted)
{
	struct rcm_translate cmd = {
		.size = sizeof(cmd),
		.timeout_ms = RCM_DEFAULT_TIMEOUT_MS,
	};
	int ret = 0;

	if (rai->ai_src_len)
		memcpy(&cmd.src, rai->ai_src_addr, rai->ai_src_len);
	memcpy(&cmd.dst, rai->ai_dst_addr, rai->ai_dst_len);
	if (rcm_ioctl(fd, RCM_TRANSLATE, &cmd))
		return 0;
	if (!rai->ai_src_len)
		ret = rcm_set_src(rai,
				  (struct sockaddr *)&cmd.out_endpoint.src);
	return ret ? ret : rcm_set_route(rai, wanted, &cmd.out_endpoint);
}

static int rcm_translate_all(struct rdma_addrinfo *list,
			     const struct rdma_addrinfo *wanted)
{
	int fd, ret = 0;

	fd = open(RCM_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return 0;
	for (; list && !ret; list = list->ai_next)
		ret = rcm_translate(fd, list, wanted);
	close(fd);
	return ret;
}

static int rcm_copy_source(struct rdma_addrinfo *rai,
			   const struct rdma_addrinfo *wanted)
{
	if (!wanted->ai_src_len)
		return 0;
	if (rai->ai_family != wanted->ai_src_addr->sa_family)
		return EAI_ADDRFAMILY;
	return rcm_set_src(rai, wanted->ai_src_addr);
}

static int rcm_complete_list(const struct rdma_addrinfo *wanted,
			     struct rdma_addrinfo *list)
{
	struct rdma_addrinfo *rai;
	int ret = 0;

	for (rai = list; rai && !ret; rai = rai->ai_next) {
		ret = rcm_set_connect(rai, wanted);
		if (!ret && !rcm_passive(wanted))
			ret = rcm_copy_source(rai, wanted);
	}
	if (ret || rcm_passive(wanted) || !list->ai_dst_len ||
	    (wanted->ai_flags & RAI_NOROUTE))
		return ret;
	return rcm_translate_all(list, wanted);
}

static int rcm_find(const char *node, const char *service,
		    const struct rdma_addrinfo *wanted,
		    struct rdma_addrinfo **list)
{
	bool passive = rcm_passive(wanted);

	/* No port of the devices that the module serves has a subnet manager. */
	if (wanted->ai_flags & RAI_SA)
		return EAI_NODATA;
	if (!node && passive && wanted->ai_src_len)
		return rcm_from_hints(service, wanted, wanted->ai_src_addr,
				      list);
	if (!node && !passive && wanted->ai_dst_len)
		return rcm_from_hints(service, wanted, wanted->ai_dst_addr,
				      list);
	if (!node && !passive && wanted->ai_route_len)
		return rcm_from_route(service, wanted, list);
	if (node || service)
		return rcm_from_name(node, service, wanted, list);
	if (wanted->ai_src_len)
		return rcm_from_source(wanted, list);
	return EAI_NONAME;
}

/* Completes @wanted; leaves in @list what there is when it fails, too. */
static int rcm_getaddrinfo(const char *node, const char *service,
			   struct rdma_addrinfo *wanted,
			   struct rdma_addrinfo **list)
{
	int ret;

	ret = rcm_check_hints(wanted);
	if (!ret)
		ret = rcm_find(node, service, wanted, list);
	return ret ? ret : rcm_complete_list(wanted, *list);
}

/**
 * rdma_getaddrinfo - translate a name and a service to RDMA addresses
 * @node: host name or numeric IPv4 or IPv6 address, or NULL
 * @service: service name or port number, or NULL
 * @hints: what is wanted, or NULL: RDMA_PS_TCP, IBV_QPT_RC.  Read are ai_flags,
 *	ai_family (with RAI_FAMILY), ai_qp_type, ai_port_space, ai_src_len and
 *	ai_src_addr, ai_dst_len and ai_dst_addr (without @node), ai_route_len
 *	and ai_route, ai_connect_len and ai_connect
 * @res: where to put the list, for rdma_freeaddrinfo(); unchanged on error
 *
 * With RAI_PASSIVE the source addresses are those of @node, the wildcard
 * without it, or that of the hints.  Otherwise the destination addresses are
 * those of @node, the loopback address without it, that of the hints, or that
 * of the first path in the hints; the source address is that of the hints or,
 * without RAI_NOROUTE, the one that leads to the destination, with port 0;
 * ai_src_len is 0 when none was found, which is no error.  Without RAI_NOROUTE
 * ai_route is then one struct ibv_path_data, unless the paths of the hints do
 * not allow it: members that are not zero have to agree, those with a selector
 * as it says, but for the rate, which is the port's, and the flow label, which is
 * chosen anew each time.  ai_connect is that of the hints.
 *
 * Waits for name servers unless RAI_NUMERICHOST is set, and for each
 * destination's link address, up to two seconds, unless RAI_NOROUTE is.
 *
 * Follows rdma_getaddrinfo(3).
 *
 * Return: 0; -1 with errno EINVAL (@res is NULL, all of @node, @service and
 * @hints are, an address or a path of the hints is too short); what
 * getaddrinfo(3) returned (EAI_SYSTEM: see errno); EAI_BADFLAGS (unknown flag,
 * or both RAI_DNS and RAI_SA; it is -1 too, errno is EINVAL); EAI_FAMILY
 * (unknown family); EAI_ADDRFAMILY (families do not go together, or AF_IB,
 * which none of the devices served has); EAI_NODATA (RAI_SA: no InfiniBand port
 * to ask); EAI_NONAME (neither node nor service, nor an address in @hints);
 * EAI_MEMORY; EAI_QPTYPE (<rcm/librcm.h>: ai_qp_type and ai_port_space do not
 * go together).
 */
int rdma_getaddrinfo(const char *node, const char *service,
		     const struct rdma_addrinfo *hints,
		     struct rdma_addrinfo **res)
{
	struct rdma_addrinfo *list = NULL;
	struct rdma_addrinfo wanted;
	int error, ret;

	if (!res || (!node && !service && !hints))
		return rcm_fail(EINVAL);
	wanted = hints ? *hints : rcm_no_hints;
	ret = rcm_getaddrinfo(node, service, &wanted, &list);
	if (ret) {
		error = errno;
		rdma_freeaddrinfo(list);
		errno = error;
		return ret;
	}
	*res = list;
	return 0;
}

static int rcm_dup_one(struct rdma_addrinfo *to,
		       const struct rdma_addrinfo *from)
{
	int ret = 0;

	if (from->ai_src_len)
		ret = rcm_set_src(to, from->ai_src_addr);
	if (!ret && from->ai_dst_len)
		ret = rcm_set_dst(to, from->ai_dst_addr);
	if (!ret && from->ai_src_canonname) {
		to->ai_src_canonname = strdup(from->ai_src_canonname);
		ret = to->ai_src_canonname ? 0 : EAI_MEMORY;
	}
	if (!ret && from->ai_dst_canonname) {
		to->ai_dst_canonname = strdup(from->ai_dst_canonname);
		ret = to->ai_dst_canonname ? 0 : EAI_MEMORY;
	}
	if (!ret && from->ai_route_len) {
		to->ai_route = malloc(from->ai_route_len);
		if (!to->ai_route)
			return EAI_MEMORY;
		memcpy(to->ai_route, from->ai_route, from->ai_route_len);
		to->ai_route_len = from->ai_route_len;
	}
	return ret ? ret : rcm_set_connect(to, from);
}

/**
 * rcm_addrinfo_dup - copy a list of addresses
 * @list: list, not empty; of known families
 *
 * Return: the copy, for rdma_freeaddrinfo(), or NULL with errno ENOMEM.
 */
struct rdma_addrinfo *rcm_addrinfo_dup(const struct rdma_addrinfo *list)
{
	struct rdma_addrinfo *copy = NULL;
	struct rdma_addrinfo *rai;

	for (; list; list = list->ai_next) {
		rai = rcm_append(&copy, list, list->ai_family);
		if (!rai || rcm_dup_one(rai, list)) {
			rdma_freeaddrinfo(copy);
			errno = ENOMEM;
			return NULL;
		}
	}
	return copy;
}

/**
 * rdma_freeaddrinfo - free a list of addresses
 * @res: from rdma_getaddrinfo(), or NULL
 *
 * Follows rdma_freeaddrinfo(3).
 */
void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	struct rdma_addrinfo *next;

	for (; res; res = next) {
		next = res->ai_next;
		free(res->ai_src_addr);
		free(res->ai_dst_addr);
		free(res->ai_src_canonname);
		free(res->ai_dst_canonname);
		free(res->ai_route);
		free(res->ai_connect);
		free(res);
	}
}
