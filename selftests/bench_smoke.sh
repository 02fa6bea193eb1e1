#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# rigs: uml
# timeout: 180
#
# The benchmark works: storms of 1 and 64 connections on rcm, each with and
# without queue pairs. Every connection comes up, and each step is in the
# output. How long anything took does not matter here; make bench measures.

. "$RIG_DIR/tap.sh"
bench=$TESTS_DIR/bench

# metrics OPTION...: what a storm has to report
metrics() {
	local step qp=

	[[ " $* " != *" -q "* ]] || qp="create_qp destroy_qp"
	for step in create bind resolve_addr resolve_route connect disconnect destroy $qp; do
		printf "${step}_%s\n" {p50,p99,max,wall,cpu,own}_us switches
	done
	for step in up resolve_all life; do
		printf "${step}_%s\n" {wall,cpu,own}_us switches
	done
	for step in accept_call established disconnect_reply server_destroy; do
		printf "${step}_%s_us\n" p50 p99 max
	done
	printf '%s\n' first_us time_waits sent_again duplicates failed
}

# storm N BASE [-q]: BASE is the first queue pair number to pretend to have
storm() {
	local n=$1 base=$2
	shift 2

	(on rcm "$bench" storm -l rcm -a 10.0.0.1 -n "$n" -b "$base" "$@") >$RUN/csv || return
	metrics "$@" | sort >$RUN/expected
	cut -d , -f 4 $RUN/csv | sort | diff $RUN/expected - || return
	# Nothing failed, and no time is missing or absurd
	awk -F , '
		NF != 5 || $1 != "rcm" || $5 !~ /^[0-9]+\.[0-9]+$/ { print "bad:", $0; bad = 1 }
		$4 == "failed" && $5 + 0 { print $5, "failed"; bad = 1 }
		$4 == "connect_p50_us" && $5 + 0 == 0 { print "no time at all:", $0; bad = 1 }
		END { exit bad }' $RUN/csv
}

# Connections that do not come up are noticed: nobody listens there
refused() {
	! (on rcm "$bench" storm -C -l rcm -a 10.0.0.1 -p 7999 -n 2) >$RUN/csv &&
		grep -q ',failed,2\.000$' $RUN/csv
}

expect "one connection" storm 1 0x200000
expect "one connection with a queue pair" storm 1 0x200100 -q
expect "64 connections" storm 64 0x200200
expect "64 connections with queue pairs" storm 64 0x200300 -q
expect "refused connections are counted" refused
expect "no identifier and no port is left" left_behind
finish
