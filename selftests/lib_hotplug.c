// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * timeout: 120
 *
 * RDMA devices as the library sees them: listed, found by index whatever
 * their GUID is, and looked up when they are needed.
 */
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <rdma/rcm.h>

#include "lib_test.h"

#include "kselftest_harness.h"

#define PORT 7560
#define LINK "d1"
#define LIP  "10.81.0.1"

/* What the kernel says of a device is changed on its way to the library. */
static struct rcm_endpoint *(*tamper)(struct rcm_endpoint *ep);

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;
	int ret;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	ret = syscall(SYS_ioctl, fd, request, arg);
	if (ret || !tamper)
		return ret;
	if (request == RCM_BIND)
		tamper(&((struct rcm_bind *)arg)->out_endpoint);
	if (request == RCM_QUERY)
		tamper(&((struct rcm_query *)arg)->out_endpoint);
	if (request == RCM_GET_EVENT)
		tamper(&((struct rcm_event *)arg)->out_endpoint);
	return ret;
}

static int tampered;

static struct rcm_endpoint *no_guid(struct rcm_endpoint *ep)
{
	tampered += ep->node_guid != 0;
	ep->node_guid = 0;
	return ep;
}

static struct rcm_endpoint *no_such_device(struct rcm_endpoint *ep)
{
	if (ep->ibdev_index == ~0U)
		return ep;
	tampered++;
	ep->ibdev_index += 1000;
	ep->node_guid = ~ep->node_guid;
	return ep;
}

FIXTURE(devices)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
};

FIXTURE_SETUP(devices)
{
	tampered = 0;
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	ASSERT_EQ(0,
		  rdma_create_id(self->channel, &self->id, NULL, RDMA_PS_TCP));
}

FIXTURE_TEARDOWN(devices)
{
	tamper = NULL;
	if (self->id)
		EXPECT_EQ(0, rdma_destroy_id(self->id));
	rdma_destroy_event_channel(self->channel);
}

TEST_F(devices, list)
{
	union lib_addr addr = lib_addr(IP4, 0);
	struct ibv_context **list;
	int count = -1, i, found = 0;

	list = rdma_get_devices(&count);
	ASSERT_NE(NULL, list);
	EXPECT_LE(1, count);
	EXPECT_EQ(NULL, list[count]);
	ASSERT_EQ(0, rdma_bind_addr(self->id, &addr.sa));
	for (i = 0; i < count; i++)
		found += list[i] == self->id->verbs;
	EXPECT_EQ(1, found);
	rdma_free_devices(list);
	rdma_free_devices(NULL);
	/* It is used by the identifier and stays open. */
	EXPECT_STREQ("rxe0", ibv_get_device_name(self->id->verbs->device));
	list = rdma_get_devices(NULL);
	ASSERT_NE(NULL, list);
	EXPECT_EQ(self->id->verbs, list[0]);
	rdma_free_devices(list);
}

TEST_F(devices, C67_a_device_without_guid_is_found_by_its_index)
{
	union lib_addr addr = lib_addr(IP4, PORT);

	tamper = no_guid;
	ASSERT_EQ(0, rdma_bind_addr(self->id, &addr.sa));
	EXPECT_LT(0, tampered);
	ASSERT_NE(NULL, self->id->verbs);
	EXPECT_STREQ("rxe0", ibv_get_device_name(self->id->verbs->device));
	ASSERT_EQ(0, rdma_resolve_addr(self->id, NULL, &addr.sa, TIMEOUT));
	EXPECT_EQ(0, expect_event(self->channel, RDMA_CM_EVENT_ADDR_RESOLVED));
	EXPECT_EQ(0, create_qp(self->id));
	rdma_destroy_qp(self->id);
}

TEST_F(devices, C67_a_device_that_cannot_be_used_is_ENODEV)
{
	union lib_addr addr = lib_addr(IP4, PORT);
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	tamper = no_such_device;
	EXPECT_EQ(ENODEV, err(rdma_bind_addr(self->id, &addr.sa)));
	EXPECT_EQ(1, tampered);
	EXPECT_EQ(NULL, self->id->verbs);

	ASSERT_EQ(0, rdma_create_id(self->channel, &id, NULL, RDMA_PS_TCP));
	ASSERT_EQ(0, rdma_resolve_addr(id, NULL, &addr.sa, TIMEOUT));
	event = next_event(self->channel, RDMA_CM_EVENT_ADDR_ERROR);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(-ENODEV, event->status);
	EXPECT_EQ(NULL, id->verbs);
	EXPECT_EQ(0, rdma_ack_cm_event(event));
	EXPECT_EQ(EINVAL, err(create_qp(id)));
	EXPECT_EQ(0, rdma_destroy_id(id));
}

static int bind_to_link(struct rdma_cm_id *id)
{
	union lib_addr addr = lib_addr(LIP, PORT);
	long long end = now_ms() + 5000;
	int ret;

	/* A new device has its GIDs a moment later. */
	while ((ret = err(rdma_bind_addr(id, &addr.sa))) && now_ms() < end)
		usleep(10000);
	return ret;
}

TEST_F_TIMEOUT(devices, C68_devices_that_come_later_and_come_back_are_found,
	       100)
{
	struct rdma_event_channel *channel = self->channel;
	union lib_addr addr = lib_addr(IP4, 0);
	struct rdma_cm_id *id;
	int i;

	/* The library has looked at the devices; now there is one more. */
	ASSERT_EQ(0, rdma_bind_addr(self->id, &addr.sa));
	ASSERT_EQ(0, system("ip link add " LINK " type dummy && "
			    "ip address add " LIP "/24 dev " LINK " && "
			    "ip link set " LINK " up"));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, system("rdma link add x" LINK
				    " type rxe netdev " LINK));
		ASSERT_EQ(0, rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
		ASSERT_EQ(0, bind_to_link(id));
		EXPECT_STREQ("x" LINK, ibv_get_device_name(id->verbs->device));
		EXPECT_EQ(0, create_qp(id));
		rdma_destroy_qp(id);
		/* It can go when nobody of us has it open. */
		system("rdma link del x" LINK " </dev/null &");
		ASSERT_EQ(0,
			  expect_event(channel, RDMA_CM_EVENT_DEVICE_REMOVAL));
		EXPECT_NE(0, err(create_qp(id)));
		EXPECT_EQ(0, rdma_destroy_id(id));
		EXPECT_EQ(
			0,
			system("i=0; while [ -e /sys/class/infiniband/x" LINK
			       " ] && [ $i -lt 100 ]; do sleep 0.1; i=$((i+1)); done;"
			       "[ $i -lt 100 ]"));
	}
	EXPECT_EQ(0, system("ip link del " LINK));
	/* The other one was open all the time. */
	EXPECT_STREQ("rxe0", ibv_get_device_name(self->id->verbs->device));
	EXPECT_FALSE(readable(channel, 0));
}

TEST_HARNESS_MAIN
