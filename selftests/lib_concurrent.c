// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * timeout: 120
 *
 * Threads: each with a channel of its own, several on one channel,
 * identifiers that move between channels, synchronous ones.  An ordinary
 * program that ends by returning, so that sanitize.sh can look for races, for
 * memory that was left, and for memory that is not ours.
 */
#include "lib_test.h"

#define PORT	7590
#define THREADS 3
#define ROUNDS	8

#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition)) {                                            \
			printf("# %s:%d: %s (errno %d)\n", __func__, __LINE__, \
			       #condition, errno);                             \
			__atomic_store_n(&failed, true, __ATOMIC_RELAXED);     \
			goto out;                                              \
		}                                                              \
	} while (0)

static bool failed;

struct worker {
	pthread_t thread;
	int number;
};

static void run_workers(void *(*work)(void *))
{
	struct worker worker[THREADS];
	int i;

	for (i = 0; i < THREADS; i++) {
		worker[i].number = i;
		if (pthread_create(&worker[i].thread, NULL, work, &worker[i]))
			abort();
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(worker[i].thread, NULL);
}

static void destroy(struct rdma_cm_id *id)
{
	if (!id)
		return;
	rdma_destroy_qp(id);
	rdma_destroy_id(id);
}

/* A connection between two identifiers of one channel, made and ended. */
static void connect_once(struct rdma_event_channel *channel, int port)
{
	struct rdma_conn_param param = { .retry_count = 7 };
	struct rdma_cm_id *client, *server = NULL;
	struct rdma_cm_event *event;

	client = resolved_id(channel, RDMA_PS_TCP, IP4, port);
	CHECK(client && !create_qp(client));
	CHECK(!rdma_connect(client, &param));
	event = next_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	CHECK(event);
	server = event->id;
	rdma_ack_cm_event(event);
	CHECK(!create_qp(server));
	CHECK(!rdma_accept(server, &param));
	CHECK(!expect_event(channel, RDMA_CM_EVENT_ESTABLISHED));
	CHECK(!expect_event(channel, RDMA_CM_EVENT_ESTABLISHED));
	CHECK(!rdma_disconnect(client));
	CHECK(!expect_event(channel, RDMA_CM_EVENT_DISCONNECTED));
	CHECK(!rdma_disconnect(server));
	CHECK(!expect_event(channel, RDMA_CM_EVENT_DISCONNECTED));
out:
	destroy(client);
	destroy(server);
}

static void *own_channel(void *arg)
{
	struct worker *worker = arg;
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *listener = NULL;
	int i;

	CHECK(channel);
	listener =
		listening_id(channel, RDMA_PS_TCP, IP4, PORT + worker->number);
	CHECK(listener);
	for (i = 0; i < ROUNDS; i++)
		connect_once(channel, PORT + worker->number);
out:
	destroy(listener);
	if (channel)
		rdma_destroy_event_channel(channel);
	return NULL;
}

static struct rdma_event_channel *shared;
static int expected; /* events that readers have not got yet */

/* Whoever gets an event does what comes next, and tells the owner. */
static void handle(struct rdma_cm_event *event)
{
	struct rdma_cm_id *id = event->id;
	enum rdma_cm_event_type type = event->event;
	int *done = id->context;

	rdma_ack_cm_event(event);
	if (type == RDMA_CM_EVENT_ADDR_RESOLVED)
		rdma_resolve_route(id, TIMEOUT);
	__atomic_add_fetch(done, 1, __ATOMIC_RELEASE);
}

static void *read_shared(void *arg)
{
	struct rdma_cm_event *event;

	(void)arg;
	while (__atomic_sub_fetch(&expected, 1, __ATOMIC_RELAXED) >= 0) {
		CHECK(!rdma_get_cm_event(shared, &event));
		handle(event);
	}
out:
	return NULL;
}

static void *make_for_shared(void *arg)
{
	union lib_addr addr = lib_addr(IP4, PORT);
	struct rdma_cm_id *id;
	int i, done;

	(void)arg;
	for (i = 0; i < ROUNDS; i++) {
		done = 0;
		CHECK(!rdma_create_id(shared, &id, &done, RDMA_PS_TCP));
		CHECK(!rdma_resolve_addr(id, NULL, &addr.sa, TIMEOUT));
		while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < 2)
			usleep(1000);
		rdma_destroy_id(id);
	}
out:
	return NULL;
}

static void one_channel_for_all(void)
{
	pthread_t reader[THREADS];
	int i;

	shared = rdma_create_event_channel();
	CHECK(shared);
	expected = THREADS * ROUNDS * 2;
	for (i = 0; i < THREADS; i++)
		pthread_create(&reader[i], NULL, read_shared, NULL);
	run_workers(make_for_shared);
	for (i = 0; i < THREADS; i++)
		pthread_join(reader[i], NULL);
	rdma_destroy_event_channel(shared);
out:
	return;
}

/* To the shared channel and back, with an event that is not read yet. */
static void *migrate(void *arg)
{
	struct rdma_event_channel *own = rdma_create_event_channel();
	union lib_addr addr = lib_addr(IP4, PORT);
	struct rdma_cm_id *id = NULL;
	int i;

	(void)arg;
	CHECK(own);
	for (i = 0; i < ROUNDS; i++) {
		CHECK(!rdma_create_id(shared, &id, NULL, RDMA_PS_TCP));
		CHECK(!rdma_resolve_addr(id, NULL, &addr.sa, TIMEOUT));
		CHECK(!rdma_migrate_id(id, own));
		CHECK(!expect_event(own, RDMA_CM_EVENT_ADDR_RESOLVED));
		CHECK(!rdma_migrate_id(id, NULL));
		CHECK(!rdma_resolve_route(id, TIMEOUT));
		CHECK(!rdma_migrate_id(id, shared));
		rdma_destroy_id(id);
		id = NULL;
	}
out:
	if (id)
		rdma_destroy_id(id);
	if (own)
		rdma_destroy_event_channel(own);
	return NULL;
}

static void channels_change(void)
{
	shared = rdma_create_event_channel();
	CHECK(shared);
	run_workers(migrate);
	CHECK(!readable(shared, 0));
	rdma_destroy_event_channel(shared);
out:
	return;
}

static struct rdma_cm_id *sync_listener;

static void *serve(void *arg)
{
	struct rdma_conn_param param = { .retry_count = 7 };
	struct rdma_cm_id *id;
	int i;

	(void)arg;
	for (i = 0; i < THREADS; i++) {
		CHECK(!rdma_get_request(sync_listener, &id));
		CHECK(!create_qp(id));
		CHECK(!rdma_accept(id, &param));
		rdma_disconnect(id);
		destroy(id);
	}
out:
	return NULL;
}

static void *synchronous(void *arg)
{
	struct rdma_conn_param param = { .retry_count = 7 };
	struct rdma_cm_id *id;

	(void)arg;
	id = resolved_id(NULL, RDMA_PS_TCP, IP4, PORT);
	CHECK(id && !create_qp(id));
	CHECK(!rdma_connect(id, &param));
	rdma_disconnect(id);
out:
	destroy(id);
	return NULL;
}

static void no_channel(void)
{
	pthread_t server;

	sync_listener = listening_id(NULL, RDMA_PS_TCP, IP4, PORT);
	CHECK(sync_listener);
	CHECK(!pthread_create(&server, NULL, serve, NULL));
	run_workers(synchronous);
	pthread_join(server, NULL);
	destroy(sync_listener);
out:
	return;
}

/* What identifiers share, and lists of names, at the same time. */
static void *look_up(void *arg)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP };
	struct ibv_context **devices;
	struct rdma_addrinfo *info;
	int i;

	(void)arg;
	for (i = 0; i < ROUNDS; i++) {
		CHECK(!rdma_getaddrinfo(IP4, "7591", &hints, &info));
		rdma_freeaddrinfo(info);
		devices = rdma_get_devices(NULL);
		CHECK(devices);
		rdma_free_devices(devices);
	}
out:
	return NULL;
}

static int result(int number, const char *name)
{
	printf("%sok %d %s\n", failed ? "not " : "", number, name);
	return failed;
}

int main(void)
{
	int failures = 0;

	printf("TAP version 13\n1..5\n");
	run_workers(own_channel);
	failures += result(1, "each_its_channel");
	failed = false;
	one_channel_for_all();
	failures += result(2, "one_channel_for_all");
	failed = false;
	channels_change();
	failures += result(3, "channels_change");
	failed = false;
	no_channel();
	failures += result(4, "no_channel");
	failed = false;
	run_workers(look_up);
	failures += result(5, "look_up");
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
