// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * rigs: uml vmdebug
 * suites: check debug
 * timeout: 300 900
 *
 * Listeners come, move and go under a flood of requests: whoever asks gets one
 * answer in his time.
 */
#include "race_test.h"

#include "kselftest_harness.h"

#define PORT	7471
#define TIMEOUT 2000 /* of a connect, milliseconds */

/**
 * struct flood - in memory that all processes share
 * @stop: no new requests
 * @qp_num: last number of a queue pair
 * @sent: requests
 * @accepted: how they ended
 * @rejected: likewise
 * @unreachable: likewise
 * @none: no answer at all
 * @twice: more than one
 * @late: answer long after its time
 * @wrong: anything else
 * @listeners: that came and went
 * @read: requests that one of them read
 */
struct flood {
	int stop;
	unsigned int qp_num;
	long sent;
	long accepted;
	long rejected;
	long unreachable;
	long none;
	long twice;
	long late;
	long wrong;
	long listeners;
	long read;
};

static void answered(struct flood *flood, int type)
{
	switch (type) {
	case EV_CONNECT_RESPONSE:
		COUNT(flood->accepted);
		break;
	case EV_REJECTED:
		COUNT(flood->rejected);
		break;
	case EV_UNREACHABLE:
		COUNT(flood->unreachable);
		break;
	case -ETIME:
		COUNT(flood->none);
		break;
	default:
		COUNT(flood->wrong);
	}
}

static void ask(struct flood *flood, int fd, int port)
{
	int client = ready_to_connect(fd, IP4, port), type;
	struct rcm_conn_param conn = conn_param(NULL, 0);
	long long start = now_ms();

	conn.qp_num = 1 + COUNT(flood->qp_num) % 0xfffff0;
	if (client < 0 || set_connect_timeout(fd, client, TIMEOUT) ||
	    connect_with(fd, client, &conn)) {
		COUNT(flood->wrong);
		destroy(fd, client);
		return;
	}
	COUNT(flood->sent);
	type = next_event(fd, NULL, TIMEOUT + 30000);
	answered(flood, type);
	/* On a busy machine threads wait for their turn, too. */
	if (now_ms() - start > TIMEOUT + 10000)
		COUNT(flood->late);
	/* Where the listener goes after it had accepted, that is the second. */
	type = next_event(fd, NULL, 0);
	if (type >= 0 && type != EV_DISCONNECTED && type != EV_REJECTED)
		COUNT(flood->twice);
	if (destroy(fd, client) < 0)
		COUNT(flood->wrong);
}

static pid_t flood_from_process(struct flood *flood, int number)
{
	unsigned int dice = new_dice(number);
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	fd = open_rcm(0);
	while (!IS_SET(flood->stop))
		ask(flood, fd, PORT + roll(&dice, 2));
	close(fd);
	_exit(0);
}

struct host {
	struct flood *flood;
	int number;
	pthread_t thread;
};

static void take_requests(struct host *host, int fd, unsigned int *dice)
{
	struct rcm_event event;
	int i;

	for (i = roll(dice, 6); i > 0; i--) {
		if (next_event(fd, &event, 2) != EV_CONNECT_REQUEST)
			continue;
		COUNT(host->flood->read);
		switch (roll(dice, 3)) {
		case 0:
			accept_data(fd, event.out_new_handle, NULL, 0);
			break;
		case 1:
			reject(fd, event.out_new_handle, 0, NULL, 0);
			break;
		default:
			destroy(fd, event.out_new_handle);
		}
	}
}

/* A listener's whole life, again and again; each ends in another way. */
static void *host(void *arg)
{
	struct host *host = arg;
	unsigned int dice = new_dice(50 + host->number);

	while (!IS_SET(host->flood->stop)) {
		int fd = open_rcm(0), other = open_rcm(0);
		int handle = listener(fd, roll(&dice, 2) ? IP4 : "0.0.0.0",
				      PORT + host->number, roll(&dice, 4));

		if (handle < 0)
			COUNT(host->flood->wrong);
		take_requests(host, fd, &dice);
		if (roll(&dice, 2)) {
			handle = migrate(fd, handle, other, NULL);
			if (handle < 0)
				COUNT(host->flood->wrong);
			take_requests(host, other, &dice);
			if (roll(&dice, 2))
				destroy(other, handle);
		} else if (roll(&dice, 2)) {
			destroy(fd, handle);
		}
		close(fd);
		close(other);
		COUNT(host->flood->listeners);
	}
	return NULL;
}

FIXTURE(flood)
{
	struct flood *flood;
};

FIXTURE_SETUP(flood)
{
	self->flood = shared_memory(sizeof(*self->flood));
	ASSERT_NE(NULL, self->flood);
}

FIXTURE_TEARDOWN(flood)
{
	EXPECT_TRUE(nothing_left(10000));
}

TEST_F_TIMEOUT(flood, C05_each_request_is_answered_once, 600)
{
	struct flood *flood = self->flood;
	struct host hosts[2] = {};
	pid_t pid[6];
	int i, status;

	for (i = 0; i < 6; i++)
		pid[i] = flood_from_process(flood, i);
	for (i = 0; i < 2; i++) {
		hosts[i].flood = flood;
		hosts[i].number = i;
		pthread_create(&hosts[i].thread, NULL, host, &hosts[i]);
	}
	sleep_ms(share(4000, 120000));
	SET(flood->stop, 1);
	for (i = 0; i < 2; i++)
		pthread_join(hosts[i].thread, NULL);
	for (i = 0; i < 6; i++) {
		ASSERT_EQ(pid[i], waitpid(pid[i], &status, 0));
		EXPECT_EQ(0, status);
	}
	TH_LOG("%ld requests: %ld accepted, %ld rejected, %ld unreachable; %ld listeners",
	       flood->sent, flood->accepted, flood->rejected,
	       flood->unreachable, flood->listeners);
	EXPECT_EQ(0, flood->none);
	EXPECT_EQ(0, flood->twice);
	EXPECT_EQ(0, flood->late);
	EXPECT_EQ(0, flood->wrong);
	EXPECT_EQ(flood->sent,
		  flood->accepted + flood->rejected + flood->unreachable);
	EXPECT_LT(0, flood->accepted);
	EXPECT_LT(0, flood->rejected);
	EXPECT_LT(10, flood->listeners);
	EXPECT_LT(10, flood->read);
}

TEST_HARNESS_MAIN
