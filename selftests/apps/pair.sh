# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# Sourced by programs.sh: a server and a client, each on the manager it is meant
# to be on.

logs=$RUN/apps
traces=/sys/kernel/tracing/instances

# What both sides may do is generous: a rig without KVM on a busy host is slow
patience=3

mkdir -p "$logs" "$traces"/{rcm,intree}

# trace rcm|intree: trace events tell which of the managers a program was on
trace() {
	local event

	if [ "$1" = rcm ]; then
		echo 1 >"$traces/rcm/events/rcm/enable"
		return
	fi
	echo 1 >"$traces/intree/events/rdma_cma/enable" || return
	# Devices come and go for whoever is loaded
	for event in cm_add_one cm_remove_one; do
		echo 0 >"$traces/intree/events/rdma_cma/$event/enable"
	done
}

traced() {
	grep -qv '^#' "$traces/$1/trace"
}

# ticks SESSION: processor time that its processes took
ticks() {
	local f line session=$1 total=0
	for f in /proc/[0-9]*/stat; do
		{ read -r line <"$f"; } 2>/dev/null || continue
		# What follows the command, which may hold spaces: the session is
		# the fourth field, user and system time are 12 and 13
		set -- ${line##*) }
		[ "$4" != "$session" ] || total=$((total + ${12} + ${13}))
	done
	echo $total
}

# A server is ready when it waits: no processor time for a while. One that
# polls is given some time.
until_idle() {
	local session=$1 end=$((SECONDS + 20)) last= now calm=0
	while [ -d "/proc/$session" ] && [ $SECONDS -lt $end ] && [ $calm -lt 3 ]; do
		now=$(ticks "$session")
		[ "$now" = "$last" ] && calm=$((calm + 1)) || calm=0
		last=$now
		sleep 0.2
	done
}

# side rcm|intree|dropin COMMAND: the command line that puts it there
side() {
	if [ "$1" = rcm ]; then
		# What rcm-run does, for all programs of a command line
		printf 'export LD_LIBRARY_PATH=%q; %s' "$RCM_LIB" "$2"
	else
		printf '%s' "$2"
	fi
}

# used SERVER-SIDE CLIENT-SIDE: the managers in use were these and no other
used() {
	local cm server=${1/dropin/rcm} client=${2/dropin/rcm}
	for cm in rcm intree; do
		if [ "$server" = $cm ] || [ "$client" = $cm ]; then
			traced $cm || why+=" it was not on $cm;"
		else
			! traced $cm || why+=" it was on $cm;"
		fi
	done
}

# attempt NAME SECONDS SERVER-SIDE SERVER CLIENT-SIDE CLIENT: fails and sets
# $why. An empty SERVER: there is a client alone.
attempt() {
	local name=$1 seconds=$(($2 * patience)) log=$logs/$1 server client session src=0 rc

	server=$(side "$3" "$4") client=$(side "$5" "$6") why=
	echo "rcm-rig: begin apps/$name" >/dev/kmsg
	echo | tee "$traces/rcm/trace" >"$traces/intree/trace"
	setsid timeout -k 2 "$seconds" bash -c "$server" >"$log.server" 2>&1 </dev/null &
	session=$!
	[ -z "$4" ] || until_idle $session
	timeout -k 2 "$seconds" bash -c "$client" >"$log.client" 2>&1 </dev/null
	rc=$?
	if [ $rc != "${RC:-0}" ]; then
		why+=" client: exit status $rc;"
		# A server that has lost its client may wait for ever
		timeout 5 tail --pid=$session -f /dev/null || kill -TERM -- -$session
	elif [ -n "${KILL:-}" ]; then
		kill -TERM -- -$session
	fi 2>/dev/null
	wait $session
	src=$?
	kill -KILL -- -$session 2>/dev/null
	[ -n "${KILL:-}" ] || [ $src = "${SRC:-0}" ] || why+=" server: exit status $src;"
	[ -z "${SAYS:-}" ] || grep -qE -- "$SAYS" "$log.client" || why+=" client does not say $SAYS;"
	[ -z "${SSAYS:-}" ] || grep -qE -- "$SSAYS" "$log.server" || why+=" server does not say $SSAYS;"
	used "$3" "$5"
	[ -z "$why" ]
}
