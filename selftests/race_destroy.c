// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * rigs: uml vmdebug
 * suites: check debug
 * timeout: 300 1200
 *
 * An identifier is destroyed while an operation on it begins, runs or ends:
 * each kind of operation, at any moment of it. Afterwards no event of it comes,
 * and destroy knew how many had been read.
 */
#include "race_test.h"

#include "kselftest_harness.h"

#define LINK   "d1"
#define LIP    "10.81.0.1"
#define DEAD   "10.81.0.9"
#define GROUP  "239.1.1.9"
#define PORT   7471
#define WAIT   30000
#define LEAST  6 /* rounds of each operation */
#define GROUPS 8

/* What the three threads of a round share. */
struct round {
	int fd;	     /* of the identifier */
	int peer_fd; /* of whoever it deals with */
	int third_fd;
	int handle;
	unsigned int dice[3];
	const struct pending *pending;
	pthread_barrier_t barrier;
	bool over;     /* there are no more rounds */
	int destroyed; /* what destroy returned */
	int done;      /* threads that are ready with this one */
	int read;      /* events of the identifier */
	int late;      /* of these, asked for after it was destroyed */
	long hits;     /* destroyed before the operation ended with success */
};

/**
 * struct pending - an operation to be destroyed under
 * @name: what it is
 * @prepare: makes the identifier; its handle, or a negative errno
 * @start: the operation; 0 or a negative errno
 */
struct pending {
	const char *name;
	int (*prepare)(struct round *round);
	int (*start)(struct round *round);
};

/* --- how far it has come before */

static int make(struct round *round)
{
	return create_tcp(round->fd);
}

static int make_bound(struct round *round)
{
	int handle = create_tcp(round->fd);

	return bind_text(round->fd, handle, IP4, 0) ?: handle;
}

static int make_datagram(struct round *round)
{
	int handle = create(round->fd, 0, PS_UDP);

	return bind_text(round->fd, handle, IP4, 0) ?: handle;
}

/* The next event of the identifier, which has to be this one. */
static int expect(struct round *round, int fd, int type,
		  struct rcm_event *event)
{
	int ret = next_event(fd, event, WAIT);

	if (ret >= 0 && fd == round->fd)
		round->read++;
	return ret == type ? 0 : ret < 0 ? ret : -EPROTO;
}

static int make_addr_resolved(struct round *round)
{
	int handle = create_tcp(round->fd);

	return resolve(round->fd, handle, NULL, IP4, PORT, 1000)	?:
		       expect(round, round->fd, EV_ADDR_RESOLVED, NULL) ?:
									  handle;
}

static int make_ready(struct round *round, const char *host)
{
	int handle = create_tcp(round->fd);

	return resolve_flags(round->fd, handle, NULL, host, PORT, 1000, RCM_RESOLVE_BOTH) ?:
		       expect(round, round->fd, EV_ADDR_RESOLVED, NULL)	 ?:
		       expect(round, round->fd, EV_ROUTE_RESOLVED, NULL) ?:
									   handle;
}

static int make_client(struct round *round)
{
	int server = listener(round->peer_fd, IP4, PORT, 0);

	return server < 0 ? server : make_ready(round, IP4);
}

static int make_client_of_nobody(struct round *round)
{
	int handle = make_ready(round, IP4_NOBODY);

	return set_connect_timeout(round->fd, handle, 1 + roll(&round->dice[0], 10)) ?:
		       handle;
}

/* One that the peer has accepted. */
static int make_accepted(struct round *round)
{
	int handle = make_client(round);
	struct rcm_event event;

	return connect_data(round->fd, handle, NULL, 0) ?:
		       expect(round, round->peer_fd, EV_CONNECT_REQUEST, &event) ?:
		       accept_data(round->peer_fd, event.out_new_handle, NULL, 0) ?:
		       expect(round, round->fd, EV_CONNECT_RESPONSE, NULL) ?:
		       handle;
}

static int make_connected(struct round *round)
{
	int handle = make_accepted(round);

	return establish(round->fd, handle)				   ?:
		       expect(round, round->peer_fd, EV_ESTABLISHED, NULL) ?:
		       handle;
}

/* A request of the peer's. */
static int make_requested(struct round *round)
{
	int server = listener(round->third_fd, IP4, PORT, 0);
	int client = ready_to_connect(round->peer_fd, IP4, PORT);
	struct rcm_event event;
	int ret;

	ret = server < 0 ? server :
			   connect_data(round->peer_fd, client, NULL, 0);
	ret = ret ?: expect(round, round->third_fd, EV_CONNECT_REQUEST, &event);
	/* Alone in its file, as all of them are. */
	return ret   ?:
		       migrate(round->third_fd, event.out_new_handle, round->fd,
			       NULL);
}

/* Of so many groups that leaving them all takes a while. */
static int make_member(struct round *round)
{
	int i, ret = 0, handle = make_datagram(round);
	char group[INET_ADDRSTRLEN];

	for (i = 1; i <= GROUPS && !ret; i++) {
		snprintf(group, sizeof(group), "239.1.2.%d", i);
		ret = join_group(round->fd, handle, group, i) ?:
			      expect(round, round->fd, EV_MULTICAST_JOIN, NULL);
	}
	return ret ?: handle;
}

/* --- operations */

static int start_bind(struct round *round)
{
	return bind_text(round->fd, round->handle,
			 roll(&round->dice[0], 2) ? IP4 : "0.0.0.0", 0);
}

static int start_resolve(struct round *round)
{
	return resolve(round->fd, round->handle, NULL, IP4, PORT, 1000);
}

static int start_resolve_both(struct round *round)
{
	return resolve_flags(round->fd, round->handle, NULL, IP6, PORT, 1000,
			     RCM_RESOLVE_BOTH);
}

static int start_resolve_dead(struct round *round)
{
	return resolve(round->fd, round->handle, NULL, DEAD, PORT,
		       roll(&round->dice[0], 4));
}

static int start_route(struct round *round)
{
	return resolve_route(round->fd, round->handle);
}

static int start_connect(struct round *round)
{
	return connect_data(round->fd, round->handle, "x", 1);
}

static int start_accept(struct round *round)
{
	return accept_data(round->fd, round->handle, "x", 1);
}

static int start_reject(struct round *round)
{
	return reject(round->fd, round->handle, 0, "x", 1);
}

static int start_establish(struct round *round)
{
	return establish(round->fd, round->handle);
}

static int start_disconnect(struct round *round)
{
	return disconnect(round->fd, round->handle);
}

/* It is the peer who ends it. */
static int start_peer_ends(struct round *round)
{
	close(round->peer_fd);
	round->peer_fd = open_rcm(0);
	return round->peer_fd < 0 ? round->peer_fd : 0;
}

static int start_listen(struct round *round)
{
	return listen_on(round->fd, round->handle, 4);
}

static int start_join(struct round *round)
{
	return join_group(round->fd, round->handle, GROUP, 1);
}

static int start_join_and_leave(struct round *round)
{
	return start_join(round) ?: leave_group(round->fd, round->handle, 1);
}

/* From the last on, as destroying takes the first ones first. */
static int start_leave_all(struct round *round)
{
	int number, ret = 0;

	for (number = GROUPS; number && !ret; number--)
		ret = leave_group(round->fd, round->handle, number);
	return ret;
}

static int start_query(struct round *round)
{
	struct rcm_query arg;
	int i, ret = 0;

	for (i = 0; i < 20 && !ret; i++)
		ret = query(round->fd, round->handle, &arg);
	return ret;
}

static int start_migrate(struct round *round)
{
	int there = migrate(round->fd, round->handle, round->third_fd, NULL);

	if (there < 0)
		return there;
	destroy(round->third_fd, there);
	return 0;
}

static int start_write(struct round *round)
{
	struct rcm_write_event arg = {
		.size = sizeof(arg),
		.handle = round->handle,
		.event = RCM_EVENT_USER,
	};

	return call(round->fd, RCM_WRITE_EVENT, &arg) ?:
		       call(round->fd, RCM_WRITE_EVENT, &arg);
}

static const struct pending operations[] = {
	{ "bind", make, start_bind },
	{ "resolve", make, start_resolve },
	{ "resolve both", make, start_resolve_both },
	{ "resolve a dead neighbour", make, start_resolve_dead },
	{ "resolve route", make_addr_resolved, start_route },
	{ "connect", make_client, start_connect },
	{ "connect to nobody", make_client_of_nobody, start_connect },
	{ "accept", make_requested, start_accept },
	{ "reject", make_requested, start_reject },
	{ "request taken back", make_requested, start_peer_ends },
	{ "establish", make_accepted, start_establish },
	{ "disconnect", make_connected, start_disconnect },
	{ "disconnected", make_connected, start_peer_ends },
	{ "listen", make_bound, start_listen },
	{ "listen on all", make, start_listen },
	{ "join", make_datagram, start_join },
	{ "join and leave", make_datagram, start_join_and_leave },
	{ "leave", make_member, start_leave_all },
	{ "query", make_connected, start_query },
	{ "migrate", make, start_migrate },
	{ "write event", make, start_write },
};

/* --- the threads */

static void *operate(void *arg)
{
	struct round *round = arg;

	for (;;) {
		pthread_barrier_wait(&round->barrier);
		if (round->over)
			return NULL;
		short_while(&round->dice[0]);
		if (round->pending->start(round) < 0)
			round->hits++;
		SET(round->done, IS_SET(round->done) + 1);
		pthread_barrier_wait(&round->barrier);
	}
}

static void one_event(struct round *round, struct rcm_event *event)
{
	bool late = IS_SET(round->destroyed) != -EINPROGRESS;

	if (next_event(round->fd, event, 0) < 0)
		return;
	if ((int)event->out_handle != round->handle)
		return;
	round->read++;
	round->late += late;
}

/* Reads as fast as it can, and takes requests at the other end. */
static void *read_events(void *arg)
{
	struct round *round = arg;
	struct rcm_event event;

	for (;;) {
		pthread_barrier_wait(&round->barrier);
		if (round->over)
			return NULL;
		do {
			one_event(round, &event);
			if (round->pending->start == start_peer_ends ||
			    next_event(round->peer_fd, &event, 0) !=
				    EV_CONNECT_REQUEST)
				continue;
			if (roll(&round->dice[2], 2))
				accept_data(round->peer_fd,
					    event.out_new_handle, NULL, 0);
			else
				destroy(round->peer_fd, event.out_new_handle);
		} while (!IS_SET(round->done) ||
			 IS_SET(round->destroyed) == -EINPROGRESS);
		pthread_barrier_wait(&round->barrier);
	}
}

FIXTURE(destroyed)
{
	struct round round;
	pthread_t thread[2];
};

FIXTURE_SETUP(destroyed)
{
	int i;

	ASSERT_EQ(0, add_link(LINK, LIP "/24"));
	for (i = 0; i < 3; i++)
		self->round.dice[i] = new_dice(i);
	ASSERT_EQ(0, pthread_barrier_init(&self->round.barrier, NULL, 3));
	ASSERT_EQ(0, pthread_create(&self->thread[0], NULL, operate,
				    &self->round));
	ASSERT_EQ(0, pthread_create(&self->thread[1], NULL, read_events,
				    &self->round));
}

FIXTURE_TEARDOWN(destroyed)
{
	int i;

	self->round.over = true;
	pthread_barrier_wait(&self->round.barrier);
	for (i = 0; i < 2; i++)
		pthread_join(self->thread[i], NULL);
	del_link(LINK);
	EXPECT_TRUE(nothing_left(10000));
}

static int play(struct round *round)
{
	struct rcm_event event;

	round->fd = open_rcm(0);
	round->peer_fd = open_rcm(0);
	round->third_fd = open_rcm(0);
	round->read = round->late = round->done = 0;
	round->destroyed = -EINPROGRESS;
	round->handle = round->pending->prepare(round);
	if (round->handle < 0)
		return round->handle;

	pthread_barrier_wait(&round->barrier);
	short_while(&round->dice[1]);
	SET(round->destroyed, destroy(round->fd, round->handle));
	pthread_barrier_wait(&round->barrier);

	/* Nothing comes any more. */
	one_event(round, &event);
	close(round->fd);
	close(round->peer_fd);
	close(round->third_fd);
	return 0;
}

TEST_F_TIMEOUT(destroyed, C31_while_any_operation_is_under_way, 1150)
{
	struct round *round = &self->round;
	unsigned int i, rounds;

	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		long long end = now_ms() + share(600, 20000);

		round->pending = &operations[i];
		round->hits = 0;
		for (rounds = 0; go_on(rounds, LEAST, end); rounds++) {
			ASSERT_EQ(0, play(round))
			{
				TH_LOG("%s, round %u", round->pending->name,
				       rounds);
			}
			EXPECT_EQ(0, round->late)
			{
				TH_LOG("%s, round %u", round->pending->name,
				       rounds);
			}
			/* Unless it had moved away. */
			if (round->pending->start == start_migrate &&
			    round->destroyed == -ENOENT)
				continue;
			ASSERT_EQ(round->read, round->destroyed)
			{
				TH_LOG("%s, round %u", round->pending->name,
				       rounds);
			}
		}
		TH_LOG("%s: %u rounds, %ld times before it ended",
		       round->pending->name, rounds, round->hits);
	}
}

TEST_HARNESS_MAIN
