#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# rigs: vm
# timeout: 1800
#
# The same call sequences on rcm and on the in-tree connection manager: what
# they print is the same, but for what diff/allowed.txt lists, and each entry
# of that is explained in Documentation/differences.md.
#
# SEQUENCES=PATTERN  only these; entries that then match nothing do not count

. "$RIG_DIR/tap.sh"
dir=$TOP/selftests/diff
allowed=$dir/allowed.txt
sequences=${SEQUENCES:-*}

# A host that nobody answers for, on a network that has an RDMA device
dead_peer() {
	ip link add v0 type veth peer name v1 &&
		ip address add 10.8.0.1/24 dev v0 &&
		ip link set v0 up && ip link set v1 up &&
		rdma link add rxe1 type rxe netdev v0
}

# With its RDMA device
remove_dead_peer() {
	ip link del v0
}

# transcript rcm|intree PATTERN...: into $RUN/NAME
transcript() {
	local cm=$1
	shift
	(on "$cm" "$TESTS_DIR/diff_sequences" "$@") >"$RUN/$cm" && [ -s "$RUN/$cm" ]
}

compare() {
	awk -v kernel="$(uname -r)" -f "$dir/compare.awk" "$allowed" "$RUN/intree" "$RUN/rcm" | sort >"$RUN/result" &&
		grep -q '^count ' "$RUN/result"
}

new() {
	grep '^new ' "$RUN/result"
}

# On a busy machine an event may come too late to be seen. What differs runs
# once more, fewer at a time and with more patience.
again() {
	local list
	mapfile -t list < <(new | cut -d ' ' -f 2 | sort -u)
	[ ${#list[@]} -gt 0 ] || return 0
	echo "${#list[@]} sequences run again"
	mv "$RUN/intree" "$RUN/intree.1"
	mv "$RUN/rcm" "$RUN/rcm.1"
	QUIET=3000 transcript intree "${list[@]}" && QUIET=3000 transcript rcm "${list[@]}" || return 1
	keep intree "${list[@]}"
	keep rcm "${list[@]}"
	compare
}

# keep NAME SEQUENCE...: what the first run said of all others
keep() {
	local name=$1
	shift
	printf '%s\n' "$@" | awk -F '\t' 'NR == FNR { again[$1]; next } !($1 in again)' - "$RUN/$name.1" \
		>>"$RUN/$name"
}

# Everything that was said stays beside the log
none_new() {
	sort "$RUN/intree" >/mnt/diff_stacks.intree
	sort "$RUN/rcm" >/mnt/diff_stacks.rcm
	! new
}

none_stale() {
	[ "$sequences" = "*" ] || return 0
	! grep '^stale ' "$RUN/result"
}

# The names of the entries and those at the start of the table's rows
all_explained() {
	sed -n 's/^\([a-z][^@ \t]*\).*/\1/p' "$allowed" | sort -u >"$RUN/entries"
	sed -n 's/^| `\([a-z0-9-]*\)` .*/\1/p' "$TOP/Documentation/differences.md" | sort >"$RUN/rows"
	diff "$RUN/entries" "$RUN/rows"
}

enough() {
	local n different
	read -r _ n different < <(grep '^count ' "$RUN/result")
	echo "$n sequences, $different differ"
	[ "$sequences" != "*" ] || [ "$n" -gt 3000 ]
}

expect "rcm and rdma_cm are loaded side by side" both_managers
expect "there is a network with a dead host" dead_peer
expect "the sequences run on rdma_cm" transcript intree "$sequences"
expect "the sequences run on rcm" transcript rcm "$sequences"
expect "the transcripts are compared" compare
expect "what differs is run again" again
expect "all sequences ran" enough
expect "no difference but those in diff/allowed.txt" none_new
expect "no entry of diff/allowed.txt that matches nothing" none_stale
expect "the entries have rows in Documentation/differences.md, and each row has entries" all_explained
expect "no identifier and no port is left" left_behind
expect "the network goes" remove_dead_peer
expect "rdma_cm unloads beside rcm" rcm_alone
finish
