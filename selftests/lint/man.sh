#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# man.sh OUT: whether the man pages are well-formed, can be installed, and
# describe all that they are for. Says nothing when they do.

export LC_ALL=C
out=$1
pages=(Documentation/man/*.[1-9])
bad=0

complain() {
	echo "$*"
	bad=1
}

mkdir -p "$out" || exit 1

# Not the level below, which says what this machine has no page of
mandoc -T lint -W warning "${pages[@]}" || bad=1
for page in "${pages[@]}"; do
	groff -mandoc -T utf8 -ww -z "$page" 2>&1 | sed "s|^|$page: |" | grep . && bad=1
done

rm -rf "$out/root"
make -s install-man DESTDIR="$(realpath "$out")/root" mandir=/man || bad=1

# described NAME PAGE TEXT: the page is there and says TEXT somewhere
described() {
	local page=$out/root/man/$2

	[ -r "$page" ] || { complain "$1: no man page $2"; return; }
	grep -qE "$3" "$page" || complain "$1: not in man page $2"
}

# Functions, as the compiler reads the header: "name"
functions() {
	printf '#include <rcm/librcm.h>\n' >"$out/librcm.c"
	gcc -D_GNU_SOURCE -Iuapi -Iuser/include -aux-info "$out/prototypes" -fsyntax-only \
		"$out/librcm.c" || return
	sed -n 's|^/\* user/include/rcm/librcm\.h:[^ ]* \*/ [^(]*[ *]\([a-z_0-9]*\) (.*|\1|p' "$out/prototypes"
}

mapfile -t names < <(functions)
[ ${#names[@]} -gt 0 ] || complain "user/include/rcm/librcm.h: no functions found"
for name in "${names[@]}"; do
	described "$name" "man3/$name.3" "^\.F[no] $name( |\$)"
done

for name in $(sed -n 's/^#define \(RCM_OPTION_[A-Z_]*\).*/\1/p' uapi/rdma/rcm.h); do
	described "$name" man7/rcm.7 "^\.It Dv $name\$"
done
for name in $(sed -n 's/^\t\(RCM_STEP_[A-Z_]*\),.*/\1/p' uapi/rdma/rcm.h); do
	described "$name" man3/rcm_event_reason.3 "^\.It Dv $name\$"
done
for name in $(grep -ho '\bRCM_[A-Z]*DIR\b' user/rcm-run.in | sort -u); do
	described "$name" man1/rcm-run.1 "^\.It Ev $name\$"
done
for name in $(sed -n 's/^module_param(\([a-z_]*\),.*/\1/p' kernel/*.c); do
	described "$name" man7/rcm.7 "parameters/$name\$"
done
exit $bad
