# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# compare.awk ALLOW INTREE RCM: what two transcripts of diff_sequences have
# different, but for what ALLOW lists. Prints
#
#	new SEQUENCE STEP INTREE RCM	a difference that is not listed
#	stale LINE			an entry of ALLOW that nothing matches
#	count SEQUENCES DIFFERENT	how many there are, how many differ
#
# Results that have as many fields, separated by commas, are compared field by
# field. Of a sequence that crashed or did not end in-tree only its end is.
# The entries of ALLOW are
#
#	NAME SEQUENCE STEP INTREE RCM
#
# where * stands for anything and [ab] for one of a and b; an entry NAME@VERSION
# is for kernels of that version, which the variable kernel is to begin with. An
# INTREE or RCM of - means: no such line.

function pattern(glob)
{
	gsub(/[\\.^$+?(){}|]/, "\\\\&", glob)
	gsub(/\*/, ".*", glob)
	return "^" glob "$"
}

function differ(seq, step, a, b,	i)
{
	different[seq]
	for (i = 1; i <= rules; i++) {
		if (seq ~ rule_seq[i] && step ~ rule_step[i] && a ~ rule_a[i] && b ~ rule_b[i]) {
			used[i]
			return
		}
	}
	print "new", seq, step, a, b
}

function compare(seq, step, a, b,	n, x, y, i)
{
	if (a == b)
		return
	n = split(a, x, ",")
	if (n != split(b, y, ",") || n < 3) {
		differ(seq, step, a, b)
		return
	}
	for (i = 1; i <= n; i++) {
		if (x[i] != y[i])
			differ(seq, step, x[i], y[i])
	}
}

BEGIN {
	FS = "\t"
}

FILENAME == ARGV[1] {
	if ($0 ~ /^(#|$)/)
		next
	if (split($0, field, /[ \t]+/) != 5) {
		print "stale", $0, "(has not five fields)"
		next
	}
	if (split(field[1], name, "@") == 2 && index(kernel ".", name[2] ".") != 1)
		next
	rules++
	rule[rules] = $0
	rule_seq[rules] = pattern(field[2])
	rule_step[rules] = pattern(field[3])
	rule_a[rules] = pattern(field[4])
	rule_b[rules] = pattern(field[5])
	next
}

FILENAME == ARGV[2] {
	intree[$1, $2] = $3
	if ($2 == "end" && $3 != "ok")
		unfinished[$1]
}

FILENAME == ARGV[3] {
	rcm[$1, $2] = $3
}

{
	steps[$1, $2]
	if ($2 == "end")
		sequences[$1]
}

END {
	for (key in steps) {
		split(key, part, SUBSEP)
		if (!(part[1] in unfinished) || part[2] == "end")
			compare(part[1], part[2], key in intree ? intree[key] : "-",
				key in rcm ? rcm[key] : "-")
	}
	for (i = 1; i <= rules; i++) {
		if (!(i in used))
			print "stale", rule[i]
	}
	print "count", length(sequences), length(different)
}
