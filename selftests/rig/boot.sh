#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# boot.sh uml|vm|vms|vmdebug KERNEL OUT SECONDS: boot a kernel (a directory that
# the rig's *-kernel.sh printed) with the host's file system as its read-only
# root, OUT writable at /mnt, and guest-init.sh as its first program. Killed
# after SECONDS. The console goes to stdout.
#
# MACHINE=1|2  for vms: which of the two. The wire between them is the socket
#              "wire" in the current directory, which the second one makes

. "$(dirname "$0")/lib.sh"
rig=$1 kernel=$2 out=$3 seconds=$4
init=$RIG_DIR/guest-init.sh
[ -x "$init" ] || die "$init is not executable"

case $rig in
uml)
	# UML keeps its memory in a file in TMPDIR, faster where that is memory
	[ ! -w /dev/shm ] || export TMPDIR=/dev/shm
	mkdir -p "$out/home"
	HOME=$out/home
	exec timeout -s KILL "$seconds" "$kernel/build/linux" mem="${MEM:-1536M}" \
		rootfstype=hostfs rootflags=/ ro init="$init" rcm_out="$out" \
		con=null con0=fd:0,fd:1 quiet panic=-1 log_buf_len=4M kmemleak="${KMEMLEAK:-on}" \
		kunit.autorun=1 </dev/null ;;
vm|vms|vmdebug)
	net=(-nic none)
	if [ "$rig" = vms ]; then
		server=off
		[ "$MACHINE" = 1 ] || server=on
		net=(-netdev "stream,id=wire,server=$server,addr.type=unix,addr.path=wire"
			-device "virtio-net-pci,netdev=wire,mac=52:54:00:00:00:0$MACHINE,romfile=")
	fi
	boot=(-kernel "$kernel/vmlinuz" -initrd "$kernel/initrd")
	append="mitigations=off rcm_init=$init"
	if [ "$rig" = vmdebug ]; then
		boot=(-kernel "$kernel/build/arch/x86/boot/bzImage")
		append="root=root rootfstype=9p ro init=$init kmemleak=${KMEMLEAK:-on} kunit.autorun=1 \
rootflags=trans=virtio,version=9p2000.L,msize=262144,cache=loose workqueue.watchdog_thresh=60"
	fi
	exec timeout -s KILL "$seconds" qemu-system-x86_64 -accel "${ACCEL:-tcg,thread=multi}" -cpu "${CPU:-max}" \
		-m "${MEM:-2G}" -smp "${SMP:-2}" ${PREALLOC:+-mem-prealloc} ${ICOUNT:+-icount "$ICOUNT"} \
		-nographic -no-reboot "${net[@]}" "${boot[@]}" \
		-append "console=ttyS0 panic=-1 quiet log_buf_len=4M $append ${APPEND:-}" \
		-fsdev local,id=root,path=/,security_model=none,readonly=on,multidevs=remap \
		-device virtio-9p-pci,fsdev=root,mount_tag=root \
		-fsdev local,id=out,path="$out",security_model=none,multidevs=remap \
		-device virtio-9p-pci,fsdev=out,mount_tag=out </dev/null ;;
*)
	die "usage: boot.sh uml|vm|vms|vmdebug KERNEL OUT SECONDS" ;;
esac
