// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What connection management costs. Prints lines of
 * stack,round,test,metric,value.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

struct options opt = {
	.stack = "?",
	.round = 1,
	.address = { .sin_family = AF_INET },
	.port = 7471,
	.count = 64,
	.threads = 1,
	.channels = 1,
	.qpn = 0x100000,
	.percent = -1,
};

static const struct {
	const char *name;
	void (*run)(void);
	const char *help;
} tests[] = {
	{ "storm", storm, "connections, each step for all of them at once" },
	{ "steps", storm, "connections, one operation at a time" },
	{ "ports", ports, "ephemeral binds when -f per cent are in use" },
	{ "listeners", listeners, "connects where -n others listen" },
	{ "dead", dead, "-n addresses that do not answer, and -A that does" },
	{ "events", events, "reading -n events that are there already" },
	{ "memory", memory, "kernel memory of -n bound identifiers" },
};

#define TESTS (sizeof(tests) / sizeof(tests[0]))

static void usage(void)
{
	unsigned int i;

	fprintf(stderr,
		"usage: bench TEST [OPTION...]\n"
		"  -l NAME   the library, for the output; -r N the round\n"
		"  -a ADDR   IPv4 address of the server; -p PORT\n"
		"  -n N      connections or identifiers\n"
		"  -w N      operations under way at once\n"
		"  -t N      threads of the client; -c N channels\n"
		"  -q        a queue pair for each connection\n"
		"  -b N      without: first queue pair number\n"
		"  -f N      per cent of the ephemeral ports in use\n"
		"  -A ADDR   the address that is alive\n"
		"  -S, -C    the server alone, the client alone\n");
	for (i = 0; i < TESTS; i++)
		fprintf(stderr, "  %-10s %s\n", tests[i].name, tests[i].help);
	exit(2);
}

static void parse_address(const char *text, struct sockaddr_in *to)
{
	to->sin_family = AF_INET;
	if (inet_pton(AF_INET, text, &to->sin_addr) != 1)
		usage();
}

static void parse_option(int c)
{
	switch (c) {
	case 'l':
		opt.stack = optarg;
		break;
	case 'r':
		opt.round = atoi(optarg);
		break;
	case 'a':
		parse_address(optarg, &opt.address);
		break;
	case 'A':
		parse_address(optarg, &opt.live);
		break;
	case 'p':
		opt.port = atoi(optarg);
		break;
	case 'n':
		opt.count = atoi(optarg);
		break;
	case 'w':
		opt.window = atoi(optarg);
		break;
	case 't':
		opt.threads = atoi(optarg);
		break;
	case 'c':
		opt.channels = atoi(optarg);
		break;
	case 'q':
		opt.qp = true;
		break;
	case 'b':
		opt.qpn = strtoul(optarg, NULL, 0);
		break;
	case 'f':
		opt.percent = atoi(optarg);
		break;
	case 'S':
		opt.role = SERVER;
		break;
	case 'C':
		opt.role = CLIENT;
		break;
	default:
		usage();
	}
}

static void name_test(const char *name)
{
	int n = snprintf(opt.test, sizeof(opt.test), "%s n=%d", name,
			 opt.count);

	if (opt.qp)
		n += snprintf(opt.test + n, sizeof(opt.test) - n, " qp");
	if (opt.threads > 1 || opt.channels > 1)
		n += snprintf(opt.test + n, sizeof(opt.test) - n,
			      " threads=%d channels=%d", opt.threads,
			      opt.channels);
	if (opt.window > 1)
		n += snprintf(opt.test + n, sizeof(opt.test) - n, " window=%d",
			      opt.window);
	if (opt.percent >= 0)
		snprintf(opt.test + n, sizeof(opt.test) - n, " full=%d",
			 opt.percent);
}

int main(int argc, char **argv)
{
	unsigned int i;
	int c;

	if (argc < 2)
		usage();
	if (!strcmp(argv[1], "steps"))
		opt.window = 1;
	if (!strcmp(argv[1], "ports"))
		opt.percent = 0;
	while ((c = getopt(argc - 1, argv + 1, "l:r:a:A:p:n:w:t:c:qb:f:SC")) !=
	       -1)
		parse_option(c);
	if (opt.count < 1 || opt.threads < 1 || opt.channels < 1 ||
	    (opt.threads > 1 && opt.channels > opt.threads))
		usage();
	name_test(argv[1]);
	for (i = 0; i < TESTS; i++) {
		if (!strcmp(argv[1], tests[i].name)) {
			tests[i].run();
			return 0;
		}
	}
	usage();
}
