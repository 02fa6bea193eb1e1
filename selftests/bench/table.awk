# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# From the lines stack,round,test,metric,value: the medians over the rounds and
# the ratio of the two stacks, above 1 where rcm is better. Then which of the
# targets (-v targets=FILE) are met, as far as they were measured.

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

function known(stack, test, metric)
{
	return (stack, test, metric) in values
}

function value(stack, test, metric)
{
	return median(values[stack, test, metric])
}

# Several metrics, added; "" when one is not known
function sum(stack, test, list,	m, n, i, total)
{
	n = split(list, m, "+")
	for (i = 1; i <= n; i++) {
		if (!known(stack, test, m[i]))
			return ""
		total += value(stack, test, m[i])
	}
	return total
}

function ratio(a, b)
{
	if (a == "" || b == "")
		return "-"
	return b == 0 ? (a == 0 ? 1 : "inf") : sprintf("%.2f", a / b)
}

function number(x)
{
	return x == "" ? "-" : sprintf(x < 100 ? "%.1f" : "%.0f", x)
}

NF == 5 {
	key = $3 SUBSEP $4
	if (!(key in seen)) {
		seen[key] = 1
		keys[++count] = key
	}
	values[$1, $3, $4] = values[$1, $3, $4] " " $5
}

function judge(f,	got, met)
{
	if (f[1] == "ratio")
		got = ratio(sum("intree", f[2], f[3]), sum("rcm", f[2], f[3]))
	else if (f[1] == "grow")
		got = ratio(sum("rcm", f[2], f[3]), sum("rcm", f[4], f[5]))
	else if (f[1] == "below")
		got = sum("rcm", f[2], f[3])
	if (got == "" || got == "-")
		return
	met = f[1] == "ratio" ? got == "inf" || got + 0 >= f[6] + 0 : got + 0 <= f[6] + 0
	printf "%-52s %8s %s %-6s %s\n", f[7], got, f[1] == "ratio" ? ">=" : "<=", f[6],
		met ? "met" : "NOT MET"
}

END {
	printf "%-34s %-22s %10s %10s %8s\n", "test", "metric", "in-tree", "rcm", "ratio"
	for (i = 1; i <= count; i++) {
		split(keys[i], part, SUBSEP)
		if (part[2] ~ /_own_us$/)
			continue
		a = sum("intree", part[1], part[2])
		b = sum("rcm", part[1], part[2])
		printf "%-34s %-22s %10s %10s %8s\n", part[1], part[2], number(a), number(b), ratio(a, b)
	}
	print ""
	while (targets && (getline line <targets) > 0) {
		if (line !~ /^#/ && split(line, f, "|") == 7)
			judge(f)
	}
}
