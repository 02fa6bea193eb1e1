/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef RCM_TESTS_H
#define RCM_TESTS_H

struct kunit_suite;

extern struct kunit_suite rcm_state_suite;
extern struct kunit_suite rcm_port_suite;
extern struct kunit_suite rcm_port_model_suite;
extern struct kunit_suite rcm_addr_suite;
extern struct kunit_suite rcm_wire_suite;
extern struct kunit_suite rcm_iw_suite;
extern struct kunit_suite rcm_uabi_suite;
extern struct kunit_suite rcm_pace_suite;

#endif /* RCM_TESTS_H */
