#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# rigs: vm
# timeout: 90
#
# The part of `make demo` that runs inside the VM: rping over IPv4, then IPv6,
# with everything that happened left in /mnt for demo.sh to show.

. "$RIG_DIR/tap.sh"
PINGS=5 SIZE=4096

cp /proc/modules /mnt/modules
uname -r >/mnt/release
ls -l /dev/infiniband >/mnt/devices
echo "$PINGS $SIZE" >/mnt/amount
cd /sys/kernel/tracing || exit 1
echo 1 >events/rcm/enable

rping_demo() {
	local name=$1 address=$2 pid

	echo >trace
	(on rcm rping -s -a "$address" -C $PINGS -S $SIZE -V -v) >/mnt/server.$name 2>&1 &
	pid=$!
	until_true 10 listening rcm || { cat /mnt/server.$name; kill $pid; return 1; }
	ls -l /proc/$pid/fd | grep infiniband
	echo "rcm-rig: rping over $name" >/dev/console
	(on rcm timeout 20 rping -c -a "$address" -C $PINGS -S $SIZE -V -v) >/mnt/client.$name 2>&1
	echo $? >/mnt/client.$name.rc
	until_true 5 eval "! kill -0 $pid 2>/dev/null" || kill $pid
	wait $pid
	echo $? >/mnt/server.$name.rc
	cp trace /mnt/trace.$name
	[ "$(cat /mnt/client.$name.rc /mnt/server.$name.rc | tr '\n' ' ')" = "0 0 " ]
}

expect "in-tree rdma_cm is absent" eval '! grep -qE "^(rdma_cm|rdma_ucm) " /mnt/modules'
expect "rping over IPv4" rping_demo IPv4 10.0.0.1
expect "rping over IPv6" rping_demo IPv6 fd00::1
# Nobody listens, nobody answers, no route, no RDMA device
why() {
	local text=$1
	shift
	LD_LIBRARY_PATH=$RCM_LIB "$TESTS_DIR/why" "$@" >>/mnt/why
	grep -qF "$text" /mnt/why
}

: >/mnt/why
ip link add d9 type dummy && ip address add 10.0.9.1/24 dev d9 && ip link set d9 up
expect "a rejection is explained" why "rejected by the peer" 10.0.0.1 7999
expect "silence is explained" why "peer does not answer" 10.0.0.99 7999
expect "a missing route is explained" why "no IP route" 203.0.113.1 7999
expect "a missing device is explained" why "interface has no usable RDMA device" 10.0.9.9 7999
ip link del d9

expect "no identifier and no port is left" left_behind
finish
