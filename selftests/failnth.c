// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * rigs: uml vmdebug
 * suites: check debug
 * timeout: 180 900
 *
 * Each command again and again with its n-th allocation (or copy) failing,
 * until none fails any more: it says so, leaves the identifier as it was, and
 * nothing is lost.
 */
#include <limits.h>

#include "fail_range.h"
#include "module.h"
#include "rcm_test.h"

#include "kselftest_harness.h"

#define PORT  7471
#define WAIT  8000
#define MAX_N 500

static const char *const kinds[] = { "failslab", "fail_page_alloc",
				     "fail_usercopy" };

/* From the n-th allocation of this task on; 0 for never. */
static int fail_nth(int n)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", n);
	return write_file("/proc/thread-self/fail-nth", text);
}

/* Ends it; true when something was made to fail. */
static bool failed(void)
{
	char text[16] = {};
	int fd = open("/proc/thread-self/fail-nth", O_RDWR);
	ssize_t len = read(fd, text, sizeof(text) - 1);

	if (write(fd, "0", 1) != 1)
		len = -1;
	close(fd);
	return len > 0 && atoi(text) == 0;
}

FIXTURE(fail)
{
	int fd;
	int peer_fd;
	struct rcm_event event;
};

FIXTURE_SETUP(fail)
{
	unsigned int i;

	if (access("/proc/thread-self/fail-nth", W_OK) ||
	    access("/sys/kernel/debug/failslab", X_OK))
		SKIP(return,
			   "kernel without CONFIG_FAILSLAB, CONFIG_FAULT_INJECTION_DEBUG_FS");
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		set_fault(kinds[i], "verbose", 0);
	/* The allocations that may sleep are the ones of interest. */
	write_file(FAULTS "failslab/ignore-gfp-wait", "N");
	write_file(FAULTS "fail_page_alloc/ignore-gfp-wait", "N");
	self->fd = open_rcm(0);
	ASSERT_LE(0, self->fd);
	self->peer_fd = open_rcm(0);
	ASSERT_LE(0, self->peer_fd);
}

FIXTURE_TEARDOWN(fail)
{
	close(self->fd);
	close(self->peer_fd);
	EXPECT_TRUE(nothing_left(5000));
}

static bool want_of_memory(int ret)
{
	return ret == -ENOMEM || ret == -EFAULT || ret == -ENOBUFS;
}

/*
 * Runs @call with its n-th allocation failing; the loop ends when all of it
 * ran without. @prepare before and @after each time.
 */
#define EACH_N(prepare, call, after)                                           \
	({                                                                     \
		int n, ret, faults = 0;                                        \
		bool hit = true;                                               \
                                                                               \
		for (n = 1; hit && n < MAX_N; n++) {                           \
			prepare;                                               \
			ASSERT_EQ(0, fail_nth(n));                             \
			ret = call;                                            \
			hit = failed();                                        \
			faults += hit && ret < 0;                              \
			if (!hit) {                                            \
				EXPECT_LE(0, ret);                             \
			} else if (ret < 0) {                                  \
				EXPECT_TRUE(want_of_memory(ret))               \
				{                                              \
					TH_LOG("n %d: %s", n, strerror(-ret)); \
				}                                              \
			}                                                      \
			after;                                                 \
		}                                                              \
		ASSERT_LT(n, MAX_N);                                           \
		printf("# %s: %d injection points, %d said so\n", #call,       \
		       n - 2, faults);                                         \
		EXPECT_LT(0, faults);                                          \
	})

/* After a failure: nothing was made and no port is held. */
#define CLEAN()                                 \
	do {                                    \
		if (ret > 0)                    \
			destroy(self->fd, ret); \
		ASSERT_TRUE(nothing_left(1000)) \
		{                               \
			TH_LOG("n %d", n);      \
		}                               \
	} while (0)

TEST_F(fail, create)
{
	EACH_N(, create_tcp(self->fd), CLEAN());
}

static int bind_new(int fd, const char *host)
{
	struct rcm_bind arg = {
		.size = sizeof(arg),
		.flags = RCM_CREATE,
		.ps = PS_TCP,
		.addr = addr(host, 0),
	};

	return call(fd, RCM_BIND, &arg) ?: (int)arg.handle;
}

TEST_F(fail, bind_a_new_one)
{
	EACH_N(, bind_new(self->fd, IP4), CLEAN());
	EACH_N(, bind_new(self->fd, "::"), CLEAN());
}

TEST_F(fail, bind)
{
	int handle = create_tcp(self->fd);

	EACH_N(, bind_text(self->fd, handle, IP4, PORT), {
		ASSERT_EQ(ret ? RCM_STATE_IDLE : RCM_STATE_BOUND,
			  state_of(self->fd, handle));
		EXPECT_EQ(ret ? 0 : 1, live_ports());
		if (!ret) {
			destroy(self->fd, handle);
			handle = create_tcp(self->fd);
		}
	});
}

TEST_F(fail, resolve_a_new_one)
{
	EACH_N(,
	       resolve_flags(self->fd, 0, NULL, IP4, PORT, 1000,
			     RCM_CREATE | RCM_RESOLVE_BOTH),
	       CLEAN());
	EACH_N(,
	       resolve_flags(self->fd, 0, NULL, IP6, PORT, 1000,
			     RCM_CREATE | RCM_RESOLVE_BOTH),
	       CLEAN());
}

TEST_F(fail, resolve)
{
	int handle = create_tcp(self->fd);

	EACH_N(, resolve(self->fd, handle, NULL, IP4, PORT, 1000), {
		/* What could not be copied back was done nevertheless. */
		if (ret && ret != -EFAULT) {
			ASSERT_EQ(RCM_STATE_IDLE, state_of(self->fd, handle));
			EXPECT_EQ(0, live_ports());
		} else {
			destroy(self->fd, handle);
			handle = create_tcp(self->fd);
		}
	});
}

TEST_F(fail, resolve_route)
{
	int handle;

	EACH_N(
		{
			handle = resolve_flags(self->fd, 0, NULL, IP4, PORT,
					       1000, RCM_CREATE);
			ASSERT_EQ(EV_ADDR_RESOLVED,
				  next_event(self->fd, NULL, WAIT));
		},
		resolve_route(self->fd, handle),
		{
			if (ret && ret != -EFAULT)
				EXPECT_EQ(RCM_STATE_ADDR_RESOLVED,
					  state_of(self->fd, handle));
			destroy(self->fd, handle);
		});
}

TEST_F(fail, listen)
{
	int handle = 0;

	EACH_N(
		{
			if (!handle)
				handle = create_tcp(self->fd);
		},
		listen_on(self->fd, handle, 4),
		{
			if (ret && ret != -EFAULT) {
				ASSERT_EQ(RCM_STATE_IDLE,
					  state_of(self->fd, handle));
				EXPECT_EQ(0, live_ports());
			} else {
				destroy(self->fd, handle);
				handle = 0;
			}
		});
}

/* A lost message is sent again after 4.3 s, so look at this side alone. */
TEST_F(fail, connect)
{
	int handle;

	EACH_N(
		{
			handle = ready_to_connect(self->fd, IP4_NOBODY, PORT);
			ASSERT_LT(0, handle);
		},
		connect_data(self->fd, handle, "hello", 5),
		{
			if (ret && ret != -EFAULT)
				EXPECT_EQ(RCM_STATE_ROUTE_RESOLVED,
					  state_of(self->fd, handle));
			ASSERT_LE(0, destroy(self->fd, handle));
		});
}

TEST_F(fail, accept_reject_and_get_event)
{
	int client, server, i;

	ASSERT_LT(0, listener(self->peer_fd, IP4, PORT, 0));
	for (i = 0; i < 3; i++) {
		EACH_N(
			{
				client = ready_to_connect(self->fd, IP4, PORT);
				ASSERT_EQ(0, connect_data(self->fd, client,
							  NULL, 0));
				ASSERT_TRUE(readable(self->peer_fd, WAIT));
				server = 0;
				if (i) {
					ASSERT_EQ(EV_CONNECT_REQUEST,
						  next_event(self->peer_fd,
							     &self->event, 0));
					server = self->event.out_new_handle;
				}
			},
			i == 0 ? get_event(self->peer_fd, &self->event, 0) :
			i == 1 ? accept_data(self->peer_fd, server, NULL, 0) :
				 reject(self->peer_fd, server, 0, NULL, 0),
			{
				/* The event is still there. */
				if (i == 0 && ret)
					ASSERT_EQ(EV_CONNECT_REQUEST,
						  next_event(self->peer_fd,
							     &self->event, 0));
				if (i == 0)
					server = self->event.out_new_handle;
				ASSERT_LE(0, destroy(self->peer_fd, server));
				ASSERT_LE(0, destroy(self->fd, client));
			});
	}
}

TEST_F(fail, query_option_migrate_and_destroy)
{
	struct rcm_query arg;
	int handle = create_tcp(self->fd);

	EACH_N(, query(self->fd, handle, &arg), );
	EACH_N(, set_option(self->fd, handle, OPT_TOS, 1), );
	EACH_N(
		{
			destroy(self->peer_fd, handle);
			destroy(self->fd, handle);
			handle = create_tcp(self->fd);
		},
		migrate(self->fd, handle, self->peer_fd, NULL),
		{
			if (ret < 0 && ret != -EFAULT) {
				EXPECT_EQ(RCM_STATE_IDLE,
					  state_of(self->fd, handle));
			} else if (ret > 0) {
				handle = ret;
			}
		});
	EACH_N(handle = create_tcp(self->fd), destroy(self->fd, handle), );
}

TEST_F(fail, open)
{
	EACH_N(, open_rcm(0), {
		if (ret >= 0)
			close(ret);
	});
}

/* Only what has this function of the kernel among its callers fails. */
static bool fail_only_in(const char *function)
{
	unsigned long low = 0, high = ULONG_MAX;
	unsigned int i;

	if (function && !find_text(function, &low, &high))
		return false;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!set_fault_range(kinds[i], "require", low, high))
			return false;
	}
	return true;
}

/*
 * Where slabs get their directory the kernel loses a name for want of memory,
 * which kmemleak would find.
 */
static bool spare_slab_directories(bool spare)
{
	unsigned long low = 0, high = 0;

	return (!spare || find_text("sysfs_slab_add", &low, &high)) &&
	       set_fault_range("failslab", "reject", low, high);
}

/*
 * C48: what is not loaded is not there. What the loader does before, and
 * after, is not ours.
 */
TEST_F_TIMEOUT(fail, load, 120)
{
	if (access(FAULTS "failslab/require-start", W_OK))
		SKIP(return,
			   "kernel without CONFIG_FAULT_INJECTION_STACKTRACE_FILTER");
	close(self->fd);
	close(self->peer_fd);
	ASSERT_EQ(0, unload_module("rcm"));
	ASSERT_TRUE(fail_only_in("do_one_initcall"));
	ASSERT_TRUE(spare_slab_directories(true));
	EACH_N(, load_rcm(), {
		if (ret) {
			EXPECT_NE(0, access(RCM_DEV, F_OK));
		} else {
			EXPECT_EQ(0, unload_module("rcm"));
		}
	});
	ASSERT_TRUE(spare_slab_directories(false));
	ASSERT_TRUE(fail_only_in(NULL));
	ASSERT_EQ(0, load_rcm());
	self->fd = open_rcm(0);
	ASSERT_LE(0, self->fd);
	self->peer_fd = open_rcm(0);
}

TEST_HARNESS_MAIN
