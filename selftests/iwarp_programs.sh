#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# rigs: uml
# timeout: 1500
#
# The rig's network with siw instead of Soft-RoCE on it: unmodified programs
# between rcm and the in-tree connection manager. Not those that wait for
# completions by a completion channel, like rping: over siw they hang now and
# then, on the in-tree manager as well. Each pair is tried up to three times:
# siw_connect() sends first and arms its timer afterwards, and when the peer is
# quick it has none of its four work items left and says ENOMEM. Debian's kernel
# has no siw.

. "$RIG_DIR/tap.sh"

use_siw() {
	modprobe siw && echo 'driver siw' >/etc/libibverbs.d/siw.driver &&
		rdma link del rxe0 && rdma link add siw0 type siw netdev d0
}

use_rxe() {
	rdma link del siw0 && modprobe -r siw && rdma link add rxe0 type rxe netdev d0
}

# pair CLIENT SERVER NAME SERVER-ARGUMENTS CLIENT-ARGUMENTS
pair() {
	local client=$1 server=$2 name=$3 pid rc

	# shellcheck disable=SC2086
	(on "$server" timeout 90 "$name" $4) >"$RUN/server" 2>&1 &
	pid=$!
	until_true 20 listening "$server" || { echo "server does not listen"; kill $pid; return 1; }
	# shellcheck disable=SC2086
	(on "$client" timeout 60 "$name" $5)
	rc=$?
	[ $rc -eq 0 ] || { echo "client: exit status $rc"; cat "$RUN/server"; kill $pid; return 1; }
	wait $pid
	rc=$?
	[ $rc -eq 0 ] || { echo "server: exit status $rc"; cat "$RUN/server"; return 1; }
}

# tried CLIENT SERVER NAME SERVER-ARGUMENTS CLIENT-ARGUMENTS
tried() {
	local try

	for try in 1 2 3; do
		! pair "$@" || return 0
		echo "try $try failed"
	done
	return 1
}

expect "rcm and rdma_cm are loaded side by side" both_managers
expect "siw takes the place of Soft-RoCE" use_siw
for sides in "rcm rcm" "rcm intree" "intree rcm"; do
	# shellcheck disable=SC2086
	set -- $sides
	expect "ucmatose: client $1, server $2" tried "$1" "$2" ucmatose "-b 10.0.0.1" "-s 10.0.0.1"
	expect "ucmatose, IPv6: client $1, server $2" tried "$1" "$2" ucmatose \
		"-f ip6 -b fd00::1" "-f ip6 -s fd00::1"
	expect "rstream: client $1, server $2" tried "$1" "$2" rstream \
		"-b 10.0.0.1 -I 10 -C 10 -S 1000 -T v" "-s 10.0.0.1 -I 10 -C 10 -S 1000 -T v"
done
expect "lib_ports, the same as on RoCE" eval "(on rcm timeout 120 $TESTS_DIR/lib_ports)"
expect "no identifier and no port is left" left_behind
expect "Soft-RoCE is back" use_rxe
expect "rdma_cm unloads beside rcm" rcm_alone
finish
