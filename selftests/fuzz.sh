#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# rigs: uml
# suites: check debug
# timeout: 700
#
# The fuzzer of the ioctl interface (selftests/fuzz/): the programs that it
# once found worth keeping, and a short run of random ones: the same ones in make
# check, other ones and ten times as long in make check-debug. "make fuzz" is the
# long run.

. "$RIG_DIR/tap.sh"
. "$TOP/selftests/fuzz/lib.sh"

seed=${SEED:-1}
longer=1
if [ "${SUITE:-check}" = debug ]; then
	seed=${SEED:-$(date +%s)}
	longer=10
fi
fuzz_setup
run "programs kept" "$TOP"/selftests/fuzz/corpus/*
run "random programs, seed $seed" -s "$seed" -d $((12 * longer))
run "random programs of four threads, seed $seed" -s "$seed" -t 4 -d $((10 * longer))
fuzz_cleanup
finish
