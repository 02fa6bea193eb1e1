#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# exports.sh RCM.SYMVERS DROPIN.SYMVERS KERNEL-DOC: whether what the modules
# export is what the table in Documentation/porting.md says, function by
# function, and each has a kernel-doc comment. The two first are the
# Module.symvers of the builds, the last is the kernel's script. Says nothing
# when all is well.
#
# A row is "rcm_x | rdma_x | what kernel-doc says it does"; what the drop-in
# alone has begins with "-", and what it has on some kernels ends, in the
# second column, with "(some kernels)".

export LC_ALL=C
page=Documentation/porting.md
compat=kernel/include/rcm/rdma_cm_compat.h
rcm=$1 dropin=$2 kernel_doc=$3
sources=(kernel/*.c kernel/dropin/rdma_cm.c)
bad=0

complain() {
	echo "$*"
	bad=1
}

# exported MODULE FILE: names, but those for the tests
exported() {
	[ -s "$2" ] || echo "no-$2"
	awk -F '\t' -v module="$1" '$3 ~ ("(^|/)" module "$") && $5 !~ /RCM_TEST/ { print $2 }' "$2" | sort
}

# same WHAT DOCUMENTED EXPORTED [OPTIONAL]
same() {
	local name

	while read -r name; do
		[ -z "$name" ] || complain "$page: $name: $1 does not export it"
	done <<<"$(comm -23 <(sort <<<"$2") <(sort <<<"$3"))"
	while read -r name; do
		[ -z "$name" ] || complain "$page: $name: exported by $1, no row"
	done <<<"$(comm -13 <(sort <<<"$2"$'\n'"$4") <(sort <<<"$3"))"
}

# "rcm|rdma|does", without spaces and quotes
rows=$(awk '/^\| rcm\.ko / { on = 1; next } on && !/^\|/ { exit } on && !/^\|[- |]*$/' "$page" |
	sed 's/^| *//; s/ *|$//; s/ *| */|/g; s/`//g')
[ -n "$rows" ] || complain "$page: no table of exported functions"

ours=$(cut -d '|' -f 1 <<<"$rows" | grep -vx -- -)
theirs=$(cut -d '|' -f 2 <<<"$rows" | grep -v ' (some kernels)$')
some=$(cut -d '|' -f 2 <<<"$rows" | sed -n 's/ (some kernels)$//p')
same rcm.ko "$ours" "$(exported rcm "$rcm")" ""
# Where the kernel has no such function the drop-in has none
same rdma_cm.ko "$theirs" "$(exported rdma_cm "$dropin")" "$some"

"$kernel_doc" -none -Werror "${sources[@]}" kernel/include/rcm/*.h 2>&1 || bad=1
# "name|what it does" of each that has a comment
described=$("$kernel_doc" -man "${sources[@]}" 2>/dev/null |
	sed -n '/^\.SH NAME/{n;s/ \\- /|/;p}')
while IFS='|' read -r our their does; do
	their=${their% (some kernels)}
	name=$our
	[ "$name" != - ] || name=$their
	says=$(awk -F '|' -v n="$name" '$1 == n { print $2 }' <<<"$described")
	if [ -z "$says" ]; then
		complain "$name: no kernel-doc comment"
	elif [ "$says" != "$does" ]; then
		complain "$page: $name: '$does', but kernel-doc says '$says'"
	fi
	# These two are behind macros
	case $our in
	-|__*)	continue ;;
	esac
	grep -qE "^#define $their[[:space:]]+$our\$" "$compat" || complain "$compat: no $their for $our"
done <<<"$rows"
exit $bad
