#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# rigs: vm
# needs: dropin
# timeout: 1200
#
# The distribution's own modules on the drop-in: each loads and unloads; nvme,
# NFS, iSER and SRP carry data over Soft-RoCE, both sides on this machine; its
# own librdmacm runs over its own rdma_ucm. Nothing of ours is in these but
# rdma_cm.ko and rcm.ko.

. "$RIG_DIR/tap.sh"
. "$TOP/selftests/dropin/managers.sh"
. "$TOP/selftests/dropin/storage.sh"

A=10.0.0.1
CONSUMERS="nvme-rdma nvmet-rdma rpcrdma rds_rdma ib_iser ib_isert ib_srp ib_srpt 9pnet_rdma
	iw_cxgb4 rdma_ucm"

use_tools
use_dropin

loads_and_unloads() {
	modprobe "$1" && on_manager rcm "$1" && modprobe -r "$1" && [ ! -d "/sys/module/${1//-/_}" ]
}

rping_own() {
	local pid rc

	timeout 60 rping -s -a "$1" -C 10 -V &
	pid=$!
	until_true 15 listening rcm || echo "server does not listen"
	timeout 40 rping -c -a "$1" -C 10 -V
	rc=$?
	wait $pid
	return $((rc + $?))
}

# pair SERVER CLIENT: two commands; both have to succeed
pair() {
	local pid rc

	timeout 60 sh -c "$1" &
	pid=$!
	until_true 15 listening rcm || echo "server does not listen"
	timeout 50 sh -c "$2"
	rc=$?
	wait $pid
	return $((rc + $?))
}

expect "no connection manager is loaded" no_manager
expect "modprobe rdma_cm loads the drop-in, and rcm with it" dropin_loads
for module in $CONSUMERS; do
	expect "$module loads on it and unloads" loads_and_unloads "$module"
done

modprobe rdma_ucm
expect "rdma_ucm is on the drop-in" on_manager rcm rdma_ucm
expect "rping over rdma_ucm, IPv4" rping_own $A
expect "rping over rdma_ucm, IPv6" rping_own fd00::1
expect "ucmatose" pair "ucmatose -b $A" "ucmatose -s $A"
expect "udaddy" pair "udaddy -b $A" "udaddy -s $A"
expect "rstream" pair "rstream -b $A -I 10 -C 10 -S 1000 -T v" "rstream -s $A -I 10 -C 10 -S 1000 -T v"
expect "no identifier and no port is left" left_behind

for kind in nvme nfs iser srp; do
	expect "$kind: target" "${kind}_up" $A "$(guid)"
	expect "$kind: it is on the drop-in" serves rcm $kind
	expect "$kind: what is written is read back" timeout -k 5 180 bash -c \
		". $RIG_DIR/tap.sh; . $TOP/selftests/dropin/storage.sh; ${kind}_io $A $(guid)"
	expect "$kind: the target has it" cmp -n 1M /run/pattern "${STORE[$kind]}"
	expect "$kind: initiator is on the drop-in" on_manager rcm "${INITIATOR[$kind]}"
	expect "$kind: target goes" "${kind}_down"
	expect "$kind: no identifier and no port is left" left_behind
done

expect "all of it unloads" no_manager
# Those went with it; the rig needs them for what comes next
modprobe -a ib_cm iw_cm
finish
