#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# run.sh uml|vm|vms|vmdebug[:SERIES] OUT TEST...: boot a rig with rcm.ko loaded, run the
# given programs in it one after the other and leave everything in the
# directory OUT; report.sh OUT says what it means. SERIES is another kernel
# than the rig's usual one, as uml-kernel.sh and vm-kernel.sh have them.
#
# vms is two VMs with a wire between them. The programs run in the first; the
# second has nothing of ours loaded and does what far.sh asks of it. What it
# leaves is in OUT/peer.
#
# RCM_KO=FILE  load this module instead of building ours (none: no module)
# INSTRUMENT=gcov, kcov  build ours for coverage; OUT/gcov holds what gcov counted
# SUITE=debug  the tests of make check-debug, with the time that they have there
# SEED=NUMBER  for tests that draw by chance

. "$(dirname "$0")/lib.sh"
[ $# -ge 3 ] || die "usage: run.sh uml|vm|vms|vmdebug[:SERIES] OUT TEST..."
rig=${1%%:*} series=${1#"${1%%:*}"} out=$2
suite=${SUITE:-check}
shift 2

"$RIG_DIR/packages.sh" guest >&2 || exit 1
kernel=$("$RIG_DIR/${rig/vms/vm}-kernel.sh" ${series:+"${series#:}"}) || exit 1
source=$("$RIG_DIR/kernel-source.sh") || exit 1

ko=${RCM_KO:-} test_ko=
if [ -z "$ko" ]; then
	release=$(ls "$kernel/lib/modules")
	mkdir -p "$TOP/build"
	step "building rcm.ko for $release and the library" "$CACHE/log/build-$rig$series.log" \
		flock "$TOP/build/lock" make -C "$TOP" module lib KDIR="$kernel/build" \
		INSTRUMENT="${INSTRUMENT:-}"
	ko=$TOP/build/${INSTRUMENT:+$INSTRUMENT/}$release/rcm.ko
	test_ko=${ko%.ko}_test.ko
	[ -e "$test_ko" ] || test_ko=
fi
[ "$ko" != none ] || ko=

# directive NAME FILE: a line like "rigs: uml vm" or "timeout: 90" at the top
# of a test's source
directive() {
	head -n 5 "$2" | sed -n "s,^[#/* ]*$1: *\([a-z0-9 ]*[a-z0-9]\).*,\1,p" | head -n 1
}

# Newer kernels of UML take two to three times as long for the same
slow=1
[ "$rig" != uml ] || [ -z "$series" ] || slow=2

rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
total=0
needs=
keep="$TOP $CACHE ${ko:+$(dirname "$ko")}"
for test; do
	name=$(basename "$test" .sh)
	file=$TOP/selftests/$name.c
	[ -e "$file" ] || file=$test
	rigs=$(directive rigs "$file")
	suites=$(directive suites "$file")
	case " ${rigs:-uml vm vmdebug} / ${suites:-check} " in
	*" $rig "*/*" $suite "*) ;;
	*) continue ;;
	esac
	read -r seconds long < <(directive timeout "$file")
	seconds=${seconds:-60}
	[ "$suite" != debug ] || seconds=${long:-$seconds}
	seconds=$((seconds * slow))
	total=$((total + seconds))
	dir=$(dirname "$(readlink -f "$test")")
	[[ " $keep " == *" $dir "* || $dir == "$TOP"/* ]] || keep="$keep $dir"
	needs="$needs $(directive needs "$file")"
	echo "$name $seconds $(readlink -f "$test")" >>"$out/tests"
done
if [ ! -e "$out/tests" ]; then
	touch "$out/tests" "$out/none"
	say "$rig: none of these tests is for this rig in the suite '$suite'"
	exit 0
fi

# What few tests need is made when one of them runs
dropin= tools=
case $needs in
*dropin*)
	dropin=$("$RIG_DIR/dropin-tree.sh" "$kernel") || exit 1
	tools=$("$RIG_DIR/consumer-tools.sh") || exit 1 ;;
esac

# job MACHINE RCM_KO
job() {
	cat <<X
RIG=$rig
MACHINE=$1
TOP=$TOP
KEEP="$keep"
KERNEL=$kernel
DROPIN=$dropin
TOOLS=$tools
RCM_KO=$2
RCM_TEST_KO=$test_ko
RCM_LIB=$TOP/build/user
TESTS_DIR=$TOP/build/selftests
KSELFTEST_DIR=$source/selftests
PYVERBS_TESTS=${PYVERBS_TESTS:-}
T="${T:-}"
SUITE=$suite
SEED=${SEED:-}
IOCTLS=${IOCTLS:-}
X
}
job 1 "$ko" >"$out/job"

# Booting takes 20 s on an idle machine; a rig that hangs must not hang us
limit=$((total + 180)) most=${RIG_LIMIT:-$((3600 * slow))}
[ "$limit" -le "$most" ] || limit=$most

# stop PID...: UML does not always obey SIGTERM
stop() {
	local pid
	for pid; do
		pkill -KILL -P "$pid"
		kill -KILL "$pid" 2>/dev/null
	done
}

# Whoever stops us stops the rig
pid= peer=
trap 'stop $pid $peer; exit 130' INT TERM HUP

# Two machines together have what a single one has
boot_peer() {
	export MEM=${MEM:-1G} SMP=${SMP:-1} MACHINE=1
	mkdir "$out/peer"
	job 2 "" >"$out/peer/job"
	echo "peer $limit $RIG_DIR/peer.sh" >"$out/peer/tests"
	cd "$out" || exit 1
	MACHINE=2 "$RIG_DIR/boot.sh" vms "$kernel" "$out/peer" "$limit" >"$out/peer/console" 2>&1 &
	peer=$!
	until [ -S wire ] || ! kill -0 $peer; do
		sleep 0.1
	done
}

# The first machine tells the second one to end, if it can
end_peer() {
	local end=$((SECONDS + 60))
	[ -n "$peer" ] || return 0
	while kill -0 "$peer" 2>/dev/null && [ $SECONDS -lt $end ]; do
		sleep 0.2
	done
	stop "$peer"
}

if [ -n "${VERBOSE:-}" ]; then
	[ "$rig" != vms ] || boot_peer
	"$RIG_DIR/boot.sh" "$rig" "$kernel" "$out" "$limit" 2>&1 | tee "$out/console" >&2
	end_peer
	exit 0
fi

# QEMU before 8.1 may run a kernel's breakpoint that the other processor has
# replaced already, where the kernel patches its code as it boots: "Oops: int3".
# QEMU's commit deba78709ae8 ended that. Such a guest, which has not begun with
# anything of ours, is booted again.
case $rig:$(qemu-system-x86_64 --version 2>/dev/null) in
vm*:*" version "[0-7].*|vm*:*" version 8.0."*) old_qemu=1 ;;
*) old_qemu= ;;
esac
broken_by_qemu() {
	local console

	[ -n "$old_qemu" ] || return 1
	for console in "$out/console" "$out/peer/console"; do
		[ ! -e "$console" ] ||
			! awk '/rcm-rig: / { exit } /Oops: int3/ { hit = 1; exit } END { exit !hit }' \
				"$console" || return 0
	done
	return 1
}

# What the guest says of its progress and was not passed on yet
progress() {
	local line

	while read -r line; do
		shown=$((shown + 1))
		[ -n "${QUIET:-}" ] || say "$rig$series: $((SECONDS - start)) s: $line"
	done < <(tr -d '\r' <"$out/console" | sed -n 's/^rcm-rig: //p' | tail -n +$((shown + 1)))
}

run() {
	[ "$rig" != vms ] || boot_peer
	"$RIG_DIR/boot.sh" "$rig" "$kernel" "$out" "$limit" >"$out/console" 2>&1 &
	pid=$!
	say "$rig$series: booting $(basename "$kernel")"
	start=$SECONDS shown=0
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.5
		progress
		! broken_by_qemu || stop "$pid" ${peer:+"$peer"}
	done
	wait "$pid"
	progress
	end_peer
}

run
try=1
while broken_by_qemu && [ $try -lt 3 ]; do
	say "$rig$series: QEMU ran a breakpoint that the kernel had removed ($out/console.$try)"
	mv "$out/console" "$out/console.$try"
	[ ! -d "$out/peer" ] || mv "$out/peer" "$out/peer.$try"
	rm -f "$out/wire"
	try=$((try + 1))
	run
done
exit 0
