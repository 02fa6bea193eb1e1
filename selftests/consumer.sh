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
# For the suite over iWARP; on the rig's own device are the others
siw_up() {
	modprobe siw && ip link add xi1 type dummy && ip address add 10.83.0.1/24 dev xi1 &&
		ip link set xi1 up && rdma link add siw1 type siw netdev xi1
}

siw_down() {
	rdma link del siw1 && ip link del xi1 && modprobe -r siw
}

expect "there is an iWARP device" siw_up
if ! insmod "$ko"; then
	echo "1..1"
	echo "not ok 1 - insmod rcm_consumer.ko"
	exit 1
fi
for suite in rcm_consumer rcm_consumer_life rcm_consumer_iw; do
	sed 's/^/# /' "/sys/kernel/debug/kunit/$suite/results"
	while read -r line; do
		case $line in
		"ok "*" $suite"|"not ok "*" $suite") ;;
		"ok "*)		pass "$suite: ${line#ok * }" ;;
		"not ok "*)	fail "$suite: ${line#not ok * }" ;;
		esac
	done <"/sys/kernel/debug/kunit/$suite/results"
done
expect "something ran" [ "$tests" -gt 30 ]
expect "no identifier and no port is left" left_behind
expect "the consumer unloads" rmmod rcm_consumer
expect "the iWARP device goes" siw_down
finish
