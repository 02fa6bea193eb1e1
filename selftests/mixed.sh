#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# rigs: vms
# needs: dropin
# timeout: 1200
#
# Two machines, this one with rcm, the other with the kernel's connection
# manager: storage by the distribution's own modules, which here run on the
# drop-in, and programs, which here have our library. rdma_ucm is loaded on the
# other alone. Each in both directions.

. "$RIG_DIR/tap.sh"
. "$TOP/selftests/dropin/managers.sh"
. "$TOP/selftests/dropin/storage.sh"

declare -A ADDRESS=([rcm]=10.0.0.1 [intree]=10.0.0.2) ADDRESS6=([rcm]=fd00::1 [intree]=fd00::2)
declare -A GUID
PRELUDE=". $RIG_DIR/tap.sh; . $TOP/selftests/dropin/managers.sh; . $TOP/selftests/dropin/storage.sh; use_tools"

# at MANAGER COMMAND: run a shell command, without single quotes, on the machine
# with that manager. A machine that is gone does not answer.
at() {
	case $1 in
	rcm)	timeout -k 5 120 bash -c "$PRELUDE; use_dropin; $2" ;;
	*)	timeout 130 "$RIG_DIR/far.sh" "timeout -k 5 120 bash -c '$PRELUDE; $2'" ;;
	esac
}

# retried MANAGER: how often Soft-RoCE on that machine sent again. It then registers
# memory a second time, which fails and breaks the connection.
retried() {
	at "$1" "cat /sys/class/infiniband/rxe0/ports/1/hw_counters/completer_retry_err"
}

nothing_left_anywhere() {
	left_behind && at intree left_behind_in_tree
}

# pair SERVER CLIENT PROGRAM OPTIONS-OF-SERVER OPTIONS-OF-CLIENT
pair() {
	local server=$1 client=$2 program=$3 pid rc

	at "$server" "on $server timeout 60 $program $4" &
	pid=$!
	at "$server" "until_true 30 listening $server && uses \$(pgrep -x $program) $server" &&
		at "$client" "on $client timeout 50 $program $5"
	rc=$?
	[ $rc -eq 0 ] || echo "no server, or client: exit status $rc"
	wait $pid || { rc=$?; echo "server: exit status $rc"; }
	return $rc
}

programs() {
	local s=$1 c=$2 what="server on $1, client on $2"

	expect "rping IPv4: $what" pair "$s" "$c" rping "-s -a ${ADDRESS[$s]} -C 10 -V" \
		"-c -a ${ADDRESS[$s]} -C 10 -V"
	expect "rping IPv6: $what" pair "$s" "$c" rping "-s -a ${ADDRESS6[$s]} -C 10 -V" \
		"-c -a ${ADDRESS6[$s]} -C 10 -V"
	expect "udaddy: $what" pair "$s" "$c" udaddy "-b ${ADDRESS[$s]}" "-s ${ADDRESS[$s]}"
}

# used TARGET INITIATOR KIND
used() {
	local before

	before=$(retried "$2")
	at "$2" "${3}_io ${ADDRESS[$1]} ${GUID[$1]}" && return
	echo "Soft-RoCE of the initiator sent again: $before times before, $(retried "$2") now"
	return 1
}

# same_at_target TARGET INITIATOR KIND
same_at_target() {
	local there here

	here=$(at "$2" "digest /run/pattern") && there=$(at "$1" "digest ${STORE[$3]}") || return
	[ "$here" = "$there" ] && return
	echo "written: $here"
	echo "stored: $there"
	return 1
}

storage() {
	local kind=$1 t=$2 i=$3
	local what="$kind, target on $t, initiator on $i" module=${INITIATOR[$1]}

	expect "$what: target" at "$t" "${kind}_up ${ADDRESS[$t]} ${GUID[$i]}"
	expect "$what: it listens there" at "$t" "serves $t $kind"
	expect "$what: what is written is read back" used "$t" "$i" "$kind"
	expect "$what: the target has it" same_at_target "$t" "$i" "$kind"
	expect "$what: initiator goes" at "$i" \
		"on_manager $i $module && until_true 20 modprobe -r $module"
	expect "$what: target goes" at "$t" "${kind}_down"
	expect "$what: no identifier and no port is left" nothing_left_anywhere
}

expect "the second machine answers" until_true 120 at intree true
no_manager
use_dropin
expect "rdma_cm is the drop-in here" dropin_loads
expect "and the kernel's there" at intree "modprobe rdma_ucm && on_manager intree rdma_ucm"
GUID[rcm]=$(guid)
GUID[intree]=$(at intree guid)

programs rcm intree
programs intree rcm
expect "no identifier and no port is left" nothing_left_anywhere
for kind in nvme nfs iser srp; do
	storage $kind rcm intree
	storage $kind intree rcm
done

expect "all of it unloads here" no_manager
expect "and there" at intree no_manager
# Those went with it; the rig needs them for what comes next
modprobe -a ib_cm iw_cm
finish
