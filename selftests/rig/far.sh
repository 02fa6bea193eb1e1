#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# far.sh COMMAND: run a shell command, of one line, on the second machine of the
# rig "vms" (peer.sh), with its output and its exit status; 125 when that cannot
# be had. "end" makes the second machine end.

{ exec 3<>/dev/tcp/10.0.0.2/9000; } 2>/dev/null || { echo "the second machine does not answer"; exit 125; }
printf '%s\n' "$1" >&3
while IFS= read -r line <&3; do
	case $line in
	"rcm-rig: exit status "*) exit "${line##* }" ;;
	?*) printf '%s\n' "$line" ;;
	esac
done
echo "the second machine ended the connection"
exit 125
