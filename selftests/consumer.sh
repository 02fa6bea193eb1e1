#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# rigs: uml
# timeout: 300
#
# A kernel consumer of the exported API: the KUnit suites of rcm_consumer.ko,
# over the rig's device and one of their own. Then the identifiers that it had
# are gone, and it unloads.

. "$RIG_DIR/tap.sh"

ko=$(dirname "$RCM_KO")/rcm_consumer.ko
if [ ! -e "$ko" ]; then
	echo "1..1"
	echo "not ok 1 - $ko was not built"
	exit 1
fi
if ! insmod "$ko"; then
	echo "1..1"
	echo "not ok 1 - insmod rcm_consumer.ko"
	exit 1
fi
for suite in rcm_consumer rcm_consumer_life; do
	sed 's/^/# /' "/sys/kernel/debug/kunit/$suite/results"
	while read -r line; do
		case $line in
		"ok "*" $suite"|"not ok "*" $suite") ;;
		"ok "*)		pass "$suite: ${line#ok * }" ;;
		"not ok "*)	fail "$suite: ${line#not ok * }" ;;
		esac
	done <"/sys/kernel/debug/kunit/$suite/results"
done
expect "something ran" [ "$tests" -gt 20 ]
expect "no identifier and no port is left" left_behind
expect "the consumer unloads" rmmod rcm_consumer
finish
