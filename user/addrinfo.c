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
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rcm/librcm.h>

#include "rcm_user.h"

#define RCM_RAI_FLAGS (RAI_PASSIVE | RAI_NUMERICHOST | RAI_NOROUTE | RAI_FAMILY)

static const struct rdma_addrinfo rcm_no_hints;

/* No documented port space has queue pair type 0. */
static int rcm_default_qp_type(int ps)
{
	return ps == RDMA_PS_UDP || ps == RDMA_PS_IPOIB ? IBV_QPT_UD :
							  IBV_QPT_RC;
}

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

static bool rcm_types_fit(int qp_type, int ps)
{
	switch (ps) {
	case RDMA_PS_TCP:
		return qp_type == IBV_QPT_RC;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		return qp_type == IBV_QPT_UD;
	case RDMA_PS_IB:
		return qp_type == IBV_QPT_RC || qp_type == IBV_QPT_UC ||
		       qp_type == IBV_QPT_UD || qp_type == IBV_QPT_XRC_SEND ||
		       qp_type == IBV_QPT_XRC_RECV;
	default:
		return false;
	}
}

/* An address of the hints; 0 or what rdma_getaddrinfo() returns. */
static int rcm_check_addr(const struct sockaddr *addr, socklen_t len)
{
	if (!len)
		return 0;
	if (!addr || len < sizeof(addr->sa_family))
		return rcm_fail(EINVAL);
	if (!rcm_addr_len(addr))
		return EAI_FAMILY;
	return len < rcm_addr_len(addr) ? rcm_fail(EINVAL) : 0;
}

static bool rcm_passive(const struct rdma_addrinfo *hints)
{
	return hints->ai_flags & RAI_PASSIVE;
}

/* Completes @wanted, a copy of the hints. */
static int rcm_check_hints(struct rdma_addrinfo *wanted)
{
	int ret;

	/* EAI_BADFLAGS is -1, which says that errno tells. */
	if (wanted->ai_flags & ~RCM_RAI_FLAGS) {
		errno = EINVAL;
		return EAI_BADFLAGS;
	}
	if (!wanted->ai_qp_type && !wanted->ai_port_space)
		wanted->ai_port_space = RDMA_PS_TCP;
	if (!wanted->ai_qp_type)
		wanted->ai_qp_type = rcm_default_qp_type(wanted->ai_port_space);
	if (!wanted->ai_port_space)
		wanted->ai_port_space = rcm_default_ps(wanted->ai_qp_type);
	if (!rcm_types_fit(wanted->ai_qp_type, wanted->ai_port_space))
		return EAI_QPTYPE;
	ret = rcm_check_addr(wanted->ai_src_addr, wanted->ai_src_len);
	if (ret)
		return ret;
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

	if (wanted->ai_flags & RAI_FAMILY)
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

/* Without a node the address is one of the hints. */
static int rcm_from_hints(const char *service,
			  const struct rdma_addrinfo *wanted,
			  struct rdma_addrinfo **list)
{
	const struct sockaddr *addr =
		rcm_passive(wanted) ? wanted->ai_src_addr : wanted->ai_dst_addr;
	struct rdma_addrinfo *rai;
	__be16 port;
	int ret;

	if ((wanted->ai_flags & RAI_FAMILY) &&
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

/*
 * The event of this translation; one left behind by an interrupted wait is of
 * another identifier.
 */
static int rcm_wait_source(struct rcm_channel *ch, __u32 handle,
			   struct rcm_event *event)
{
	do {
		memset(event, 0, sizeof(*event));
		event->size = sizeof(*event);
		if (rcm_ioctl(ch->channel.fd, RCM_GET_EVENT, event))
			return -1;
	} while (event->out_handle != handle);
	return event->out_event == RDMA_CM_EVENT_ADDR_RESOLVED ? 0 : -1;
}

/* The local address that leads to a destination, when there is one. */
static int rcm_find_source(struct rcm_channel *ch, struct rdma_addrinfo *rai)
{
	struct rcm_resolve_addr cmd = {
		.size = sizeof(cmd),
		.flags = RCM_CREATE,
		.ps = RDMA_PS_TCP,
		.qp_type = IBV_QPT_RC,
		.uid = 1,
		.timeout_ms = RCM_DEFAULT_TIMEOUT_MS,
	};
	struct rcm_event event;
	struct sockaddr *src = (struct sockaddr *)&event.out_endpoint.src;

	memcpy(&cmd.dst, rai->ai_dst_addr, rai->ai_dst_len);
	if (rcm_ioctl(ch->channel.fd, RCM_RESOLVE_ADDR, &cmd) ||
	    rcm_wait_source(ch, cmd.handle, &event) || !rcm_addr_len(src))
		return 0;
	/* The port was this translation's own. */
	rcm_addr_set_port(src, 0);
	return rcm_set_src(rai, src);
}

static int rcm_find_sources(struct rdma_addrinfo *list)
{
	struct rcm_channel *ch;
	int ret = 0;

	ch = rcm_channel_create();
	if (!ch)
		return 0;
	for (; list && !ret; list = list->ai_next)
		ret = rcm_find_source(ch, list);
	rcm_channel_close(ch);
	return ret;
}

static int rcm_fill_sources(const struct rdma_addrinfo *wanted,
			    struct rdma_addrinfo *list)
{
	int ret = 0;

	if (rcm_passive(wanted))
		return 0;
	if (!wanted->ai_src_len)
		return wanted->ai_flags & RAI_NOROUTE ? 0 :
							rcm_find_sources(list);
	for (; list && !ret; list = list->ai_next) {
		if (list->ai_family != wanted->ai_src_addr->sa_family)
			return EAI_ADDRFAMILY;
		ret = rcm_set_src(list, wanted->ai_src_addr);
	}
	return ret;
}

static int rcm_getaddrinfo(const char *node, const char *service,
			   struct rdma_addrinfo *wanted,
			   struct rdma_addrinfo **list)
{
	socklen_t hint;
	int ret;

	ret = rcm_check_hints(wanted);
	if (ret)
		return ret;
	hint = rcm_passive(wanted) ? wanted->ai_src_len : wanted->ai_dst_len;
	if (!node && hint)
		ret = rcm_from_hints(service, wanted, list);
	else if (node || service)
		ret = rcm_from_name(node, service, wanted, list);
	else
		ret = EAI_NONAME;
	return ret ? ret : rcm_fill_sources(wanted, *list);
}

/**
 * rdma_getaddrinfo - translate a name and a service to RDMA addresses
 * @node: host name or numeric IPv4 or IPv6 address, or NULL
 * @service: service name or port number, or NULL
 * @hints: what is wanted, or NULL: RDMA_PS_TCP, IBV_QPT_RC. Read are ai_flags,
 *	ai_family (with RAI_FAMILY), ai_qp_type, ai_port_space, ai_src_len and
 *	ai_src_addr, ai_dst_len and ai_dst_addr (without @node)
 * @res: where to put the list, for rdma_freeaddrinfo(); unchanged on error
 *
 * With RAI_PASSIVE the source addresses are those of @node, the wildcard
 * without it, or that of the hints.  Otherwise the destination addresses are
 * those of @node, the loopback address without it, or that of the hints; the
 * source address is that of the hints or, without RAI_NOROUTE, the one that
 * leads to the destination, with port 0; ai_src_len is 0 when none was found,
 * which is no error.  Waits for name servers unless RAI_NUMERICHOST is set, and
 * for the destination's link address, up to two seconds, unless RAI_NOROUTE is.
 *
 * Follows rdma_getaddrinfo(3), for AF_INET and AF_INET6.
 *
 * Return: 0; -1 with errno EINVAL (@res is NULL, all of @node, @service and
 * @hints are, or an address of the hints is too short); what getaddrinfo(3)
 * returned (EAI_SYSTEM: see errno); EAI_BADFLAGS (unknown flag; it is -1 too,
 * errno is EINVAL), EAI_FAMILY (AF_IB and other families), EAI_ADDRFAMILY
 * (families do not go together), EAI_NONAME (neither node nor service, nor an
 * address in @hints), EAI_MEMORY, EAI_QPTYPE (<rcm/librcm.h>: ai_qp_type and
 * ai_port_space do not go together).
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
