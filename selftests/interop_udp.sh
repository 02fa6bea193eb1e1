#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# rigs: vm
# timeout: 300
#
# Unmodified udaddy (datagrams) and mckey (multicast) between rcm and the
# in-tree connection manager: rcm with itself, then each as the client of the
# other.

. "$RIG_DIR/tap.sh"

# udaddy_pair CLIENT SERVER ADDRESS
udaddy_pair() {
	local client=$1 server=$2 address=$3 pid rc

	(on "$server" timeout 40 udaddy -b "$address" -c 4) &
	pid=$!
	until_true 10 listening "$server" || { echo "server does not listen"; kill $pid; return 1; }
	(on "$client" timeout 30 udaddy -s "$address" -c 4)
	rc=$?
	[ $rc -eq 0 ] || { echo "client: exit status $rc"; kill $pid; return 1; }
	wait $pid
	rc=$?
	[ $rc -eq 0 ] || { echo "server: exit status $rc"; return 1; }
}

# The group's members as the kernel has them
members() {
	cat /proc/net/igmp /proc/net/igmp6 | grep -ciE '010101EF|ff0e0000000000000000000000000101'
}

# mckey_pair SENDER RECEIVER GROUP ADDRESS [OPTION]: a sender does not wait
# until its messages are out, so there are several, and one message is enough
mckey_pair() {
	local sender=$1 receiver=$2 group=$3 address=$4 pid rc i
	shift 4

	(on "$receiver" timeout 40 mckey -m "$group" -b "$address" -C 1) &
	pid=$!
	sleep 3
	[ "$(members)" -gt 0 ] || { echo "nobody is in the group"; kill $pid; return 1; }
	for i in 1 2 3 4; do
		(on "$sender" timeout 30 mckey -m "$group" -b "$address" -s -C 50 "$@")
		rc=$?
		[ $rc -eq 0 ] || { echo "sender $i: exit status $rc"; kill $pid; return 1; }
		kill -0 $pid 2>/dev/null || break
	done
	wait $pid
	rc=$?
	[ $rc -eq 0 ] || { echo "receiver: exit status $rc"; return 1; }
	[ "$(members)" -eq 0 ] || { echo "somebody is still in the group"; return 1; }
}

expect "rcm and rdma_cm are loaded side by side" both_managers
for address in 10.0.0.1 fd00::1; do
	expect "udaddy $address: client on rcm, server on rcm" udaddy_pair rcm rcm $address
	expect "udaddy $address: client on rcm, server in-tree" udaddy_pair rcm intree $address
	expect "udaddy $address: client in-tree, server on rcm" udaddy_pair intree rcm $address
done
expect "mckey IPv4: sender on rcm, receiver on rcm" mckey_pair rcm rcm 239.1.1.1 10.0.0.1
expect "mckey IPv4: sender on rcm, receiver in-tree" mckey_pair rcm intree 239.1.1.1 10.0.0.1
expect "mckey IPv4: sender in-tree, receiver on rcm" mckey_pair intree rcm 239.1.1.1 10.0.0.1
expect "mckey IPv4, send-only: sender on rcm, receiver on rcm" \
	mckey_pair rcm rcm 239.1.1.1 10.0.0.1 -o
expect "mckey IPv6: sender on rcm, receiver on rcm" mckey_pair rcm rcm ff0e::101 fd00::1
expect "no identifier and no port is left" left_behind
expect "rdma_cm unloads beside rcm" rcm_alone
finish
