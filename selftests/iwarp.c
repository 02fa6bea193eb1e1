// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * timeout: 900
 * rigs: uml
 *
 * Connections over iWARP (siw) by ioctls, both ends in one process.  Unlike on
 * RoCE the queue pairs have to exist, since iw_cm moves them itself.  Debian's
 * kernel has no siw.
 */
#include "siw.h"

#include "kselftest_harness.h"

#define DEAD "10.82.0.9" /* the interface has no ARP: known, and silent */
#define PORT 7471
#define WAIT 8000
/* siw's own time-out for the peer's answer, or a bit more on a slow machine. */
#define SIW_WAIT 40000

/* Each test is a process of its own, which ends without this. */
__attribute__((destructor)) static void after_the_last_test(void)
{
	del_siw();
}

/* siw sends its own four bytes with them, and counts in eight bits. */
#define MAX_REQUEST    251
#define MAX_REPLY      251
#define TOLD(len, max) (len)
/* iw_cm is not told before it asks. */
#define PEER_GONE (-ECONNRESET)
#define ADDR4	  SIW_IP4
#define ADDR6	  SIW_IP6

/* Slow, so the device stays for the next test. */
static int bring_up(void)
{
	int ret = access("/sys/class/infiniband/" SIW_DEV, F_OK) ? add_siw() :
								   0;

	return ret ?: open_verbs();
}

static int take_down(void)
{
	close_verbs();
	return 0;
}

static int ask(int fd, int handle, const void *data, int len)
{
	return iw_connect(fd, handle, data, len);
}

static int answer(int fd, int handle, const void *data, int len)
{
	return iw_accept(fd, handle, data, len);
}

static int join(int fd, int client_fd, int client, struct rcm_event *event)
{
	int ret = next_event(fd, NULL, WAIT);

	(void)client;
	if (ret == EV_ESTABLISHED)
		ret = next_event(client_fd, event, WAIT);
	return ret == EV_ESTABLISHED ? 0 : ret ?: -EPROTO;
}

/* By the call itself: the host refuses a TCP connection. */
static int refused(int fd, int client)
{
	int ret = ask(fd, client, NULL, 0);

	return ret == -ECONNREFUSED ? 0 : ret ?: -EPROTO;
}

#include "each_transport.h"

TEST_F(connect, from_request_to_the_end)
{
	struct rcm_query arg;

	ASSERT_EQ(0, query(self->client_fd, self->client, &arg));
	EXPECT_EQ(0, arg.out_endpoint.num_paths);
	REQUEST(NULL, 0);
	EXPECT_EQ(self->listener, (int)self->event.out_handle);
	EXPECT_EQ(0, self->event.out_status);
	EXPECT_STREQ(variant->ip, host_of(&self->event.out_endpoint.src));
	EXPECT_STREQ(variant->ip, host_of(&self->event.out_endpoint.dst));
	EXPECT_EQ(PORT, port_of(&self->event.out_endpoint.src));
	EXPECT_EQ(src_port(self->client_fd, self->client),
		  port_of(&self->event.out_endpoint.dst));
	EXPECT_EQ(if_nametoindex(SIW_LINK), self->event.out_endpoint.ifindex);
	EXPECT_EQ(1, self->event.out_endpoint.port_num);
	EXPECT_EQ(RCM_STATE_REQ_RCVD, self->event.out_endpoint.state);

	ACCEPTED();
	EXPECT_EQ(self->client, (int)self->event.out_handle);
	EXPECT_EQ(RCM_STATE_ESTABLISHED, self->event.out_endpoint.state);
	EXPECT_EQ(RCM_STATE_ESTABLISHED, state_of(self->fd, self->server));
	EXPECT_EQ(-EINVAL, establish(self->client_fd, self->client));
	EXPECT_EQ(0, notify(self->client_fd, self->client, 4));

	ASSERT_EQ(0, disconnect(self->client_fd, self->client));
	ASSERT_EQ(EV_DISCONNECTED, next_event(self->fd, &self->event, WAIT));
	ASSERT_EQ(EV_DISCONNECTED,
		  next_event(self->client_fd, &self->event, WAIT));
	EXPECT_EQ(RCM_STATE_DISCONNECTED,
		  state_of(self->client_fd, self->client));
	EXPECT_EQ(0, disconnect(self->fd, self->server));
	EXPECT_EQ(0, disconnect(self->client_fd, self->client));
	EXPECT_EQ(-ETIME, next_event(self->client_fd, NULL, 300));
	EXPECT_EQ(-ETIME, next_event(self->fd, NULL, 0));

	/* ADDR_RESOLVED, ROUTE_RESOLVED, ESTABLISHED, DISCONNECTED. */
	EXPECT_EQ(4, destroy(self->client_fd, self->client));
	EXPECT_EQ(2, destroy(self->fd, self->server));
	EXPECT_EQ(1, destroy(self->fd, self->listener));
}

/* All that follows does not depend on the kind of address. */
FIXTURE(iw)
{
	int fd;
	int client_fd;
	int listener;
	int client;
	int server;
	struct rcm_event event;
	struct rcm_query query;
};

FIXTURE_SETUP(iw)
{
	ASSERT_EQ(0, bring_up());
	self->fd = open_rcm(0);
	ASSERT_LE(0, self->fd);
	self->client_fd = open_rcm(0);
	ASSERT_LE(0, self->client_fd);
	self->listener = listener(self->fd, SIW_IP4, PORT, 0);
	ASSERT_LT(0, self->listener);
	self->client = ready_to_connect(self->client_fd, SIW_IP4, PORT);
	ASSERT_LT(0, self->client);
}

FIXTURE_TEARDOWN(iw)
{
	close(self->fd);
	close(self->client_fd);
	EXPECT_EQ(0, take_down());
	EXPECT_TRUE(nothing_left(5000));
}

TEST_F(iw, read_resources_are_mirrored_and_checked)
{
	struct rcm_conn_param conn = iw_param(NULL, 0);

	conn.responder_resources = 129;
	EXPECT_EQ(-EINVAL, connect_with(self->client_fd, self->client, &conn));
	conn.responder_resources = 3;
	conn.initiator_depth = 5;
	ASSERT_EQ(0, connect_with(self->client_fd, self->client, &conn));
	ASSERT_EQ(EV_CONNECT_REQUEST, next_event(self->fd, &self->event, WAIT));
	EXPECT_EQ(5, self->event.out_conn.responder_resources);
	EXPECT_EQ(3, self->event.out_conn.initiator_depth);
	EXPECT_EQ(0, self->event.out_conn.qp_num);

	self->server = self->event.out_new_handle;
	conn.qp_num = new_qp();
	conn.responder_resources = 5;
	conn.initiator_depth = 2;
	ASSERT_EQ(0, accept_with(self->fd, self->server, 42, &conn));
	ASSERT_EQ(EV_ESTABLISHED, next_event(self->fd, &self->event, WAIT));
	EXPECT_EQ(42, self->event.out_uid);
	ASSERT_EQ(EV_ESTABLISHED,
		  next_event(self->client_fd, &self->event, WAIT));
}

/*
 * What siw makes of a refusal, and the in-tree manager tells, too. When siw
 * looks late it sees that the peer has closed before it reads what that wrote.
 */
TEST_F(iw, reject_brings_private_data)
{
	unsigned char data[256];
	int tries = 5;

	pattern(data, sizeof(data));
again:
	REQUEST(NULL, 0);
	EXPECT_EQ(-EINVAL, reject(self->fd, self->server, 0, data, 256));
	ASSERT_EQ(0, reject(self->fd, self->server, 0, data, 200));
	EXPECT_EQ(RCM_STATE_FAILED, state_of(self->fd, self->server));
	ASSERT_EQ(EV_REJECTED, next_event(self->client_fd, &self->event, WAIT));
	EXPECT_EQ(-ECONNRESET, self->event.out_status);
	if (!self->event.out_conn.private_data_len && --tries) {
		self->client = ready_to_connect(self->client_fd, SIW_IP4, PORT);
		ASSERT_LT(0, self->client);
		goto again;
	}
	EXPECT_EQ(200, self->event.out_conn.private_data_len);
	EXPECT_EQ(0, memcmp(data, self->event.out_conn.private_data, 200));
	EXPECT_EQ(RCM_STEP_REJECTED, self->event.out_reason.step);
	EXPECT_EQ(-ECONNRESET, self->event.out_reason.error);
	EXPECT_EQ(RCM_STATE_FAILED, state_of(self->client_fd, self->client));
	EXPECT_EQ(-EINVAL, reject(self->fd, self->server, 0, NULL, 0));
}

TEST_F(iw, nobody_listens_is_ECONNREFUSED_and_may_be_tried_again)
{
	int other = ready_to_connect(self->client_fd, SIW_IP4, PORT + 1);

	ASSERT_LT(0, other);
	EXPECT_EQ(-ECONNREFUSED, ask(self->client_fd, other, NULL, 0));
	ASSERT_EQ(0, query(self->client_fd, other, &self->query));
	EXPECT_EQ(RCM_STATE_ROUTE_RESOLVED, self->query.out_endpoint.state);
	EXPECT_EQ(RCM_STEP_SEND, self->query.out_reason.step);
	EXPECT_EQ(-ECONNREFUSED, self->query.out_reason.error);
	EXPECT_EQ(-ETIME, next_event(self->client_fd, NULL, 0));

	ASSERT_LT(0, listener(self->fd, SIW_IP4, PORT + 1, 0));
	EXPECT_EQ(0, ask(self->client_fd, other, NULL, 0));
	EXPECT_EQ(EV_CONNECT_REQUEST, next_event(self->fd, NULL, WAIT));
}

TEST_F(iw, a_queue_pair_that_is_not_there_is_EINVAL_and_loses_nothing)
{
	struct rcm_conn_param conn = conn_param(NULL, 0);

	conn.qp_num = 0xfffff0;
	EXPECT_EQ(-EINVAL, connect_with(self->client_fd, self->client, &conn));
	EXPECT_EQ(RCM_STATE_ROUTE_RESOLVED,
		  state_of(self->client_fd, self->client));
	REQUEST(NULL, 0);
	EXPECT_EQ(-EINVAL, accept_with(self->fd, self->server, 0, &conn));
	EXPECT_EQ(RCM_STATE_REQ_RCVD, state_of(self->fd, self->server));
	ACCEPTED();
}

TEST_F(iw, attributes_of_a_queue_pair)
{
	const int access = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PORT;
	const int remote = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	struct rcm_init_qp_attr attr;

	ASSERT_EQ(0, init_qp_attr(self->client_fd, self->client, IBV_QPS_INIT,
				  &attr));
	EXPECT_EQ(access, (int)attr.out_mask);
	EXPECT_EQ(0, attr.out_attr.qp_access_flags);
	EXPECT_EQ(1, attr.out_attr.port_num);
	REQUEST(NULL, 0);
	EXPECT_EQ(access, (int)self->event.out_qp.init_mask);
	EXPECT_EQ(access, (int)self->event.out_qp.rtr_mask);
	EXPECT_EQ(IBV_QP_PORT, (int)self->event.out_qp.rts_mask);
	EXPECT_EQ(remote, (int)self->event.out_qp.qp_access_flags);
	ASSERT_EQ(0, init_qp_attr(self->fd, self->server, IBV_QPS_RTS, &attr));
	EXPECT_EQ(IBV_QP_PORT, (int)attr.out_mask);
}

TEST_F(iw, a_full_backlog_rejects)
{
	int small = listener(self->fd, SIW_IP4, PORT + 1, 1);
	int first = ready_to_connect(self->client_fd, SIW_IP4, PORT + 1);
	int second = ready_to_connect(self->client_fd, SIW_IP4, PORT + 1);

	ASSERT_LT(0, small);
	ASSERT_EQ(0, ask(self->client_fd, first, NULL, 0));
	ASSERT_TRUE(readable(self->fd, WAIT));
	ASSERT_EQ(0, ask(self->client_fd, second, NULL, 0));
	ASSERT_EQ(EV_REJECTED, next_event(self->client_fd, &self->event, WAIT));
	EXPECT_EQ(second, (int)self->event.out_handle);
	ASSERT_EQ(0, query(self->fd, small, &self->query));
	EXPECT_EQ(RCM_STEP_BACKLOG, self->query.out_reason.step);
}

/* Waiting for the peer there would deadlock with its answer. */
TEST_F(iw, disconnect_before_the_answer_does_nothing_and_does_not_wait)
{
	long long start;

	REQUEST(NULL, 0);
	start = now_ms();
	EXPECT_EQ(0, disconnect(self->client_fd, self->client));
	EXPECT_EQ(0, disconnect(self->fd, self->server));
	EXPECT_GT(3000, now_ms() - start);
	ACCEPTED();
}

TEST_F(iw, the_connect_timeout_is_kept)
{
	long long start;

	ASSERT_EQ(0, set_own_option(self->client_fd, self->client,
				    RCM_OPTION_CONNECT_TIMEOUT, 500));
	REQUEST(NULL, 0);
	start = now_ms();
	ASSERT_EQ(EV_UNREACHABLE,
		  next_event(self->client_fd, &self->event, WAIT));
	EXPECT_GT(4000, now_ms() - start);
	EXPECT_EQ(-ETIMEDOUT, self->event.out_status);
	EXPECT_EQ(RCM_STEP_CONNECT, self->event.out_reason.step);
	/* The answer is too late, and is nobody's. */
	answer(self->fd, self->server, NULL, 0);
	EXPECT_EQ(-ETIME, next_event(self->client_fd, NULL, 300));
	EXPECT_EQ(3, destroy(self->client_fd, self->client));
}

TEST_F_TIMEOUT(iw, no_answer_is_UNREACHABLE, 100)
{
	REQUEST(NULL, 0);
	ASSERT_EQ(EV_UNREACHABLE,
		  next_event(self->client_fd, &self->event, SIW_WAIT));
	EXPECT_EQ(-ETIMEDOUT, self->event.out_status);
	EXPECT_EQ(RCM_STEP_CONNECT, self->event.out_reason.step);
	EXPECT_EQ(-ETIMEDOUT, self->event.out_reason.error);
	EXPECT_EQ(RCM_STATE_FAILED, state_of(self->client_fd, self->client));
}

static void nothing(int signum)
{
	(void)signum;
}

/* siw makes the TCP connection within the call. */
TEST_F(iw, C45_a_connect_to_a_dead_host_can_be_interrupted)
{
	struct sigaction action = { .sa_handler = nothing };
	int dead = ready_to_connect(self->client_fd, DEAD, PORT);
	pid_t killer;

	ASSERT_LT(0, dead);
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	killer = fork();
	if (!killer) {
		sleep(2);
		kill(getppid(), SIGUSR1);
		_exit(0);
	}
	EXPECT_EQ(-EINTR, ask(self->client_fd, dead, NULL, 0));
	EXPECT_EQ(killer, waitpid(killer, NULL, 0));
	ASSERT_EQ(0, query(self->client_fd, dead, &self->query));
	EXPECT_EQ(RCM_STATE_ROUTE_RESOLVED, self->query.out_endpoint.state);
	EXPECT_EQ(-EINTR, self->query.out_reason.error);
	EXPECT_EQ(2, destroy(self->client_fd, dead));
}

/* A peer that closes instead of answering. */
TEST_F(iw, a_peer_that_hangs_up_is_REJECTED)
{
	addr_t any = addr(SIW_IP4, PORT + 2);
	int sock = socket(AF_INET, SOCK_STREAM, 0);
	int other = ready_to_connect(self->client_fd, SIW_IP4, PORT + 2);
	int peer;

	ASSERT_EQ(0, bind(sock, (struct sockaddr *)&any,
			  sizeof(struct sockaddr_in)));
	ASSERT_EQ(0, listen(sock, 1));
	ASSERT_EQ(0, ask(self->client_fd, other, NULL, 0));
	peer = accept(sock, NULL, NULL);
	ASSERT_LE(0, peer);
	close(peer);
	close(sock);
	ASSERT_EQ(EV_REJECTED, next_event(self->client_fd, &self->event, WAIT));
	EXPECT_EQ(-ECONNRESET, self->event.out_status);
	EXPECT_EQ(RCM_STEP_REJECTED, self->event.out_reason.step);
}

TEST_F(iw, C10_a_TCP_socket_on_the_port_is_EADDRINUSE)
{
	addr_t taken = addr(SIW_IP4, PORT + 3);
	int sock = socket(AF_INET, SOCK_STREAM, 0);
	int handle;

	ASSERT_EQ(0, bind(sock, (struct sockaddr *)&taken,
			  sizeof(struct sockaddr_in)));
	ASSERT_EQ(0, listen(sock, 1));
	EXPECT_EQ(-EADDRINUSE, listener(self->fd, SIW_IP4, PORT + 3, 0));
	close(sock);
	handle = listener(self->fd, SIW_IP4, PORT + 4, 0);
	EXPECT_LT(0, handle);
}

/* The rig's Soft-RoCE device is there, too. */
TEST_F(iw, C21_a_wildcard_listener_is_undone_when_a_device_fails)
{
	addr_t taken = addr(SIW_IP4, PORT + 8);
	int sock = socket(AF_INET, SOCK_STREAM, 0);
	int any = create_tcp(self->fd);
	struct rcm_event event;
	long long start;
	int client;

	ASSERT_EQ(0, bind(sock, (struct sockaddr *)&taken,
			  sizeof(struct sockaddr_in)));
	ASSERT_EQ(0, listen(sock, 1));
	ASSERT_EQ(0, bind_text(self->fd, any, "0.0.0.0", PORT + 8));
	EXPECT_EQ(-EADDRINUSE, listen_on(self->fd, any, 0));
	EXPECT_EQ(RCM_STATE_BOUND, state_of(self->fd, any));
	client = ready_to_connect(self->client_fd, IP4, PORT + 8);
	ASSERT_LT(0, client);
	ASSERT_EQ(0, connect_data(self->client_fd, client, NULL, 0));
	EXPECT_EQ(EV_REJECTED, next_event(self->client_fd, NULL, WAIT));

	close(sock);
	ASSERT_EQ(0, listen_on(self->fd, any, 0));
	client = ready_to_connect(self->client_fd, IP4, PORT + 8);
	ASSERT_LT(0, client);
	ASSERT_EQ(0, connect_data(self->client_fd, client, NULL, 0));
	EXPECT_EQ(EV_CONNECT_REQUEST, next_event(self->fd, &event, WAIT));
	start = now_ms();
	EXPECT_LE(0, destroy(self->fd, any));
	EXPECT_GT(5000, now_ms() - start);
}

/* A loopback address is for this host, and siw has none there. */
TEST_F(iw, a_loopback_listener_hears_nothing_from_elsewhere)
{
	int local = listener(self->fd, "127.0.0.1", PORT + 5, 0);
	int other = ready_to_connect(self->client_fd, SIW_IP4, PORT + 5);

	ASSERT_LT(0, local);
	ASSERT_LT(0, other);
	EXPECT_EQ(-ECONNREFUSED, ask(self->client_fd, other, NULL, 0));
}

TEST_F(iw, datagrams_and_multicast_are_refused)
{
	struct rcm_join_multicast join = {
		.size = sizeof(join),
		.number = 1,
		.addr = addr("239.1.1.1", 0),
	};
	int bound = create(self->fd, 0, PS_UDP);
	int any = create(self->fd, 0, PS_UDP);
	struct rcm_conn_param conn = iw_param(NULL, 0);

	ASSERT_EQ(0, bind_text(self->fd, bound, SIW_IP4, PORT));
	EXPECT_EQ(-EOPNOTSUPP, listen_on(self->fd, bound, 0));
	EXPECT_EQ(RCM_STATE_BOUND, state_of(self->fd, bound));
	join.handle = bound;
	EXPECT_EQ(-ENOSYS, call(self->fd, RCM_JOIN_MULTICAST, &join));
	/* C21: one that cannot is left out. */
	ASSERT_EQ(0, bind_text(self->fd, any, "0.0.0.0", PORT + 6));
	EXPECT_EQ(0, listen_on(self->fd, any, 0));

	ASSERT_EQ(0, resolve_flags(self->fd, bound, NULL, SIW_IP4, PORT + 6,
				   1000, RCM_RESOLVE_BOTH));
	ASSERT_EQ(EV_ADDR_RESOLVED, next_event(self->fd, NULL, WAIT));
	ASSERT_EQ(EV_ROUTE_RESOLVED, next_event(self->fd, NULL, WAIT));
	EXPECT_EQ(-EINVAL, connect_with(self->fd, bound, &conn));
}

/* siw is gone when its queue pairs are; it tells us before. */
TEST_F_TIMEOUT(iw, a_removed_device_is_let_go_in_any_state, 100)
{
	int idle = create_tcp(self->client_fd);
	int waiting = ready_to_connect(self->client_fd, SIW_IP4, PORT);
	int seen = 0, type;
	FILE *removal;

	REQUEST(NULL, 0);
	ACCEPTED();
	ASSERT_EQ(0, ask(self->client_fd, waiting, NULL, 0));
	ASSERT_EQ(EV_CONNECT_REQUEST, next_event(self->fd, NULL, WAIT));

	removal = popen("timeout 60 rdma link del " SIW_DEV, "r");
	ASSERT_NE(NULL, removal);
	while (seen < 2 &&
	       (type = next_event(self->client_fd, NULL, SIW_WAIT)) >= 0)
		seen += type == EV_DEVICE_REMOVAL;
	EXPECT_EQ(2, seen);
	close_verbs();
	EXPECT_EQ(0, pclose(removal));
	EXPECT_EQ(-ENODEV, disconnect(self->client_fd, self->client));
	EXPECT_EQ(-ENODEV, disconnect(self->client_fd, waiting));
	EXPECT_EQ(-ENODEV, listen_on(self->fd, self->listener, 0));
	EXPECT_EQ(-ETIME, next_event(self->client_fd, NULL, 0));
	EXPECT_EQ(RCM_STATE_IDLE, state_of(self->client_fd, idle));
}

TEST_F(iw, a_wildcard_listener_takes_a_device_that_comes_later)
{
	int any = listener(self->fd, "0.0.0.0", PORT + 7, 0);
	int later;

	ASSERT_LT(0, any);
	close_verbs();
	ASSERT_EQ(0, sh("rdma link del " SIW_DEV));
	EXPECT_EQ(EV_DEVICE_REMOVAL, next_event(self->fd, NULL, WAIT));
	EXPECT_EQ(EV_DEVICE_REMOVAL, next_event(self->client_fd, NULL, WAIT));
	ASSERT_EQ(0, sh("rdma link add " SIW_DEV " type siw netdev " SIW_LINK));
	ASSERT_TRUE(wait_for_address(SIW_IP4));
	ASSERT_EQ(0, open_verbs());
	later = ready_to_connect(self->client_fd, SIW_IP4, PORT + 7);
	ASSERT_LT(0, later);
	ASSERT_EQ(0, ask(self->client_fd, later, NULL, 0));
	ASSERT_EQ(EV_CONNECT_REQUEST, next_event(self->fd, &self->event, WAIT));
	EXPECT_EQ(any, (int)self->event.out_handle);
}

TEST_HARNESS_MAIN
