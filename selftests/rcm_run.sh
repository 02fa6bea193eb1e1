#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# timeout: 120
#
# rcm-run(1): what it starts, what it leaves behind in the environment, and how
# it ends when it cannot.

. "$RIG_DIR/tap.sh"
run=$RCM_LIB/rcm-run

# ends STATUS TEXT COMMAND...: the exit status, and something that it says
ends() {
	local status=$1 text=$2 said rc
	shift 2
	said=$("$@" 2>&1)
	rc=$?
	[ $rc -eq "$status" ] && [[ $said == *$text* ]] && return
	echo "exit status $rc: $said"
	return 1
}

# The module's file is gone meanwhile
without_module() {
	local rc
	rmmod rcm || return
	ends 125 "load the module" "$run" true
	rc=$?
	insmod "$RCM_KO"
	return $rc
}

expect "without program: usage, 1" ends 1 usage: "$run"
expect "-h: usage" ends 0 usage: "$run" -h
expect "the program's exit status" ends 7 "" "$run" sh -c 'exit 7'
expect "its arguments" ends 0 "a  b" "$run" printf %s "a  b"
# shellcheck disable=SC2016 # for the inner shell
expect "our library comes first" ends 0 "$RCM_LIB:/somewhere" \
	env LD_LIBRARY_PATH=/somewhere "$run" sh -c 'echo $LD_LIBRARY_PATH'
expect "and is the one that is used" ends 0 "$RCM_LIB/librdmacm.so.1" "$run" ldd "$(command -v rping)"
expect "unknown program: 127" ends 127 "not found" "$run" no-such-program
expect "no library: 125" ends 125 "no librdmacm.so.1 in /nowhere" env RCM_LIBDIR=/nowhere "$run" true
expect "no module: 125" without_module
finish
