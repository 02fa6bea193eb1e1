#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# rigs: vm
# timeout: 400
#
# The distribution's rsockets over our identifiers: its own programs,
# unmodified, on rcm on either side, and on one side each. rdma_cm is loaded,
# since its ABI number is asked for, but no program on rcm may use it.

. "$RIG_DIR/tap.sh"

small="-I 10 -C 10 -S 1000"

# servers exit at the end, but for rcopy's
# pair CLIENT SERVER NAME SERVER-ARGUMENTS CLIENT-ARGUMENTS
pair() {
	local client=$1 server=$2 name=$3 pid rc

	# shellcheck disable=SC2086
	(on "$server" timeout 40 "$name" $4) >"$RUN/server" &
	pid=$!
	until_true 10 listening "$server" || { echo "server does not listen"; kill $pid; return 1; }
	# shellcheck disable=SC2086
	(on "$client" timeout 40 "$name" $5)
	rc=$?
	[ $rc -eq 0 ] || { echo "client: exit status $rc"; kill $pid; return $rc; }
	[ "$name" != rcopy ] || { kill $pid; wait $pid; return 0; }
	wait $pid
	rc=$?
	[ $rc -eq 0 ] || { echo "server: exit status $rc"; return 1; }
}

# As pair. With poll(), rstream takes it for an error, and says POLLHUP (16), when
# the server's end of the connection is there before it has read the last data.
polling_pair() {
	local try rc

	for try in 1 2 3; do
		pair "$@"
		rc=$?
		[ $rc -eq 16 ] || return $rc
		echo "try $try: the server was quicker"
	done
	return 1
}

on_rcm_alone() {
	local pid rc

	(on rcm timeout 20 rstream -b 10.0.0.1) >/dev/null &
	pid=$!
	until_true 10 listening rcm || { echo "server does not listen"; kill $pid; return 1; }
	sleep 1
	uses "$(pgrep -P $pid -x rstream || echo $pid)" rcm
	rc=$?
	kill $pid
	wait $pid
	return $rc
}

copied() {
	head -c 1000000 /dev/urandom >"$RUN/source"
	pair "$1" "$2" rcopy "" "$RUN/source 10.0.0.1:$RUN/copy" && cmp "$RUN/source" "$RUN/copy"
}

expect "rcm and rdma_cm are loaded side by side" both_managers
expect "an rsocket server has rcm open, not rdma_cm" on_rcm_alone
for sides in "rcm rcm" "rcm intree" "intree rcm"; do
	# shellcheck disable=SC2086
	set -- $sides
	expect "rstream: client $1, server $2" \
		pair "$1" "$2" rstream "-b 10.0.0.1 $small -T v" "-s 10.0.0.1 $small -T v"
	expect "rcopy: client $1, server $2" copied "$1" "$2"
done
expect "rstream, IPv6" pair rcm rcm rstream "-f ipv6 -b fd00::1 $small -T v" \
	"-f ipv6 -s fd00::1 $small -T v"
expect "rstream, blocking" pair rcm rcm rstream "-b 10.0.0.1 $small -T b" \
	"-s 10.0.0.1 $small -T b"
expect "rstream, nonblocking" polling_pair rcm rcm rstream "-b 10.0.0.1 $small -T a" \
	"-s 10.0.0.1 $small -T a"
expect "rstream, rdma_getaddrinfo" pair rcm rcm rstream "-b 10.0.0.1 $small -T r" \
	"-s 10.0.0.1 $small -T r"
expect "riostream" pair rcm rcm riostream "-b 10.0.0.1 $small -T v" \
	"-s 10.0.0.1 $small -T v"
expect "no identifier and no port is left" left_behind
expect "rdma_cm unloads beside rcm" rcm_alone
finish
