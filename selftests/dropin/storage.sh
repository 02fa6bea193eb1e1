# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# For each kind of storage over RDMA: KIND_up ADDRESS sets up a target,
# KIND_io ADDRESS uses it as an initiator (in a shell of its own, where the
# first failure is the end), KIND_down takes it away.

CONFIG=/sys/kernel/config

configfs() {
	mountpoint -q $CONFIG || mount -t configfs none $CONFIG
}

# An own copy of /etc, which is read-only
own_etc() {
	[ ! -d /run/etc ] || return 0
	cp -a /etc /run/etc 2>/dev/null
	mount --bind /run/etc /etc
}

# same_on_device DEVICE: a pattern written past the page cache comes back
same_on_device() {
	head -c 1M /dev/urandom >/run/pattern &&
		dd if=/run/pattern of="$1" bs=64k oflag=direct 2>/dev/null &&
		echo 3 >/proc/sys/vm/drop_caches &&
		dd if="$1" of=/run/back bs=64k count=16 iflag=direct 2>/dev/null &&
		cmp /run/pattern /run/back
}

# same_in_files DEVICE: a file system takes files and has them after a remount
same_in_files() {
	local i
	mkfs.ext4 -q "$1" && mkdir -p /run/fs && mount "$1" /run/fs || return
	for i in 1 2 3; do
		head -c $((i * 100000)) /dev/urandom >/run/file$i
		cp /run/file$i /run/fs/file$i || return
	done
	umount /run/fs && echo 3 >/proc/sys/vm/drop_caches && mount "$1" /run/fs || return
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
	modprobe -a nvmet nvmet-rdma nvme-rdma && configfs || return
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

nvme_on_dropin() {
	on_dropin nvme-rdma && on_dropin nvmet-rdma && rcm_ids | grep -q "LISTEN.*:4420"
}

nvme_io() {
	set -e
	# Kernels later than 6.1 refuse two names of one host
	nvme discover -t rdma -a "$1" -s 4420 -q "$HOST_NQN" -I $HOST_ID
	nvme connect -t rdma -n t1 -a "$1" -s 4420 -i 2 -q "$HOST_NQN" -I $HOST_ID
	until_true 20 block_device /dev/nvme0n1
	same_on_device /dev/nvme0n1
	cmp -n 1048576 /run/pattern /run/nvme.img
	same_in_files /dev/nvme0n1
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
	modprobe -a nfsd rpcrdma nfsv4 && own_etc || return
	mount -t tmpfs tmp /var/lib
	mkdir -p /var/lib/nfs/{sm,sm.bak,rpc_pipefs,v4recovery,nfsdcld} /run/exp
	touch /var/lib/nfs/{etab,rmtab,xtab}
	mount -t rpc_pipefs sunrpc /var/lib/nfs/rpc_pipefs
	mount -t nfsd nfsd /proc/fs/nfsd
	mount -t tmpfs tmp /run/exp
	echo "/run/exp *(rw,fsid=0,insecure,no_root_squash,no_subtree_check,sync)" >/etc/exports
	# The daemons go on in the background
	{ nfsdcld; rpc.mountd -N 2 -N 3; } >/dev/null 2>&1
	exportfs -a && rpc.nfsd -N 3 -V 4.1 -V 4.2 --rdma=20049 2 && cat /proc/fs/nfsd/portlist
}

nfs_on_dropin() {
	on_dropin rpcrdma && rcm_ids | grep -q "LISTEN.*:20049"
}

nfs_io() {
	set -e
	mkdir -p /run/m
	mount.nfs4 "$1:/" /run/m -o proto=rdma,port=20049,vers=4.2,soft,timeo=100,retrans=2
	grep /run/m /proc/mounts
	head -c 500000 /dev/urandom >/run/pattern
	cp /run/pattern /run/m/file
	sync
	cmp /run/pattern /run/exp/file
	echo 3 >/proc/sys/vm/drop_caches
	cmp /run/pattern /run/m/file
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
	modprobe -a target_core_mod iscsi_target_mod ib_isert ib_iser && configfs || return
	cd $CONFIG/target || return
	mkdir -p core/rd_mcp_0/r && echo rd_pages=4096 >core/rd_mcp_0/r/control &&
		echo 1 >core/rd_mcp_0/r/enable && mkdir -p iscsi/iqn.2020-01.x:t/tpgt_1 &&
		cd iscsi/iqn.2020-01.x:t/tpgt_1 && mkdir -p "np/$1:3260" lun/lun_0 &&
		echo 1 >"np/$1:3260/iser" && ln -s $CONFIG/target/core/rd_mcp_0/r lun/lun_0/r &&
		echo 0 >attrib/authentication && echo 1 >attrib/generate_node_acls &&
		echo 0 >attrib/demo_mode_write_protect && echo 1 >attrib/cache_dynamic_acls &&
		echo 1 >enable
}

iser_on_dropin() {
	on_dropin ib_isert && on_dropin ib_iser && rcm_ids | grep -q "LISTEN.*:3260"
}

iser_io() {
	local target=iqn.2020-01.x:t
	set -e
	own_etc
	modprobe -a iscsi_tcp scsi_mod sd_mod
	mkdir -p /etc/iscsi /run/lock/iscsi
	echo InitiatorName=iqn.1993-08.org.debian:01:abc >/etc/iscsi/initiatorname.iscsi
	echo "node.session.timeo.replacement_timeout = 5" >/etc/iscsi/iscsid.conf
	iscsid
	sleep 1
	iscsiadm -m node -o new -T $target -p "$1:3260,1" -I iser
	iscsiadm -m node -T $target -p "$1:3260" --login
	until_true 20 block_device /dev/sda
	same_on_device /dev/sda
	same_in_files /dev/sda
	iscsiadm -m node -T $target -p "$1:3260" --logout
	iscsiadm -k 0
}

iser_down() {
	local tpg=$CONFIG/target/iscsi/iqn.2020-01.x:t/tpgt_1
	echo 0 >$tpg/enable && rm $tpg/lun/lun_0/r && rmdir $tpg/lun/lun_0 $tpg/np/* $tpg &&
		rmdir $CONFIG/target/iscsi/iqn.2020-01.x:t && rmdir $CONFIG/target/iscsi &&
		rmdir $CONFIG/target/core/rd_mcp_0/r && rmdir $CONFIG/target/core/rd_mcp_0
	until_true 20 modprobe -r ib_iser ib_isert
}

# --- SRP

srp_up() {
	local gid target node
	modprobe -a target_core_mod ib_srpt ib_srp sd_mod && configfs || return
	cd $CONFIG/target || return
	gid=0x$(tr -d : </sys/class/infiniband/rxe0/ports/1/gids/0)
	target=srpt/$gid/$gid
	node=0x0000000000000000$(tr -d : </sys/class/infiniband/rxe0/node_guid)
	mkdir -p core/rd_mcp_1/s srpt && echo rd_pages=4096 >core/rd_mcp_1/s/control &&
		echo 1 >core/rd_mcp_1/s/enable && echo 5555 >srpt/discovery_auth/rdma_cm_port &&
		mkdir "srpt/$gid" "$target" "$target/lun/lun_0" &&
		ln -s $CONFIG/target/core/rd_mcp_1/s "$target/lun/lun_0/s" &&
		mkdir "$target/acls/$node" "$target/acls/$node/lun_0" &&
		ln -s "$CONFIG/target/$target/lun/lun_0" "$target/acls/$node/lun_0/l" &&
		echo 1 >"$target/enable"
}

srp_on_dropin() {
	on_dropin ib_srpt && on_dropin ib_srp && rcm_ids | grep -q "LISTEN.*:5555"
}

srp_disk() {
	disk=$(find /sys/class/scsi_disk/*/device/block -mindepth 1 -maxdepth 1 2>/dev/null |
		tail -n 1)
	disk=/dev/${disk##*/}
	[ -b "$disk" ]
}

srp_io() {
	local guid remote disk
	set -e
	guid=$(cat /sys/module/ib_srpt/parameters/srpt_service_guid)
	guid=${guid#0x}
	echo "id_ext=$guid,ioc_guid=$guid,dest=$1:5555,max_sect=128" \
		>/sys/class/infiniband_srp/srp-rxe0-1/add_target
	until_true 20 srp_disk
	same_on_device "$disk"
	same_in_files "$disk"
	for remote in /sys/class/srp_remote_ports/*; do
		echo 1 >"$remote/delete"
	done
}

srp_down() {
	local gid target node
	cd $CONFIG/target || return
	gid=0x$(tr -d : </sys/class/infiniband/rxe0/ports/1/gids/0)
	target=srpt/$gid/$gid
	echo 0 >"$target/enable"
	rm "$target"/acls/*/lun_0/l
	rmdir "$target"/acls/*/lun_0 "$target"/acls/*
	rm "$target/lun/lun_0/s"
	rmdir "$target/lun/lun_0" "$target" "srpt/$gid" srpt core/rd_mcp_1/s core/rd_mcp_1
	cd /
	until_true 20 modprobe -r ib_srp ib_srpt
}
