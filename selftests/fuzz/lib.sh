# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# What runs of the fuzzer share. Source tap.sh first.

fuzz=$TESTS_DIR/fuzz_ioctls

# What programs refer to: a device on an interface with ARP, whose neighbours
# never answer, and another network namespace.
fuzz_setup() {
	ip link add fz0 type dummy
	ip link set fz0 arp on up
	ip address add 10.9.9.1/24 dev fz0
	rdma link add xfz0 type rxe netdev fz0
	ip netns add fuzz
}

# The namespace last: while one ends, in the background, ib_core races with it
# when a device is deleted, and uses what is freed (KASAN, 7.3)
fuzz_cleanup() {
	rdma link del xfz0
	ip link del fz0
	ip netns del fuzz
}

# run TEXT ARGUMENT...: the fuzzer; its TAP lines as diagnosis of one test
run() {
	local text=$1
	shift
	"$fuzz" "$@" 2>&1 | sed -u 's/^/# /'
	if [ "${PIPESTATUS[0]}" -eq 0 ]; then
		pass "$text"
	else
		fail "$text"
	fi
}
