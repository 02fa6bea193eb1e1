# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Counts the results of a TAP or KTAP log. Subtests count one by one, and a
# line that only sums up its subtests does not count. Prints
#	PASSED FAILED SKIPPED
# and below it the failing lines. Variables: rc, seconds (time-out), name.

function fail(text)
{
	failed++
	failures = failures text "\n"
}

/^ *(not )?ok([ \t]|$)/ {
	match($0, /^ */)
	level = RLENGTH
	children = bad = 0
	for (l in seen) {
		if (l + 0 > level) {
			children += seen[l]
			bad += broken[l]
			delete seen[l]
			delete broken[l]
		}
	}
	notok = $1 == "not"
	seen[level]++
	if (notok)
		broken[level]++
	if (level == 0)
		top++
	if (children && (!notok || bad))
		next
	if (notok)
		fail(substr($0, level + 1))
	else if (toupper($0) ~ /# *SKIP/)
		skipped++
	else
		passed++
	next
}

/^1\.\.[0-9]+/ {
	n = substr($1, 4) + 0
	planned += n
	plans++
	if (n == 0 && toupper($0) ~ /SKIP/)
		skipped++
	next
}

/^ *Bail out!/ {
	fail($0)
}

END {
	if (rc == 124 || rc == 137)
		fail(name ": no end after " seconds " s")
	else if (plans && planned != top)
		fail(name ": " planned " planned, " top + 0 " ran, exit status " rc)
	else if (!plans && !top && rc == 4)
		skipped++
	else if (!plans && !top)
		fail(name ": no TAP output, exit status " rc)
	else if (rc != 0 && rc != 4 && !failed)
		fail(name ": exit status " rc)
	print passed + 0, failed + 0, skipped + 0
	printf "%s", failures
}
