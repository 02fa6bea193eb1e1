// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Random programs. Ops drawn one by one would hardly ever connect anything, so
 * a program is made of recipes: the steps of something sensible, some of which
 * are left out or spoilt, with random ops between them.
 */
#include <string.h>

#include "fuzz.h"

void rng_seed(struct rng *rng, uint64_t seed, uint64_t stream)
{
	rng->state = seed * 0x9e3779b97f4a7c15ULL + stream;
	rng_next(rng);
	rng_next(rng);
}

/* splitmix64 */
uint32_t rng_next(struct rng *rng)
{
	uint64_t x = rng->state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return (x ^ (x >> 31)) >> 16;
}

uint32_t rng_below(struct rng *rng, uint32_t limit)
{
	return rng_next(rng) % limit;
}

static bool one_in(struct rng *rng, uint32_t n)
{
	return !rng_below(rng, n);
}

/* How often each kind is drawn when nothing else says which. */
static const uint8_t weights[OP_KINDS] = {
	[OP_INFO] = 2,	    [OP_CREATE] = 12,  [OP_DESTROY] = 12,
	[OP_BIND] = 12,	    [OP_RESOLVE] = 12, [OP_ROUTE] = 8,
	[OP_LISTEN] = 8,    [OP_CONNECT] = 8,  [OP_ACCEPT] = 8,
	[OP_ESTABLISH] = 6, [OP_REJECT] = 6,   [OP_DISCONNECT] = 8,
	[OP_NOTIFY] = 4,    [OP_INIT_QP] = 6,  [OP_OPTION] = 10,
	[OP_QUERY] = 6,	    [OP_MIGRATE] = 10, [OP_EVENT] = 16,
	[OP_JOIN] = 6,	    [OP_LEAVE] = 4,    [OP_TRANSLATE] = 3,
	[OP_WRITE] = 4,	    [OP_EVENTS] = 4,   [OP_OTHER] = 1,
	[OP_OPEN] = 3,	    [OP_CLOSE] = 2,    [OP_DUP] = 2,
	[OP_POLL] = 3,	    [OP_FORK] = 0,     [OP_KILL] = 0,
	[OP_LIST] = 1,	    [OP_DEVICE] = 0,   [OP_ADDRESS] = 0,
};

static int random_kind(struct rng *rng)
{
	uint32_t total = 0, draw;
	int kind;

	/* What takes milliseconds is rare. */
	if (one_in(rng, 1500))
		return one_in(rng, 2) ? OP_FORK : OP_KILL;
	if (one_in(rng, 6000))
		return one_in(rng, 3) ? OP_ADDRESS : OP_DEVICE;
	for (kind = 0; kind < OP_KINDS; kind++)
		total += weights[kind];
	draw = rng_below(rng, total);
	for (kind = 0; draw >= weights[kind]; kind++)
		draw -= weights[kind];
	return kind;
}

static void random_op(struct rng *rng, struct op *op, int kind)
{
	int i;

	op->kind = kind;
	op->file = one_in(rng, 16) ? rng_below(rng, FILES) :
				     rng_below(rng, FILES - 1);
	op->slot = one_in(rng, 4) ? rng_below(rng, SLOTS) : rng_below(rng, 4);
	op->spoilt = one_in(rng, 12) ? rng_below(rng, SPOILT_WAYS) : SPOILT_NOT;
	/* Zero is the sensible value. */
	for (i = 0; i < 4; i++)
		op->value[i] = one_in(rng, 3) ? rng_next(rng) : 0;
}

static struct op *add(struct program *program)
{
	if (program->count == MAX_OPS)
		return NULL;
	return memset(&program->op[program->count++], 0, sizeof(struct op));
}

static void add_random(struct rng *rng, struct program *program)
{
	struct op *op = add(program);

	if (op)
		random_op(rng, op, random_kind(rng));
}

/* A step of a recipe, now and then another than it should be. */
static void step(struct rng *rng, struct program *program, int kind, int file,
		 int slot, int value0, int value1)
{
	struct op *op;

	if (one_in(rng, 8))
		add_random(rng, program);
	if (one_in(rng, 25))
		return;
	op = add(program);
	if (!op)
		return;
	op->kind = kind;
	op->file = file;
	op->slot = slot;
	op->value[0] = value0;
	op->value[1] = value1;
	if (one_in(rng, 25))
		op->spoilt = rng_below(rng, SPOILT_WAYS);
	if (one_in(rng, 6))
		op->value[rng_below(rng, 4)] = rng_next(rng);
	if (one_in(rng, 30))
		op->slot = rng_below(rng, SLOTS);
	if (one_in(rng, 60))
		op->file = rng_below(rng, FILES);
}

/* A listener, a client, and how far they come. */
static void recipe_connection(struct rng *rng, struct program *program)
{
	int a = rng_below(rng, FILES - 1), b = rng_below(rng, FILES - 1);
	int listener = rng_below(rng, SLOTS), client = rng_below(rng, SLOTS);
	int server = rng_below(rng, SLOTS);
	int space = one_in(rng, 3) ? 1 + rng_below(rng, 3) : 0;
	int host = one_in(rng, 3), port = rng_below(rng, 3);
	int any = one_in(rng, 3) ? 2 + one_in(rng, 2) : host;

	step(rng, program, OP_CREATE, a, listener, space, 0);
	step(rng, program, OP_BIND, a, listener, any, port);
	step(rng, program, OP_LISTEN, a, listener, 0, 0);
	step(rng, program, OP_CREATE, b, client, space, 0);
	step(rng, program, OP_RESOLVE, b, client, host, port);
	if (!one_in(rng, 3))
		step(rng, program, OP_EVENT, b, server, 0, 0);
	step(rng, program, OP_ROUTE, b, client, 0, 0);
	step(rng, program, OP_EVENT, b, server, 0, 0);
	step(rng, program, OP_CONNECT, b, client, 0, 0);
	step(rng, program, OP_EVENT, a, server, 1, 0);
	if (one_in(rng, 6))
		return;
	if (one_in(rng, 4)) {
		step(rng, program, OP_REJECT, a, server, 0, 0);
		step(rng, program, OP_EVENT, b, client, 1, 0);
		return;
	}
	step(rng, program, OP_ACCEPT, a, server, 0, 0);
	if (one_in(rng, 4))
		step(rng, program, OP_NOTIFY, a, server, 0, 0);
	step(rng, program, OP_EVENT, b, client, 1, 0);
	if (one_in(rng, 6))
		step(rng, program, OP_REJECT, b, client, 0, 0);
	step(rng, program, OP_ESTABLISH, b, client, 0, 0);
	step(rng, program, OP_EVENT, a, listener, 1, 0);
	if (one_in(rng, 3)) {
		step(rng, program, OP_DESTROY, b, client, 0, 0);
		step(rng, program, OP_EVENT, a, listener, 1, 0);
		return;
	}
	step(rng, program, OP_DISCONNECT, one_in(rng, 2) ? a : b,
	     one_in(rng, 2) ? server : client, 0, 0);
	step(rng, program, OP_EVENT, a, listener, 1, 0);
	step(rng, program, OP_DISCONNECT, a, server, 0, 0);
	step(rng, program, OP_EVENT, b, listener, 1, 0);
}

static void recipe_multicast(struct rng *rng, struct program *program)
{
	int file = rng_below(rng, FILES - 1), slot = rng_below(rng, SLOTS);

	step(rng, program, OP_CREATE, file, slot, 1, 0);
	step(rng, program, OP_BIND, file, slot, one_in(rng, 2), 3);
	step(rng, program, OP_JOIN, file, slot, one_in(rng, 2), 1);
	step(rng, program, OP_JOIN, file, slot, one_in(rng, 2), 2);
	step(rng, program, OP_EVENT, file, slot, 0, 0);
	step(rng, program, OP_LEAVE, file, slot, 0, 1);
}

/* Backwards and forwards while things happen. */
static void recipe_migrate(struct rng *rng, struct program *program)
{
	int a = rng_below(rng, FILES - 1), b = rng_below(rng, FILES - 1);
	int slot = rng_below(rng, SLOTS), to = rng_below(rng, SLOTS);

	step(rng, program, OP_CREATE, a, slot, 0, 0);
	step(rng, program, OP_WRITE, a, slot, 0, 0);
	step(rng, program, OP_MIGRATE, a, slot, b, to);
	step(rng, program, OP_EVENT, b, slot, 0, 0);
	step(rng, program, OP_MIGRATE, b, to, a, slot);
}

/* Neighbours that are not there, ports that somebody has. */
static void recipe_addresses(struct rng *rng, struct program *program)
{
	int file = rng_below(rng, FILES - 1), i;

	for (i = 0; i < 4; i++) {
		step(rng, program, OP_CREATE, file, i, rng_below(rng, 3), 0);
		if (one_in(rng, 2))
			step(rng, program, OP_OPTION, file, i,
			     rng_below(rng, 6), one_in(rng, 2));
		step(rng, program, one_in(rng, 3) ? OP_RESOLVE : OP_BIND, file,
		     i, rng_below(rng, 20), rng_below(rng, 6));
		if (one_in(rng, 2))
			step(rng, program, OP_LISTEN, file, i, 0, 0);
	}
}

/* All kinds of commands on one identifier, whatever became of it. */
static void recipe_hammer(struct rng *rng, struct program *program)
{
	int file = rng_below(rng, FILES - 1), slot = rng_below(rng, 4);
	int count = 20 + rng_below(rng, 20);
	struct op *op;

	while (count--) {
		op = add(program);
		if (!op)
			return;
		random_op(rng, op, rng_below(rng, OP_OTHER));
		if (!one_in(rng, 8)) {
			op->file = file;
			op->slot = slot;
		}
		if (one_in(rng, 3))
			op->spoilt = rng_below(rng, SPOILT_WAYS);
	}
}

static void recipe(struct rng *rng, struct program *program)
{
	switch (rng_below(rng, 11)) {
	case 0:
	case 1:
	case 2:
	case 3:
		recipe_connection(rng, program);
		break;
	case 4:
		recipe_multicast(rng, program);
		break;
	case 5:
		recipe_migrate(rng, program);
		break;
	case 6:
		recipe_addresses(rng, program);
		break;
	case 7:
	case 8:
	case 9:
		recipe_hammer(rng, program);
		break;
	default:
		add_random(rng, program);
		add_random(rng, program);
		add_random(rng, program);
		break;
	}
}

void program_random(struct rng *rng, struct program *program)
{
	int recipes = 1 + rng_below(rng, 4);

	program->count = 0;
	while (recipes--)
		recipe(rng, program);
}

static void remove_op(struct program *program, int i)
{
	program->count--;
	memmove(&program->op[i], &program->op[i + 1],
		(program->count - i) * sizeof(struct op));
}

static void insert_op(struct rng *rng, struct program *program)
{
	int i = rng_below(rng, program->count + 1);

	if (program->count == MAX_OPS)
		return;
	memmove(&program->op[i + 1], &program->op[i],
		(program->count - i) * sizeof(struct op));
	random_op(rng, &program->op[i], random_kind(rng));
	program->count++;
}

static void change_op(struct rng *rng, struct op *op)
{
	switch (rng_below(rng, 5)) {
	case 0:
		op->file = rng_below(rng, FILES);
		break;
	case 1:
		op->slot = rng_below(rng, SLOTS);
		break;
	case 2:
		op->spoilt = rng_below(rng, SPOILT_WAYS);
		break;
	default:
		op->value[rng_below(rng, 4)] =
			one_in(rng, 2) ? rng_next(rng) : rng_below(rng, 24);
		break;
	}
}

/* The end of @program is replaced by the end of @other. */
static void cross(struct rng *rng, struct program *program,
		  const struct program *other)
{
	int i = rng_below(rng, program->count + 1);
	int j = rng_below(rng, other->count + 1);

	program->count = i;
	while (j < other->count && program->count < MAX_OPS)
		program->op[program->count++] = other->op[j++];
}

void program_mutate(struct rng *rng, struct program *program,
		    const struct program *other)
{
	int changes = 1 + rng_below(rng, 4);

	if (one_in(rng, 4))
		cross(rng, program, other);
	if (one_in(rng, 8))
		recipe(rng, program);
	while (changes--) {
		if (!program->count || one_in(rng, 3))
			insert_op(rng, program);
		else if (one_in(rng, 3))
			remove_op(program, rng_below(rng, program->count));
		else
			change_op(rng,
				  &program->op[rng_below(rng, program->count)]);
	}
}

void program_calm(struct program *program)
{
	int i;

	for (i = program->count - 1; i >= 0; i--) {
		if (program->op[i].kind == OP_DEVICE ||
		    program->op[i].kind == OP_ADDRESS ||
		    program->op[i].kind == OP_FORK ||
		    program->op[i].kind == OP_KILL)
			remove_op(program, i);
	}
}
