#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# report.sh RIG OUT: what a run of run.sh means. Prints a line for each test
# program with its failing lines below, and writes OUT/counts (passed, failed,
# skipped) and OUT/failures (one line each, with the log's path).

. "$(dirname "$0")/lib.sh"
rig=$1 out=$2
passed=0 failed=0 skipped=0
: >"$out/failures"

# line STATUS NAME TEXT SECONDS
line() {
	printf '%-4s %-4s %-28s %-34s %s\n' "$1" "$rig" "$2" "$3" "$4"
}

# detail LOG: what each failing test said before it failed
detail() {
	[ -e "$1" ] || return 0
	tr -d '\r' <"$1" | awk '
		/^ *(not )?ok/ {
			for (i = lines - 5; i <= lines && $1 == "not"; i++)
				if (i in line)
					print line[i]
			delete line
			lines = 0
		}
		/^ *#/ && !/# *(RUN|OK|FAIL) / { line[++lines] = $0 }' | head -n 60
}

# account NAME LOG P F S SECONDS FAILING-LINES
account() {
	local name=$1 log=$2 p=$3 f=$4 s=$5 seconds=$6 failing=$7 status=PASS text
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	text="$p passed"
	[ "$s" -eq 0 ] || text="$text, $s skipped"
	[ "$p" -gt 0 ] || [ "$s" -eq 0 ] || status=SKIP
	if [ "$f" -gt 0 ]; then
		status=FAIL
		text="$text, $f failed"
	fi
	line $status "$name" "$text" "${seconds:+$seconds s}"
	[ "$f" -gt 0 ] || return 0
	{
		printf '%s\n' "$failing" | head -n 20
		detail "$log"
	} | sed 's/^/       /'
	printf '%s\n' "$failing" | sed "s|^|$rig $name: |; s|\$| ($log)|" >>"$out/failures"
}

if [ -e "$out/none" ]; then
	echo "0 0 0" >"$out/counts"
	exit 0
fi

while read -r name seconds path; do
	log=$out/$name.log
	if [ ! -e "$out/$name.rc" ]; then
		tail -n 5 "$log" 2>/dev/null | sed 's/^/       /'
		account "$name" "${log/%$name.log/console}" 0 1 0 "" "$name: did not run to its end"
		continue
	fi
	read -r rc took limit <"$out/$name.rc"
	result=$(tr -d '\r' <"$log" |
		awk -f "$RIG_DIR/tap.awk" -v rc="$rc" -v seconds="$limit" -v name="$name")
	read -r p f s < <(printf '%s\n' "$result" | head -n 1)
	account "$name" "$log" "$p" "$f" "$s" "$took" "$(printf '%s\n' "$result" | tail -n +2)"
done <"$out/tests"

if [ -s "$out/unload.log" ]; then
	result=$(awk -f "$RIG_DIR/tap.awk" -v rc=0 -v name=unload "$out/unload.log")
	read -r p f s < <(printf '%s\n' "$result" | head -n 1)
	account unload "$out/unload.log" "$p" "$f" "$s" "" "$(printf '%s\n' "$result" | tail -n +2)"
fi

if [ -e "$out/kmemleak.txt" ]; then
	if leaks=$(awk -f "$RIG_DIR/kmemleak.awk" "$out/rcm.syms" "$out/kmemleak.txt"); then
		account kmemleak "$out/kmemleak.txt" 1 0 0 "" ""
	else
		account kmemleak "$out/kmemleak.txt" 0 1 0 "" "$(printf '%s\n' "$leaks" | head -n 1)"
		printf '%s\n' "$leaks" | head -n 20 | sed 's/^/       /'
	fi
fi

if [ ! -e "$out/done" ]; then
	tail -n 15 "$out/console" | sed 's/^/       /'
	account guest "$out/console" 0 1 0 "" "the $rig kernel did not end by itself"
	log=$out/console
else
	log=$out/dmesg
fi
if found=$(tr -d '\r' <"$log" | awk -f "$RIG_DIR/klog.awk"); then
	account kernel-log "$log" 1 0 0 "" ""
else
	account kernel-log "$log" 0 1 0 "" "$(printf '%s\n' "$found" | head -n 1)"
	printf '%s\n' "$found" | sed -n '2,15p' | sed 's/^/       /'
fi

# The second of two machines
if [ -d "$out/peer" ]; then
	"$RIG_DIR/report.sh" peer "$out/peer"
	read -r p f s <"$out/peer/counts"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	cat "$out/peer/failures" >>"$out/failures"
fi
echo "$passed $failed $skipped" >"$out/counts"
