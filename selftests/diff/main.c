// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * diff_sequences [PATTERN...]: runs call sequences on whichever connection
 * manager librdmacm.so.1 leads to, and prints what happened: lines of sequence,
 * step and result.  Each sequence runs in its own process, and many at once,
 * since most of the time is spent waiting for events that do not come.  The
 * lines of a sequence are in order, those of several are mixed.
 *
 * QUIET=MILLISECONDS: when nothing comes for so long, nothing will.
 */
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>

#include "seq.h"

#define MAX_JOBS    6000
#define FIRST_PORT  4000
#define MAX_RUNNING 48
#define JOB_MS	    20000

static_assert(FIRST_PORT + MAX_JOBS * SEQ_PORTS <= 32768,
	      "below the ephemeral ports");

static struct job jobs[MAX_JOBS];
static int num_jobs;

/**
 * job_add - one more sequence
 * @run: runs it
 * @format: of its name, without spaces
 *
 * Return: the job, for @p and @n to be filled in.
 */
struct job *job_add(void (*run)(const struct job *job), const char *format, ...)
{
	struct job *job = &jobs[num_jobs];
	va_list args;

	if (num_jobs == MAX_JOBS) {
		fprintf(stderr, "more than %d sequences\n", MAX_JOBS);
		exit(1);
	}
	va_start(args, format);
	vsnprintf(job->name, sizeof(job->name), format, args);
	va_end(args);
	job->run = run;
	job->port = FIRST_PORT + num_jobs * SEQ_PORTS;
	num_jobs++;
	return job;
}

static void crashed(int number)
{
	(void)number;
	say_end("crash");
	_exit(0);
}

/* Handled, so that the kernel's log does not tell of it. */
static void catch_crashes(void)
{
	struct sigaction action = { .sa_handler = crashed };

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGABRT, &action, NULL);
}

static void start(struct job *job)
{
	job->deadline = now_ms() + JOB_MS;
	job->pid = fork();
	if (job->pid)
		return;
	catch_crashes();
	say_start(job->name);
	job->run(job);
	say_end("ok");
	_exit(0);
}

static void ended(pid_t pid, int status)
{
	int i;

	for (i = 0; i < num_jobs && jobs[i].pid != pid; i++)
		;
	if (i == num_jobs)
		return;
	jobs[i].pid = 0;
	if (!WIFSIGNALED(status))
		return;
	say_start(jobs[i].name);
	say_end(WTERMSIG(status) == SIGKILL ? "blocks" : "crash");
}

static void kill_late(int upto)
{
	int i;

	for (i = 0; i < upto; i++) {
		if (jobs[i].pid > 0 && now_ms() > jobs[i].deadline)
			kill(jobs[i].pid, SIGKILL);
	}
}

static bool is_wanted(const struct job *job, char **patterns)
{
	bool wanted = !*patterns;

	for (; *patterns && !wanted; patterns++)
		wanted = !fnmatch(*patterns, job->name, 0);
	return wanted;
}

static void run_all(char **patterns)
{
	int next = 0, running = 0, status;
	pid_t pid;

	while (next < num_jobs || running) {
		if (next < num_jobs && !is_wanted(&jobs[next], patterns)) {
			next++;
			continue;
		}
		if (next < num_jobs && running < MAX_RUNNING) {
			start(&jobs[next++]);
			running++;
		}
		pid = waitpid(-1, &status, WNOHANG);
		if (pid > 0) {
			ended(pid, status);
			running--;
		} else if (running == MAX_RUNNING || next == num_jobs) {
			kill_late(next);
			usleep(5000);
		}
	}
}

/* Drivers are loaded once, and not by each process. */
static void warm_up(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (list)
		ibv_free_device_list(list);
	rdma_destroy_event_channel(rdma_create_event_channel());
}

int main(int argc, char **argv)
{
	(void)argc;
	add_states();
	add_addresses();
	add_lengths();
	add_null();
	add_rest();
	if (getenv("QUIET"))
		quiet_ms = atoi(getenv("QUIET"));
	warm_up();
	run_all(argv + 1);
	return 0;
}
