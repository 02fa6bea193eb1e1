// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * timeout: 360
 *
 * The ioctl interface itself: what each command does with arguments that are
 * short, long, misplaced, or say what they must not; events; open files.
 */
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "abi_layout.h"
#include "rcm_test.h"

#include "kselftest_harness.h"

#define MAX_ARG 1024 /* larger than every structure */
#define PAGE	4096

/* Each command with a valid argument, and what is then said to it. */
FIXTURE(command)
{
	int fd;
	int other;
	int option;
	unsigned char arg[PAGE + 64] __attribute__((aligned(64)));
	unsigned char *map; /* two pages; the second cannot be accessed */
};

enum {
	END = -1
};

FIXTURE_VARIANT(command)
{
	unsigned long cmd;
	int size;
	int first;	 /* size of the first version */
	int handle;	 /* offset of the handle, END: none */
	int flags;	 /* offset of the flags, END: none */
	__u32 known;	 /* flags known */
	int expect;	 /* result for an identifier that is not there */
	bool makes;	 /* makes an identifier */
	int reserved[6]; /* pairs of offset and length, up to END */
};

#define RESERVED(type, member) \
	offsetof(struct type, member), sizeof(((struct type *)0)->member)

#define COMMAND(nr, type, last, ...)                       \
	FIXTURE_VARIANT_ADD(command, type)                 \
	{                                                  \
		.cmd = nr, .size = sizeof(struct type),    \
		.first = offsetof(struct type, last) +     \
			 sizeof(((struct type *)0)->last), \
		__VA_ARGS__                                \
	}
#define HANDLE(type) .handle = offsetof(struct type, handle)
#define FLAGS(type)  .flags = offsetof(struct type, flags)

/* clang-format off */
COMMAND(RCM_INFO, rcm_info, out_version, .handle = END, .flags = END,
	.reserved = { END });
COMMAND(RCM_CREATE_ID, rcm_create_id, reserved2, .handle = END,
	FLAGS(rcm_create_id), .makes = true,
	.reserved = { RESERVED(rcm_create_id, reserved),
		      RESERVED(rcm_create_id, reserved2), END });
COMMAND(RCM_DESTROY_ID, rcm_destroy_id, reserved, HANDLE(rcm_destroy_id),
	.flags = END, .expect = -ENOENT,
	.reserved = { RESERVED(rcm_destroy_id, reserved), END });
COMMAND(RCM_BIND, rcm_bind, addr, HANDLE(rcm_bind), FLAGS(rcm_bind),
	.known = RCM_CREATE, .expect = -ENOENT,
	.reserved = { RESERVED(rcm_bind, reserved), END });
COMMAND(RCM_RESOLVE_ADDR, rcm_resolve_addr, dst, HANDLE(rcm_resolve_addr),
	FLAGS(rcm_resolve_addr), .known = RCM_CREATE | RCM_RESOLVE_BOTH,
	.expect = -ENOENT,
	.reserved = { RESERVED(rcm_resolve_addr, reserved),
		      RESERVED(rcm_resolve_addr, reserved2), END });
COMMAND(RCM_RESOLVE_ROUTE, rcm_resolve_route, reserved,
	HANDLE(rcm_resolve_route), .flags = END, .expect = -ENOENT,
	.reserved = { RESERVED(rcm_resolve_route, reserved), END });
COMMAND(RCM_LISTEN, rcm_listen, reserved, HANDLE(rcm_listen), .flags = END,
	.expect = -ENOENT,
	.reserved = { RESERVED(rcm_listen, reserved), END });
COMMAND(RCM_CONNECT, rcm_connect, conn, HANDLE(rcm_connect), .flags = END,
	.expect = -ENOENT,
	.reserved = { RESERVED(rcm_connect, conn.reserved), END });
COMMAND(RCM_ACCEPT, rcm_accept, conn, HANDLE(rcm_accept), .flags = END,
	.expect = -ENOENT,
	.reserved = { RESERVED(rcm_accept, conn.reserved), END });
COMMAND(RCM_ESTABLISH, rcm_establish, handle, HANDLE(rcm_establish),
	.flags = END, .expect = -ENOENT, .reserved = { END });
COMMAND(RCM_REJECT, rcm_reject, private_data, HANDLE(rcm_reject), .flags = END,
	.expect = -ENOENT,
	.reserved = { RESERVED(rcm_reject, reserved), END });
COMMAND(RCM_DISCONNECT, rcm_disconnect, handle, HANDLE(rcm_disconnect),
	.flags = END, .expect = -ENOENT, .reserved = { END });
COMMAND(RCM_NOTIFY, rcm_notify, reserved, HANDLE(rcm_notify), .flags = END,
	.expect = -ENOENT,
	.reserved = { RESERVED(rcm_notify, reserved), END });
COMMAND(RCM_INIT_QP_ATTR, rcm_init_qp_attr, out_attr, HANDLE(rcm_init_qp_attr),
	.flags = END, .expect = -ENOENT, .reserved = { END });
COMMAND(RCM_SET_OPTION, rcm_set_option, optval, HANDLE(rcm_set_option),
	.flags = END, .expect = -ENOENT,
	.reserved = { RESERVED(rcm_set_option, reserved), END });
COMMAND(RCM_QUERY, rcm_query, out_endpoint, HANDLE(rcm_query), .flags = END,
	.expect = -ENOENT, .reserved = { END });
COMMAND(RCM_MIGRATE, rcm_migrate, reserved, HANDLE(rcm_migrate), .flags = END,
	.expect = -ENOENT,
	.reserved = { RESERVED(rcm_migrate, reserved), END });
COMMAND(RCM_JOIN_MULTICAST, rcm_join_multicast, addr,
	HANDLE(rcm_join_multicast), FLAGS(rcm_join_multicast),
	.known = RCM_JOIN_SEND_ONLY, .expect = -ENOENT, .reserved = { END });
COMMAND(RCM_LEAVE_MULTICAST, rcm_leave_multicast, reserved,
	HANDLE(rcm_leave_multicast), .flags = END, .expect = -ENOENT,
	.reserved = { RESERVED(rcm_leave_multicast, reserved), END });
COMMAND(RCM_TRANSLATE, rcm_translate, out_endpoint, .handle = END,
	.flags = END, .reserved = { END });
COMMAND(RCM_WRITE_EVENT, rcm_write_event, arg, HANDLE(rcm_write_event),
	.flags = END, .expect = -ENOENT, .reserved = { END });
COMMAND(RCM_GET_EVENTS, rcm_get_events, events, .handle = END,
	FLAGS(rcm_get_events), .known = RCM_EVENT_DONTWAIT, .expect = -EAGAIN,
	.reserved = { END });
COMMAND(RCM_GET_EVENT, rcm_event, out_qp, .handle = END, FLAGS(rcm_event),
	.known = RCM_EVENT_DONTWAIT, .expect = -EAGAIN, .reserved = { END });
/* clang-format on */

/* A valid argument, but for the handle, which nobody has. */
static void fill(unsigned char *arg, unsigned long cmd, int size, int other,
		 int *option)
{
	union {
		unsigned char bytes[PAGE];
		struct rcm_create_id create;
		struct rcm_bind bind;
		struct rcm_resolve_addr resolve;
		struct rcm_connect connect;
		struct rcm_accept accept;
		struct rcm_notify notify;
		struct rcm_init_qp_attr init;
		struct rcm_set_option option;
		struct rcm_migrate migrate;
		struct rcm_join_multicast join;
		struct rcm_translate translate;
		struct rcm_write_event write;
		struct rcm_get_events events;
	} to = {};
	static struct rcm_event event;

	switch (cmd) {
	case RCM_CREATE_ID:
		to.create.ps = PS_TCP;
		break;
	case RCM_BIND:
		to.bind.addr = addr("127.0.0.1", 0);
		break;
	case RCM_JOIN_MULTICAST:
		to.join.addr = addr("239.1.1.1", 0);
		to.join.number = 1;
		break;
	case RCM_WRITE_EVENT:
		to.write.event = RCM_EVENT_USER;
		break;
	case RCM_GET_EVENTS:
		to.events.count = 1;
		to.events.event_size = sizeof(event);
		to.events.events = (unsigned long)&event;
		break;
	case RCM_TRANSLATE:
		to.translate.dst = addr(IP4, 1);
		break;
	case RCM_RESOLVE_ADDR:
		to.resolve.dst = addr(IP4, 1);
		break;
	case RCM_NOTIFY:
		to.notify.event = 4;
		break;
	case RCM_INIT_QP_ATTR:
		to.init.qp_state = 1;
		break;
	case RCM_SET_OPTION:
		to.option.optname = OPT_REUSEADDR;
		to.option.optlen = 4;
		to.option.optval = (unsigned long)option;
		break;
	case RCM_MIGRATE:
		to.migrate.fd = other;
		break;
	}
	memcpy(arg, &to, size);
	*(__u32 *)arg = size;
}

static void put32(unsigned char *arg, int offset, __u32 value)
{
	memcpy(arg + offset, &value, sizeof(value));
}

#define FILL(arg)                                                   \
	({                                                          \
		fill(arg, variant->cmd, variant->size, self->other, \
		     &self->option);                                \
		if (variant->handle != END)                         \
			put32(arg, variant->handle, BAD_HANDLE);    \
	})
#define CALL(arg) call(self->fd, variant->cmd, arg)

/* Two pages, of which the second cannot be accessed; or MAP_FAILED. */
static void *page_with_nothing_after(void)
{
	unsigned char *map = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED || !mprotect(map + PAGE, PAGE, PROT_NONE))
		return map;
	munmap(map, 2 * PAGE);
	return MAP_FAILED;
}

FIXTURE_SETUP(command)
{
	ASSERT_LT(variant->size, MAX_ARG);
	self->fd = open_rcm(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	self->other = open_rcm(0);
	ASSERT_LE(0, self->other);
	self->map = page_with_nothing_after();
	ASSERT_NE(MAP_FAILED, self->map);
	memset(self->arg, 0, sizeof(self->arg));
	FILL(self->arg);
}

FIXTURE_TEARDOWN(command)
{
	munmap(self->map, 2 * PAGE);
	close(self->other);
	close(self->fd);
	EXPECT_TRUE(nothing_left(2000));
}

TEST_F(command, takes_a_valid_argument)
{
	EXPECT_EQ(variant->expect, CALL(self->arg));
	EXPECT_EQ(variant->size, *(__u32 *)self->arg);
}

TEST_F(command, C57_size_zero_is_EINVAL)
{
	put32(self->arg, 0, 0);
	EXPECT_EQ(-EINVAL, CALL(self->arg));
}

TEST_F(command, C57_size_below_the_first_version_is_EINVAL)
{
	put32(self->arg, 0, variant->first - 1);
	EXPECT_EQ(-EINVAL, CALL(self->arg));
	put32(self->arg, 0, 4);
	EXPECT_EQ(-EINVAL, CALL(self->arg));
}

TEST_F(command, C57_size_of_the_first_version_is_enough)
{
	put32(self->arg, 0, variant->first);
	EXPECT_EQ(variant->expect, CALL(self->arg));
}

TEST_F(command, C57_longer_by_zeros_changes_nothing)
{
	put32(self->arg, 0, variant->size + 8);
	EXPECT_EQ(variant->expect, CALL(self->arg));
	FILL(self->arg);
	memset(self->arg + variant->size, 0, PAGE - variant->size);
	put32(self->arg, 0, PAGE);
	EXPECT_EQ(variant->expect, CALL(self->arg));
}

TEST_F(command, C57_longer_by_something_is_E2BIG)
{
	int i;

	for (i = 0; i < 8; i++) {
		FILL(self->arg);
		memset(self->arg + variant->size, 0, 8);
		self->arg[variant->size + i] = 1;
		put32(self->arg, 0, variant->size + 8);
		EXPECT_EQ(-E2BIG, CALL(self->arg));
	}
}

TEST_F(command, C57_larger_than_a_page_is_E2BIG)
{
	put32(self->arg, 0, PAGE + 8);
	EXPECT_EQ(-E2BIG, CALL(self->arg));
	put32(self->arg, 0, ~0U);
	EXPECT_EQ(-E2BIG, CALL(self->arg));
}

TEST_F(command, unmapped_argument_is_EFAULT)
{
	EXPECT_EQ(-EFAULT, CALL(NULL));
	EXPECT_EQ(-EFAULT, CALL(self->map + PAGE));
	EXPECT_EQ(-EFAULT, CALL((void *)0xffff800000000000UL));
}

TEST_F(command, argument_that_ends_in_an_unmapped_page_is_EFAULT)
{
	unsigned char *arg = self->map + PAGE - 8;
	int expect = -EFAULT;

	/* Nothing is written to before there is an event. */
	if (variant->cmd == RCM_GET_EVENT)
		expect = -EAGAIN;
	/* It fits. */
	if (variant->size <= 8)
		expect = variant->expect;
	put32(arg, 0, variant->size);
	put32(arg, 4, variant->handle == END ? 0 : BAD_HANDLE);
	EXPECT_EQ(expect, CALL(arg));
}

TEST_F(command, argument_that_cannot_be_written_is_EFAULT_and_leaves_nothing)
{
	int expect = variant->expect ?: -EFAULT;

	FILL(self->map);
	ASSERT_EQ(0, mprotect(self->map, PAGE, PROT_READ));
	EXPECT_EQ(expect, CALL(self->map));
	EXPECT_TRUE(nothing_left(2000));
}

TEST_F(command, misaligned_argument_is_EINVAL)
{
	unsigned char *arg = self->arg;
	int shift;

	for (shift = 1; shift < 4; shift++) {
		memmove(arg + 1, arg, PAGE);
		arg++;
		EXPECT_EQ(-EINVAL, CALL(arg));
	}
}

TEST_F(command, reserved_bytes_have_to_be_zero)
{
	const int *pair;
	int i;

	if (variant->reserved[0] == END)
		return; /* there is nothing to say to it */
	for (pair = variant->reserved; *pair != END; pair += 2) {
		for (i = 0; i < pair[1]; i++) {
			FILL(self->arg);
			self->arg[pair[0] + i] = 0x80;
			EXPECT_EQ(-EINVAL, CALL(self->arg))
			{
				TH_LOG("byte %d", pair[0] + i);
			}
		}
	}
}

TEST_F(command, unknown_flags_are_EOPNOTSUPP)
{
	int bit;

	if (variant->flags == END)
		return;
	for (bit = 0; bit < 32; bit++) {
		if (variant->known & 1U << bit)
			continue;
		FILL(self->arg);
		put32(self->arg, variant->flags, 1U << bit);
		EXPECT_EQ(-EOPNOTSUPP, CALL(self->arg))
		{
			TH_LOG("bit %d", bit);
		}
	}
}

TEST_F(command, handle_of_nobody_is_ENOENT)
{
	static const __u32 bad[] = { 0, BAD_HANDLE, 0x7fffffff, 0x80000000,
				     0xffffffff };
	unsigned int i;
	int handle;

	if (variant->handle == END)
		return;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		FILL(self->arg);
		put32(self->arg, variant->handle, bad[i]);
		EXPECT_EQ(-ENOENT, CALL(self->arg))
		{
			TH_LOG("handle %#x", bad[i]);
		}
	}

	/* Somebody else's. */
	handle = create_tcp(self->other);
	ASSERT_LT(0, handle);
	FILL(self->arg);
	put32(self->arg, variant->handle, handle);
	EXPECT_EQ(-ENOENT, CALL(self->arg));
	EXPECT_EQ(RCM_STATE_IDLE, state_of(self->other, handle));

	/* And one that was destroyed. */
	handle = create_tcp(self->fd);
	ASSERT_LT(0, handle);
	EXPECT_EQ(0, destroy(self->fd, handle));
	FILL(self->arg);
	put32(self->arg, variant->handle, handle);
	EXPECT_EQ(-ENOENT, CALL(self->arg));
}

TEST_F(command, other_encodings_are_ENOTTY)
{
	unsigned int nr = _IOC_NR(variant->cmd);
	int size = variant->size;

	EXPECT_EQ(-ENOTTY,
		  call(self->fd, _IOC(_IOC_WRITE, RCM_IOC_TYPE, nr, size),
		       self->arg));
	EXPECT_EQ(-ENOTTY,
		  call(self->fd, _IOC(_IOC_READ, RCM_IOC_TYPE, nr, size),
		       self->arg));
	EXPECT_EQ(-ENOTTY,
		  call(self->fd,
		       _IOC(_IOC_READ | _IOC_WRITE, RCM_IOC_TYPE, nr, 0),
		       self->arg));
	EXPECT_EQ(-ENOTTY,
		  call(self->fd, _IO(RCM_IOC_TYPE + 1, nr), self->arg));
	EXPECT_EQ(-ENOTTY, call(self->fd, _IO(0x1b, nr), self->arg));
}

/* The rest takes one open file, which blocks. */
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
static int send_fd(int via, int fd)
{
	char control[CMSG_SPACE(sizeof(fd))] = {};
	char byte = 0;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	return sendmsg(via, &msg, 0) == 1 ? 0 : -errno;
}

static int receive_fd(int via)
{
	char control[CMSG_SPACE(sizeof(int))] = {};
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	int fd;

	if (recvmsg(via, &msg, 0) != 1 || !CMSG_FIRSTHDR(&msg))
		return -EPROTO;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
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

TEST(C58_layout_is_the_same_for_32_bit_callers_and_has_no_holes)
{
	const char *top = getenv("TOP");
	int ret;

	if (!top || sh("command -v gcc >/dev/null"))
		SKIP(return,
			   "no gcc; the 64-bit layout was checked on building");
	ret = sh(
		"echo '#include \"abi_layout.h\"' | gcc -m32 -Werror=padded -fsyntax-only "
		"-I/usr/include/$(gcc -print-multiarch) -I%s/uapi "
		"-I%s/selftests -xc - 2>&1 | sed 's/^/# /; /error/q1' >&2",
		top, top);
	EXPECT_EQ(0, ret);
}

TEST_HARNESS_MAIN
