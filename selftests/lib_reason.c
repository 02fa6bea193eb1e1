// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * timeout: 480
 *
 * Why did it fail?  Each reason there is, brought about by a program and read
 * with rcm_event_reason() and rcm_last_reason().  A reason without a test
 * fails.
 */
#include <net/if.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <rcm/librcm.h>

#include "lib_test.h"

#define LINK   "d8"
#define LIP    "10.88.0.1"
#define SILENT "10.88.0.9"
#define NOBODY "10.0.0.99" /* d0 has no ARP: known, and silent */
#define ABROAD "203.0.113.1"
#define DEVICE "xd8"
#define PORT   7580
#define USER   65534

/* What a failure looks like: one of @error and @type, and the reason. */
struct outcome {
	int error; /* of the call, or 0 */
	int type;  /* of the event */
	struct rcm_reason reason;
};

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;

static int add_link(const char *options)
{
	return sh("{ ip link add " LINK " type dummy && ip link set " LINK
		  " arp on %s && ip address add " LIP "/24 dev " LINK
		  " && ip link set " LINK " up; }",
		  options);
}

static int bind_ip(struct rdma_cm_id *to, const char *ip, int port)
{
	union lib_addr addr = lib_addr(ip, port);

	return rdma_bind_addr(to, &addr.sa);
}

/* With a Soft-RoCE device, whose GID for the address takes a moment. */
static int add_device(void)
{
	long long end = now_ms() + PATIENCE;
	struct rdma_cm_id *probe;
	int ret;

	if (add_link("") ||
	    sh("rdma link add " DEVICE " type rxe netdev " LINK))
		return -1;
	do {
		if (rdma_create_id(channel, &probe, NULL, RDMA_PS_TCP))
			return -1;
		ret = bind_ip(probe, LIP, 0);
		rdma_destroy_id(probe);
	} while (ret && now_ms() < end && !usleep(10000));
	return ret;
}

static unsigned int device_index(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	unsigned int index = ~0U;
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			index = ibv_get_device_index(list[i]);
	if (list)
		ibv_free_device_list(list);
	return index;
}

/* A call failed. */
static struct outcome failed(struct rdma_cm_id *of, int ret)
{
	struct outcome outcome = { .error = ret ? errno : 0 };

	if (rcm_last_reason(of, &outcome.reason))
		outcome.reason.step = RCM_STEP_COUNT;
	return outcome;
}

static const struct outcome broken = { .error = -1 };

/* An event tells of a failure, and the identifier says the same. */
static struct outcome event_failed(enum rdma_cm_event_type type)
{
	struct outcome outcome = { .type = type };
	struct rcm_reason last;
	struct rdma_cm_event *event;

	event = next_event(channel, type);
	if (!event)
		return broken;
	outcome.reason = *rcm_event_reason(event);
	if (type != RCM_CM_EVENT_ADDRINFO_ERROR &&
	    (rcm_last_reason(event->id, &last) ||
	     memcmp(&last, &outcome.reason, sizeof(last)))) {
		printf("# last reason is step %u\n", last.step);
		outcome.error = -1;
	}
	rdma_ack_cm_event(event);
	return outcome;
}

static struct outcome resolve(const char *ip, int port, int timeout_ms)
{
	union lib_addr addr = lib_addr(ip, port);

	return failed(id, rdma_resolve_addr(id, NULL, &addr.sa, timeout_ms));
}

static int use_route(const char *ip, int port)
{
	rdma_destroy_id(id);
	id = resolved_id(channel, RDMA_PS_TCP, ip, port);
	return id ? 0 : -1;
}

/* No two connections of a device may have the same. */
static __u32 new_qp_num(void)
{
	static __u32 last;

	return (((__u32)getpid() << 8) + ++last) & 0xffffff;
}

static int connect_id(struct rdma_cm_id *client)
{
	struct rdma_conn_param param = { .qp_num = new_qp_num() };

	return rdma_connect(client, &param);
}

static int set_option(struct rdma_cm_id *of, int name, __u32 value)
{
	return rdma_set_option(of, RCM_OPTION, name, &value, sizeof(value));
}

static struct outcome no_route(void)
{
	return resolve(ABROAD, PORT, TIMEOUT);
}

static struct outcome no_neighbour(void)
{
	if (add_device() || resolve(SILENT, PORT, 200).error)
		return broken;
	return event_failed(RDMA_CM_EVENT_ADDR_ERROR);
}

static struct outcome no_device(void)
{
	return add_link("") ? broken : failed(id, bind_ip(id, LIP, 0));
}

/* The device's table is full. */
static struct outcome no_gid(void)
{
	if (add_device() ||
	    sh("for i in $(seq 5); do for j in $(seq 208); do "
	       "echo address add 10.89.$i.$j/32 dev " LINK "; done; done | "
	       "ip -batch -"))
		return broken;
	return failed(id, bind_ip(id, "10.89.5.208", 0));
}

static struct outcome no_path(void)
{
	if (add_device() || resolve(LIP, PORT, TIMEOUT).error ||
	    expect_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED) ||
	    sh("ip link set " LINK " mtu 250") ||
	    rdma_resolve_route(id, TIMEOUT))
		return broken;
	return event_failed(RDMA_CM_EVENT_ROUTE_ERROR);
}

static struct outcome no_answer(void)
{
	if (use_route(NOBODY, PORT) ||
	    set_option(id, RCM_OPTION_CONNECT_TIMEOUT, 300) || connect_id(id))
		return broken;
	return event_failed(RDMA_CM_EVENT_UNREACHABLE);
}

static struct outcome rejected(void)
{
	if (use_route(IP4, PORT) || connect_id(id))
		return broken;
	return event_failed(RDMA_CM_EVENT_REJECTED);
}

/* Connected, and then nothing gets through, as the address is gone. */
static struct outcome disconnect_unanswered(void)
{
	struct rdma_conn_param param = { .qp_num = new_qp_num() };
	struct rdma_cm_event *event;

	if (add_device() || !listening_id(channel, RDMA_PS_TCP, LIP, PORT) ||
	    use_route(LIP, PORT) ||
	    set_option(id, RCM_OPTION_CONNECT_TRIES, 1) || connect_id(id))
		return broken;
	event = next_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	if (!event || rdma_accept(event->id, &param) ||
	    rdma_ack_cm_event(event) ||
	    expect_event(channel, RDMA_CM_EVENT_CONNECT_RESPONSE) ||
	    rdma_establish(id) ||
	    expect_event(channel, RDMA_CM_EVENT_ESTABLISHED) ||
	    sh("ip address del " LIP "/24 dev " LINK) || rdma_disconnect(id))
		return broken;
	/* A message is given up after 4.6 s, or when it cannot be sent. */
	readable(channel, 5 * PATIENCE);
	return event_failed(RDMA_CM_EVENT_DISCONNECTED);
}

static struct outcome removed(void)
{
	struct outcome outcome;
	unsigned int index;
	pid_t pid;

	if (add_device() || bind_ip(id, LIP, 0))
		return broken;
	index = device_index(DEVICE);
	pid = fork();
	if (!pid) {
		execlp("timeout", "timeout", "60", "rdma", "link", "del",
		       DEVICE, NULL);
		_exit(127);
	}
	if (expect_event(channel, RDMA_CM_EVENT_DEVICE_REMOVAL))
		return broken;
	outcome = failed(id, rdma_listen(id, 1));
	if (outcome.reason.detail != index)
		outcome = broken;
	/* The device stays until we let it go. */
	rdma_destroy_id(id);
	id = NULL;
	return waitpid(pid, NULL, 0) == pid ? outcome : broken;
}

static struct outcome backlog_full(void)
{
	long long end = now_ms() + PATIENCE;
	struct rdma_cm_id *server, *one, *two;
	union lib_addr addr = lib_addr(IP4, PORT);
	struct outcome outcome;

	if (rdma_create_id(channel, &server, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(server, &addr.sa) || rdma_listen(server, 1))
		return broken;
	one = resolved_id(channel, RDMA_PS_TCP, IP4, PORT);
	two = resolved_id(channel, RDMA_PS_TCP, IP4, PORT);
	if (!one || !two || connect_id(one) || connect_id(two))
		return broken;
	do {
		outcome = failed(server, 0);
	} while (!outcome.reason.step && now_ms() < end && !usleep(10000));
	return outcome;
}

static struct outcome wrong_state(void)
{
	if (bind_ip(id, IP4, 0) || rdma_listen(id, 1))
		return broken;
	return failed(id, rdma_listen(id, 1));
}

/* The library finds this one itself. */
static struct outcome wrong_state_early(void)
{
	return failed(id, connect_id(id));
}

static struct outcome wrong_parameter(void)
{
	static const char data[57];
	struct rdma_conn_param param = {
		.private_data = data,
		.private_data_len = sizeof(data),
	};

	if (use_route(IP4, PORT))
		return broken;
	return failed(id, rdma_connect(id, &param));
}

static struct outcome limit_reached(void)
{
	static const char limit[] = "/sys/module/rcm/parameters/max_ids";
	struct outcome outcome;

	if (sh("echo 0 >%s", limit))
		return broken;
	outcome = failed(id, bind_ip(id, IP4, 0));
	return sh("echo 65536 >%s", limit) ? broken : outcome;
}

static struct outcome not_local(void)
{
	return failed(id, bind_ip(id, ABROAD, 0));
}

static struct outcome port_taken(void)
{
	struct rdma_cm_id *other;

	if (rdma_create_id(channel, &other, NULL, RDMA_PS_TCP) ||
	    bind_ip(other, IP4, PORT))
		return broken;
	return failed(id, bind_ip(id, IP4, PORT));
}

static struct outcome port_privileged(void)
{
	struct outcome outcome;

	if (seteuid(USER))
		return broken;
	outcome = failed(id, bind_ip(id, IP4, 99));
	return seteuid(0) ? broken : outcome;
}

/*
 * The device is in the first namespace, which shares with none, and its
 * interface in another one.
 */
static struct outcome other_namespace(void)
{
	long long end = now_ms() + PATIENCE;
	struct outcome outcome;

	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	if (sh("rdma system set netns exclusive") || unshare(CLONE_NEWNET))
		return broken;
	channel = rdma_create_event_channel();
	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		return broken;
	if (add_link("") ||
	    sh("rdma link add " DEVICE " type rxe netdev " LINK))
		return broken;
	do {
		outcome = failed(id, bind_ip(id, LIP, 0));
	} while (outcome.reason.step == RCM_STEP_DEVICE && now_ms() < end &&
		 !usleep(10000));
	return outcome;
}

/* Only the passive side can be the target. */
static struct outcome not_sent(void)
{
	union lib_addr addr = lib_addr(IP4, PORT);
	struct rdma_addrinfo info = {
		.ai_port_space = RDMA_PS_IB,
		.ai_qp_type = IBV_QPT_XRC_RECV,
		.ai_dst_addr = &addr.sa,
		.ai_dst_len = sizeof(addr.sin),
	};

	rdma_destroy_id(id);
	if (rdma_create_ep(&id, &info, NULL, NULL))
		return broken;
	return failed(id, connect_id(id));
}

static struct outcome not_joined(void)
{
	union lib_addr group = lib_addr(GROUP4, 0);

	rdma_destroy_id(id);
	if (add_device() || rdma_create_id(channel, &id, NULL, RDMA_PS_UDP) ||
	    bind_ip(id, LIP, 0) || sh("ip link set " LINK " mtu 250"))
		return broken;
	return failed(id, rdma_join_multicast(id, &group.sa, NULL));
}

static struct outcome not_opened(void)
{
	struct outcome outcome;
	unsigned int index;

	if (add_device())
		return broken;
	index = device_index(DEVICE);
	if (sh("chmod 600 /dev/infiniband/uverbs*") || seteuid(USER))
		return broken;
	outcome = failed(id, bind_ip(id, LIP, 0));
	if (outcome.reason.detail != index)
		outcome = broken;
	if (seteuid(0) || sh("chmod 666 /dev/infiniband/uverbs*"))
		return broken;
	return outcome;
}

static struct outcome queue_pair_stuck(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct rdma_conn_param param = {};
	struct rdma_cm_event *event;

	if (!listening_id(channel, RDMA_PS_TCP, IP4, PORT) ||
	    use_route(IP4, PORT) || connect_id(id))
		return broken;
	event = next_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	if (!event || create_qp(event->id) ||
	    ibv_modify_qp(event->id->qp, &attr, IBV_QP_STATE))
		return broken;
	return failed(event->id, rdma_accept(event->id, &param));
}

static struct outcome no_name(void)
{
	struct rdma_addrinfo hints = {
		.ai_flags = RAI_NUMERICHOST,
		.ai_port_space = RDMA_PS_TCP,
	};

	if (rdma_resolve_addrinfo(id, "not-a-number", "7471", &hints))
		return broken;
	return event_failed(RCM_CM_EVENT_ADDRINFO_ERROR);
}

/* Each reason has at least one line here. */
static const struct test {
	enum rcm_step step;
	const char *name;
	struct outcome (*run)(void);
	int error; /* underneath */
	int type;  /* the event that tells, or -1: the call does */
	const char *link;
	int detail; /* -1: checked by the test */
} tests[] = {
	{ RCM_STEP_ROUTE_LOOKUP, "no_route", no_route, ENETUNREACH, -1, NULL,
	  0 },
	{ RCM_STEP_NEIGHBOUR, "no_neighbour", no_neighbour, ETIMEDOUT,
	  RDMA_CM_EVENT_ADDR_ERROR, LINK, 0 },
	{ RCM_STEP_DEVICE, "no_device", no_device, ENODEV, -1, LINK, 0 },
	{ RCM_STEP_GID, "no_gid", no_gid, ENODEV, -1, LINK, -1 },
	{ RCM_STEP_PATH, "no_path", no_path, EINVAL, RDMA_CM_EVENT_ROUTE_ERROR,
	  LINK, 0 },
	{ RCM_STEP_CONNECT, "no_answer", no_answer, ETIMEDOUT,
	  RDMA_CM_EVENT_UNREACHABLE, "d0", 0 },
	{ RCM_STEP_REJECTED, "rejected", rejected, ECONNREFUSED,
	  RDMA_CM_EVENT_REJECTED, "d0", 8 },
	{ RCM_STEP_DISCONNECT, "disconnect_unanswered", disconnect_unanswered,
	  ETIMEDOUT, RDMA_CM_EVENT_DISCONNECTED, LINK, 0 },
	{ RCM_STEP_REMOVAL, "removed", removed, ENODEV, -1, LINK, -1 },
	{ RCM_STEP_BACKLOG, "backlog_full", backlog_full, ENOBUFS, -1, "d0",
	  0 },
	{ RCM_STEP_STATE, "wrong_state", wrong_state, EINVAL, -1, "d0", 0 },
	{ RCM_STEP_STATE, "wrong_state_early", wrong_state_early, EINVAL, -1,
	  NULL, 0 },
	{ RCM_STEP_PARAM, "wrong_parameter", wrong_parameter, EINVAL, -1, NULL,
	  0 },
	{ RCM_STEP_RESOURCES, "limit_reached", limit_reached, EMFILE, -1, NULL,
	  0 },
	{ RCM_STEP_ADDRESS, "not_local", not_local, EADDRNOTAVAIL, -1, NULL,
	  0 },
	{ RCM_STEP_PORT, "port_taken", port_taken, EADDRINUSE, -1, "d0", 0 },
	{ RCM_STEP_PORT, "port_privileged", port_privileged, EACCES, -1, "d0",
	  0 },
	{ RCM_STEP_NAMESPACE, "other_namespace", other_namespace, ENODEV, -1,
	  LINK, -1 },
	{ RCM_STEP_SEND, "not_sent", not_sent, EINVAL, -1, "d0", 0 },
	{ RCM_STEP_MULTICAST, "not_joined", not_joined, EINVAL, -1, LINK, 0 },
	{ RCM_STEP_OPEN, "not_opened", not_opened, EACCES, -1, LINK, -1 },
	{ RCM_STEP_QP, "queue_pair_stuck", queue_pair_stuck, EINVAL, -1, NULL,
	  0 },
	{ RCM_STEP_NAME, "no_name", no_name, 0, RCM_CM_EVENT_ADDRINFO_ERROR,
	  NULL, 0 },
};

static unsigned int failures;
static unsigned int count;

static void result(bool ok, const char *name)
{
	printf("%sok %u %s\n", ok ? "" : "not ", ++count, name);
	failures += !ok;
}

static bool is_expected(const struct test *test, const struct outcome *outcome)
{
	const struct rcm_reason *reason = &outcome->reason;

	if (outcome->error < 0 || reason->step != test->step ||
	    reason->error != -test->error)
		return false;
	if (test->type < 0) {
		/* A full backlog is nobody's call. */
		if (test->step != RCM_STEP_BACKLOG &&
		    outcome->error != test->error)
			return false;
	} else if (outcome->type != test->type) {
		return false;
	}
	if (reason->ifindex != (test->link ? if_nametoindex(test->link) : 0))
		return false;
	return test->detail < 0 || reason->detail == (__u32)test->detail;
}

/* What comes next succeeds, and then there is no reason any more. */
static bool forgotten(void)
{
	struct rcm_reason reason;
	struct rdma_cm_id *other;

	if (rdma_create_id(channel, &other, NULL, RDMA_PS_TCP) ||
	    !bind_ip(other, ABROAD, 0) || rcm_last_reason(other, &reason) ||
	    reason.step != RCM_STEP_ADDRESS)
		return false;
	if (bind_ip(other, IP4, 0) || rcm_last_reason(other, &reason) ||
	    reason.step != RCM_STEP_NONE)
		return false;
	if (!bind_ip(other, IP4, 0) || rcm_last_reason(other, &reason) ||
	    reason.step != RCM_STEP_STATE)
		return false;
	return !rdma_listen(other, 1) && !rcm_last_reason(other, &reason) &&
	       reason.step == RCM_STEP_NONE;
}

static int run(const struct test *test)
{
	struct outcome outcome;
	char text[128];
	bool ok;

	channel = rdma_create_event_channel();
	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		return 1;
	outcome = test->run();
	ok = is_expected(test, &outcome);
	printf("# %s (errno %d, event %d, step %u, error %d, ifindex %u, detail %u)\n",
	       rcm_reason_str(&outcome.reason, text, sizeof(text)),
	       outcome.error, outcome.type, outcome.reason.step,
	       outcome.reason.error, outcome.reason.ifindex,
	       outcome.reason.detail);
	fflush(stdout);
	return !ok;
}

/* In a child, so that one leaves nothing to the next. */
static int in_child(int (*what)(const struct test *test),
		    const struct test *test)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(what(test));
	if (waitpid(pid, &status, 0) != pid || status)
		return 1;
	return 0;
}

static void clean_up(const struct test *test)
{
	sh("rdma link del " DEVICE " 2>/dev/null; "
	   "ip link del " LINK " 2>/dev/null");
	/* The other namespace takes its time to go. */
	if (test->step == RCM_STEP_NAMESPACE)
		sh("for i in $(seq 100); do "
		   "rdma system set netns shared 2>/dev/null && break; "
		   "sleep 0.1; done");
}

static bool is_tested(unsigned int step)
{
	unsigned int i;

	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		if (tests[i].step == step)
			return true;
	return false;
}

static int run_forgotten(const struct test *test)
{
	(void)test;
	channel = rdma_create_event_channel();
	return !channel || !forgotten();
}

/* With a name, that test alone. */
int main(int argc, char **argv)
{
	unsigned int i, n = sizeof(tests) / sizeof(tests[0]);
	bool ok = true;

	printf("TAP version 13\n1..%u\n", n + 3);
	for (i = 0; i < n; i++) {
		if (argc > 1 && strcmp(argv[1], tests[i].name))
			continue;
		result(!in_child(run, &tests[i]), tests[i].name);
		clean_up(&tests[i]);
	}
	result(!in_child(run_forgotten, NULL), "a_success_has_no_reason");
	for (i = RCM_STEP_NONE + 1; i < RCM_STEP_COUNT; i++) {
		if (is_tested(i))
			continue;
		printf("# no test for: %s\n", rcm_step_str(i));
		ok = false;
	}
	result(ok, "each_reason_has_a_test");
	for (i = 0, ok = true; i < RCM_STEP_COUNT; i++)
		ok = ok && strcmp(rcm_step_str(i), "unknown");
	result(ok && !strcmp(rcm_step_str(RCM_STEP_COUNT), "unknown"),
	       "each_reason_has_a_text");
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
