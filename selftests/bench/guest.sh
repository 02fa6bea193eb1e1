#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# rigs: uml vm
# timeout: 14000
#
# Run in a rig by bench.sh: each line of the plan is a test of the benchmark with
# its options, run on both stacks, in each round the other one first. What they
# print goes to /mnt/bench.csv.

. "$RIG_DIR/tap.sh"
work=$TOP/build/bench
bench=$TOP/build/selftests/bench
csv=/mnt/bench.csv
address=10.0.0.1
. "$work/settings"	# PLAN ROUNDS STACKS

# IB_CM remembers numbers of queue pairs of old connections for a while, also
# those of the other stack
qpn=$((0x100000))
take_qpns() {
	[ $((qpn + $1)) -lt $((0x1000000)) ] || qpn=$((0x100000))
	base=$qpn
	qpn=$((qpn + $1))
}

# Addresses from 10.1.1.1 on that nobody answers for, and 10.1.0.2, which does
# when it is asked
dead_network() {
	[ ! -e /sys/class/net/v0 ] || return 0
	ip netns add live
	ip link add v0 type veth peer name v1 netns live
	ip address add 10.1.0.1/16 dev v0
	ip link set v0 up
	ip -n live address add 10.1.0.2/16 dev v1
	ip -n live link set v1 up
	rdma link add rxe1 type rxe netdev v0
	# As many as are waited for at once
	echo 4096 >/proc/sys/net/ipv4/neigh/default/gc_thresh2
	echo 8192 >/proc/sys/net/ipv4/neigh/default/gc_thresh3
}

# The same connections without a connection manager. In each round, though it
# is of neither stack: so it is the same in both columns.
floor() {
	local stack=$1 n=${2:-200} name
	insmod "$work/floor/ib_cm_floor.ko" count="$n" || return
	for name in connect disconnect destroy; do
		awk -v l="$stack,$round,floor n=$n,${name}_us" '{ printf "%s,%.3f\n", l, $1 / 1000 }' \
			/sys/module/ib_cm_floor/parameters/${name}_ns
	done
	rmmod ib_cm_floor
}

# System calls on the stack's device, of server and client together
count_calls() {
	local stack=$1 n=32 device=rdma_cm lib= test
	shift
	[ "$stack" != rcm ] || { device=rcm lib="-E LD_LIBRARY_PATH=$RCM_LIB"; }
	take_qpns $((4 * n))
	# shellcheck disable=SC2086 # $lib is two words
	strace -f -o "$RUN/trace" -P /dev/infiniband/$device $lib \
		"$bench" storm -l "$stack" -n $n -a $address -b "$base" "$@" >"$RUN/calls" || return
	test=$(sed -n '1s/^[^,]*,[^,]*,\([^,]*\),.*/\1/p' "$RUN/calls")
	# a call that another thread interrupted takes two lines
	awk -v l="$stack,$round,calls ${test#storm }" -v n=$n '
		$2 !~ /^<\.\.\.|^[+-]/ && match($2, /^[a-z0-9_]+\(/) { calls++ }
		END { printf "%s,calls,%.3f\n", l, calls / n }' "$RUN/trace"
}

# A storm with its client on the stack, and its server on the other one
mixed() {
	local stack=$1 n=$2 other=rcm pid finish rc
	shift 2
	[ "$stack" != rcm ] || other=intree
	rm -f "$RUN/finish" "$RUN/server"
	mkfifo "$RUN/finish"
	(on $other timeout 900 "$bench" storm -S -l "$stack" -r "$round" -a $address \
		-b $((base + n)) "$@" <"$RUN/finish" >"$RUN/server") &
	pid=$!
	exec {finish}>"$RUN/finish"
	# It writes one byte when it listens
	until_true 60 test -s "$RUN/server" &&
		(on "$stack" timeout 900 "$bench" storm -C -l "$stack" -r "$round" -a $address \
			-b "$base" "$@") >"$RUN/client"
	rc=$?
	exec {finish}>&-
	[ $rc -eq 0 ] || pkill -KILL -P $pid
	wait $pid && [ $rc -eq 0 ] || return
	tail -q -c +2 "$RUN/server" | cat "$RUN/client" - | sed 's/,storm /,mixed /'
}

# Where the time goes: /mnt/profile.STACK
profile() {
	local stack=$1 lib=
	shift
	[ "$stack" != rcm ] || lib="env LD_LIBRARY_PATH=$RCM_LIB"
	# shellcheck disable=SC2086 # $lib is two words
	perf record -q -a -g -e cpu-clock -c 200000 -o "$RUN/perf" $lib \
		"$bench" "$@" -l "$stack" -a $address -b "$base" &&
		perf report -i "$RUN/perf" --no-children -g none --percent-limit 0.3 --sort comm,dso,sym \
			>"/mnt/profile.$stack" 2>/dev/null &&
		perf report -i "$RUN/perf" --children -g none --percent-limit 0.5 --sort sym \
			>"/mnt/profile-children.$stack" 2>/dev/null
}

# one STACK TEST OPTION...
one() {
	local stack=$1 test=$2 n
	shift 2
	n=$(getopt -q -o l:r:a:A:p:n:w:t:c:qb:f: -- "$@" | sed -n 's/.*-n .\([0-9]*\).*/\1/p')
	take_qpns $((2 * ${n:-64} + 200))
	case $test in
	floor)
		floor "$stack" "$n" ;;
	profile)
		profile "$stack" "$@" ;;
	mixed)
		mixed "$stack" "${n:-64}" "$@" ;;
	calls)
		count_calls "$stack" "$@" ;;
	dead)
		dead_network
		ip neigh flush dev v0
		(on "$stack" timeout 200 "$bench" dead -l "$stack" -r "$round" -a 10.1.1.1 \
			-A 10.1.0.2 "$@") ;;
	*)
		(on "$stack" timeout 900 "$bench" "$test" -l "$stack" -r "$round" -a $address \
			-b "$base" "$@") ;;
	esac
}

round=0
: >"$csv"
# More identifiers than one file may own by default
[ ! -e /sys/module/rcm ] || echo 100100 >/sys/module/rcm/parameters/max_ids
case $STACKS in
*intree*) expect "both managers are loaded" both_managers ;;
esac
# What is used for the first time takes longer
for stack in $STACKS; do
	one "$stack" storm -n 8 >"$RUN/warm" && one "$stack" storm -n 8 -q >"$RUN/warm" ||
		fail "warming up: $stack"
done
for round in $(seq "$ROUNDS"); do
	order=$STACKS
	[ $((round % 2)) -eq 1 ] || order=$(printf '%s\n' $STACKS | tac)
	while read -r line; do
		[[ -n $line && $line != "#"* ]] || continue
		for stack in $order; do
			# shellcheck disable=SC2086 # a line is several words
			if one "$stack" $line >>"$csv"; then
				pass "round $round: $line: $stack"
			else
				fail "round $round: $line: $stack"
			fi
			echo "rcm-rig: round $round: $line: $stack" >/dev/console
		done
	done <"$PLAN"
done
finish
