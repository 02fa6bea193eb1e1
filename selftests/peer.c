// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * timeout: 300
 *
 * Peers that say what no connection manager says: broken headers, messages
 * that come twice, too early or too late, about connections that there are
 * not. See cm_peer.h for how.
 */
#include "cm_peer.h"

#include "kselftest_harness.h"

#define PORT 7475
#define WAIT 8000
#define SOON 300

FIXTURE(peer)
{
	struct cm_peer peer;
	int fd;
	int listener;
	struct rcm_event event;
	struct cm_mad mad;
	struct cm_mad request;
	__u32 ours;   /* the peer's number of the connection */
	__u32 theirs; /* and rcm's */
};

FIXTURE_SETUP(peer)
{
	ASSERT_EQ(0, cm_peer_open(&self->peer));
	self->fd = open_rcm(0);
	ASSERT_LE(0, self->fd);
	self->listener = listener(self->fd, CM_HOST, PORT, 0);
	ASSERT_LT(0, self->listener);
	cm_forget(&self->peer);
}

FIXTURE_TEARDOWN(peer)
{
	close(self->fd);
	cm_peer_close(&self->peer);
	EXPECT_TRUE(nothing_left(5000));
}

#define EVENT(type) \
	ASSERT_EQ(EV_##type, next_event(self->fd, &self->event, WAIT))
#define SAY(what)                                                              \
	do {                                                                   \
		self->mad =                                                    \
			cm_about(&self->peer, what, self->ours, self->theirs); \
		ASSERT_EQ(0, cm_say(&self->peer, &self->mad));                 \
	} while (0)

/* The peer asks and is accepted; the identifier is self->event.out_handle. */
#define ACCEPTED(handle)                                                      \
	do {                                                                  \
		self->request = cm_request(&self->peer, PORT);                \
		self->ours = get32(&self->request.data[CM_LOCAL_ID]);         \
		ASSERT_EQ(0, cm_say(&self->peer, &self->request));            \
		EVENT(CONNECT_REQUEST);                                       \
		handle = self->event.out_new_handle;                          \
		ASSERT_EQ(0, accept_data(self->fd, handle, NULL, 0));         \
		ASSERT_EQ(0, cm_hear(&self->peer, CM_REP, &self->mad, WAIT)); \
		ASSERT_EQ(self->ours, get32(&self->mad.data[CM_REMOTE_ID]));  \
		self->theirs = get32(&self->mad.data[CM_LOCAL_ID]);           \
	} while (0)

#define CONNECTED(handle)           \
	do {                        \
		ACCEPTED(handle);   \
		SAY(CM_RTU);        \
		EVENT(ESTABLISHED); \
	} while (0)

static __u32 qp_num_of(const struct cm_mad *mad, int at)
{
	return get32(&mad->data[at]) >> 8;
}

/*
 * A request that is in order reaches the listener, after all that was said
 * before it; those of before are refused.
 */
static bool is_served(struct cm_peer *peer, int fd, struct cm_mad request)
{
	__u32 qp_num = qp_num_of(&request, CM_REQ_QPN);
	struct rcm_event event;
	int type;

	if (cm_say(peer, &request))
		return false;
	do {
		type = next_event(fd, &event, WAIT);
		if (type == EV_CONNECT_REQUEST)
			destroy(fd, event.out_new_handle);
	} while (type >= 0 && (type != EV_CONNECT_REQUEST ||
			       event.out_conn.qp_num != qp_num));
	return type >= 0;
}

TEST_F(peer, is_heard_as_what_it_says)
{
	unsigned char data[56];
	int i;

	self->mad = cm_request(&self->peer, PORT);
	pattern(data, sizeof(data));
	memcpy(&self->mad.data[CM_REQ_DATA + 36], data, sizeof(data));
	ASSERT_EQ(0, cm_say(&self->peer, &self->mad));
	EVENT(CONNECT_REQUEST);
	EXPECT_STREQ(CM_PEER, host_of(&self->event.out_endpoint.dst));
	EXPECT_EQ(4242, port_of(&self->event.out_endpoint.dst));
	EXPECT_STREQ(CM_HOST, host_of(&self->event.out_endpoint.src));
	EXPECT_EQ(PORT, port_of(&self->event.out_endpoint.src));
	EXPECT_EQ(qp_num_of(&self->mad, CM_REQ_QPN),
		  self->event.out_conn.qp_num);
	EXPECT_EQ(1, self->event.out_conn.responder_resources);
	EXPECT_EQ(7, self->event.out_conn.retry_count);
	EXPECT_EQ(7, self->event.out_conn.rnr_retry_count);
	ASSERT_EQ(56, self->event.out_conn.private_data_len);
	for (i = 0; i < 56; i++)
		ASSERT_EQ(data[i], self->event.out_conn.private_data[i]);
	EXPECT_EQ(0, reject(self->fd, self->event.out_new_handle, 0, "x", 1));
	ASSERT_EQ(0, cm_hear(&self->peer, CM_REJ, &self->mad, WAIT));
	EXPECT_EQ(28, self->mad.data[CM_REJ_REASON + 1]);
	EXPECT_EQ('x', self->mad.data[CM_REJ_DATA]);
}

/* --- requests that are refused, and nobody is told */

FIXTURE(refused)
{
	struct cm_peer peer;
	int fd;
};

FIXTURE_VARIANT(refused)
{
	/* What is not said is right, on IPv4. */
	const char *listener;
	const char *src;
	const char *dst;
	int version;	/* first byte of the header */
	int ip_version; /* second byte, 0: as the addresses */
	int ps;
	int port;      /* from the right one */
	int transport; /* of the request: 0 RC, 1 UC, 2 RD, 3 extended */
	int extended;
};

/* clang-format off */
#define REFUSED(name, ...) \
	FIXTURE_VARIANT_ADD(refused, name) { __VA_ARGS__ }

REFUSED(major_version, .version = 0x10);
REFUSED(minor_version, .version = 0x01);
REFUSED(all_versions, .version = 0xff);
REFUSED(no_ip_version, .ip_version = 0x0f);
REFUSED(ip_version_5, .ip_version = 0x50);
REFUSED(ip_version_15, .ip_version = 0xf0);
REFUSED(ipv4_said_to_be_ipv6, .ip_version = 0x60);
REFUSED(ipv4_said_to_be_ipv6_to_all, .listener = "::", .ip_version = 0x60);
REFUSED(ipv6_said_to_be_ipv4, .listener = "0.0.0.0", .src = CM_PEER6,
	.dst = CM_HOST6, .ip_version = 0x40);
REFUSED(ipv6_to_ipv4, .listener = "0.0.0.0", .src = CM_PEER6, .dst = CM_HOST6);
REFUSED(to_no_address, .listener = "0.0.0.0", .dst = "0.0.0.0");
REFUSED(to_a_group, .listener = "0.0.0.0", .dst = "224.0.0.1");
REFUSED(to_all, .listener = "0.0.0.0", .dst = "255.255.255.255");
REFUSED(to_the_subnet, .listener = "0.0.0.0", .dst = "10.83.0.255");
REFUSED(to_somebody_else, .listener = "0.0.0.0", .dst = IP4_NOT_LOCAL);
REFUSED(from_no_address, .src = "0.0.0.0");
REFUSED(from_a_group, .src = "224.0.0.1");
REFUSED(from_all, .src = "255.255.255.255");
REFUSED(from_loopback, .src = "127.0.0.1");
REFUSED(from_an_ipv6_group, .listener = "::", .src = "ff02::1", .dst = CM_HOST6);
REFUSED(from_no_ipv6_address, .listener = "::", .src = "::", .dst = CM_HOST6);
REFUSED(from_ipv6_loopback, .listener = "::", .src = "::1", .dst = CM_HOST6);
REFUSED(to_an_ipv6_group, .listener = "::", .src = CM_PEER6, .dst = "ff02::1");
REFUSED(to_no_ipv6_address, .listener = "::", .src = CM_PEER6, .dst = "::");
REFUSED(port_0, .port = -PORT);
REFUSED(another_port, .port = 1);
REFUSED(no_port_space, .ps = 0x107);
REFUSED(port_space_udp, .ps = PS_UDP);
REFUSED(unreliable, .transport = 1);
REFUSED(datagram, .transport = 2);
REFUSED(extended_of_no_kind, .transport = 3, .extended = 7);
REFUSED(xrc, .transport = 3, .extended = 1);
/* clang-format on */

FIXTURE_SETUP(refused)
{
	ASSERT_EQ(0, cm_peer_open(&self->peer));
	self->fd = open_rcm(0);
	ASSERT_LE(0, self->fd);
	ASSERT_LT(0, listener(self->fd, variant->listener ?: CM_HOST, PORT, 0));
}

FIXTURE_TEARDOWN(refused)
{
	close(self->fd);
	cm_peer_close(&self->peer);
	EXPECT_TRUE(nothing_left(5000));
}

TEST_F(refused, with_a_rejection_and_without_an_event)
{
	struct cm_mad mad = cm_request(&self->peer, PORT);
	__u8 *header = &mad.data[CM_REQ_DATA];
	long sent = cm_sent("rej");
	long long end = now_ms() + WAIT;

	ASSERT_LE(0, sent);
	cm_put_header(header, variant->src ?: CM_PEER, variant->dst ?: CM_HOST,
		      4242);
	header[0] = variant->version;
	if (variant->ip_version)
		header[1] = variant->ip_version;
	cm_put_service(&mad.data[CM_REQ_SERVICE], variant->ps ?: PS_TCP,
		       PORT + variant->port);
	mad.data[CM_REQ_FLAGS] |= variant->transport << 1;
	mad.data[CM_REQ_TRIES] |= variant->extended;
	ASSERT_EQ(0, cm_say(&self->peer, &mad));

	/* What ib_cm itself does not know it need not answer. */
	while (cm_sent("rej") == sent && now_ms() < end &&
	       !readable(self->fd, 0) && variant->transport < 2)
		sleep_ms(5);
	if (variant->transport < 2)
		EXPECT_LT(sent, cm_sent("rej"));
	EXPECT_FALSE(readable(self->fd, variant->transport < 2 ? 0 : SOON));
	EXPECT_EQ(1, live_ids());

	/* The listener is none the worse for it. */
	mad = cm_request(&self->peer, PORT);
	if (variant->listener && strchr(variant->listener, ':'))
		cm_put_header(&mad.data[CM_REQ_DATA], CM_PEER6, CM_HOST6, 4242);
	EXPECT_TRUE(is_served(&self->peer, self->fd, mad));
}

/* --- what comes twice, too late, too early or without being asked */

TEST_F(peer, a_request_that_comes_again_is_one_request)
{
	struct cm_mad request = cm_request(&self->peer, PORT);
	int i, server;

	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, cm_say(&self->peer, &request));
	EVENT(CONNECT_REQUEST);
	server = self->event.out_new_handle;
	EXPECT_FALSE(readable(self->fd, SOON));
	EXPECT_EQ(2, live_ids());

	/* Accepted, it is answered again each time. */
	ASSERT_EQ(0, accept_data(self->fd, server, NULL, 0));
	ASSERT_EQ(0, cm_hear(&self->peer, CM_REP, &self->mad, WAIT));
	ASSERT_EQ(0, cm_say(&self->peer, &request));
	ASSERT_EQ(0, cm_hear(&self->peer, CM_REP, &self->mad, WAIT));
	EXPECT_FALSE(readable(self->fd, SOON));
	EXPECT_EQ(2, live_ids());
}

/* C39: the same number again, and it is another request. */
TEST_F(peer, a_queue_pair_that_has_a_connection_is_stale)
{
	struct cm_mad request = cm_request(&self->peer, PORT);

	ASSERT_EQ(0, cm_say(&self->peer, &request));
	EVENT(CONNECT_REQUEST);
	put32(&request.data[CM_LOCAL_ID], ++self->peer.last_id);
	ASSERT_EQ(0, cm_say(&self->peer, &request));
	ASSERT_EQ(0, cm_hear(&self->peer, CM_REJ, &self->mad, WAIT));
	EXPECT_EQ(10, self->mad.data[CM_REJ_REASON + 1]);
}

/*
 * The peer has started anew, and its queue pair asks again: ib_cm ends the
 * connection that there was, and nobody but the answer says so.
 */
TEST_F(peer, a_connection_that_has_become_stale_ends)
{
	int server;

	CONNECTED(server);
	cm_forget(&self->peer);
	put32(&self->request.data[CM_LOCAL_ID], ++self->peer.last_id);
	ASSERT_EQ(0, cm_say(&self->peer, &self->request));
	ASSERT_EQ(0, cm_hear(&self->peer, CM_DREQ, &self->mad, WAIT));
	ASSERT_EQ(self->theirs, get32(&self->mad.data[CM_LOCAL_ID]));
	SAY(CM_DREP);
	EVENT(DISCONNECTED);
	EXPECT_EQ(server, (int)self->event.out_handle);
	EVENT(TIMEWAIT_EXIT);
}

/* It has accepted, and dies before our confirmation is there. */
TEST_F(peer, a_rejection_after_the_confirmation_ends_the_connection)
{
	int server;

	CONNECTED(server);
	self->mad = cm_about(&self->peer, CM_REJ, self->ours, self->theirs);
	self->mad.data[CM_REJ_WHAT] = 2 << 6; /* no REQ and no REP */
	self->mad.data[CM_REJ_REASON + 1] = 28;
	ASSERT_EQ(0, cm_say(&self->peer, &self->mad));
	EVENT(REJECTED);
	EXPECT_EQ(server, (int)self->event.out_handle);
	EXPECT_EQ(28, self->event.out_status);
	EXPECT_EQ(RCM_STATE_FAILED, state_of(self->fd, server));
	EXPECT_EQ(0, disconnect(self->fd, server));
}

TEST_F(peer, what_does_not_fit_is_no_harm_to_who_accepted)
{
	static const enum cm_message unexpected[] = {
		CM_REP, CM_REP, CM_DREP, CM_SIDR_REP, CM_APR, CM_LAP,
	};
	unsigned int i;
	int server;

	ACCEPTED(server);
	/* About others: a wrong number of either side. */
	self->ours++;
	SAY(CM_RTU);
	SAY(CM_DREQ);
	self->ours--;
	self->theirs++;
	SAY(CM_RTU);
	SAY(CM_REJ);
	SAY(CM_DREQ);
	self->theirs--;
	EXPECT_FALSE(readable(self->fd, SOON));
	EXPECT_EQ(RCM_STATE_REP_SENT, state_of(self->fd, server));

	for (i = 0; i < ARRAY_SIZE(unexpected); i++)
		SAY(unexpected[i]);
	EXPECT_FALSE(readable(self->fd, SOON));
	EXPECT_EQ(RCM_STATE_REP_SENT, state_of(self->fd, server));

	SAY(CM_RTU);
	EVENT(ESTABLISHED);
	EXPECT_EQ(server, (int)self->event.out_handle);
	SAY(CM_RTU);
	for (i = 0; i < ARRAY_SIZE(unexpected); i++)
		SAY(unexpected[i]);
	/* To disconnect, the queue pair's number has to be right. */
	SAY(CM_DREQ);
	EXPECT_FALSE(readable(self->fd, SOON));
	EXPECT_EQ(RCM_STATE_ESTABLISHED, state_of(self->fd, server));
}

TEST_F(peer, a_disconnect_that_comes_again_is_one_disconnect)
{
	__u32 qp_num;
	int server, i;

	ACCEPTED(server);
	qp_num = qp_num_of(&self->mad, CM_REP_QPN);
	SAY(CM_RTU);
	EVENT(ESTABLISHED);
	self->mad = cm_about(&self->peer, CM_DREQ, self->ours, self->theirs);
	put24(&self->mad.data[CM_DREQ_QPN], qp_num);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, cm_say(&self->peer, &self->mad));
	EVENT(DISCONNECTED);
	EXPECT_FALSE(readable(self->fd, SOON));
	ASSERT_EQ(0, disconnect(self->fd, server));
	ASSERT_EQ(0, cm_hear(&self->peer, CM_DREP, &self->mad, WAIT));
}

/* C41: with the confirmation lost, the end stands for both. */
TEST_F(peer, a_disconnect_may_come_without_confirmation)
{
	int server;

	ACCEPTED(server);
	ASSERT_EQ(0, disconnect(self->fd, server));
	put24(&self->mad.data[CM_DREQ_QPN], qp_num_of(&self->mad, CM_REP_QPN));
	self->mad.attribute = htobe16(CM_DREQ);
	put32(&self->mad.data[CM_LOCAL_ID], self->ours);
	put32(&self->mad.data[CM_REMOTE_ID], self->theirs);
	ASSERT_EQ(0, cm_say(&self->peer, &self->mad));
	EVENT(DISCONNECTED);
	EXPECT_EQ(server, (int)self->event.out_handle);
	/* It was asked for before, and is answered without being asked again. */
	ASSERT_EQ(0, cm_hear(&self->peer, CM_DREP, &self->mad, WAIT));
}

TEST_F(peer, a_reply_that_comes_again_is_one_reply)
{
	int client = ready_to_connect(self->fd, CM_PEER, PORT);
	__u32 qp_num;
	int i;

	ASSERT_LT(0, client);
	ASSERT_EQ(0, connect_data(self->fd, client, NULL, 0));
	ASSERT_EQ(0, cm_hear(&self->peer, CM_REQ, &self->mad, WAIT));
	self->theirs = get32(&self->mad.data[CM_LOCAL_ID]);
	self->ours = ++self->peer.last_id;

	/* Nothing of this is an answer. */
	SAY(CM_RTU);
	SAY(CM_DREQ);
	SAY(CM_DREP);
	self->theirs++;
	SAY(CM_REP);
	SAY(CM_REJ);
	self->theirs--;
	EXPECT_FALSE(readable(self->fd, SOON));
	EXPECT_EQ(RCM_STATE_REQ_SENT, state_of(self->fd, client));

	self->mad = cm_about(&self->peer, CM_REP, self->ours, self->theirs);
	qp_num = new_qp_num();
	put24(&self->mad.data[CM_REP_QPN], qp_num);
	self->mad.data[CM_REP_RESOURCES] = 1;
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, cm_say(&self->peer, &self->mad));
	EVENT(CONNECT_RESPONSE);
	EXPECT_EQ(client, (int)self->event.out_handle);
	EXPECT_EQ(qp_num, self->event.out_conn.qp_num);
	EXPECT_FALSE(readable(self->fd, SOON));
	ASSERT_EQ(0, establish(self->fd, client));
	ASSERT_EQ(0, cm_hear(&self->peer, CM_RTU, &self->mad, WAIT));
	SAY(CM_REJ);
	EXPECT_FALSE(readable(self->fd, SOON));
	EXPECT_EQ(RCM_STATE_ESTABLISHED, state_of(self->fd, client));
}

TEST_F(peer, any_reason_of_a_rejection_reaches_the_client)
{
	static const int reasons[] = { 0, 1, 10, 28, 34, 35, 255, 65535 };
	unsigned int i;
	int client;

	for (i = 0; i < ARRAY_SIZE(reasons); i++) {
		client = ready_to_connect(self->fd, CM_PEER, PORT);
		ASSERT_LT(0, client);
		cm_forget(&self->peer);
		ASSERT_EQ(0, connect_data(self->fd, client, NULL, 0));
		ASSERT_EQ(0, cm_hear(&self->peer, CM_REQ, &self->mad, WAIT));
		self->theirs = get32(&self->mad.data[CM_LOCAL_ID]);
		self->mad = cm_about(&self->peer, CM_REJ, 0, self->theirs);
		/* Of the request, with more information than there is room. */
		self->mad.data[9] = 0xff;
		self->mad.data[CM_REJ_REASON] = reasons[i] >> 8;
		self->mad.data[CM_REJ_REASON + 1] = reasons[i];
		ASSERT_EQ(0, cm_say(&self->peer, &self->mad));
		EVENT(REJECTED);
		EXPECT_EQ(reasons[i], self->event.out_status);
		EXPECT_EQ(RCM_STATE_FAILED, state_of(self->fd, client));
		EXPECT_LE(0, destroy(self->fd, client));
	}
}

/* --- noise */

static __u32 seed;

static __u32 dice(void)
{
	seed = seed * 1664525 + 1013904223;
	return seed >> 8;
}

/* Any message, often about the connection, of any length. */
static void say_anything(struct cm_peer *peer, __u32 ours, __u32 theirs)
{
	struct cm_mad mad = cm_mad(peer, CM_REQ + dice() % 12);
	unsigned int i, changes = dice() % 40;

	if (dice() % 4 == 0)
		mad = cm_request(peer, PORT + dice() % 2);
	else
		for (i = 0; i < sizeof(mad.data); i++)
			mad.data[i] = dice();
	/* A numbers of theirs would end it by right, so mostly not both. */
	if (dice() % 2)
		put32(&mad.data[CM_LOCAL_ID], ours);
	else if (dice() % 2)
		put32(&mad.data[CM_REMOTE_ID], theirs);
	for (i = 0; i < changes; i++)
		mad.data[dice() % sizeof(mad.data)] = dice();
	if (dice() % 16 == 0)
		((__u8 *)&mad)[dice() % 24] = dice();
	cm_say_some(peer, &mad, 60 + dice() % 50 * 4);
}

TEST_F_TIMEOUT(peer, noise_is_no_harm, 200)
{
	const char *count = getenv("RCM_NOISE"), *text = getenv("SEED");
	int i, n = count ? atoi(count) : 2000;
	int server, client, other = open_rcm(0);
	struct rcm_event event;

	seed = text ? strtoul(text, NULL, 0) : 1;
	printf("# SEED=%u, %d messages\n", seed, n);
	CONNECTED(server);
	client = ready_to_connect(other, CM_PEER, PORT);
	ASSERT_LT(0, client);
	ASSERT_EQ(0, connect_data(other, client, NULL, 0));
	for (i = 0; i < n; i++) {
		say_anything(&self->peer, self->ours, self->theirs);
		/* Requests that are whole are refused as they come. */
		while (!get_event(self->fd, &event, RCM_EVENT_DONTWAIT))
			if (event.out_event == EV_CONNECT_REQUEST)
				destroy(self->fd, event.out_new_handle);
	}
	close(other);
	EXPECT_LE(0, state_of(self->fd, server));
	/* Who comes afterwards is served. */
	EXPECT_TRUE(is_served(&self->peer, self->fd,
			      cm_request(&self->peer, PORT)));
}

TEST_HARNESS_MAIN
