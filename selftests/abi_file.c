// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * timeout: 240
 *
 * The ioctl interface on one open file, which blocks: events, what is given out,
 * limits, namespaces, handing the file on.
 */
#include <sched.h>
#include <sys/socket.h>

#include "rcm_test.h"

#include "kselftest_harness.h"

FIXTURE(file)
{
	int fd;
};

FIXTURE_SETUP(file)
{
	self->fd = open_rcm(0);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(file)
{
	close(self->fd);
	EXPECT_TRUE(nothing_left(2000));
}

TEST_F(file, unknown_commands_are_ENOTTY)
{
	unsigned char arg[PAGE] = {};
	int nr;

	for (nr = 0; nr < 256; nr++) {
		if (nr >= RCM_CMD_INFO && nr < RCM_CMD_END)
			continue;
		*(__u32 *)arg = sizeof(arg);
		EXPECT_EQ(-ENOTTY, call(self->fd, _IO(RCM_IOC_TYPE, nr), arg))
		{
			TH_LOG("command %#x", nr);
		}
	}
	EXPECT_EQ(-ENOTTY, call(self->fd, ~0U, arg));
	EXPECT_EQ(-ENOTTY, call(self->fd, 0, arg));
}

TEST_F(file, read_and_write_are_not_there)
{
	char byte = 0;

	EXPECT_EQ(-1, read(self->fd, &byte, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, write(self->fd, &byte, 1));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(file, info_tells_version_features_and_limits)
{
	struct rcm_info info;

	memset(&info, POISON, sizeof(info));
	info.size = sizeof(info);
	ASSERT_EQ(0, call(self->fd, RCM_INFO, &info));
	EXPECT_EQ(sizeof(info), info.size);
	EXPECT_EQ(RCM_ABI_VERSION, info.out_abi_version);
	EXPECT_EQ(RCM_FEATURE_ROCE | RCM_FEATURE_CREATE_ON_USE |
			  RCM_FEATURE_RESOLVE_BOTH | RCM_FEATURE_DATAGRAM |
			  RCM_FEATURE_MULTICAST | RCM_FEATURE_TRANSLATE |
			  RCM_FEATURE_CONNECT_TIMEOUT |
			  RCM_FEATURE_WRITE_EVENT | RCM_FEATURE_IWARP |
			  RCM_FEATURE_GET_EVENTS,
		  info.out_features);
	EXPECT_LE(1, info.out_max_ids);
	EXPECT_EQ(1024, info.out_max_backlog);
	EXPECT_NE(0, info.out_version[0]);
	EXPECT_NE(NULL, memchr(info.out_version, 0, sizeof(info.out_version)));
	EXPECT_EQ(0, poisoned(&info, sizeof(info)));
}

TEST_F(file, a_version_longer_than_the_kernels_is_left_alone)
{
	unsigned char arg[sizeof(struct rcm_info) + 8] = {};

	*(__u32 *)arg = sizeof(arg);
	ASSERT_EQ(0, call(self->fd, RCM_INFO, arg));
	EXPECT_EQ(sizeof(arg), *(__u32 *)arg);
	EXPECT_EQ(0,
		  memcmp(arg + sizeof(struct rcm_info), "\0\0\0\0\0\0\0", 8));
}

TEST_F(file, port_spaces_and_types_of_queue_pairs)
{
	struct rcm_create_id arg = { .size = sizeof(arg) };
	static const int none[] = { 0, 1, 3, 0x110, 0xffff };
	unsigned int i;
	int type;

	for (i = 0; i < ARRAY_SIZE(none); i++)
		EXPECT_EQ(-EPROTONOSUPPORT, create(self->fd, 0, none[i]));
	EXPECT_LT(0, create(self->fd, 0, PS_TCP));
	EXPECT_LT(0, create(self->fd, 0, PS_IB));

	for (type = 0; type < 256; type++) {
		arg.ps = PS_TCP;
		arg.qp_type = type;
		EXPECT_EQ(type == 0 || type == 2 ? 0 : -EINVAL,
			  call(self->fd, RCM_CREATE_ID, &arg));
		arg.ps = PS_UDP;
		EXPECT_EQ(type == 0 || type == 4 ? 0 : -EINVAL,
			  call(self->fd, RCM_CREATE_ID, &arg));
		arg.ps = PS_IPOIB;
		EXPECT_EQ(type == 0 || type == 4 ? 0 : -EINVAL,
			  call(self->fd, RCM_CREATE_ID, &arg));
		arg.ps = PS_IB;
		/* RC, UC, UD and the two sides of XRC */
		EXPECT_EQ(type == 0 || (type >= 2 && type <= 4) || type == 9 ||
					  type == 10 ?
				  0 :
				  -EINVAL,
			  call(self->fd, RCM_CREATE_ID, &arg));
	}
	EXPECT_EQ(14, live_ids());
}

TEST_F(file, C56_create_writes_all_it_gives_out)
{
	struct rcm_create_id arg = {
		.size = sizeof(arg),
		.ps = PS_TCP,
		.out_handle = 0xcccccccc,
	};

	ASSERT_EQ(0, call(self->fd, RCM_CREATE_ID, &arg));
	EXPECT_NE(0, arg.out_handle);
	EXPECT_GT(0x80000000, arg.out_handle);
	EXPECT_EQ(0, arg.reserved2);
}

TEST_F(file, C56_query_writes_all_it_gives_out)
{
	struct rcm_query arg;
	int handle;

	handle = create_tcp(self->fd);
	ASSERT_LT(0, handle);
	ASSERT_EQ(0, query(self->fd, handle, &arg));
	EXPECT_GT(2, poisoned(&arg, sizeof(arg)));
	EXPECT_EQ(RCM_STATE_IDLE, arg.out_endpoint.state);
	EXPECT_EQ(0, arg.out_endpoint.src.ss_family);
	EXPECT_EQ(0, arg.out_endpoint.dst.ss_family);
	EXPECT_EQ(~0U, arg.out_endpoint.ibdev_index);
	EXPECT_EQ(0, arg.out_endpoint.port_num);
	EXPECT_EQ(PS_TCP, arg.out_endpoint.ps);
	EXPECT_EQ(2, arg.out_endpoint.qp_type);
	EXPECT_EQ(RCM_STEP_NONE, arg.out_reason.step);

	ASSERT_EQ(0, bind_text(self->fd, handle, IP4, 0));
	ASSERT_EQ(0, query(self->fd, handle, &arg));
	EXPECT_GT(2, poisoned(&arg, sizeof(arg)));
	EXPECT_EQ(RCM_STATE_BOUND, arg.out_endpoint.state);
	EXPECT_STREQ(IP4, host_of(&arg.out_endpoint.src));
	EXPECT_NE(0, port_of(&arg.out_endpoint.src));
	EXPECT_EQ(1, arg.out_endpoint.port_num);
	EXPECT_NE(~0U, arg.out_endpoint.ibdev_index);
	EXPECT_EQ(if_nametoindex("d0"), arg.out_endpoint.ifindex);
	EXPECT_EQ(0xffff, arg.out_endpoint.pkey);

	ASSERT_EQ(0, resolve_flags(self->fd, handle, NULL, IP4, 7, 1000,
				   RCM_RESOLVE_BOTH));
	ASSERT_EQ(0, query(self->fd, handle, &arg));
	EXPECT_GT(2, poisoned(&arg, sizeof(arg)));
	EXPECT_EQ(RCM_STATE_ROUTE_RESOLVED, arg.out_endpoint.state);
	EXPECT_EQ(1, arg.out_endpoint.num_paths);
	EXPECT_EQ(0xffff, arg.out_endpoint.path.pkey);
}

TEST_F(file, C56_init_qp_attr_writes_all_it_gives_out)
{
	struct rcm_init_qp_attr arg;
	int handle;

	handle = create_tcp(self->fd);
	ASSERT_LT(0, handle);
	EXPECT_EQ(-EINVAL, init_qp_attr(self->fd, handle, 1, &arg));
	ASSERT_EQ(0, bind_text(self->fd, handle, IP4, 0));
	EXPECT_EQ(-EINVAL, init_qp_attr(self->fd, handle, 0, &arg));
	EXPECT_EQ(-EINVAL, init_qp_attr(self->fd, handle, 4, &arg));
	EXPECT_EQ(-EINVAL, init_qp_attr(self->fd, handle, ~0U, &arg));
	EXPECT_EQ(-EINVAL, init_qp_attr(self->fd, handle, 2, &arg));
	ASSERT_EQ(0, init_qp_attr(self->fd, handle, 1, &arg));
	EXPECT_GT(2, poisoned(&arg, sizeof(arg)));
	EXPECT_EQ(arg.out_mask, arg.out_attr.init_mask);
	EXPECT_EQ(0, arg.out_attr.rtr_mask);
	EXPECT_EQ(0, arg.out_attr.rts_mask);
	EXPECT_EQ(1, arg.out_attr.port_num);
}

TEST_F(file, C56_event_writes_all_it_gives_out)
{
	struct rcm_event event;
	int handle;

	handle = resolve_flags(self->fd, 0, NULL, IP4, 7, 1000,
			       RCM_CREATE | RCM_RESOLVE_BOTH);
	ASSERT_LT(0, handle);
	ASSERT_EQ(0, get_event(self->fd, &event, 0));
	EXPECT_GT(3, poisoned(&event, sizeof(event)));
	EXPECT_EQ(EV_ADDR_RESOLVED, (int)event.out_event);
	EXPECT_EQ(handle, (int)event.out_handle);
	EXPECT_EQ(0, event.out_new_handle);
	EXPECT_EQ(0, event.flags);
	EXPECT_EQ(sizeof(event), event.size);
	EXPECT_EQ(RCM_STATE_ADDR_RESOLVED, event.out_endpoint.state);
	EXPECT_NE(0, event.out_qp.init_mask);
	EXPECT_EQ(0, event.out_qp.rtr_mask);

	ASSERT_EQ(0, get_event(self->fd, &event, 0));
	EXPECT_GT(3, poisoned(&event, sizeof(event)));
	EXPECT_EQ(EV_ROUTE_RESOLVED, (int)event.out_event);
	EXPECT_EQ(RCM_STATE_ROUTE_RESOLVED, event.out_endpoint.state);
}

TEST_F(file, bind_and_resolve_make_an_identifier_when_asked_to)
{
	struct rcm_bind arg = {
		.size = sizeof(arg),
		.flags = RCM_CREATE,
		.ps = PS_TCP,
		.uid = 0x1122334455667788,
		.addr = addr(IP4, 0),
	};
	struct rcm_event event;
	int handle;

	ASSERT_EQ(0, call(self->fd, RCM_BIND, &arg));
	EXPECT_NE(0, arg.handle);
	EXPECT_NE(0, port_of(&arg.addr));
	EXPECT_EQ(RCM_STATE_BOUND, state_of(self->fd, arg.handle));
	EXPECT_EQ(RCM_STATE_BOUND, arg.out_endpoint.state);
	EXPECT_EQ(port_of(&arg.addr), port_of(&arg.out_endpoint.src));
	EXPECT_NE(~0U, arg.out_endpoint.ibdev_index);
	ASSERT_EQ(0, resolve(self->fd, arg.handle, NULL, IP4, 7, 100));
	ASSERT_EQ(EV_ADDR_RESOLVED, next_event(self->fd, &event, 1000));
	EXPECT_EQ(0x1122334455667788, event.out_uid);

	/* A handle is not expected then, and nothing is left on failure. */
	EXPECT_EQ(-EINVAL, call(self->fd, RCM_BIND, &arg));
	arg.handle = 0;
	arg.addr = addr(IP4_NOT_LOCAL, 0);
	EXPECT_EQ(-EADDRNOTAVAIL, call(self->fd, RCM_BIND, &arg));
	EXPECT_EQ(0, arg.handle);
	arg.ps = 1;
	EXPECT_EQ(-EPROTONOSUPPORT, call(self->fd, RCM_BIND, &arg));
	EXPECT_EQ(1, live_ids());

	/* What describes a new identifier says nothing about an old one. */
	handle = create_tcp(self->fd);
	arg = (struct rcm_bind){
		.size = sizeof(arg),
		.handle = handle,
		.ps = PS_TCP,
		.addr = addr(IP4, 0),
	};
	EXPECT_EQ(-EINVAL, call(self->fd, RCM_BIND, &arg));
	arg.ps = 0;
	arg.uid = 1;
	EXPECT_EQ(-EINVAL, call(self->fd, RCM_BIND, &arg));
	EXPECT_EQ(RCM_STATE_IDLE, state_of(self->fd, handle));
}

TEST_F(file, destroy_tells_how_many_events_were_read)
{
	int handle;

	handle = resolve_flags(self->fd, 0, NULL, IP4, 7, 1000,
			       RCM_CREATE | RCM_RESOLVE_BOTH);
	ASSERT_LT(0, handle);
	EXPECT_EQ(EV_ADDR_RESOLVED, next_event(self->fd, NULL, 1000));
	EXPECT_EQ(1, destroy(self->fd, handle));

	/* What was not read is dropped. */
	EXPECT_FALSE(readable(self->fd, 0));
	EXPECT_EQ(-ETIME, next_event(self->fd, NULL, 0));
	EXPECT_EQ(-ENOENT, destroy(self->fd, handle));
}

TEST_F(file, an_event_can_be_read_exactly_when_poll_says_so)
{
	struct rcm_event event;
	int handle;

	EXPECT_FALSE(readable(self->fd, 0));
	EXPECT_EQ(-EAGAIN, get_event(self->fd, &event, RCM_EVENT_DONTWAIT));
	handle = resolve_flags(self->fd, 0, NULL, IP4, 7, 1000, RCM_CREATE);
	ASSERT_LT(0, handle);
	EXPECT_TRUE(readable(self->fd, 0));
	EXPECT_TRUE(readable(self->fd, 0));
	EXPECT_EQ(0, get_event(self->fd, &event, RCM_EVENT_DONTWAIT));
	EXPECT_FALSE(readable(self->fd, 0));
	ASSERT_EQ(0, resolve_route(self->fd, handle));
	EXPECT_TRUE(readable(self->fd, 0));

	EXPECT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	EXPECT_EQ(0, get_event(self->fd, &event, 0));
	EXPECT_EQ(-EAGAIN, get_event(self->fd, &event, 0));
}

static void on_alarm(int signal)
{
	(void)signal;
}

TEST_F(file, a_signal_ends_the_wait_with_EINTR)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct rcm_event event;

	sigaction(SIGALRM, &action, NULL);
	alarm(1);
	EXPECT_EQ(-EINTR, get_event(self->fd, &event, 0));
}

TEST_F(file, a_waiting_reader_wakes_up)
{
	struct rcm_event event;
	pid_t child;

	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		sleep_ms(100);
		_exit(resolve_flags(self->fd, 0, NULL, IP4, 7, 1000,
				    RCM_CREATE) < 0);
	}
	EXPECT_EQ(0, get_event(self->fd, &event, 0));
	EXPECT_EQ(EV_ADDR_RESOLVED, (int)event.out_event);
	waitpid(child, NULL, 0);
}

TEST_F(file, an_event_that_cannot_be_delivered_is_not_lost)
{
	unsigned char *map;
	struct rcm_event *at;
	struct rcm_event event;
	int handle;

	map = page_with_nothing_after();
	ASSERT_NE(MAP_FAILED, map);
	handle = resolve_flags(self->fd, 0, NULL, IP4, 7, 1000,
			       RCM_CREATE | RCM_RESOLVE_BOTH);
	ASSERT_LT(0, handle);

	at = (struct rcm_event *)(map + PAGE - 64);
	at->size = sizeof(*at);
	at->flags = 0;
	EXPECT_EQ(-EFAULT, call(self->fd, RCM_GET_EVENT, at));
	EXPECT_TRUE(readable(self->fd, 0));
	EXPECT_EQ(EV_ADDR_RESOLVED, next_event(self->fd, &event, 0));
	EXPECT_EQ(EV_ROUTE_RESOLVED, next_event(self->fd, &event, 0));
	EXPECT_EQ(-ETIME, next_event(self->fd, &event, 0));
	EXPECT_EQ(2, destroy(self->fd, handle));
}

static int get_events(int fd, void *to, __u32 count, __u32 size)
{
	struct rcm_get_events arg = {
		.size = sizeof(arg),
		.flags = RCM_EVENT_DONTWAIT,
		.count = count,
		.event_size = size,
		.events = (unsigned long)to,
	};

	return call(fd, RCM_GET_EVENTS, &arg);
}

TEST_F(file, several_events_are_taken_in_one_call)
{
	struct {
		struct rcm_event event;
		__u64 newer;
	} longer[4];
	struct rcm_event event[4];
	int handle[3], i, room;

	for (room = 1; room <= 4; room += 3) {
		for (i = 0; i < 3; i++) {
			handle[i] = resolve_flags(self->fd, 0, NULL, IP4, 7,
						  1000, RCM_CREATE);
			ASSERT_LT(0, handle[i]);
		}
		memset(event, POISON, sizeof(event));
		ASSERT_EQ(room < 3 ? room : 3,
			  get_events(self->fd, event, room, sizeof(event[0])));
		for (i = 0; i < room && i < 3; i++) {
			EXPECT_EQ(EV_ADDR_RESOLVED, (int)event[i].out_event);
			EXPECT_EQ(handle[i], (int)event[i].out_handle);
			EXPECT_EQ(sizeof(event[i]), event[i].size);
		}
		EXPECT_LT(700, poisoned(&event[i], sizeof(event[i])));
		EXPECT_EQ(room < 3, readable(self->fd, 0));
		for (i = 0; i < 3; i++)
			EXPECT_EQ(i < room, destroy(self->fd, handle[i]));
	}

	/* A caller that knows more of an event gets what there is. */
	for (i = 0; i < 2; i++)
		ASSERT_LT(0, resolve_flags(self->fd, 0, NULL, IP4, 7, 1000,
					   RCM_CREATE));
	memset(longer, 0, sizeof(longer));
	longer[1].newer = 1;
	EXPECT_EQ(1, get_events(self->fd, longer, 2, sizeof(longer[0])));
	EXPECT_EQ(-E2BIG,
		  get_events(self->fd, &longer[1], 2, sizeof(longer[0])));
	longer[1].newer = 0;
	EXPECT_EQ(1, get_events(self->fd, &longer[1], 2, sizeof(longer[0])));
	EXPECT_EQ(EV_ADDR_RESOLVED, (int)longer[1].event.out_event);
	EXPECT_EQ(0, (int)longer[1].newer);
	EXPECT_EQ(-EAGAIN, get_events(self->fd, event, 4, sizeof(event[0])));
}

TEST_F(file, several_events_need_room_of_the_right_kind)
{
	struct rcm_event event[2];

	ASSERT_LT(0,
		  resolve_flags(self->fd, 0, NULL, IP4, 7, 1000, RCM_CREATE));
	EXPECT_EQ(-EINVAL, get_events(self->fd, event, 0, sizeof(event[0])));
	EXPECT_EQ(-EINVAL, get_events(self->fd, event, 2, 0));
	EXPECT_EQ(-EINVAL,
		  get_events(self->fd, event, 2, sizeof(event[0]) - 8));
	EXPECT_EQ(-EINVAL,
		  get_events(self->fd, event, 2, sizeof(event[0]) + 4));
	EXPECT_EQ(-EINVAL,
		  get_events(self->fd, (char *)event + 2, 2, sizeof(event[0])));
	EXPECT_EQ(-E2BIG, get_events(self->fd, event, 2, 2 * PAGE));
	EXPECT_EQ(-EFAULT, get_events(self->fd, NULL, 2, sizeof(event[0])));
	EXPECT_EQ(1, get_events(self->fd, event, ~0U, sizeof(event[0])));
}

TEST_F(file, events_that_do_not_fit_are_not_lost)
{
	const size_t size = sizeof(struct rcm_event);
	unsigned char *map, *at;
	struct rcm_event event;
	int i;

	map = page_with_nothing_after();
	ASSERT_NE(MAP_FAILED, map);
	for (i = 0; i < 3; i++)
		ASSERT_LT(0, resolve_flags(self->fd, 0, NULL, IP4, 7, 1000,
					   RCM_CREATE));
	/* Room for one and a half. */
	at = map + PAGE - size - size / 2;
	EXPECT_EQ(1, get_events(self->fd, at, 3, size));
	EXPECT_EQ(-EFAULT, get_events(self->fd, at + size, 2, size));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(EV_ADDR_RESOLVED, next_event(self->fd, &event, 0));
	EXPECT_EQ(-ETIME, next_event(self->fd, &event, 0));
	munmap(map, 2 * PAGE);
}

TEST_F(file, a_request_that_cannot_be_delivered_is_not_lost)
{
	unsigned char *map;
	struct rcm_event *at;
	struct rcm_event event;
	int server, client;

	map = page_with_nothing_after();
	ASSERT_NE(MAP_FAILED, map);
	server = listener(self->fd, IP4, 7471, 1);
	ASSERT_LT(0, server);
	client = ready_to_connect(self->fd, IP4, 7471);
	ASSERT_LT(0, client);
	ASSERT_EQ(0, connect_data(self->fd, client, NULL, 0));
	ASSERT_TRUE(readable(self->fd, 3000));

	at = (struct rcm_event *)(map + PAGE - 64);
	at->size = sizeof(*at);
	at->flags = 0;
	EXPECT_EQ(-EFAULT, call(self->fd, RCM_GET_EVENT, at));
	ASSERT_EQ(EV_CONNECT_REQUEST, next_event(self->fd, &event, 0));
	EXPECT_EQ(RCM_STATE_REQ_RCVD, state_of(self->fd, event.out_new_handle));
	EXPECT_EQ(0, reject(self->fd, event.out_new_handle, 0, NULL, 0));
	EXPECT_EQ(EV_REJECTED, next_event(self->fd, &event, 3000));
	EXPECT_EQ(client, (int)event.out_handle);
}

TEST_F(file, max_ids_is_the_limit_of_each_file)
{
	static const char path[] = "/sys/module/rcm/parameters/max_ids";
	struct rcm_bind bind = {
		.size = sizeof(bind),
		.flags = RCM_CREATE,
		.ps = PS_TCP,
		.addr = addr(IP4, 0),
	};
	struct rcm_info info = { .size = sizeof(info) };
	int other = open_rcm(0);
	int a, b;

	ASSERT_LE(0, other);
	ASSERT_EQ(0, write_file(path, "2\n"));
	a = create_tcp(self->fd);
	b = create_tcp(self->fd);
	EXPECT_EQ(-EMFILE, create_tcp(self->fd));
	EXPECT_EQ(-EMFILE, call(self->fd, RCM_BIND, &bind));
	EXPECT_EQ(-EMFILE,
		  resolve_flags(self->fd, 0, NULL, IP4, 7, 100, RCM_CREATE));
	EXPECT_EQ(0, call(self->fd, RCM_INFO, &info));
	EXPECT_EQ(2, info.out_max_ids);
	EXPECT_LT(0, create_tcp(other));
	EXPECT_EQ(0, destroy(self->fd, a));
	a = create_tcp(self->fd);
	EXPECT_LT(0, a);
	EXPECT_EQ(-EMFILE, create_tcp(self->fd));

	/* It counts where the identifier is. */
	EXPECT_LT(0, migrate(self->fd, b, other, NULL));
	EXPECT_EQ(-EMFILE, migrate(self->fd, a, other, NULL));
	EXPECT_EQ(RCM_STATE_IDLE, state_of(self->fd, a));
	EXPECT_LT(0, create_tcp(self->fd));
	EXPECT_EQ(-EMFILE, create_tcp(self->fd));
	EXPECT_EQ(0, write_file(path, "65536\n"));
	close(other);
}

TEST_F(file, max_user_ids_is_the_limit_of_all_files_of_a_user)
{
	static const char path[] = "/sys/module/rcm/parameters/max_user_ids";
	int other = open_rcm(0), others, status;
	int a, b;

	ASSERT_LE(0, other);
	ASSERT_EQ(0, write_file(path, "2\n"));
	a = create_tcp(self->fd);
	b = create_tcp(other);
	EXPECT_LT(0, a);
	EXPECT_LT(0, b);
	EXPECT_EQ(-EMFILE, create_tcp(self->fd));
	EXPECT_EQ(-EMFILE, create_tcp(other));

	/* Moving is no more than before. */
	b = migrate(other, b, self->fd, NULL);
	EXPECT_LT(0, b);
	EXPECT_EQ(-EMFILE, create_tcp(other));

	/* Another user has his own, and what he opened counts for him. */
	if (!fork()) {
		if (seteuid(1000))
			_exit(1);
		others = open_rcm(0);
		if (create_tcp(others) <= 0 || create_tcp(others) <= 0 ||
		    create_tcp(others) != -EMFILE ||
		    create_tcp(other) != -EMFILE ||
		    migrate(self->fd, b, others, NULL) != -EMFILE)
			_exit(2);
		_exit(0);
	}
	wait(&status);
	EXPECT_EQ(0, status);

	EXPECT_EQ(0, destroy(self->fd, b));
	EXPECT_LT(0, create_tcp(other));
	close(other);
	EXPECT_LT(0, create_tcp(self->fd));
	EXPECT_EQ(-EMFILE, create_tcp(self->fd));
	EXPECT_EQ(0, write_file(path, "262144\n"));
}

TEST_F(file, option_values_are_checked)
{
	struct rcm_set_option arg = { .size = sizeof(arg) };
	int handle = create_tcp(self->fd);
	__u32 value = 1;
	int name, len;

	ASSERT_LT(0, handle);
	arg.handle = handle;
	arg.optval = (unsigned long)&value;
	for (name = 0; name < 6; name++) {
		bool byte = name == OPT_TOS || name == OPT_ACK_TIMEOUT;

		for (len = 0; len < 9; len++) {
			int expect = name > 3		   ? -ENOPROTOOPT :
				     len == (byte ? 1 : 4) ? 0 :
							     -EINVAL;

			arg.optname = name;
			arg.optlen = len;
			EXPECT_EQ(expect, call(self->fd, RCM_SET_OPTION, &arg))
			{
				TH_LOG("option %d, length %d", name, len);
			}
		}
	}
	arg.optname = OPT_TOS;
	arg.optlen = 1;
	arg.level = 1;
	EXPECT_EQ(-ENOPROTOOPT, call(self->fd, RCM_SET_OPTION, &arg));
	arg.level = 0;
	arg.optval = 0;
	EXPECT_EQ(-EFAULT, call(self->fd, RCM_SET_OPTION, &arg));
	EXPECT_EQ(0, set_option(self->fd, handle, OPT_ACK_TIMEOUT, 31));
	EXPECT_EQ(-EINVAL, set_option(self->fd, handle, OPT_ACK_TIMEOUT, 32));
}

TEST_F(file, migrate_wants_another_file_of_the_same_kind)
{
	int handle = create_tcp(self->fd);
	int null = open("/dev/null", O_RDWR);
	int reported = 7;

	ASSERT_LT(0, handle);
	EXPECT_EQ(-EBADF, migrate(self->fd, handle, -1, NULL));
	EXPECT_EQ(-EBADF, migrate(self->fd, handle, 1000, NULL));
	EXPECT_EQ(-EINVAL, migrate(self->fd, handle, null, NULL));
	EXPECT_EQ(handle, migrate(self->fd, handle, self->fd, &reported));
	EXPECT_EQ(0, reported);
	EXPECT_EQ(RCM_STATE_IDLE, state_of(self->fd, handle));
	close(null);
}

/* Runs in a child: in another network namespace, does the file work? */
static int foreign_netns(int fd)
{
	int handle, other, ret;

	if (unshare(CLONE_NEWNET))
		return 10;
	/* 10.0.0.1 is not local here, but the file knows nothing of it. */
	handle = create_tcp(fd);
	if (handle < 0 || bind_text(fd, handle, IP4, 7471))
		return 11;
	other = open_rcm(0);
	if (other < 0)
		return 12;
	ret = create_tcp(other);
	if (ret < 0 || bind_text(other, ret, IP4, 7471) != -EADDRNOTAVAIL)
		return 13;
	if (migrate(fd, handle, other, NULL) != -EINVAL)
		return 14;
	/* The same port in two namespaces (C65). */
	if (bind_text(other, ret, "0.0.0.0", 7471))
		return 15;
	close(other);
	return 0;
}

TEST_F(file, C61_the_namespace_is_the_one_it_was_opened_in)
{
	int status;
	pid_t child;

	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(foreign_netns(self->fd));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));
}

/* Through a socket, as a program would (SCM_RIGHTS). */
/* A message of one byte that a file goes along with. */
struct file_message {
	struct msghdr msg;
	struct iovec iov;
	char control[CMSG_SPACE(sizeof(int))];
	char byte;
};

static struct msghdr *file_message(struct file_message *file)
{
	*file = (struct file_message){
		.iov = { .iov_base = &file->byte, .iov_len = 1 },
		.msg = {
			.msg_iov = &file->iov,
			.msg_iovlen = 1,
			.msg_control = file->control,
			.msg_controllen = sizeof(file->control),
		},
	};
	return &file->msg;
}

static int send_fd(int via, int fd)
{
	struct file_message file;
	struct msghdr *msg = file_message(&file);
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	return sendmsg(via, msg, 0) == 1 ? 0 : -errno;
}

static int receive_fd(int via)
{
	struct file_message file;
	struct msghdr *msg = file_message(&file);
	int fd;

	if (recvmsg(via, msg, 0) != 1 || !CMSG_FIRSTHDR(msg))
		return -EPROTO;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(msg)), sizeof(fd));
	return fd;
}

TEST_F(file, C61_a_passed_file_has_the_same_identifiers)
{
	int handle = create_tcp(self->fd);
	int pair[2], status;
	pid_t child;

	ASSERT_LT(0, handle);
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		int fd;

		close(self->fd);
		fd = receive_fd(pair[1]);
		if (unshare(CLONE_NEWNET))
			_exit(10);
		_exit(bind_text(fd, handle, IP4, 7471) ? 11 : 0);
	}
	ASSERT_EQ(0, send_fd(pair[0], self->fd));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(7471, src_port(self->fd, handle));
	close(pair[0]);
	close(pair[1]);
}

TEST_F(file, C61_nothing_is_left_open_over_exec)
{
	/* What open_rcm() asks for works: the flag is the caller's. */
	EXPECT_EQ(FD_CLOEXEC, fcntl(self->fd, F_GETFD));
}

TEST_HARNESS_MAIN
