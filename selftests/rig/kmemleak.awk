# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# kmemleak.awk SYMBOLS REPORT: the leaks that rcm made. Its symbols are gone
# when the report is made after rmmod, so addresses that the kernel does not
# know are looked up in SYMBOLS (lines of /proc/kallsyms from before).

function hex(s,	i, n)
{
	n = 0
	for (i = 1; i <= length(s); i++)
		n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
	return n
}

function flush()
{
	if (ours) {
		printf "%s", record
		found++
	}
	record = ""
	ours = 0
}

FNR == NR {
	# low digits suffice: modules lie in one 4 GiB window
	symbol[++symbols] = $3
	address[symbols] = hex(substr($1, length($1) - 11))
	next
}

/^unreferenced object/ {
	flush()
}

{
	line = $0
	if ($0 ~ /\[rcm(_test)?\]/)
		ours = 1
	if (match($0, / 0x[0-9a-f]+$/)) {
		a = hex(substr($0, RSTART + 3 > RSTART + RLENGTH - 12 ? RSTART + 3 : RSTART + RLENGTH - 12))
		best = 0
		for (i = 1; i <= symbols; i++)
			if (address[i] <= a && a - address[i] < 65536 &&
			    (!best || address[i] > address[best]))
				best = i
		if (best) {
			line = line " = rcm: " symbol[best]
			ours = 1
		}
	}
	record = record line "\n"
}

END {
	flush()
	exit found > 0
}
