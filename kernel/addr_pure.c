// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Addresses, the pure half: copy, classify, compare, convert.  Nothing here
 * takes a lock, allocates, or looks at an interface.
 */
#include <linux/errno.h>
#include <linux/in.h>
#include <linux/jhash.h>
#include <linux/string.h>
#include <net/ipv6.h>

#include "addr.h"
#include "compat.h"

/**
 * rcm_addr_set - take over an address from a caller
 * @to: where it goes; not touched when this fails
 * @from: what the caller gave
 *
 * Only the members that the family defines are copied: padding, and whatever
 * lies past the family's own size, is zero in @to.
 *
 * Context: any; takes no lock.
 * Return: 0, or -EAFNOSUPPORT when @from is neither IPv4 nor IPv6.
 */
int rcm_addr_set(union rcm_addr *to,
		 const struct __kernel_sockaddr_storage *from)
{
	const union rcm_addr *addr = (const union rcm_addr *)from;
	union rcm_addr copy = {};

	switch (from->ss_family) {
	case AF_INET:
		copy.sin.sin_family = AF_INET;
		copy.sin.sin_port = addr->sin.sin_port;
		copy.sin.sin_addr = addr->sin.sin_addr;
		break;
	case AF_INET6:
		copy.sin6 = addr->sin6;
		break;
	default:
		return -EAFNOSUPPORT;
	}
	*to = copy;
	return 0;
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_addr_set);

/**
 * rcm_addr_put_user - make an address ready to be copied to userspace
 * @to: where it goes; every byte is written
 * @from: an address, or one of family 0 for "none"
 *
 * Context: any; takes no lock.
 */
void rcm_addr_put_user(struct __kernel_sockaddr_storage *to,
		       const union rcm_addr *from)
{
	memset(to, 0, sizeof(*to));
	switch (from->sa.sa_family) {
	case AF_INET:
		memcpy(to, &from->sin, sizeof(from->sin));
		break;
	case AF_INET6:
		memcpy(to, &from->sin6, sizeof(from->sin6));
		break;
	}
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_addr_put_user);

/**
 * rcm_addr_is_any - is it an address that stands for all local ones?
 * @addr: an address
 *
 * Context: any; takes no lock.
 * Return: true for 0.0.0.0 and ::.
 */
bool rcm_addr_is_any(const union rcm_addr *addr)
{
	switch (addr->sa.sa_family) {
	case AF_INET:
		return ipv4_is_zeronet(addr->sin.sin_addr.s_addr);
	case AF_INET6:
		return ipv6_addr_any(&addr->sin6.sin6_addr);
	default:
		return false;
	}
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_addr_is_any);

/**
 * rcm_addr_is_loopback - is it a loopback address?
 * @addr: an address
 *
 * Context: any; takes no lock.
 * Return: true for 127.0.0.0/8 and ::1.
 */
bool rcm_addr_is_loopback(const union rcm_addr *addr)
{
	switch (addr->sa.sa_family) {
	case AF_INET:
		return ipv4_is_loopback(addr->sin.sin_addr.s_addr);
	case AF_INET6:
		return ipv6_addr_loopback(&addr->sin6.sin6_addr);
	default:
		return false;
	}
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_addr_is_loopback);

/**
 * rcm_addr_is_wildcard - does it share its ports with every other address?
 * @addr: an address
 *
 * Loopback addresses are in this class too.  That is surprising, but which
 * error a busy port gives depends on it, and applications adapted.  The rest
 * of 0.0.0.0/8 is not: these are ordinary addresses since Linux 5.3.
 *
 * Context: any; takes no lock.
 * Return: true for 0.0.0.0, 127.0.0.0/8, :: and ::1.
 */
bool rcm_addr_is_wildcard(const union rcm_addr *addr)
{
	return rcm_addr_is_any(addr) || rcm_addr_is_loopback(addr);
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_addr_is_wildcard);

/**
 * rcm_addr_is_linklocal - does it need a scope?
 * @addr: an address
 *
 * Context: any; takes no lock.
 * Return: true for IPv6 unicast and multicast addresses of link-local scope.
 */
bool rcm_addr_is_linklocal(const union rcm_addr *addr)
{
	return addr->sa.sa_family == AF_INET6 &&
	       ipv6_addr_type(&addr->sin6.sin6_addr) & IPV6_ADDR_LINKLOCAL;
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_addr_is_linklocal);

/**
 * rcm_addr_is_multicast - is it a multicast address?
 * @addr: an address
 *
 * Context: any; takes no lock.
 * Return: true for 224.0.0.0/4 and ff00::/8.
 */
bool rcm_addr_is_multicast(const union rcm_addr *addr)
{
	switch (addr->sa.sa_family) {
	case AF_INET:
		return ipv4_is_multicast(addr->sin.sin_addr.s_addr);
	case AF_INET6:
		return ipv6_addr_is_multicast(&addr->sin6.sin6_addr);
	default:
		return false;
	}
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_addr_is_multicast);

/**
 * rcm_addr_equal - do two addresses name the same host?
 * @a: an address
 * @b: another one
 *
 * Ports are not compared.  The scope is, where it is part of the address.
 *
 * Context: any; takes no lock.
 * Return: true when they do; two of family 0 are equal.
 */
bool rcm_addr_equal(const union rcm_addr *a, const union rcm_addr *b)
{
	if (a->sa.sa_family != b->sa.sa_family)
		return false;

	switch (a->sa.sa_family) {
	case AF_INET:
		return a->sin.sin_addr.s_addr == b->sin.sin_addr.s_addr;
	case AF_INET6:
		return ipv6_addr_equal(&a->sin6.sin6_addr,
				       &b->sin6.sin6_addr) &&
		       (!rcm_addr_is_linklocal(a) ||
			a->sin6.sin6_scope_id == b->sin6.sin6_scope_id);
	default:
		return true;
	}
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_addr_equal);

/**
 * rcm_addr_port - port of an address
 * @addr: an address
 *
 * Context: any; takes no lock.
 * Return: the port, in network order; 0 when @addr is of family 0.
 */
__be16 rcm_addr_port(const union rcm_addr *addr)
{
	switch (addr->sa.sa_family) {
	case AF_INET:
		return addr->sin.sin_port;
	case AF_INET6:
		return addr->sin6.sin6_port;
	default:
		return 0;
	}
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_addr_port);

/**
 * rcm_addr_set_port - change the port of an address
 * @addr: an address; not touched when it is of family 0
 * @port: the port, in network order
 *
 * Context: any; takes no lock.
 */
void rcm_addr_set_port(union rcm_addr *addr, __be16 port)
{
	switch (addr->sa.sa_family) {
	case AF_INET:
		addr->sin.sin_port = port;
		break;
	case AF_INET6:
		addr->sin6.sin6_port = port;
		break;
	}
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_addr_set_port);

/**
 * rcm_addr_unmap - an IPv4 address that was written as an IPv6 one
 * @addr: an address; ::ffff:a.b.c.d becomes a.b.c.d, any other stays
 *
 * Context: any; takes no lock.
 */
void rcm_addr_unmap(union rcm_addr *addr)
{
	union rcm_addr v4 = {};

	if (addr->sa.sa_family != AF_INET6 ||
	    !ipv6_addr_v4mapped(&addr->sin6.sin6_addr))
		return;
	v4.sin.sin_family = AF_INET;
	v4.sin.sin_port = addr->sin6.sin6_port;
	v4.sin.sin_addr.s_addr = addr->sin6.sin6_addr.s6_addr32[3];
	*addr = v4;
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_addr_unmap);

/**
 * rcm_addr_to_gid - the RoCE v2 GID of an address
 * @addr: an address
 * @gid: on return an IPv4 address as an IPv4-mapped one, an IPv6 address as
 *	it is, zero for family 0
 *
 * Context: any; takes no lock.
 */
void rcm_addr_to_gid(const union rcm_addr *addr, union ib_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	switch (addr->sa.sa_family) {
	case AF_INET:
		ipv6_addr_set_v4mapped(addr->sin.sin_addr.s_addr,
				       (struct in6_addr *)gid);
		break;
	case AF_INET6:
		memcpy(gid, &addr->sin6.sin6_addr, sizeof(*gid));
		break;
	}
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_addr_to_gid);

/**
 * rcm_addr_hash - hash of an address and its port
 * @addr: an address
 * @seed: start value
 *
 * Addresses that rcm_addr_equal() finds equal and that have the same port
 * have the same hash.
 *
 * Context: any; takes no lock.
 * Return: the hash; all of its bits are usable.
 */
u32 rcm_addr_hash(const union rcm_addr *addr, u32 seed)
{
	u32 low = (u32)addr->sa.sa_family << 16 |
		  (__force u16)rcm_addr_port(addr);
	u32 scope = 0;

	switch (addr->sa.sa_family) {
	case AF_INET:
		return jhash_2words((__force u32)addr->sin.sin_addr.s_addr, low,
				    seed);
	case AF_INET6:
		if (rcm_addr_is_linklocal(addr))
			scope = addr->sin6.sin6_scope_id;
		return jhash_2words(low, scope,
				    __ipv6_addr_jhash(&addr->sin6.sin6_addr,
						      seed));
	default:
		return jhash_1word(low, seed);
	}
}
EXPORT_SYMBOL_FOR_RCM_TEST(rcm_addr_hash);
