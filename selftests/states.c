// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * suites: check debug
 * timeout: 240 900
 *
 * Every command in every state that a caller can bring an identifier into,
 * against a table; a refused one leaves the identifier as it was (C13, C15).
 */
#include "rcm_test.h"

#include "kselftest_harness.h"

#define LINK "d1" /* with ARP, and nobody on it */
#define PORT 7471
#define WAIT 8000

enum op {
	BIND,
	RESOLVE,
	ROUTE,
	LISTEN,
	CONNECT,
	ACCEPT,
	ESTABLISH,
	REJECT,
	DISCONNECT,
	NOTIFY,
	QP_INIT,
	QP_RTR,
	REUSE,
	V6ONLY,
	TOS,
	OPS
};

static const char *const op_names[OPS] = {
	"bind",
	"resolve_addr",
	"resolve_route",
	"listen",
	"connect",
	"accept",
	"establish",
	"reject",
	"disconnect",
	"notify",
	"init_qp_attr(INIT)",
	"init_qp_attr(RTR)",
	"set_option(REUSEADDR)",
	"set_option(AFONLY)",
	"set_option(TOS)",
};

#define OK   0
#define NO   -EINVAL
#define GONE -ENODEV
#define CONN -EISCONN

/* clang-format off */
static const int table[RCM_STATE_COUNT][OPS] = {
	/*			   bind resolve route listen conn accept estab reject disc notify init rtr  reuse v6   tos */
	[RCM_STATE_IDLE]	= { OK,  OK,  NO,  OK,  NO,  NO,  NO,  NO,  NO,  NO,  NO,  NO,  OK,  OK,  OK },
	[RCM_STATE_BOUND]	= { NO,  OK,  NO,  OK,  NO,  NO,  NO,  NO,  NO,  NO,  OK,  NO,  OK,  OK,  OK },
	[RCM_STATE_ADDR_QUERY]	= { NO,  NO,  NO,  NO,  NO,  NO,  NO,  NO,  NO,  NO,  NO,  NO,  OK,  NO,  OK },
	[RCM_STATE_ADDR_RESOLVED] = { NO, NO, OK,  NO,  NO,  NO,  NO,  NO,  NO,  NO,  OK,  NO,  OK,  NO,  OK },
	[RCM_STATE_ROUTE_RESOLVED] = { NO, NO, NO, NO,  OK,  NO,  NO,  NO,  NO,  NO,  OK,  NO,  OK,  NO,  OK },
	[RCM_STATE_LISTEN]	= { NO,  NO,  NO,  NO,  NO,  NO,  NO,  NO,  NO,  NO,  OK,  NO,  NO,  NO,  OK },
	[RCM_STATE_REQ_SENT]	= { NO,  NO,  NO,  NO,  NO,  NO,  NO,  NO,  OK,  NO,  OK,  NO,  OK,  NO,  OK },
	[RCM_STATE_REP_RCVD]	= { NO,  NO,  NO,  NO,  NO,  NO,  OK,  OK,  OK,  NO,  OK,  OK,  OK,  NO,  OK },
	[RCM_STATE_REQ_RCVD]	= { NO,  NO,  NO,  NO,  NO,  OK,  NO,  OK,  OK,  NO,  OK,  OK,  OK,  NO,  OK },
	[RCM_STATE_REP_SENT]	= { NO,  NO,  NO,  NO,  NO,  NO,  NO,  NO,  OK,  OK,  OK,  OK,  OK,  NO,  OK },
	[RCM_STATE_ESTABLISHED]	= { NO,  NO,  NO,  NO,  NO,  NO,  NO,  NO,  OK,  CONN, OK, OK,  OK,  NO,  OK },
	[RCM_STATE_CLOSING]	= { NO,  NO,  NO,  NO,  NO,  NO,  NO,  NO,  OK,  NO,  NO,  NO,  OK,  NO,  OK },
	[RCM_STATE_DISCONNECTED] = { NO, NO,  NO,  NO,  NO,  NO,  NO,  NO,  OK,  NO,  NO,  NO,  OK,  NO,  OK },
	[RCM_STATE_CLOSED]	= { NO,  NO,  NO,  NO,  NO,  NO,  NO,  NO,  OK,  NO,  NO,  NO,  OK,  NO,  OK },
	[RCM_STATE_FAILED]	= { NO,  NO,  NO,  NO,  NO,  NO,  NO,  NO,  OK,  NO,  NO,  NO,  OK,  NO,  OK },
	[RCM_STATE_REMOVED]	= { GONE, GONE, GONE, GONE, GONE, GONE, GONE, GONE, GONE, GONE, GONE, GONE, GONE, GONE, GONE },
};
/* clang-format on */

FIXTURE(state)
{
	int fd; /* the identifier's */
	int peer_fd;
	int handle;
	int peer;
	bool link;
};

FIXTURE_VARIANT(state)
{
	enum rcm_state state;
	bool passive;
};

/* clang-format off */
#define STATE(name)	FIXTURE_VARIANT_ADD(state, name) { .state = RCM_STATE_##name }
STATE(IDLE);
STATE(BOUND);
STATE(ADDR_QUERY);
STATE(ADDR_RESOLVED);
STATE(ROUTE_RESOLVED);
STATE(LISTEN);
STATE(REQ_SENT);
STATE(REP_RCVD);
STATE(REQ_RCVD);
STATE(REP_SENT);
STATE(ESTABLISHED);
FIXTURE_VARIANT_ADD(state, ESTABLISHED_passive) { .state = RCM_STATE_ESTABLISHED, .passive = true };
STATE(CLOSING);
STATE(DISCONNECTED);
STATE(CLOSED);
STATE(FAILED);
FIXTURE_VARIANT_ADD(state, FAILED_passive) { .state = RCM_STATE_FAILED, .passive = true };
STATE(REMOVED);
/* clang-format on */

#define TRY(step)                   \
	do {                        \
		int ret = step;     \
		if (ret < 0)        \
			return ret; \
	} while (0)

/* Brings an active identifier on @fd and its peer as far as @state. */
static int connection(int fd, int peer_fd, int *peer, enum rcm_state state)
{
	int handle = new_request(fd, peer_fd, IP4, PORT, peer);

	if (handle < 0 || state == RCM_STATE_REQ_SENT)
		return handle;
	if (state == RCM_STATE_FAILED) {
		TRY(reject(peer_fd, *peer, 0, NULL, 0));
		TRY(expect_event(fd, EV_REJECTED, NULL));
		return handle;
	}
	TRY(accept_data(peer_fd, *peer, NULL, 0));
	TRY(expect_event(fd, EV_CONNECT_RESPONSE, NULL));
	if (state == RCM_STATE_REP_RCVD)
		return handle;
	TRY(establish(fd, handle));
	TRY(expect_event(peer_fd, EV_ESTABLISHED, NULL));
	if (state == RCM_STATE_ESTABLISHED)
		return handle;
	TRY(disconnect(fd, handle));
	TRY(expect_event(peer_fd, EV_DISCONNECTED, NULL));
	if (state == RCM_STATE_CLOSING)
		return handle;
	TRY(disconnect(peer_fd, *peer));
	TRY(expect_event(fd, EV_DISCONNECTED, NULL));
	if (state == RCM_STATE_CLOSED)
		TRY(expect_event(fd, EV_TIMEWAIT_EXIT, NULL));
	return handle;
}

/* The same on the passive side. */
static int passive(int fd, int peer_fd, int *peer, enum rcm_state state)
{
	enum rcm_state active =
		state == RCM_STATE_REQ_RCVD ? RCM_STATE_REQ_SENT :
		state == RCM_STATE_REP_SENT ? RCM_STATE_REP_RCVD :
					      state;
	int handle;

	*peer = connection(peer_fd, fd, &handle, active);
	return *peer < 0 ? *peer : handle;
}

static int removed(int fd)
{
	int handle = create_tcp(fd);

	TRY(add_link(LINK, "10.81.0.1/24"));
	TRY(bind_text(fd, handle, "10.81.0.1", PORT));
	sh("rdma link del x" LINK);
	TRY(expect_event(fd, EV_DEVICE_REMOVAL, NULL));
	return handle;
}

/* A new identifier in a state, with all its events read. */
static int reach(int fd, int peer_fd, int *peer, enum rcm_state state,
		 bool is_passive)
{
	int handle;

	switch (state) {
	case RCM_STATE_IDLE:
		return create_tcp(fd);
	case RCM_STATE_BOUND:
		handle = create_tcp(fd);
		TRY(bind_text(fd, handle, IP4, PORT + 1));
		return handle;
	case RCM_STATE_ADDR_QUERY:
		TRY(add_link(LINK, "10.81.0.1/24"));
		return resolve_flags(fd, 0, NULL, "10.81.0.9", PORT, 60000,
				     RCM_CREATE);
	case RCM_STATE_ADDR_RESOLVED:
		handle =
			resolve_flags(fd, 0, NULL, IP4, PORT, 1000, RCM_CREATE);
		TRY(expect_event(fd, EV_ADDR_RESOLVED, NULL));
		return handle;
	case RCM_STATE_ROUTE_RESOLVED:
		return ready_to_connect(fd, IP4, PORT);
	case RCM_STATE_LISTEN:
		return listener(fd, IP4, PORT, 0);
	case RCM_STATE_REQ_RCVD:
	case RCM_STATE_REP_SENT:
		return passive(fd, peer_fd, peer, state);
	case RCM_STATE_REMOVED:
		return removed(fd);
	default:
		return is_passive ? passive(fd, peer_fd, peer, state) :
				    connection(fd, peer_fd, peer, state);
	}
}

FIXTURE_SETUP(state)
{
	self->link = variant->state == RCM_STATE_ADDR_QUERY ||
		     variant->state == RCM_STATE_REMOVED;
	self->fd = open_rcm(0);
	ASSERT_LE(0, self->fd);
	self->peer_fd = open_rcm(0);
	ASSERT_LE(0, self->peer_fd);
	self->handle = reach(self->fd, self->peer_fd, &self->peer,
			     variant->state, variant->passive);
	ASSERT_LT(0, self->handle);
	ASSERT_EQ((int)variant->state, state_of(self->fd, self->handle));
}

FIXTURE_TEARDOWN(state)
{
	close(self->fd);
	close(self->peer_fd);
	if (self->link)
		del_link(LINK);
	EXPECT_TRUE(nothing_left(5000));
}

static int perform(int fd, int handle, enum op op)
{
	struct rcm_init_qp_attr attr;

	switch (op) {
	case BIND:
		return bind_text(fd, handle, IP4, PORT + 2);
	case RESOLVE:
		return resolve(fd, handle, NULL, IP4, PORT + 3, 1000);
	case ROUTE:
		return resolve_route(fd, handle);
	case LISTEN:
		return listen_on(fd, handle, 1);
	case CONNECT:
		return connect_data(fd, handle, NULL, 0);
	case ACCEPT:
		return accept_data(fd, handle, NULL, 0);
	case ESTABLISH:
		return establish(fd, handle);
	case REJECT:
		return reject(fd, handle, 0, NULL, 0);
	case DISCONNECT:
		return disconnect(fd, handle);
	case NOTIFY:
		return notify(fd, handle, 4);
	case QP_INIT:
		return init_qp_attr(fd, handle, 1, &attr);
	case QP_RTR:
		return init_qp_attr(fd, handle, 2, &attr);
	case REUSE:
		return set_option(fd, handle, OPT_REUSEADDR, 1);
	case V6ONLY:
		return set_option(fd, handle, OPT_AFONLY, 1);
	default:
		return set_option(fd, handle, OPT_TOS, 1);
	}
}

TEST_F(state, refused_commands_change_nothing)
{
	struct rcm_query before, after;
	enum op op;
	int ids = live_ids(), ports = live_ports();

	for (op = 0; op < OPS; op++) {
		if (!table[variant->state][op])
			continue;
		ASSERT_EQ(0, query(self->fd, self->handle, &before));
		EXPECT_EQ(table[variant->state][op],
			  perform(self->fd, self->handle, op))
		{
			TH_LOG("%s", op_names[op]);
		}
		ASSERT_EQ(0, query(self->fd, self->handle, &after));
		EXPECT_EQ(0, memcmp(&before.out_endpoint, &after.out_endpoint,
				    sizeof(before.out_endpoint)))
		{
			TH_LOG("%s changed something", op_names[op]);
		}
	}
	EXPECT_EQ(-ETIME, next_event(self->fd, NULL, 0));
	EXPECT_EQ(ids, live_ids());
	EXPECT_EQ(ports, live_ports());
	EXPECT_LE(0, destroy(self->fd, self->handle));
}

/* The first one of the test's identifier, the others of new ones. */
TEST_F_TIMEOUT(state, the_others_are_allowed, 120)
{
	enum op op;

	if (variant->state == RCM_STATE_REMOVED)
		return; /* nothing is */
	for (op = 0; op < OPS; op++) {
		if (table[variant->state][op])
			continue;
		EXPECT_EQ(0, perform(self->fd, self->handle, op))
		{
			TH_LOG("%s", op_names[op]);
		}
		/*
		 * ib_cm cancels its reply only when it handles the notice: an
		 * identifier destroyed before waits for the reply's time-out.
		 */
		if (op == NOTIFY)
			EXPECT_EQ(EV_ESTABLISHED,
				  next_event(self->fd, NULL, WAIT));
		/* Start over: whatever came of it goes with the files. */
		close(self->fd);
		close(self->peer_fd);
		if (self->link)
			del_link(LINK);
		ASSERT_TRUE(nothing_left(5000));
		self->fd = open_rcm(0);
		self->peer_fd = open_rcm(0);
		self->handle = reach(self->fd, self->peer_fd, &self->peer,
				     variant->state, variant->passive);
		ASSERT_LT(0, self->handle);
	}
}

TEST_F(state, destroy_works_in_each)
{
	EXPECT_LE(0, destroy(self->fd, self->handle));
	EXPECT_EQ(-ENOENT, state_of(self->fd, self->handle));
	EXPECT_EQ(-ETIME, next_event(self->fd, NULL, 50));
}

FIXTURE(walk)
{
	int fd;
};

FIXTURE_SETUP(walk)
{
	self->fd = open_rcm(0);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(walk)
{
	close(self->fd);
	EXPECT_TRUE(nothing_left(2000));
}

TEST_F(walk, resolve_route_wants_resolve_addr_first)
{
	int handle = create_tcp(self->fd);

	EXPECT_EQ(-EINVAL, resolve_route(self->fd, handle));
	ASSERT_EQ(0, bind_text(self->fd, handle, IP4, 0));
	EXPECT_EQ(-EINVAL, resolve_route(self->fd, handle));
	EXPECT_EQ(-EINVAL, connect_data(self->fd, handle, NULL, 0));
	ASSERT_EQ(0, resolve(self->fd, handle, NULL, IP4, PORT, 1000));
	EXPECT_EQ(-EINVAL, connect_data(self->fd, handle, NULL, 0));
	EXPECT_EQ(0, resolve_route(self->fd, handle));
	EXPECT_EQ(-EINVAL, resolve_route(self->fd, handle));
}

/* CVE-2021-4028: a refused call used to change the address of a listener. */
TEST_F(walk, C13_a_wildcard_listener_stays_one)
{
	int handle, i;

	for (i = 0; i < 20; i++) {
		handle = listener(self->fd, "0.0.0.0", PORT, 0);
		ASSERT_LT(0, handle);
		EXPECT_EQ(-EINVAL, listen_on(self->fd, handle, 0));
		EXPECT_EQ(-EINVAL, bind_text(self->fd, handle, "::1", PORT));
		EXPECT_EQ(-EINVAL, resolve(self->fd, handle, IP4, IP4, 7, 10));
		EXPECT_EQ(PORT, src_port(self->fd, handle));
		EXPECT_EQ(0, destroy(self->fd, handle));
	}
}

TEST_F(walk, C53_create_bind_listen_race)
{
	long long end = now_ms() + 2000;
	int fd = self->fd;
	pid_t child[3];
	int i, handle = 1;

	for (i = 0; i < 3; i++) {
		child[i] = fork();
		ASSERT_LE(0, child[i]);
		if (child[i])
			continue;
		while (now_ms() < end) {
			if (i == 0)
				destroy(fd, create_tcp(fd));
			else if (i == 1)
				bind_text(fd, handle, "0.0.0.0", PORT);
			else
				listen_on(fd, handle, 1);
			handle = handle % 4 + 1;
		}
		_exit(0);
	}
	for (i = 0; i < 3; i++)
		waitpid(child[i], NULL, 0);
}

TEST_HARNESS_MAIN
