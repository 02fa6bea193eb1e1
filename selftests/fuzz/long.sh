#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# rigs: uml
# timeout: 6000
#
# The long run of the fuzzer, by "make fuzz": IOCTLS random ioctls from SEED,
# a tenth of them by one thread, the others by four on the same files.

. "$RIG_DIR/tap.sh"
. "$TOP/selftests/fuzz/lib.sh"

seed=${SEED:-$(date +%s)}
ioctls=${IOCTLS:-1000000}
fuzz_setup
run "$ioctls / 10 ioctls, seed $seed" -s "$seed" -i $((ioctls / 10)) -d 2000
run "$ioctls * 9 / 10 ioctls of four threads, seed $seed" \
	-s "$seed" -t 4 -i $((ioctls * 9 / 10)) -d 4000
fuzz_cleanup
finish
