// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The active side of many connections: each step for all of them, before the
 * next. At most opt.window operations are under way at once; with a window of
 * one each step's own cost is seen, without one a storm.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

struct conn {
	struct rdma_cm_id *id;
	struct worker *worker;
	uint64_t start;
	bool failed;
};

/*
 * @done says when the step is over; a step without it is over when the call
 * returns.
 */
struct step {
	const char *name;
	int (*call)(struct conn *conn);
	enum rdma_cm_event_type done;
	struct samples samples;
	struct usage usage;
};

struct worker {
	pthread_t thread;
	int number;
	atomic_int busy;
};

static struct conn *conns;
static struct worker *workers;
static struct rdma_event_channel **channels;
static pthread_barrier_t barrier;
static atomic_int failures;
static atomic_int time_waits;
static bool channels_shared;

#define NOT_ASYNC ((enum rdma_cm_event_type) - 1)

static int do_create(struct conn *conn)
{
	int channel = (conn - conns) % opt.channels;

	if (opt.threads > 1)
		channel = conn->worker->number % opt.channels;
	return rdma_create_id(channels[channel], &conn->id, conn, RDMA_PS_TCP);
}

static int do_bind(struct conn *conn)
{
	struct sockaddr_in local = opt.address;

	local.sin_port = 0;
	return rdma_bind_addr(conn->id, (struct sockaddr *)&local);
}

static int do_resolve_addr(struct conn *conn)
{
	return rdma_resolve_addr(conn->id, NULL,
				 (struct sockaddr *)&opt.address, TIMEOUT_MS);
}

static int do_resolve_route(struct conn *conn)
{
	return rdma_resolve_route(conn->id, TIMEOUT_MS);
}

static int do_create_qp(struct conn *conn)
{
	if (opt.qp)
		make_qp(conn->id);
	return 0;
}

static int do_connect(struct conn *conn)
{
	struct rdma_conn_param param = {
		.retry_count = 7,
		.rnr_retry_count = 7,
	};

	if (!opt.qp)
		param.qp_num = next_qpn();
	return rdma_connect(conn->id, &param);
}

static int do_disconnect(struct conn *conn)
{
	return rdma_disconnect(conn->id);
}

static int do_destroy_qp(struct conn *conn)
{
	if (opt.qp)
		rdma_destroy_qp(conn->id);
	return 0;
}

static int do_destroy(struct conn *conn)
{
	return rdma_destroy_id(conn->id);
}

#define STEP(name, done)                    \
	{                                   \
#name, do_##name, done, {}, \
		{                           \
		}                           \
	}

static struct step steps[] = {
	STEP(create, NOT_ASYNC),
	STEP(bind, NOT_ASYNC),
	STEP(resolve_addr, RDMA_CM_EVENT_ADDR_RESOLVED),
	STEP(resolve_route, RDMA_CM_EVENT_ROUTE_RESOLVED),
	STEP(create_qp, NOT_ASYNC),
	STEP(connect, RDMA_CM_EVENT_ESTABLISHED),
	STEP(disconnect, RDMA_CM_EVENT_DISCONNECTED),
	STEP(destroy_qp, NOT_ASYNC),
	STEP(destroy, NOT_ASYNC),
};

#define STEPS (sizeof(steps) / sizeof(steps[0]))

static void complain(struct conn *conn, const struct step *step,
		     const char *what, int status)
{
	if (!atomic_fetch_add(&failures, 1))
		fprintf(stderr, "bench: %s: %s: %s, status %d\n", opt.stack,
			step->name, what, status);
	conn->failed = true;
}

static void conn_over(struct conn *conn, struct step *step)
{
	samples_add(&step->samples, now_ns() - conn->start);
	atomic_fetch_sub(&conn->worker->busy, 1);
}

static void handle(struct rdma_cm_event *event, struct step *step)
{
	enum rdma_cm_event_type type = event->event;
	struct conn *conn = event->id->context;
	int status = event->status;

	rdma_ack_cm_event(event);
	if (type == RDMA_CM_EVENT_TIMEWAIT_EXIT) {
		atomic_fetch_add(&time_waits, 1);
		return;
	}
	/* Without a queue pair it is for us to say that we are ready. */
	if (type == RDMA_CM_EVENT_CONNECT_RESPONSE && !rdma_establish(conn->id))
		type = RDMA_CM_EVENT_ESTABLISHED;
	if (type != step->done)
		complain(conn, step, rdma_event_str(type), status);
	conn_over(conn, step);
}

static struct rdma_cm_event *next_event(const struct worker *worker)
{
	int first = worker->number % opt.channels;
	int n = opt.threads > 1 ? 1 : opt.channels;
	struct rdma_cm_event *event;
	struct pollfd fds[n];
	int i;

	if (!channels_shared && n == 1)
		return need_event(channels[first]);

	for (i = 0; i < n; i++)
		fds[i] = (struct pollfd){ channels[first + i]->fd, POLLIN, 0 };
	/* Another thread may have taken our last event. */
	poll(fds, n, 20);
	for (i = 0; i < n; i++)
		if (fds[i].revents & POLLIN &&
		    !rdma_get_cm_event(channels[first + i], &event))
			return event;
	return NULL;
}

static void run_step(struct worker *worker, struct step *step)
{
	int window = opt.window ? opt.window : opt.count;
	struct rdma_cm_event *event;
	int i;

	for (i = worker->number; i < opt.count || worker->busy;) {
		struct conn *conn = &conns[i];

		if (i >= opt.count || worker->busy == window) {
			event = next_event(worker);
			if (event)
				handle(event, step);
			continue;
		}
		i += opt.threads;
		if (conn->failed && step->call != do_destroy)
			continue;
		conn->worker = worker;
		conn->start = now_ns();
		if (step->done != NOT_ASYNC)
			atomic_fetch_add(&worker->busy, 1);
		if (step->call(conn)) {
			complain(conn, step, strerror(errno), errno);
			if (step->done != NOT_ASYNC)
				atomic_fetch_sub(&worker->busy, 1);
		} else if (step->done == NOT_ASYNC) {
			samples_add(&step->samples, now_ns() - conn->start);
		}
	}
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	unsigned int i;

	for (i = 0; i < STEPS; i++) {
		if (!worker->number)
			usage_begin(&steps[i].usage);
		pthread_barrier_wait(&barrier);
		run_step(worker, &steps[i]);
		pthread_barrier_wait(&barrier);
		if (!worker->number)
			usage_end(&steps[i].usage);
	}
	return NULL;
}

/* Returns an identifier to keep meanwhile. */
static struct rdma_cm_id *client_init(void)
{
	struct rdma_cm_id *warm;
	uint64_t start;
	unsigned int i;
	int flags;

	conns = calloc(opt.count, sizeof(*conns));
	workers = calloc(opt.threads, sizeof(*workers));
	channels = calloc(opt.channels, sizeof(*channels));
	if (!conns || !workers || !channels)
		die("memory");
	channels_shared = opt.threads > opt.channels;
	start = now_ns();
	channels[0] = open_channel();
	warm = warm_up(channels[0]);
	report("first_us", (double)(now_ns() - start) / 1000);
	for (i = 0; i < (unsigned int)opt.channels; i++) {
		if (i)
			channels[i] = open_channel();
		if (!channels_shared && (opt.threads > 1 || opt.channels == 1))
			continue;
		flags = fcntl(channels[i]->fd, F_GETFL);
		fcntl(channels[i]->fd, F_SETFL, flags | O_NONBLOCK);
	}
	for (i = 0; i < STEPS; i++)
		samples_init(&steps[i].samples, opt.count);
	pthread_barrier_init(&barrier, NULL, opt.threads);
	return warm;
}

static void client_report(uint64_t retries, uint64_t duplicates)
{
	struct usage setup = {}, total = {};
	unsigned int i;

	for (i = 0; i < STEPS; i++) {
		struct step *step = &steps[i];

		if (!opt.qp && strstr(step->name, "_qp"))
			continue;
		report_step(step->name, &step->samples, &step->usage,
			    opt.count);
		total.wall += step->usage.wall;
		total.cpu += step->usage.cpu;
		total.own += step->usage.own;
		total.switches += step->usage.switches;
		if (step->call == do_resolve_route)
			setup = total;
		if (step->call == do_connect)
			report_step("up", NULL, &total, opt.count);
	}
	report_step("resolve_all", NULL, &setup, opt.count);
	report_step("life", NULL, &total, opt.count);
	/* Those that were over before the identifier was destroyed. */
	report("time_waits", (double)time_waits / opt.count);
	report("sent_again", retries);
	report("duplicates", duplicates);
	report("failed", failures);
}

static int client(void)
{
	uint64_t retries, duplicates;
	struct rdma_cm_id *warm;
	int i;

	warm = client_init();
	retries = cm_counter("cm_tx_retries");
	duplicates = cm_counter("cm_rx_duplicates");
	for (i = 0; i < opt.threads; i++) {
		workers[i].number = i;
		if (i &&
		    pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			die("pthread_create");
	}
	work(&workers[0]);
	for (i = 1; i < opt.threads; i++)
		pthread_join(workers[i].thread, NULL);
	client_report(cm_counter("cm_tx_retries") - retries,
		      cm_counter("cm_rx_duplicates") - duplicates);
	rdma_destroy_id(warm);
	return failures;
}

/* Client and server are processes of their own. */
void storm(void)
{
	int started[2], finish[2];
	int status = 0, failed;
	pid_t child;
	char byte;

	if (opt.role == CLIENT)
		exit(!!client());
	if (opt.role == SERVER) {
		server(1, 0);
		return;
	}
	if (pipe(started) || pipe(finish))
		die("pipe");
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		close(started[0]);
		close(finish[1]);
		opt.qpn += opt.count;
		server(started[1], finish[0]);
		exit(0);
	}
	close(started[1]);
	close(finish[0]);
	if (read(started[0], &byte, 1) != 1)
		die("the server did not start");
	failed = client();
	close(finish[1]);
	if (failed) {
		/* It waits for those that do not come. */
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		exit(1);
	}
	if (waitpid(child, &status, 0) != child || status) {
		errno = ECHILD;
		die("the server failed");
	}
}
