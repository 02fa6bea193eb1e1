#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# rigs: uml
# timeout: 1500
#
# The rig's network with siw instead of Soft-RoCE on it: unmodified programs
# between rcm and the in-tree connection manager. Debian's kernel has no siw.
#
# siw has faults that show on either manager, all when the peer is quick.
# siw_connect() sends the request first and arms its timer afterwards: by then it
# may have none of its four work items left, and says ENOMEM. siw_accept() answers
# first and asks to be told of data afterwards: what the peer sends in between lies
# in the socket and both wait for ever. siw_recv_mpa_rr() takes data that came
# right behind the peer's answer for a part of it, and says CONNECT_ERROR with
# EINVAL; ucmatose and rsockets send first from the side that accepted. So the
# network passes one packet every 40 ms. On a machine that is slower than that a
# pair is tried again when, and only when, one of these is seen: another error, or
# wrong data, fails at once. When they are all that is seen, six times, the pair is
# skipped and says so.

. "$RIG_DIR/tap.sh"

use_siw() {
	modprobe siw && echo 'driver siw' >/etc/libibverbs.d/siw.driver &&
		rdma link del rxe0 && rdma link add siw0 type siw netdev d0 &&
		modprobe sch_netem &&
		tc qdisc add dev lo root netem delay 1ms slot 40ms packets 1
}

use_rxe() {
	tc qdisc del dev lo root && modprobe -r sch_netem &&
		rdma link del siw0 && modprobe -r siw && rdma link add rxe0 type rxe netdev d0
}

# unread: there is data in a TCP connection
unread() {
	awk '$4 == "01" && substr($5, 10) != "00000000" { found = 1 } END { exit !found }' \
		/proc/net/tcp /proc/net/tcp6
}

# tcp_listens: siw does. The manager says so before it has told siw.
tcp_listens() {
	awk '$4 == "0A" { found = 1 } END { exit !found }' /proc/net/tcp /proc/net/tcp6
}

# watch PID: until it ends. Sets $fault when siw keeps it from that.
watch() {
	local stuck=0

	while kill -0 "$1" 2>/dev/null; do
		unread && stuck=$((stuck + 1)) || stuck=0
		[ $stuck -lt 50 ] || { fault="siw does not read what came"; return; }
		sleep 0.2
	done
}

# pair CLIENT SERVER NAME SERVER-ARGUMENTS CLIENT-ARGUMENTS: sets $fault when it
# fails by a fault of siw
pair() {
	local client=$1 server=$2 name=$3 pids rc

	fault=
	# shellcheck disable=SC2086
	(on "$server" timeout 90 "$name" $4) >"$RUN/server" 2>&1 &
	pids=$!
	until_true 20 tcp_listens || { echo "server does not listen"; kill $pids; return 1; }
	# shellcheck disable=SC2086
	(on "$client" timeout 40 "$name" $5) >"$RUN/client" 2>&1 &
	pids="$! $pids"
	watch $!
	# shellcheck disable=SC2086 # two of them
	[ -z "$fault" ] || kill $pids
	wait ${pids% *}
	rc=$?
	if [ $rc -eq 0 ]; then
		watch ${pids#* }
		[ -z "$fault" ] || kill ${pids#* }
		wait ${pids#* }
		rc=$?
		[ $rc -ne 0 ] || return 0
		echo "server: exit status $rc"
	else
		echo "client: exit status $rc"
		! grep -q 'connect.*: Cannot allocate memory' "$RUN/client" ||
			fault="siw could not arm its timer"
		! grep -qE 'CONNECT_ERROR, error: -22|rpoll: Invalid argument' "$RUN/client" ||
			fault="siw took data for a part of the answer"
		[ $rc -ne 124 ] || cat /proc/net/tcp /proc/net/tcp6
		kill ${pids#* }
		wait ${pids#* }
	fi
	tail -n 5 "$RUN/server" "$RUN/client"
	return 1
}

# tried CLIENT SERVER NAME SERVER-ARGUMENTS CLIENT-ARGUMENTS: 2 when each try
# ended by a fault of siw
tried() {
	local try

	for try in 1 2 3 4 5 6; do
		! pair "$@" || return 0
		[ -n "$fault" ] || return 1
		echo "try $try failed: $fault"
	done
	return 2
}

# both TEXT CLIENT SERVER ...: as tried
both() {
	local text="$1: client $2, server $3" rc
	shift

	tried "$@" >"$RUN/tries" 2>&1
	rc=$?
	sed 's/^/# /' "$RUN/tries"
	case $rc in
	0)	pass "$text" ;;
	2)	skip "$text: needs an siw that connects to a quick peer; six times $fault" ;;
	*)	fail "$text" ;;
	esac
}

fault=
expect "rcm and rdma_cm are loaded side by side" both_managers
expect "siw takes the place of Soft-RoCE" use_siw
for sides in "rcm rcm" "rcm intree" "intree rcm"; do
	# shellcheck disable=SC2086
	set -- $sides
	both ucmatose "$1" "$2" ucmatose "-b 10.0.0.1" "-s 10.0.0.1"
	both "ucmatose, IPv6" "$1" "$2" ucmatose "-f ip6 -b fd00::1" "-f ip6 -s fd00::1"
	for address in 10.0.0.1 fd00::1; do
		both "rping $address" "$1" "$2" rping "-s -a $address -C 10 -V" \
			"-c -a $address -C 10 -V"
	done
	both rstream "$1" "$2" rstream "-b 10.0.0.1 -I 5 -C 5 -S 1000 -T v" \
		"-s 10.0.0.1 -I 5 -C 5 -S 1000 -T v"
done
expect "lib_ports, the same as on RoCE" eval "(on rcm timeout 120 $TESTS_DIR/lib_ports)"
expect "no identifier and no port is left" left_behind
expect "Soft-RoCE is back" use_rxe
expect "rdma_cm unloads beside rcm" rcm_alone
finish
