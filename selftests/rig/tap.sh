# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# What the shell tests share: TAP output, and running programs on one
# connection manager or the other. Source it, call the functions, end with
# "finish".

tests=0 failures=0

# pass TEXT, fail TEXT, skip TEXT
pass() {
	tests=$((tests + 1))
	echo "ok $tests - $*"
}

fail() {
	tests=$((tests + 1)) failures=$((failures + 1))
	echo "not ok $tests - $*"
}

skip() {
	tests=$((tests + 1))
	echo "ok $tests - $* # SKIP"
}

# expect TEXT COMMAND...: passes, and returns 0, when the command does; its
# output is diagnosis
expect() {
	local text=$1
	shift
	# Line by line: what it prints may be late, and must not break ours up
	if "$@" > >(sed -u 's/^/# /') 2>&1; then
		pass "$text"
	else
		fail "$text"
		return 1
	fi
}

finish() {
	echo "1..$tests"
	[ $failures -eq 0 ]
	exit
}

# on rcm|intree COMMAND...: run a program on one of the connection managers
on() {
	local cm=$1
	shift
	case $cm in
	rcm)	LD_LIBRARY_PATH=$RCM_LIB exec "$@" ;;
	*)	exec "$@" ;;
	esac
}

# until_true SECONDS COMMAND...
until_true() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

# identifiers and ports of rcm.ko, without the header line
rcm_ids() {
	tail -n +2 /sys/kernel/debug/rcm/ids
}

rcm_ports() {
	tail -n +2 /sys/kernel/debug/rcm/ports
}

listening() {
	case $1 in
	rcm)	rcm_ids | grep -qi listen ;;
	*)	rdma resource show cm_id | grep -qi 'state LISTEN' ;;
	esac
}

nothing_left() {
	[ -z "$(rcm_ids)" ] && [ -z "$(rcm_ports)" ]
}

# left_behind: says what is left, and fails then
left_behind() {
	until_true 5 nothing_left && return
	rcm_ids
	rcm_ports
	return 1
}

# uses PID rcm|intree: the process has that connection manager open, and not
# the other
uses() {
	local open
	open=$(readlink /proc/"$1"/fd/* | sort -u)
	case $2 in
	rcm)	[[ $open == */dev/infiniband/rcm* && $open != */dev/infiniband/rdma_cm* ]] ;;
	*)	[[ $open == */dev/infiniband/rdma_cm* && $open != */dev/infiniband/rcm* ]] ;;
	esac
}

both_managers() {
	modprobe -a rdma_cm rdma_ucm && [ -d /sys/module/rcm ] && [ -c /dev/infiniband/rcm ] &&
		[ -c /dev/infiniband/rdma_cm ]
}

# Not modprobe -r: newer kernels would lose ib_uverbs, and load it after rcm next
# time. What registered last is told first that a device goes; a program has to
# hear of it from us before ib_uverbs waits for that program.
rcm_alone() {
	rmmod rdma_ucm rdma_cm && [ ! -d /sys/module/rdma_cm ]
}
