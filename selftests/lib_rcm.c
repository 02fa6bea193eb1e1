// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The functions that librcm has beyond librdmacm's: reasons, texts, several
 * events. Linked with librcm.
 */
#include <fcntl.h>
#include <netdb.h>

#include <rcm/librcm.h>

#include "lib_test.h"

#include "kselftest_harness.h"

#define PORT 7550

FIXTURE(reason)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
};

FIXTURE_SETUP(reason)
{
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	ASSERT_EQ(0,
		  rdma_create_id(self->channel, &self->id, NULL, RDMA_PS_TCP));
}

FIXTURE_TEARDOWN(reason)
{
	EXPECT_EQ(0, rdma_destroy_id(self->id));
	rdma_destroy_event_channel(self->channel);
}

TEST_F(reason, several_events_at_once)
{
	union lib_addr addr = lib_addr(IP4, PORT);
	struct rdma_cm_event *event[4];
	struct rdma_cm_id *id[5];
	int i, n, seen = 0;

	EXPECT_EQ(EINVAL, err(rcm_get_cm_events(NULL, event, 4)));
	EXPECT_EQ(EINVAL, err(rcm_get_cm_events(self->channel, NULL, 4)));
	EXPECT_EQ(EINVAL, err(rcm_get_cm_events(self->channel, event, 0)));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, rdma_create_id(self->channel, &id[i], &id[i],
					    RDMA_PS_TCP));
		ASSERT_EQ(0, rdma_resolve_addr(id[i], NULL, &addr.sa, TIMEOUT));
	}
	/* As many as there is room for, and then what is left. */
	for (n = 4; n >= 1; n -= 3) {
		ASSERT_EQ(n, rcm_get_cm_events(self->channel, event, 4));
		for (i = 0; i < n; i++, seen++) {
			EXPECT_EQ(RDMA_CM_EVENT_ADDR_RESOLVED, event[i]->event);
			EXPECT_EQ(id[seen], event[i]->id);
			EXPECT_EQ(&id[seen], event[i]->id->context);
			EXPECT_NE(NULL, event[i]->id->verbs);
			EXPECT_EQ(0, rdma_ack_cm_event(event[i]));
		}
	}
	ASSERT_EQ(0, fcntl(self->channel->fd, F_SETFL, O_NONBLOCK));
	EXPECT_EQ(EAGAIN, err(rcm_get_cm_events(self->channel, event, 4)));
	for (i = 0; i < 5; i++)
		EXPECT_EQ(0, rdma_destroy_id(id[i]));
}

TEST_F(reason, misuse)
{
	struct rcm_reason reason;

	EXPECT_EQ(NULL, rcm_event_reason(NULL));
	EXPECT_EQ(EINVAL, err(rcm_last_reason(NULL, &reason)));
	EXPECT_EQ(EINVAL, err(rcm_last_reason(self->id, NULL)));
	/* Nothing was done with it yet. */
	EXPECT_EQ(0, err(rcm_last_reason(self->id, &reason)));
	EXPECT_EQ(RCM_STEP_NONE, reason.step);
}

TEST_F(reason, none_when_nothing_failed)
{
	union lib_addr addr = lib_addr(IP4, PORT);
	struct rdma_cm_event *event;
	struct rcm_reason reason;

	ASSERT_EQ(0, rdma_resolve_addr(self->id, NULL, &addr.sa, TIMEOUT));
	event = next_event(self->channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	ASSERT_NE(NULL, event);
	ASSERT_NE(NULL, rcm_event_reason(event));
	EXPECT_EQ(RCM_STEP_NONE, rcm_event_reason(event)->step);
	EXPECT_EQ(0, rcm_event_reason(event)->error);
	EXPECT_EQ(0, rdma_ack_cm_event(event));
	memset(&reason, 0xcc, sizeof(reason));
	ASSERT_EQ(0, rcm_last_reason(self->id, &reason));
	EXPECT_EQ(RCM_STEP_NONE, reason.step);
}

TEST_F(reason, C24_interface_without_rdma_device)
{
	union lib_addr addr = lib_addr("10.79.0.9", PORT);
	const struct rcm_reason *why;
	struct rdma_cm_event *event;
	struct rcm_reason last;

	system("ip link add nordma type dummy; ip address add 10.79.0.1/24 dev nordma;"
	       "ip link set nordma up");
	ASSERT_EQ(0, rdma_resolve_addr(self->id, NULL, &addr.sa, TIMEOUT));
	event = next_event(self->channel, RDMA_CM_EVENT_ADDR_ERROR);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(-ENODEV, event->status);
	why = rcm_event_reason(event);
	ASSERT_NE(NULL, why);
	EXPECT_EQ(RCM_STEP_DEVICE, why->step);
	EXPECT_EQ(-ENODEV, why->error);
	EXPECT_NE(0, why->ifindex);
	ASSERT_EQ(0, rcm_last_reason(self->id, &last));
	EXPECT_EQ(0, memcmp(why, &last, sizeof(last)));
	EXPECT_EQ(0, rdma_ack_cm_event(event));
	system("ip link del nordma");
}

TEST_F(reason, rejected)
{
	struct rdma_conn_param param = { .qp_num = 4711 };
	const struct rcm_reason *why;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	id = resolved_id(self->channel, RDMA_PS_TCP, IP4, PORT);
	ASSERT_NE(NULL, id);
	ASSERT_EQ(0, rdma_connect(id, &param));
	event = next_event(self->channel, RDMA_CM_EVENT_REJECTED);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(8, event->status); /* nobody listens */
	why = rcm_event_reason(event);
	ASSERT_NE(NULL, why);
	EXPECT_EQ(RCM_STEP_REJECTED, why->step);
	EXPECT_EQ(8, why->detail);
	EXPECT_EQ(0, rdma_ack_cm_event(event));
	EXPECT_EQ(0, rdma_destroy_id(id));
}

TEST(steps_have_a_text_each)
{
	unsigned int i, j;

	for (i = RCM_STEP_NONE; i < RCM_STEP_COUNT; i++) {
		ASSERT_NE(NULL, rcm_step_str(i));
		EXPECT_STRNE("unknown", rcm_step_str(i));
		EXPECT_LT(5, strlen(rcm_step_str(i)));
		for (j = 0; j < i; j++)
			EXPECT_STRNE(rcm_step_str(j), rcm_step_str(i));
	}
	EXPECT_STREQ("unknown", rcm_step_str(RCM_STEP_COUNT));
	EXPECT_STREQ("unknown", rcm_step_str(~0U));
}

TEST(errors_of_getaddrinfo)
{
	static const int codes[] = { EAI_NONAME, EAI_FAMILY, EAI_MEMORY,
				     EAI_ADDRFAMILY, -9999 };
	unsigned int i;

	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		EXPECT_STREQ(gai_strerror(codes[i]),
			     rcm_gai_strerror(codes[i]));
		EXPECT_STRNE(rcm_gai_strerror(EAI_QPTYPE),
			     rcm_gai_strerror(codes[i]));
	}
	EXPECT_STRNE(gai_strerror(EAI_QPTYPE), rcm_gai_strerror(EAI_QPTYPE));
}

/* --- what newer librdmacm has, too */

TEST_F(reason, names_looked_up_in_the_background)
{
	struct rdma_addrinfo *info = NULL;
	struct rdma_cm_event *event;

	EXPECT_EQ(ENODATA, err(rdma_query_addrinfo(self->id, &info)));
	ASSERT_EQ(0, rdma_resolve_addrinfo(self->id, IP4, "7550", NULL));
	event = next_event(self->channel, RCM_CM_EVENT_ADDRINFO_RESOLVED);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(0, rdma_ack_cm_event(event));
	ASSERT_EQ(0, rdma_query_addrinfo(self->id, &info));
	ASSERT_NE(NULL, info);
	EXPECT_EQ(htons(PORT),
		  ((struct sockaddr_in *)info->ai_dst_addr)->sin_port);
	rdma_freeaddrinfo(info);
}

TEST_F(reason, an_event_of_one_s_own)
{
	struct rdma_cm_event *event;

	EXPECT_EQ(EINVAL,
		  err(rdma_write_cm_event(NULL, RCM_CM_EVENT_USER, 0, 0)));
	EXPECT_EQ(EINVAL, err(rdma_write_cm_event(
				  self->id, RDMA_CM_EVENT_ESTABLISHED, 0, 0)));
	ASSERT_EQ(0, rdma_write_cm_event(self->id, RCM_CM_EVENT_USER, -7,
					 0x123456789abcdef));
	event = next_event(self->channel, RCM_CM_EVENT_USER);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(self->id, event->id);
	EXPECT_EQ(-7, event->status);
	EXPECT_EQ(0x123456789abcdef, rcm_event_arg(event));
	EXPECT_EQ(0, rdma_ack_cm_event(event));
}

TEST_HARNESS_MAIN
