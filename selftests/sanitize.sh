#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# rigs: vm
# timeout: 900
#
# The library and its test programs with AddressSanitizer and
# UndefinedBehaviorSanitizer, with ThreadSanitizer, and under valgrind. In the
# VM: a User-Mode Linux process has too small an address space for them.
# `make sanitizers` builds what this runs.

. "$RIG_DIR/tap.sh"

BUILD=$TOP/build
export ASAN_OPTIONS=detect_leaks=1:exitcode=99
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:exitcode=99
export TSAN_OPTIONS=exitcode=99:die_after_fork=0:second_deadlock_stack=1
VALGRIND=(valgrind -q --error-exitcode=99 --leak-check=full
	--errors-for-leak-kinds=definite,indirect
	--show-leak-kinds=definite,indirect --fair-sched=try
	--trace-children=no)
REPORT='ERROR: (Address|Leak)Sanitizer|WARNING: ThreadSanitizer|runtime error:'

# with asan|tsan|valgrind PROGRAM [ARG]: run it, the output in $LOG
with() {
	local how=$1 program=$2
	shift 2
	LOG=$RUN/$how-$program${1:+-$1}.log
	case $how in
	valgrind)
		LD_LIBRARY_PATH=$RCM_LIB "${VALGRIND[@]}" "$BUILD/plain/$program" "$@" >"$LOG" 2>&1 ;;
	*)
		LD_LIBRARY_PATH=$BUILD/$how "$BUILD/$how/$program" "$@" >"$LOG" 2>&1 ;;
	esac
}

clean() {
	local rc
	with "$@"
	rc=$?
	if [ $rc -eq 0 ] && ! grep -qE "$REPORT" "$LOG"; then
		pass "$1: $2 is clean"
		return
	fi
	grep -vE '^ok|^# +(RUN|OK)' "$LOG" | head -n 60 | sed 's/^/# /'
	fail "$1: $2 is clean (exit status $rc)"
}

# found HOW FAULT PATTERN: a planted fault must not pass
found() {
	local rc
	with "$1" plant "$2"
	rc=$?
	if [ $rc -eq 99 ] && grep -qE "$3" "$LOG"; then
		pass "$1: a planted $2 is found"
		return
	fi
	head -n 30 "$LOG" | sed 's/^/# /'
	fail "$1: a planted $2 is found (exit status $rc)"
}

found asan overflow 'heap-buffer-overflow'
found asan leak 'LeakSanitizer: detected memory leaks'
found tsan race 'ThreadSanitizer: data race'
found valgrind overflow 'Invalid read'
found valgrind leak 'definitely lost'
for how in asan tsan valgrind; do
	clean $how plant
	clean $how lib_concurrent
done
for how in asan tsan; do
	for program in lib_sync lib_own_qp lib_udp lib_ports; do
		clean $how $program
	done
done
finish
