// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * timeout: 180
 *
 * Ports and local addresses: which bind is refused, with which errno, and
 * that nothing is lost.
 */
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "rcm_test.h"

#include "kselftest_harness.h"

#define PORT  7471
#define RANGE "/proc/sys/net/ipv4/ip_local_port_range"

static void end(void)
{
	sh("ip address del 10.0.0.2/24 dev d0");
}

/* Once for the whole program. */
static void __attribute__((constructor)) begin(void)
{
	sh("ip address add 10.0.0.2/24 dev d0 2>/dev/null");
	wait_for_address("10.0.0.2");
	atexit(end);
}

FIXTURE(ports)
{
	int fd;
};

FIXTURE_SETUP(ports)
{
	self->fd = open_rcm(0);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(ports)
{
	close(self->fd);
	EXPECT_TRUE(nothing_left(5000));
}

/* Binds a new identifier; its handle or a negative errno. */
static int new_bound(int fd, const char *host, int port)
{
	int handle = create_tcp(fd);
	int ret = bind_text(fd, handle, host, port);

	if (ret)
		destroy(fd, handle);
	return ret ?: handle;
}

static int new_with_option(int fd, int option, const char *host, int port)
{
	int handle = create_tcp(fd);
	int ret = set_option(fd, handle, option, 1) ?:
			  bind_text(fd, handle, host, port);

	return ret ?: handle;
}

/* C01: two identifiers, one port; what the second one is told. */
FIXTURE(pair)
{
	int fd;
};

FIXTURE_VARIANT(pair)
{
	const char *first;
	const char *second;
	int expect;
};

/* clang-format off */
#define PAIR(name, a, b, error)						\
	FIXTURE_VARIANT_ADD(pair, name) { .first = a, .second = b, .expect = error }
PAIR(C01_two_wildcards, "0.0.0.0", "0.0.0.0", -EADDRNOTAVAIL);
PAIR(C01_wildcard_after_specific, IP4, "0.0.0.0", -EADDRNOTAVAIL);
PAIR(C01_specific_after_wildcard, "0.0.0.0", IP4, -EADDRNOTAVAIL);
PAIR(C01_same_specific, IP4, IP4, -EADDRINUSE);
PAIR(C01_different_specific, IP4, "10.0.0.2", 0);
PAIR(C01_loopback_twice, "127.0.0.1", "127.0.0.1", -EADDRNOTAVAIL);
PAIR(C01_loopback_and_specific, "127.0.0.1", IP4, -EADDRNOTAVAIL);
PAIR(C01_other_loopback, "127.0.0.1", "127.0.0.2", -EADDRNOTAVAIL);
PAIR(C01_same_specific_v6, IP6, IP6, -EADDRINUSE);
PAIR(C01_two_wildcards_v6, "::", "::", -EADDRNOTAVAIL);
PAIR(C01_loopback_twice_v6, "::1", "::1", -EADDRNOTAVAIL);
PAIR(C01_v4_and_v6_specific, IP4, IP6, 0);
PAIR(C06_v4_wildcard_after_dual_stack, "::", "0.0.0.0", -EADDRNOTAVAIL);
PAIR(C06_dual_stack_after_v4_wildcard, "0.0.0.0", "::", -EADDRNOTAVAIL);
PAIR(C06_v4_specific_after_dual_stack, "::", IP4, -EADDRNOTAVAIL);
/* clang-format on */

FIXTURE_SETUP(pair)
{
	self->fd = open_rcm(0);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(pair)
{
	close(self->fd);
	EXPECT_TRUE(nothing_left(2000));
}

TEST_F(pair, C01_the_second_bind_is_told)
{
	int first, second;

	first = new_bound(self->fd, variant->first, PORT);
	ASSERT_LT(0, first);
	second = create_tcp(self->fd);
	EXPECT_EQ(variant->expect,
		  bind_text(self->fd, second, variant->second, PORT));
	EXPECT_EQ(variant->expect ? 0 : PORT, src_port(self->fd, second));
	EXPECT_EQ(variant->expect ? RCM_STATE_IDLE : RCM_STATE_BOUND,
		  state_of(self->fd, second));

	/* Another port is free, and this one when the first one is gone. */
	if (variant->expect)
		EXPECT_EQ(0, bind_text(self->fd, second, variant->second,
				       PORT + 1));
	destroy(self->fd, first);
	if (variant->expect)
		EXPECT_LT(0, new_bound(self->fd, variant->second, PORT));
}

TEST_F(ports, C01_port_spaces_do_not_see_each_other)
{
	int other = create(self->fd, 0, PS_IB);

	ASSERT_LT(0, new_bound(self->fd, IP4, PORT));
	EXPECT_EQ(0, bind_text(self->fd, other, IP4, PORT));
}

TEST_F(ports, C03_active_sides_share_ephemeral_ports)
{
	char range[64];
	FILE *file;
	int i, ret;

	file = fopen(RANGE, "r");
	ASSERT_NE(NULL, file);
	ASSERT_NE(NULL, fgets(range, sizeof(range), file));
	fclose(file);
	ASSERT_EQ(0, write_file(RANGE, "50000 50003"));

	/* Twelve destinations share four ports. */
	for (i = 0; i < 12; i++) {
		ret = resolve_flags(self->fd, 0, NULL, IP4, 1000 + i, 100,
				    RCM_CREATE);
		EXPECT_LT(0, ret);
		ret = src_port(self->fd, ret);
		EXPECT_LE(50000, ret);
		EXPECT_GE(50003, ret);
	}
	EXPECT_EQ(4, live_ports());
	close(self->fd);
	EXPECT_TRUE(nothing_left(2000));

	/* One destination takes each port once. */
	self->fd = open_rcm(0);
	for (i = 0; i < 4; i++)
		EXPECT_LT(0, resolve_flags(self->fd, 0, NULL, IP4, 1000, 100,
					   RCM_CREATE));
	EXPECT_EQ(-EADDRNOTAVAIL,
		  resolve_flags(self->fd, 0, NULL, IP4, 1000, 100, RCM_CREATE));
	EXPECT_EQ(4, live_ids());
	/* Whoever binds shares with nobody. */
	EXPECT_EQ(-EADDRNOTAVAIL, new_bound(self->fd, IP4, 0));
	write_file(RANGE, range);
}

TEST_F(ports, C04_reuse_ends_with_listen)
{
	int a = new_with_option(self->fd, OPT_REUSEADDR, IP4, PORT);
	int b = new_with_option(self->fd, OPT_REUSEADDR, IP4, PORT);

	ASSERT_LT(0, a);
	ASSERT_LT(0, b);
	/* Without reuse nobody joins them. */
	EXPECT_EQ(-EADDRINUSE, new_bound(self->fd, IP4, PORT));
	EXPECT_EQ(0, listen_on(self->fd, a, 0));
	EXPECT_EQ(-EADDRINUSE, listen_on(self->fd, b, 0));
	EXPECT_EQ(RCM_STATE_BOUND, state_of(self->fd, b));
	EXPECT_EQ(-EADDRINUSE,
		  new_with_option(self->fd, OPT_REUSEADDR, IP4, PORT));
	EXPECT_EQ(-EINVAL, set_option(self->fd, a, OPT_REUSEADDR, 1));
	destroy(self->fd, a);
	EXPECT_EQ(0, listen_on(self->fd, b, 0));
}

struct race {
	int fd;
	int handle;
	int result;
	pthread_barrier_t *barrier;
};

static void *race_listen(void *arg)
{
	struct race *race = arg;

	pthread_barrier_wait(race->barrier);
	race->result = listen_on(race->fd, race->handle, 0);
	return NULL;
}

TEST_F(ports, C04_of_two_racing_listeners_one_wins)
{
	pthread_barrier_t barrier;
	struct race race[2];
	pthread_t thread[2];
	int round, i, won;

	pthread_barrier_init(&barrier, NULL, 2);
	for (round = 0; round < 200; round++) {
		for (i = 0; i < 2; i++) {
			race[i] = (struct race){
				.fd = self->fd,
				.handle = new_with_option(self->fd,
							  OPT_REUSEADDR,
							  "0.0.0.0", PORT),
				.barrier = &barrier,
			};
			ASSERT_LT(0, race[i].handle);
		}
		for (i = 0; i < 2; i++)
			pthread_create(&thread[i], NULL, race_listen, &race[i]);
		for (i = 0; i < 2; i++)
			pthread_join(thread[i], NULL);
		won = race[0].result ? 1 : 0;
		ASSERT_EQ(0, race[won].result);
		ASSERT_EQ(-EADDRNOTAVAIL, race[!won].result);
		for (i = 0; i < 2; i++)
			destroy(self->fd, race[i].handle);
	}
}

TEST_F(ports, C06_v6only_shares_the_port_with_v4)
{
	int v6 = new_with_option(self->fd, OPT_AFONLY, "::", PORT);
	int v4 = new_bound(self->fd, "0.0.0.0", PORT);

	ASSERT_LT(0, v6);
	ASSERT_LT(0, v4);
	EXPECT_EQ(0, listen_on(self->fd, v6, 0));
	EXPECT_EQ(0, listen_on(self->fd, v4, 0));
	EXPECT_EQ(-EADDRNOTAVAIL, new_bound(self->fd, "::", PORT));
}

TEST_F(ports, C06_bindv6only_is_the_default_of_v6only)
{
	static const char path[] = "/proc/sys/net/ipv6/bindv6only";

	ASSERT_EQ(0, write_file(path, "1"));
	EXPECT_LT(0, new_bound(self->fd, "::", PORT));
	EXPECT_LT(0, new_bound(self->fd, "0.0.0.0", PORT));
	EXPECT_EQ(0, write_file(path, "0"));
	EXPECT_LT(0, new_bound(self->fd, "::", PORT + 1));
	EXPECT_EQ(-EADDRNOTAVAIL, new_bound(self->fd, "0.0.0.0", PORT + 1));
}

TEST_F(ports, C07_an_ephemeral_port_is_reported)
{
	struct rcm_bind arg = { .size = sizeof(arg), .addr = addr(IP4, 0) };
	int a = create_tcp(self->fd), b, low, high;
	FILE *file = fopen(RANGE, "r");

	ASSERT_NE(NULL, file);
	ASSERT_EQ(2, fscanf(file, "%d %d", &low, &high));
	fclose(file);
	EXPECT_EQ(0, src_port(self->fd, a));
	arg.handle = a;
	ASSERT_EQ(0, call(self->fd, RCM_BIND, &arg));
	EXPECT_LE(low, port_of(&arg.addr));
	EXPECT_GE(high, port_of(&arg.addr));
	EXPECT_STREQ(IP4, host_of(&arg.addr));
	EXPECT_EQ(port_of(&arg.addr), src_port(self->fd, a));
	b = new_bound(self->fd, IP4, 0);
	EXPECT_NE(src_port(self->fd, a), src_port(self->fd, b));
	EXPECT_EQ(0, destroy(self->fd, a));
	EXPECT_LT(0, new_bound(self->fd, IP4, port_of(&arg.addr)));
}

static int drop_bind_service(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		return -errno;
	data[0].effective &= ~(1U << CAP_NET_BIND_SERVICE);
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

TEST_F(ports, C08_privileged_ports_need_the_capability)
{
	int handle;

	EXPECT_LT(0, new_bound(self->fd, IP4, 111));
	ASSERT_EQ(0, drop_bind_service());
	EXPECT_EQ(-EACCES, new_bound(self->fd, IP4, 112));
	EXPECT_EQ(-EACCES, new_bound(self->fd, "0.0.0.0", 1023));
	EXPECT_LT(0, new_bound(self->fd, IP4, 1024));
	EXPECT_LT(0, new_bound(self->fd, IP4, 0));

	/* A refused one is as before. */
	handle = create_tcp(self->fd);
	EXPECT_EQ(-EACCES, bind_text(self->fd, handle, IP4, 112));
	EXPECT_EQ(RCM_STATE_IDLE, state_of(self->fd, handle));
	EXPECT_EQ(0, bind_text(self->fd, handle, IP4, 2000));
}

/* Root of a user namespace, in a network namespace of its own. */
static int in_user_namespace(void)
{
	int fd, handle;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return errno == EINVAL || errno == EPERM ? 4 : 10;
	fd = open_rcm(0);
	if (fd < 0)
		return 11;
	handle = create_tcp(fd);
	if (bind_text(fd, handle, "0.0.0.0", 111))
		return 12;
	if (drop_bind_service())
		return 13;
	handle = create_tcp(fd);
	if (bind_text(fd, handle, "0.0.0.0", 112) != -EACCES)
		return 14;
	return 0;
}

/* Its own namespace's root does not count for a file of another one. */
static int on_a_foreign_file(int fd)
{
	int handle = create_tcp(fd);

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return errno == EINVAL || errno == EPERM ? 4 : 10;
	return bind_text(fd, handle, "0.0.0.0", 111) == -EACCES ? 0 : 11;
}

TEST_F(ports, C08_the_capability_is_that_of_the_network_namespace)
{
	int status, i;

	for (i = 0; i < 2; i++) {
		pid_t child = fork();

		ASSERT_LE(0, child);
		if (!child)
			_exit(i ? on_a_foreign_file(self->fd) :
				  in_user_namespace());
		ASSERT_EQ(child, waitpid(child, &status, 0));
		ASSERT_TRUE(WIFEXITED(status));
		if (WEXITSTATUS(status) == 4)
			SKIP(return, "no user namespaces");
		EXPECT_EQ(0, WEXITSTATUS(status));
	}
}

TEST_F(ports, C08_the_first_unprivileged_port_is_a_setting)
{
	static const char path[] =
		"/proc/sys/net/ipv4/ip_unprivileged_port_start";

	ASSERT_EQ(0, drop_bind_service());
	ASSERT_EQ(0, write_file(path, "100"));
	EXPECT_LT(0, new_bound(self->fd, IP4, 111));
	EXPECT_EQ(-EACCES, new_bound(self->fd, IP4, 99));
	EXPECT_EQ(0, write_file(path, "1024"));
}

TEST_F(ports, C10_failing_resolves_leave_no_port)
{
	int handle = create_tcp(self->fd);
	struct rcm_query before, after;
	int i;

	ASSERT_EQ(0, query(self->fd, handle, &before));
	for (i = 0; i < 2000; i++) {
		int ret =
			resolve(self->fd, handle, NULL, IP4_NOT_LOCAL, 7, 100);

		ASSERT_EQ(-ENETUNREACH, ret);
	}
	EXPECT_EQ(0, live_ports());
	ASSERT_EQ(0, query(self->fd, handle, &after));
	EXPECT_EQ(0, memcmp(&before.out_endpoint, &after.out_endpoint,
			    sizeof(before.out_endpoint)));
	for (i = 0; i < 300; i++)
		ASSERT_EQ(-ENETUNREACH,
			  resolve_flags(self->fd, 0, NULL, IP4_NOT_LOCAL, 7,
					100, RCM_CREATE));
	EXPECT_EQ(1, live_ids());
	EXPECT_EQ(0, live_ports());
}

TEST_F(ports, C10_failing_binds_and_listens_leave_no_port)
{
	int handle = create_tcp(self->fd);
	int i;

	ASSERT_LT(0, new_bound(self->fd, IP4, PORT));
	for (i = 0; i < 500; i++) {
		ASSERT_EQ(-EADDRINUSE, bind_text(self->fd, handle, IP4, PORT));
		ASSERT_EQ(-EADDRNOTAVAIL,
			  bind_text(self->fd, handle, IP4_NOT_LOCAL, 0));
	}
	EXPECT_EQ(1, live_ports());
}

TEST_F(ports, C12_one_source_port_for_several_destinations)
{
	int a = new_with_option(self->fd, OPT_REUSEADDR, IP4, 900);
	int b = new_with_option(self->fd, OPT_REUSEADDR, IP4, 900);
	int c = new_with_option(self->fd, OPT_REUSEADDR, IP4, 900);

	ASSERT_LT(0, a);
	ASSERT_LT(0, b);
	ASSERT_LT(0, c);
	EXPECT_EQ(0, resolve(self->fd, a, NULL, IP4, 1, 100));
	EXPECT_EQ(0, resolve(self->fd, b, NULL, IP4, 2, 100));
	EXPECT_EQ(-EADDRNOTAVAIL, resolve(self->fd, c, NULL, IP4, 1, 100));
	EXPECT_EQ(RCM_STATE_BOUND, state_of(self->fd, c));
	EXPECT_EQ(0, resolve(self->fd, c, NULL, IP4, 3, 100));
	EXPECT_EQ(900, src_port(self->fd, c));
}

TEST_F(ports, addresses_that_are_not_local_or_have_no_device)
{
	sh("ip link add nordma type dummy; ip address add 10.78.0.1/24 dev nordma; ip link set nordma up");
	EXPECT_EQ(-EADDRNOTAVAIL, new_bound(self->fd, IP4_NOT_LOCAL, 0));
	EXPECT_EQ(-EADDRNOTAVAIL, new_bound(self->fd, "fd77::1", 0));
	EXPECT_EQ(-EADDRNOTAVAIL, new_bound(self->fd, IP4_NOT_LOCAL, PORT));
	EXPECT_EQ(-ENODEV, new_bound(self->fd, "10.78.0.1", 0));
	EXPECT_EQ(-ENODEV, new_bound(self->fd, "10.78.0.1", PORT));
	EXPECT_EQ(0, live_ports());
	sh("ip link del nordma");
}

TEST_F(ports, families_that_are_not_ip_are_EAFNOSUPPORT)
{
	int handle = create_tcp(self->fd);
	int family;

	for (family = 0; family < 64; family++) {
		addr_t to = addr(IP4, 0);

		if (family == AF_INET || family == AF_INET6)
			continue;
		to.ss_family = family;
		EXPECT_EQ(-EAFNOSUPPORT, bind_to(self->fd, handle, to));
	}
	EXPECT_EQ(RCM_STATE_IDLE, state_of(self->fd, handle));
}

TEST_F(ports, C27_link_local_addresses_need_a_scope)
{
	int handle = create_tcp(self->fd);
	struct rcm_query arg;

	sh("ip address add fe80::77/64 dev d0 nodad");
	ASSERT_TRUE(wait_for_address("fe80::77%d0"));
	EXPECT_EQ(-EINVAL, bind_text(self->fd, handle, "fe80::77", 0));
	EXPECT_EQ(-EADDRNOTAVAIL,
		  bind_text(self->fd, handle, "fe80::77%lo", 0));
	EXPECT_EQ(-EADDRNOTAVAIL,
		  bind_text(self->fd, handle, "fe80::99%d0", 0));
	EXPECT_EQ(RCM_STATE_IDLE, state_of(self->fd, handle));
	ASSERT_EQ(0, bind_text(self->fd, handle, "fe80::77%d0", PORT));
	ASSERT_EQ(0, query(self->fd, handle, &arg));
	EXPECT_EQ(
		if_nametoindex("d0"),
		((struct sockaddr_in6 *)&arg.out_endpoint.src)->sin6_scope_id);
	EXPECT_EQ(if_nametoindex("d0"), arg.out_endpoint.ifindex);
	EXPECT_EQ(-EINVAL, resolve(self->fd, create_tcp(self->fd), NULL,
				   "fe80::77", 7, 100));
	EXPECT_EQ(0, resolve(self->fd, handle, NULL, "fe80::77%d0", 7, 100));
	EXPECT_EQ(EV_ADDR_RESOLVED, next_event(self->fd, NULL, 1000));
	ASSERT_EQ(0, query(self->fd, handle, &arg));
	EXPECT_EQ(
		if_nametoindex("d0"),
		((struct sockaddr_in6 *)&arg.out_endpoint.src)->sin6_scope_id);
	EXPECT_EQ(
		if_nametoindex("d0"),
		((struct sockaddr_in6 *)&arg.out_endpoint.dst)->sin6_scope_id);
	sh("ip address del fe80::77/64 dev d0");
}

TEST_F_TIMEOUT(ports, all_ephemeral_ports_can_be_taken_and_come_back, 120)
{
	int low, high, i, total, handle, middle = 0;
	FILE *file = fopen(RANGE, "r");

	ASSERT_NE(NULL, file);
	ASSERT_EQ(2, fscanf(file, "%d %d", &low, &high));
	fclose(file);
	total = high - low + 1;
	for (i = 0; i < total; i++) {
		handle = new_bound(self->fd, IP4, 0);
		ASSERT_LT(0, handle)
		{
			TH_LOG("after %d of %d", i, total);
		}
		if (i == total / 2)
			middle = handle;
	}
	EXPECT_EQ(total, live_ports());
	EXPECT_EQ(-EADDRNOTAVAIL, new_bound(self->fd, IP4, 0));
	EXPECT_EQ(-EADDRNOTAVAIL, new_bound(self->fd, "0.0.0.0", 0));
	EXPECT_EQ(-EADDRNOTAVAIL,
		  resolve_flags(self->fd, 0, NULL, IP4, 7, 100, RCM_CREATE));
	/* Other port spaces and ports are not concerned. */
	EXPECT_EQ(0, bind_text(self->fd, create(self->fd, 0, PS_IB), IP4, 0));
	EXPECT_LT(0, new_bound(self->fd, IP4, PORT));

	i = src_port(self->fd, middle);
	EXPECT_EQ(0, destroy(self->fd, middle));
	handle = new_bound(self->fd, IP4, 0);
	EXPECT_EQ(i, src_port(self->fd, handle));
	close(self->fd);
	EXPECT_TRUE(nothing_left(20000));
}

TEST_HARNESS_MAIN
