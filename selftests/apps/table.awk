# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Makes a table of what apps.sh printed: a line for each program, a column for
# each pair of managers. "again" is "ok" with a second try. Below it the counts
# that pyverbs.sh printed.

/^# pyverbs, / {
	counts = counts "  " substr($0, 3) "\n"
}

$1 == "ok" || $1 == "not" {
	field = $1 == "not" ? 4 : 3
	name = $(field + 1)
	pair = $(field + 2)
	sub(/[:,]$/, "", pair)
	if ($field != "-" || pair !~ /^(rcm|intree)-(rcm|intree)$/)
		next
	if (!(name in known)) {
		known[name] = 1
		names[++n] = name
	}
	if ($1 == "not")
		result[name, pair] = "FAIL"
	else if (/# *SKIP/)
		result[name, pair] = "skip"
	else
		result[name, pair] = /, second try after/ ? "again" : "ok"
}

function row(name, a, b, c) {
	printf "  %-48s %-8s %-10s %s\n", name, a, b, c
}

END {
	if (!n)
		exit
	row("server-client:", "rcm-rcm", "rcm-intree", "intree-rcm")
	for (i = 1; i <= n; i++) {
		for (j = split("rcm-rcm rcm-intree intree-rcm", pairs); j; j--) {
			cell[j] = result[names[i], pairs[j]]
			if (cell[j] == "")
				cell[j] = "-"
			sum[j] += cell[j] == "ok" || cell[j] == "again"
			seconds[j] += cell[j] == "again"
			all[j] += cell[j] != "-" && cell[j] != "skip"
		}
		row(names[i], cell[1], cell[2], cell[3])
	}
	row("passed", sum[1] "/" all[1], sum[2] "/" all[2], sum[3] "/" all[3])
	row("of these with a second try (again)", seconds[1] + 0, seconds[2] + 0, seconds[3] + 0)
	printf "%s", counts
}
