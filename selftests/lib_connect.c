// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * timeout: 240
 *
 * Connections through the library: what goes along with them and how much of
 * it, how they end, and what each failure looks like.
 */
#include <fcntl.h>
#include <net/if.h>

#include <rdma/rcm.h>

#include "lib_test.h"

#include "kselftest_harness.h"

#define PORT   7570
#define NOBODY "10.0.0.99" /* its link address is known, and it is silent */

FIXTURE(pair)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *client;
	struct rdma_cm_id *server;
	struct rdma_cm_event *event;
	unsigned char data[256];
};

FIXTURE_SETUP(pair)
{
	pattern(self->data, sizeof(self->data));
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	self->listener = listening_id(self->channel, RDMA_PS_TCP, IP4, PORT);
	ASSERT_NE(NULL, self->listener);
	self->client = resolved_id(self->channel, RDMA_PS_TCP, IP4, PORT);
	ASSERT_NE(NULL, self->client);
	ASSERT_EQ(0, create_qp(self->client));
}

FIXTURE_TEARDOWN(pair)
{
	rdma_destroy_ep(self->client);
	rdma_destroy_ep(self->server);
	EXPECT_EQ(0, rdma_destroy_id(self->listener));
	rdma_destroy_event_channel(self->channel);
}

/* The client asks; the request is in self->event, to be acknowledged. */
#define REQUEST(param)                                                   \
	do {                                                             \
		ASSERT_EQ(0, rdma_connect(self->client, param));         \
		self->event = next_event(self->channel,                  \
					 RDMA_CM_EVENT_CONNECT_REQUEST); \
		ASSERT_NE(NULL, self->event);                            \
		self->server = self->event->id;                          \
		ASSERT_EQ(0, create_qp(self->server));                   \
	} while (0)

/* @len bytes of ours, then zeros. */
static int holds(const struct rdma_conn_param *param, const void *data, int len)
{
	const unsigned char *got = param->private_data;
	int i;

	if (param->private_data_len < len || memcmp(got, data, len))
		return 0;
	for (i = len; i < param->private_data_len; i++)
		if (got[i])
			return 0;
	return 1;
}

TEST_F(pair, C43_limits_of_private_data)
{
	struct rdma_conn_param param = { .private_data = self->data };
	int i;

	param.private_data_len = 57;
	EXPECT_EQ(EINVAL, err(rdma_connect(self->client, &param)));
	param.private_data_len = 255;
	EXPECT_EQ(EINVAL, err(rdma_connect(self->client, &param)));
	param.private_data_len = 56;
	REQUEST(&param);
	EXPECT_EQ(56, self->event->param.conn.private_data_len);
	EXPECT_TRUE(holds(&self->event->param.conn, self->data, 56));
	ASSERT_EQ(0, rdma_ack_cm_event(self->event));

	/* What is refused leaves the request as it was. */
	param.private_data_len = 197;
	EXPECT_EQ(EINVAL, err(rdma_accept(self->server, &param)));
	EXPECT_EQ(EINVAL, err(rdma_reject(self->server, self->data, 149)));
	param.private_data_len = 196;
	ASSERT_EQ(0, rdma_accept(self->server, &param));
	for (i = 0; i < 2; i++) {
		self->event =
			next_event(self->channel, RDMA_CM_EVENT_ESTABLISHED);
		ASSERT_NE(NULL, self->event);
		if (self->event->id == self->client)
			EXPECT_TRUE(holds(&self->event->param.conn, self->data,
					  196));
		ASSERT_EQ(0, rdma_ack_cm_event(self->event));
	}
}

TEST_F(pair, C43_of_a_rejection)
{
	struct rdma_conn_param param = {};

	REQUEST(&param);
	/* Nothing was given, and the message's field is zero. */
	EXPECT_TRUE(holds(&self->event->param.conn, "", 0));
	ASSERT_EQ(0, rdma_ack_cm_event(self->event));
	ASSERT_EQ(0, rdma_reject(self->server, self->data, 148));
	self->event = next_event(self->channel, RDMA_CM_EVENT_REJECTED);
	ASSERT_NE(NULL, self->event);
	EXPECT_EQ(28, self->event->status);
	EXPECT_TRUE(holds(&self->event->param.conn, self->data, 148));
	ASSERT_EQ(0, rdma_ack_cm_event(self->event));
}

TEST_F(pair, C44_read_resources_and_retry_counts)
{
	struct rdma_conn_param param = { .responder_resources = 129 };

	/* Soft-RoCE has 128. */
	EXPECT_EQ(EINVAL, err(rdma_connect(self->client, &param)));
	param.responder_resources = 3;
	param.initiator_depth = 200;
	EXPECT_EQ(EINVAL, err(rdma_connect(self->client, &param)));
	param.initiator_depth = 5;
	param.retry_count = 8; /* the field has three bits */
	param.rnr_retry_count = 7;
	REQUEST(&param);
	EXPECT_EQ(5, self->event->param.conn.responder_resources);
	EXPECT_EQ(3, self->event->param.conn.initiator_depth);
	EXPECT_EQ(7, self->event->param.conn.retry_count);
	EXPECT_EQ(7, self->event->param.conn.rnr_retry_count);
	ASSERT_EQ(0, rdma_ack_cm_event(self->event));

	param.responder_resources = 129;
	EXPECT_EQ(EINVAL, err(rdma_accept(self->server, &param)));
	param.responder_resources = RDMA_MAX_RESP_RES;
	param.initiator_depth = RDMA_MAX_INIT_DEPTH;
	ASSERT_EQ(0, rdma_accept(self->server, &param));
	EXPECT_EQ(0, expect_event(self->channel, RDMA_CM_EVENT_ESTABLISHED));
	EXPECT_EQ(0, expect_event(self->channel, RDMA_CM_EVENT_ESTABLISHED));
}

/* What came of both sides until nothing more comes, but for time wait. */
struct seen {
	int established;
	int disconnected;
	int time_wait;
	int other;
	int late; /* ESTABLISHED after DISCONNECTED */
};

static void watch(struct rdma_event_channel *channel, struct rdma_cm_id *client,
		  struct seen seen[2], int ms)
{
	struct rdma_cm_event *event;
	struct seen *side;

	while (readable(channel, ms)) {
		if (rdma_get_cm_event(channel, &event))
			return;
		side = &seen[event->id == client];
		switch (event->event) {
		case RDMA_CM_EVENT_ESTABLISHED:
			side->established++;
			side->late += side->disconnected;
			break;
		case RDMA_CM_EVENT_DISCONNECTED:
			side->disconnected++;
			break;
		case RDMA_CM_EVENT_TIMEWAIT_EXIT:
			side->time_wait++;
			break;
		default:
			side->other++;
			printf("# %s\n", rdma_event_str(event->event));
		}
		rdma_ack_cm_event(event);
	}
}

/* The peer goes after it accepted: its refusal waits behind its response. */
TEST_F(pair, a_connect_that_failed_here_is_told_once)
{
	struct rdma_cm_event *event;

	REQUEST(NULL);
	ASSERT_EQ(0, rdma_accept(self->server, NULL));
	EXPECT_EQ(0, rdma_ack_cm_event(self->event));
	ASSERT_TRUE(readable(self->channel, PATIENCE));
	rdma_destroy_ep(self->server);
	self->server = NULL;
	usleep(500000);
	ASSERT_EQ(0, expect_event(self->channel, RDMA_CM_EVENT_CONNECT_ERROR));
	ASSERT_EQ(0, fcntl(self->channel->fd, F_SETFL, O_NONBLOCK));
	EXPECT_EQ(EAGAIN, err(rdma_get_cm_event(self->channel, &event)));
}

/* The side that accepts may see the end before the beginning, or instead. */
TEST_F_TIMEOUT(pair, C41_each_side_is_told_of_the_end_once, 100)
{
	struct rdma_conn_param param = {};
	struct seen seen[2] = {};
	int i;

	REQUEST(&param);
	ASSERT_EQ(0, rdma_ack_cm_event(self->event));
	ASSERT_EQ(0, rdma_accept(self->server, &param));
	/* The client's own, which confirms; and at once the end. */
	do {
		ASSERT_TRUE(readable(self->channel, PATIENCE));
		ASSERT_EQ(0, rdma_get_cm_event(self->channel, &self->event));
		ASSERT_EQ(RDMA_CM_EVENT_ESTABLISHED, self->event->event);
		seen[self->event->id == self->client].established++;
		rdma_ack_cm_event(self->event);
	} while (!seen[1].established);
	ASSERT_EQ(0, rdma_disconnect(self->client));
	EXPECT_EQ(0, rdma_disconnect(self->server));
	/* A message that is lost is sent again after 4.3 s; then the rest. */
	for (i = 0; i < 8 && !(seen[0].disconnected && seen[1].disconnected);
	     i++)
		watch(self->channel, self->client, seen, 4000);
	watch(self->channel, self->client, seen, 500);
	EXPECT_EQ(1, seen[0].disconnected);
	EXPECT_EQ(1, seen[1].disconnected);
	EXPECT_GE(1, seen[0].established);
	EXPECT_EQ(1, seen[1].established);
	EXPECT_EQ(0, seen[0].late + seen[1].late);
	/* C40: at most once. */
	EXPECT_GE(1, seen[0].time_wait);
	EXPECT_GE(1, seen[1].time_wait);
	EXPECT_EQ(0, seen[0].other + seen[1].other);
}

/* C40: destroyed between the end and the end of time wait, it is silent. */
TEST_F(pair, C40_no_time_wait_of_a_destroyed_identifier)
{
	struct rdma_conn_param param = {};
	struct seen seen[2] = {};

	REQUEST(&param);
	ASSERT_EQ(0, rdma_ack_cm_event(self->event));
	ASSERT_EQ(0, rdma_accept(self->server, &param));
	EXPECT_EQ(0, expect_event(self->channel, RDMA_CM_EVENT_ESTABLISHED));
	EXPECT_EQ(0, expect_event(self->channel, RDMA_CM_EVENT_ESTABLISHED));
	ASSERT_EQ(0, rdma_disconnect(self->client));
	EXPECT_EQ(0, expect_event(self->channel, RDMA_CM_EVENT_DISCONNECTED));
	rdma_destroy_ep(self->client);
	rdma_destroy_ep(self->server);
	self->client = NULL;
	self->server = NULL;
	watch(self->channel, self->client, seen, 2000);
	EXPECT_EQ(0, seen[0].established + seen[1].established +
			     seen[0].disconnected + seen[1].disconnected +
			     seen[0].time_wait + seen[1].time_wait +
			     seen[0].other + seen[1].other);
}

/* --- C62: each failure, told by an event and by a synchronous call */

enum where {
	REFUSED,
	NOBODY_LISTENS,
	SILENT,
	NO_DEVICE,
	NO_NEIGHBOUR,
};

FIXTURE(failure)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	pthread_t refuser;
};

FIXTURE_VARIANT(failure)
{
	enum where where;
	const char *ip;
	enum rdma_cm_event_type event;
	int status;
	int error; /* of the synchronous call */
};

/* clang-format off */
FIXTURE_VARIANT_ADD(failure, C62_refused) {
	REFUSED, IP4, RDMA_CM_EVENT_REJECTED, 28, ECONNREFUSED };
FIXTURE_VARIANT_ADD(failure, C62_nobody_listens) {
	NOBODY_LISTENS, IP4, RDMA_CM_EVENT_REJECTED, 8, ECONNREFUSED };
FIXTURE_VARIANT_ADD(failure, C62_silent_peer) {
	SILENT, NOBODY, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, ETIMEDOUT };
FIXTURE_VARIANT_ADD(failure, C62_no_device) {
	NO_DEVICE, "10.84.0.9", RDMA_CM_EVENT_ADDR_ERROR, -ENODEV, ENODEV };
FIXTURE_VARIANT_ADD(failure, C62_no_neighbour) {
	NO_NEIGHBOUR, "10.85.0.9", RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT, ETIMEDOUT };
/* clang-format on */

/* Two requests, of either kind of identifier. */
static void *refuse_two(void *arg)
{
	struct rdma_cm_id *id;
	int i;

	for (i = 0; i < 2; i++) {
		if (rdma_get_request(arg, &id))
			return NULL;
		rdma_reject(id, NULL, 0);
		rdma_destroy_ep(id);
	}
	return NULL;
}

FIXTURE_SETUP(failure)
{
	if (variant->where == NO_DEVICE)
		system("ip link add nordma type dummy; ip address add 10.84.0.1/24 dev nordma;"
		       "ip link set nordma up");
	if (variant->where == NO_NEIGHBOUR)
		system("ip link add nordma type dummy; ip link set nordma arp on;"
		       "ip address add 10.85.0.1/24 dev nordma; ip link set nordma up");
	if (variant->where == REFUSED) {
		self->listener = listening_id(NULL, RDMA_PS_TCP, IP4, PORT);
		ASSERT_NE(NULL, self->listener);
		ASSERT_EQ(0, pthread_create(&self->refuser, NULL, refuse_two,
					    self->listener));
	}
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
}

FIXTURE_TEARDOWN(failure)
{
	rdma_destroy_event_channel(self->channel);
	if (self->listener) {
		pthread_join(self->refuser, NULL);
		EXPECT_EQ(0, rdma_destroy_id(self->listener));
	}
	system("ip link del nordma 2>/dev/null");
}

/*
 * As far as it goes: 0, or the errno of the call that failed. @failed: the
 * event that reports a failure, of an asynchronous identifier.
 */
static int go(struct rdma_cm_id *id, struct rdma_event_channel *channel,
	      const char *ip, struct rdma_cm_event **failed)
{
	struct rdma_conn_param param = { .qp_num = 1000 + rand() % 10000 };
	union lib_addr addr = lib_addr(ip, PORT);
	__u32 second = 1000;
	int step;

	for (step = 0; step < 3; step++) {
		int ret;

		if (step == 0)
			ret = rdma_resolve_addr(id, NULL, &addr.sa, 500);
		else if (step == 1)
			ret = rdma_resolve_route(id, 500);
		else
			ret = rdma_set_option(id, RCM_OPTION, RCM_OPTION_CONNECT_TIMEOUT, &second, sizeof(second)) ?:
				      rdma_connect(id, &param);
		if (ret)
			return errno;
		if (!channel)
			continue;
		if (!readable(channel, PATIENCE) ||
		    rdma_get_cm_event(channel, failed))
			return -1;
		if ((*failed)->status)
			return 0;
		rdma_ack_cm_event(*failed);
		*failed = NULL;
	}
	return 0;
}

TEST_F_TIMEOUT(failure, C62_by_an_event_and_by_a_synchronous_call, 100)
{
	struct rdma_cm_event *event = NULL;
	struct rdma_cm_id *id;

	ASSERT_EQ(0, rdma_create_id(self->channel, &id, NULL, RDMA_PS_TCP));
	EXPECT_EQ(0, go(id, self->channel, variant->ip, &event));
	ASSERT_NE(NULL, event);
	EXPECT_EQ(variant->event, event->event);
	EXPECT_EQ(variant->status, event->status);
	EXPECT_EQ(0, rdma_ack_cm_event(event));
	EXPECT_EQ(0, rdma_destroy_id(id));

	ASSERT_EQ(0, rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	EXPECT_EQ(variant->error, go(id, NULL, variant->ip, NULL));
	ASSERT_NE(NULL, id->event);
	EXPECT_EQ(variant->event, id->event->event);
	EXPECT_EQ(variant->status, id->event->status);
	rdma_destroy_ep(id);
}

/* What fails at once has no event. */
TEST(C62_no_route_is_told_at_once)
{
	union lib_addr addr = lib_addr("192.0.2.9", PORT);
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	ASSERT_NE(NULL, channel);
	ASSERT_EQ(0, rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	EXPECT_EQ(ENETUNREACH,
		  err(rdma_resolve_addr(id, NULL, &addr.sa, TIMEOUT)));
	EXPECT_FALSE(readable(channel, 0));
	EXPECT_EQ(0, rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
	ASSERT_EQ(0, rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	EXPECT_EQ(ENETUNREACH,
		  err(rdma_resolve_addr(id, NULL, &addr.sa, TIMEOUT)));
	EXPECT_EQ(NULL, id->event);
	EXPECT_EQ(0, rdma_destroy_id(id));
}

/* --- C27: a link-local address, from its name to both ends */

static unsigned int scope_of(struct sockaddr *addr)
{
	return addr->sa_family == AF_INET6 ?
		       ((struct sockaddr_in6 *)addr)->sin6_scope_id :
		       0;
}

TEST(C27_the_scope_of_a_link_local_address_is_kept)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *res;
	struct rdma_conn_param param = { .qp_num = 99 };
	unsigned int scope = if_nametoindex("d0");
	struct rdma_cm_id *listener, *id;
	struct rdma_cm_event *event;
	union lib_addr addr;
	int i;

	ASSERT_NE(NULL, channel);
	ASSERT_EQ(0, system("ip address add fe80::77/64 dev d0 nodad"));
	addr = lib_addr("fe80::77", PORT);
	ASSERT_EQ(0, rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP));
	EXPECT_EQ(EINVAL, err(rdma_bind_addr(listener, &addr.sa)));
	addr.sin6.sin6_scope_id = scope;
	/* The device has a GID for a new address a moment later. */
	for (i = 0; i < 300 && rdma_bind_addr(listener, &addr.sa); i++)
		usleep(10000);
	EXPECT_EQ(scope, scope_of(rdma_get_local_addr(listener)));
	ASSERT_EQ(0, rdma_listen(listener, 1));

	ASSERT_EQ(0, rdma_getaddrinfo("fe80::77%d0", "7570", &hints, &res));
	EXPECT_EQ(scope, scope_of(res->ai_dst_addr));
	ASSERT_EQ(0, rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	ASSERT_EQ(0, rdma_resolve_addr(id, NULL, res->ai_dst_addr, TIMEOUT));
	rdma_freeaddrinfo(res);
	ASSERT_EQ(0, expect_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED));
	ASSERT_EQ(0, rdma_resolve_route(id, TIMEOUT));
	ASSERT_EQ(0, expect_event(channel, RDMA_CM_EVENT_ROUTE_RESOLVED));
	EXPECT_EQ(scope, scope_of(rdma_get_local_addr(id)));
	EXPECT_EQ(scope, scope_of(rdma_get_peer_addr(id)));
	ASSERT_EQ(0, rdma_connect(id, &param));
	event = next_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(scope, scope_of(rdma_get_local_addr(event->id)));
	EXPECT_EQ(scope, scope_of(rdma_get_peer_addr(event->id)));
	EXPECT_EQ(rdma_get_src_port(id), rdma_get_dst_port(event->id));
	/* The event counts for the listener, so the request's can go first. */
	EXPECT_EQ(0, rdma_destroy_id(event->id));
	EXPECT_EQ(0, rdma_ack_cm_event(event));
	EXPECT_EQ(0, rdma_destroy_id(id));
	EXPECT_EQ(0, rdma_destroy_id(listener));
	rdma_destroy_event_channel(channel);
	system("ip address del fe80::77/64 dev d0");
}

/* --- another channel */

TEST(migrate_with_what_was_not_read)
{
	struct rdma_event_channel *one = rdma_create_event_channel();
	struct rdma_event_channel *two = rdma_create_event_channel();
	union lib_addr addr = lib_addr(IP4, PORT);
	struct rdma_cm_id *id;

	ASSERT_NE(NULL, one);
	ASSERT_NE(NULL, two);
	ASSERT_EQ(0, rdma_create_id(one, &id, NULL, RDMA_PS_TCP));
	ASSERT_EQ(0, rdma_resolve_addr(id, NULL, &addr.sa, TIMEOUT));
	ASSERT_TRUE(readable(one, PATIENCE));
	ASSERT_EQ(0, rdma_migrate_id(id, two));
	EXPECT_EQ(two, id->channel);
	EXPECT_FALSE(readable(one, 0));
	ASSERT_EQ(0, expect_event(two, RDMA_CM_EVENT_ADDR_RESOLVED));

	/* Without channel its calls wait. */
	ASSERT_EQ(0, rdma_migrate_id(id, NULL));
	ASSERT_EQ(0, rdma_resolve_route(id, TIMEOUT));
	ASSERT_NE(NULL, id->event);
	EXPECT_EQ(RDMA_CM_EVENT_ROUTE_RESOLVED, id->event->event);

	/* And back. */
	ASSERT_EQ(0, rdma_migrate_id(id, one));
	EXPECT_EQ(NULL, id->event);
	EXPECT_EQ(one, id->channel);
	EXPECT_FALSE(readable(one, 0));
	EXPECT_EQ(0, rdma_destroy_id(id));
	rdma_destroy_event_channel(one);
	rdma_destroy_event_channel(two);
}

TEST_HARNESS_MAIN
