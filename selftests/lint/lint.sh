#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# lint.sh OUT: what can be checked without running anything. Prints TAP; what
# each tool said is in OUT/TOOL.log, and shown when it is not nothing.

. "$(dirname "$0")/../rig/lib.sh"
out=$1
mkdir -p "$out"
cd "$TOP" || exit 1

"$RIG_DIR/packages.sh" build lint >&2 || exit 1
source=$("$RIG_DIR/kernel-source.sh") || exit 1
vm=$("$RIG_DIR/vm-kernel.sh") || exit 1
uml=$(cached 'uml-*' build/linux)

mapfile -t all < <(git ls-files -co --exclude-standard | while read -r f; do [ ! -f "$f" ] || echo "$f"; done)
mapfile -t ours < <(printf '%s\n' "${all[@]}" | grep -E '^(kernel|uapi|user)/.*\.[ch]$')
mapfile -t tests < <(printf '%s\n' "${all[@]}" | grep -E '^selftests/.*\.[ch]$')
mapfile -t scripts < <(printf '%s\n' "${all[@]}" | grep -E '\.sh$|^\.ci/run$|^user/rcm-run\.in$')

# Types of checkpatch that do not apply to a tree outside the kernel's:
ignore=(
	# LINUX_VERSION_CODE is what compat.h is for; another check here keeps
	# it in that file
	LINUX_VERSION_CODE
	# the ABI's errno contract names ENOSYS and ENOTSUPP where it explains
	# what is not used
	ENOSYS ENOTSUPP
	# user/ is not kernel code: it has malloc() and volatile, and exports
	# through a linker map, with aliases checkpatch takes for prototypes
	AVOID_EXTERNS
	# macros that declare trace events, tables and versioned symbols, and
	# what compat.h gives an older kernel in place of a macro it lacks
	COMPLEX_MACRO MACRO_ARG_REUSE MACRO_ARG_UNUSED
	# "Lines should not end with a '('" where a long name leaves no choice;
	# clang-format, which runs as well, breaks lines there
	OPEN_ENDED_LINE
	# kernel/include and user/include have their own maintainers file: none
	FILE_PATH_CHANGES
)

checkpatch() {
	[ ${#ours[@]} -gt 0 ] || return 0
	perl "$source/scripts/checkpatch.pl" --no-tree --strict --terse --no-summary \
		--show-types --max-line-length=100 \
		--ignore "$(IFS=,; echo "${ignore[*]}")" -f "${ours[@]}" >"$out/checkpatch.all"
	rm -f .checkpatch-camelcase.*
	# The lines of TRACE_EVENT() are aligned as everywhere in the kernel, and
	# a macro may begin with a designated initialiser: "[index] ="; the <> of
	# __has_include() are no comparison
	! grep -vE '^kernel/trace\.h:.*PARENTHESIS_ALIGNMENT|^kernel/state\.c:.*BRACKET_SPACE|^kernel/compat\.h:.*:SPACING:' \
		"$out/checkpatch.all"
}

# build NAME KERNEL [ARGUMENT...]: all of the module, in a directory of its own
build() {
	local name=$1 kernel=$2 release
	shift 2
	release=$(ls "$kernel/lib/modules")
	rm -rf "build/lint/$release"
	make module KDIR="$kernel/build" BUILD="$TOP/build/lint" W=1 "$@" >"$out/$name.build" 2>&1 ||
		{ tail -n 20 "$out/$name.build"; return 1; }
	# Headers of the kernel have findings of their own
	! grep -E "build/lint/$release/[^ ]*: (warning|error)|^WARNING: modpost" "$out/$name.build"
}

# Both modules; the drop-in has to have the versions of the kernel's symbols
w1_vm() {
	build w1_vm "$vm" dropin
}

w1_uml() {
	build w1_uml "$uml" dropin
}

# The modules that w1_vm built, against the list in Documentation/porting.md
exports() {
	local built=build/lint/$(ls "$vm/lib/modules")

	selftests/lint/exports.sh "$built/Module.symvers" "$built/kernel/dropin/Module.symvers" \
		"$vm/build/scripts/kernel-doc"
}

# What rcm.ko calls, against what failcalls.c makes fail
calls() {
	selftests/lint/calls.sh "build/lint/$(ls "$vm/lib/modules")/rcm.ko" \
		"$vm/build/Module.symvers" kernel/tests/fail_calls.h
}

w1_lib() {
	rm -rf build/lint/user
	make lib BUILD="$TOP/build/lint" W=1 >"$out/w1_lib.build" 2>&1 ||
		{ tail -n 20 "$out/w1_lib.build"; return 1; }
	! grep -E 'warning:|error:' "$out/w1_lib.build"
}

sparse() {
	# A lock that a helper takes for its caller is beyond sparse; lockdep on
	# UML sees it
	build sparse "$vm" C=2 CF=-Wno-context
}

cppcheck() {
	# The kernel is GNU C, where void pointers count in bytes; loops like
	# xa_for_each() are macros that cppcheck does not know
	command cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr -j2 \
		--enable=warning,performance,portability -Iuapi -Ikernel -Ikernel/include \
		-Iuser/include --suppress=missingInclude --suppress=unknownMacro \
		--suppress=unmatchedSuppression --suppress=arithOperationsOnVoidPointer \
		--suppress="uninitvar:kernel/*" \
		"${ours[@]}" "${tests[@]}"
}

clang_format() {
	make format-check
}

# A source that Kbuild forgot would never be compiled
kbuild_complete() {
	local f bad=0
	for f in kernel/*.c kernel/tests/*.c; do
		grep -qw "${f%.c}\.o" Kbuild || { echo "$f is not in Kbuild"; bad=1; }
	done
	return $bad
}

shell_syntax() {
	local f bad=0
	for f in "${scripts[@]}"; do
		bash -n "$f" || bad=1
	done
	return $bad
}

spdx() {
	local f bad=0
	for f in "${all[@]}"; do
		case $f in
		LICENSES/*) continue ;;
		esac
		if ! head -n 3 "$f" | grep -q 'SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB'; then
			echo "$f: no SPDX-License-Identifier line"
			bad=1
		fi
	done
	return $bad
}

version_checks() {
	! grep -nE 'LINUX_VERSION_CODE|KERNEL_VERSION' "${ours[@]}" "${tests[@]}" |
		grep -v '^kernel/compat\.h:'
}

# The library against the distribution's; w1_lib built it
abi() {
	selftests/lint/abi.sh "$out/abi" build/lint/user/librdmacm.so.1
}

man_pages() {
	selftests/lint/man.sh "$out/man"
}

# Tables that have to be true
api_table() {
	selftests/lint/api.sh
}

case_table() {
	selftests/lint/cases.sh
}

# A page that is written from a source
state_doc() {
	selftests/gen-state-doc.sh --check
}

checks=(spdx version_checks kbuild_complete state_doc api_table case_table shell_syntax man_pages
	checkpatch clang_format cppcheck w1_lib abi w1_vm exports calls sparse)
[ -z "$uml" ] || checks+=(w1_uml)

echo "1..${#checks[@]}"
n=0 failed=0
for check in "${checks[@]}"; do
	n=$((n + 1))
	if $check >"$out/$check.log" 2>&1; then
		echo "ok $n - $check"
	else
		failed=1
		echo "not ok $n - $check ($(grep -c . "$out/$check.log") lines, $out/$check.log)"
		head -n 40 "$out/$check.log" | sed 's/^/# /'
	fi
done
exit $failed
