#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# cases.sh: whether Documentation/cases.md and the tests agree: a test that the
# table names has the case's number in it, a test that has a number is named,
# and where there is none there is a reason. Says nothing when all is well.

export LC_ALL=C
page=Documentation/cases.md
bad=0

complain() {
	echo "$page: $*"
	bad=1
}

# file NAME: of a test
file() {
	case $1 in
	*_test)	echo "kernel/tests/$1.c" ;;
	each_transport)
		echo "selftests/$1.h" ;;
	*)	echo "selftests/$1.c" ;;
	esac
}

# "number|test", one for each test that the table names
named=$(awk -F ' *[|] *' '$2 ~ /^C[0-9][0-9]$/ { print $2 "|" $4 }' "$page" |
	while IFS='|' read -r number text; do
		[ -n "$text" ] || echo "$number|"
		grep -o '`[a-z][a-z_0-9/.]*`' <<<"$text" | tr -d '`' | sed "s/^/$number|/"
	done)

while IFS='|' read -r number name; do
	if [ -z "$name" ]; then
		complain "$number: neither a test nor a reason"
	elif ! grep -qE "\b$number(_|\b)" "$(file "$name")" 2>/dev/null; then
		complain "$number: not in $(file "$name")"
	fi
done <<<"$named"

for f in selftests/*.c selftests/each_transport.h kernel/tests/*.c; do
	name=$(basename "${f%.[ch]}")
	for number in $(grep -oE '\bC[0-9]{2}(_|\b)|_C[0-9]{2}_' "$f" | tr -d _ | sort -u); do
		grep -qx "$number|$name" <<<"$named" || complain "$number: $f is not named"
	done
done
exit $bad
