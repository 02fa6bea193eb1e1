#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# rigs: vm
# needs: dropin
# timeout: 3600
#
# The same programs with the distribution's own librdmacm and rdma_ucm, over the
# drop-in on both sides. See programs.sh.

. "$TOP/selftests/apps/programs.sh"
own=dropin mixed= intree=1

no_manager() {
	modprobe -d "$DROPIN" -r rdma_ucm rdma_cm rcm
	[ ! -d /sys/module/rdma_cm ] && [ ! -d /sys/module/rcm ]
}

# The kernel's own would load as well, and would not hold rcm
use_dropin() {
	no_manager && modprobe -d "$DROPIN" rdma_ucm &&
		[ -d /sys/module/rdma_cm/holders/rdma_ucm ] && [ -d /sys/module/rcm/holders/rdma_cm ] &&
		trace rcm
}

use_intree() {
	no_manager && modprobe -d "$KERNEL" rdma_ucm && [ ! -d /sys/module/rcm ] && trace intree
}

on_intree() {
	local rc

	use_intree || { echo "# the in-tree manager cannot be loaded"; return 0; }
	"$@"
	rc=$?
	expect "back from the in-tree manager to the drop-in" use_dropin
	return $rc
}

expect "rdma_ucm is on the drop-in" use_dropin || finish
programs
expect "all of it unloads" no_manager
# These went with it; the rig needs them for what comes next
modprobe -a ib_cm iw_cm
finish
