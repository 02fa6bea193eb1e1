#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# rigs: vm
# timeout: 3600
#
# Unmodified programs over rcm: server and client on rcm, and for a part of
# them one side on the in-tree manager. See programs.sh.

. "$TOP/selftests/apps/programs.sh"
own=rcm mixed=1

on_intree() {
	"$@"
}

expect "rcm and rdma_cm are loaded side by side" both_managers || mixed=
intree=$mixed
expect "rcm-run starts a program" "$RCM_LIB/rcm-run" true
trace rcm
[ -z "$mixed" ] || trace intree
programs
finish
