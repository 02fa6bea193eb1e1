/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The fuzzer of the ioctl interface.
 *
 * A program is a list of ops, of small numbers alone: which command, on which
 * file and which identifier, with which of a few values, and in which way
 * broken. It says nothing of handles, which exist only while it runs, so it can
 * be made from a seed, changed, written down and run again.
 *
 *	op.c		names of ops; programs as text
 *	gen.c		random programs, and changes to one
 *	arg.c		the argument of a command, and how it is spoilt
 *	run.c		running ops
 *	kcov.c		which places of the module were reached
 *	grow.c		looking for programs that reach more places
 *	main.c		options, threads, figures
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rdma/rcm.h>

#define FILES	4   /* open files that a program knows */
#define SLOTS	16  /* identifiers of each file that it knows */
#define MAX_OPS 128 /* in a program */

/* Commands first, in the order of their numbers. */
#define COMMANDS (RCM_CMD_END - RCM_CMD_INFO)

enum op_kind {
	OP_INFO,
	OP_CREATE,
	OP_DESTROY,
	OP_BIND,
	OP_RESOLVE,
	OP_ROUTE,
	OP_LISTEN,
	OP_CONNECT,
	OP_ACCEPT,
	OP_ESTABLISH,
	OP_REJECT,
	OP_DISCONNECT,
	OP_NOTIFY,
	OP_INIT_QP,
	OP_OPTION,
	OP_QUERY,
	OP_MIGRATE,
	OP_EVENT,
	OP_JOIN,
	OP_LEAVE,
	OP_TRANSLATE,
	OP_WRITE,
	OP_EVENTS,
	OP_OTHER, /* a command that does not exist */
	OP_OPEN,
	OP_CLOSE,
	OP_DUP,
	OP_POLL,
	OP_FORK,   /* a child does the next few ops and goes */
	OP_KILL,   /* likewise, and is killed in the middle */
	OP_LIST,   /* read debugfs */
	OP_DEVICE, /* the RDMA device goes and comes */
	OP_ADDRESS,
	OP_KINDS
};

/* What is wrong with a command's argument. */
enum op_spoilt {
	SPOILT_NOT,
	SPOILT_SHORT,	/* size too small */
	SPOILT_LONG,	/* longer, with zeros */
	SPOILT_JUNK,	/* longer, with something else */
	SPOILT_BYTE,	/* one byte is another */
	SPOILT_BYTES,	/* all bytes are random */
	SPOILT_POINTER, /* NULL, or far away */
	SPOILT_EDGE,	/* ends where memory does */
	SPOILT_CONST,	/* cannot be written */
	SPOILT_ALIGN,
	SPOILT_HANDLE,
	SPOILT_WAYS
};

/* What the values mean depends on the kind; see arg.c and run.c. */
struct op {
	uint8_t kind;
	uint8_t file;
	uint8_t slot;
	uint8_t spoilt;
	uint16_t value[4];
};

struct program {
	int count;
	struct op op[MAX_OPS];
};

/* --- op.c */

const char *op_name(int kind);
void program_print(FILE *to, const struct program *program);
/* 0, or the line that cannot be read. */
int program_read(FILE *from, struct program *program);

/* --- gen.c */

struct rng {
	uint64_t state;
};

void rng_seed(struct rng *rng, uint64_t seed, uint64_t stream);
uint32_t rng_next(struct rng *rng);
uint32_t rng_below(struct rng *rng, uint32_t limit);
void program_random(struct rng *rng, struct program *program);
void program_mutate(struct rng *rng, struct program *program,
		    const struct program *other);
/* Devices and addresses stay as they are, nothing waits: for what is run often. */
void program_calm(struct program *program);

/* --- arg.c */

union arg {
	uint8_t bytes[4096];
	uint32_t size;
	struct rcm_info info;
	struct rcm_create_id create;
	struct rcm_destroy_id destroy;
	struct rcm_bind bind;
	struct rcm_resolve_addr resolve;
	struct rcm_resolve_route route;
	struct rcm_listen listen;
	struct rcm_connect connect;
	struct rcm_accept accept;
	struct rcm_establish establish;
	struct rcm_reject reject;
	struct rcm_disconnect disconnect;
	struct rcm_notify notify;
	struct rcm_init_qp_attr init_qp;
	struct rcm_set_option option;
	struct rcm_query query;
	struct rcm_migrate migrate;
	struct rcm_event event;
	struct rcm_join_multicast join;
	struct rcm_leave_multicast leave;
	struct rcm_translate translate;
	struct rcm_write_event write;
	struct rcm_get_events events;
};

/* Memory of one thread that arguments lie in. */
struct memory {
	union arg arg;
	uint8_t *map;	 /* two pages, the second is not there */
	uint8_t *fixed;	 /* a page that cannot be written */
	uint8_t *events; /* a page, and nothing for a long way after it */
	uint32_t option;
};

int memory_init(struct memory *memory);
/* Fills memory->arg in; its size. */
uint32_t arg_fill(struct memory *memory, const struct op *op, uint32_t handle,
		  int other_fd, uint32_t qp_num);
/* What to give to ioctl(): memory->arg, or a spoilt copy of it. */
void *arg_spoil(struct memory *memory, const struct op *op, uint32_t size);

/* --- kcov.c: places are numbered; which are reached is kept for each round */

bool kcov_init(void); /* for this thread; false: not in this kernel */
void kcov_start(void);
void kcov_stop(void);
/* In a child: what it reaches is not counted. */
void kcov_leave(void);
/* How many places were ever reached. */
int kcov_places(void);
/* A new round begins. */
void kcov_next(void);
/* Places of this round that no earlier one reached; how many. */
int kcov_new(uint32_t *place, int max);
/* Which of @place this round reached, moved to the front; how many. */
int kcov_again(uint32_t *place, int count);
/* What this round reached is not new any more. */
void kcov_accept(void);

/* --- run.c */

/* What all threads share. */
struct world {
	uint32_t handle[FILES][SLOTS];
};

struct count {
	uint64_t done;
	uint64_t error[134]; /* by errno; [0]: success */
};

struct runner {
	struct world *world;
	struct memory memory;
	struct count count[COMMANDS + 1]; /* and of OP_OTHER */
	uint32_t qp_num;
	volatile uint64_t *progress;
};

int runner_init(struct runner *runner, struct world *world);
void run_program(struct runner *runner, const struct program *program);
/* All files closed, and all but the last one opened. */
void world_reset(struct world *world);

/* --- grow.c */

int grow(struct runner *runner, uint64_t seed, long seconds, const char *dir);

/* --- main.c */

/* Whether the kernel has complained; says so once, and which program ran. */
bool kernel_complained(const struct program *program);

#endif /* FUZZ_H */
