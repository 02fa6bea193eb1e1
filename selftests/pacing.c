// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * suites: check debug
 * timeout: 240 900
 *
 * How many connection requests to one destination are on their way at once,
 * and what becomes of those that wait. On a device of their own.
 */
#include "rcm_test.h"

#include "kselftest_harness.h"

#define LINK	 "d1"
#define LIP	 "10.81.0.1"
#define PORT	 7471
#define OTHER	 7472
#define WAIT	 8000
#define REQUESTS 6
#define PARAM	 "/sys/module/rcm/parameters/"

/* What /sys/kernel/debug/rcm/pacing says of a port of LIP. */
struct pacing {
	unsigned int window;
	unsigned int in_flight;
	unsigned int waiting;
};

/* 0; -ENOENT when nothing was sent there. */
static int pacing_of(int port, struct pacing *to)
{
	FILE *file = fopen("/sys/kernel/debug/rcm/pacing", "r");
	char line[256], dst[64], expected[64];
	int ret = -ENOENT;

	if (!file)
		return -errno;
	snprintf(expected, sizeof(expected), LIP ":%d", port);
	while (ret && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*s %*u %*s %63s %u %u %u", dst, &to->window,
			   &to->in_flight, &to->waiting) == 4 &&
		    !strcmp(dst, expected))
			ret = 0;
	}
	fclose(file);
	return ret;
}

/* A column of pacing_totals, 0 to 3, or -1. */
static long long total_of(int column)
{
	FILE *file = fopen("/sys/kernel/debug/rcm/pacing_totals", "r");
	long long to[4] = { -1, -1, -1, -1 };
	char line[256];

	if (!file)
		return -1;
	if (!fgets(line, sizeof(line), file) ||
	    fscanf(file, "%lld %lld %lld %lld", &to[0], &to[1], &to[2],
		   &to[3]) != 4)
		to[column] = -1;
	fclose(file);
	return to[column];
}

enum {
	WAITED,
	LATE,
	LOST,
	DROPPED
};

FIXTURE(pacing)
{
	int fd;
	int peer_fd;
	int listener;
	int client[REQUESTS];
	int server[REQUESTS];
	struct rcm_event event;
	struct pacing pacing;
	char max[32];
	char delay[32];
};

static int read_param(const char *path, char *to, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t len = fd < 0 ? -1 : read(fd, to, size - 1);

	close(fd);
	to[len > 0 ? len : 0] = 0;
	return len > 0 ? 0 : -1;
}

FIXTURE_SETUP(pacing)
{
	ASSERT_EQ(0, add_link(LINK, LIP "/24"));
	ASSERT_EQ(0,
		  read_param(PARAM "pace_max", self->max, sizeof(self->max)));
	ASSERT_EQ(0, read_param(PARAM "pace_delay_ms", self->delay,
				sizeof(self->delay)));
	ASSERT_EQ(0, write_file(PARAM "pace_max", "2"));
	ASSERT_EQ(0, write_file(PARAM "pace_delay_ms", "60000"));
	self->fd = open_rcm(0);
	ASSERT_LE(0, self->fd);
	self->peer_fd = open_rcm(0);
	ASSERT_LE(0, self->peer_fd);
	self->listener = listener(self->peer_fd, LIP, PORT, 0);
	ASSERT_LT(0, self->listener);
}

FIXTURE_TEARDOWN(pacing)
{
	close(self->fd);
	close(self->peer_fd);
	EXPECT_EQ(0, write_file(PARAM "pace_max", self->max));
	EXPECT_EQ(0, write_file(PARAM "pace_delay_ms", self->delay));
	del_link(LINK);
	EXPECT_TRUE(nothing_left(5000));
}

/* All of them ask, in their order; private data says which it is. */
static int ask_all(int fd, int port, int *client)
{
	unsigned char number;
	int ret;

	for (number = 0; number < REQUESTS; number++) {
		client[number] = ready_to_connect(fd, LIP, port);
		if (client[number] < 0)
			return client[number];
		ret = connect_data(fd, client[number], &number, 1);
		if (ret)
			return ret;
	}
	return 0;
}

/* Which one's request is read next; its identifier is kept. */
#define NEXT_REQUEST()                                                    \
	({                                                                \
		ASSERT_EQ(EV_CONNECT_REQUEST,                             \
			  next_event(self->peer_fd, &self->event, WAIT)); \
		self->server[self->event.out_conn.private_data[0]] =      \
			self->event.out_new_handle;                       \
		(int)self->event.out_conn.private_data[0];                \
	})

/* The next two, which may have overtaken each other. */
#define NEXT_TWO(first)                                     \
	do {                                                \
		int sum_ = NEXT_REQUEST() + NEXT_REQUEST(); \
                                                            \
		ASSERT_EQ(2 * (first) + 1, sum_);           \
	} while (0)

#define EXPECT_PACING(flying, waits)                                       \
	do {                                                               \
		EXPECT_EQ(0, pacing_of(PORT, &self->pacing));              \
		EXPECT_EQ((unsigned int)(flying), self->pacing.in_flight); \
		EXPECT_EQ((unsigned int)(waits), self->pacing.waiting);    \
	} while (0)

/* Two went out, the others wait. */
#define ASK_ALL()                                                        \
	do {                                                             \
		ASSERT_EQ(0, ask_all(self->fd, PORT, self->client));     \
		NEXT_TWO(0);                                             \
		EXPECT_EQ(-ETIME, next_event(self->peer_fd, NULL, 300)); \
		EXPECT_PACING(2, REQUESTS - 2);                          \
	} while (0)

#define REJECT(number)                                                        \
	do {                                                                  \
		ASSERT_EQ(0, reject(self->peer_fd, self->server[number], 0,   \
				    NULL, 0));                                \
		ASSERT_EQ(EV_REJECTED,                                        \
			  next_event(self->fd, &self->event, WAIT));          \
		EXPECT_EQ(self->client[number], (int)self->event.out_handle); \
	} while (0)

TEST_F(pacing, answers_let_those_go_that_wait_in_their_order)
{
	long long waited = total_of(WAITED);
	int i;

	ASK_ALL();
	EXPECT_EQ(RCM_STATE_REQ_SENT, state_of(self->fd, self->client[5]));
	EXPECT_EQ(waited + REQUESTS - 2, total_of(WAITED));
	for (i = 0; i < REQUESTS; i++) {
		ASSERT_EQ(0,
			  accept_data(self->peer_fd, self->server[i], NULL, 0));
		ASSERT_EQ(EV_CONNECT_RESPONSE,
			  next_event(self->fd, &self->event, WAIT));
		ASSERT_EQ(self->client[i], (int)self->event.out_handle);
		if (i + 2 < REQUESTS)
			ASSERT_EQ(i + 2, NEXT_REQUEST());
	}
	for (i = 0; i < REQUESTS; i++) {
		ASSERT_EQ(0, establish(self->fd, self->client[i]));
		ASSERT_EQ(EV_ESTABLISHED,
			  next_event(self->peer_fd, NULL, WAIT));
	}
	EXPECT_PACING(0, 0);
}

/* A quarter of what may be on its way. */
TEST_F(pacing, several_go_at_once)
{
	int more[REQUESTS], i;

	ASSERT_EQ(0, write_file(PARAM "pace_max", "8"));
	ASSERT_EQ(0, ask_all(self->fd, PORT, self->client));
	ASSERT_EQ(0, ask_all(self->fd, PORT, more));
	for (i = 0; i < 8; i++)
		NEXT_REQUEST();
	EXPECT_PACING(8, 4);
	REJECT(2);
	EXPECT_EQ(-ETIME, next_event(self->peer_fd, NULL, 300));
	EXPECT_PACING(7, 4);
	REJECT(3);
	NEXT_REQUEST();
	NEXT_REQUEST();
	EXPECT_PACING(8, 2);
}

TEST_F(pacing, another_service_is_not_waited_for)
{
	int fd = open_rcm(0), other, peer;

	ASSERT_LE(0, fd);
	ASK_ALL();
	ASSERT_LT(0, listener(fd, LIP, OTHER, 0));
	other = ready_to_connect(self->fd, LIP, OTHER);
	ASSERT_LT(0, other);
	ASSERT_EQ(0, connect_data(self->fd, other, NULL, 0));
	ASSERT_EQ(EV_CONNECT_REQUEST, next_event(fd, &self->event, 2000));
	peer = self->event.out_new_handle;
	ASSERT_EQ(0, reject(fd, peer, 0, NULL, 0));
	ASSERT_EQ(EV_REJECTED, next_event(self->fd, &self->event, WAIT));
	EXPECT_EQ(other, (int)self->event.out_handle);
	EXPECT_PACING(2, REQUESTS - 2);
	close(fd);
}

/* A process that asks, and says so when it did. */
static pid_t ask_in_child(int done)
{
	unsigned char number = REQUESTS;
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	fd = open_rcm(0);
	if (!connect_data(fd, ready_to_connect(fd, LIP, PORT), &number, 1) &&
	    write(done, "", 1) == 1)
		pause();
	_exit(1);
}

TEST_F(pacing, each_process_has_its_turn)
{
	int pipe_fd[2], theirs = 0, i;
	pid_t pid[3];
	char done;

	ASK_ALL();
	ASSERT_EQ(0, pipe(pipe_fd));
	/* More than one, as one of sixteen would share our queue. */
	for (i = 0; i < 3; i++) {
		pid[i] = ask_in_child(pipe_fd[1]);
		ASSERT_LT(0, pid[i]);
		ASSERT_EQ(1, read(pipe_fd[0], &done, 1));
	}
	EXPECT_PACING(2, REQUESTS - 2 + 3);

	/* Of the next two at least one is not ours, though ours came first. */
	for (i = 0; i < 2; i++) {
		REJECT(i);
		ASSERT_EQ(EV_CONNECT_REQUEST,
			  next_event(self->peer_fd, &self->event, WAIT));
		theirs += self->event.out_conn.private_data[0] == REQUESTS;
	}
	EXPECT_LE(1, theirs);

	for (i = 0; i < 3; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	close(pipe_fd[0]);
	close(pipe_fd[1]);
}

TEST_F(pacing, one_that_waits_can_be_destroyed)
{
	long long dropped = total_of(DROPPED);

	ASK_ALL();
	/* Only the two events of its way were read. */
	EXPECT_EQ(2, destroy(self->fd, self->client[2]));
	EXPECT_PACING(2, REQUESTS - 3);
	EXPECT_EQ(dropped + 1, total_of(DROPPED));
	REJECT(0);
	ASSERT_EQ(3, NEXT_REQUEST());
	/* One on its way makes room, too. */
	EXPECT_EQ(2, destroy(self->fd, self->client[1]));
	ASSERT_EQ(4, NEXT_REQUEST());
	EXPECT_PACING(2, 1);
}

TEST_F(pacing, a_file_is_closed_with_all_that_wait)
{
	ASK_ALL();
	close(self->fd);
	self->fd = open_rcm(0);
	EXPECT_EQ(0, pacing_of(PORT, &self->pacing));
	EXPECT_EQ(0U, self->pacing.in_flight + self->pacing.waiting);
	EXPECT_EQ(2 + 1, live_ids());
}

/* One more, that gives up after @ms. */
static int ask_for(int fd, __u32 ms)
{
	int handle = ready_to_connect(fd, LIP, PORT);

	return set_own_option(fd, handle, RCM_OPTION_CONNECT_TIMEOUT, ms) ?:
		       connect_data(fd, handle, NULL, 0)		  ?:
		       handle;
}

TEST_F(pacing, the_time_that_was_asked_for_counts_from_the_call)
{
	long long start, lost = total_of(LOST);
	int late;

	ASK_ALL();
	start = now_ms();
	late = ask_for(self->fd, 700);
	ASSERT_LT(0, late);
	ASSERT_EQ(EV_UNREACHABLE, next_event(self->fd, &self->event, WAIT));
	EXPECT_EQ(late, (int)self->event.out_handle);
	EXPECT_EQ(-ETIMEDOUT, self->event.out_status);
	EXPECT_LE(690, now_ms() - start);
	EXPECT_EQ(lost, total_of(LOST));
	EXPECT_PACING(2, REQUESTS - 2);

	/* It goes on with the others. */
	REJECT(0);
	ASSERT_EQ(2, NEXT_REQUEST());
}

/* It may wait until all have asked, or be gone: then nothing is gained. */
TEST_F(pacing, while_the_peer_is_silent_more_are_sent)
{
	long long start = now_ms();
	int i, sum = 0;

	ASSERT_EQ(0, write_file(PARAM "pace_delay_ms", "400"));
	ASSERT_EQ(0, ask_all(self->fd, PORT, self->client));
	for (i = 0; i < REQUESTS; i++)
		sum += NEXT_REQUEST();
	EXPECT_EQ(REQUESTS * (REQUESTS - 1) / 2, sum);
	EXPECT_LE(390, now_ms() - start);
	EXPECT_PACING(REQUESTS, 0);

	/* That was not for ever. */
	ASSERT_EQ(0, write_file(PARAM "pace_delay_ms", "60000"));
	for (i = 0; i < REQUESTS - 2; i++)
		REJECT(i);
	ASSERT_EQ(0, ask_all(self->fd, PORT, self->client));
	EXPECT_PACING(2, REQUESTS);
}

TEST_F(pacing, a_disconnect_does_not_end_the_wait)
{
	ASK_ALL();
	EXPECT_EQ(0, disconnect(self->fd, self->client[2]));
	EXPECT_PACING(2, REQUESTS - 2);
	REJECT(0);
	ASSERT_EQ(2, NEXT_REQUEST());
}

TEST_F(pacing, private_data_and_queue_pair_are_those_of_the_call)
{
	struct rcm_conn_param conn = conn_param("whatever", 8);
	int handle, i;

	ASK_ALL();
	handle = ready_to_connect(self->fd, LIP, PORT);
	ASSERT_LT(0, handle);
	conn.private_data[0] = 5;
	conn.qp_num = 0xabcdef;
	ASSERT_EQ(0, connect_with(self->fd, handle, &conn));
	memset(&conn, POISON, sizeof(conn));
	for (i = 0; i < 4; i++) {
		REJECT(i);
		ASSERT_EQ(i + 2, NEXT_REQUEST());
	}
	REJECT(4);
	ASSERT_EQ(5, NEXT_REQUEST());
	EXPECT_EQ(0, memcmp("\5hatever", self->event.out_conn.private_data, 8));
	EXPECT_EQ(0xabcdefU, self->event.out_conn.qp_num);
}

/* C64: the device goes, under those that wait and those that do not. */
TEST_F_TIMEOUT(pacing, C64_the_device_goes, 60)
{
	int type, told = 0;

	ASK_ALL();
	ASSERT_EQ(0, sh("timeout 20 rdma link del x" LINK));
	/* The two that were sent may hear of the other side first. */
	while ((type = next_event(self->fd, &self->event, 200)) >= 0) {
		if (type == EV_REJECTED)
			continue;
		ASSERT_EQ(EV_DEVICE_REMOVAL, type);
		EXPECT_EQ(-ENODEV,
			  connect_data(self->fd, self->event.out_handle, NULL,
				       0));
		told++;
	}
	EXPECT_EQ(-ETIME, type);
	EXPECT_EQ(REQUESTS, told);
	/* Nothing else was sent. */
	while ((type = next_event(self->peer_fd, &self->event, 200)) >= 0)
		EXPECT_NE(EV_CONNECT_REQUEST, type);
	EXPECT_EQ(-ENOENT, pacing_of(PORT, &self->pacing));
}

TEST_F(pacing, the_window_grows_with_the_answers_and_keeps_to_its_limit)
{
	int i, sum = 0, client[REQUESTS];

	ASK_ALL();
	EXPECT_EQ(2U, self->pacing.window);
	ASSERT_EQ(0, write_file(PARAM "pace_max", "3"));
	REJECT(0);
	NEXT_TWO(2);
	EXPECT_PACING(3, 2);
	EXPECT_EQ(3U, self->pacing.window);

	/* Without limit nothing waits. */
	ASSERT_EQ(0, write_file(PARAM "pace_max", "0"));
	REJECT(1);
	NEXT_TWO(4);
	ASSERT_EQ(0, ask_all(self->fd, PORT, client));
	for (i = 0; i < REQUESTS; i++)
		sum += NEXT_REQUEST();
	EXPECT_EQ(REQUESTS * (REQUESTS - 1) / 2, sum);
	EXPECT_PACING(4, 0);
}

TEST_HARNESS_MAIN
