#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# calls.sh RCM.KO KERNEL.SYMVERS LIST: whether each function of ib_core, ib_cm
# and iw_cm that the module calls, and each of the IP stack, is on the list
# (kernel/tests/fail_calls.h) once: as one that a test makes fail, or with the
# reason why it is left alone. Says nothing when all is well.

export LC_ALL=C
module=$1 symvers=$2 list=$3
bad=0

complain() {
	echo "$*"
	bad=1
}

# Names that are ours to judge: by module, and of the kernel itself by name
listed=$(sed -n 's/^\(FAILS\|LEFT\)(\([^,]*\),.*/\2/p' "$list" | sort)
called=$(join <(nm -u "$module" | awk '{ print $2 }' | sort) \
	<(awk '{ print $2, $3 }' "$symvers" | sort) |
	awk '$2 ~ /\/(ib_core|ib_cm|iw_cm)$/ ||
		$1 ~ /^_*(ip|ipv[46]|ip6|inet|dev|dst|neigh|vlan|rtnl|register|unregister|misc)_/ {
		print $1 }' | sort -u)

[ -n "$called" ] || complain "$module: calls nothing of $symvers"
while read -r name; do
	[ -z "$name" ] || complain "$list: $name: called by rcm.ko, not listed"
done <<<"$(comm -13 <(echo "$listed") <(echo "$called"))"
while read -r name; do
	[ -z "$name" ] || complain "$list: $name: listed twice"
done <<<"$(uniq -d <<<"$listed")"
exit $bad
