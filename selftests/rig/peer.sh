#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# peer.sh: what the second machine of the rig "vms" runs. It does what the first
# one sends with far.sh, until that sends "end".
#
# peer.sh serve: reads one command from stdin; its output and, last, a line with
# its exit status go to stdout. Commands run side by side, as tests do.

. "$RIG_DIR/tap.sh"

if [ "${1:-}" = serve ]; then
	read -r command
	[ "$command" != end ] || command="touch $RUN/end"
	bash -c "$command" </dev/null 2>&1
	printf '\nrcm-rig: exit status %d\n' $?
	exit
fi

no_command_runs() {
	! pgrep -f "$RIG_DIR/peer.sh serve"
}

busybox nc -ll -p 9000 -e "$RIG_DIR/peer.sh" serve &
until [ -e "$RUN/end" ]; do
	sleep 0.2
done
kill $!
expect "what the first machine started has ended" until_true 10 no_command_runs
finish
