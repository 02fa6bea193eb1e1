// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * rigs: uml vmdebug
 * suites: check debug
 * timeout: 300 900
 *
 * Identifiers move from file to file while events are queued for them, read,
 * and files closed (C51): none is lost, none comes twice, those of one
 * identifier come in order, and the numbers that moving and destroying return
 * add up.
 */
#include "race_test.h"

#include "kselftest_harness.h"

#define PORT  7471
#define FILES 3
#define IDS   4
#define MAX   (1 << 20) /* events of an identifier */
#define WAIT  30000

/**
 * struct mover - an identifier on its way
 * @file: index of the file that it is in, or was a moment ago
 * @handle: in that file
 * @written: events of it, numbered from 1
 * @seen: how often each was read
 * @reported: by moving and destroying it
 * @read: events, of any kind
 */
struct mover {
	pthread_mutex_t lock; /* of file and handle, which belong together */
	int file;
	int handle;
	unsigned long written;
	unsigned char *seen;
	long reported;
	long read;
};

struct moves {
	int stop;
	int quiet; /* readers end when nothing comes any more */
	int fd[FILES];
	struct mover id[IDS];
	long moved;
	long twice;
	long order;
	long strange;
	long requests_sent;
	long requests_read;
	long rejections;
};

static struct moves moves;

struct reader {
	int file;
	unsigned long last[IDS]; /* number of the last event read here */
	pthread_t thread;
};

static void get_place(struct mover *id, int *file, int *handle)
{
	pthread_mutex_lock(&id->lock);
	*file = id->file;
	*handle = id->handle;
	pthread_mutex_unlock(&id->lock);
}

/* One thread alone moves an identifier, the others come too late at times. */
static void *move(void *arg)
{
	unsigned int dice = new_dice(100 + (long)arg);
	int number = (long)arg;
	struct mover *id = &moves.id[number];

	while (!IS_SET(moves.stop)) {
		int to = roll(&dice, FILES), file, handle, there, reported;

		get_place(id, &file, &handle);
		there = migrate(moves.fd[file], handle, moves.fd[to],
				&reported);
		if (there < 0) {
			COUNT(moves.strange);
			continue;
		}
		pthread_mutex_lock(&id->lock);
		id->file = to;
		id->handle = there;
		pthread_mutex_unlock(&id->lock);
		/* To the same file nothing is moved, and the count goes on. */
		if (to != file) {
			id->reported += reported;
			COUNT(moves.moved);
		}
		short_while(&dice);
	}
	return NULL;
}

/* Numbered events; again when the identifier has just moved away. */
static void *write_events(void *arg)
{
	unsigned int dice = new_dice(200 + (long)arg);
	struct mover *id = &moves.id[(long)arg];
	struct rcm_write_event event = {
		.size = sizeof(event),
		.event = RCM_EVENT_USER,
		.arg = 1,
	};
	int file, ret;

	while (!IS_SET(moves.stop) && event.arg < MAX) {
		get_place(id, &file, (int *)&event.handle);
		ret = call(moves.fd[file], RCM_WRITE_EVENT, &event);
		if (!ret) {
			id->written = event.arg++;
			if (!roll(&dice, 8))
				short_while(&dice);
		} else if (ret == -ENOBUFS) {
			usleep(100);
		} else if (ret != -ENOENT) {
			COUNT(moves.strange);
		}
	}
	return NULL;
}

static void note_event(struct reader *reader, const struct rcm_event *event)
{
	unsigned long number;
	struct mover *id;

	if (event->out_uid >= IDS) {
		COUNT(moves.strange);
		return;
	}
	id = &moves.id[event->out_uid];
	COUNT(id->read);
	if (event->out_event == EV_CONNECT_REQUEST) {
		COUNT(moves.requests_read);
		/* It belongs to this file and to no other. */
		if (destroy(moves.fd[reader->file], event->out_new_handle) < 0)
			COUNT(moves.strange);
		return;
	}
	if (event->out_event != RCM_EVENT_USER) {
		COUNT(moves.strange);
		return;
	}
	memcpy(&number, event->out_conn.private_data, sizeof(number));
	if (number >= MAX ||
	    __atomic_fetch_add(&id->seen[number], 1, __ATOMIC_RELAXED))
		COUNT(moves.twice);
	if (number <= reader->last[event->out_uid])
		COUNT(moves.order);
	reader->last[event->out_uid] = number;
}

static void *read_file(void *arg)
{
	struct reader *reader = arg;
	struct rcm_event event;
	int type;

	for (;;) {
		type = next_event(moves.fd[reader->file], &event, 20);
		if (type >= 0)
			note_event(reader, &event);
		else if (type != -ETIME)
			COUNT(moves.strange);
		else if (IS_SET(moves.quiet))
			return NULL;
	}
}

/* Requests for the listeners among them, each of which is rejected once. */
static void *ask(void *arg)
{
	int fd = open_rcm(0), client;
	unsigned int i;

	(void)arg;
	for (i = 0; !IS_SET(moves.stop); i++) {
		client = ready_to_connect(fd, IP4, PORT + i % 2);
		if (connect_data(fd, client, NULL, 0))
			COUNT(moves.strange);
		COUNT(moves.requests_sent);
		if (next_event(fd, NULL, WAIT) == EV_REJECTED)
			COUNT(moves.rejections);
		if (next_event(fd, NULL, 0) != -ETIME ||
		    destroy(fd, client) != 3)
			COUNT(moves.strange);
	}
	close(fd);
	return NULL;
}

FIXTURE(moving){};

FIXTURE_SETUP(moving)
{
	int i;

	memset(&moves, 0, sizeof(moves));
	for (i = 0; i < FILES; i++) {
		moves.fd[i] = open_rcm(0);
		ASSERT_LE(0, moves.fd[i]);
	}
	for (i = 0; i < IDS; i++) {
		struct mover *id = &moves.id[i];

		pthread_mutex_init(&id->lock, NULL);
		id->seen = shared_memory(MAX);
		ASSERT_NE(NULL, id->seen);
		id->handle = create(moves.fd[0], i, PS_TCP);
		ASSERT_LT(0, id->handle);
		/* Two of them listen. */
		if (i < 2)
			ASSERT_EQ(
				0,
				bind_text(moves.fd[0], id->handle, IP4, PORT + i) ?:
					listen_on(moves.fd[0], id->handle, 0));
	}
}

FIXTURE_TEARDOWN(moving)
{
	int i;

	for (i = 0; i < FILES; i++)
		close(moves.fd[i]);
	for (i = 0; i < IDS; i++)
		munmap(moves.id[i].seen, MAX);
	EXPECT_TRUE(nothing_left(10000));
}

TEST_F_TIMEOUT(moving, C51_events_follow_their_identifier, 600)
{
	pthread_t mover[IDS], writer[IDS], client[2];
	struct reader reader[FILES] = {};
	unsigned long events = 0, n;
	long i;

	for (i = 0; i < FILES; i++) {
		reader[i].file = i;
		pthread_create(&reader[i].thread, NULL, read_file, &reader[i]);
	}
	for (i = 0; i < IDS; i++) {
		pthread_create(&mover[i], NULL, move, (void *)i);
		pthread_create(&writer[i], NULL, write_events, (void *)i);
	}
	for (i = 0; i < 2; i++)
		pthread_create(&client[i], NULL, ask, NULL);
	sleep_ms(share(4000, 120000));
	SET(moves.stop, 1);
	for (i = 0; i < IDS; i++) {
		pthread_join(mover[i], NULL);
		pthread_join(writer[i], NULL);
	}
	for (i = 0; i < 2; i++)
		pthread_join(client[i], NULL);
	SET(moves.quiet, 1);
	for (i = 0; i < FILES; i++)
		pthread_join(reader[i].thread, NULL);

	EXPECT_EQ(0, moves.strange);
	EXPECT_EQ(0, moves.twice);
	EXPECT_EQ(0, moves.order);
	EXPECT_EQ(moves.requests_sent, moves.rejections);
	EXPECT_EQ(moves.requests_sent, moves.requests_read);
	for (i = 0; i < IDS; i++) {
		struct mover *id = &moves.id[i];

		for (n = 1; n <= id->written; n++)
			ASSERT_EQ(1, id->seen[n])
			{
				TH_LOG("identifier %ld, event %lu", i, n);
			}
		events += id->read;
		id->reported += destroy(moves.fd[id->file], id->handle);
		EXPECT_EQ(id->read, id->reported);
	}
	TH_LOG("%ld moves, %lu events, %ld of them requests", moves.moved,
	       events, moves.requests_read);
	EXPECT_LT(100, moves.moved);
	EXPECT_LT(100, events);
	EXPECT_LT(10, moves.requests_read);
}

/* The file that it is moving to, or from, is closed. */
static void *close_one(void *arg)
{
	unsigned int dice = new_dice(300);
	int number = (long)arg, fd;

	while (!IS_SET(moves.stop)) {
		short_while(&dice);
		fd = open_rcm(0);
		/* At once, so that the number is never nobody's. */
		if (fd < 0 || dup2(fd, moves.fd[number]) < 0 || close(fd))
			COUNT(moves.strange);
	}
	return NULL;
}

static void *move_to_closed(void *arg)
{
	unsigned int dice = new_dice(400 + (long)arg);

	while (!IS_SET(moves.stop)) {
		int handle = listener(moves.fd[0], IP4, 0, 0), there;
		struct rcm_write_event event = {
			.size = sizeof(event),
			.handle = handle,
			.event = RCM_EVENT_USER,
		};

		call(moves.fd[0], RCM_WRITE_EVENT, &event);
		there = migrate(moves.fd[0], handle, moves.fd[1], NULL);
		if (there < 0) {
			COUNT(moves.strange);
			continue;
		}
		if (roll(&dice, 2))
			short_while(&dice);
		/* If it is still there, it comes back. */
		handle = migrate(moves.fd[1], there, moves.fd[0], NULL);
		if (handle > 0)
			destroy(moves.fd[0], handle);
		else if (handle != -ENOENT)
			COUNT(moves.strange);
		COUNT(moves.moved);
	}
	return NULL;
}

TEST_F_TIMEOUT(moving, C51_files_are_closed_meanwhile, 600)
{
	pthread_t mover[3], closer;
	long i;

	pthread_create(&closer, NULL, close_one, (void *)1);
	for (i = 0; i < 3; i++)
		pthread_create(&mover[i], NULL, move_to_closed, (void *)i);
	sleep_ms(share(2000, 60000));
	SET(moves.stop, 1);
	for (i = 0; i < 3; i++)
		pthread_join(mover[i], NULL);
	pthread_join(closer, NULL);
	EXPECT_EQ(0, moves.strange);
	EXPECT_LT(50, moves.moved);
	/* Only those of the beginning are left. */
	close(moves.fd[1]);
	moves.fd[1] = open_rcm(0);
	EXPECT_EQ(IDS, live_ids());
}

TEST_HARNESS_MAIN
