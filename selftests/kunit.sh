#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# rigs: uml vmdebug
# suites: check debug
# timeout: 120 600
#
# The KUnit suites of rcm_test.ko; the kernel keeps their results, as KTAP, in
# debugfs.

if [ -z "$RCM_TEST_KO" ]; then
	echo "1..0 # SKIP rcm_test.ko was not built"
	exit 4
fi
if ! insmod "$RCM_TEST_KO"; then
	echo "1..1"
	echo "not ok 1 - insmod rcm_test.ko"
	exit 1
fi
n=0 idle=
for results in /sys/kernel/debug/kunit/*/results; do
	[ -e "$results" ] || continue
	cat "$results"
	n=$((n + 1))
	# Newer kernels run no suite unless they are told to, and say "ok"
	grep -qE '^ +(not )?ok ' "$results" || idle="$idle $results"
done
if ! rmmod rcm_test; then
	echo "not ok $((n + 1)) - rmmod rcm_test"
	exit 1
fi
if [ $n -eq 0 ] || [ -n "$idle" ]; then
	echo "not ok $((n + 1)) - nothing ran: ${idle:-no suite}"
	exit 1
fi
