// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What rdma_get_src_port() and rdma_get_dst_port() say on each step of an
 * identifier's way, through the library: network byte order, 0 for none.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <string.h>

#include "kselftest_harness.h"

#define IP4  "10.0.0.1"
#define IP6  "fd00::1"
#define PORT 7471

FIXTURE(lib)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
};

FIXTURE_VARIANT(lib)
{
	const char *ip;
};

FIXTURE_VARIANT_ADD(lib, v4){ .ip = IP4 };
FIXTURE_VARIANT_ADD(lib, v6){ .ip = IP6 };

FIXTURE_SETUP(lib)
{
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	ASSERT_EQ(0,
		  rdma_create_id(self->channel, &self->id, NULL, RDMA_PS_TCP));
}

FIXTURE_TEARDOWN(lib)
{
	EXPECT_EQ(0, rdma_destroy_id(self->id));
	rdma_destroy_event_channel(self->channel);
}

static struct sockaddr *address(const char *ip, int port)
{
	static struct sockaddr_storage to;
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)&to;
	struct sockaddr_in *sin = (struct sockaddr_in *)&to;

	memset(&to, 0, sizeof(to));
	if (inet_pton(AF_INET, ip, &sin->sin_addr) == 1) {
		sin->sin_family = AF_INET;
		sin->sin_port = htons(port);
	} else {
		inet_pton(AF_INET6, ip, &sin6->sin6_addr);
		sin6->sin6_family = AF_INET6;
		sin6->sin6_port = htons(port);
	}
	return (struct sockaddr *)&to;
}

/* The next event's type, acknowledged; -1: none within three seconds. */
static int next(struct rdma_event_channel *channel)
{
	struct pollfd pfd = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	int type;

	if (poll(&pfd, 1, 3000) != 1 || rdma_get_cm_event(channel, &event))
		return -1;
	type = event->event;
	rdma_ack_cm_event(event);
	return type;
}

TEST_F(lib, unbound_has_no_ports)
{
	EXPECT_EQ(0, rdma_get_src_port(self->id));
	EXPECT_EQ(0, rdma_get_dst_port(self->id));
}

TEST_F(lib, bound_has_its_port_in_network_order)
{
	ASSERT_EQ(0, rdma_bind_addr(self->id, address(variant->ip, PORT)));
	EXPECT_EQ(htons(PORT), rdma_get_src_port(self->id));
	EXPECT_EQ(0, rdma_get_dst_port(self->id));
	EXPECT_NE(NULL, self->id->verbs);
	EXPECT_EQ(1, self->id->port_num);
}

TEST_F(lib, C07_an_ephemeral_port_is_there_after_bind)
{
	struct sockaddr_in *src;

	ASSERT_EQ(0, rdma_bind_addr(self->id, address(variant->ip, 0)));
	EXPECT_LE(1024, ntohs(rdma_get_src_port(self->id)));
	src = (struct sockaddr_in *)rdma_get_local_addr(self->id);
	EXPECT_EQ(src->sin_port, rdma_get_src_port(self->id));
}

TEST_F(lib, a_wildcard_has_its_port)
{
	ASSERT_EQ(0, rdma_bind_addr(self->id, address("0.0.0.0", PORT)));
	EXPECT_EQ(htons(PORT), rdma_get_src_port(self->id));
	ASSERT_EQ(0, rdma_listen(self->id, 1));
	EXPECT_EQ(htons(PORT), rdma_get_src_port(self->id));
	EXPECT_EQ(0, rdma_get_dst_port(self->id));
}

TEST_F(lib, listening_without_bind_has_a_port)
{
	ASSERT_EQ(0, rdma_listen(self->id, 1));
	EXPECT_NE(0, rdma_get_src_port(self->id));
}

TEST_F(lib, resolved_has_both)
{
	ASSERT_EQ(0, rdma_resolve_addr(self->id, NULL,
				       address(variant->ip, PORT), 1000));
	ASSERT_EQ(RDMA_CM_EVENT_ADDR_RESOLVED, next(self->channel));
	EXPECT_NE(0, rdma_get_src_port(self->id));
	EXPECT_EQ(htons(PORT), rdma_get_dst_port(self->id));
}

TEST_F(lib, a_failed_bind_leaves_no_port)
{
	struct rdma_cm_id *other;

	ASSERT_EQ(0, rdma_bind_addr(self->id, address(variant->ip, PORT)));
	ASSERT_EQ(0, rdma_create_id(self->channel, &other, NULL, RDMA_PS_TCP));
	errno = 0;
	EXPECT_EQ(-1, rdma_bind_addr(other, address(variant->ip, PORT)));
	EXPECT_EQ(EADDRINUSE, errno);
	EXPECT_EQ(0, rdma_get_src_port(other));
	EXPECT_EQ(-1, rdma_bind_addr(other, address("0.0.0.0", PORT)));
	EXPECT_EQ(EADDRNOTAVAIL, errno);
	EXPECT_EQ(0, rdma_destroy_id(other));
}

TEST_F(lib, C73_calls_on_a_fresh_identifier_are_EINVAL)
{
	struct rdma_conn_param conn = {};

	errno = 0;
	EXPECT_EQ(-1, rdma_resolve_route(self->id, 100));
	EXPECT_EQ(EINVAL, errno);
	errno = 0;
	EXPECT_EQ(-1, rdma_connect(self->id, &conn));
	EXPECT_EQ(EINVAL, errno);
	errno = 0;
	EXPECT_EQ(-1, rdma_accept(self->id, &conn));
	EXPECT_EQ(EINVAL, errno);
	errno = 0;
	EXPECT_EQ(-1, rdma_disconnect(self->id));
	EXPECT_EQ(EINVAL, errno);
	errno = 0;
	EXPECT_EQ(-1, rdma_establish(self->id));
	EXPECT_EQ(EINVAL, errno);
}

TEST_HARNESS_MAIN
