# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# What every host-side script of the rigs shares: the cache, messages, long
# steps with progress, and a private apt that works for an ordinary user.
#
# A script prints its result (mostly a path) on stdout and everything meant for
# people on stderr.

set -u
set -o pipefail
export PATH="$PATH:/usr/sbin:/sbin" LC_ALL=C
umask 022

RIG_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$RIG_DIR/../.." && pwd)
CACHE=${RCM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rcm}
mkdir -p "$CACHE/log" || exit 1

say() {
	printf 'rcm: %s\n' "$*" >&2
}

die() {
	printf 'rcm: error: %s\n' "$*" >&2
	exit 1
}

# scratch: set $SCRATCH, a directory in the cache that goes when the script ends.
# One that was killed leaves its own, which nobody holds a lock on any more.
SCRATCH=
scratch() {
	local held

	[ -z "$SCRATCH" ] || return 0
	find "$CACHE" -maxdepth 1 -name 'tmp.*' -mmin +60 -exec flock -n {} rm -rf {} \;
	SCRATCH=$(mktemp -d "$CACHE/tmp.XXXXXX") || die "cannot write to the cache $CACHE"
	exec {held}<"$SCRATCH"
	flock "$held"
	trap 'rm -rf "$SCRATCH"' EXIT
	trap 'exit 130' INT TERM HUP
}

# step TEXT LOG COMMAND...: run a long command with its output in LOG. Shows
# that it is alive; on failure shows the end of the log and where the rest is.
step() {
	local text=$1 log=$2 pid rc start=$SECONDS every=30 next line
	shift 2

	mkdir -p "$(dirname "$log")"
	say "$text ..."
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	[ -t 2 ] && every=5
	next=$every
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.2
		if [ $((SECONDS - start)) -ge "$next" ]; then
			next=$((next + every))
			line=$(tail -n 1 "$log" | tr -d '\r' | cut -c 1-60)
			say "  $((SECONDS - start)) s: $line"
		fi
	done
	wait "$pid"
	rc=$?
	if [ "$rc" -ne 0 ]; then
		tail -n 15 "$log" | sed 's/^/    /' >&2
		die "$text: failed (exit status $rc), log: $log"
	fi
	say "$text: done in $((SECONDS - start)) s"
}

# locked NAME COMMAND...: one process at a time for each NAME
locked() {
	local name=$1 fd
	shift

	exec {fd}>"$CACHE/$name.lock" || die "cannot write to the cache $CACHE"
	if ! flock -n "$fd"; then
		say "waiting for another run that prepares $name"
		flock "$fd"
	fi
	"$@" {fd}>&- || return
	exec {fd}>&-
}

# cached PATTERN FILE: print the directory in the cache that matches and holds
# FILE. What is there is complete, so no lock is needed.
cached() {
	local found
	found=$(compgen -G "$CACHE/$1/$2" | tail -n 1)
	[ -n "$found" ] && echo "${found%/"$2"}"
}

# publish DIR TARGET: a finished directory appears in the cache whole or not at all
publish() {
	rm -rf "$2"
	mv -T "$1" "$2" || die "cannot move $1 to $2"
}

# --- apt, without being root and without touching the machine's own lists

APT_DIR=$CACHE/apt
APT_SUITES=

# apt_newer: from here on look at releases newer than this machine's, for
# kernels alone: nothing of them is ever installed
apt_newer() {
	APT_DIR=$CACHE/apt-newer APT_SUITES="sid trixie-backports"
}

codename() {
	sed -n 's/^VERSION_CODENAME=//p' /etc/os-release
}

# The archive that this machine itself uses. apt answers for every format of
# its source files.
apt_archive() {
	local release
	release=$(codename)
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' 2>/dev/null |
	awk -v r="$release" '
		$3 != "main" { next }
		$2 == r && $1 ~ /\/debian\/?$/ && !main { main = $1 }
		$2 == r && !any { any = $1 }
		$2 == r "-security" && !security { security = $1 }
		END { print main ? main : any, security }'
}

apt_config() {
	local release uri security suite key=
	release=$(codename)
	read -r uri security < <(apt_archive)
	[ -n "$uri" ] ||
		die "no apt source for Debian '$release' main on this machine (looked with: apt-get indextargets)"

	[ ! -r /usr/share/keyrings/debian-archive-keyring.gpg ] ||
		key='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] '
	mkdir -p "$APT_DIR/lists/partial" "$APT_DIR/archives/partial"
	{
		for suite in ${APT_SUITES:-$release $release-updates $release-backports}; do
			echo "deb $key$uri $suite main"
		done
		[ -z "${security:-}" ] || [ -n "$APT_SUITES" ] ||
			echo "deb $key$security $release-security main"
	} >"$APT_DIR/sources.list.new"
	if ! cmp -s "$APT_DIR/sources.list.new" "$APT_DIR/sources.list"; then
		mv "$APT_DIR/sources.list.new" "$APT_DIR/sources.list"
		rm -f "$APT_DIR/updated"
	fi
	cat >"$APT_DIR/apt.conf" <<-X
	Dir::Etc::sourcelist "$APT_DIR/sources.list";
	Dir::Etc::sourceparts "-";
	Dir::State::Lists "$APT_DIR/lists";
	Dir::Cache "$APT_DIR";
	Dir::Cache::archives "$APT_DIR/archives";
	APT::Sandbox::User "$(id -un)";
	APT::Get::List-Cleanup "true";
	Acquire::Languages "none";
	Acquire::Retries "3";
	X
}

apt_private() {
	APT_CONFIG=$APT_DIR/apt.conf "$@"
}

# Lists newer than a day are good enough.
apt_update() {
	apt_config
	if [ -z "$(find "$APT_DIR/updated" -mmin -1440 2>/dev/null)" ]; then
		step "reading the package lists" "$CACHE/log/$(basename "$APT_DIR")-update.log" \
			apt_private apt-get -q update
		touch "$APT_DIR/updated"
	fi
}

apt_candidate() {
	apt_private apt-cache policy "$1" | awk '/Candidate:/ && $2 != "(none)" { print $2 }'
}

# deb_unpack PACKAGE DIR: download a package and unpack it; never installs it
deb_unpack() {
	local package=$1 dir=$2
	scratch
	mkdir -p "$SCRATCH/deb"
	step "downloading $package" "$CACHE/log/download-$package.log" \
		apt_private env -C "$SCRATCH/deb" apt-get -q download "$package"
	dpkg-deb -x "$SCRATCH"/deb/*.deb "$dir" || die "$package does not unpack"
	rm -rf "$SCRATCH/deb"
}
