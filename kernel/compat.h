/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Differences between kernel versions, and nothing else: the rest of the
 * module reads as if there was only the newest one.
 */
#ifndef RCM_COMPAT_H
#define RCM_COMPAT_H

#include <linux/module.h>
#include <linux/version.h>

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

#endif /* RCM_COMPAT_H */
