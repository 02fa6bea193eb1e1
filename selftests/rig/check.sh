#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# check.sh PART...: build, run and report. The last line is "N passed, N failed,
# N skipped, N s", above it a table of what ran where; the exit status matches.
# A part is one of
#   lint
#   uml, vm, vms    every test of that rig on its usual kernel
#   uml:7.x, vm:6.12    the same on another kernel, as run.sh has it
#   smoke:RIG       a few of them
#   apps            unmodified programs, in the VM
#   fuzz            a long run of the fuzzer, on UML
#   coverage        uml, and which lines of the module ran
#   apps-dropin     the same on the distribution's librdmacm, over the drop-in
#   debug           the long tests, on both rigs that detect most; or one of
#                   debug:uml, debug:vmdebug
#   all             the lot, and a few tests on the other kernels; or, with
#                   KERNELS="6.1 6.12 7.x", every test on each of these
#
# T=PATTERN   only tests whose name matches this shell pattern

shopt -s extglob
. "$(dirname "$0")/lib.sh"
smoke='@(kunit|abi_ioctl|abi_file|connect|resolve|lib_sync|interop_rping)'
results=$TOP/build/run
mkdir -p "$results"
exec {fd}>"$results/lock"
flock -n "$fd" || die "another check runs in this tree (its lock: $results/lock)"


# Each part leaves in its directory: counts (passed, failed, skipped), failures
# (one line each) and row (kernel, rig, suite, seconds).

# row OUT RIG SUITE STARTED
row() {
	local kernel=
	[ ! -e "$1/console" ] ||
		kernel=$(tr -d '\r' <"$1/console" | sed -n 's/.*rcm-rig: ready, //p' | head -n 1)
	echo "${kernel:--} $2 $3 $((SECONDS - $4))" >"$1/row"
}

# broken OUT NAME LOG TEXT: a whole part that could not run
broken() {
	printf 'FAIL %s\n' "$2: $4"
	mkdir -p "$1"
	echo "$2: $4 ($3)" >"$1/failures"
	echo "0 1 0" >"$1/counts"
	echo "- $2 - -" >"$1/row"
}

lint() {
	local out=$1 start=$SECONDS result p f s rc status=PASS text
	mkdir -p "$out"
	"$TOP/selftests/lint/lint.sh" "$out" >"$out/lint.log" {fd}>&-
	rc=$?
	result=$(awk -f "$RIG_DIR/tap.awk" -v rc=$rc -v name=lint "$out/lint.log")
	read -r p f s < <(printf '%s\n' "$result" | head -n 1)
	text="$p passed"
	[ "$f" -eq 0 ] || { status=FAIL; text="$text, $f failed"; }
	printf '%-4s %-4s %-28s %-34s %s\n' $status host lint "$text" "$((SECONDS - start)) s"
	if [ "$f" -gt 0 ]; then
		grep -E '^(not ok|#)' "$out/lint.log" | head -n 60 | sed 's/^/       /'
	fi
	printf '%s\n' "$result" | tail -n +2 | sed "s|^|lint: |; s|\$| ($out/lint.log)|" |
		grep . >"$out/failures"
	echo "$p $f $s" >"$out/counts"
	row "$out" host lint "$start"
}

# tests: the programs, sorted by name
tests() {
	local f name
	for f in "$TOP"/selftests/*.c "$TOP"/selftests/*.sh; do
		[ -e "$f" ] || continue
		name=$(basename "$f")
		name=${name%.*}
		# what writes a file is no test
		[[ $name != gen-* ]] || continue
		# shellcheck disable=SC2254 # a pattern is meant
		case $name in
		${T:-*}) ;;
		*) continue ;;
		esac
		case $f in
		*.c)	echo "$name $TOP/build/selftests/$name" ;;
		*)	echo "$name $f" ;;
		esac
	done | sort | cut -d ' ' -f 2
}

# rig OUT RIG SUITE
rig() {
	local out=$1 rig=$2 suite=$3 list start=$SECONDS
	mapfile -t list < <(tests)
	if [ "$rig" = vm ] && [[ " ${list[*]} " == */sanitize.sh\ * ]]; then
		"$RIG_DIR/packages.sh" sanitize >&2 || exit 1
		step "building with sanitizers" "$CACHE/log/sanitizers.log" make -C "$TOP" sanitizers
	fi
	if [ ${#list[@]} -eq 0 ]; then
		broken "$out" "$rig" "$TOP/selftests" "no test matches ${T:-*}"
		return
	fi
	if ! "$RIG_DIR/run.sh" "$rig" "$out" "${list[@]}" {fd}>&-; then
		broken "$out" "$rig" "$CACHE/log" "could not be built or booted, see above"
		return
	fi
	"$RIG_DIR/report.sh" "${rig%%:*}" "$out" >"$out/report"
	cat "$out/report"
	row "$out" "${rig%%:*}" "$suite" "$start"
}

# Every test on UML, with a module that counts. What fails there fails here,
# but what was covered is shown nevertheless.
coverage() {
	local out=$1 p f s
	"$RIG_DIR/packages.sh" coverage >&2
	INSTRUMENT=gcov RIG_LIMIT=7200 rig "$out" uml "$2"
	"$RIG_DIR/coverage.sh" "$out" && return
	read -r p f s <"$out/counts"
	echo "$p $((f + 1)) $s" >"$out/counts"
	echo "coverage: see above ($TOP/build/coverage)" >>"$out/failures"
}

# Without kmemleak, which takes most of the time: fuzz.sh has that.
fuzz() {
	local out=$1 start=$SECONDS
	if ! INSTRUMENT=kcov KMEMLEAK=off RIG_LIMIT=7200 \
		"$RIG_DIR/run.sh" uml "$out" "$TOP/selftests/fuzz/long.sh" {fd}>&-; then
		broken "$out" fuzz "$CACHE/log" "could not be built or booted, see above"
		return
	fi
	"$RIG_DIR/report.sh" uml "$out" >"$out/report"
	cat "$out/report"
	grep -E '^# ' "$out/long.log"
	row "$out" uml fuzz "$start"
}

# apps OUT SCRIPT: unmodified programs, in the VM. What is not installed and
# cannot be is skipped there, by its name.
apps() {
	local out=$1 script=$2 dir=$TOP/selftests/apps pyverbs start=$SECONDS
	"$RIG_DIR/packages.sh" apps >&2
	pyverbs=$("$RIG_DIR/pyverbs-tests.sh")
	if ! PYVERBS_TESTS=$pyverbs RIG_LIMIT=3600 "$RIG_DIR/run.sh" vm "$out" "$dir/$script.sh" {fd}>&-; then
		broken "$out" "$script" "$CACHE/log" "could not be built or booted, see above"
		return
	fi
	{
		"$RIG_DIR/report.sh" vm "$out"
		tr -d '\r' <"$out/$script.log" | awk -f "$dir/table.awk"
	} >"$out/report"
	cat "$out/report"
	row "$out" vm "$script" "$start"
}

# all: which parts that is
all() {
	local own kernel
	own=$("$RIG_DIR/vm-kernel.sh") || exit 1
	own=$(basename "$own" | sed -E 's/^vm-([0-9]+\.[0-9]+).*/\1/')
	if [ -z "${KERNELS:-}" ]; then
		printf '%s\n' lint uml vm vms apps smoke:uml:7.x
		[ "$own" = 6.12 ] || echo smoke:vm:6.12
		return
	fi
	echo lint
	for kernel in $KERNELS; do
		[ "$kernel" != 6.12 ] || echo uml
		case $kernel in
		"$own")	printf '%s\n' vm vms apps apps-dropin ;;
		6.12)	echo vm:6.12 ;;
		7.x)	echo uml:7.x ;;
		*)	die "KERNELS: '$kernel' is none of $own 6.12 7.x" ;;
		esac
	done
}

parts=()
for part; do
	case ${part#smoke:} in
	all)	everything=$(all) || exit 1
		mapfile -t -O ${#parts[@]} parts <<<"$everything" ;;
	debug)	parts+=(debug:uml debug:vmdebug) ;;
	lint|apps|apps-dropin|coverage|fuzz|uml|uml:7.x|vm|vm:6.12|vms|debug:uml|debug:vmdebug)
		parts+=("$part") ;;
	*)	die "check.sh: unknown part '$part' (lint uml vm vms apps apps-dropin coverage fuzz uml:7.x vm:6.12 smoke:RIG debug all)" ;;
	esac
done

# One kernel build at a time, and first: lint uses it
for part in "${parts[@]}"; do
	case ${part#smoke:} in
	uml|coverage|fuzz|debug:uml)
		"$RIG_DIR/uml-kernel.sh" >/dev/null || exit 1 ;;
	debug:vmdebug)
		"$RIG_DIR/packages.sh" vm >&2 || exit 1
		"$RIG_DIR/vmdebug-kernel.sh" >/dev/null || exit 1 ;;
	uml:*)	"$RIG_DIR/uml-kernel.sh" "${part##*:}" >/dev/null || exit 1 ;;
	esac
done
source=$("$RIG_DIR/kernel-source.sh") || exit 1
if [ "${parts[*]}" != lint ]; then
	"$RIG_DIR/packages.sh" build guest >&2 || exit 1
	step "building the test programs" "$CACHE/log/selftests.log" \
		make -C "$TOP/selftests" KSELFTEST_DIR="$source/selftests"
fi

# one PART: run it, with what it leaves in a directory of its own
one() {
	local out=$results/${1//:/-} suite=all

	[ -z "${T:-}" ] || suite=some
	rm -rf "$out"
	case $1 in
	lint)	lint "$out" ;;
	coverage)
		coverage "$out" $suite ;;
	fuzz)	fuzz "$out" ;;
	apps*)	apps "$out" "$1" ;;
	smoke:*)
		T=$smoke rig "$out" "${1#smoke:}" smoke ;;
	debug:*)
		SUITE=debug RIG_LIMIT=${RIG_LIMIT:-10800} rig "$out" "${1#debug:}" debug ;;
	*)	rig "$out" "$1" $suite ;;
	esac
}

# lane PART...: those of them that there are, one after the other
lane() {
	local part
	for part; do
		(one "$part")
	done
}

# UML has one processor, and much of any test is waiting: what runs on the host
# and in UML goes beside what runs in the VM, and so does the last of what takes
# the VM long, by when what it is built of is there. Two VMs that talk to each other
# need both processors: Soft-RoCE does not always survive that an answer is late.
here=() there=() alone=() last=()
for part in "${parts[@]}"; do
	case $part in
	lint|coverage|fuzz|*uml*)	here+=("$part") ;;
	apps-dropin)	last=("$part") ;;
	vms)		alone+=("$part") ;;
	*)		there+=("$part") ;;
	esac
done
# A process group, so that what stops us can stop it whole
set -m
lane "${here[@]}" "${last[@]}" </dev/null &
beside=$!
set +m
trap 'kill -TERM -- "-$beside"; exit 130' INT TERM HUP
lane "${there[@]}"
wait
trap - INT TERM HUP
lane "${alone[@]}"

passed=0 failed=0 skipped=0 failures=() matrix=()
for part in "${parts[@]}"; do
	out=$results/${part//:/-}
	# It ended before it could say why, and said so above
	[ -e "$out/row" ] || broken "$out" "$part" "$CACHE/log" "did not run to its end"
	read -r p f s <"$out/counts"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	read -r kernel rig suite seconds <"$out/row"
	matrix+=("$(printf '%-26s %-5s %-11s %7s %7s %7s %6s s' \
		"$kernel" "$rig" "$suite" "$p" "$f" "$s" "$seconds")")
	while read -r line; do
		failures+=("$line")
	done <"$out/failures"
done

if [ ${#failures[@]} -gt 0 ]; then
	printf '\nFailed:\n'
	printf '  %s\n' "${failures[@]}"
fi
printf '\n%-26s %-5s %-11s %7s %7s %7s %8s\n' kernel rig suite passed failed skipped time
printf '%s\n' "${matrix[@]}"
echo
echo "$passed passed, $failed failed, $skipped skipped, $SECONDS s"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
