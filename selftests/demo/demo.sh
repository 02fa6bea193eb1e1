#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# make demo: an unmodified rping over rcm.ko and its library, on Debian's own
# kernel in a VM with Soft-RoCE, and what happened on the way.

. "$(dirname "$0")/../rig/lib.sh"
demo=$TOP/selftests/demo
out=$TOP/build/run/demo
begin=$SECONDS

"$RIG_DIR/packages.sh" build vm guest || exit 1
step "building a program that asks why" "$CACHE/log/demo.log" \
	make -C "$TOP/selftests" KSELFTEST_DIR=. ../build/selftests/why
"$RIG_DIR/run.sh" vm "$out" "$demo/guest.sh" || exit 1

log=$out/guest.log
[ -e "$out/done" ] || die "the VM did not come to its end; its console: $out/console"
if [ ! -s "$out/modules" ] || ! grep -q '^rcm ' "$out/modules"; then
	tail -n 5 "$log" >&2
	die "rcm.ko is not loaded in the VM; log: $log, kernel's: $out/dmesg"
fi

read -r pings size <"$out/amount"
printf '\nKernel %s, loaded modules of RDMA:\n' "$(cat "$out/release")"
awk '$1 ~ /^(rcm|rdma|ib_|iw_)/ { printf "  %-12s %8d bytes, used by %s\n", $1, $2, $4 == "-" ? "none" : substr($4, 1, length($4) - 1) }' "$out/modules"
grep -qE '^(rdma_cm|rdma_ucm) ' "$out/modules" && die "in-tree rdma_cm is loaded, so this proves nothing; log: $log"
echo "  (no rdma_cm, no rdma_ucm: what follows is rcm's work)"
echo "/dev/infiniband: $(awk 'NF > 3 { print $NF }' "$out/devices" | paste -sd ' ')"

failed=0
for family in IPv4 IPv6; do
	printf '\n=== rping over %s\n' $family
	[ ! -s "$out/trace.$family" ] ||
		awk -v port_listen=7174 -f "$demo/states.awk" "$out/trace.$family" || {
			echo "  (the trace does not show three identifiers: $out/trace.$family)"
			failed=1
		}
	echo
	for side in server client; do
		rc=$(cat "$out/$side.$family.rc" 2>/dev/null)
		if [ "${rc:-none}" = 0 ]; then
			printf '  %s: %s pings of %s bytes, every byte verified by rping -V, exit status 0\n' \
				$side "$pings" "$size"
		else
			printf '  %s: FAILED, exit status %s, its output: %s\n' $side "${rc:-none}" \
				"$out/$side.$family"
			tail -n 5 "$out/$side.$family" 2>/dev/null | cut -c 1-100 | sed 's/^/    /'
			failed=1
		fi
	done
done

printf '\n=== What does not work, and why\n'
sed 's/^/  /' "$out/why" || failed=1

echo
awk -f "$RIG_DIR/tap.awk" -v rc="$(cut -d ' ' -f 1 "$out/guest.rc")" -v name=demo "$log" |
	tail -n +2 | grep . && failed=1
if ! tr -d '\r' <"$out/dmesg" | awk -f "$RIG_DIR/klog.awk"; then
	echo "The kernel complained (above); its log: $out/dmesg"
	failed=1
fi
if [ $failed -ne 0 ]; then
	die "the demo failed; log: $log, console: $out/console"
fi
total=$((4 * pings * size))
echo "rping connected, moved and verified $total bytes (2 families, both directions) and disconnected, over rcm, in $((SECONDS - begin)) s altogether."
echo "Traces and logs: $out"
