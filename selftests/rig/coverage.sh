#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# coverage.sh OUT: which lines and branches of kernel/ ran, by what gcov counted
# in a run of run.sh with INSTRUMENT=gcov, whose results are in OUT. Prints a
# table; build/coverage/ has the lines that did not run (lines.txt) and all of
# them (index.html). Fails when fewer than FLOOR percent ran.

. "$(dirname "$0")/lib.sh"
out=$1 to=$TOP/build/coverage
FLOOR=${FLOOR:-90}

# The objects' directory, which has the notes of what there is to count
module=$(sed -n 's/^RCM_KO=//p' "$out/job" 2>/dev/null)
objects=$(dirname "$module")
kernel=$(sed -n 's/^KERNEL=//p' "$out/job")
compgen -G "$out/gcov/*.gcda" >/dev/null ||
	die "$out/gcov is empty: the kernel did not reach its end, or was built without CONFIG_GCOV_KERNEL"
rm -f "$objects"/kernel/*.gcda
cp "$out"/gcov/*.gcda "$objects/kernel/" || exit 1
rm -rf "$to"
mkdir -p "$to"

# A file of which nothing ran has no counts; gcovr takes it for zero by its
# notes. The compiler ran in the kernel's directory: headers' names are from there.
cd "$objects" || exit 1
gcovr --root . --object-directory "$kernel/build" --filter 'kernel/' --exclude 'kernel/(tests|dropin)/' \
	--exclude-unreachable-branches --json "$to/coverage.json" kernel >"$to/gcovr.log" 2>&1 ||
	{ cat "$to/gcovr.log" >&2; die "gcovr failed"; }
report() {
	gcovr --root . --add-tracefile "$to/coverage.json" "$@"
}
report --txt "$to/lines.txt" --csv "$to/coverage.csv" --html-details "$to/index.html" || exit 1

awk -F , -v floor="$FLOOR" '
	function row(name, lines, ran, branches, taken) {
		printf "%-30s %7d %7d %6.1f %% %8d %7d %6.1f %%\n", name, lines, ran,
			lines ? 100 * ran / lines : 100, branches, taken,
			branches ? 100 * taken / branches : 100
	}
	NR == 1 {
		for (i = 1; i <= NF; i++)
			column[$i] = i
		printf "%-30s %7s %7s %8s %8s %7s %8s\n", "file", "lines", "ran", "",
			"branches", "taken", ""
		next
	}
	{
		l = $column["line_total"]; r = $column["line_covered"]
		b = $column["branch_total"]; t = $column["branch_covered"]
		row($column["filename"], l, r, b, t)
		L += l; R += r; B += b; T += t
	}
	END {
		row("all", L, R, B, T)
		if (!L || 100 * R / L < floor) {
			printf "FAIL coverage: %.1f %% of lines, at least %s %% are wanted\n",
				L ? 100 * R / L : 0, floor
			exit 1
		}
	}' "$to/coverage.csv"
rc=$?
echo "Lines that did not run: $to/lines.txt, $to/index.html"
exit $rc
