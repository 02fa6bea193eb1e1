#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# check.sh [lint] [uml] [vm] [apps]: build, run and report. The last line is
# "N passed, N failed, N skipped"; the exit status matches.
#
# T=PATTERN   only tests whose name matches this shell pattern

. "$(dirname "$0")/lib.sh"
results=$TOP/build/run
mkdir -p "$results"
exec {fd}>"$results/lock"
flock -n "$fd" || die "another check runs in this tree (its lock: $results/lock)"

passed=0 failed=0 skipped=0 failures=()

add() {
	local p f s line
	read -r p f s <"$1/counts"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	while read -r line; do
		failures+=("$line")
	done <"$1/failures"
}

# broken NAME LOG TEXT: a whole part that could not run
broken() {
	printf 'FAIL %s\n' "$1: $3"
	failed=$((failed + 1))
	failures+=("$1: $3 ($2)")
}

lint() {
	local out=$results/lint start=$SECONDS result p f s rc status=PASS text
	rm -rf "$out"
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
	add "$out"
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

rig() {
	local rig=$1 out=$results/$1 list
	mapfile -t list < <(tests)
	if [ "$rig" = vm ] && [[ " ${list[*]} " == */sanitize.sh\ * ]]; then
		"$RIG_DIR/packages.sh" sanitize >&2 || exit 1
		step "building with sanitizers" "$CACHE/log/sanitizers.log" make -C "$TOP" sanitizers
	fi
	if [ ${#list[@]} -eq 0 ]; then
		broken "$rig" "$TOP/selftests" "no test matches ${T:-*}"
		return
	fi
	if ! "$RIG_DIR/run.sh" "$rig" "$out" "${list[@]}" {fd}>&-; then
		broken "$rig" "$CACHE/log" "could not be built or booted, see above"
		return
	fi
	"$RIG_DIR/report.sh" "$rig" "$out"
	add "$out"
}

# Unmodified programs, in the VM
apps() {
	local out=$results/apps
	"$RIG_DIR/packages.sh" apps >&2 || exit 1
	if ! "$RIG_DIR/run.sh" vm "$out" "$TOP/selftests/apps/apps.sh" {fd}>&-; then
		broken apps "$CACHE/log" "could not be built or booted, see above"
		return
	fi
	"$RIG_DIR/report.sh" vm "$out"
	add "$out"
}

# One kernel build at a time, and first: lint uses it
for part; do
	[ "$part" != uml ] || "$RIG_DIR/uml-kernel.sh" >/dev/null || exit 1
done
source=$("$RIG_DIR/kernel-source.sh") || exit 1
case " $* " in
*" uml "*|*" vm "*|*" apps "*)
	"$RIG_DIR/packages.sh" build guest >&2 || exit 1
	step "building the test programs" "$CACHE/log/selftests.log" \
		make -C "$TOP/selftests" KSELFTEST_DIR="$source/selftests" ;;
esac

for part; do
	case $part in
	lint)	lint ;;
	uml|vm)	rig "$part" ;;
	apps)	apps ;;
	*)	die "usage: check.sh [lint] [uml] [vm] [apps]" ;;
	esac
done

if [ ${#failures[@]} -gt 0 ]; then
	printf '\nFailed:\n'
	printf '  %s\n' "${failures[@]}"
	echo
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
