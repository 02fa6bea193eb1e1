/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Differences between kernel versions, and nothing else: the rest of the
 * module reads as if there was only the newest one.
 */
#ifndef RCM_COMPAT_H
#define RCM_COMPAT_H

#include <linux/module.h>
#include <linux/version.h>
#include <net/ip6_route.h>
#include <rdma/ib_cm.h>

/* Exported for rcm_test.ko alone, and only where KUnit is there to use it. */
#if IS_ENABLED(CONFIG_KUNIT) && LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#define EXPORT_SYMBOL_FOR_RCM_TEST(symbol) \
	EXPORT_SYMBOL_NS_GPL(symbol, "RCM_TEST")
#define RCM_IMPORT_TEST_NS() MODULE_IMPORT_NS("RCM_TEST")
#elif IS_ENABLED(CONFIG_KUNIT)
#define EXPORT_SYMBOL_FOR_RCM_TEST(symbol) \
	EXPORT_SYMBOL_NS_GPL(symbol, RCM_TEST)
#define RCM_IMPORT_TEST_NS() MODULE_IMPORT_NS(RCM_TEST)
#else
#define EXPORT_SYMBOL_FOR_RCM_TEST(symbol)
#endif

/*
 * A kernel whose IPv6 may be a module reaches it through a table of functions,
 * so that we do not need that module; later ones have it built in or not at all.
 */
#ifdef RCM_IPV6_STUBS
#include <net/ipv6_stubs.h>

static inline struct dst_entry *rcm_ip6_dst_lookup(struct net *net,
						   struct flowi6 *fl6)
{
	return ipv6_stub->ipv6_dst_lookup_flow(net, NULL, fl6, NULL);
}
#else
static inline struct dst_entry *rcm_ip6_dst_lookup(struct net *net,
						   struct flowi6 *fl6)
{
	return ip6_dst_lookup_flow(net, NULL, fl6, NULL);
}
#endif

/*
 * "Heard you, still thinking", sent only when the peer repeats itself. What an
 * application may take for its answer is 4.096 us * 2^24, 69 s, which later
 * kernels always say.
 */
static inline int rcm_ib_prepare_mra(struct ib_cm_id *cm)
{
#ifdef IB_CM_MRA_FLAG_DELAY
	return ib_send_cm_mra(cm, IB_CM_MRA_FLAG_DELAY | 24, NULL, 0);
#else
	return ib_prepare_cm_mra(cm);
#endif
}

#endif /* RCM_COMPAT_H */
