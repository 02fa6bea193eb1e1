#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# rigs: vm
# timeout: 180
#
# The system calls of one rping client, and of its server, on the connection
# manager's device: rcm beside the in-tree one. Ours must be at most half.

. "$RIG_DIR/tap.sh"
address=10.0.0.1

# traced CM NAME PROGRAM...: counts of system calls on CM's device in $RUN/NAME.CM
traced() {
	local cm=$1 name=$2 device=rcm lib=
	shift 2
	[ "$cm" = rcm ] && lib=LD_LIBRARY_PATH=$RCM_LIB || device=rdma_cm
	strace -f -o $RUN/trace.$name -P /dev/infiniband/$device ${lib:+-E "$lib"} "$@"
	local rc=$?
	# a call that another thread interrupted takes two lines
	awk '$2 !~ /^<\.\.\.|^[+-]/ && match($2, /^[a-z0-9_]+\(/) {
			n[substr($2, 1, RLENGTH - 1)]++
		}
		END { for (c in n) print c, n[c] }' $RUN/trace.$name | sort >$RUN/$name.$cm
	return $rc
}

run() {
	local cm=$1 pid
	traced "$cm" server rping -s -a $address -C 5 -V >$RUN/out.server 2>&1 &
	pid=$!
	until_true 20 listening "$cm" || { cat $RUN/out.server; kill $pid; return 1; }
	traced "$cm" client timeout 60 rping -c -a $address -C 5 -V && wait $pid
}

# total FILE [REGEX]: all calls, or without those that match
total() {
	awk -v except="${2:-^$}" '$1 !~ except { n += $2 } END { print n + 0 }' "$RUN/$1"
}

expect "rcm and rdma_cm are loaded side by side" both_managers
expect "rping on the in-tree connection manager" run intree
expect "rping on rcm" run rcm

for side in client server; do
	printf '# %-10s %10s %10s\n' $side in-tree rcm
	cat $RUN/$side.intree $RUN/$side.rcm | cut -d ' ' -f 1 | sort -u | while read -r call; do
		printf '# %-10s %10s %10s\n' "$call" \
			"$(awk -v c="$call" '$1 == c { n = $2 } END { print n + 0 }' $RUN/$side.intree)" \
			"$(awk -v c="$call" '$1 == c { n = $2 } END { print n + 0 }' $RUN/$side.rcm)"
	done
	printf '# %-10s %10s %10s\n' total "$(total $side.intree)" "$(total $side.rcm)"
	# What counts is the open file; finding and opening it costs both the same
	theirs=$(total $side.intree 'open|stat|close') ours=$(total $side.rcm 'open|stat|close')
	text="$side: $ours system calls on the open file, $theirs in-tree"
	if [ "$ours" -gt 0 ] && [ $((2 * ours)) -le "$theirs" ]; then
		pass "$text"
	else
		fail "$text"
	fi
done
expect "rdma_cm unloads beside rcm" rcm_alone
finish
