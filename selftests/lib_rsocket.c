// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * rigs: vm
 * timeout: 180
 *
 * Each function of <rdma/rsocket.h>, which the distribution's librdmacm
 * serves over identifiers of ours. Both ends are in this process.
 */
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/uio.h>

#include <rdma/rsocket.h>

#include "lib_test.h"

#include "kselftest_harness.h"

#define PORT 7590
#define SIZE 1000

FIXTURE(rs)
{
	int listener;
	int client;
	int server;
	pthread_t acceptor;
	char from[SIZE];
	char to[SIZE];
};

static void *accept_one(void *arg)
{
	FIXTURE_DATA(rs) *self = arg;

	self->server = raccept(self->listener, NULL, NULL);
	return NULL;
}

FIXTURE_SETUP(rs)
{
	union lib_addr addr = lib_addr(IP4, PORT);
	int on = 1, i;

	/* Its ABI number is asked for, and no more. */
	ASSERT_EQ(0, system("modprobe rdma_ucm"));
	for (i = 0; i < SIZE; i++)
		self->from[i] = i * 3 + 1;
	self->listener = rsocket(AF_INET, SOCK_STREAM, 0);
	ASSERT_LE(0, self->listener);
	ASSERT_EQ(0, rsetsockopt(self->listener, SOL_SOCKET, SO_REUSEADDR, &on,
				 sizeof(on)));
	/* Mappings that the peer may have, see writes_into_mapped_memory */
	ASSERT_EQ(0, rsetsockopt(self->listener, SOL_RDMA, RDMA_IOMAPSIZE, &on,
				 sizeof(on)));
	ASSERT_EQ(0, rbind(self->listener, &addr.sa, sizeof(addr.sin)));
	ASSERT_EQ(0, rlisten(self->listener, 4));
	ASSERT_EQ(0, pthread_create(&self->acceptor, NULL, accept_one, self));
	self->client = rsocket(AF_INET, SOCK_STREAM, 0);
	ASSERT_LE(0, self->client);
	ASSERT_EQ(0, rsetsockopt(self->client, SOL_RDMA, RDMA_IOMAPSIZE, &on,
				 sizeof(on)));
	ASSERT_EQ(0, rconnect(self->client, &addr.sa, sizeof(addr.sin)));
	ASSERT_EQ(0, pthread_join(self->acceptor, NULL));
	ASSERT_LE(0, self->server);
}

FIXTURE_TEARDOWN(rs)
{
	EXPECT_EQ(0, rclose(self->client));
	EXPECT_EQ(0, rclose(self->server));
	EXPECT_EQ(0, rclose(self->listener));
}

/* All of it came, and is the same. */
static int same(const void *from, const void *to, ssize_t got)
{
	return got == SIZE && !memcmp(from, to, SIZE);
}

TEST_F(rs, send_and_recv)
{
	ASSERT_EQ(SIZE, rsend(self->client, self->from, SIZE, 0));
	EXPECT_TRUE(same(self->from, self->to,
			 rrecv(self->server, self->to, SIZE, MSG_WAITALL)));
}

TEST_F(rs, write_and_read)
{
	ASSERT_EQ(SIZE, rwrite(self->client, self->from, SIZE));
	EXPECT_TRUE(same(self->from, self->to,
			 rread(self->server, self->to, SIZE)));
}

TEST_F(rs, writev_and_readv)
{
	struct iovec out[2] = { { self->from, 300 },
				{ self->from + 300, SIZE - 300 } };
	struct iovec in[2] = { { self->to, 700 },
			       { self->to + 700, SIZE - 700 } };
	ssize_t got;

	ASSERT_EQ(SIZE, rwritev(self->client, out, 2));
	/* It may read less, and reads into the first of them alone. */
	got = rreadv(self->server, in, 2);
	ASSERT_LT(0, got);
	if (got < SIZE)
		got += rrecv(self->server, self->to + got, SIZE - got,
			     MSG_WAITALL);
	EXPECT_TRUE(same(self->from, self->to, got));
}

TEST_F(rs, sendmsg_and_recvmsg)
{
	struct iovec out = { self->from, SIZE }, in = { self->to, SIZE };
	struct msghdr send = { .msg_iov = &out, .msg_iovlen = 1 };
	struct msghdr receive = { .msg_iov = &in, .msg_iovlen = 1 };

	ASSERT_EQ(SIZE, rsendmsg(self->client, &send, 0));
	EXPECT_TRUE(same(self->from, self->to,
			 rrecvmsg(self->server, &receive, MSG_WAITALL)));
}

TEST_F(rs, sendto_and_recvfrom)
{
	union lib_addr from = {};
	socklen_t len = sizeof(from);

	ASSERT_EQ(SIZE, rsendto(self->client, self->from, SIZE, 0, NULL, 0));
	EXPECT_TRUE(same(self->from, self->to,
			 rrecvfrom(self->server, self->to, SIZE, MSG_WAITALL,
				   &from.sa, &len)));
	EXPECT_EQ(AF_INET, from.sa.sa_family);
}

TEST_F(rs, names_of_both_ends)
{
	union lib_addr us = {}, them = {};
	socklen_t us_len = sizeof(us), them_len = sizeof(them);

	ASSERT_EQ(0, rgetpeername(self->client, &them.sa, &them_len));
	EXPECT_EQ(htons(PORT), them.sin.sin_port);
	EXPECT_EQ(inet_addr(IP4), them.sin.sin_addr.s_addr);
	ASSERT_EQ(0, rgetsockname(self->client, &us.sa, &us_len));
	them_len = sizeof(them);
	ASSERT_EQ(0, rgetpeername(self->server, &them.sa, &them_len));
	EXPECT_NE(0, us.sin.sin_port);
	EXPECT_EQ(us.sin.sin_port, them.sin.sin_port);
}

TEST_F(rs, options_and_flags)
{
	socklen_t len = sizeof(int);
	int value = 1;

	ASSERT_EQ(0, rsetsockopt(self->client, IPPROTO_TCP, TCP_NODELAY, &value,
				 sizeof(value)));
	value = 0;
	ASSERT_EQ(0, rgetsockopt(self->client, IPPROTO_TCP, TCP_NODELAY, &value,
				 &len));
	EXPECT_NE(0, value);
	EXPECT_EQ(0, rfcntl(self->server, F_GETFL));
	ASSERT_EQ(0, rfcntl(self->server, F_SETFL, O_NONBLOCK));
	EXPECT_EQ(O_NONBLOCK, rfcntl(self->server, F_GETFL));
	EXPECT_EQ(EAGAIN, err(rrecv(self->server, self->to, SIZE, 0)));
}

TEST_F(rs, poll_and_select)
{
	struct pollfd pfd = { .fd = self->server, .events = POLLIN };
	struct timeval soon = { .tv_usec = 10000 }, later = { .tv_sec = 5 };
	fd_set set;

	EXPECT_EQ(0, rpoll(&pfd, 1, 0));
	FD_ZERO(&set);
	FD_SET(self->server, &set);
	EXPECT_EQ(0, rselect(self->server + 1, &set, NULL, NULL, &soon));
	ASSERT_EQ(SIZE, rsend(self->client, self->from, SIZE, 0));
	EXPECT_EQ(1, rpoll(&pfd, 1, 5000));
	EXPECT_EQ(POLLIN, pfd.revents);
	FD_ZERO(&set);
	FD_SET(self->server, &set);
	EXPECT_EQ(1, rselect(self->server + 1, &set, NULL, NULL, &later));
	EXPECT_TRUE(FD_ISSET(self->server, &set));
	EXPECT_TRUE(same(self->from, self->to,
			 rrecv(self->server, self->to, SIZE, MSG_WAITALL)));
}

static void *map_and_answer(void *arg)
{
	FIXTURE_DATA(rs) *self = arg;
	off_t offset;
	char byte;

	offset = riomap(self->server, self->to, SIZE, PROT_WRITE, 0, -1);
	rsend(self->server, &offset, sizeof(offset), 0);
	rrecv(self->server, &byte, 1, MSG_WAITALL);
	return NULL;
}

TEST_F(rs, writes_into_mapped_memory)
{
	pthread_t thread;
	off_t offset = -1;

	ASSERT_EQ(0, pthread_create(&thread, NULL, map_and_answer, self));
	ASSERT_EQ((ssize_t)sizeof(offset),
		  rrecv(self->client, &offset, sizeof(offset), MSG_WAITALL));
	ASSERT_LE(0, offset);
	EXPECT_EQ(SIZE, riowrite(self->client, self->from, SIZE, offset, 0));
	/* In order: what was written is there when the byte is. */
	ASSERT_EQ(1, rsend(self->client, "x", 1, 0));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, memcmp(self->from, self->to, SIZE));
	EXPECT_EQ(0, riounmap(self->server, self->to, SIZE));
}

TEST_F(rs, shutdown_is_the_end_of_what_comes)
{
	ASSERT_EQ(SIZE, rsend(self->client, self->from, SIZE, 0));
	ASSERT_EQ(0, rshutdown(self->client, SHUT_WR));
	EXPECT_TRUE(same(self->from, self->to,
			 rrecv(self->server, self->to, SIZE, MSG_WAITALL)));
	EXPECT_EQ(0, rrecv(self->server, self->to, SIZE, 0));
}

TEST_HARNESS_MAIN
