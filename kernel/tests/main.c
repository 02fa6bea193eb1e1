// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * rcm_test.ko: KUnit suites of what needs no RDMA device.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "../compat.h"
#include "tests.h"

kunit_test_suites(&rcm_state_suite, &rcm_port_suite, &rcm_port_model_suite,
		  &rcm_addr_suite, &rcm_wire_suite, &rcm_iw_suite,
		  &rcm_uabi_suite, &rcm_pace_suite);

MODULE_DESCRIPTION("KUnit suites of rcm");
MODULE_LICENSE("GPL");
RCM_IMPORT_TEST_NS();
