// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * rigs: vm vmdebug
 * suites: check debug
 * timeout: 400 1800
 *
 * Whole flows, both sides, again and again with the n-th call failing that
 * rcm.ko makes into ib_core, ib_cm, iw_cm or the IP stack, in whichever thread:
 * failwalk.c with calls in place of allocations. rcm_fail.ko does that
 * (kernel/tests/fail.c); kernel/tests/fail_calls.h lists the functions. Also
 * loading the module with each of its registrations failing.
 *
 * Arguments: names of flows. Otherwise all; in make check not those that are
 * much like another and take their time.
 */
#include <dirent.h>

#include "fail_walk.h"

#define RCM_FAIL "/sys/kernel/debug/rcm_fail/"
#define IDLE_MS	 10000

static int nth_fd = -1;
static char failed[200]; /* function, and where it was called; or nothing */

/* --- which call fails */

static bool arm(int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	return write(nth_fd, text, len) == len;
}

static bool was_hit(void)
{
	ssize_t len = pread(nth_fd, failed, sizeof(failed) - 1, 0);

	if (len < 0)
		ksft_exit_fail_msg("cannot read " RCM_FAIL "nth\n");
	failed[len] = 0;
	failed[strcspn(failed, "\n")] = 0;
	return len > 0;
}

static void disarm(void)
{
	was_hit();
	arm(0);
}

static const char *what_failed(void)
{
	return failed;
}

/* A function, or one and a space and its caller. */
static bool did_fail(const char *function)
{
	size_t len = strlen(function);

	return !strncmp(function, failed, len) &&
	       (failed[len] == ' ' || failed[len] == '+');
}

/*
 * What our callers are told in place of what the function says: that it
 * returned nothing, or what is documented for the step that it is part of.
 */
static const struct {
	const char *function;
	int errors[3];
} told[] = {
	{ "rdma_find_gid_by_port", { ENODEV } },
	{ "rdma_get_gid_attr", { ENODEV } },
	{ "rdma_read_gid_attr_ndev_rcu", { ENODEV, EIO } },
	{ "rdma_dev_access_netns", { ENODEV } },
	{ "dev_get_by_index_rcu", { ENODEV, EADDRNOTAVAIL } },
	{ "__ip_dev_find", { EADDRNOTAVAIL, ENODEV } },
	{ "ipv6_chk_addr", { EADDRNOTAVAIL, ENODEV } },
	{ "ipv4_neigh_lookup", { ENOMEM } },
	{ "ip6_dst_neigh_lookup", { ENOMEM } },
	{ "alloc_workqueue", { ENOMEM } },
	{ "kmem_cache_create", { ENOMEM } },
	{ "__kmem_cache_create_args", { ENOMEM } },
};

static bool explains(int ret)
{
	size_t i, j;

	if (!was_hit())
		return false;
	for (i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		if (!did_fail(told[i].function))
			continue;
		for (j = 0; j < 3; j++) {
			if (told[i].errors[j] && ret == -told[i].errors[j])
				return true;
		}
		return false;
	}
	return ret == -EIO;
}

/* --- what has to become of it */

/* Whoever asked for it is told by his call, not by something later. */
static const char *const by_call[] = {
	"ib_create_cm_id",     "ib_cm_insert_listen",
	"ib_cm_notify",	       "ib_send_cm_req",
	"ib_send_cm_rep",      "ib_send_cm_rtu",
	"ib_send_cm_rej",      "ib_send_cm_sidr_req",
	"ib_send_cm_sidr_rep", "ib_init_ah_from_mcmember",
	"ipv6_dev_mc_inc",     "iw_create_cm_id",
	"iw_cm_listen",	       "iw_cm_connect",
	"iw_cm_accept",	       "iw_cm_reject",
};

/* What may go unnoticed, in any flow or in one, and why that does no harm. */
static const struct {
	const char *function;
	const char *flow;
	const char *why;
} unnoticed[] = {
	{ "ib_cm_init_qp_attr", NULL,
	  "attributes that an event lacks are asked for" },
	{ "iw_cm_init_qp_attr", NULL,
	  "attributes that an event lacks are asked for" },
	{ "ib_find_cached_pkey", NULL,
	  "attributes that an event lacks are asked for" },
	{ "ib_send_cm_mra", NULL, "the peer is less patient" },
	{ "ib_prepare_cm_mra", NULL, "the peer is less patient" },
	{ "ib_send_cm_dreq", NULL,
	  "it is tried first where an answer is due; else a time-out" },
	{ "rdma_read_gid_attr_ndev_rcu", NULL,
	  "a request's interface is found by its address" },
	{ "ipv6_chk_addr", NULL, "it is of another interface" },
	{ "ip_route_output_flow", "neighbour", "it is looked up again" },
	{ "ip_route_output_flow", "no-neighbour", "it is looked up again" },
	{ "ip6_dst_lookup_flow", "no-neighbour6", "it is looked up again" },
	{ "ipv4_neigh_lookup", "neighbour", "it is looked up again" },
	{ "ipv4_neigh_lookup", "no-neighbour", "it is looked up again" },
	{ "ip6_dst_neigh_lookup", "no-neighbour6", "it is looked up again" },
	{ "rdma_dev_access_netns", "neighbour", "it is of another device" },
	{ "rdma_find_gid_by_port", "neighbour", "it is of another device" },
	{ "rdma_get_gid_attr", "neighbour", "the reason says less" },
	{ "rdma_dev_access_netns", "device", "the test binds until it can" },
	{ "rdma_find_gid_by_port", "device", "the test binds until it can" },
	{ "rdma_get_gid_attr", "device", "the test binds until it can" },
	{ "dev_get_by_index_rcu", "device", "the test binds until it can" },
	{ "__ip_dev_find", "device", "the test binds until it can" },
	{ "ib_modify_qp rcm_qp_to_error", "consumer",
	  "it is destroyed in the end" },
	{ "ib_cm_insert_listen", "device", "the kernel's log says so" },
	{ "rdma_get_gid_attr", "iwarp", "the first port stands in" },
	{ "rdma_dev_access_netns", "iwarp", "it is of another device" },
	{ "rdma_find_gid_by_port", "iwarp", "it is of another device" },
	{ "dev_get_by_index_rcu", "iwarp", "the first port stands in" },
	{ "__ip_dev_find", "iwarp", "the first port stands in" },
	{ "ib_create_cm_id", "paced", "sent later, so that an event says it" },
	{ "ib_send_cm_req", "paced", "sent later, so that an event says it" },
};

static bool may_go_unnoticed(const char *flow)
{
	size_t i;

	for (i = 0; i < sizeof(unnoticed) / sizeof(unnoticed[0]); i++) {
		if (did_fail(unnoticed[i].function) &&
		    (!unnoticed[i].flow || !strcmp(unnoticed[i].flow, flow)))
			return true;
	}
	return false;
}

static bool fits(const struct world *w, const char *flow)
{
	bool call = false;
	size_t i;

	for (i = 0; i < sizeof(by_call) / sizeof(by_call[0]); i++)
		call |= did_fail(by_call[i]);
	if (w->told || (w->ended && !call))
		return true;
	return may_go_unnoticed(flow);
}

/* --- threads that hang */

static bool is_in_rcm(const char *pid)
{
	char path[300], text[4096] = {};
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/stack", pid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return false; /* it ended */
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	return len > 0 && strstr(text, "[rcm]");
}

static int threads_in_rcm(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int count = 0;

	while (dir && (entry = readdir(dir))) {
		if (atoi(entry->d_name) && atoi(entry->d_name) != getpid())
			count += is_in_rcm(entry->d_name);
	}
	if (dir)
		closedir(dir);
	return count;
}

/* Work that is under way ends by itself. */
static bool idle(void)
{
	long long end = now_ms() + IDLE_MS;

	while (threads_in_rcm()) {
		if (now_ms() > end)
			return false;
		sleep_ms(20);
	}
	return true;
}

static const struct way way = {
	.arm = arm,
	.was_hit = was_hit,
	.disarm = disarm,
	.explains = explains,
	.what = what_failed,
	.idle = idle,
	.fits = fits,
	.quick = true,
};

/* --- modules */

/* rcm_fail.ko has to be there first. */
static int load_both(void)
{
	return unload_module("rcm") ?: load_ours("rcm_fail.ko") ?: load_rcm();
}

/*
 * C48: with each call of loading failing; then it is not there, and can be
 * loaded.
 */
static bool walk_load(void)
{
	struct world w = {};
	struct sum sum = {};
	int n, ret;

	for (n = 1; n < MAX_N && !w.wrong[0]; n++) {
		ret = unload_module("rcm");
		if (ret)
			wrong(&w, "unload", ret);
		w.told = 0;
		arm(n);
		ret = load_rcm();
		disarm();
		if (!failed[0])
			break;
		w.told = !!ret;
		count(&sum, &w, "load", n);
		if (!ret)
			wrong(&w, "loaded all the same", 0);
		if (ret && !access(RCM_DEV, F_OK))
			wrong(&w, "the device is there", ret);
		if (ret)
			ret = load_rcm();
		if (ret)
			wrong(&w, "load", ret);
	}
	if (w.wrong[0])
		ksft_print_msg("load: n %d: %s %s\n", n, w.wrong, failed);
	ksft_print_msg(
		"load: %d injection points: a call said so %d, neither %d\n",
		n - 1, sum.told, sum.unseen);
	return !w.wrong[0] && n < MAX_N;
}

/* --- none is left out */

/* No flow gets to these, and no other, where there is no iWARP device. */
static const char *why_uncalled(const char *function)
{
	return strncmp(function, "iw_", 3) || siw_there ? NULL :
							  "kernel without siw";
}

/* rcm.ko is not linked with these. */
static const char *const by_pointer[] = {
	"ip6_dst_lookup_flow",
	"ipv4_neigh_lookup",
	"ip6_dst_neigh_lookup",
};

/* This kernel's rcm.ko, that is: others differ. */
static bool is_used(const char *rcm, const char *function)
{
	size_t i;

	for (i = 0; i < sizeof(by_pointer) / sizeof(by_pointer[0]); i++) {
		if (!strcmp(function, by_pointer[i]))
			return true;
	}
	return !sh("nm -u %s | grep -qw %s", rcm, function);
}

/* Of a function that is made to fail: whether what happened is as expected. */
static bool judge(const char *rcm, const char *name, bool absent,
		  unsigned long calls)
{
	const char *why = why_uncalled(name);

	if (!calls && !is_used(rcm, name)) {
		ksft_print_msg("%s: not used on this kernel\n", name);
		return true;
	}
	if (absent) {
		ksft_print_msg("%s: used, and has no probe\n", name);
		return false;
	}
	ksft_print_msg("%s: %lu calls %s\n", name, calls,
		       calls ? "" :
		       why   ?:
			       "and nobody knows why");
	return !calls == !!why;
}

/* Each function that can fail was called by some flow, so it did fail. */
static bool all_called(const char *rcm)
{
	FILE *file = fopen(RCM_FAIL "calls", "r");
	char line[300], name[100], state[20];
	unsigned long calls;
	bool ok = file;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%99s %19s %lu", name, state, &calls) == 3 &&
		    !judge(rcm, name, !strcmp(state, "absent"), calls))
			ok = false;
	}
	if (file)
		fclose(file);
	return ok;
}

/*
 * In make check diff_stacks ran before, on the in-tree manager too, whose
 * rdma_notify(IBV_EVENT_PATH_MIG) leaves a reference on a GID of the rig's device.
 */
static bool own_device(int argc)
{
	return argc > 1 || suite_is_debug();
}

int main(int argc, char **argv)
{
	const char *rcm = getenv("RCM_KO");
	int ret;

	ksft_print_header();
	if (!rcm || rcm[0] != '/')
		ksft_exit_fail_msg("RCM_KO does not name a file\n");
	ret = load_both();
	if (ret)
		ksft_exit_fail_msg("modules: %s\n", strerror(-ret));
	nth_fd = open(RCM_FAIL "nth", O_RDWR | O_CLOEXEC);
	if (nth_fd < 0)
		ksft_exit_fail_msg("no " RCM_FAIL "nth\n");

	/* Flows by name are for people, who may want one alone. */
	ksft_set_plan(plan_all(argc, argv) + (argc == 1 ? 2 : 0) +
		      own_device(argc));
	walk_all(argc, argv);
	if (own_device(argc))
		ksft_test_result(device_goes(), "device goes\n");
	if (argc == 1) {
		ksft_test_result(walk_load(), "load\n");
		ksft_test_result(all_called(rcm), "all called\n");
	}
	close(nth_fd);
	if (unload_module("rcm_fail"))
		ksft_exit_fail_msg("rcm_fail.ko does not unload\n");
	ksft_finished();
}
