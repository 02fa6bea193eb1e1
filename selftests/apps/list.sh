# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2016
#
# The unmodified programs. Sourced by programs.sh, which defines
#
#	app NAME SECONDS SERVER CLIENT
#	one NAME SECONDS COMMAND
#
# with, before a call: NEED="program..." or files that must be installed;
# KILL=1 for a server that never ends by itself; RC=n and SRC=n the exit status
# of client and server; SAYS=REGEX and SSAYS=REGEX what client and server have
# to print; MIX=1 to run it also with one side on the in-tree manager. The
# output is in $logs/NAME.server and $logs/NAME.client. pyverbs.sh and veth.sh
# define what is called here without arguments.

# --- one device; $A and $A6 are its addresses

A=10.0.0.1 A6=fd00::1
LL=$(ip -6 -o address show dev d0 scope link | awk '{ sub("/.*", "", $4); print $4 }')

# persistent SERVER-ADDRESS: four clients of a server that serves several
persistent() {
	echo "for i in 1 2 3 4; do rping -c -a $1 -C 300 -V & p=\"\$p \$!\"; sleep 1; done; r=0; for q in \$p; do wait \$q || r=1; done; exit \$r"
}

NEED=rping
MIX=1 app rping4 20 "rping -s -a $A -C 5 -V" "rping -c -a $A -C 5 -V"
MIX=1 app rping6 20 "rping -s -a $A6 -C 5 -V" "rping -c -a $A6 -C 5 -V"
MIX=1 app rping4_large 20 "rping -s -a $A -C 5 -V -S 4000" "rping -c -a $A -C 5 -V -S 4000"
MIX=1 app rping4_own_qp 20 "rping -s -q -a $A -C 5 -V" "rping -c -q -a $A -C 5 -V"
MIX=1 app rping4_source 20 "rping -s -a $A -C 5" "rping -c -I $A -a $A -C 5"
MIX=1 app rping4_any 20 "rping -s -C 5" "rping -c -a $A -C 5"
MIX=1 app rping6_linklocal 20 "rping -s -a $LL%d0 -C 5" "rping -c -a $LL%d0 -C 5"
MIX=1 app rping_any6_v4 20 "rping -s -a ::0 -C 5" "rping -c -a $A -C 5"
KILL=1 MIX=1 app rping_persistent 40 "rping -s -P -a $A" "$(persistent $A)"
RC=255 SAYS="UNREACHABLE|REJECTED|connect error|rejected" \
	app rping_refused 20 "sleep 0.1" "rping -c -a $A -C 5 -p 7999 -v"
RC=255 SAYS="ADDR_ERROR|resolve" \
	app rping_no_route 20 "sleep 0.1" "rping -c -a 192.168.99.1 -C 5 -v"
SAYS="DISCONNECT" app rping_server_killed 30 \
	"rping -s -a $A & p=\$!; sleep 8; kill -9 \$p; sleep 0.1" "rping -c -a $A -C 100000000"

NEED=ucmatose
MIX=1 app ucmatose 20 "ucmatose -b $A -c 4" "ucmatose -s $A -c 4 -C 10 -S 1000"
MIX=1 app ucmatose_50 40 "ucmatose -b $A -c 50 -C 2" "ucmatose -s $A -c 50 -C 2"
app ucmatose_ip 20 "ucmatose -f ip -b $A" "ucmatose -f ip -s $A"
app ucmatose_name 20 "ucmatose" "ucmatose -f name -s rdmahost"
MIX=1 app ucmatose_ipv6 20 "ucmatose -f ipv6 -b $A6" "ucmatose -f ipv6 -s $A6"
MIX=1 app ucmatose_ps_ib 20 "ucmatose -b $A -P ib" "ucmatose -s $A -P ib"
MIX=1 app ucmatose_migrate 20 "ucmatose -b $A -c 2 -m" "ucmatose -s $A -c 2 -m"
app ucmatose_tos_ack 20 "ucmatose -b $A" "ucmatose -s $A -t 32 -a 10"

NEED=udaddy
MIX=1 app udaddy 20 "udaddy -b $A -c 4" "udaddy -s $A -c 4 -C 10"
MIX=1 app udaddy6 20 "udaddy -b $A6" "udaddy -s $A6 -C 10"

# A sender of mckey ends without waiting for its sends: three of them, of which
# one message has to arrive
senders() {
	echo "sleep 1; r=0; for i in 1 2 3; do mckey $* & p=\"\$p \$!\"; done; for q in \$p; do wait \$q || r=1; done; exit \$r"
}
NEED=mckey
MIX=1 app mckey 20 "mckey -m 239.1.1.1 -b $A -C 1" "$(senders -m 239.1.1.1 -s -C 50 -b $A)"
app mckey_send_only 20 "mckey -m 239.1.1.1 -b $A -C 1" "$(senders -o -m 239.1.1.1 -s -C 50 -b $A)"

NEED=cmtime
KILL=1 MIX=1 app cmtime 60 "cmtime -b $A -c 20" "cmtime -s $A -c 20"
NEED="rdma_server rdma_client"
MIX=1 app rdma_client 20 "rdma_server -s $A" "rdma_client -s $A"
NEED="rdma_xserver rdma_xclient"
MIX=1 app rdma_xclient_rc 20 "rdma_xserver -c r" "rdma_xclient -s $A -c r"

R="-I 10 -C 10 -S 1000"
NEED=rstream
MIX=1 app rstream 30 "rstream -b $A $R" "rstream -s $A $R"
app rstream6_verify 30 "rstream -f ipv6 -b $A6 $R -T v" "rstream -f ipv6 -s $A6 $R -T v"
app rstream_block 30 "rstream -b $A $R -T b" "rstream -s $A $R -T b"
app rstream_async 30 "rstream -b $A $R -T a" "rstream -s $A $R -T a"
app rstream_resolve 30 "rstream -b $A $R -T r" "rstream -s $A $R -T r"
NEED=riostream
app riostream 30 "riostream -b $A $R -T v" "riostream -s $A $R -T v"
NEED=rcopy
head -c 1000000 /dev/urandom >"$RUN/src"
KILL=1 app rcopy 30 "rcopy" "rcopy $RUN/src $A:$RUN/dst && cmp $RUN/src $RUN/dst"
P=$(echo /usr/lib/*/rsocket/librspreload.so)
NEED="iperf $P"
KILL=1 app rspreload_iperf 40 "LD_PRELOAD=$P iperf -s -B $A" "LD_PRELOAD=$P iperf -c $A -n 256K"

F="-F -d rxe0 -n 100"
NEED=ib_send_bw
MIX=1 app ib_send_bw 30 "ib_send_bw $F -R -s 1024" "ib_send_bw $F -R -s 1024 $A"
MIX=1 app ib_send_lat 30 "ib_send_lat $F -R" "ib_send_lat $F -R $A"
MIX=1 app ib_send_bw_ud 30 "ib_send_bw $F -R -c UD -s 512" "ib_send_bw $F -R -c UD -s 512 $A"
MIX=1 app ib_send_bw_event 30 "ib_send_bw $F -R -e -s 1024" "ib_send_bw $F -R -e -s 1024 $A"
MIX=1 app ib_write_bw 30 "ib_write_bw $F -R -s 4096" "ib_write_bw $F -R -s 4096 $A"
MIX=1 app ib_write_bw_4qp_tos 40 "ib_write_bw $F -R -q 4 -s 4096 -T 32" \
	"ib_write_bw $F -R -q 4 -s 4096 -T 32 $A"
app ib_write_lat 30 "ib_write_lat $F -R" "ib_write_lat $F -R $A"
MIX=1 app ib_read_bw 30 "ib_read_bw $F -R -s 4096" "ib_read_bw $F -R -s 4096 $A"
MIX=1 app ib_atomic_lat 30 "ib_atomic_lat $F -R" "ib_atomic_lat $F -R $A"
app ib_send_bw_comm 30 "ib_send_bw $F -z -x 1" "ib_send_bw $F -z -x 1 $A"

NEED=qperf
for t in rc_bw rc_lat rc_bi_bw rc_rdma_read_bw rc_rdma_write_lat rc_fetch_add_mr; do
	app qperf_$t 30 "qperf" "qperf -t 1 -to 10 $A -cm 1 $t; r=\$?; qperf $A quit; exit \$r"
done

NEED=fio
FI="--ioengine=rdma --port=8888 --bs=4k --size=256k"
FC="--name=send $FI --hostname=$A --rw=write --iodepth=4 --iodepth_batch_complete=1"
MIX=1 app fio_write 40 "fio --name=recv $FI --rw=read --iodepth=16" "fio $FC --verb=write"
app fio_read 40 "fio --name=recv $FI --rw=read --iodepth=16" "fio $FC --verb=read"
app fio_send 40 "fio --name=recv $FI --rw=read --iodepth=64 --verb=recv" \
	"sleep 1; fio --name=send $FI --hostname=$A --rw=write --iodepth=1 --verb=send"

NEED="fi_info fi_pingpong"
one fi_info 20 "fi_info -p verbs -t FI_EP_MSG"
MIX=1 app fi_pingpong_msg 40 "fi_pingpong -p verbs -e msg -I 10 -S 1024" \
	"fi_pingpong -p verbs -e msg -I 10 -S 1024 $A"
X="FI_UNIVERSE_SIZE=8 fi_pingpong -p 'verbs;ofi_rxm' -e rdm -I 10 -S 1024"
MIX=1 app fi_pingpong_rxm 60 "$X" "$X $A"
NEED="mpiexec /usr/lib/python3/dist-packages/mpi4py"
SAYS="time for 10 loops" one mpi4py_rxm 60 \
	"mpiexec --allow-run-as-root --oversubscribe -n 2 --mca plm isolated --mca btl self \
	--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include 'verbs;ofi_rxm' \
	-x FI_UNIVERSE_SIZE=8 /usr/bin/python3 -m mpi4py.bench ringtest -l 10 -n 100"

NEED=io_demo
U="UCX_NET_DEVICES=rxe0:1 UCX_TLS=rc_v,ud_v,self UCX_SOCKADDR_TLS_PRIORITY=rdmacm"
KILL=1 app ucx_io_demo 60 "$U io_demo -p 1337" \
	"$U io_demo -p 1337 -i 100 -o read,write -d 1024:4096 -l 3s $A:1337"

NEED=dtest
echo 'ofa-v2-d0 u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "d0 0" ""' >"$RUN/dat.conf"
export DAT_OVERRIDE=$RUN/dat.conf
app dapl_dtest 60 "dtest -P ofa-v2-d0 -s -b 64 -B 2" "sleep 4; dtest -P ofa-v2-d0 -h $A -b 64 -B 2"
app dapl_dtestcm 40 "dtestcm -P ofa-v2-d0 -s -c 4" "dtestcm -P ofa-v2-d0 -h $A -c 4"
MIX=1 app dapl_dtestx 40 "dtestx -P ofa-v2-d0 -s" "dtestx -P ofa-v2-d0 -h $A"
KILL=1 app dapl_dapltest 60 "dapltest -T S -D ofa-v2-d0" \
	"dapltest -T T -s $A -D ofa-v2-d0 -i 10 -t 1 -w 1 client SR 256 4 server SR 256 4; r=\$?; dapltest -T Q -s $A -D ofa-v2-d0; exit \$r"

# Both sides end when the migration has, one way or the other
NEED=qemu-system-x86_64
Q="qemu-system-x86_64 -accel tcg -M none -m 16 -nodefaults -display none -S -monitor stdio"
END="grep -qsE 'status: (completed|failed)' $logs/qemu_migrate.client"
SAYS="status: completed" SSAYS="status: completed" app qemu_migrate 60 \
	"(until $END; do sleep 2; done; echo info migrate; sleep 1; echo quit) | $Q -incoming rdma:$A:4444" \
	"(echo migrate rdma:$A:4444; until $END; do sleep 1; echo info migrate; done; echo quit) | $Q"

pyverbs

# --- two devices and a wire: rxe_a, and rxe_b with $B and $B6, where the server is

veth_up
A=10.1.0.1 B=10.1.0.2 B6=fd01::2

NEED=rping
MIX=1 app wire_rping4 20 "rping -s -a $B -C 5 -V" "rping -c -a $B -C 5 -V"
MIX=1 app wire_rping6 20 "rping -s -a $B6 -C 5 -V" "rping -c -a $B6 -C 5 -V"
KILL=1 app wire_rping_persistent 40 "rping -s -P -a $B" "$(persistent $B)"
RC=255 SAYS="ADDR_ERROR" app wire_rping_no_neighbour 20 "sleep 0.1" \
	"rping -c -I $A -a 10.1.0.77 -C 5 -v"
NEED=ucmatose
MIX=1 app wire_ucmatose 20 "ucmatose -b $B -c 10" "ucmatose -s $B -c 10"
NEED=udaddy
MIX=1 app wire_udaddy 20 "udaddy -b $B -c 4" "udaddy -s $B -c 4"
NEED=mckey
MIX=1 app wire_mckey 20 "mckey -m 239.1.1.1 -b $B -C 1" "$(senders -m 239.1.1.1 -s -C 50 -b $A)"
NEED=rstream
app wire_rstream 30 "rstream -b $B $R -T v" "rstream -s $B $R -T v"
NEED=ib_write_bw
MIX=1 app wire_ib_write_bw 30 "ib_write_bw -F -d rxe_b -n 100 -R -s 4096" \
	"ib_write_bw -F -d rxe_a -n 100 -R -s 4096 $B"

# The last one: it takes rxe_b away
NEED=rping
SRC=255 SSAYS="DEVICE_REMOVAL" app wire_rping_device_removal 20 \
	"rdma link add rxe_b type rxe netdev v1 2>&1; rping -s -a $B -d" "rdma link del rxe_b"
