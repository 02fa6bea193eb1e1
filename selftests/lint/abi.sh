#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# abi.sh OUT LIBRARY: whether our librdmacm.so.1 can take the place of the one
# that this machine's librdmacm package has. Says nothing when it can.
#
# Names and versions are those of the distribution's file. It has no debugging
# information, but what an application knows of types comes from the headers:
# so the reference is a library of empty functions, with the prototypes of the
# distribution's headers and its symbol versions, and abidiff compares the two
# down to the members of each structure that a function can reach.

set -u
set -o pipefail
export LC_ALL=C
out=$1 ours=$2
headers='rdma/rdma_cma.h rdma/rdma_verbs.h rdma/rsocket.h'
theirs=$(readlink -f "$(gcc -print-file-name=librdmacm.so)")

# What we export and an older librdmacm does not
added='rdma_query_addrinfo@@RDMACM_1.4
rdma_resolve_addrinfo@@RDMACM_1.4
rdma_write_cm_event@@RDMACM_1.4'

fail() {
	echo "$*"
	exit 1
}

# symbols FILE: "T name@@VERSION"
symbols() {
	nm -D --with-symbol-versions --defined-only "$1" | awk '$2 != "A" { print $2, $3 }' | sort
}

# The distribution's names, node by node; there are no others
version_script() {
	local node last=
	for node in $(sed 's/.*@@//' "$out/theirs" | sort -uV); do
		printf '%s {\n%s\n} %s;\n' "$node" "$(sed -n "s/^. \(.*\)@@$node\$/\t\1;/p" "$out/theirs")" \
			"$last"
		last=$node
	done
}

# Each prototype of the headers, as the compiler reads them, with an empty body
reference_source() {
	local header name prototype
	for header in $headers; do
		echo "#include <$header>"
	done
	sed 's/^. \(.*\)@@.*/\1/' "$out/theirs" | while read -r name; do
		prototype=$(sed -n "s|^/\* .*:NC \*/ extern \(.*[ *]$name (.*\);\$|\1|p" "$out/prototypes" |
			head -n 1)
		[ -n "$prototype" ] || { echo "#error $name: not in the headers"; continue; }
		echo "$prototype { __builtin_trap(); }"
	done
}

mkdir -p "$out" || exit 1
[ -r "$theirs" ] || fail "no librdmacm.so: install librdmacm-dev"
symbols "$theirs" >"$out/theirs"
symbols "$ours" >"$out/ours"
[ -s "$out/theirs" ] || fail "$theirs: no symbols with versions"

soname() {
	readelf -d "$1" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p'
}
readelf -S "$ours" | grep -q '\.debug_info' || fail "$ours: no debugging information, types cannot be compared"
[ "$(soname "$theirs")" = "$(soname "$ours")" ] || fail "SONAME is $(soname "$ours")"

bad=0
missing=$(comm -23 "$out/theirs" "$out/ours")
[ -z "$missing" ] || { echo "missing, or with another version:"; echo "$missing"; bad=1; }
extra=$(comm -13 "$out/theirs" "$out/ours" | grep -vxF "$(sed 's/^/T /' <<<"$added")")
[ -z "$extra" ] || { echo "exported, but not known here:"; echo "$extra"; bad=1; }
[ $bad -eq 0 ] || exit 1

# shellcheck disable=SC2086 # a list
printf '#include <%s>\n' $headers >"$out/headers.c"
gcc -D_GNU_SOURCE -aux-info "$out/prototypes" -fsyntax-only "$out/headers.c" || exit 1
reference_source >"$out/reference.c"
version_script >"$out/reference.map"
gcc -D_GNU_SOURCE -g -w -fPIC -shared -Wl,-soname,librdmacm.so.1 \
	-Wl,--version-script="$out/reference.map" -o "$out/reference.so" "$out/reference.c" || exit 1
symbols "$out/reference.so" | cmp -s "$out/theirs" - ||
	fail "the reference has other symbols than $theirs: see $out"

abidiff --no-added-syms "$out/reference.so" "$ours" >"$out/abidiff"
rc=$?
[ $rc -eq 0 ] || { cat "$out/abidiff"; fail "abidiff: exit status $rc"; }
