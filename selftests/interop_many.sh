#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# rigs: uml vm
# timeout: 400
#
# 100 connections one after the other to one server and 64 at once, every byte
# verified; nothing is left behind and the module unloads. Fewer on UML, which
# is slow and the inner loop.
#
# The 64 have a server each: the server of rping (rdmacm-utils 44) listens with
# a backlog of 3 and crashes, on the in-tree connection manager as well, when
# many clients come and go together.

. "$RIG_DIR/tap.sh"
address=10.0.0.1
FIRST_PORT=7200
case $RIG in
uml)	SEQUENTIAL=${SEQUENTIAL:-10} PARALLEL=${PARALLEL:-8} ;;
*)	SEQUENTIAL=${SEQUENTIAL:-100} PARALLEL=${PARALLEL:-64} ;;
esac

# client PORT SECONDS
client() {
	on rcm timeout "$2" rping -c -a $address -p "$1" -C 3 -S 1024 -V
}

sequential() {
	local i rc bad=0
	for i in $(seq "$SEQUENTIAL"); do
		(client 7174 30) >$RUN/client.$i 2>&1
		rc=$?
		[ $rc -eq 0 ] || { echo "connection $i: exit status $rc"; cat $RUN/client.$i; bad=1; }
	done
	return $bad
}

# listeners N: that many identifiers listen
listeners() {
	[ "$(rcm_ids | grep -ci listen)" -eq "$1" ]
}

# all_end NAME PID...: each of these processes ends with status 0
all_end() {
	local name=$1 i=0 pid rc bad=0
	shift
	for pid; do
		i=$((i + 1))
		wait "$pid"
		rc=$?
		[ $rc -eq 0 ] || { echo "$name $i: exit status $rc"; tail -n 3 "$RUN/$name.$i"; bad=1; }
	done
	return $bad
}

start_servers() {
	local i
	servers=()
	for i in $(seq "$PARALLEL"); do
		(on rcm timeout 200 rping -s -a $address -p $((FIRST_PORT + i)) -C 3 -S 1024 -V) \
			>$RUN/server.$i 2>&1 &
		servers+=($!)
	done
	until_true 60 listeners "$PARALLEL"
}

parallel() {
	local i
	local clients=()
	for i in $(seq "$PARALLEL"); do
		(client $((FIRST_PORT + i)) 150) >$RUN/client.$i 2>&1 &
		clients+=($!)
	done
	all_end client "${clients[@]}"
}

reload() {
	rmmod rcm && insmod "$RCM_KO"
}

(on rcm rping -s -P -a $address -S 1024 -V) >$RUN/server 2>&1 &
server=$!
expect "a persistent server listens" until_true 10 listeners 1
expect "$SEQUENTIAL connections one after the other" sequential
expect "the server lives" kill -0 $server
expect "only the listener's identifier is left" until_true 10 eval '[ $(rcm_ids | wc -l) -eq 1 ]'
kill -KILL $server
wait $server 2>/dev/null
expect "no identifier and no port is left" left_behind

expect "$PARALLEL servers listen" start_servers
expect "$PARALLEL connections at once: clients" parallel
expect "$PARALLEL connections at once: servers" all_end server "${servers[@]}"
expect "no identifier and no port is left" left_behind
expect "the module unloads and loads again" reload
finish
