# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# From a trace of rcm_state events, the way of each identifier through its
# states. Variable port: the one the server listens on.

function value(key,	i)
{
	for (i = 1; i <= NF; i++)
		if (index($i, key "=") == 1)
			return substr($i, length(key) + 2)
	return ""
}

function port(address)
{
	sub(/.*:/, "", address)
	return address
}

/ rcm_state: / {
	id = value("id")
	match($0, /[0-9]+\.[0-9]+: rcm_state:/)
	time = substr($0, RSTART) + 0
	if (!start)
		start = time
	if (!(id in steps))
		order[++ids] = id
	n = ++steps[id]
	at[id, n] = time
	op[id, n] = value("op")
	from[id, n] = value("from")
	to[id, n] = value("to")
	err[id, n] = value("err")
	src[id] = value("src")
	dst[id] = value("dst")
	if (port(dst[id]) == port_listen)
		role[id] = "client"
	else if (port(src[id]) == port_listen && port(dst[id]) + 0 > 0)
		role[id] = "server, connection"
	else if (port(src[id]) == port_listen && !(id in role))
		role[id] = "server, listener"
}

END {
	for (i = 1; i <= ids; i++) {
		id = order[i]
		printf "\n  %s (identifier %s)  %s", role[id] ? role[id] : "identifier", id, src[id]
		printf port(dst[id]) + 0 ? "  <->  " dst[id] "\n" : "\n"
		printf "  %12s %12s   %-18s %s\n", "at, ms", "step, ms", "what", "state"
		for (n = 1; n <= steps[id]; n++) {
			step = n > 1 ? sprintf("%.3f", (at[id, n] - at[id, n - 1]) * 1000) : ""
			printf "  %12.3f %12s   %-18s %s -> %s", (at[id, n] - start) * 1000, step,
				op[id, n], from[id, n], to[id, n]
			printf err[id, n] != 0 ? "  (error " err[id, n] ")\n" : "\n"
		}
	}
	exit ids < 3
}
