#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# check-versions.sh KERNEL OURS: compare the versions of rdma_cm's symbols in
# two Module.symvers, the kernel's and the drop-in's. Modules of the kernel
# load on the drop-in only where all are the same. Exit status 1, and each
# difference on stderr, when they are not.

kernel=$1 ours=$2
[ -r "$kernel" ] || { echo "dropin: cannot read $kernel" >&2; exit 1; }
[ -r "$ours" ] || { echo "dropin: cannot read $ours" >&2; exit 1; }

awk -F '\t' -v kernel="$kernel" '
	$3 !~ /(^|\/)rdma_cm$/ { next }
	FILENAME == kernel { want[$2] = $1; wanted++; next }
	{ have[$2] = $1 }
	END {
		if (!wanted) {
			print "dropin: this kernel has no module rdma_cm that could be replaced (" kernel ")"
			exit 1
		}
		for (s in want) {
			if (!(s in have))
				line[n++] = s ": the kernel exports it, the drop-in does not"
			else if (want[s] != have[s])
				line[n++] = s ": version " have[s] ", the kernel has " want[s]
		}
		for (s in have)
			if (!(s in want))
				line[n++] = s ": the drop-in exports it, the kernel does not"
		for (i = 0; i < n; i++)
			print "dropin: " line[i]
		if (n) {
			print "dropin: " n " of " wanted " symbols differ: modules of this kernel would not load on it"
			exit 1
		}
		print "dropin: all " wanted " symbols have the versions of the kernel"
	}' "$kernel" "$ours" >"$ours.check"
rc=$?
if [ $rc -eq 0 ]; then
	cat "$ours.check"
else
	cat "$ours.check" >&2
fi
rm -f "$ours.check"
exit $rc
