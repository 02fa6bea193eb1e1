#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# rigs: uml vm
# timeout: 240
#
# An unmodified rping between rcm and the in-tree connection manager, every
# byte verified, with both modules loaded: rcm with itself, then each as the
# client of the other.

. "$RIG_DIR/tap.sh"

# rping_pair CLIENT SERVER ADDRESS
rping_pair() {
	local client=$1 server=$2 address=$3 pid rc

	(on "$server" rping -s -a "$address" -C 10 -S 4096 -V) &
	pid=$!
	if ! until_true 10 listening "$server"; then
		echo "server does not listen"
		kill -KILL $pid
		return 1
	fi
	uses $pid "$server" || { echo "server is not on $server"; kill -KILL $pid; return 1; }
	(on "$client" timeout 30 rping -c -a "$address" -C 10 -S 4096 -V)
	rc=$?
	[ $rc -eq 0 ] || { echo "client: exit status $rc"; kill -KILL $pid; return 1; }
	wait $pid
	rc=$?
	[ $rc -eq 0 ] || { echo "server: exit status $rc"; return 1; }
}

expect "rcm and rdma_cm are loaded side by side" both_managers
for address in 10.0.0.1 fd00::1; do
	expect "rping $address: client on rcm, server on rcm" rping_pair rcm rcm $address
	expect "rping $address: client on rcm, server in-tree" rping_pair rcm intree $address
	expect "rping $address: client in-tree, server on rcm" rping_pair intree rcm $address
done
expect "no identifier and no port is left" left_behind
expect "rdma_cm unloads beside rcm" rcm_alone
finish
