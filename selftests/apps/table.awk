# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Makes a table of what programs.sh printed: a line for each program, a column
# for each pair of managers that one of them ran on. "again" is "ok" with a
# second try. Below it the counts that pyverbs.sh printed.

/^# pyverbs, / {
	counts = counts "  " substr($0, 3) "\n"
}

$1 == "ok" || $1 == "not" {
	field = $1 == "not" ? 4 : 3
	name = $(field + 1)
	pair = $(field + 2)
	sub(/[:,]$/, "", pair)
	if ($field != "-" || pair !~ /^(rcm|intree|dropin)-(rcm|intree|dropin)$/)
		next
	if (!(pair in column)) {
		column[pair] = ++columns
		pairs[columns] = pair
	}
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

# row NAME: of cell[1...]
function row(name,	j)
{
	printf "  %-48s", name
	for (j = 1; j <= columns; j++)
		printf " %-*s", j == columns ? 0 : length(pairs[j]) + 1, cell[j]
	print ""
}

END {
	if (!n)
		exit
	for (j = 1; j <= columns; j++)
		cell[j] = pairs[j]
	row("server-client:")
	for (i = 1; i <= n; i++) {
		for (j = 1; j <= columns; j++) {
			cell[j] = result[names[i], pairs[j]]
			if (cell[j] == "")
				cell[j] = "-"
			sum[j] += cell[j] == "ok" || cell[j] == "again"
			seconds[j] += cell[j] == "again"
			all[j] += cell[j] != "-" && cell[j] != "skip"
		}
		row(names[i])
	}
	for (j = 1; j <= columns; j++)
		cell[j] = sum[j] "/" all[j]
	row("passed")
	for (j = 1; j <= columns; j++)
		cell[j] = seconds[j]
	row("of these with a second try (again)")
	printf "%s", counts
}
