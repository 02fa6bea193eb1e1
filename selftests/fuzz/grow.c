// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Looking for programs that reach more places of the module: random ones, and
 * changes to those that reached something new before. What is kept is made as
 * short as it can be.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fuzz.h"

#define MAX_KEPT 2000
#define MAX_NEW	 4096

static struct program *kept;
static int nr_kept;

static void run_once(struct runner *runner, const struct program *program)
{
	world_reset(runner->world);
	kcov_next();
	run_program(runner, program);
}

/* Leaves out each op without which the same places are reached. */
static void shorten(struct runner *runner, struct program *program,
		    uint32_t *place, int count)
{
	struct program shorter;
	int i;

	for (i = program->count - 1; i >= 0; i--) {
		shorter = *program;
		shorter.count--;
		memmove(&shorter.op[i], &shorter.op[i + 1],
			(shorter.count - i) * sizeof(struct op));
		run_once(runner, &shorter);
		if (kcov_again(place, count) == count)
			*program = shorter;
	}
}

/* True when it was worth keeping. */
static bool look_at(struct runner *runner, struct program *program)
{
	static uint32_t place[MAX_NEW];
	int count;

	run_once(runner, program);
	count = kcov_new(place, MAX_NEW);
	kcov_accept();
	if (!count)
		return false;
	/* Some come by chance: again. */
	run_once(runner, program);
	count = kcov_again(place, count);
	if (!count || nr_kept == MAX_KEPT)
		return false;
	shorten(runner, program, place, count);
	kept[nr_kept++] = *program;
	return true;
}

static int write_kept(const char *dir)
{
	char path[300];
	FILE *file;
	int i;

	for (i = 0; i < nr_kept; i++) {
		snprintf(path, sizeof(path), "%s/%04d", dir, i);
		file = fopen(path, "w");
		if (!file) {
			perror(path);
			return -1;
		}
		fputs("# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB\n",
		      file);
		program_print(file, &kept[i]);
		fclose(file);
	}
	return 0;
}

int grow(struct runner *runner, uint64_t seed, long seconds, const char *dir)
{
	time_t end = time(NULL) + seconds;
	struct program program;
	uint64_t round = 0;
	struct rng rng;

	kept = calloc(MAX_KEPT, sizeof(*kept));
	if (!kept)
		return -1;
	rng_seed(&rng, seed, 0);
	while (time(NULL) < end) {
		round++;
		if (!nr_kept || !rng_below(&rng, 3)) {
			program_random(&rng, &program);
		} else {
			program = kept[rng_below(&rng, nr_kept)];
			program_mutate(&rng, &program,
				       &kept[rng_below(&rng, nr_kept)]);
		}
		program_calm(&program);
		look_at(runner, &program);
		if (kernel_complained(&program))
			return 1;
		if (!(round % 1000))
			printf("# %llu programs, %d kept, %d places\n",
			       (unsigned long long)round, nr_kept,
			       kcov_places());
	}
	printf("# %llu programs, %d kept, %d places\n",
	       (unsigned long long)round, nr_kept, kcov_places());
	return write_kept(dir);
}
