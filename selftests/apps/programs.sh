# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# Sourced by apps.sh and apps-dropin.sh: what list.sh calls. They set
#
#	own	where both sides are: rcm or dropin
#	mixed	whether one side can be on the in-tree manager beside it
#	intree	whether both can be there instead, by way of on_intree COMMAND...
#
# pair.sh runs one program, table.awk makes a table of what this prints: "NAME
# SERVER-CLIENT", where each side is rcm, intree or dropin.
#
# T=PATTERN   only programs whose name matches this shell pattern

shopt -s extglob
. "$RIG_DIR/tap.sh"
apps=$TOP/selftests/apps
. "$apps/pair.sh"
. "$apps/pyverbs.sh"
. "$apps/veth.sh"

turn=0 matched=

wanted() {
	# shellcheck disable=SC2254 # a pattern is meant
	case $1 in
	${T:-*}) matched=1 ;;
	*) return 1 ;;
	esac
}

# missing: the first of $NEED, programs and files, that is not there
missing() {
	local need
	for need in $NEED; do
		case $need in
		/*)	[ -e "$need" ] ;;
		*)	command -v "$need" >/dev/null ;;
		esac || { echo "$need"; return; }
	done
}

# tell TEXT: progress, which the rig passes on
tell() {
	echo "rcm-rig: $*" >/dev/console
}

# tried NAME SECONDS SERVER-SIDE SERVER CLIENT-SIDE CLIENT: a second attempt
# before it is called a failure, since some programs fail now and then on the
# in-tree manager too. Sets $again when it was needed.
tried() {
	again=
	attempt "$@" && return
	again=", second try after:$why"
	attempt "$@"
}

# verdict NAME SECONDS SERVER-SIDE SERVER CLIENT-SIDE CLIENT
verdict() {
	local name="$1 $3-$5" ours p
	if tried "$@"; then
		pass "$name$again"
		tell "ok $name${again:+, second try}"
		return
	fi
	ours=$why
	echo "# $name:$ours"
	for p in server client; do
		[ ! -s "$logs/$1.$p" ] || tail -n 8 "$logs/$1.$p" | sed "s/^/#   $p: /"
	done
	# What the in-tree manager does not do here either is not asked of rcm
	if [ -n "$intree" ] && ! on_intree tried "$1" "$2" intree "$4" intree "$6"; then
		skip "$name: in-tree it fails as well:$why"
		tell "skipped $name, fails in-tree as well"
		return
	fi
	fail "$name:$ours"
	tell "FAILED $name"
}

# app NAME SECONDS SERVER CLIENT
app() {
	local lacks
	wanted "$1" || return
	lacks=$(missing)
	if [ -n "$lacks" ]; then
		skip "$1 $own-$own: $lacks is not installed"
		return
	fi
	verdict "$1" "$2" $own "$3" $own "$4"
	[ -n "${MIX:-}" ] && [ -n "$mixed" ] || return
	# Turn about, so that both directions are covered and time is not doubled
	turn=$((1 - turn))
	if [ $turn = 1 ]; then
		verdict "$1" "$2" intree "$3" rcm "$4"
	else
		verdict "$1" "$2" rcm "$3" intree "$4"
	fi
}

# one NAME SECONDS COMMAND
one() {
	app "$1" "$2" "" "$3"
}

programs() {
	. "$apps/list.sh"
	[ -n "$matched" ] || skip "no program matches $T"
	expect "nothing is left behind" left_behind
}
