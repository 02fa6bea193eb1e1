/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the race_* programs share: how long they may take, chance that can be
 * repeated, counters of many processes, and storms of connections.
 */
#ifndef RACE_TEST_H
#define RACE_TEST_H

#include <glob.h>
#include <pthread.h>
#include <sched.h>

#include "rcm_test.h"

/* In make check a test takes its share, in make check-debug all the time. */
static inline int share(int check, int debug)
{
	return suite_is_debug() ? debug : check;
}

/* For loops: until the time is over, and @least rounds on a busy machine. */
static inline bool go_on(long rounds, long least, long long end)
{
	return rounds < least || now_ms() < end;
}

/* --- chance */

static unsigned int race_seed;

/* Before the tests, which are processes of their own and all have it. */
static void __attribute__((constructor)) race_take_seed(void)
{
	const char *seed = getenv("SEED");

	race_seed = seed && *seed ? strtoul(seed, NULL, 0) :
				    (unsigned int)(now_ms() ^ getpid());
	printf("# SEED=%u\n", race_seed);
	fflush(stdout);
}

/* A state of one's own for each thread, by its number. */
static inline unsigned int new_dice(unsigned int number)
{
	return race_seed * 2654435761U + number * 40503U + 1;
}

static inline unsigned int roll(unsigned int *dice, unsigned int sides)
{
	return rand_r(dice) % sides;
}

/* Somewhere in what a call of a few dozen microseconds does, or after it. */
static inline void short_while(unsigned int *dice)
{
	volatile unsigned int spin = roll(dice, 8) ? roll(dice, 20000) : 0;

	if (!roll(dice, 8))
		usleep(roll(dice, 3000));
	while (spin)
		spin--;
}

/* --- counters in memory that processes share */

#define COUNT(counter)	 __atomic_fetch_add(&(counter), 1, __ATOMIC_RELAXED)
#define COUNTED(counter) __atomic_load_n(&(counter), __ATOMIC_RELAXED)
#define SET(flag, to)	 __atomic_store_n(&(flag), to, __ATOMIC_RELEASE)
#define IS_SET(flag)	 __atomic_load_n(&(flag), __ATOMIC_ACQUIRE)

/* --- memory of the kernel */

/* Objects in use of the slabs whose name starts so; negative errno. */
static inline long slab_objects(const char *prefix)
{
	char line[512], name[64];
	long active, total = 0;
	glob_t found;
	FILE *file;
	size_t i;

	/* What lies in caches, and in KASAN's quarantine, counts as in use. */
	snprintf(line, sizeof(line), "/sys/kernel/slab/%s*/shrink", prefix);
	if (!glob(line, 0, NULL, &found)) {
		for (i = 0; i < found.gl_pathc; i++)
			write_file(found.gl_pathv[i], "1");
		globfree(&found);
	}
	file = fopen("/proc/slabinfo", "r");
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63s %ld", name, &active) == 2 &&
		    !strncmp(name, prefix, strlen(prefix)))
			total += active;
	}
	fclose(file);
	return total;
}

/* As soon as there are no more than @most; the last count. */
static inline long slab_objects_settle(const char *prefix, long most,
				       int timeout_ms)
{
	long long end = now_ms() + timeout_ms;
	long count;

	while ((count = slab_objects(prefix)) > most && now_ms() < end)
		sleep_ms(200);
	return count;
}

/* --- storms */

#define STORM_WAIT    40000 /* for an event that has to come, milliseconds */
#define STORM_TIMEOUT 5000  /* of a connect without answer, milliseconds */

/**
 * struct storm - connections of several processes, in memory they share
 * @stop: no new ones
 * @qp_num: last number of a queue pair
 * @begun: identifiers made, or tried to
 * @established: connections
 * @closed: of these, those that ended with DISCONNECTED
 * @removed: identifiers that lost their device
 * @refused: calls that ended with an errno that they may end with
 * @failed: calls that ended with an event that says so
 * @lost: ended neither with an event nor with an errno
 * @wrong: what may not happen
 * @served: identifiers of requests that the server has
 */
struct storm {
	int stop;
	unsigned int qp_num;
	long begun;
	long established;
	long closed;
	long removed;
	long refused;
	long failed;
	long lost;
	long wrong;
	long served;
};

#define STORM_WRONG(storm, format, ...)                                    \
	do {                                                               \
		if (COUNT((storm)->wrong) < 20)                            \
			fprintf(stderr, "# %s:%d: " format "\n", __func__, \
				__LINE__, ##__VA_ARGS__);                  \
	} while (0)

static inline struct rcm_conn_param storm_param(struct storm *storm)
{
	struct rcm_conn_param conn = conn_param(NULL, 0);

	conn.qp_num = 1 + COUNT(storm->qp_num) % 0xfffff0;
	return conn;
}

static inline int set_connect_timeout(int fd, __u32 handle, __u32 timeout_ms)
{
	return set_own_option(fd, handle, RCM_OPTION_CONNECT_TIMEOUT,
			      timeout_ms);
}

/* What a call says when address, interface or device went. */
static inline bool is_gone(int ret)
{
	return ret == -ENODEV || ret == -EADDRNOTAVAIL || ret == -ENETUNREACH ||
	       ret == -EHOSTUNREACH || ret == -ENETDOWN;
}

/* A call of the storm: its errno is one of those, or it is wrong. */
static inline bool storm_did(struct storm *storm, const char *what, int ret)
{
	if (ret >= 0)
		return true;
	COUNT(storm->refused);
	if (!is_gone(ret))
		STORM_WRONG(storm, "%s: %s", what, strerror(-ret));
	return false;
}

/* EINVAL may be ib_cm's, for an address that went; the reason tells. */
static inline bool storm_could_not_send(int fd, int handle, int ret)
{
	struct rcm_query arg;

	return ret == -EINVAL && !query(fd, handle, &arg) &&
	       arg.out_reason.step == RCM_STEP_SEND;
}

/* The next event of the only identifier of a file; negative: none. */
static inline int storm_event(struct storm *storm, int fd, int handle,
			      int *read)
{
	struct rcm_event event;
	int type = next_event(fd, &event, STORM_WAIT);

	if (type == -ETIME) {
		COUNT(storm->lost);
		fprintf(stderr, "# no event in state %d\n",
			state_of(fd, handle));
		return type;
	}
	if (type < 0) {
		STORM_WRONG(storm, "get_event: %s", strerror(-type));
		return type;
	}
	++*read;
	if ((int)event.out_handle != handle)
		STORM_WRONG(storm, "event %d of %u, not %d", type,
			    event.out_handle, handle);
	if (type == EV_DEVICE_REMOVAL)
		COUNT(storm->removed);
	return type;
}

/* Whether it is the one that all goes on with; others end the connection. */
static inline bool storm_expect(struct storm *storm, int fd, int handle,
				int wanted, int *read)
{
	int type = storm_event(storm, fd, handle, read);

	if (type == wanted)
		return true;
	if (type < 0 || type == EV_DEVICE_REMOVAL)
		return false;
	COUNT(storm->failed);
	if (type != EV_ADDR_ERROR && type != EV_ROUTE_ERROR &&
	    type != EV_CONNECT_ERROR && type != EV_UNREACHABLE &&
	    type != EV_REJECTED && type != EV_DISCONNECTED)
		STORM_WRONG(storm, "event %d instead of %d", type, wanted);
	return false;
}

/* As far as it gets; whether there was a connection. */
static inline bool storm_run(struct storm *storm, int fd, int handle, int *read)
{
	struct rcm_conn_param conn = storm_param(storm);
	int ret;

	if (!storm_expect(storm, fd, handle, EV_ADDR_RESOLVED, read) ||
	    !storm_expect(storm, fd, handle, EV_ROUTE_RESOLVED, read) ||
	    !storm_did(storm, "option",
		       set_connect_timeout(fd, handle, STORM_TIMEOUT)))
		return false;
	ret = connect_with(fd, handle, &conn);
	if (storm_could_not_send(fd, handle, ret)) {
		COUNT(storm->refused);
		return false;
	}
	if (!storm_did(storm, "connect", ret) ||
	    !storm_expect(storm, fd, handle, EV_CONNECT_RESPONSE, read))
		return false;
	ret = establish(fd, handle);
	/* The peer, or the address, may have gone in between. */
	if (ret == -EINVAL) {
		COUNT(storm->refused);
		return false;
	}
	if (!storm_did(storm, "establish", ret))
		return false;
	COUNT(storm->established);
	if (storm_did(storm, "disconnect", disconnect(fd, handle)) &&
	    storm_expect(storm, fd, handle, EV_DISCONNECTED, read))
		COUNT(storm->closed);
	return true;
}

/* One connection, from nothing to nothing. */
static inline void storm_connect(struct storm *storm, int fd, const char *host,
				 int port)
{
	int handle, ret, read = 0;
	bool connected = false;

	COUNT(storm->begun);
	handle = resolve_flags(fd, 0, NULL, host, port, 500,
			       RCM_CREATE | RCM_RESOLVE_BOTH);
	if (storm_did(storm, "resolve", handle)) {
		connected = storm_run(storm, fd, handle, &read);
		ret = destroy(fd, handle);
		if (ret != read)
			STORM_WRONG(storm, "destroy says %d, %d events read",
				    ret, read);
	}
	/* One processor has to do the removing, too. */
	if (!connected)
		sleep_ms(100);
}

/* A request, or what became of one. */
static inline void storm_serve_one(struct storm *storm, int fd, int listener,
				   const struct rcm_event *event)
{
	struct rcm_conn_param conn;
	int ret;

	if (event->out_event == EV_CONNECT_REQUEST) {
		conn = storm_param(storm);
		COUNT(storm->served);
		ret = accept_with(fd, event->out_new_handle, 0, &conn);
		if (!ret)
			return;
		/* It may have been taken back, too. */
		if (ret != -EINVAL)
			storm_did(storm, "accept", ret);
		destroy(fd, event->out_new_handle);
		__atomic_fetch_sub(&storm->served, 1, __ATOMIC_RELAXED);
		return;
	}
	if (event->out_event == EV_ESTABLISHED ||
	    event->out_event == EV_TIMEWAIT_EXIT)
		return;
	/* Some of these may follow each other: the first one ends it. */
	if ((int)event->out_handle != listener &&
	    destroy(fd, event->out_handle) >= 0)
		__atomic_fetch_sub(&storm->served, 1, __ATOMIC_RELAXED);
}

/* Takes all requests for @port until the storm is over and all have ended. */
static inline void storm_serve(struct storm *storm, const char *host, int port)
{
	int fd = open_rcm(0), handle = listener(fd, host, port, 0);
	struct rcm_event event;
	long long end = 0;

	if (handle < 0)
		STORM_WRONG(storm, "listen: %s", strerror(-handle));
	while (!end || (COUNTED(storm->served) > 0 && now_ms() < end)) {
		if (!end && IS_SET(storm->stop))
			end = now_ms() + STORM_WAIT;
		if (next_event(fd, &event, 50) >= 0)
			storm_serve_one(storm, fd, handle, &event);
	}
	close(fd);
}

/* A thread that connects until the storm is over. */
struct storm_client {
	struct storm *storm;
	const char *host;
	int port;
	pthread_t thread;
};

static inline void *storm_client(void *arg)
{
	struct storm_client *client = arg;
	int fd = open_rcm(0);

	while (!IS_SET(client->storm->stop))
		storm_connect(client->storm, fd, client->host, client->port);
	close(fd);
	return NULL;
}

/* A process of @threads of them. */
static inline pid_t storm_clients(struct storm *storm, int threads,
				  const char *host, int port)
{
	struct storm_client client[16];
	pid_t pid = fork();
	int i;

	if (pid)
		return pid;
	for (i = 0; i < threads; i++) {
		client[i] = (struct storm_client){
			.storm = storm,
			.host = host,
			.port = port,
		};
		pthread_create(&client[i].thread, NULL, storm_client,
			       &client[i]);
	}
	for (i = 0; i < threads; i++)
		pthread_join(client[i].thread, NULL);
	_exit(0);
}

static inline pid_t storm_server(struct storm *storm, const char *host,
				 int port)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	storm_serve(storm, host, port);
	_exit(0);
}

static inline void storm_print(const struct storm *storm)
{
	printf("# %ld begun, %ld established, %ld closed, %ld lost the device, %ld refused, %ld failed, %ld lost, %ld wrong, %ld served\n",
	       storm->begun, storm->established, storm->closed, storm->removed,
	       storm->refused, storm->failed, storm->lost, storm->wrong,
	       storm->served);
	fflush(stdout);
}

/* --- a storm's processes, with a device of their own */

#define STORM_LINK "d1"
#define STORM_IP   "10.81.0.1"
#define STORM_PORT 7471

enum {
	STORM_SERVER,
	STORM_CLIENTS,
	STORM_PROCESSES = 3
};

/**
 * struct storm_team - the processes of a storm
 * @storm: what they share
 * @pid: of the server, and of two that are clients; 0: it has ended
 */
struct storm_team {
	struct storm *storm;
	pid_t pid[STORM_PROCESSES];
};

static inline bool storm_team_init(struct storm_team *team)
{
	team->storm = shared_memory(sizeof(*team->storm));
	return team->storm && !add_link(STORM_LINK, STORM_IP "/24");
}

/* Each client has so many threads. */
static inline void storm_team_start(struct storm_team *team, int threads)
{
	int i;

	team->pid[STORM_SERVER] =
		storm_server(team->storm, "0.0.0.0", STORM_PORT);
	for (i = STORM_CLIENTS; i < STORM_PROCESSES; i++)
		team->pid[i] = storm_clients(team->storm, threads, STORM_IP,
					     STORM_PORT);
}

/* Whether those from @first on come to their end by themselves; others may not. */
static inline bool storm_team_end(struct storm_team *team, int first)
{
	bool good = true;
	int i, status;

	SET(team->storm->stop, 1);
	for (i = first; i < STORM_PROCESSES; i++) {
		good &= waitpid(team->pid[i], &status, 0) == team->pid[i] &&
			WIFEXITED(status) && !WEXITSTATUS(status);
		team->pid[i] = 0;
	}
	for (i = 0; i < first; i++) {
		kill(team->pid[i], SIGKILL);
		waitpid(team->pid[i], NULL, 0);
		team->pid[i] = 0;
	}
	storm_print(team->storm);
	return good;
}

/* Those that are left, and the device; whether that was all. */
static inline bool storm_team_kill(struct storm_team *team)
{
	int i;

	for (i = 0; i < STORM_PROCESSES; i++) {
		if (team->pid[i] > 0)
			kill(team->pid[i], SIGKILL);
	}
	while (wait(NULL) > 0)
		;
	del_link(STORM_LINK);
	return nothing_left(10000);
}

#endif /* RACE_TEST_H */
