#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The first program of a kernel under test, the same for UML and for the VM.
# Reads /mnt/job (written by run.sh), sets up Soft-RoCE devices, loads rcm.ko,
# runs the tests one after the other with their output in /mnt/NAME.log, then
# looks at what they left behind.

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
export HOME=/run TMPDIR=/tmp

mount -t proc proc /proc 2>/dev/null
mount -t sysfs sys /sys

out=$(sed -n 's/.*rcm_out=\([^ ]*\).*/\1/p' /proc/cmdline)
if [ -n "$out" ]; then
	mount -t hostfs none /mnt -o "$out"
else
	mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 out /mnt
fi
# RIG MACHINE KEEP TOP KERNEL DROPIN TOOLS RCM_KO RCM_TEST_KO RCM_LIB TESTS_DIR KSELFTEST_DIR
# PYVERBS_TESTS T
. /mnt/job || { echo "rcm: no /mnt/job"; busybox poweroff -f; }

# Scratch places are memory. What run.sh needs of them ($KEEP) stays visible.
mount -t tmpfs tmp /run
mkdir -p /run/keep
keep=()
for dir in $KEEP; do
	case $dir in
	/tmp/*|/var/tmp/*|/run/*|/dev/shm/*)
		n=${#keep[@]}
		mkdir "/run/keep/$n" && mount --bind "$dir" "/run/keep/$n" && keep+=("$dir") ;;
	esac
done
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/pts
mount -t tmpfs tmp /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmp /tmp
mount -t tmpfs tmp /var/tmp
for n in "${!keep[@]}"; do
	mkdir -p "${keep[$n]}" && mount --move "/run/keep/$n" "${keep[$n]}"
done
ln -sfn /proc/self/fd /dev/fd
ln -sfn /proc/self/fd/0 /dev/stdin
ln -sfn /proc/self/fd/1 /dev/stdout
ln -sfn /proc/self/fd/2 /dev/stderr
mount -t debugfs debug /sys/kernel/debug
mount -t tracefs trace /sys/kernel/tracing
export RUN=/run/rcm
mkdir -p $RUN
cd $RUN || exit 1
hostname rcm-"$RIG"
ulimit -l unlimited

# The kernel's modules are in the cache; modprobe finds them there, called by
# us or by the kernel.
export MODPROBE_OPTIONS="-d $KERNEL"
printf '#!/bin/sh\nexec /sbin/modprobe -d %s "$@"\n' "$KERNEL" >/run/modprobe
chmod +x /run/modprobe
echo /run/modprobe >/proc/sys/kernel/modprobe

printf '127.0.0.1 localhost\n::1 localhost\n10.0.0.1 rcm-%s rdmahost\n' "$RIG" >/run/hosts
mount --bind /run/hosts /etc/hosts
# Soft-RoCE's provider alone: programs start faster
mount -t tmpfs tmp /etc/libibverbs.d
echo 'driver rxe' >/etc/libibverbs.d/rxe.driver

note() {
	echo "rcm-rig: $*" >/dev/kmsg
}

now() {
	local up rest
	read -r up rest </proc/uptime
	echo "$up"
}

setup() {
	local m dev
	for m in dummy veth ib_core ib_cm iw_cm ib_uverbs rdma_rxe; do
		modprobe $m || echo "not ok - modprobe $m"
	done
	ip link set lo up
	if [ "$RIG" = vms ]; then
		dev=eth0
		modprobe virtio_net
	else
		dev=d0
		ip link add d0 type dummy
	fi
	ip address add 10.0.0."$MACHINE"/24 dev $dev
	ip address add fd00::"$MACHINE"/64 dev $dev nodad
	ip link set $dev up
	rdma link add rxe0 type rxe netdev $dev
	rdma link show rxe0/1
}

load() {
	[ -z "$RCM_KO" ] || [ -d /sys/module/rcm ] || insmod "$RCM_KO"
}

# one NAME SECONDS PATH: the test's output and, last, its exit status and time
one() {
	local name=$1 seconds=$2 path=$3 rc start pid lib
	start=$(now)
	note "begin $name"
	echo "rcm-rig: begin $name"
	load >/mnt/"$name".log 2>&1
	case $name in
	lib_*)	lib=$RCM_LIB ;;
	*)	lib= ;;
	esac
	LD_LIBRARY_PATH=$lib setsid timeout -k 5 "$seconds" "$path" >>/mnt/"$name".log 2>&1 </dev/null &
	pid=$!
	wait $pid
	rc=$?
	pkill -KILL -s $pid
	note "end $name"
	echo "$rc $(awk -v a="$start" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }') $seconds" \
		>/mnt/"$name".rc
}

setup >/mnt/setup.log 2>&1
export RIG RCM_KO RCM_TEST_KO RCM_LIB KERNEL DROPIN TOOLS TOP TESTS_DIR KSELFTEST_DIR
export PYVERBS_TESTS T
export RIG_DIR=$TOP/selftests/rig
note "ready"
echo "rcm-rig: ready, $(uname -r)"

while read -r name seconds path; do
	one "$name" "$seconds" "$path"
done </mnt/tests
[ "$RIG/$MACHINE" != vms/1 ] || "$RIG_DIR/far.sh" end

# What the tests left behind: the module must go, memory must be freed, the
# kernel must not have complained.
{
	if [ -n "$RCM_KO" ]; then
		echo "1..1"
		[ -d /sys/module/rcm ] || insmod "$RCM_KO"
		if [ -e /sys/kernel/debug/rcm ]; then
			head -n 50 /sys/kernel/debug/rcm/* | sed 's/^/# /'
		fi
		grep -E '^rcm ' /proc/modules | sed 's/^/# /'
		grep -F '[rcm]' /proc/kallsyms >/mnt/rcm.syms
		if timeout -k 5 30 rmmod rcm && [ ! -d /sys/module/rcm ]; then
			echo "ok 1 - rcm.ko unloads"
		else
			echo "not ok 1 - rcm.ko unloads"
		fi
	fi
} >/mnt/unload.log 2>&1

# kmemleak looks at objects that are five seconds old, and calls one a leak
# when two scans find it unchanged
if [ -n "$RCM_KO" ] && [ -z "$NO_KMEMLEAK" ] && echo scan 2>/dev/null >/sys/kernel/debug/kmemleak; then
	sleep 5
	echo scan >/sys/kernel/debug/kmemleak
	echo scan >/sys/kernel/debug/kmemleak
	cat /sys/kernel/debug/kmemleak >/mnt/kmemleak.txt
fi

dmesg >/mnt/dmesg
touch /mnt/done
sync
echo "rcm-rig: end"
busybox poweroff -f
