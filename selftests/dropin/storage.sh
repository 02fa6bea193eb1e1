# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# For each kind of storage over RDMA:
#   KIND_up ADDRESS GUID  sets up a target at ADDRESS, for the initiator with GUID
#   KIND_io ADDRESS GUID  uses the target at ADDRESS, of the machine with GUID, as
#                         an initiator, in a shell of its own, where the first
#                         failure is the end. What it wrote last and read back
#                         is in /run/pattern.
#   KIND_down             takes the target away
# with the modules and the port below. The target has its data in a file.

# shellcheck disable=SC2034 # for who sources this
declare -A TARGET=([nvme]=nvmet-rdma [nfs]=rpcrdma [iser]=ib_isert [srp]=ib_srpt) \
	INITIATOR=([nvme]=nvme-rdma [nfs]=rpcrdma [iser]=ib_iser [srp]=ib_srp) \
	PORT=([nvme]=4420 [nfs]=20049 [iser]=3260 [srp]=5555) \
	STORE=([nvme]=/run/nvme.img [nfs]=/run/exp/file [iser]=/run/iser.img [srp]=/run/srp.img)

CONFIG=/sys/kernel/config

guid() {
	tr -d : </sys/class/infiniband/rxe0/node_guid
}

# digest FILE: of as much as /run/pattern has
digest() {
	[ -s "$1" ] && head -c 1M "$1" | sha256sum
}

# serves MANAGER KIND: the target is on that manager and listens
serves() {
	on_manager "$1" "${TARGET[$2]}" || return
	case $1 in
	rcm)	rcm_ids ;;
	*)	rdma resource show cm_id ;;
	esac | grep "LISTEN.*:${PORT[$2]}\>"
}

# backstore NAME FILE: for the SCSI targets
backstore() {
	truncate -s 32M "$2" && mkdir -p "core/fileio_0/$1" &&
		echo "fd_dev_name=$2,fd_dev_size=33554432,fd_buffered_io=1" >"core/fileio_0/$1/control" &&
		echo 1 >"core/fileio_0/$1/enable"
}

backstore_goes() {
	rmdir "$CONFIG/target/core/fileio_0/$1" "$CONFIG/target/core/fileio_0"
}

configfs() {
	mountpoint -q $CONFIG || mount -t configfs none $CONFIG
}

# A writable /etc. Copying all of it takes long.
own_etc() {
	[ ! -d /run/etc ] || return 0
	mkdir /run/etc /run/etc.host && mount --rbind /etc /run/etc.host &&
		find /etc -mindepth 1 -maxdepth 1 ! -type d -exec cp -a -t /run/etc {} + &&
		ln -s /run/etc.host/*/ /run/etc/ && mount --bind /run/etc /etc
}

# same_on_device DEVICE: a pattern written past the page cache comes back
same_on_device() {
	head -c 1M /dev/urandom >/run/pattern &&
		dd if=/run/pattern of="$1" bs=64k oflag=direct 2>/dev/null &&
		dd if="$1" of=/run/back bs=64k count=16 iflag=direct 2>/dev/null &&
		cmp /run/pattern /run/back
}

# same_in_files DEVICE: a file system takes files and has them after a remount,
# which reads them again
same_in_files() {
	local i
	mkfs.ext4 -q "$1" && mkdir -p /run/fs && mount "$1" /run/fs || return
	for i in 1 2 3; do
		head -c $((i * 100000)) /dev/urandom >/run/file$i
		cp /run/file$i /run/fs/file$i || return
	done
	umount /run/fs && mount "$1" /run/fs || return
	for i in 1 2 3; do
		cmp /run/file$i /run/fs/file$i || return
	done
	umount /run/fs
}

block_device() {
	[ -b "$1" ]
}

# --- nvme

HOST_ID=11111111-2222-3333-4444-555555555555
HOST_NQN=nqn.2014-08.org.nvmexpress:uuid:$HOST_ID

nvme_up() {
	modprobe -a nvmet nvmet-rdma && configfs || return
	truncate -s 32M /run/nvme.img
	cd $CONFIG/nvmet || return
	mkdir subsystems/t1 subsystems/t1/namespaces/1 ports/1 &&
		echo 1 >subsystems/t1/attr_allow_any_host &&
		echo 1 >subsystems/t1/namespaces/1/buffered_io &&
		echo -n /run/nvme.img >subsystems/t1/namespaces/1/device_path &&
		echo 1 >subsystems/t1/namespaces/1/enable &&
		echo rdma >ports/1/addr_trtype &&
		echo ipv4 >ports/1/addr_adrfam &&
		echo "$1" >ports/1/addr_traddr &&
		echo 4420 >ports/1/addr_trsvcid &&
		ln -s $CONFIG/nvmet/subsystems/t1 ports/1/subsystems/t1
}

nvme_io() {
	set -e
	modprobe nvme-rdma
	# Kernels later than 6.1 refuse two names of one host
	nvme discover -t rdma -a "$1" -s 4420 -q "$HOST_NQN" -I $HOST_ID
	nvme connect -t rdma -n t1 -a "$1" -s 4420 -i 2 -k 30 -q "$HOST_NQN" -I $HOST_ID
	until_true 20 block_device /dev/nvme0n1
	same_in_files /dev/nvme0n1
	same_on_device /dev/nvme0n1
	nvme disconnect -n t1
}

nvme_down() {
	cd $CONFIG/nvmet && rm ports/1/subsystems/t1 && rmdir ports/1 &&
		echo 0 >subsystems/t1/namespaces/1/enable &&
		rmdir subsystems/t1/namespaces/1 subsystems/t1 && cd / &&
		modprobe -r nvme-rdma nvmet-rdma
}

# --- NFS

nfs_up() {
	modprobe -a nfsd rpcrdma || return
	mount -t tmpfs tmp /var/lib
	mkdir -p /var/lib/nfs/{sm,sm.bak,rpc_pipefs,v4recovery,nfsdcld} /run/exp
	touch /var/lib/nfs/{etab,rmtab,xtab}
	mount -t rpc_pipefs sunrpc /var/lib/nfs/rpc_pipefs
	mount -t nfsd nfsd /proc/fs/nfsd
	mount -t tmpfs tmp /run/exp
	# The daemons go on in the background
	{ nfsdcld; rpc.mountd -N 2 -N 3; } >/dev/null 2>&1
	exportfs -i -o rw,fsid=0,insecure,no_root_squash,no_subtree_check,sync '*:/run/exp' &&
		rpc.nfsd -N 3 -V 4.1 -V 4.2 --rdma=20049 2 && cat /proc/fs/nfsd/portlist
}

nfs_io() {
	set -e
	modprobe -a nfsv4 rpcrdma
	mkdir -p /run/m
	mount.nfs4 "$1:/" /run/m -o proto=rdma,port=20049,vers=4.2,soft,timeo=100,retrans=2
	grep /run/m /proc/mounts
	head -c 1M /dev/urandom >/run/pattern
	cp /run/pattern /run/m/file
	sync
	dd if=/run/m/file of=/run/back bs=64k iflag=direct
	cmp /run/pattern /run/back
	umount /run/m
}

nfs_down() {
	rpc.nfsd 0 && exportfs -ua
	pkill rpc.mountd
	pkill nfsdcld
	umount /proc/fs/nfsd /run/exp /var/lib/nfs/rpc_pipefs
	until_true 20 modprobe -r rpcrdma
}

# --- iSER

iser_up() {
	modprobe -a target_core_mod iscsi_target_mod ib_isert && configfs || return
	cd $CONFIG/target || return
	backstore r /run/iser.img && mkdir -p iscsi/iqn.2020-01.x:t/tpgt_1 &&
		cd iscsi/iqn.2020-01.x:t/tpgt_1 && mkdir -p "np/$1:3260" lun/lun_0 &&
		echo 1 >"np/$1:3260/iser" && ln -s $CONFIG/target/core/fileio_0/r lun/lun_0/r &&
		echo 0 >attrib/authentication && echo 1 >attrib/generate_node_acls &&
		echo 0 >attrib/demo_mode_write_protect && echo 1 >attrib/cache_dynamic_acls &&
		echo 1 >enable
}

iser_io() {
	local target=iqn.2020-01.x:t
	set -e
	own_etc
	modprobe -a ib_iser iscsi_tcp scsi_mod sd_mod
	rm -f /etc/iscsi
	mkdir -p /etc/iscsi /run/lock/iscsi
	echo InitiatorName=iqn.1993-08.org.debian:01:abc >/etc/iscsi/initiatorname.iscsi
	echo "node.session.timeo.replacement_timeout = 30" >/etc/iscsi/iscsid.conf
	iscsid
	sleep 1
	iscsiadm -m node -o new -T $target -p "$1:3260,1" -I iser
	iscsiadm -m node -T $target -p "$1:3260" --login
	until_true 20 block_device /dev/sda
	same_in_files /dev/sda
	same_on_device /dev/sda
	iscsiadm -m node -T $target -p "$1:3260" --logout
	iscsiadm -k 0
}

iser_down() {
	local tpg=$CONFIG/target/iscsi/iqn.2020-01.x:t/tpgt_1
	echo 0 >$tpg/enable && rm $tpg/lun/lun_0/r && rmdir $tpg/lun/lun_0 $tpg/np/* $tpg &&
		rmdir $CONFIG/target/iscsi/iqn.2020-01.x:t && rmdir $CONFIG/target/iscsi &&
		backstore_goes r
	until_true 20 modprobe -r ib_iser ib_isert
}

# --- SRP

srp_up() {
	local gid target node=0x0000000000000000$2
	modprobe -a target_core_mod ib_srpt && configfs || return
	cd $CONFIG/target || return
	gid=0x$(tr -d : </sys/class/infiniband/rxe0/ports/1/gids/0)
	target=srpt/$gid/$gid
	backstore s /run/srp.img && mkdir -p srpt && echo 5555 >srpt/discovery_auth/rdma_cm_port &&
		mkdir "srpt/$gid" "$target" "$target/lun/lun_0" &&
		ln -s $CONFIG/target/core/fileio_0/s "$target/lun/lun_0/s" &&
		mkdir "$target/acls/$node" "$target/acls/$node/lun_0" &&
		ln -s "$CONFIG/target/$target/lun/lun_0" "$target/acls/$node/lun_0/l" &&
		echo 1 >"$target/enable"
}

srp_disk() {
	disk=$(find /sys/class/scsi_disk/*/device/block -mindepth 1 -maxdepth 1 2>/dev/null |
		tail -n 1)
	disk=/dev/${disk##*/}
	[ -b "$disk" ]
}

srp_io() {
	local remote disk
	set -e
	modprobe -a ib_srp sd_mod
	# A target's service has the GUID of its device
	echo "id_ext=$2,ioc_guid=$2,dest=$1:5555,max_sect=128" \
		>/sys/class/infiniband_srp/srp-rxe0-1/add_target
	until_true 20 srp_disk
	same_in_files "$disk"
	same_on_device "$disk"
	for remote in /sys/class/srp_remote_ports/*; do
		echo 1 >"$remote/delete"
	done
}

srp_down() {
	local gid target
	cd $CONFIG/target || return
	gid=0x$(tr -d : </sys/class/infiniband/rxe0/ports/1/gids/0)
	target=srpt/$gid/$gid
	echo 0 >"$target/enable"
	rm "$target"/acls/*/lun_0/l
	rmdir "$target"/acls/*/lun_0 "$target"/acls/*
	rm "$target/lun/lun_0/s"
	rmdir "$target/lun/lun_0" "$target" "srpt/$gid" srpt
	backstore_goes s
	cd /
	until_true 20 modprobe -r ib_srp ib_srpt
}
