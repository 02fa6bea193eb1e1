// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * timeout: 240
 *
 * The ioctl interface itself: what each command does with arguments that are
 * short, long, misplaced, or say what they must not. abi_file.c has the rest.
 */
#include "abi_layout.h"
#include "rcm_test.h"

#include "kselftest_harness.h"

#define MAX_ARG 1024 /* larger than every structure */

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
