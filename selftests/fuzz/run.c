// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Running ops.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#define DEVICE	 "/dev/infiniband/rcm"
#define FIRST_FD 100 /* numbers that nothing else gets */

static int own_net = -1, other_net = -1;

static int fd_of(int file)
{
	return FIRST_FD + file;
}

/* --- what may wait is interrupted: a signal every few milliseconds */

static __thread timer_t timer;
static __thread bool has_timer;

static void on_signal(int number)
{
	(void)number;
}

static void interrupt_every(int ms)
{
	struct itimerspec time = {
		.it_value.tv_nsec = ms * 1000000L,
		.it_interval.tv_nsec = ms * 1000000L,
	};

	if (has_timer)
		timer_settime(timer, 0, &time, NULL);
}

static void make_timer(void)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = SIGUSR1,
	};
	struct sigaction action = { .sa_handler = on_signal };

	event._sigev_un._tid = syscall(SYS_gettid);
	sigaction(SIGUSR1, &action, NULL);
	has_timer = !timer_create(CLOCK_MONOTONIC, &event, &timer);
}

/* --- files */

static void forget_handles(struct world *world, int file)
{
	memset(world->handle[file], 0, sizeof(world->handle[file]));
}

static void open_file(struct world *world, int file, uint16_t how)
{
	bool elsewhere = how % 16 == 2 && other_net >= 0;
	int fd;

	if (elsewhere)
		setns(other_net, CLONE_NEWNET);
	fd = open(DEVICE, O_RDWR | O_CLOEXEC | (how & 1 ? O_NONBLOCK : 0));
	if (elsewhere)
		setns(own_net, CLONE_NEWNET);
	if (fd < 0)
		return;
	dup2(fd, fd_of(file));
	close(fd);
	forget_handles(world, file);
}

void world_reset(struct world *world)
{
	int i;

	for (i = 0; i < FILES; i++)
		close(fd_of(i));
	memset(world, 0, sizeof(*world));
	for (i = 0; i < FILES - 1; i++)
		open_file(world, i, 0);
}

/* --- commands */

static uint32_t *slot_of(struct runner *runner, int file, int slot)
{
	return &runner->world->handle[file][slot % SLOTS];
}

static int target_of(const struct op *op)
{
	return op->kind == OP_MIGRATE ? op->value[0] % (FILES + 2) : 0;
}

/* A command that worked: the handles that it gave are remembered. */
static void keep_handles(struct runner *runner, const struct op *op,
			 const union arg *arg)
{
	uint32_t *slot = slot_of(runner, op->file, op->slot);

	switch (op->kind) {
	case OP_CREATE:
		*slot = arg->create.out_handle;
		break;
	case OP_BIND:
	case OP_RESOLVE:
		*slot = arg->bind.handle;
		break;
	case OP_EVENT:
		if (arg->event.out_event == 4)
			*slot = arg->event.out_new_handle;
		break;
	case OP_MIGRATE:
		if (target_of(op) < FILES)
			*slot_of(runner, target_of(op), op->value[1]) =
				arg->migrate.out_handle;
		break;
	}
}

static void count_result(struct runner *runner, int kind, int error)
{
	struct count *count = &runner->count[kind];
	int most = sizeof(count->error) / sizeof(count->error[0]);

	count->done++;
	count->error[error < most ? error : most - 1]++;
	if (runner->progress)
		++*runner->progress;
}

static void run_command(struct runner *runner, const struct op *op)
{
	unsigned long cmd = _IO(RCM_IOC_TYPE, RCM_CMD_INFO + op->kind);
	int fd = fd_of(op->file), other = target_of(op), ret;
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	/* Spoilt, an event's flags may say anything. */
	bool waits =
		op->kind == OP_TRANSLATE ||
		(op->kind == OP_EVENT && (op->spoilt || op->value[0] == 2)) ||
		(op->kind == OP_EVENTS && op->spoilt);
	uint32_t size;
	void *arg;

	if (op->kind == OP_OTHER)
		cmd = op->value[0] & 1 ?
			      _IOWR(RCM_IOC_TYPE, RCM_CMD_INFO, int) :
			      _IO(op->value[1], op->value[2]);
	other = other < FILES ? fd_of(other) : other == FILES ? -1 : 0;
	size = arg_fill(&runner->memory, op,
			*slot_of(runner, op->file, op->slot), other,
			++runner->qp_num & 0xffffff);
	arg = arg_spoil(&runner->memory, op, size);
	if (op->kind == OP_EVENT && op->value[0] == 1)
		poll(&pfd, 1, 20);
	if (waits)
		interrupt_every(3);
	ret = ioctl(fd, cmd, arg) < 0 ? errno : 0;
	if (waits)
		interrupt_every(0);
	count_result(runner, op->kind, ret);
	if (!ret)
		keep_handles(runner, op, arg);
}

/* --- other ops */

static void read_all(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[4096];

	if (fd < 0)
		return;
	while (read(fd, text, sizeof(text)) > 0)
		;
	close(fd);
}

static void shell(const char *command)
{
	if (system(command) == -1)
		perror("system");
}

static void run_op(struct runner *runner, const struct op *op);

/* A child with the same files. What it does is not counted. */
static void run_child(struct runner *runner, const struct op *op,
		      const struct op *next, int count)
{
	bool killed = op->kind == OP_KILL;
	int many = 1 + op->value[0] % 6, i;
	pid_t pid;

	if (count < many)
		many = count;
	pid = fork();
	if (pid < 0)
		return;
	if (!pid) {
		kcov_leave();
		has_timer = false;
		make_timer();
		runner->progress = NULL;
		do {
			for (i = 0; i < many; i++) {
				if (next[i].kind < OP_FORK)
					run_op(runner, &next[i]);
			}
		} while (killed && many);
		_exit(0);
	}
	if (killed) {
		usleep(op->value[1] % 4000);
		kill(pid, SIGKILL);
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void run_op(struct runner *runner, const struct op *op)
{
	struct pollfd pfd = { .fd = fd_of(op->file), .events = POLLIN };
	int other = op->value[0] % FILES;

	switch (op->kind) {
	case OP_OPEN:
		open_file(runner->world, op->file, op->value[0]);
		break;
	case OP_CLOSE:
		close(fd_of(op->file));
		forget_handles(runner->world, op->file);
		break;
	case OP_DUP:
		dup2(fd_of(op->file), fd_of(other));
		memcpy(runner->world->handle[other],
		       runner->world->handle[op->file],
		       sizeof(runner->world->handle[other]));
		break;
	case OP_POLL:
		poll(&pfd, 1, op->value[0] % 4);
		break;
	case OP_LIST:
		read_all("/sys/kernel/debug/rcm/ids");
		read_all("/sys/kernel/debug/rcm/ports");
		break;
	case OP_DEVICE:
		shell(op->value[0] & 1 ?
			      "rdma link del rxe0 2>/dev/null; rdma link add rxe0 type rxe netdev d0 2>/dev/null" :
			      "rdma link del xfz0 2>/dev/null; rdma link add xfz0 type rxe netdev fz0 2>/dev/null");
		break;
	case OP_ADDRESS:
		shell(op->value[0] & 1 ?
			      "ip link set fz0 down 2>/dev/null; ip link set fz0 up 2>/dev/null" :
			      "ip address del 10.9.9.1/24 dev fz0 2>/dev/null; ip address add 10.9.9.1/24 dev fz0 2>/dev/null");
		break;
	default:
		run_command(runner, op);
		break;
	}
}

void run_program(struct runner *runner, const struct program *program)
{
	int i;

	for (i = 0; i < program->count; i++) {
		const struct op *op = &program->op[i];

		kcov_start();
		if (op->kind == OP_FORK || op->kind == OP_KILL)
			run_child(runner, op, op + 1, program->count - i - 1);
		else
			run_op(runner, op);
		kcov_stop();
	}
}

int runner_init(struct runner *runner, struct world *world)
{
	if (own_net < 0) {
		own_net =
			open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
		other_net = open("/run/netns/fuzz", O_RDONLY | O_CLOEXEC);
	}
	make_timer();
	runner->world = world;
	runner->qp_num = syscall(SYS_gettid) << 12;
	return memory_init(&runner->memory);
}
