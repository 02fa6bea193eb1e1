#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# plot.sh CSV PREFIX: draw PREFIX-steps.png, PREFIX-storm.png,
# PREFIX-ports.png, PREFIX-listeners.png of what CSV has.

csv=$1 prefix=$2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
command -v gnuplot >/dev/null || exit 1

# medians TEST-REGEX METRIC STACK: "x value" with x from the test's name, which
# the regular expression leaves as the rest
medians() {
	awk -F , -v re="$1" -v metric="$2" -v stack="$3" '
		$1 == stack && $4 == metric && $3 ~ re {
			x = $3; sub(/.*(n|full)=/, "", x); sub(/ .*/, "", x)
			print x, $5
		}' "$csv" | sort -n | awk '
		$1 != x { flush(); x = $1 }
		{ v[++n] = $2 }
		function flush(	i, j, t) {
			if (!n) return
			for (i = 2; i <= n; i++)
				for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
			print x, v[int((n + 1) / 2)]
			n = 0
		}
		END { flush() }'
}

# lines NAME TITLE X-LABEL METRIC TEST-REGEX
lines() {
	local s

	for s in intree rcm; do
		medians "$5" "$4" $s >"$dir/$s"
		[ -s "$dir/$s" ] || return 0
	done
	gnuplot <<-X
	set terminal png size 800,500
	set output "$prefix-$1.png"
	set title "$2"
	set xlabel "$3"
	set ylabel "microseconds"
	set yrange [0:*]
	set key top left
	${6:-}
	plot "$dir/intree" with linespoints lw 2 title "in-tree", \
	     "$dir/rcm" with linespoints lw 2 title "rcm"
	X
}

steps() {
	local s

	for s in create bind resolve_addr resolve_route connect disconnect destroy; do
		echo "$s $(medians '^steps n=[0-9]*$' ${s}_cpu_us intree | cut -d ' ' -f 2)" \
			"$(medians '^steps n=[0-9]*$' ${s}_cpu_us rcm | cut -d ' ' -f 2)"
	done | awk 'NF == 3' >"$dir/steps"
	[ -s "$dir/steps" ] || return 0
	gnuplot <<-X
	set terminal png size 800,500
	set output "$prefix-steps.png"
	set title "processor time of each step, one at a time"
	set style data histograms
	set style fill solid 0.7
	set ylabel "microseconds"
	set yrange [0:*]
	set xtics rotate by -30 noenhanced
	plot "$dir/steps" using 2:xtic(1) title "in-tree", "" using 3 title "rcm"
	X
}

steps &&
lines storm "create to destroy, time of one connection" "connections at once" \
	life_wall_us '^storm n=[0-9]*$' 'set logscale x' &&
lines storm-qp "create to destroy with queue pairs, time of one connection" \
	"connections at once" life_wall_us '^storm n=[0-9]* qp$' 'set logscale x' &&
lines ports "bind to an ephemeral port" "per cent in use" bind_p50_us '^ports .*full=' &&
lines listeners "request to the one of many listeners" "listeners" request_p50_us \
	'^listeners' 'set logscale x'
