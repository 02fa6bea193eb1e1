# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# The connection manager under the distribution's modules: the drop-in with
# rcm, or the kernel's own. Where a function takes MANAGER it is rcm or intree.

# From here on programs are also found in $TOOLS
use_tools() {
	export PATH="$PATH:$TOOLS/sbin:$TOOLS/usr/sbin:$TOOLS/bin:$TOOLS/usr/bin"
	export LD_LIBRARY_PATH=$TOOLS/lib/x86_64-linux-gnu:$TOOLS/usr/lib/x86_64-linux-gnu
}

# From here on modprobe, also the kernel's, looks in the tree with the drop-in
use_dropin() {
	export MODPROBE_OPTIONS="-d $DROPIN"
	printf '#!/bin/sh\nexec /sbin/modprobe -d %s "$@"\n' "$DROPIN" >/run/modprobe
}

no_manager() {
	modprobe -r rdma_ucm rdma_cm
	[ ! -d /sys/module/rcm ] || rmmod rcm
	[ ! -d /sys/module/rdma_cm ] && [ ! -d /sys/module/rcm ]
}

# The kernel's own would load as well, and would not hold rcm
dropin_loads() {
	modprobe rdma_cm && [ -d /sys/module/rcm/holders/rdma_cm ]
}

no_ids_in_tree() {
	[ -z "$(rdma resource show cm_id)" ]
}

# left_behind_in_tree: says what is left, and fails then
left_behind_in_tree() {
	until_true 5 no_ids_in_tree && return
	rdma resource show cm_id
	return 1
}

# on_manager MANAGER MODULE: the module is loaded, and what it uses is that
on_manager() {
	[ -d "/sys/module/rdma_cm/holders/${2//-/_}" ] || return
	case $1 in
	rcm)	[ -d /sys/module/rcm/holders/rdma_cm ] ;;
	*)	[ ! -d /sys/module/rcm ] ;;
	esac
}
