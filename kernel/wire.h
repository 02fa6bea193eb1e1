/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What ib_cm messages carry for the RDMA IP CM service: the header in front
 * of a request's private data, and service IDs.  Documentation/wire.md
 */
#ifndef RCM_WIRE_H
#define RCM_WIRE_H

#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>

#include "addr.h"

/**
 * struct rcm_wire_hdr - first bytes of the private data of REQ and SIDR REQ
 * @version: major version in the upper half, minor in the lower; 0
 * @ip_version: 4 or 6 in the upper half; the lower is reserved
 * @port: sender's port, network order
 * @src: sender's address; IPv4 has the last four bytes, the others are 0
 * @dst: address that the sender wants to reach, likewise
 *
 * Needs no more than two-byte alignment.
 */
struct rcm_wire_hdr {
	u8 version;
	u8 ip_version;
	__be16 port;
	u8 src[16];
	u8 dst[16];
};

static_assert(sizeof(struct rcm_wire_hdr) == 36);
static_assert(offsetof(struct rcm_wire_hdr, port) == 2);
static_assert(offsetof(struct rcm_wire_hdr, src) == 4);
static_assert(offsetof(struct rcm_wire_hdr, dst) == 20);

#define RCM_WIRE_VERSION 0
/* First of an address's bytes that IPv4 uses. */
#define RCM_WIRE_IPV4_AT 12

/* How much private data a consumer can send in each message. */
#define RCM_WIRE_REQ_DATA      (92 - sizeof(struct rcm_wire_hdr))
#define RCM_WIRE_REP_DATA      196
#define RCM_WIRE_REJ_DATA      148
#define RCM_WIRE_SIDR_REQ_DATA (216 - sizeof(struct rcm_wire_hdr))
#define RCM_WIRE_SIDR_REP_DATA 136
static_assert(RCM_WIRE_REQ_DATA == 56);
static_assert(RCM_WIRE_SIDR_REQ_DATA == 180);

/**
 * rcm_wire_put - fill in the header of a request
 * @hdr: every byte is written
 * @src: local address and port
 * @dst: peer's address, of the same family
 *
 * Context: any; takes no lock.
 */
static inline void rcm_wire_put(struct rcm_wire_hdr *hdr,
				const union rcm_addr *src,
				const union rcm_addr *dst)
{
	memset(hdr, 0, sizeof(*hdr));
	hdr->version = RCM_WIRE_VERSION;
	hdr->port = rcm_addr_port(src);
	if (src->sa.sa_family == AF_INET) {
		hdr->ip_version = 4 << 4;
		memcpy(&hdr->src[RCM_WIRE_IPV4_AT], &src->sin.sin_addr, 4);
		memcpy(&hdr->dst[RCM_WIRE_IPV4_AT], &dst->sin.sin_addr, 4);
	} else {
		hdr->ip_version = 6 << 4;
		memcpy(hdr->src, &src->sin6.sin6_addr, 16);
		memcpy(hdr->dst, &dst->sin6.sin6_addr, 16);
	}
}

/**
 * rcm_wire_get - read the header of a request
 * @hdr: from the peer
 * @listen_port: port that the request is for, host order
 * @local: on return the address that the peer wants to reach, and the port
 * @remote: on return the peer's address and port
 *
 * The header has no scope: where an address is link-local the caller adds the
 * interface that the request came in by.
 *
 * Context: any; takes no lock.
 * Return: 0; -EINVAL when the header is of an unknown version or of neither
 * IPv4 nor IPv6, @local and @remote are not touched then.
 */
static inline int rcm_wire_get(const struct rcm_wire_hdr *hdr, u16 listen_port,
			       union rcm_addr *local, union rcm_addr *remote)
{
	if (hdr->version != RCM_WIRE_VERSION)
		return -EINVAL;

	switch (hdr->ip_version >> 4) {
	case 4:
		memset(local, 0, sizeof(*local));
		memset(remote, 0, sizeof(*remote));
		local->sin.sin_family = AF_INET;
		remote->sin.sin_family = AF_INET;
		memcpy(&local->sin.sin_addr, &hdr->dst[RCM_WIRE_IPV4_AT], 4);
		memcpy(&remote->sin.sin_addr, &hdr->src[RCM_WIRE_IPV4_AT], 4);
		break;
	case 6:
		memset(local, 0, sizeof(*local));
		memset(remote, 0, sizeof(*remote));
		local->sin6.sin6_family = AF_INET6;
		remote->sin6.sin6_family = AF_INET6;
		memcpy(&local->sin6.sin6_addr, hdr->dst, 16);
		memcpy(&remote->sin6.sin6_addr, hdr->src, 16);
		break;
	default:
		return -EINVAL;
	}
	rcm_addr_set_port(local, htons(listen_port));
	rcm_addr_set_port(remote, hdr->port);
	return 0;
}

/**
 * rcm_wire_service_id - service ID of a port
 * @ps: port space, enum rdma_ucm_port_space
 * @port: port, host order
 *
 * Context: any; takes no lock.
 * Return: the service ID.
 */
static inline __be64 rcm_wire_service_id(u16 ps, u16 port)
{
	return cpu_to_be64((u64)ps << 16 | port);
}

/**
 * rcm_wire_service_ps - port space of a service ID
 * @service_id: a service ID
 *
 * Context: any; takes no lock.
 * Return: the port space; 0 when it is not a service ID of a port.
 */
static inline u16 rcm_wire_service_ps(__be64 service_id)
{
	u64 id = be64_to_cpu(service_id);

	return id >> 32 ? 0 : id >> 16;
}

/**
 * rcm_wire_service_port - port of a service ID
 * @service_id: a service ID of a port
 *
 * Context: any; takes no lock.
 * Return: the port, host order.
 */
static inline u16 rcm_wire_service_port(__be64 service_id)
{
	return be64_to_cpu(service_id);
}

#endif /* RCM_WIRE_H */
