# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# Sourced by programs.sh: two RDMA devices of this host with a wire between them.

# veth_route FAMILY NEAR FAR: what is for FAR leaves by v0, for NEAR by v1. Only
# what came in by one of them is local.
veth_route() {
	local ip=(ip "$1")

	"${ip[@]}" route add "$3" dev v0 src "$2" table 100
	"${ip[@]}" route add "$2" dev v1 src "$3" table 100
	"${ip[@]}" rule add pref 1 iif v0 lookup local
	"${ip[@]}" rule add pref 2 iif v1 lookup local
	"${ip[@]}" rule add pref 3 lookup 100
	"${ip[@]}" rule add pref 4 lookup local
	"${ip[@]}" rule del pref 0
}

# rxe_a on v0 with 10.1.0.1 and fd01::1, rxe_b on v1 with 10.1.0.2 and fd01::2.
# Both addresses are this host's, yet what is sent from one to the other is on
# the wire.
veth_up() {
	local dev

	ip link add v0 type veth peer name v1
	for dev in v0 v1; do
		ip address add 10.1.0.$((${dev#v} + 1))/24 dev $dev
		ip address add fd01::$((${dev#v} + 1))/64 dev $dev nodad
	done
	for dev in all v0 v1; do
		# A host takes nothing from itself off the wire, nor answers for
		# the address of another interface, unless told so
		echo 1 >/proc/sys/net/ipv4/conf/$dev/accept_local
		echo 0 >/proc/sys/net/ipv4/conf/$dev/rp_filter
		echo 1 >/proc/sys/net/ipv4/conf/$dev/arp_ignore
		echo 2 >/proc/sys/net/ipv4/conf/$dev/arp_announce
	done
	ip link set v0 up
	ip link set v1 up
	veth_route -4 10.1.0.1 10.1.0.2
	veth_route -6 fd01::1 fd01::2
	rdma link add rxe_a type rxe netdev v0
	rdma link add rxe_b type rxe netdev v1
}
