// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Options, threads, figures. Prints TAP.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#define MAX_THREADS 16
#define PATIENCE    120 /* seconds without an ioctl: something hangs */
#define LEFT	    100 /* seconds; ib_cm waits for an answer for 69 s */
#define CHECK_EVERY 64	/* programs, for what is left behind */

struct options {
	uint64_t seed;
	uint64_t first;	   /* number of the first program */
	uint64_t programs; /* of each thread */
	uint64_t ioctls;
	long seconds;
	int threads;
	const char *grow; /* directory */
	bool calm;
	bool verbose;
};

static struct options options = {
	.seed = 1,
	.programs = ~0ULL,
	.ioctls = ~0ULL,
	.seconds = 20,
	.threads = 0,
};

struct thread {
	pthread_t thread;
	bool ended;
	int number;
	struct runner runner;
	volatile uint64_t done; /* ioctls */
	uint64_t programs;
};

static struct thread threads[MAX_THREADS];
static struct world world;
static volatile bool stop;
static time_t end;
static int tests, failures;

static const char usage[] =
	"usage: fuzz [OPTION]... [FILE]...\n"
	"Runs the programs in the files, or random ones until a limit is reached.\n"
	"  -s SEED      what is random follows from it\n"
	"  -f NUMBER    first program, to run one again: -s SEED -f NUMBER -n 1\n"
	"  -n NUMBER    programs (of each thread)\n"
	"  -i NUMBER    ioctls\n"
	"  -d SECONDS   time, 20\n"
	"  -t NUMBER    so many threads use the same files; what each does follows\n"
	"               from the seed, when it does so does not\n"
	"  -g DIR       keep what reaches new places of the module, by KCOV\n"
	"  -c           leave devices, addresses and processes alone\n"
	"  -v           print each program before it runs\n";

static void result(bool ok, const char *text)
{
	tests++;
	failures += !ok;
	printf("%sok %d - %s\n", ok ? "" : "not ", tests, text);
	fflush(stdout);
}

/* --- has it hurt the kernel */

/* Taints of a warning, an oops, a corrupted page (which KASAN uses). */
static bool tainted(void)
{
	unsigned long bits = 0;
	FILE *file = fopen("/proc/sys/kernel/tainted", "r");

	if (file) {
		if (fscanf(file, "%lu", &bits) != 1)
			bits = 0;
		fclose(file);
	}
	return bits & (1 << 5 | 1 << 7 | 1 << 9 | 1 << 14);
}

bool kernel_complained(const struct program *program)
{
	static bool said;

	if (said || !tainted())
		return said;
	said = true;
	printf("# the kernel complained during or before this program:\n");
	if (program)
		program_print(stdout, program);
	fflush(stdout);
	return true;
}

static int lines_of(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[300];
	int lines = -1;

	while (file && fgets(line, sizeof(line), file))
		lines++;
	if (file)
		fclose(file);
	return lines;
}

static int left_over(void)
{
	return lines_of("/sys/kernel/debug/rcm/ids") +
	       lines_of("/sys/kernel/debug/rcm/ports");
}

/* With all files closed no identifier and no port may remain. */
static bool nothing_left(void)
{
	int tries;

	for (tries = 0; tries < LEFT * 100; tries++) {
		if (left_over() == 0)
			return true;
		usleep(10000);
	}
	return false;
}

static void close_files(void)
{
	int i;

	world_reset(&world);
	for (i = 0; i < FILES; i++)
		close(100 + i);
}

/* --- running */

static uint64_t total_done(void)
{
	uint64_t done = 0;
	int i;

	for (i = 0; i < MAX_THREADS; i++)
		done += threads[i].done;
	return done;
}

static bool enough(const struct thread *thread)
{
	return stop || thread->programs >= options.programs ||
	       total_done() >= options.ioctls || time(NULL) >= end;
}

/* Alone, each program starts with fresh files, so that it can be run again. */
static void run_random(struct thread *thread)
{
	uint64_t number = options.first + thread->programs++;
	struct program program;
	struct rng rng;

	rng_seed(&rng, options.seed + thread->number, number);
	program_random(&rng, &program);
	if (options.calm)
		program_calm(&program);
	if (options.verbose) {
		printf("# -s %llu -f %llu\n", (unsigned long long)options.seed,
		       (unsigned long long)number);
		program_print(stdout, &program);
		fflush(stdout);
	}
	if (!options.threads)
		world_reset(&world);
	run_program(&thread->runner, &program);
	if (kernel_complained(&program)) {
		printf("# again: fuzz -s %llu -f %llu -n 1\n",
		       (unsigned long long)options.seed,
		       (unsigned long long)number);
		stop = true;
	}
	if (!options.threads && !(thread->programs % CHECK_EVERY)) {
		close_files();
		if (!nothing_left()) {
			result(false, "nothing is left of programs");
			printf("# up to -f %llu\n", (unsigned long long)number);
			stop = true;
		}
	}
}

static void *run_thread(void *arg)
{
	struct thread *thread = arg;

	thread->runner.progress = &thread->done;
	if (runner_init(&thread->runner, &world))
		return NULL;
	kcov_init();
	while (!enough(thread)) {
		run_random(thread);
		/* Files that somebody closed come back. */
		if (options.threads && !(thread->programs % 20) &&
		    !thread->number)
			world_reset(&world);
	}
	return NULL;
}

/* Where everybody is that is not the kernel's own. */
static void show_stacks(void)
{
	fflush(stdout);
	if (system("for d in /proc/[0-9]*/task/*; do"
		   "  grep -q . ${d%/task/*}/cmdline || continue;"
		   "  echo \"$d $(tr '\\0' ' ' <$d/cmdline | cut -c 1-60)"
		   " $(sed -n 's/^State:.//p' $d/status) $(cat $d/syscall)\";"
		   "  cat $d/stack; done 2>/dev/null") == -1)
		perror("system");
}

/* A thread can be joined once. */
static bool has_ended(struct thread *thread)
{
	if (!thread->ended)
		thread->ended = !pthread_tryjoin_np(thread->thread, NULL);
	return thread->ended;
}

static void watch(void)
{
	uint64_t last = 0, now;
	int still = 0, seconds = 0;
	bool running = true;
	int i;

	while (running) {
		sleep(1);
		seconds++;
		now = total_done();
		still = now == last ? still + 1 : 0;
		last = now;
		if (still == PATIENCE) {
			show_stacks();
			printf("Bail out! no ioctl for %d s\n", PATIENCE);
			exit(1);
		}
		if (!(seconds % 30)) {
			printf("# %d s: %llu ioctls\n", seconds,
			       (unsigned long long)now);
			fflush(stdout);
		}
		running = false;
		for (i = 0; i < (options.threads ?: 1); i++)
			running |= !has_ended(&threads[i]);
	}
}

static void run_all_random(void)
{
	int i;

	world_reset(&world);
	end = time(NULL) + options.seconds;
	for (i = 0; i < (options.threads ?: 1); i++) {
		threads[i].number = i;
		if (pthread_create(&threads[i].thread, NULL, run_thread,
				   &threads[i])) {
			perror("pthread_create");
			exit(1);
		}
	}
	watch();
}

static bool run_file(const char *path)
{
	struct program program;
	FILE *file = fopen(path, "r");
	int line;

	if (!file) {
		perror(path);
		return false;
	}
	line = program_read(file, &program);
	fclose(file);
	if (line) {
		printf("# %s:%d: what is that?\n", path, line);
		return false;
	}
	world_reset(&world);
	run_program(&threads[0].runner, &program);
	return !kernel_complained(&program);
}

static void run_files(int count, char **path)
{
	int i, bad = 0;

	threads[0].runner.progress = &threads[0].done;
	if (runner_init(&threads[0].runner, &world)) {
		perror("mmap");
		exit(1);
	}
	kcov_init();
	kcov_next();
	for (i = 0; i < count && !bad; i++)
		bad += !run_file(path[i]);
	printf("# %d programs\n", i);
	result(!bad, "programs from files");
}

/* --- figures */

static uint64_t sum(int kind, int error)
{
	uint64_t value = 0;
	int i;

	for (i = 0; i < MAX_THREADS; i++)
		value += error < 0 ? threads[i].runner.count[kind].done :
				     threads[i].runner.count[kind].error[error];
	return value;
}

static void print_figures(void)
{
	int kind, error;

	for (kind = 0; kind <= COMMANDS; kind++) {
		printf("# %-11s %9llu:", op_name(kind),
		       (unsigned long long)sum(kind, -1));
		for (error = 0; error < 134; error++) {
			if (sum(kind, error))
				printf(" %s %llu",
				       error ? strerrorname_np(error) : "ok",
				       (unsigned long long)sum(kind, error));
		}
		printf("\n");
	}
	printf("# %llu ioctls\n", (unsigned long long)total_done());
	kcov_accept();
	if (kcov_places())
		printf("# %d places of rcm.ko reached\n", kcov_places());
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "s:f:n:i:d:t:g:cv")) != -1) {
		switch (c) {
		case 's':
			options.seed = strtoull(optarg, NULL, 0);
			break;
		case 'f':
			options.first = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			options.programs = strtoull(optarg, NULL, 0);
			break;
		case 'i':
			options.ioctls = strtoull(optarg, NULL, 0);
			break;
		case 'd':
			options.seconds = atol(optarg);
			break;
		case 't':
			options.threads = atoi(optarg);
			break;
		case 'g':
			options.grow = optarg;
			break;
		case 'c':
			options.calm = true;
			break;
		case 'v':
			options.verbose = true;
			break;
		default:
			fputs(usage, stderr);
			exit(2);
		}
	}
	if (options.threads < 0 || options.threads > MAX_THREADS) {
		fputs(usage, stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	char text[100];

	parse(argc, argv);
	if (tainted())
		printf("# the kernel has complained before\n");
	if (options.grow) {
		threads[0].runner.progress = &threads[0].done;
		if (runner_init(&threads[0].runner, &world) || !kcov_init()) {
			fprintf(stderr, "fuzz: no KCOV in this kernel\n");
			return 1;
		}
		result(!grow(&threads[0].runner, options.seed, options.seconds,
			     options.grow),
		       "new places");
	} else if (optind < argc) {
		run_files(argc - optind, argv + optind);
	} else {
		run_all_random();
		snprintf(text, sizeof(text), "seed %llu, %d threads",
			 (unsigned long long)options.seed,
			 options.threads ?: 1);
		result(!stop, text);
	}
	close_files();
	result(nothing_left(), "nothing is left");
	print_figures();
	result(!tainted(), "the kernel has no complaint");
	printf("1..%d\n", tests);
	return failures > 0;
}
