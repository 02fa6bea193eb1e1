# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# From the lines stack,round,test,metric,value: the medians over the rounds and
# the ratio of the two stacks, above 1 where rcm is better. With targets in a
# first file (test|metric|at least), says which are met.

BEGIN { FS = "," }

function median(list,	v, n, i, j, t)
{
	n = split(list, v, " ")
	for (i = 2; i <= n; i++) {
		t = v[i] + 0
		for (j = i - 1; j > 0 && v[j] + 0 > t; j--)
			v[j + 1] = v[j]
		v[j + 1] = t
	}
	return n % 2 ? v[(n + 1) / 2] + 0 : (v[n / 2] + v[n / 2 + 1]) / 2
}

NF == 5 {
	key = $3 "," $4
	if (!(key in seen)) {
		seen[key] = 1
		keys[++count] = key
	}
	values[$1, key] = values[$1, key] " " $5
}

END {
	printf "%-44s %-24s %12s %12s %8s\n", "test", "metric", "in-tree", "rcm", "ratio"
	for (i = 1; i <= count; i++) {
		split(keys[i], part, ",")
		a = ("intree", keys[i]) in values ? median(values["intree", keys[i]]) : "-"
		b = ("rcm", keys[i]) in values ? median(values["rcm", keys[i]]) : "-"
		ratio = "-"
		if (a != "-" && b != "-" && b > 0)
			ratio = sprintf("%.2f", a / b)
		printf "%-44s %-24s %12s %12s %8s\n", part[1], part[2], a, b, ratio
	}
}
