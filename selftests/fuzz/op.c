// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Names of ops; programs as text, a line an op:
 *	name file slot spoilt value value value value
 * Lines that start with # say something to people.
 */
#include <string.h>

#include "fuzz.h"

static const char *const names[OP_KINDS] = {
	[OP_INFO] = "info",
	[OP_CREATE] = "create",
	[OP_DESTROY] = "destroy",
	[OP_BIND] = "bind",
	[OP_RESOLVE] = "resolve",
	[OP_ROUTE] = "route",
	[OP_LISTEN] = "listen",
	[OP_CONNECT] = "connect",
	[OP_ACCEPT] = "accept",
	[OP_ESTABLISH] = "establish",
	[OP_REJECT] = "reject",
	[OP_DISCONNECT] = "disconnect",
	[OP_NOTIFY] = "notify",
	[OP_INIT_QP] = "init-qp",
	[OP_OPTION] = "option",
	[OP_QUERY] = "query",
	[OP_MIGRATE] = "migrate",
	[OP_EVENT] = "event",
	[OP_JOIN] = "join",
	[OP_LEAVE] = "leave",
	[OP_TRANSLATE] = "translate",
	[OP_WRITE] = "write",
	[OP_EVENTS] = "events",
	[OP_OTHER] = "other",
	[OP_OPEN] = "open",
	[OP_CLOSE] = "close",
	[OP_DUP] = "dup",
	[OP_POLL] = "poll",
	[OP_FORK] = "fork",
	[OP_KILL] = "kill",
	[OP_LIST] = "list",
	[OP_DEVICE] = "device",
	[OP_ADDRESS] = "address",
};

const char *op_name(int kind)
{
	return names[kind];
}

void program_print(FILE *to, const struct program *program)
{
	int i;

	for (i = 0; i < program->count; i++) {
		const struct op *op = &program->op[i];

		fprintf(to, "%s %u %u %u %u %u %u %u\n", names[op->kind],
			op->file, op->slot, op->spoilt, op->value[0],
			op->value[1], op->value[2], op->value[3]);
	}
}

static bool op_read(const char *line, struct op *op)
{
	unsigned int file, slot, spoilt, value[4];
	char name[20];
	int kind, i;

	if (sscanf(line, "%19s %u %u %u %u %u %u %u", name, &file, &slot,
		   &spoilt, &value[0], &value[1], &value[2], &value[3]) != 8)
		return false;
	for (kind = 0; kind < OP_KINDS; kind++) {
		if (!strcmp(names[kind], name))
			break;
	}
	if (kind == OP_KINDS || file >= FILES || slot >= SLOTS ||
	    spoilt >= SPOILT_WAYS)
		return false;
	*op = (struct op){
		.kind = kind,
		.file = file,
		.slot = slot,
		.spoilt = spoilt,
	};
	for (i = 0; i < 4; i++)
		op->value[i] = value[i];
	return true;
}

int program_read(FILE *from, struct program *program)
{
	char line[200];
	int number = 0;

	program->count = 0;
	while (fgets(line, sizeof(line), from)) {
		number++;
		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (program->count == MAX_OPS ||
		    !op_read(line, &program->op[program->count]))
			return number;
		program->count++;
	}
	return 0;
}
