// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * suites: check debug
 * timeout: 240 900
 *
 * Connections over Soft-RoCE by ioctls alone, both ends in one process. No
 * queue pair is needed: the connection managers only tell each other numbers.
 */
#include <pthread.h>

#include "rcm_test.h"

#include "kselftest_harness.h"

#define PORT 7471
#define WAIT 8000 /* a lost message is sent again after 4.3 s */

#define ADDR4	    IP4
#define ADDR6	    IP6
#define MAX_REQUEST 56
#define MAX_REPLY   196
/* The managers' messages have a fixed size. */
#define TOLD(len, max) (max)
#define PEER_GONE      (-EINVAL)

static int bring_up(void)
{
	return 0;
}

static int take_down(void)
{
	return 0;
}

static int ask(int fd, int handle, const void *data, int len)
{
	return connect_data(fd, handle, data, len);
}

static int answer(int fd, int handle, const void *data, int len)
{
	return accept_data(fd, handle, data, len);
}

static int join(int fd, int client_fd, int client, struct rcm_event *event)
{
	int ret = next_event(client_fd, NULL, WAIT);

	if (ret != EV_CONNECT_RESPONSE)
		return ret ?: -EPROTO;
	ret = establish(client_fd, client) ?: next_event(fd, event, WAIT);
	return ret == EV_ESTABLISHED ? 0 : ret ?: -EPROTO;
}

static int refused(int fd, int client)
{
	int ret = ask(fd, client, NULL, 0) ?: next_event(fd, NULL, WAIT);

	return ret == EV_REJECTED ? 0 : ret ?: -EPROTO;
}

#include "each_transport.h"

/* Then accepted, read by the client. */
#define RESPONSE(data, len)                                                   \
	do {                                                                  \
		ASSERT_EQ(0, accept_data(self->fd, self->server, data, len)); \
		ASSERT_EQ(EV_CONNECT_RESPONSE,                                \
			  next_event(self->client_fd, &self->event, WAIT));   \
	} while (0)

TEST_F(connect, from_request_to_the_end_of_time_wait)
{
	struct rcm_query query_server, query_client;

	REQUEST(NULL, 0);
	EXPECT_EQ(self->listener, (int)self->event.out_handle);
	EXPECT_EQ(0, self->event.out_status);
	EXPECT_STREQ(variant->ip, host_of(&self->event.out_endpoint.src));
	EXPECT_STREQ(variant->ip, host_of(&self->event.out_endpoint.dst));
	EXPECT_EQ(PORT, port_of(&self->event.out_endpoint.src));
	EXPECT_EQ(src_port(self->client_fd, self->client),
		  port_of(&self->event.out_endpoint.dst));
	EXPECT_EQ(RCM_STATE_REQ_RCVD, self->event.out_endpoint.state);
	EXPECT_NE(0, self->event.out_qp.init_mask);
	EXPECT_NE(0, self->event.out_qp.rtr_mask);

	RESPONSE(NULL, 0);
	EXPECT_EQ(self->client, (int)self->event.out_handle);
	EXPECT_EQ(0, self->event.out_new_handle);
	EXPECT_EQ(RCM_STATE_REP_RCVD, self->event.out_endpoint.state);
	EXPECT_NE(0, self->event.out_qp.rtr_mask);
	EXPECT_NE(0, self->event.out_qp.rts_mask);
	EXPECT_EQ(self->event.out_conn.qp_num, self->event.out_qp.dest_qp_num);
	EXPECT_NE(0, self->event.out_conn.qp_num);
	EXPECT_EQ(RCM_STATE_REP_SENT, state_of(self->fd, self->server));

	ASSERT_EQ(0, establish(self->client_fd, self->client));
	EXPECT_EQ(RCM_STATE_ESTABLISHED,
		  state_of(self->client_fd, self->client));
	ASSERT_EQ(EV_ESTABLISHED, next_event(self->fd, &self->event, WAIT));
	EXPECT_EQ(self->server, (int)self->event.out_handle);
	EXPECT_EQ(RCM_STATE_ESTABLISHED, state_of(self->fd, self->server));

	/* Each is where the other thinks it is. */
	ASSERT_EQ(0, query(self->fd, self->server, &query_server));
	ASSERT_EQ(0, query(self->client_fd, self->client, &query_client));
	EXPECT_EQ(port_of(&query_server.out_endpoint.src),
		  port_of(&query_client.out_endpoint.dst));
	EXPECT_EQ(port_of(&query_server.out_endpoint.dst),
		  port_of(&query_client.out_endpoint.src));
	EXPECT_EQ(0, memcmp(query_server.out_endpoint.sgid,
			    query_client.out_endpoint.dgid, 16));
	EXPECT_EQ(1, query_server.out_endpoint.num_paths);

	ASSERT_EQ(0, disconnect(self->client_fd, self->client));
	EXPECT_EQ(RCM_STATE_CLOSING, state_of(self->client_fd, self->client));
	ASSERT_EQ(EV_DISCONNECTED, next_event(self->fd, &self->event, WAIT));
	EXPECT_EQ(0, self->event.out_status);
	ASSERT_EQ(0, disconnect(self->fd, self->server));
	ASSERT_EQ(EV_DISCONNECTED,
		  next_event(self->client_fd, &self->event, WAIT));
	EXPECT_EQ(0, self->event.out_status);

	/* C40: time wait ends once, and then nothing comes any more. */
	ASSERT_EQ(EV_TIMEWAIT_EXIT,
		  next_event(self->client_fd, &self->event, WAIT));
	EXPECT_EQ(self->client, (int)self->event.out_handle);
	EXPECT_EQ(RCM_STATE_CLOSED, state_of(self->client_fd, self->client));
	EXPECT_EQ(EV_TIMEWAIT_EXIT, next_event(self->fd, &self->event, WAIT));
	EXPECT_EQ(0, disconnect(self->client_fd, self->client));
	EXPECT_EQ(-ETIME, next_event(self->client_fd, NULL, 100));
	EXPECT_EQ(-ETIME, next_event(self->fd, NULL, 0));

	/* Four were read of the client's after its two for the way. */
	EXPECT_EQ(5, destroy(self->client_fd, self->client));
	EXPECT_EQ(3, destroy(self->fd, self->server));
	EXPECT_EQ(1, destroy(self->fd, self->listener));
}

TEST_F(connect, C43_more_private_data_than_the_messages_hold_is_EINVAL)
{
	unsigned char data[256] = {};

	EXPECT_EQ(-EINVAL,
		  ask(self->client_fd, self->client, data, MAX_REQUEST + 1));
	EXPECT_EQ(-EINVAL, ask(self->client_fd, self->client, data, 255));
	REQUEST(NULL, 0);
	EXPECT_EQ(-EINVAL, answer(self->fd, self->server, data, MAX_REPLY + 1));
	EXPECT_EQ(RCM_STATE_REQ_RCVD, state_of(self->fd, self->server));
	RESPONSE(NULL, 0);
}

TEST_F(connect, C44_read_resources_are_mirrored_and_checked)
{
	struct rcm_conn_param conn = conn_param(NULL, 0);

	conn.responder_resources = 3;
	conn.initiator_depth = 5;
	conn.retry_count = 10;
	conn.rnr_retry_count = 9;
	conn.flow_control = 1;
	ASSERT_EQ(0, connect_with(self->client_fd, self->client, &conn));
	ASSERT_EQ(EV_CONNECT_REQUEST, next_event(self->fd, &self->event, WAIT));
	EXPECT_EQ(5, self->event.out_conn.responder_resources);
	EXPECT_EQ(3, self->event.out_conn.initiator_depth);
	EXPECT_EQ(7, self->event.out_conn.retry_count);
	EXPECT_EQ(7, self->event.out_conn.rnr_retry_count);
	EXPECT_EQ(1, self->event.out_conn.flow_control);
	EXPECT_EQ(0, self->event.out_conn.srq);
	EXPECT_EQ(conn.qp_num, self->event.out_conn.qp_num);

	/* 0xff is as much as the device has; rxe has 128. */
	conn.qp_num = new_qp_num();
	conn.responder_resources = 0xff;
	conn.initiator_depth = 2;
	conn.srq = 1;
	ASSERT_EQ(0,
		  accept_with(self->fd, self->event.out_new_handle, 42, &conn));
	ASSERT_EQ(EV_CONNECT_RESPONSE,
		  next_event(self->client_fd, &self->event, WAIT));
	EXPECT_EQ(2, self->event.out_conn.responder_resources);
	EXPECT_EQ(128, self->event.out_conn.initiator_depth);
	EXPECT_EQ(1, self->event.out_conn.srq);
	EXPECT_EQ(conn.qp_num, self->event.out_conn.qp_num);
}

TEST_F(connect, C44_more_read_resources_than_the_device_has_is_EINVAL)
{
	struct rcm_conn_param conn = conn_param(NULL, 0);

	conn.responder_resources = 129;
	EXPECT_EQ(-EINVAL, connect_with(self->client_fd, self->client, &conn));
	conn.responder_resources = 1;
	conn.initiator_depth = 200;
	EXPECT_EQ(-EINVAL, connect_with(self->client_fd, self->client, &conn));
	EXPECT_EQ(RCM_STATE_ROUTE_RESOLVED,
		  state_of(self->client_fd, self->client));
	REQUEST(NULL, 0);
	EXPECT_EQ(-EINVAL, accept_with(self->fd, self->server, 0, &conn));
	EXPECT_EQ(RCM_STATE_REQ_RCVD, state_of(self->fd, self->server));
	RESPONSE(NULL, 0);
}

TEST_F(connect, enhanced_connection_options_arrive)
{
	struct rcm_connect arg = {
		.size = sizeof(arg),
		.handle = self->client,
		.ece = { .vendor_id = 0x123456, .attr_mod = 0x89abcdef },
		.conn = conn_param(NULL, 0),
	};
	struct rcm_accept answer = {
		.size = sizeof(answer),
		.uid = 0xfeed,
		.ece = { .vendor_id = 0x654321, .attr_mod = 0x12345678 },
		.conn = conn_param(NULL, 0),
	};

	ASSERT_EQ(0, call(self->client_fd, RCM_CONNECT, &arg));
	ASSERT_EQ(EV_CONNECT_REQUEST, next_event(self->fd, &self->event, WAIT));
	EXPECT_EQ(0x123456, self->event.out_ece.vendor_id);
	EXPECT_EQ(0x89abcdef, self->event.out_ece.attr_mod);
	answer.handle = self->event.out_new_handle;
	ASSERT_EQ(0, call(self->fd, RCM_ACCEPT, &answer));
	ASSERT_EQ(EV_CONNECT_RESPONSE,
		  next_event(self->client_fd, &self->event, WAIT));
	EXPECT_EQ(0x654321, self->event.out_ece.vendor_id);
	EXPECT_EQ(0x12345678, self->event.out_ece.attr_mod);

	/* The uid given with the acceptance is in what follows. */
	ASSERT_EQ(0, establish(self->client_fd, self->client));
	ASSERT_EQ(EV_ESTABLISHED, next_event(self->fd, &self->event, WAIT));
	EXPECT_EQ(0xfeed, self->event.out_uid);
}

TEST_F(connect, C62_reject_brings_reason_and_private_data)
{
	unsigned char data[256], zeros[256] = {};
	struct rcm_query arg;

	pattern(data, sizeof(data));
	REQUEST(NULL, 0);
	EXPECT_EQ(-EINVAL, reject(self->fd, self->server, 0, data, 149));
	EXPECT_EQ(-EINVAL, reject(self->fd, self->server, 0, data, 256));
	EXPECT_EQ(-EINVAL, reject(self->fd, self->server, 5, NULL, 0));
	EXPECT_EQ(RCM_STATE_REQ_RCVD, state_of(self->fd, self->server));
	ASSERT_EQ(0, reject(self->fd, self->server, 0, data, 148));
	EXPECT_EQ(RCM_STATE_FAILED, state_of(self->fd, self->server));
	ASSERT_EQ(EV_REJECTED, next_event(self->client_fd, &self->event, WAIT));
	EXPECT_EQ(28, self->event.out_status);
	EXPECT_EQ(148, self->event.out_conn.private_data_len);
	EXPECT_EQ(0, memcmp(data, self->event.out_conn.private_data, 148));
	EXPECT_EQ(0,
		  memcmp(zeros, self->event.out_conn.private_data + 148, 108));
	EXPECT_EQ(RCM_STEP_REJECTED, self->event.out_reason.step);
	EXPECT_EQ(28, self->event.out_reason.detail);
	EXPECT_EQ(-ECONNREFUSED, self->event.out_reason.error);
	ASSERT_EQ(0, query(self->client_fd, self->client, &arg));
	EXPECT_EQ(RCM_STATE_FAILED, arg.out_endpoint.state);
	EXPECT_EQ(RCM_STEP_REJECTED, arg.out_reason.step);
	EXPECT_EQ(-EINVAL, reject(self->fd, self->server, 0, NULL, 0));
	EXPECT_EQ(-ETIME, next_event(self->fd, NULL, 0));
}

TEST_F(connect, reject_for_a_vendor_option)
{
	REQUEST(NULL, 0);
	ASSERT_EQ(0, reject(self->fd, self->server, 35, NULL, 0));
	ASSERT_EQ(EV_REJECTED, next_event(self->client_fd, &self->event, WAIT));
	EXPECT_EQ(35, self->event.out_status);
}

TEST_F(connect, the_active_side_may_reject_the_acceptance)
{
	REQUEST(NULL, 0);
	RESPONSE(NULL, 0);
	ASSERT_EQ(0, reject(self->client_fd, self->client, 0, "no", 2));
	ASSERT_EQ(EV_REJECTED, next_event(self->fd, &self->event, WAIT));
	EXPECT_EQ(self->server, (int)self->event.out_handle);
	EXPECT_EQ(28, self->event.out_status);
	EXPECT_EQ(0, memcmp("no", self->event.out_conn.private_data, 2));
}

TEST_F(connect, C41_disconnected_may_come_before_established)
{
	int ret;

	REQUEST(NULL, 0);
	RESPONSE(NULL, 0);
	ASSERT_EQ(0, establish(self->client_fd, self->client));
	ASSERT_EQ(0, disconnect(self->client_fd, self->client));
	ret = next_event(self->fd, &self->event, WAIT);
	if (ret == EV_ESTABLISHED)
		ret = next_event(self->fd, &self->event, WAIT);
	EXPECT_EQ(EV_DISCONNECTED, ret);
	ASSERT_EQ(0, disconnect(self->fd, self->server));
	ASSERT_EQ(EV_DISCONNECTED,
		  next_event(self->client_fd, &self->event, WAIT));
}

TEST_F(connect, C41_a_disconnect_before_the_confirmation_is_kept)
{
	REQUEST(NULL, 0);
	RESPONSE(NULL, 0);
	/* Nothing can be sent yet, and it is said once only. */
	ASSERT_EQ(0, disconnect(self->fd, self->server));
	ASSERT_EQ(0, establish(self->client_fd, self->client));
	ASSERT_EQ(EV_ESTABLISHED, next_event(self->fd, &self->event, WAIT));
	ASSERT_EQ(EV_DISCONNECTED,
		  next_event(self->client_fd, &self->event, WAIT));
	ASSERT_EQ(0, disconnect(self->client_fd, self->client));
	ASSERT_EQ(EV_DISCONNECTED, next_event(self->fd, &self->event, WAIT));
}

TEST_F(connect, C41_a_disconnect_of_both_before_the_confirmation)
{
	REQUEST(NULL, 0);
	RESPONSE(NULL, 0);
	ASSERT_EQ(0, disconnect(self->fd, self->server));
	ASSERT_EQ(0, establish(self->client_fd, self->client));
	ASSERT_EQ(0, disconnect(self->client_fd, self->client));
	ASSERT_EQ(EV_DISCONNECTED,
		  next_event(self->client_fd, &self->event, WAIT));
	EXPECT_TRUE(readable(self->fd, WAIT));
	EXPECT_EQ(1, count_events(self->fd, EV_DISCONNECTED, 500));
}

TEST_F(connect, C39_a_queue_pair_number_in_use_is_rejected_as_stale)
{
	struct rcm_conn_param conn = conn_param(NULL, 0);
	int again = ready_to_connect(self->client_fd, variant->ip, PORT);

	ASSERT_LT(0, again);
	ASSERT_EQ(0, connect_with(self->client_fd, self->client, &conn));
	ASSERT_EQ(EV_CONNECT_REQUEST, next_event(self->fd, &self->event, WAIT));
	ASSERT_EQ(0, connect_with(self->client_fd, again, &conn));
	ASSERT_EQ(EV_REJECTED, next_event(self->client_fd, &self->event, WAIT));
	EXPECT_EQ(again, (int)self->event.out_handle);
	EXPECT_EQ(10, self->event.out_status);
	EXPECT_EQ(-ETIME, next_event(self->fd, NULL, 100));
}

TEST_F(connect, notify_tells_that_data_arrived_before_the_confirmation)
{
	REQUEST(NULL, 0);
	EXPECT_EQ(-EINVAL, notify(self->fd, self->server, 0));
	RESPONSE(NULL, 0);
	ASSERT_EQ(0, notify(self->fd, self->server, 4));
	ASSERT_EQ(EV_ESTABLISHED, next_event(self->fd, &self->event, WAIT));
	EXPECT_EQ(-EISCONN, notify(self->fd, self->server, 4));
	ASSERT_EQ(0, establish(self->client_fd, self->client));
	EXPECT_EQ(-ETIME, next_event(self->fd, &self->event, 200));
	EXPECT_EQ(-EINVAL, notify(self->fd, self->listener, 4));
}

TEST_F(connect, C37_destroy_right_after_notify_does_not_wait_for_the_peer)
{
	time_t start = time(NULL);

	REQUEST(NULL, 0);
	RESPONSE(NULL, 0);
	ASSERT_EQ(0, notify(self->fd, self->server, 4));
	EXPECT_LE(0, destroy(self->fd, self->server));
	EXPECT_GT(10, time(NULL) - start);
}

TEST_F(connect, attributes_of_the_queue_pair_match_on_both_sides)
{
	struct rcm_init_qp_attr server, client;

	REQUEST(NULL, 0);
	ASSERT_EQ(0, init_qp_attr(self->fd, self->server, 2, &server));
	EXPECT_GT(3, poisoned(&server, sizeof(server)));
	RESPONSE(NULL, 0);
	ASSERT_EQ(0, init_qp_attr(self->fd, self->server, 3, &server));
	ASSERT_EQ(0, init_qp_attr(self->client_fd, self->client, 2, &client));
	EXPECT_EQ(server.out_attr.sq_psn, client.out_attr.rq_psn);
	EXPECT_EQ(self->event.out_conn.qp_num, client.out_attr.dest_qp_num);
	EXPECT_EQ(0, memcmp(&self->event.out_qp.ah, &client.out_attr.ah,
			    sizeof(client.out_attr.ah)));
	ASSERT_EQ(0, init_qp_attr(self->fd, self->server, 2, &server));
	ASSERT_EQ(0, init_qp_attr(self->client_fd, self->client, 3, &client));
	EXPECT_EQ(client.out_attr.sq_psn, server.out_attr.rq_psn);
	EXPECT_EQ(1, server.out_attr.ah.is_global);
}

/* --- listeners */

TEST_F(listeners, a_port_that_nobody_listens_on_rejects_with_8)
{
	int client = ready_to_connect(self->fd, IP4, PORT);

	ASSERT_LT(0, client);
	ASSERT_EQ(0, connect_data(self->fd, client, NULL, 0));
	ASSERT_EQ(EV_REJECTED, next_event(self->fd, &self->event, WAIT));
	EXPECT_EQ(8, self->event.out_status);
	EXPECT_EQ(8, self->event.out_reason.detail);
}

TEST_F(listeners, port_spaces_are_apart)
{
	int server = create(self->fd, 0, PS_IB);
	int client = ready_to_connect(self->fd, IP4, PORT);

	ASSERT_EQ(0, bind_text(self->fd, server, IP4, PORT));
	ASSERT_EQ(0, listen_on(self->fd, server, 0));
	ASSERT_EQ(0, connect_data(self->fd, client, NULL, 0));
	EXPECT_EQ(EV_REJECTED, next_event(self->fd, &self->event, WAIT));
	EXPECT_EQ(8, self->event.out_status);
}

TEST_F(listeners, connects_in_port_space_ib_too)
{
	int server = create(self->fd, 0, PS_IB);
	int client = create(self->fd, 0, PS_IB);

	ASSERT_EQ(0, bind_text(self->fd, server, IP4, PORT));
	ASSERT_EQ(0, listen_on(self->fd, server, 0));
	ASSERT_EQ(0, resolve_flags(self->fd, client, NULL, IP4, PORT, 1000,
				   RCM_RESOLVE_BOTH));
	ASSERT_EQ(EV_ADDR_RESOLVED, next_event(self->fd, NULL, WAIT));
	ASSERT_EQ(EV_ROUTE_RESOLVED, next_event(self->fd, NULL, WAIT));
	ASSERT_EQ(0, connect_data(self->fd, client, NULL, 0));
	ASSERT_EQ(EV_CONNECT_REQUEST, next_event(self->fd, &self->event, WAIT));
	EXPECT_EQ(PS_IB, self->event.out_endpoint.ps);
}

TEST_F(listeners, a_loopback_listener_serves_this_host)
{
	int server = listener(self->fd, "127.0.0.1", PORT, 0);
	int client = ready_to_connect(self->fd, IP4, PORT);

	ASSERT_LT(0, server);
	ASSERT_EQ(0, connect_data(self->fd, client, NULL, 0));
	EXPECT_EQ(EV_CONNECT_REQUEST, next_event(self->fd, &self->event, WAIT));
}

TEST_F(listeners, C60_backlog_bounds_what_waits_unread)
{
	int clients = open_rcm(0);
	int server = listener(self->fd, IP4, PORT, 4);
	struct rcm_query arg;
	int i, ids;

	ASSERT_LT(0, server);
	for (i = 0; i < 20; i++) {
		int client = ready_to_connect(clients, IP4, PORT);

		ASSERT_LT(0, client);
		ASSERT_EQ(0, connect_data(clients, client, NULL, 0));
	}
	sleep_ms(500);
	/* 20 clients, the listener, and 4 requests. */
	ids = live_ids();
	EXPECT_EQ(25, ids);
	ASSERT_EQ(0, query(self->fd, server, &arg));
	EXPECT_EQ(RCM_STEP_BACKLOG, arg.out_reason.step);
	EXPECT_EQ(-ENOBUFS, arg.out_reason.error);

	/* One read makes room for one more, which asks again after 4.3 s. */
	ASSERT_EQ(EV_CONNECT_REQUEST, next_event(self->fd, &self->event, 0));
	ids = live_ids();
	for (i = 0; i < 100 && live_ids() == ids; i++)
		sleep_ms(100);
	EXPECT_EQ(ids + 1, live_ids());
	for (i = 0; i < 5; i++)
		EXPECT_EQ(EV_CONNECT_REQUEST,
			  next_event(self->fd, &self->event, WAIT));
	close(clients);
}

/* --- migration */

TEST_F(listeners, C51_an_identifier_moves_with_its_events)
{
	int to = open_rcm(0);
	int server = listener(self->fd, IP4, PORT, 0);
	int client = ready_to_connect(self->fd, IP4, PORT);
	int reported, moved;

	ASSERT_LT(0, server);
	ASSERT_EQ(0, connect_data(self->fd, client, NULL, 0));
	ASSERT_TRUE(readable(self->fd, WAIT));

	/* The listener's request goes along with it. */
	moved = migrate(self->fd, server, to, &reported);
	ASSERT_LT(0, moved);
	EXPECT_EQ(0, reported);
	EXPECT_FALSE(readable(self->fd, 0));
	EXPECT_EQ(-ENOENT, state_of(self->fd, server));
	EXPECT_EQ(RCM_STATE_LISTEN, state_of(to, moved));
	ASSERT_EQ(EV_CONNECT_REQUEST, next_event(to, &self->event, 0));
	EXPECT_EQ(moved, (int)self->event.out_handle);
	server = self->event.out_new_handle;
	EXPECT_EQ(RCM_STATE_REQ_RCVD, state_of(to, server));

	/* And so does an accepted request; later events come to the new file. */
	ASSERT_EQ(0, accept_data(to, server, NULL, 0));
	moved = migrate(to, server, self->fd, &reported);
	ASSERT_LT(0, moved);
	ASSERT_EQ(EV_CONNECT_RESPONSE, next_event(self->fd, NULL, WAIT));
	ASSERT_EQ(0, establish(self->fd, client));
	ASSERT_EQ(EV_ESTABLISHED, next_event(self->fd, &self->event, WAIT));
	EXPECT_EQ(moved, (int)self->event.out_handle);

	/* Read before, as the old file counts. */
	moved = migrate(self->fd, client, to, &reported);
	ASSERT_LT(0, moved);
	EXPECT_EQ(3, reported);
	EXPECT_EQ(0, destroy(to, moved));
	close(to);
}

struct race {
	int fd[2];
	int stop;
	int handle;
	int at;
	long moves;
};

static void *race_move(void *arg)
{
	struct race *race = arg;

	while (!__atomic_load_n(&race->stop, __ATOMIC_RELAXED)) {
		int handle = migrate(race->fd[race->at], race->handle,
				     race->fd[!race->at], NULL);

		if (handle < 0)
			continue;
		race->handle = handle;
		race->at = !race->at;
		race->moves++;
	}
	return NULL;
}

static void *race_read(void *arg)
{
	struct race *race = arg;
	struct rcm_event event;
	int i = 0;

	while (!__atomic_load_n(&race->stop, __ATOMIC_RELAXED))
		get_event(race->fd[i = !i], &event, RCM_EVENT_DONTWAIT);
	return NULL;
}

static void *race_guess(void *arg)
{
	struct race *race = arg;
	int handle, i = 0;

	while (!__atomic_load_n(&race->stop, __ATOMIC_RELAXED)) {
		i = !i;
		for (handle = 1; handle < 8; handle++) {
			state_of(race->fd[i], handle);
			disconnect(race->fd[i], handle);
		}
		handle = create_tcp(race->fd[i]);
		destroy(race->fd[i], handle);
	}
	return NULL;
}

static void *race_connect(void *arg)
{
	struct race *race = arg;
	int fd = open_rcm(0);

	while (!__atomic_load_n(&race->stop, __ATOMIC_RELAXED)) {
		int client = ready_to_connect(fd, IP4, PORT);

		connect_data(fd, client, NULL, 0);
		destroy(fd, client);
	}
	close(fd);
	return NULL;
}

TEST_F(listeners, C51_migration_races_with_everything)
{
	void *(*work[])(void *) = { race_move, race_read, race_guess,
				    race_connect };
	struct race race = {};
	pthread_t thread[4];
	unsigned int i;

	race.fd[0] = open_rcm(O_NONBLOCK);
	race.fd[1] = open_rcm(O_NONBLOCK);
	race.handle = listener(race.fd[0], IP4, PORT, 0);
	ASSERT_LT(0, race.handle);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, work[i], &race));
	sleep_ms(2000);
	__atomic_store_n(&race.stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	EXPECT_LT(0, race.moves);
	EXPECT_EQ(RCM_STATE_LISTEN, state_of(race.fd[race.at], race.handle));
	close(race.fd[0]);
	close(race.fd[1]);
}

TEST_HARNESS_MAIN
