#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# rigs: host
#
# gen-state-doc.sh: write Documentation/state-machine.md from kernel/state.c.
# gen-state-doc.sh --check: say whether the page is what would be written.
#
# kernel/state.c is pure: it is compiled here, with two headers of the kernel
# left out, and asked about every operation in every state. What the states
# mean is taken from uapi/rdma/rcm.h.

set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
page=$top/Documentation/state-machine.md
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

mkdir "$dir/linux"
cat >"$dir/linux/kernel.h" <<'X'
#include <stdint.h>
#include <stddef.h>
typedef uint8_t u8;
X

# " * @RCM_STATE_X: text" to an initializer
sed -n 's/^ \* @\(RCM_STATE_[A-Z_]*\): \(.*\)/[\1] = "\2",/p' \
	"$top/uapi/rdma/rcm.h" >"$dir/meanings.h"

cat >"$dir/gen.c" <<'X'
#include <ctype.h>
#include <stdio.h>
#include "state.c"

static const char *const meanings[RCM_STATE_COUNT] = {
#include "meanings.h"
};

static const struct {
	const char *title, *text;
} groups[] = {
	{ "asked for by the consumer", "consumer" },
	{ "how that went", "outcome" },
	{ "from the peer or the device", "peer or device" },
};

static const char *const op_meanings[RCM_OP_COUNT] = {
	[RCM_OP_BIND] = "local address and port taken",
	[RCM_OP_RESOLVE_ADDR] = "translation of the destination begins",
	[RCM_OP_RESOLVE_ROUTE] = "search for the path begins",
	[RCM_OP_LISTEN] = "becomes a listener",
	[RCM_OP_CONNECT] = "request is sent",
	[RCM_OP_ACCEPT] = "request is accepted",
	[RCM_OP_ESTABLISH] = "peer's acceptance is confirmed",
	[RCM_OP_REJECT] = "request, or the peer's acceptance, is rejected",
	[RCM_OP_DISCONNECT] = "connection is ended",
	[RCM_OP_DESTROY] = "identifier is destroyed",
	[RCM_OP_BIND_FAIL] = "bind is undone",
	[RCM_OP_ADDR_OK] = "destination is translated",
	[RCM_OP_ADDR_FAIL] = "it could not be",
	[RCM_OP_ROUTE_OK] = "path is found",
	[RCM_OP_ROUTE_FAIL] = "it could not be",
	[RCM_OP_LISTEN_FAIL] = "listen is undone",
	[RCM_OP_CONNECT_FAIL] = "request could not be sent",
	[RCM_OP_ACCEPT_FAIL] = "acceptance could not be sent",
	[RCM_OP_REQ_RCVD] = "made for an incoming request",
	[RCM_OP_REP_RCVD] = "peer accepted",
	[RCM_OP_CONNECTED] = "the peer's answer arrived that needs no confirmation: datagrams, iWARP",
	[RCM_OP_RTU_RCVD] = "peer confirmed our acceptance",
	[RCM_OP_REJ_RCVD] = "peer rejected",
	[RCM_OP_NO_ANSWER] = "peer did not answer in time",
	[RCM_OP_DREQ_RCVD] = "peer ends the connection",
	[RCM_OP_DREP_RCVD] = "peer answered our end of the connection",
	[RCM_OP_DREQ_NO_ANSWER] = "peer did not answer that",
	[RCM_OP_TIMEWAIT_EXIT] = "time wait is over",
	[RCM_OP_REMOVE] = "RDMA device went away",
};

static int group(int op)
{
	return op <= RCM_OP_DESTROY ? 0 : op <= RCM_OP_ACCEPT_FAIL ? 1 : 2;
}

static const char *cell(int state, int op)
{
	int next = rcm_state_next(state, op);

	if (next == state)
		return "=";
	if (next >= 0)
		return rcm_state_name(next);
	return next == -ENODEV ? "ENODEV" : "";
}

static void states(void)
{
	int state, op, next, any;

	for (state = 0; state < RCM_STATE_COUNT; state++) {
		printf("### %s\n\n%c%s.\n\n", rcm_state_name(state),
		       toupper(meanings[state][0]), meanings[state] + 1);
		any = 0;
		for (op = 0; op < RCM_OP_COUNT; op++) {
			next = rcm_state_next(state, op);
			if (next < 0)
				continue;
			if (!any++)
				printf("| allowed | from | then |\n| --- | --- | --- |\n");
			printf("| %s | %s | %s%s |\n", rcm_op_name(op),
			       groups[group(op)].text, rcm_state_name(next),
			       next == state ? " (no change)" : "");
		}
		printf(any ? "\n" : "Nothing is allowed.\n\n");
	}
}

static void operations(void)
{
	int op, state, n, next;

	printf("| operation | is | possible in |\n| --- | --- | --- |\n");
	for (op = 0; op < RCM_OP_COUNT; op++) {
		if (!op || group(op) != group(op - 1))
			printf("| **%s** | | |\n", groups[group(op)].title);
		n = 0;
		for (state = 0; state < RCM_STATE_COUNT; state++)
			n += rcm_state_next(state, op) >= 0;
		printf("| %s | %s | ", rcm_op_name(op), op_meanings[op]);
		if (n == RCM_STATE_COUNT - 1 || n == RCM_STATE_COUNT - 2)
			printf("all but");
		next = 0;
		for (state = 0; state < RCM_STATE_COUNT; state++)
			if ((rcm_state_next(state, op) >= 0) ==
			    (n < RCM_STATE_COUNT - 2))
				printf("%s%s", next++ ? ", " : n < RCM_STATE_COUNT - 2 ? "" : " ",
				       rcm_state_name(state));
		printf(" |\n");
	}
	printf("\n");
}

static void matrix(void)
{
	int state, op;

	printf("| |");
	for (op = 0; op < RCM_OP_COUNT; op++)
		printf(" %s |", rcm_op_name(op));
	printf("\n| --- |");
	for (op = 0; op < RCM_OP_COUNT; op++)
		printf(" --- |");
	printf("\n");
	for (state = 0; state < RCM_STATE_COUNT; state++) {
		printf("| **%s** |", rcm_state_name(state));
		for (op = 0; op < RCM_OP_COUNT; op++)
			printf(" %s%s|", cell(state, op), *cell(state, op) ? " " : "");
		printf("\n");
	}
}

int main(void)
{
	int i;

	for (i = 0; i < RCM_STATE_COUNT; i++)
		if (!meanings[i]) {
			fprintf(stderr, "uapi/rdma/rcm.h does not say what %s means\n",
				rcm_state_name(i));
			return 1;
		}
	for (i = 0; i < RCM_OP_COUNT; i++)
		if (!op_meanings[i]) {
			fprintf(stderr, "selftests/gen-state-doc.sh does not say what %s means\n",
				rcm_op_name(i));
			return 1;
		}
	for (i = 0; i < RCM_STATE_ADDR_RESOLVED; i++)
		if (rcm_state_next(i, RCM_OP_RESOLVE_ROUTE) != -EINVAL) {
			fprintf(stderr, "the page says that resolve_route is refused in %s\n",
				rcm_state_name(i));
			return 1;
		}

	printf("<!-- SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB -->\n"
	       "<!-- Written by selftests/gen-state-doc.sh from kernel/state.c: change that, not this. -->\n\n"
	       "# States of an identifier\n\n"
	       "An identifier is in one of %d states (`enum rcm_state` in `uapi/rdma/rcm.h`),\n"
	       "and one table in `kernel/state.c` says for each of %d operations where it may\n"
	       "happen and what state follows. Nothing else decides that. What a consumer asks\n"
	       "for in a state that is not in the table fails with `EINVAL`, or with `ENODEV`\n"
	       "once the RDMA device went away, and changes nothing.\n\n"
	       "**`rdma_resolve_route` before `rdma_resolve_addr` is refused with `EINVAL`**: it\n"
	       "needs the state ADDR_RESOLVED, which follows when the address was translated. So\n"
	       "is `rdma_connect` before the route was resolved.\n\n",
	       RCM_STATE_COUNT, RCM_OP_COUNT);

	printf("The way of an active identifier is\n"
	       "IDLE, BOUND, ADDR_QUERY, ADDR_RESOLVED, ROUTE_QUERY, ROUTE_RESOLVED, REQ_SENT,\n"
	       "REP_RCVD, ESTABLISHED, CLOSING, DISCONNECTED, CLOSED;\n"
	       "that of a passive one, which a listener's CONNECT_REQUEST event brings,\n"
	       "IDLE, REQ_RCVD, REP_SENT, ESTABLISHED, and so on.\n\n");

	printf("## Operations\n\n");
	operations();
	printf("## States\n\n");
	states();
	printf("## The whole table\n\n"
	       "Rows are states, columns operations, entries what follows: `=` is no change, an\n"
	       "empty one `EINVAL`.\n\n");
	matrix();
	return 0;
}
X

# compat.h is for kernels alone; of it, state.c has the export to the tests
${CC:-cc} -Wall -Wno-unused-function -DRCM_COMPAT_H '-DEXPORT_SYMBOL_FOR_RCM_TEST(symbol)=' -I"$dir" -I"$top/kernel" -I"$top/uapi" \
	-o "$dir/gen" "$dir/gen.c"
"$dir/gen" >"$dir/page"

if [ "${1:-}" = --check ]; then
	echo "1..1"
	if ! diff -u "$page" "$dir/page" >"$dir/diff" 2>&1; then
		sed 's/^/# /' "$dir/diff"
		echo "not ok 1 - $page is not what kernel/state.c says; run selftests/gen-state-doc.sh"
		exit 1
	fi
	echo "ok 1 - Documentation/state-machine.md is what kernel/state.c says"
	exit 0
fi
cp "$dir/page" "$page"
