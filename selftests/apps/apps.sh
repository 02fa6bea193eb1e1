#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# rigs: vm
# timeout: 2400
#
# Unmodified programs over rcm: server and client on rcm, and for a part of
# them one side on the in-tree manager. The programs are in apps/list.sh;
# ONLY=REGEX runs some of them.

. "$RIG_DIR/tap.sh"
A=10.0.0.1 A6=fd00::1
LL=$(ip -6 -o address show dev d0 scope link | awk '{ sub("/.*", "", $4); print $4 }')
logs=$RUN/apps
mkdir -p "$logs"
ulimit -l unlimited
printf '127.0.0.1 localhost\n10.0.0.1 rdmahost\n' >"$RUN/hosts"
mount --bind "$RUN/hosts" /etc/hosts
run=$RCM_LIB/rcm-run

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

# side rcm|intree COMMAND: the command line that puts it there
side() {
	if [ "$1" = rcm ]; then
		# All of a command line's programs, so not rcm-run before each
		printf 'export LD_LIBRARY_PATH=%q; %s' "$RCM_LIB" "$2"
	else
		printf '%s' "$2"
	fi
}

missing() {
	local p
	for p in $NEED; do
		command -v "$p" >/dev/null || { echo "$p"; return; }
	done
}

wanted() {
	[[ -z ${ONLY:-} || $1 =~ $ONLY ]]
}

# attempt NAME SECONDS SERVER-SIDE SERVER CLIENT-SIDE CLIENT; sets $why
attempt() {
	local name=$1 seconds=$2 server client session src=0 rc
	server=$(side "$3" "$4") client=$(side "$5" "$6") why=
	setsid timeout -k 2 "$seconds" bash -c "$server" >"$logs/$name.server" 2>&1 </dev/null &
	session=$!
	until_idle $session
	timeout -k 2 "$seconds" bash -c "$client" >"$logs/$name.client" 2>&1 </dev/null
	rc=$?
	[ -z "${KILL:-}" ] || kill -TERM -- -$session 2>/dev/null
	wait $session
	src=$?
	kill -KILL -- -$session 2>/dev/null
	[ $rc = "${RC:-0}" ] || why+=" client: exit status $rc;"
	[ -n "${KILL:-}" ] || [ $src = "${SRC:-0}" ] || why+=" server: exit status $src;"
	[ -z "${SAYS:-}" ] || grep -qE -- "$SAYS" "$logs/$name.client" || why+=" client does not say $SAYS;"
	[ -z "${SSAYS:-}" ] || grep -qE -- "$SSAYS" "$logs/$name.server" || why+=" server does not say $SSAYS;"
}

verdict() {
	local name=$1 p
	if [ -z "$why" ]; then
		pass "$name"
		return
	fi
	fail "$name:$why"
	for p in server client; do
		[ ! -s "$logs/$name.$p" ] || tail -n 8 "$logs/$name.$p" | sed "s/^/#   $p: /"
	done
}

# Twice, before it is called a failure: some fail now and then on the in-tree
# manager too, under load
try() {
	attempt "$@"
	[ -z "$why" ] || { echo "# $1:$why again"; attempt "$@"; }
	verdict "$1"
}

app() {
	local name=$1 seconds=$2 lacks
	wanted "$name" || return
	lacks=$(missing)
	if [ -n "$lacks" ]; then
		skip "$name: $lacks is not installed"
		return
	fi
	try "$name" "$seconds" rcm "$3" rcm "$4"
	[ -n "${MIX:-}" ] && [ -n "$mixed" ] || return
	# Turn about, so that both directions are covered and time is not doubled
	turn=$((1 - turn))
	if [ $turn = 1 ]; then
		try "$name, server in-tree" "$seconds" intree "$3" rcm "$4"
	else
		try "$name, client in-tree" "$seconds" rcm "$3" intree "$4"
	fi
}

one() {
	local name=$1 lacks
	wanted "$name" || return
	lacks=$(missing)
	if [ -n "$lacks" ]; then
		skip "$name: $lacks is not installed"
		return
	fi
	try "$name" "$2" rcm true rcm "$3"
}

turn=0 mixed=1
expect "rcm and rdma_cm are loaded side by side" both_managers || mixed=
expect "rcm-run starts a program" "$run" true
. "$TOP/selftests/apps/list.sh"
expect "nothing is left behind" left_behind
finish
