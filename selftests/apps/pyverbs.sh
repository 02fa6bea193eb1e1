# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# Sourced by programs.sh: rdma-core's own Python tests of librdmacm, as the package
# has them, in-tree and on ours. What passes in-tree has to pass on ours.

python=/usr/bin/python3

# A view of sysfs with what the tests look for and Soft-RoCE has not: the
# network interface below the RDMA device's parent
sysfs_view() {
	local view=$RUN/sysfs entry

	mkdir -p "$view/rxe0/device/net/d0"
	for entry in /sys/class/infiniband/rxe0/*; do
		ln -sfn "$(readlink -f "$entry")" "$view/rxe0/${entry##*/}"
	done
	mount --bind "$view" /sys/class/infiniband
}

# python_tests SIDE TEST...
python_tests() {
	local lib=

	[ "$1" != rcm ] || lib=$RCM_LIB
	shift
	export -f sysfs_view
	LD_LIBRARY_PATH=$lib timeout -k 2 $((120 * patience)) unshare -m bash -c \
		'sysfs_view; cd "$RUN/python" && exec "$@"' - \
		$python tests/run_tests.py --dev rxe0 -v "$@" 2>&1 </dev/null
}

# outcomes: the results in a verbose log, each as "CLASS.TEST RESULT..."
outcomes() {
	awk '
	match($0, /^test_[A-Za-z0-9_]+ \([A-Za-z0-9_.]+\)/) {
		split(substr($0, 1, RLENGTH - 1), part, / \(/)
		name = part[2]
		# Newer Python names the test there as well
		if (name !~ ("[.]" part[1] "$"))
			name = name "." part[1]
	}
	# What the tests themselves print may be between the name and its result
	name && match($0, /(^|\.\.\. )(ok|FAIL|ERROR|skipped .*)$/) {
		result = substr($0, RSTART)
		sub(/^\.\.\. /, "", result)
		print name, result
		name = ""
	}' "$1"
}

count() {
	echo "$(grep -c ' ok$' "$1") passed, $(grep -cE ' (FAIL|ERROR)$' "$1") failed, $(grep -c ' skipped ' "$1") skipped"
}

# compare TEST IN-TREE-RESULT
compare() {
	local test=$1 theirs=$2 ours name

	name=pyverbs_${test##*.test_}
	ours=$(awk -v t="$test" '$1 == t { $1 = ""; print substr($0, 2) }' "$logs/pyverbs.$own")
	ours=${ours:-no result}
	if [ "$theirs" = ok ] && [ "$ours" != ok ]; then
		python_tests $own "$test" >"$logs/$name.log"
		again=", second try after: $ours"
		ours=$(outcomes "$logs/$name.log" | cut -d ' ' -f 2-)
	else
		again=
	fi
	if [ "$ours" = ok ]; then
		pass "$name $own-$own$again"
	elif [ "$theirs" = ok ]; then
		fail "$name $own-$own: ${ours:-no result}, ok in-tree"
		tail -n 40 "$logs/$name.log" | sed 's/^/#   /'
	else
		skip "$name $own-$own: $ours, in-tree $theirs"
	fi
}

# pyverbs_on SIDE MODULE...
pyverbs_on() {
	local side=$1

	shift
	echo "rcm-rig: begin apps/pyverbs" >/dev/kmsg
	echo | tee "$traces/rcm/trace" >"$traces/intree/trace"
	python_tests "$side" "$@" >"$logs/pyverbs.$side.log"
	why=
	used "$side" "$side"
	[ -z "$why" ] || fail "pyverbs $side-$side:$why"
	outcomes "$logs/pyverbs.$side.log" >"$logs/pyverbs.$side"
	echo "# pyverbs, ${*#tests.} on $side: $(count "$logs/pyverbs.$side")"
	tell "pyverbs on $side: $(count "$logs/pyverbs.$side")"
}

pyverbs() {
	local lacks modules test result

	wanted pyverbs || return
	lacks=$(NEED="$python /usr/lib/python3/dist-packages/pyverbs $PYVERBS_TESTS" missing)
	if [ -n "$lacks" ] || [ -z "$PYVERBS_TESTS" ] || [ -z "$intree" ]; then
		skip "pyverbs $own-$own: ${lacks:-python3-pyverbs or rdma_ucm} is not installed"
		return
	fi
	mkdir "$RUN/python"
	cp -r "$PYVERBS_TESTS" "$RUN/python/tests"
	find "$RUN/python" -name '*.gz' -exec gunzip {} +
	mapfile -t modules < <(cd "$RUN/python" && find tests -name 'test_*rdmacm*.py' |
		sed 's,/,.,; s,\.py$,,' | sort)
	on_intree pyverbs_on intree "${modules[@]}"
	pyverbs_on $own "${modules[@]}"
	if ! grep -q ' ok$' "$logs/pyverbs.intree"; then
		fail "pyverbs intree-intree: no test passes"
		tail -n 20 "$logs/pyverbs.intree.log" | sed 's/^/#   /'
	fi
	while read -r test result; do
		compare "$test" "$result"
	done <"$logs/pyverbs.intree"
}
