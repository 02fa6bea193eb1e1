// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * suites: check debug
 * timeout: 240 900
 *
 * Addresses, neighbours and interfaces that change under identifiers, and
 * interfaces that are not a device's own.
 */
#include <pthread.h>

#include "rcm_test.h"

#include "kselftest_harness.h"

#define LINK  "d1" /* with ARP, and nobody on it */
#define LIP   "10.81.0.1"
#define LIP2  "10.81.0.2"
#define LIP3  "10.81.0.3"
#define PEER  "10.81.0.9"
#define OTHER "d2"
#define OIP   "10.86.0.1"
#define VLAN  "d1.100"
#define GROUP "239.1.1.7"
#define VIP   "10.87.0.1"
#define PORT  7471
#define WAIT  8000

static void end(void)
{
	del_link(OTHER);
	del_link(LINK);
}

/* Once for the whole program. */
static void __attribute__((constructor)) begin(void)
{
	add_link(LINK, LIP "/24");
	add_link(OTHER, OIP "/24");
	atexit(end);
}

FIXTURE(changes)
{
	int fd;
	int peer_fd;
	struct rcm_event event;
};

FIXTURE_SETUP(changes)
{
	ASSERT_NE(0, if_nametoindex(LINK));
	ASSERT_NE(0, if_nametoindex(OTHER));
	self->fd = open_rcm(0);
	ASSERT_LE(0, self->fd);
	self->peer_fd = open_rcm(0);
	ASSERT_LE(0, self->peer_fd);
}

FIXTURE_TEARDOWN(changes)
{
	close(self->fd);
	close(self->peer_fd);
	EXPECT_TRUE(nothing_left(10000));
}

/* CVE-2023-2176: a refused call used to change the destination. */
TEST_F(changes, C15_a_refused_resolve_leaves_the_destination)
{
	struct rcm_query before, after;
	int handle;

	sh("ip neigh replace " PEER " lladdr 02:00:00:00:00:09 dev " LINK
	   " nud permanent");
	handle = resolve_flags(self->fd, 0, NULL, PEER, PORT, 1000, RCM_CREATE);
	ASSERT_LT(0, handle);
	ASSERT_EQ(EV_ADDR_RESOLVED, next_event(self->fd, NULL, 0));
	ASSERT_EQ(0, query(self->fd, handle, &before));
	EXPECT_EQ(-EINVAL, resolve(self->fd, handle, NULL, IP6, 9, 100));
	EXPECT_EQ(-EINVAL, resolve(self->fd, handle, NULL, IP4, 9, 100));
	sh("ip neigh del " PEER " dev " LINK);
	EXPECT_EQ(-EINVAL, resolve(self->fd, handle, NULL, IP6, 9, 100));
	ASSERT_EQ(0, query(self->fd, handle, &after));
	EXPECT_EQ(0, memcmp(&before.out_endpoint, &after.out_endpoint,
			    sizeof(before.out_endpoint)));
	EXPECT_STREQ(PEER, host_of(&after.out_endpoint.dst));
	EXPECT_EQ(-ETIME, next_event(self->fd, NULL, 0));
	EXPECT_EQ(1, destroy(self->fd, handle));
}

/* A neighbour that comes and goes, as fast as one program can make it. */
static pid_t flip_neighbours(const char *network, int count)
{
	char path[] = "/tmp/flip";
	FILE *to = fopen(path, "w");
	pid_t child;
	int i;

	if (!to)
		return -1;
	for (i = 0; i < count; i++) {
		fprintf(to,
			"neigh replace %s.%d lladdr 02:00:00:00:00:%02x dev " LINK
			" nud reachable\n",
			network, 10 + i % 50, 1 + i % 200);
		fprintf(to, "neigh del %s.%d dev " LINK "\n", network,
			10 + (i + 25) % 50);
	}
	fclose(to);
	child = fork();
	if (!child) {
		while (1)
			sh("ip -force -batch /tmp/flip >/dev/null 2>&1");
	}
	return child;
}

static void stop_flipping(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	/* Its last "ip" may still run. */
	sleep_ms(500);
	sh("ip neigh flush dev " LINK " 2>/dev/null");
}

struct dead {
	int stop;
	long rounds;
	long resolved;
	long timed_out;
	long twice;
	long wrong;
};

/* Each request ends once, whatever its neighbour does. */
static void *resolve_dead(void *arg)
{
	struct dead *dead = arg;
	struct rcm_event event;
	int fd = open_rcm(0);
	char host[32];
	int i = 0, type;

	while (!__atomic_load_n(&dead->stop, __ATOMIC_RELAXED)) {
		int handle;

		snprintf(host, sizeof(host), "10.81.0.%d", 10 + i++ % 50);
		handle = resolve_flags(fd, 0, NULL, host, PORT, i % 30,
				       RCM_CREATE);
		if (handle > 0 && i % 3) {
			type = next_event(fd, &event, 3000);
			__atomic_fetch_add(&dead->resolved,
					   type == EV_ADDR_RESOLVED,
					   __ATOMIC_RELAXED);
			dead->timed_out += type == EV_ADDR_ERROR;
			dead->wrong += type != EV_ADDR_RESOLVED &&
				       type != EV_ADDR_ERROR;
			dead->twice += next_event(fd, NULL, 0) >= 0;
		}
		dead->wrong += destroy(fd, handle) < 0;
		dead->rounds++;
	}
	close(fd);
	return NULL;
}

static long resolved_by(struct dead *dead, int count)
{
	long resolved = 0;
	int i;

	for (i = 0; i < count; i++)
		resolved +=
			__atomic_load_n(&dead[i].resolved, __ATOMIC_RELAXED);
	return resolved;
}

TEST_F_TIMEOUT(changes, C17_a_request_ends_once_whatever_its_neighbour_does,
	       100)
{
	struct dead dead[4] = {};
	pthread_t thread[4];
	long long start;
	pid_t child;
	int i;

	child = flip_neighbours("10.81.0", 500);
	ASSERT_LT(0, child);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, resolve_dead,
					    &dead[i]));
	/* On a slow machine few have a neighbour in time. */
	start = now_ms();
	sleep_ms(5000);
	while (!resolved_by(dead, 4) && now_ms() - start < 60000)
		sleep_ms(100);
	for (i = 0; i < 4; i++) {
		__atomic_store_n(&dead[i].stop, 1, __ATOMIC_RELAXED);
		pthread_join(thread[i], NULL);
		EXPECT_LT(0, dead[i].rounds);
		EXPECT_EQ(0, dead[i].twice);
		EXPECT_EQ(0, dead[i].wrong);
	}
	stop_flipping(child);
	/* Some had one, or nothing was tested. */
	EXPECT_LT(0, resolved_by(dead, 4));
}

/* Nobody is told of a neighbour that changed, and nobody holds on to it. */
TEST_F_TIMEOUT(changes, C18_a_neighbour_that_changes_after_it_was_resolved, 100)
{
	int i, handle[20], server, client;
	long long start;
	pid_t child;

	client = new_request(self->fd, self->peer_fd, LIP, PORT, &server);
	ASSERT_LT(0, client);
	ASSERT_EQ(0, accept_request(self->fd, client, self->peer_fd, server));

	for (i = 0; i < 20; i++) {
		char host[32];

		snprintf(host, sizeof(host), "10.81.0.%d", 10 + i);
		sh("ip neigh replace %s lladdr 02:00:00:00:00:08 dev " LINK
		   " nud permanent",
		   host);
		handle[i] = ready_to_connect(self->fd, host, PORT);
		ASSERT_LT(0, handle[i]);
		/* Half of them are connecting to nobody. */
		if (i & 1)
			ASSERT_EQ(0,
				  connect_data(self->fd, handle[i], NULL, 0));
	}
	child = flip_neighbours("10.81.0", 500);
	ASSERT_LT(0, child);
	EXPECT_EQ(-ETIME, next_event(self->fd, &self->event, 3000));
	start = now_ms();
	for (i = 0; i < 20; i++)
		EXPECT_EQ(2, destroy(self->fd, handle[i]));
	EXPECT_LE(0, destroy(self->fd, client));
	/* With one processor, which is busy. */
	EXPECT_GT(10000, now_ms() - start);
	EXPECT_EQ(EV_DISCONNECTED, next_event(self->peer_fd, NULL, WAIT));
	stop_flipping(child);
}

/* Both addresses are this host's, on different devices. */
TEST_F(changes, C23_a_destination_on_another_interface_of_this_host)
{
	int handle;

	/* It leaves by the interface that has the destination. */
	handle = resolve_flags(self->fd, 0, NULL, OIP, PORT, 1000, RCM_CREATE);
	ASSERT_LT(0, handle);
	ASSERT_EQ(EV_ADDR_RESOLVED, next_event(self->fd, &self->event, 1000));
	EXPECT_STREQ(OIP, host_of(&self->event.out_endpoint.src));
	EXPECT_EQ(if_nametoindex(OTHER), self->event.out_endpoint.ifindex);

	/* A connection to it arrives. */
	ASSERT_LT(0, listener(self->peer_fd, OIP, PORT, 0));
	ASSERT_EQ(0, resolve_route(self->fd, handle));
	ASSERT_EQ(EV_ROUTE_RESOLVED, next_event(self->fd, NULL, 1000));
	ASSERT_EQ(0, connect_data(self->fd, handle, NULL, 0));
	EXPECT_EQ(EV_CONNECT_REQUEST,
		  next_event(self->peer_fd, &self->event, WAIT));
}

/* One GID after another goes and comes; what is there is found. */
TEST_F(changes, C26_a_hole_in_the_table_of_gids)
{
	int handle;

	sh("ip address add " LIP2 "/24 dev " LINK "; ip address add " LIP3
	   "/24 dev " LINK);
	ASSERT_TRUE(wait_for_address(LIP2));
	ASSERT_TRUE(wait_for_address(LIP3));
	sh("ip address del " LIP2 "/24 dev " LINK);
	handle = create_tcp(self->fd);
	EXPECT_EQ(-EADDRNOTAVAIL, bind_text(self->fd, handle, LIP2, PORT));
	ASSERT_EQ(0, bind_text(self->fd, handle, LIP3, PORT));
	ASSERT_EQ(0, listen_on(self->fd, handle, 0));
	handle = ready_to_connect(self->peer_fd, LIP3, PORT);
	ASSERT_LT(0, handle);
	ASSERT_EQ(0, connect_data(self->peer_fd, handle, NULL, 0));
	ASSERT_EQ(EV_CONNECT_REQUEST, next_event(self->fd, &self->event, WAIT));
	EXPECT_STREQ(LIP3, host_of(&self->event.out_endpoint.src));
	sh("ip address del " LIP3 "/24 dev " LINK);
}

#define ADD_VLAN                                                   \
	"modprobe 8021q; ip link add link " LINK " name " VLAN     \
	" type vlan id 100 && ip address add " VIP "/24 dev " VLAN \
	" && ip link set " VLAN " up"

/* A VLAN has no RDMA device of its own: it is the lower interface's. */
TEST_F(changes, C28_an_address_on_a_vlan)
{
	struct rcm_query lower, upper;
	int handle;

	ASSERT_EQ(0, sh(ADD_VLAN));
	ASSERT_TRUE(wait_for_address(VIP));
	handle = create_tcp(self->fd);
	ASSERT_EQ(0, bind_text(self->fd, handle, VIP, PORT));
	ASSERT_EQ(0, query(self->fd, handle, &upper));
	EXPECT_EQ(if_nametoindex(VLAN), upper.out_endpoint.ifindex);
	ASSERT_EQ(0, listen_on(self->fd, handle, 0));
	handle = create_tcp(self->fd);
	ASSERT_EQ(0, bind_text(self->fd, handle, LIP, 0));
	ASSERT_EQ(0, query(self->fd, handle, &lower));
	EXPECT_EQ(lower.out_endpoint.ibdev_index,
		  upper.out_endpoint.ibdev_index);

	handle = ready_to_connect(self->peer_fd, VIP, PORT);
	ASSERT_LT(0, handle);
	ASSERT_EQ(0, connect_data(self->peer_fd, handle, NULL, 0));
	EXPECT_EQ(EV_CONNECT_REQUEST, next_event(self->fd, &self->event, WAIT));
	EXPECT_EQ(if_nametoindex(VLAN), self->event.out_endpoint.ifindex);
	sh("ip link del " VLAN);
}

/* What goes does not wait for who is a member by it. */
TEST_F(changes, a_group_keeps_no_interface)
{
	int handle;

	ASSERT_EQ(0, sh(ADD_VLAN));
	ASSERT_TRUE(wait_for_address(VIP));
	handle = create(self->fd, 0, PS_UDP);
	ASSERT_EQ(0, bind_text(self->fd, handle, VIP, PORT));
	ASSERT_EQ(0, join_group(self->fd, handle, GROUP, 1));
	ASSERT_EQ(EV_MULTICAST_JOIN, next_event(self->fd, &self->event, WAIT));
	ASSERT_EQ(0, sh("ip maddress show dev " VLAN " | grep -qw " GROUP));
	ASSERT_EQ(0, sh("timeout -s KILL 8 ip link del " VLAN));
	EXPECT_EQ(0, leave_group(self->fd, handle, 1));
}

TEST_HARNESS_MAIN
