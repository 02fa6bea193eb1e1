// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * timeout: 300
 *
 * RDMA devices as the library holds them: open while an identifier, a list or
 * an object of the program's uses them, and no longer (C64); each one on its
 * own.
 */
#include <dirent.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lib_test.h"

#include "kselftest_harness.h"

#define LINK   "d7"
#define LIP    "10.87.0.1"
#define DEVICE "xd7"
#define PORT   7570
#define NOBODY 65534

/* How many files of RDMA devices this process has open. */
static int open_devices(void)
{
	static const char prefix[] = "/dev/infiniband/uverbs";
	struct dirent *entry;
	char path[64], to[64];
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;
	ssize_t len;

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/fd/%.20s",
			 entry->d_name);
		len = readlink(path, to, sizeof(to) - 1);
		to[len > 0 ? len : 0] = 0;
		count += !strncmp(to, prefix, strlen(prefix));
	}
	if (dir)
		closedir(dir);
	return count;
}

static struct rdma_cm_id *bound_id(struct rdma_event_channel *channel,
				   const char *ip)
{
	union lib_addr addr = lib_addr(ip, 0);
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		return NULL;
	if (!rdma_bind_addr(id, &addr.sa))
		return id;
	rdma_destroy_id(id);
	return NULL;
}

static int bind_errno(struct rdma_event_channel *channel, const char *ip)
{
	struct rdma_cm_id *id;

	errno = 0;
	id = bound_id(channel, ip);
	if (!id)
		return errno;
	rdma_destroy_id(id);
	return 0;
}

static void del_device(void)
{
	if (if_nametoindex(LINK))
		system("rdma link del " DEVICE
		       " 2>/dev/null; ip link del " LINK);
}

static int add_device(void)
{
	del_device();
	return system("{ ip link add " LINK " type dummy && "
		      "ip address add " LIP "/24 dev " LINK " && "
		      "ip link set " LINK " up && "
		      "rdma link add " DEVICE " type rxe netdev " LINK "; }");
}

/* The GID of the address appears a moment later. */
static int wait_for_device(struct rdma_event_channel *channel)
{
	long long end = now_ms() + PATIENCE;
	int ret;

	while ((ret = bind_errno(channel, LIP)) && now_ms() < end)
		usleep(10000);
	return ret;
}

FIXTURE(devices)
{
	struct rdma_event_channel *channel;
};

FIXTURE_SETUP(devices)
{
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
}

FIXTURE_TEARDOWN(devices)
{
	rdma_destroy_event_channel(self->channel);
	del_device();
}

TEST_F(devices, the_last_identifier_closes_its_device)
{
	struct rdma_cm_id *one, *two;
	int i;

	EXPECT_EQ(0, open_devices());
	for (i = 0; i < 10; i++) {
		one = bound_id(self->channel, IP4);
		two = bound_id(self->channel, IP6);
		ASSERT_NE(NULL, one);
		ASSERT_NE(NULL, two);
		EXPECT_EQ(one->verbs, two->verbs);
		EXPECT_NE(NULL, one->pd);
		EXPECT_EQ(1, open_devices());
		EXPECT_EQ(0, rdma_destroy_id(one));
		EXPECT_EQ(1, open_devices());
		EXPECT_EQ(0, rdma_destroy_id(two));
		EXPECT_EQ(0, open_devices());
	}
}

TEST_F(devices, an_event_keeps_its_device)
{
	struct rdma_conn_param param = { .qp_num = 4711 };
	struct rdma_cm_event *event;
	struct rdma_cm_id *client, *server;

	server = listening_id(self->channel, RDMA_PS_TCP, "0.0.0.0", PORT);
	ASSERT_NE(NULL, server);
	EXPECT_EQ(0, open_devices());
	client = resolved_id(self->channel, RDMA_PS_TCP, IP4, PORT);
	ASSERT_NE(NULL, client);
	ASSERT_EQ(0, rdma_connect(client, &param));
	event = next_event(self->channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(0, rdma_destroy_id(client));
	EXPECT_EQ(1, open_devices());
	EXPECT_EQ(0, rdma_destroy_id(event->id));
	EXPECT_EQ(0, open_devices());
	rdma_ack_cm_event(event);
	EXPECT_EQ(0, rdma_destroy_id(server));
}

/* Programs that free their things after the identifier, as many do. */
TEST_F(devices, what_the_program_made_outlives_the_identifier)
{
	struct ibv_comp_channel *comp;
	struct ibv_context *verbs;
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	char buf[64];

	id = bound_id(self->channel, IP4);
	ASSERT_NE(NULL, id);
	verbs = id->verbs;
	pd = ibv_alloc_pd(verbs);
	comp = ibv_create_comp_channel(verbs);
	cq = ibv_create_cq(verbs, 4, NULL, comp, 0);
	mr = rdma_reg_msgs(id, buf, sizeof(buf));
	ASSERT_NE(NULL, pd);
	ASSERT_NE(NULL, comp);
	ASSERT_NE(NULL, cq);
	ASSERT_NE(NULL, mr);

	/* Each of them alone is enough. */
	EXPECT_EQ(0, rdma_destroy_id(id));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	EXPECT_EQ(0, bind_errno(self->channel, IP4));
	EXPECT_EQ(1, open_devices());
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
	EXPECT_EQ(0, bind_errno(self->channel, IP4));
	EXPECT_EQ(1, open_devices());
	EXPECT_EQ(0, ibv_destroy_cq(cq));
	EXPECT_EQ(0, bind_errno(self->channel, IP4));
	EXPECT_EQ(1, open_devices());

	/* And an identifier that comes meanwhile is on the same device. */
	id = bound_id(self->channel, IP4);
	ASSERT_NE(NULL, id);
	EXPECT_EQ(verbs, id->verbs);
	EXPECT_EQ(0, ibv_destroy_comp_channel(comp));
	mr = rdma_reg_msgs(id, buf, sizeof(buf));
	ASSERT_NE(NULL, mr);
	EXPECT_EQ(0, rdma_destroy_id(id));
	EXPECT_EQ(1, open_devices());
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	EXPECT_EQ(0, bind_errno(self->channel, IP4));
	EXPECT_EQ(0, open_devices());
}

TEST_F(devices, a_pointer_kept_too_long_gets_an_error)
{
	struct ibv_device_attr attr;
	struct ibv_context *verbs;
	struct rdma_cm_id *id;

	id = bound_id(self->channel, IP4);
	ASSERT_NE(NULL, id);
	verbs = id->verbs;
	ASSERT_EQ(0, rdma_destroy_id(id));
	EXPECT_NE(0, ibv_query_device(verbs, &attr));
	EXPECT_EQ(NULL, ibv_alloc_pd(verbs));
	EXPECT_EQ(NULL, ibv_create_comp_channel(verbs));
	EXPECT_EQ(0, open_devices());
}

/* rdma_get_devices(3) promises it. */
TEST_F(devices, a_listed_device_stays_open)
{
	struct ibv_context **list;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	int n;

	list = rdma_get_devices(&n);
	ASSERT_NE(NULL, list);
	ASSERT_LE(1, n);
	EXPECT_EQ(n, open_devices());
	id = bound_id(self->channel, IP4);
	ASSERT_NE(NULL, id);
	pd = ibv_alloc_pd(id->verbs);
	ASSERT_NE(NULL, pd);
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
	rdma_free_devices(list);
	EXPECT_EQ(n, open_devices());
	pd = ibv_alloc_pd(id->verbs);
	ASSERT_NE(NULL, pd);
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
	EXPECT_EQ(0, rdma_destroy_id(id));
	EXPECT_EQ(n, open_devices());
}

TEST_F_TIMEOUT(devices, C64_a_device_comes_is_found_and_goes, 100)
{
	struct rdma_cm_id *first, *id;
	long long start;

	first = bound_id(self->channel, IP4);
	ASSERT_NE(NULL, first);
	EXPECT_EQ(EADDRNOTAVAIL, bind_errno(self->channel, LIP));
	ASSERT_EQ(0, add_device());
	ASSERT_EQ(0, wait_for_device(self->channel));
	id = bound_id(self->channel, LIP);
	ASSERT_NE(NULL, id);
	EXPECT_NE(first->verbs, id->verbs);
	EXPECT_EQ(2, open_devices());
	ASSERT_EQ(0, rdma_destroy_id(id));
	EXPECT_EQ(1, open_devices());

	/* The program lives on and holds nothing. */
	start = now_ms();
	EXPECT_EQ(0, system("timeout 30 rdma link del " DEVICE));
	EXPECT_GT(15000, now_ms() - start);
	EXPECT_EQ(ENODEV, bind_errno(self->channel, LIP));
	EXPECT_EQ(0, rdma_destroy_id(first));
}

TEST_F_TIMEOUT(devices, C64_removal_waits_for_the_identifier_alone, 100)
{
	struct rdma_cm_id *id;
	int status;
	pid_t pid;

	ASSERT_EQ(0, add_device());
	ASSERT_EQ(0, wait_for_device(self->channel));
	id = bound_id(self->channel, LIP);
	ASSERT_NE(NULL, id);
	pid = fork();
	if (!pid) {
		execlp("timeout", "timeout", "30", "rdma", "link", "del",
		       DEVICE, NULL);
		_exit(127);
	}
	EXPECT_EQ(0, expect_event(self->channel, RDMA_CM_EVENT_DEVICE_REMOVAL));
	EXPECT_EQ(0, rdma_destroy_id(id));
	EXPECT_EQ(0, open_devices());
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* Once it is gone, a list that was freed keeps it no more. */
TEST_F_TIMEOUT(devices, a_listed_device_that_went_is_closed, 100)
{
	struct ibv_context **list;
	int n, status;
	pid_t pid;

	ASSERT_EQ(0, add_device());
	ASSERT_EQ(0, wait_for_device(self->channel));
	list = rdma_get_devices(&n);
	ASSERT_NE(NULL, list);
	ASSERT_EQ(2, n);
	rdma_free_devices(list);
	pid = fork();
	if (!pid) {
		execlp("timeout", "timeout", "30", "rdma", "link", "del",
		       DEVICE, NULL);
		_exit(127);
	}
	/* Any call that needs a device notices. */
	while (open_devices() == 2 && !kill(pid, 0) &&
	       !waitpid(pid, &status, WNOHANG)) {
		usleep(100000);
		EXPECT_EQ(0, bind_errno(self->channel, IP4));
	}
	EXPECT_EQ(1, open_devices());
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* The character device of the second RDMA device. */
static int second_node(char *path, size_t size)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i, ret = -1;

	for (i = 0; list && list[i]; i++) {
		if (strcmp(ibv_get_device_name(list[i]), DEVICE))
			continue;
		snprintf(path, size, "/dev/infiniband/%s", list[i]->dev_name);
		ret = access(path, F_OK);
	}
	if (list)
		ibv_free_device_list(list);
	return ret;
}

TEST_F_TIMEOUT(devices, a_broken_device_affects_only_its_own_identifiers, 100)
{
	union lib_addr addr = lib_addr(IP4, 0);
	union lib_addr broken = lib_addr(LIP, 0);
	struct ibv_context **list;
	struct rdma_cm_id *id;
	char path[64];
	int n;

	ASSERT_EQ(0, add_device());
	ASSERT_EQ(0, wait_for_device(self->channel));
	ASSERT_EQ(0, second_node(path, sizeof(path)));
	ASSERT_EQ(0, chmod(path, 0600));
	ASSERT_EQ(0, seteuid(NOBODY));
	EXPECT_EQ(EACCES, bind_errno(self->channel, LIP));
	EXPECT_EQ(0, bind_errno(self->channel, IP4));
	list = rdma_get_devices(&n);
	EXPECT_NE(NULL, list);
	EXPECT_EQ(1, n);
	rdma_free_devices(list);
	ASSERT_EQ(0, seteuid(0));

	/* Its node is missing. */
	ASSERT_EQ(0, unshare(CLONE_NEWNS));
	ASSERT_EQ(0, mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	ASSERT_EQ(0, unlink(path));
	EXPECT_EQ(ENODEV, bind_errno(self->channel, LIP));

	/* The identifier is as before, and good for another address. */
	ASSERT_EQ(0, rdma_create_id(self->channel, &id, NULL, RDMA_PS_TCP));
	EXPECT_EQ(ENODEV, err(rdma_bind_addr(id, &broken.sa)));
	EXPECT_EQ(0, rdma_get_src_port(id));
	EXPECT_EQ(NULL, id->verbs);
	EXPECT_EQ(0, rdma_bind_addr(id, &addr.sa));
	EXPECT_NE(NULL, id->verbs);
	EXPECT_EQ(0, rdma_destroy_id(id));

	/* Resolved addresses that lead there say so. */
	ASSERT_EQ(0, rdma_create_id(self->channel, &id, NULL, RDMA_PS_TCP));
	broken = lib_addr(LIP, PORT);
	ASSERT_EQ(0, rdma_resolve_addr(id, NULL, &broken.sa, TIMEOUT));
	EXPECT_EQ(0, expect_event(self->channel, RDMA_CM_EVENT_ADDR_ERROR));
	EXPECT_EQ(0, rdma_destroy_id(id));
}

/* In a child, whose view of /dev is its own. */
static int channel_errno(int (*spoil)(void))
{
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		if (spoil())
			_exit(255);
		errno = 0;
		_exit(rdma_create_event_channel() ? 0 : errno);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static int own_dev(void)
{
	return unshare(CLONE_NEWNS) ||
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	       mount("tmpfs", "/dev/infiniband", "tmpfs", 0, NULL);
}

static int no_node(void)
{
	return own_dev();
}

static int node_without_driver(void)
{
	return own_dev() || mknod("/dev/infiniband/rcm", S_IFCHR | 0666, 0);
}

static int node_of_others(void)
{
	return own_dev() || mknod("/dev/infiniband/rcm", S_IFCHR | 0600, 0) ||
	       seteuid(NOBODY);
}

TEST(no_module_no_node_no_permission)
{
	EXPECT_EQ(ENODEV, channel_errno(no_node));
	EXPECT_EQ(ENODEV, channel_errno(node_without_driver));
	EXPECT_EQ(EACCES, channel_errno(node_of_others));
}

#define THREADS 4
#define ROUNDS	40

static void *open_and_close(void *arg)
{
	struct rdma_event_channel *channel = arg;
	long failures = 0;
	int i;

	for (i = 0; i < ROUNDS; i++)
		failures += !!bind_errno(channel, i % 2 ? IP4 : LIP);
	return (void *)failures;
}

TEST_F_TIMEOUT(devices, threads_share_devices, 100)
{
	pthread_t thread[THREADS];
	void *failures;
	int i;

	ASSERT_EQ(0, add_device());
	ASSERT_EQ(0, wait_for_device(self->channel));
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, open_and_close,
					    self->channel));
	for (i = 0; i < THREADS; i++) {
		ASSERT_EQ(0, pthread_join(thread[i], &failures));
		EXPECT_EQ(NULL, failures);
	}
	EXPECT_EQ(0, open_devices());
}

TEST_HARNESS_MAIN
