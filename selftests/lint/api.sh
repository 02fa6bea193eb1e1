#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# api.sh: whether the table of functions in Documentation/api.md is complete
# and true: each exported function has a row, is defined where it says, and is
# called by each test that it names, which run where it says. Says nothing when
# all is well.
#
# A test is a program of selftests/, "lib_sync", or one of the distribution's,
# "interop_rping.sh: rping"; that one has to be in the script, and to import the
# function.

export LC_ALL=C
page=Documentation/api.md
bad=0

complain() {
	echo "$page: $*"
	bad=1
}

# Rows of the table: "function|file|tests|ran on", without spaces and quotes
rows() {
	awk '/^\| function / { on = 1; next } on && !/^\|/ { exit } on && !/^\|[- |]*$/' "$page" |
		sed 's/^| *//; s/ *|$//; s/ *| */|/g; s/`//g'
}

exported() {
	sed -n 's/^\t\t\([a-z_0-9]*\);$/\1/p' user/librcm.map user/librdmacm.map | sort -u
}

declare -A headers

# defined FUNCTION FILE
defined() {
	case $2 in
	"<"*">")
		[ -n "${headers[$2]:-}" ] ||
			headers[$2]=$(echo "#include $2" | gcc -Iuapi -Iuser/include -E -x c -)
		grep -qE "\b$1\(" <<<"${headers[$2]}" || complain "$1: not in $2" ;;
	*)	# at the start of a line, and the semicolon of a declaration not in sight
		grep -qE "^[a-zA-Z_].*\b$1\(([^;]*)\$" "user/$2" 2>/dev/null ||
			complain "$1: not defined in user/$2" ;;
	esac
}

# Where a test runs, by its directions to the runner
rigs() {
	local rigs
	rigs=$(head -n 5 "$1" | sed -n 's/.*rigs: *\(.*\)/\1/p')
	echo "${rigs:-uml vm}"
}

# called FUNCTION TEST: adds to $where
called() {
	local file program

	case $2 in
	*:*)
		file=selftests/${2%%:*} program=${2#*: }
		[ -r "$file" ] || { complain "$1: no test $file"; return; }
		grep -qw -- "$program" "$file" || complain "$1: $file does not run $program"
		program=$(command -v "$program") ||
			{ complain "$1: $program is not installed"; return; }
		nm -D "$program" | grep -qE " U $1(@|\$)" || complain "$1: $program does not call it" ;;
	*)
		file=selftests/$2.c
		[ -r "$file" ] || { complain "$1: no test $file"; return; }
		grep -qE "\b$1\(" "$file" ||
			{ grep -q '"lib_test.h"' "$file" && grep -qE "\b$1\(" selftests/lib_test.h; } ||
			complain "$1: $file does not call it" ;;
	esac
	where="$where $(rigs "$file")"
}

declare -A seen
while IFS='|' read -r function file tests ran; do
	[ -z "${seen[$function]}" ] || complain "$function: has two rows"
	seen[$function]=1
	defined "$function" "$file"
	[ -n "$tests" ] || complain "$function: no test"
	where=
	IFS=, read -ra list <<<"$tests"
	for test in "${list[@]}"; do
		called "$function" "${test# }"
	done
	where=$(tr ' ' '\n' <<<"$where" | grep . | sort -u | tr 'a-z\n' 'A-Z ' | sed 's/ $//; s/ /, /')
	[[ $ran == "rxe: $where" || $ran == "rxe: $where; "* ]] || complain "$function: ran on '$ran', but its tests on '$where'"
done < <(rows)

[ ${#seen[@]} -gt 0 ] || complain "no table of functions"
for function in $(exported); do
	[ -n "${seen[$function]}" ] || complain "$function: no row"
done
exit $bad
