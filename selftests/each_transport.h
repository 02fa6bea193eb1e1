/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Tests of connections that hold on every transport, by ioctls alone and with
 * both ends in one process. Included once, after the harness, by the program
 * of a transport (connect.c, iwarp.c), which has before
 *
 *	ADDR4, ADDR6		addresses of its device
 *	MAX_REQUEST, MAX_REPLY	bytes of private data that it carries
 *	TOLD(len, max)		how many bytes the peer is told of
 *	PEER_GONE		what accepting says when nobody asks any more
 *	bring_up(), take_down()	device and what else its tests need; 0 or -errno
 *	ask(), answer()		connect_data(), accept_data() in its way
 *	join()			from the answer on: 0 when both are established, with
 *				both events read, the last one into its argument
 *	refused()		0 when a connect is refused, in its way
 *
 * What is not here is not on every transport: confirmation and refusal of an
 * answer, time wait, stale queue pairs, notices, enhanced options and reject
 * reasons are InfiniBand's; a full backlog, a loopback listener and port
 * spaces differ; moving to another file does not depend on the transport.
 */
#ifndef EACH_TRANSPORT_H
#define EACH_TRANSPORT_H

FIXTURE(connect)
{
	int fd; /* listener and passive side */
	int client_fd;
	int listener;
	int client;
	int server; /* the request's */
	struct rcm_event event;
};

FIXTURE_VARIANT(connect)
{
	const char *bind;
	const char *ip;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(connect, v4) { .bind = ADDR4, .ip = ADDR4 };
FIXTURE_VARIANT_ADD(connect, v6) { .bind = ADDR6, .ip = ADDR6 };
FIXTURE_VARIANT_ADD(connect, v4_wildcard) { .bind = "0.0.0.0", .ip = ADDR4 };
FIXTURE_VARIANT_ADD(connect, v6_wildcard) { .bind = "::", .ip = ADDR6 };
FIXTURE_VARIANT_ADD(connect, v4_to_dual_stack) { .bind = "::", .ip = ADDR4 };
/* clang-format on */

FIXTURE_SETUP(connect)
{
	ASSERT_EQ(0, bring_up());
	self->fd = open_rcm(0);
	ASSERT_LE(0, self->fd);
	self->client_fd = open_rcm(0);
	ASSERT_LE(0, self->client_fd);
	self->listener = listener(self->fd, variant->bind, PORT, 0);
	ASSERT_LT(0, self->listener);
	self->client = ready_to_connect(self->client_fd, variant->ip, PORT);
	ASSERT_LT(0, self->client);
}

FIXTURE_TEARDOWN(connect)
{
	close(self->fd);
	close(self->client_fd);
	EXPECT_EQ(0, take_down());
	EXPECT_TRUE(nothing_left(5000));
}

/* The client's request, read by the server. */
#define REQUEST(data, len)                                                   \
	do {                                                                 \
		ASSERT_EQ(0, ask(self->client_fd, self->client, data, len)); \
		ASSERT_EQ(EV_CONNECT_REQUEST,                                \
			  next_event(self->fd, &self->event, WAIT));         \
		self->server = self->event.out_new_handle;                   \
		ASSERT_LT(0, self->server);                                  \
	} while (0)

/* Then accepted, and established on both sides. */
#define ACCEPTED()                                                         \
	do {                                                               \
		ASSERT_EQ(0, answer(self->fd, self->server, NULL, 0));     \
		ASSERT_EQ(0, join(self->fd, self->client_fd, self->client, \
				  &self->event));                          \
	} while (0)

#define ESTABLISHED()             \
	do {                      \
		REQUEST(NULL, 0); \
		ACCEPTED();       \
	} while (0)

TEST_F(connect, the_passive_side_may_disconnect_first)
{
	ESTABLISHED();
	ASSERT_EQ(0, disconnect(self->fd, self->server));
	ASSERT_EQ(EV_DISCONNECTED,
		  next_event(self->client_fd, &self->event, WAIT));
	ASSERT_EQ(0, disconnect(self->client_fd, self->client));
	ASSERT_EQ(EV_DISCONNECTED, next_event(self->fd, &self->event, WAIT));
}

TEST_F(connect, C43_private_data_arrives_whole_and_padded_with_zeros)
{
	unsigned char data[256], zeros[256] = {};
	struct rcm_conn_param *conn = &self->event.out_conn;

	pattern(data, sizeof(data));
	EXPECT_EQ(-EINVAL, ask(self->client_fd, self->client, data, 256));
	EXPECT_EQ(-EINVAL, ask(self->client_fd, self->client, data, 65535));
	EXPECT_EQ(RCM_STATE_ROUTE_RESOLVED,
		  state_of(self->client_fd, self->client));
	REQUEST(data, MAX_REQUEST);
	EXPECT_EQ(MAX_REQUEST, conn->private_data_len);
	EXPECT_EQ(0, memcmp(data, conn->private_data, MAX_REQUEST));
	EXPECT_EQ(0, memcmp(zeros, conn->private_data + MAX_REQUEST,
			    256 - MAX_REQUEST));

	EXPECT_EQ(-EINVAL, answer(self->fd, self->server, data, 256));
	EXPECT_EQ(RCM_STATE_REQ_RCVD, state_of(self->fd, self->server));
	ASSERT_EQ(0, answer(self->fd, self->server, data, MAX_REPLY));
	ASSERT_LE(0, next_event(self->client_fd, &self->event, WAIT));
	EXPECT_EQ(self->client, (int)self->event.out_handle);
	EXPECT_EQ(MAX_REPLY, conn->private_data_len);
	EXPECT_EQ(0, memcmp(data, conn->private_data, MAX_REPLY));
	EXPECT_EQ(0, memcmp(zeros, conn->private_data + MAX_REPLY,
			    256 - MAX_REPLY));
}

TEST_F(connect, C43_one_byte_and_none)
{
	unsigned char zeros[256] = {};
	struct rcm_conn_param *conn = &self->event.out_conn;

	REQUEST("x", 1);
	EXPECT_EQ(TOLD(1, MAX_REQUEST), conn->private_data_len);
	EXPECT_EQ('x', conn->private_data[0]);
	EXPECT_EQ(0, memcmp(zeros, conn->private_data + 1, 255));
	ASSERT_EQ(0, answer(self->fd, self->server, NULL, 0));
	ASSERT_LE(0, next_event(self->client_fd, &self->event, WAIT));
	EXPECT_EQ(TOLD(0, MAX_REPLY), conn->private_data_len);
	EXPECT_EQ(0, memcmp(zeros, conn->private_data, 256));
}

TEST_F(connect, what_happens_before_a_request_is_accepted_is_not_reported)
{
	REQUEST(NULL, 0);
	EXPECT_LE(0, destroy(self->client_fd, self->client));
	EXPECT_EQ(-ETIME, next_event(self->fd, &self->event, 500));
	EXPECT_EQ(PEER_GONE, answer(self->fd, self->server, NULL, 0));
	EXPECT_EQ(RCM_STATE_FAILED, state_of(self->fd, self->server));
	EXPECT_EQ(-EINVAL, answer(self->fd, self->server, NULL, 0));
}

TEST_F(connect, destroying_an_unanswered_request_rejects_it)
{
	REQUEST(NULL, 0);
	EXPECT_EQ(0, destroy(self->fd, self->server));
	ASSERT_EQ(EV_REJECTED, next_event(self->client_fd, &self->event, WAIT));
}

TEST_F(connect, C36_closing_with_unread_requests_rejects_them)
{
	ASSERT_EQ(0, ask(self->client_fd, self->client, NULL, 0));
	ASSERT_TRUE(readable(self->fd, WAIT));
	close(self->fd);
	self->fd = -1;
	ASSERT_EQ(EV_REJECTED, next_event(self->client_fd, &self->event, WAIT));
}

TEST_F(connect, C36_destroying_a_listener_with_unread_requests_rejects_them)
{
	ASSERT_EQ(0, ask(self->client_fd, self->client, NULL, 0));
	ASSERT_TRUE(readable(self->fd, WAIT));
	EXPECT_EQ(0, destroy(self->fd, self->listener));
	EXPECT_FALSE(readable(self->fd, 0));
	ASSERT_EQ(EV_REJECTED, next_event(self->client_fd, &self->event, WAIT));
	self->client = ready_to_connect(self->client_fd, variant->ip, PORT);
	ASSERT_LT(0, self->client);
	EXPECT_EQ(0, refused(self->client_fd, self->client));
}

TEST_F(connect, C41_destroying_a_connection_disconnects_it)
{
	ESTABLISHED();
	EXPECT_LE(0, destroy(self->client_fd, self->client));
	ASSERT_EQ(EV_DISCONNECTED, next_event(self->fd, &self->event, WAIT));
	EXPECT_EQ(self->server, (int)self->event.out_handle);
	EXPECT_EQ(0, disconnect(self->fd, self->server));
	EXPECT_EQ(-EINVAL, establish(self->fd, self->server));
}

static inline int count_events(int fd, int type, int timeout_ms)
{
	int count = 0, ret;

	while ((ret = next_event(fd, NULL, timeout_ms)) >= 0)
		count += ret == type;
	return count;
}

TEST_F(connect, C40_both_disconnect_at_once_and_each_is_told_once)
{
	ESTABLISHED();
	ASSERT_EQ(0, disconnect(self->client_fd, self->client));
	ASSERT_EQ(0, disconnect(self->fd, self->server));
	EXPECT_TRUE(readable(self->fd, WAIT));
	EXPECT_TRUE(readable(self->client_fd, WAIT));
	EXPECT_EQ(0, disconnect(self->client_fd, self->client));
	EXPECT_EQ(0, disconnect(self->fd, self->server));
	EXPECT_EQ(1, count_events(self->fd, EV_DISCONNECTED, 500));
	EXPECT_EQ(1, count_events(self->client_fd, EV_DISCONNECTED, 0));
}

/* --- listeners */

FIXTURE(listeners)
{
	int fd;
	struct rcm_event event;
};

FIXTURE_SETUP(listeners)
{
	ASSERT_EQ(0, bring_up());
	self->fd = open_rcm(0);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(listeners)
{
	close(self->fd);
	EXPECT_EQ(0, take_down());
	EXPECT_TRUE(nothing_left(5000));
}

TEST_F(listeners, an_address_that_nobody_listens_on_is_refused)
{
	int server = listener(self->fd, ADDR6, PORT, 0);
	int client = ready_to_connect(self->fd, ADDR4, PORT);

	ASSERT_LT(0, server);
	ASSERT_LT(0, client);
	EXPECT_EQ(0, refused(self->fd, client));
}

TEST_F(listeners, v6only_takes_no_v4)
{
	int server = create_tcp(self->fd);
	int client = ready_to_connect(self->fd, ADDR4, PORT);

	ASSERT_EQ(0, set_option(self->fd, server, OPT_AFONLY, 1));
	ASSERT_EQ(0, bind_text(self->fd, server, "::", PORT));
	ASSERT_EQ(0, listen_on(self->fd, server, 0));
	EXPECT_EQ(0, refused(self->fd, client));
}

TEST_F(listeners, listen_without_bind_takes_any_address_and_a_port)
{
	int server = create_tcp(self->fd);
	struct rcm_query arg;
	int client;

	ASSERT_EQ(0, listen_on(self->fd, server, 0));
	ASSERT_EQ(0, query(self->fd, server, &arg));
	EXPECT_EQ(RCM_STATE_LISTEN, arg.out_endpoint.state);
	EXPECT_STREQ("0.0.0.0", host_of(&arg.out_endpoint.src));
	ASSERT_NE(0, port_of(&arg.out_endpoint.src));
	client = ready_to_connect(self->fd, ADDR4,
				  port_of(&arg.out_endpoint.src));
	ASSERT_LT(0, client);
	ASSERT_EQ(0, ask(self->fd, client, NULL, 0));
	EXPECT_EQ(EV_CONNECT_REQUEST, next_event(self->fd, &self->event, WAIT));
}

TEST_F(listeners, each_request_goes_to_the_listener_of_its_address)
{
	int v4 = listener(self->fd, ADDR4, PORT, 0);
	int v6 = listener(self->fd, ADDR6, PORT, 0);
	int client;

	ASSERT_LT(0, v4);
	ASSERT_LT(0, v6);
	client = ready_to_connect(self->fd, ADDR6, PORT);
	ASSERT_EQ(0, ask(self->fd, client, NULL, 0));
	ASSERT_EQ(EV_CONNECT_REQUEST, next_event(self->fd, &self->event, WAIT));
	EXPECT_EQ(v6, (int)self->event.out_handle);
	client = ready_to_connect(self->fd, ADDR4, PORT);
	ASSERT_EQ(0, ask(self->fd, client, NULL, 0));
	ASSERT_EQ(EV_CONNECT_REQUEST, next_event(self->fd, &self->event, WAIT));
	EXPECT_EQ(v4, (int)self->event.out_handle);
}

/* [::] without v6only and 0.0.0.0 exclude each other, so make one v6only. */
TEST_F(listeners, wildcards_of_both_families_share_a_port)
{
	int v6 = create_tcp(self->fd);
	int v4, client;

	ASSERT_EQ(0, set_option(self->fd, v6, OPT_AFONLY, 1));
	ASSERT_EQ(0, bind_text(self->fd, v6, "::", PORT));
	ASSERT_EQ(0, listen_on(self->fd, v6, 0));
	v4 = listener(self->fd, "0.0.0.0", PORT, 0);
	ASSERT_LT(0, v4);
	client = ready_to_connect(self->fd, ADDR4, PORT);
	ASSERT_EQ(0, ask(self->fd, client, NULL, 0));
	ASSERT_EQ(EV_CONNECT_REQUEST, next_event(self->fd, &self->event, WAIT));
	EXPECT_EQ(v4, (int)self->event.out_handle);
	client = ready_to_connect(self->fd, ADDR6, PORT);
	ASSERT_EQ(0, ask(self->fd, client, NULL, 0));
	ASSERT_EQ(EV_CONNECT_REQUEST, next_event(self->fd, &self->event, WAIT));
	EXPECT_EQ(v6, (int)self->event.out_handle);
}

TEST_F(listeners, C75_rejected_requests_stay_until_destroyed)
{
	int server = listener(self->fd, ADDR4, PORT, 0);
	int before, i;

	ASSERT_LT(0, server);
	for (i = 0; i < 20; i++) {
		int client = ready_to_connect(self->fd, ADDR4, PORT);

		ASSERT_EQ(0, ask(self->fd, client, NULL, 0));
		ASSERT_EQ(EV_CONNECT_REQUEST,
			  next_event(self->fd, &self->event, WAIT));
		ASSERT_EQ(0, reject(self->fd, self->event.out_new_handle, 0,
				    NULL, 0));
		ASSERT_EQ(EV_REJECTED, next_event(self->fd, NULL, WAIT));
		ASSERT_LE(0, destroy(self->fd, client));
	}
	before = live_ids();
	EXPECT_EQ(21, before);
	close(self->fd);
	EXPECT_TRUE(nothing_left(2000));
}

#endif /* EACH_TRANSPORT_H */
