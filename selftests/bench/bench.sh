#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# bench.sh [counted|timed]...: run the benchmark on both stacks, alternating in
# one boot of the VM; print the table and which targets are met; draw plots.
# Everything is left in build/bench: counted.csv, timed.csv, *.txt, *.png.
#
# counted: one processor, and a clock that counts instructions (QEMU's icount):
#          the same figures on a busy machine and on an idle one
# timed:   two processors and the real clock
#
# ROUNDS=N   how often (2 when counted, 3 when timed)
# PLAN=FILE  other tests: lines of TEST OPTION..., see build/selftests/bench

. "$(dirname "$0")/../rig/lib.sh"
here=$TOP/selftests/bench
work=$TOP/build/bench
mkdir -p "$work"
exec {fd}>"$work/lock"
flock -n "$fd" || die "another benchmark runs in this tree (its lock: $work/lock)"

"$RIG_DIR/packages.sh" build guest bench >&2 || exit 1
kernel=$("$RIG_DIR/vm-kernel.sh") || exit 1
mkdir -p "$work/floor"
cp "$here"/floor/* "$work/floor"
step "building the benchmark" "$CACHE/log/bench.log" make -C "$TOP" bench-program
step "building the floor" "$CACHE/log/bench-floor.log" \
	make -C "$kernel/build" M="$work/floor" modules

run() {
	local kind=$1

	cat >"$work/settings" <<-X
	PLAN=${PLAN:-$here/$kind.plan}
	ROUNDS=${ROUNDS:-$2}
	STACKS="intree rcm"
	X
	# Memory that the guest touches for the first time costs the host's time
	PREALLOC=1 MEM=${MEM:-3G} RIG_LIMIT=${RIG_LIMIT:-14400} "$RIG_DIR/run.sh" vm "$work/$kind" \
		"$here/guest.sh" {fd}>&-
	[ -s "$work/$kind/bench.csv" ] || die "nothing was measured: $work/$kind/guest.log"
	cp "$work/$kind/bench.csv" "$work/$kind.csv"
	awk -v targets="$here/targets.txt" -f "$here/table.awk" "$work/$kind.csv" |
		tee "$work/$kind.txt"
	grep -E '^(not ok|bench:)' "$work/$kind/guest.log" | sed 's/^/rcm: /' >&2
	"$here/plot.sh" "$work/$kind.csv" "$work/$kind" ||
		say "no plots: gnuplot is not installed or failed"
}

[ $# -gt 0 ] || set -- counted timed
for kind; do
	case $kind in
	counted)
		# Without them a byte that is copied or cleared counts as an
		# instruction
		SMP=1 CPU=max,-erms,-fsrm ACCEL=tcg,thread=single ICOUNT=shift=2,sleep=off \
			run counted 2 ;;
	timed)
		run timed 3 ;;
	*)
		die "usage: bench.sh [counted|timed]..." ;;
	esac
done
