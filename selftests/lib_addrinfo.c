// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * timeout: 120
 *
 * rdma_getaddrinfo(3), sentence by sentence: hints, what comes back, every
 * error. Name servers and memory are out of reach of a test, so getaddrinfo()
 * and calloc() of this program stand before the C library's and fail when told
 * to. Then the newer functions around it.
 */
#include <dlfcn.h>
#include <netdb.h>

#include <infiniband/ib.h>
#include <infiniband/sa.h>

#include <rcm/librcm.h>

#include "lib_test.h"

#include "kselftest_harness.h"

#define PORT	 7540
#define PORT_STR "7540"

static int resolver_says;
static int resolver_waits; /* ms */
static int callocs_left = -1;

int getaddrinfo(const char *node, const char *service,
		const struct addrinfo *hints, struct addrinfo **res)
{
	int (*real)(const char *, const char *, const struct addrinfo *,
		    struct addrinfo **);

	usleep(resolver_waits * 1000);
	if (resolver_says) {
		if (resolver_says == EAI_SYSTEM)
			errno = EHOSTDOWN;
		return resolver_says;
	}
	*(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
	return real(node, service, hints, res);
}

void *__libc_calloc(size_t n, size_t size);

void *calloc(size_t n, size_t size)
{
	if (callocs_left >= 0 && callocs_left-- == 0)
		return NULL;
	return __libc_calloc(n, size);
}

static struct rdma_addrinfo hints_of(int flags, int ps, int qp_type)
{
	return (struct rdma_addrinfo){
		.ai_flags = flags,
		.ai_port_space = ps,
		.ai_qp_type = qp_type,
	};
}

static void set_src(struct rdma_addrinfo *hints, union lib_addr *addr)
{
	hints->ai_src_addr = &addr->sa;
	hints->ai_src_len = addr->sa.sa_family == AF_INET ? sizeof(addr->sin) :
							    sizeof(addr->sin6);
}

static void set_dst(struct rdma_addrinfo *hints, union lib_addr *addr)
{
	hints->ai_dst_addr = &addr->sa;
	hints->ai_dst_len = addr->sa.sa_family == AF_INET ? sizeof(addr->sin) :
							    sizeof(addr->sin6);
}

static bool is_addr(const struct sockaddr *sa, socklen_t len, const char *ip,
		    int port)
{
	union lib_addr addr = lib_addr(ip, port);
	const struct sockaddr_in6 *sin6 = (const void *)sa;
	const struct sockaddr_in *sin = (const void *)sa;

	if (!sa || sa->sa_family != addr.sa.sa_family)
		return false;
	if (sa->sa_family == AF_INET)
		return len == sizeof(*sin) && sin->sin_port == htons(port) &&
		       sin->sin_addr.s_addr == addr.sin.sin_addr.s_addr;
	return len == sizeof(*sin6) && sin6->sin6_port == htons(port) &&
	       !memcmp(&sin6->sin6_addr, &addr.sin6.sin6_addr, 16);
}

#define EXPECT_SRC(rai, ip, port) \
	EXPECT_TRUE(is_addr((rai)->ai_src_addr, (rai)->ai_src_len, ip, port))
#define EXPECT_DST(rai, ip, port) \
	EXPECT_TRUE(is_addr((rai)->ai_dst_addr, (rai)->ai_dst_len, ip, port))

/* --- what is refused, as a table */

struct refusal {
	const char *what;
	const char *node;
	const char *service;
	struct rdma_addrinfo hints;
	int ret; /* -1, and so EAI_BADFLAGS: errno is EINVAL */
};

/* clang-format off */
static const struct refusal refused[] = {
	{ "unknown flag", IP4, PORT_STR, { .ai_flags = 0x1000 },
	  EAI_BADFLAGS },
	{ "RAI_DNS and RAI_SA", IP4, PORT_STR, { .ai_flags = RAI_DNS | RAI_SA },
	  EAI_BADFLAGS },
	{ "RAI_SA without an InfiniBand port", NULL, PORT_STR,
	  { .ai_flags = RAI_SA }, EAI_NODATA },
	{ "RAI_SA with a node", IP4, PORT_STR, { .ai_flags = RAI_SA },
	  EAI_NODATA },
	{ "UD over TCP", IP4, PORT_STR,
	  { .ai_qp_type = IBV_QPT_UD, .ai_port_space = RDMA_PS_TCP },
	  EAI_QPTYPE },
	{ "RC over UDP", IP4, PORT_STR,
	  { .ai_qp_type = IBV_QPT_RC, .ai_port_space = RDMA_PS_UDP },
	  EAI_QPTYPE },
	{ "RC over IPoIB", IP4, PORT_STR,
	  { .ai_qp_type = IBV_QPT_RC, .ai_port_space = RDMA_PS_IPOIB },
	  EAI_QPTYPE },
	{ "unknown type", IP4, PORT_STR, { .ai_qp_type = 77 }, EAI_QPTYPE },
	{ "unknown port space", IP4, PORT_STR, { .ai_port_space = 0x999 },
	  EAI_QPTYPE },
	{ "unknown family", IP4, PORT_STR,
	  { .ai_flags = RAI_FAMILY, .ai_family = AF_UNIX }, EAI_FAMILY },
	{ "InfiniBand family", IP4, PORT_STR,
	  { .ai_flags = RAI_FAMILY, .ai_family = AF_IB }, EAI_ADDRFAMILY },
	{ "IPv4 address as IPv6", IP4, PORT_STR,
	  { .ai_flags = RAI_FAMILY, .ai_family = AF_INET6 }, EAI_ADDRFAMILY },
	{ "IPv6 address as IPv4", IP6, PORT_STR,
	  { .ai_flags = RAI_FAMILY, .ai_family = AF_INET }, EAI_ADDRFAMILY },
	{ "name that must be numeric", "rdmahost", PORT_STR,
	  { .ai_flags = RAI_NUMERICHOST }, EAI_NONAME },
	{ "empty name that must be numeric", "", PORT_STR,
	  { .ai_flags = RAI_NUMERICHOST }, EAI_NONAME },
	{ "unknown service", IP4, "no-such-service", {}, EAI_SERVICE },
	{ "unknown service, datagrams", IP4, "no-such-service",
	  { .ai_qp_type = IBV_QPT_UD }, EAI_SERVICE },
	{ "nothing to go by", NULL, NULL, {}, EAI_NONAME },
	{ "nothing to listen on", NULL, NULL, { .ai_flags = RAI_PASSIVE },
	  EAI_NONAME },
	{ "source without address", IP4, PORT_STR, { .ai_src_len = 16 },
	  -1 },
	{ "destination without address", NULL, PORT_STR, { .ai_dst_len = 16 },
	  -1 },
	{ "route without route", IP4, PORT_STR, { .ai_route_len = 72 },
	  -1 },
	{ "connect without connect", IP4, PORT_STR, { .ai_connect_len = 7 },
	  -1 },
};
/* clang-format on */

TEST(refusals)
{
	struct rdma_addrinfo *res, *before = (void *)0x1234;
	const struct refusal *r;
	size_t i;
	int ret;

	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		r = &refused[i];
		res = before;
		errno = 0;
		ret = rdma_getaddrinfo(r->node, r->service, &r->hints, &res);
		EXPECT_EQ(r->ret, ret)
		{
			TH_LOG("%s: %d", r->what, ret);
		}
		if (r->ret == -1)
			EXPECT_EQ(EINVAL, errno);
		EXPECT_EQ(before, res);
		if (!ret)
			rdma_freeaddrinfo(res);
	}
}

TEST(null_pointers)
{
	struct rdma_addrinfo hints = {}, *res;

	EXPECT_EQ(EINVAL, err(rdma_getaddrinfo(NULL, NULL, NULL, &res)));
	EXPECT_EQ(EINVAL, err(rdma_getaddrinfo(IP4, PORT_STR, &hints, NULL)));
	rdma_freeaddrinfo(NULL);
}

TEST(what_the_resolver_says_is_handed_on)
{
	static const int codes[] = { EAI_ADDRFAMILY, EAI_AGAIN,	 EAI_FAIL,
				     EAI_MEMORY,     EAI_NODATA, EAI_NONAME,
				     EAI_SERVICE,    EAI_SYSTEM };
	struct rdma_addrinfo *res;
	size_t i;

	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		resolver_says = codes[i];
		EXPECT_EQ(codes[i],
			  rdma_getaddrinfo("host", PORT_STR, NULL, &res));
	}
	EXPECT_EQ(EHOSTDOWN, errno);
	resolver_says = 0;
}

TEST(no_memory)
{
	struct rdma_addrinfo *res;
	void *first;
	int i, ret;

	callocs_left = 0;
	first = calloc(1, 1);
	callocs_left = -1;
	free(first);
	if (first)
		SKIP(return, "calloc() is not ours, as under valgrind");
	/* Each allocation of ours fails once, until it is enough. */
	for (i = 0; i < 20; i++) {
		callocs_left = i;
		ret = rdma_getaddrinfo(IP4, PORT_STR, NULL, &res);
		callocs_left = -1;
		if (!ret)
			break;
		EXPECT_EQ(EAI_MEMORY, ret);
	}
	ASSERT_EQ(0, ret);
	EXPECT_LT(0, i);
	rdma_freeaddrinfo(res);
}

/* --- the address families of hints */

TEST(infiniband_addresses_in_hints)
{
	struct sockaddr_ib sib = { .sib_family = AF_IB };
	struct rdma_addrinfo hints = {}, *res;

	hints.ai_dst_addr = (struct sockaddr *)&sib;
	hints.ai_dst_len = sizeof(sib);
	EXPECT_EQ(EAI_ADDRFAMILY, rdma_getaddrinfo(NULL, NULL, &hints, &res));
	hints.ai_dst_len = sizeof(sib) - 1;
	EXPECT_EQ(EINVAL, err(rdma_getaddrinfo(NULL, NULL, &hints, &res)));
	hints.ai_dst_len = 0;
	hints.ai_src_addr = (struct sockaddr *)&sib;
	hints.ai_src_len = sizeof(sib);
	EXPECT_EQ(EAI_ADDRFAMILY, rdma_getaddrinfo(IP4, NULL, &hints, &res));
	sib.sib_family = AF_UNIX;
	EXPECT_EQ(EAI_FAMILY, rdma_getaddrinfo(IP4, NULL, &hints, &res));
}

TEST(addresses_of_hints_that_do_not_go_together)
{
	union lib_addr v4 = lib_addr(IP4, 0), v6 = lib_addr(IP6, PORT);
	struct rdma_addrinfo hints = {}, *res;

	set_src(&hints, &v4);
	set_dst(&hints, &v6);
	EXPECT_EQ(EAI_ADDRFAMILY, rdma_getaddrinfo(NULL, NULL, &hints, &res));
	hints.ai_src_len = 0;
	hints.ai_dst_len--;
	EXPECT_EQ(EINVAL, err(rdma_getaddrinfo(NULL, NULL, &hints, &res)));
	hints.ai_dst_len++;
	hints.ai_flags = RAI_FAMILY;
	hints.ai_family = AF_INET;
	EXPECT_EQ(EAI_ADDRFAMILY, rdma_getaddrinfo(NULL, NULL, &hints, &res));
}

/* --- what comes back */

TEST(no_hints)
{
	struct rdma_addrinfo *res;

	ASSERT_EQ(0, rdma_getaddrinfo(IP4, PORT_STR, NULL, &res));
	EXPECT_EQ(0, res->ai_flags);
	EXPECT_EQ(AF_INET, res->ai_family);
	EXPECT_EQ(IBV_QPT_RC, res->ai_qp_type);
	EXPECT_EQ(RDMA_PS_TCP, res->ai_port_space);
	EXPECT_DST(res, IP4, PORT);
	EXPECT_SRC(res, IP4, 0);
	EXPECT_STREQ(IP4, res->ai_dst_canonname);
	EXPECT_EQ(NULL, res->ai_src_canonname);
	EXPECT_EQ(0, res->ai_connect_len);
	EXPECT_EQ(NULL, res->ai_next);
	rdma_freeaddrinfo(res);
}

TEST(types_complete_each_other)
{
	static const struct {
		int ps, qp_type, out_ps, out_qp_type;
	} rows[] = {
		{ 0, 0, RDMA_PS_TCP, IBV_QPT_RC },
		{ RDMA_PS_TCP, 0, RDMA_PS_TCP, IBV_QPT_RC },
		{ RDMA_PS_UDP, 0, RDMA_PS_UDP, IBV_QPT_UD },
		{ RDMA_PS_IPOIB, 0, RDMA_PS_IPOIB, IBV_QPT_UD },
		{ RDMA_PS_IB, 0, RDMA_PS_IB, IBV_QPT_RC },
		{ 0, IBV_QPT_RC, RDMA_PS_TCP, IBV_QPT_RC },
		{ 0, IBV_QPT_UD, RDMA_PS_UDP, IBV_QPT_UD },
		{ 0, IBV_QPT_XRC_SEND, RDMA_PS_IB, IBV_QPT_XRC_SEND },
		{ RDMA_PS_IB, IBV_QPT_UD, RDMA_PS_IB, IBV_QPT_UD },
		{ RDMA_PS_IB, IBV_QPT_UC, RDMA_PS_IB, IBV_QPT_UC },
		{ RDMA_PS_IB, IBV_QPT_XRC_RECV, RDMA_PS_IB, IBV_QPT_XRC_RECV },
	};
	struct rdma_addrinfo hints, *res;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		hints = hints_of(RAI_NOROUTE, rows[i].ps, rows[i].qp_type);
		ASSERT_EQ(0, rdma_getaddrinfo(IP4, PORT_STR, &hints, &res));
		EXPECT_EQ(rows[i].out_ps, res->ai_port_space);
		EXPECT_EQ(rows[i].out_qp_type, res->ai_qp_type);
		rdma_freeaddrinfo(res);
	}
}

TEST(passive_with_node)
{
	struct rdma_addrinfo hints = hints_of(RAI_PASSIVE, RDMA_PS_TCP, 0);
	union lib_addr other = lib_addr("192.0.2.1", 1);
	struct rdma_addrinfo *res;

	set_dst(&hints, &other);
	ASSERT_EQ(0, rdma_getaddrinfo("rdmahost", PORT_STR, &hints, &res));
	EXPECT_EQ(RAI_PASSIVE, res->ai_flags);
	EXPECT_SRC(res, IP4, PORT);
	EXPECT_EQ(0, res->ai_dst_len);
	EXPECT_EQ(NULL, res->ai_dst_addr);
	EXPECT_NE(NULL, res->ai_src_canonname);
	EXPECT_EQ(NULL, res->ai_dst_canonname);
	EXPECT_EQ(0, res->ai_route_len);
	rdma_freeaddrinfo(res);
}

TEST(C69_passive_without_node_is_the_wildcard)
{
	struct rdma_addrinfo hints = hints_of(RAI_PASSIVE, RDMA_PS_TCP, 0);
	struct rdma_addrinfo *res;

	hints.ai_flags |= RAI_FAMILY;
	hints.ai_family = AF_INET6;
	ASSERT_EQ(0, rdma_getaddrinfo(NULL, PORT_STR, &hints, &res));
	EXPECT_SRC(res, "::", PORT);
	rdma_freeaddrinfo(res);
	hints.ai_family = AF_INET;
	ASSERT_EQ(0, rdma_getaddrinfo(NULL, PORT_STR, &hints, &res));
	EXPECT_SRC(res, "0.0.0.0", PORT);
	EXPECT_EQ(NULL, res->ai_next);
	rdma_freeaddrinfo(res);
}

TEST(passive_from_hints)
{
	struct rdma_addrinfo hints = hints_of(RAI_PASSIVE, RDMA_PS_UDP, 0);
	union lib_addr addr = lib_addr(IP4, 17);
	struct rdma_addrinfo *res;

	set_src(&hints, &addr);
	ASSERT_EQ(0, rdma_getaddrinfo(NULL, NULL, &hints, &res));
	EXPECT_SRC(res, IP4, 17);
	rdma_freeaddrinfo(res);
	ASSERT_EQ(0, rdma_getaddrinfo(NULL, PORT_STR, &hints, &res));
	EXPECT_SRC(res, IP4, PORT);
	rdma_freeaddrinfo(res);
}

TEST(active_from_hints)
{
	union lib_addr src = lib_addr(IP4, 9), dst = lib_addr(IP4, 17);
	struct rdma_addrinfo hints = {}, *res;

	set_dst(&hints, &dst);
	ASSERT_EQ(0, rdma_getaddrinfo(NULL, NULL, &hints, &res));
	EXPECT_DST(res, IP4, 17);
	EXPECT_SRC(res, IP4, 0);
	rdma_freeaddrinfo(res);
	set_src(&hints, &src);
	ASSERT_EQ(0, rdma_getaddrinfo(NULL, PORT_STR, &hints, &res));
	EXPECT_DST(res, IP4, PORT);
	EXPECT_SRC(res, IP4, 9);
	rdma_freeaddrinfo(res);
	hints.ai_dst_len = 0;
	ASSERT_EQ(0, rdma_getaddrinfo(NULL, NULL, &hints, &res));
	EXPECT_EQ(AF_INET, res->ai_family);
	EXPECT_SRC(res, IP4, 9);
	EXPECT_EQ(0, res->ai_dst_len);
	rdma_freeaddrinfo(res);
}

TEST(source_of_hints_chooses_the_family)
{
	union lib_addr src = lib_addr(IP4, 0);
	struct rdma_addrinfo hints = {}, *res;

	set_src(&hints, &src);
	EXPECT_EQ(EAI_ADDRFAMILY,
		  rdma_getaddrinfo(IP6, PORT_STR, &hints, &res));
	ASSERT_EQ(0, rdma_getaddrinfo("localhost", PORT_STR, &hints, &res));
	EXPECT_EQ(AF_INET, res->ai_family);
	rdma_freeaddrinfo(res);
}

TEST(unreachable_is_no_error)
{
	struct rdma_addrinfo *res;

	ASSERT_EQ(0, rdma_getaddrinfo("192.0.2.1", PORT_STR, NULL, &res));
	EXPECT_DST(res, "192.0.2.1", PORT);
	EXPECT_EQ(0, res->ai_src_len);
	EXPECT_EQ(NULL, res->ai_src_addr);
	EXPECT_EQ(0, res->ai_route_len);
	rdma_freeaddrinfo(res);
}

TEST(noroute)
{
	struct rdma_addrinfo hints = hints_of(RAI_NOROUTE, 0, 0), *res;

	ASSERT_EQ(0, rdma_getaddrinfo(IP4, PORT_STR, &hints, &res));
	EXPECT_EQ(0, res->ai_src_len);
	EXPECT_EQ(0, res->ai_route_len);
	rdma_freeaddrinfo(res);
}

TEST(dns_is_the_default)
{
	struct rdma_addrinfo hints = hints_of(RAI_DNS | RAI_NOROUTE, 0, 0),
			     *res;

	ASSERT_EQ(0, rdma_getaddrinfo("rdmahost", PORT_STR, &hints, &res));
	EXPECT_DST(res, IP4, PORT);
	rdma_freeaddrinfo(res);
}

/* The rig's hosts file has two for this name. */
TEST(every_address_of_a_name)
{
	struct rdma_addrinfo hints = hints_of(RAI_NOROUTE, RDMA_PS_UDP, 0);
	struct rdma_addrinfo *res, *rai;
	int v4 = 0, v6 = 0;

	ASSERT_EQ(0, rdma_getaddrinfo("localhost", PORT_STR, &hints, &res));
	for (rai = res; rai; rai = rai->ai_next) {
		v4 += is_addr(rai->ai_dst_addr, rai->ai_dst_len, "127.0.0.1",
			      PORT);
		v6 += is_addr(rai->ai_dst_addr, rai->ai_dst_len, "::1", PORT);
		EXPECT_EQ(rai->ai_dst_addr->sa_family, rai->ai_family);
		EXPECT_EQ(RDMA_PS_UDP, rai->ai_port_space);
		EXPECT_EQ(IBV_QPT_UD, rai->ai_qp_type);
	}
	EXPECT_EQ(1, v4);
	EXPECT_EQ(1, v6);
	rdma_freeaddrinfo(res);
}

TEST(connect_data_of_hints)
{
	char data[] = "first words";
	struct rdma_addrinfo hints = {
		.ai_connect = data,
		.ai_connect_len = sizeof(data),
	};
	struct rdma_addrinfo *res;

	ASSERT_EQ(0, rdma_getaddrinfo(IP4, PORT_STR, &hints, &res));
	ASSERT_EQ(sizeof(data), res->ai_connect_len);
	EXPECT_NE((void *)data, res->ai_connect);
	EXPECT_STREQ(data, res->ai_connect);
	rdma_freeaddrinfo(res);
}

/* --- the route */

TEST(route_is_one_path)
{
	struct ibv_path_data *data;
	struct rdma_addrinfo *res;

	ASSERT_EQ(0, rdma_getaddrinfo(IP6, PORT_STR, NULL, &res));
	ASSERT_EQ(sizeof(*data), res->ai_route_len);
	data = res->ai_route;
	EXPECT_EQ(IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY |
			  IBV_PATH_FLAG_BIDIRECTIONAL,
		  data->flags);
	EXPECT_EQ(0,
		  memcmp(&data->path.dgid,
			 &((struct sockaddr_in6 *)res->ai_dst_addr)->sin6_addr,
			 16));
	EXPECT_EQ(htons(0xffff), data->path.pkey);
	EXPECT_NE(0, data->path.mtu & 0x3f);
	rdma_freeaddrinfo(res);
}

TEST(route_of_hints_restricts)
{
	struct ibv_path_data data[2];
	struct ibv_path_record path;
	struct rdma_addrinfo hints = {}, *res;

	memset(data, 0, sizeof(data));
	memset(&path, 0, sizeof(path));
	hints.ai_route = data;
	hints.ai_route_len = sizeof(data[0]);
	data[0].path.pkey = htons(0x1234);
	ASSERT_EQ(0, rdma_getaddrinfo(IP4, PORT_STR, &hints, &res));
	EXPECT_EQ(0, res->ai_route_len);
	EXPECT_SRC(res, IP4, 0);
	rdma_freeaddrinfo(res);
	/* The second allows it. */
	hints.ai_route_len = sizeof(data);
	data[1].path.pkey = htons(0xffff);
	ASSERT_EQ(0, rdma_getaddrinfo(IP4, PORT_STR, &hints, &res));
	EXPECT_EQ(sizeof(data[0]), res->ai_route_len);
	rdma_freeaddrinfo(res);
	hints.ai_route = &path;
	hints.ai_route_len = sizeof(path);
	path.tclass = 7;
	ASSERT_EQ(0, rdma_getaddrinfo(IP4, PORT_STR, &hints, &res));
	EXPECT_EQ(0, res->ai_route_len);
	rdma_freeaddrinfo(res);
}

/* Whether a hint that is equal to the path but for one member allows it. */
static int route_allowed(const struct ibv_path_record *hint)
{
	struct rdma_addrinfo hints = {}, *res;
	int len;

	hints.ai_route = (void *)hint;
	hints.ai_route_len = sizeof(*hint);
	if (rdma_getaddrinfo(IP4, PORT_STR, &hints, &res))
		return -1;
	len = res->ai_route_len;
	rdma_freeaddrinfo(res);
	return !!len;
}

#define ALLOWED(value, member, set)                      \
	do {                                             \
		struct ibv_path_record hint = path;      \
		hint.member = set;                       \
		EXPECT_EQ(value, route_allowed(&hint))   \
		{                                        \
			TH_LOG(#member " %x", (int)set); \
		}                                        \
	} while (0)

TEST(each_member_of_a_route_of_hints_restricts)
{
	struct ibv_path_record path;
	struct rdma_addrinfo *res;
	__u8 mtu, life;

	ASSERT_EQ(0, rdma_getaddrinfo(IP4, PORT_STR, NULL, &res));
	path = ((struct ibv_path_data *)res->ai_route)->path;
	rdma_freeaddrinfo(res);
	EXPECT_EQ(1, route_allowed(&path));

	ALLOWED(0, dlid, htons(5));
	ALLOWED(0, slid, htons(5));
	ALLOWED(0, flowlabel_hoplimit, path.flowlabel_hoplimit ^ htonl(1));
	ALLOWED(1, flowlabel_hoplimit, path.flowlabel_hoplimit ^ htonl(0x500));
	ALLOWED(0, tclass, path.tclass ^ 4);
	ALLOWED(0, qosclass_sl, path.qosclass_sl ^ htons(3));
	/* It is the port's. */
	ALLOWED(1, rate, 2 << 6 | IBV_RATE_600_GBPS);
	mtu = path.mtu & 0x3f;
	ALLOWED(0, mtu, 2 << 6 | (mtu + 1));
	ALLOWED(0, mtu, mtu); /* more than it is */
	ALLOWED(1, mtu, mtu - 1);
	ALLOWED(0, mtu, 1 << 6 | mtu); /* less */
	ALLOWED(1, mtu, 1 << 6 | (mtu + 1));
	ALLOWED(1, mtu, 3 << 6 | 1); /* the most there is */
	ALLOWED(1, mtu, 0);
	life = path.packetlifetime & 0x3f;
	ALLOWED(0, packetlifetime, 2 << 6 | (life + 1));
	ALLOWED(0, packetlifetime, 1 << 6 | life);
}

TEST(route_of_hints_says_where)
{
	struct rdma_addrinfo hints = {}, *res;
	struct ibv_path_record path;

	memset(&path, 0, sizeof(path));
	hints.ai_route = &path;
	hints.ai_route_len = sizeof(path);
	EXPECT_EQ(EAI_NONAME, rdma_getaddrinfo(NULL, PORT_STR, &hints, &res));
	path.dgid.raw[10] = 0xff;
	path.dgid.raw[11] = 0xff;
	path.dgid.raw[12] = 10;
	path.dgid.raw[15] = 1;
	ASSERT_EQ(0, rdma_getaddrinfo(NULL, PORT_STR, &hints, &res));
	EXPECT_DST(res, IP4, PORT);
	EXPECT_NE(0, res->ai_route_len);
	rdma_freeaddrinfo(res);
	hints.ai_route_len = 5;
	EXPECT_EQ(EINVAL, err(rdma_getaddrinfo(NULL, PORT_STR, &hints, &res)));
	EXPECT_EQ(EINVAL, err(rdma_getaddrinfo(IP4, PORT_STR, &hints, &res)));
}

TEST(no_identifier_is_left_and_no_port_taken)
{
	struct rdma_addrinfo *res;
	char line[256];
	int lines = 0;
	FILE *from;

	ASSERT_EQ(0, rdma_getaddrinfo(IP4, PORT_STR, NULL, &res));
	rdma_freeaddrinfo(res);
	from = fopen("/sys/kernel/debug/rcm/ids", "r");
	if (!from)
		SKIP(return, "not on rcm, or no debugfs");
	while (fgets(line, sizeof(line), from))
		lines++;
	fclose(from);
	EXPECT_EQ(1, lines);
}

/* --- endpoints from it */

struct ep_server {
	struct rdma_cm_id *listener;
	int result;
	char data[56];
};

static void *ep_serve(void *arg)
{
	struct ep_server *server = arg;
	struct rdma_cm_id *id;
	const void *data;

	server->result = err(rdma_get_request(server->listener, &id));
	if (server->result)
		return NULL;
	data = id->qp_type == IBV_QPT_UD ? id->event->param.ud.private_data :
					   id->event->param.conn.private_data;
	memcpy(server->data, data, sizeof(server->data));
	server->result = id->qp ? err(rdma_accept(id, NULL)) : -2;
	usleep(200 * 1000);
	rdma_destroy_ep(id);
	return NULL;
}

FIXTURE(ep)
{
	struct rdma_addrinfo *passive;
	struct rdma_addrinfo *active;
};

FIXTURE_VARIANT(ep)
{
	int ps;
	int qp_type;
	const char *node;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(ep, tcp) { RDMA_PS_TCP, IBV_QPT_RC, IP4 };
FIXTURE_VARIANT_ADD(ep, tcp6) { RDMA_PS_TCP, IBV_QPT_RC, IP6 };
FIXTURE_VARIANT_ADD(ep, udp) { RDMA_PS_UDP, IBV_QPT_UD, IP4 };
FIXTURE_VARIANT_ADD(ep, ib_rc) { RDMA_PS_IB, IBV_QPT_RC, IP4 };
FIXTURE_VARIANT_ADD(ep, ib_ud) { RDMA_PS_IB, IBV_QPT_UD, IP4 };
/* clang-format on */

FIXTURE_SETUP(ep)
{
	struct rdma_addrinfo hints =
		hints_of(RAI_PASSIVE, variant->ps, variant->qp_type);

	ASSERT_EQ(0, rdma_getaddrinfo(variant->node, PORT_STR, &hints,
				      &self->passive));
	hints.ai_flags = 0;
	hints.ai_connect = "head";
	hints.ai_connect_len = 4;
	ASSERT_EQ(0, rdma_getaddrinfo(variant->node, PORT_STR, &hints,
				      &self->active));
}

FIXTURE_TEARDOWN(ep)
{
	rdma_freeaddrinfo(self->passive);
	rdma_freeaddrinfo(self->active);
}

TEST_F(ep, what_comes_back_can_be_connected_to)
{
	struct ibv_qp_init_attr attr = {
		.cap = { 2, 2, 1, 1, 0 },
		.sq_sig_all = 1,
	};
	struct rdma_conn_param param = {
		.private_data = "tail",
		.private_data_len = 5,
	};
	struct ep_server server = {};
	struct rdma_cm_id *id;
	pthread_t thread;

	ASSERT_NE(0, self->active->ai_route_len);
	ASSERT_EQ(0,
		  rdma_create_ep(&server.listener, self->passive, NULL, &attr));
	ASSERT_EQ(0, rdma_listen(server.listener, 1));
	pthread_create(&thread, NULL, ep_serve, &server);
	ASSERT_EQ(0, rdma_create_ep(&id, self->active, NULL, &attr));
	EXPECT_EQ(variant->qp_type, id->qp_type);
	EXPECT_NE(NULL, id->qp);
	EXPECT_EQ(0, rdma_connect(id, &param));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, server.result);
	EXPECT_STREQ("headtail", server.data);
	rdma_destroy_ep(id);
	rdma_destroy_ep(server.listener);
}

/* --- asynchronous, and events of the application's own */

/* Debian 12's library has none of these. */
__typeof__(rdma_resolve_addrinfo) *resolve_addrinfo;
__typeof__(rdma_query_addrinfo) *query_addrinfo;
__typeof__(rdma_write_cm_event) *write_cm_event;

FIXTURE(newer)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
};

FIXTURE_SETUP(newer)
{
	*(void **)&resolve_addrinfo =
		dlsym(RTLD_DEFAULT, "rdma_resolve_addrinfo");
	*(void **)&query_addrinfo = dlsym(RTLD_DEFAULT, "rdma_query_addrinfo");
	*(void **)&write_cm_event = dlsym(RTLD_DEFAULT, "rdma_write_cm_event");
	ASSERT_NE(NULL, resolve_addrinfo);
	ASSERT_NE(NULL, query_addrinfo);
	ASSERT_NE(NULL, write_cm_event);
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	ASSERT_EQ(0,
		  rdma_create_id(self->channel, &self->id, NULL, RDMA_PS_TCP));
}

FIXTURE_TEARDOWN(newer)
{
	EXPECT_EQ(0, rdma_destroy_id(self->id));
	rdma_destroy_event_channel(self->channel);
}

TEST_F(newer, resolve_and_query)
{
	struct rdma_addrinfo *info, *again;

	EXPECT_EQ(ENODATA, err(query_addrinfo(self->id, &info)));
	ASSERT_EQ(0, resolve_addrinfo(self->id, "rdmahost", PORT_STR, NULL));
	ASSERT_EQ(0,
		  expect_event(self->channel, RCM_CM_EVENT_ADDRINFO_RESOLVED));
	ASSERT_EQ(0, query_addrinfo(self->id, &info));
	EXPECT_DST(info, IP4, PORT);
	EXPECT_SRC(info, IP4, 0);
	EXPECT_NE(0, info->ai_route_len);
	ASSERT_EQ(0, query_addrinfo(self->id, &again));
	rdma_freeaddrinfo(info);
	EXPECT_DST(again, IP4, PORT);
	rdma_freeaddrinfo(again);
}

TEST_F(newer, failure_is_an_event)
{
	struct rdma_cm_event *event;
	struct rdma_addrinfo *info;

	resolver_says = EAI_AGAIN;
	ASSERT_EQ(0, resolve_addrinfo(self->id, "host", PORT_STR, NULL));
	event = next_event(self->channel, RCM_CM_EVENT_ADDRINFO_ERROR);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(EAI_AGAIN, event->status);
	EXPECT_EQ(0, rdma_ack_cm_event(event));
	resolver_says = 0;
	EXPECT_EQ(ENODATA, err(query_addrinfo(self->id, &info)));
}

TEST_F(newer, misuse)
{
	struct rdma_addrinfo hints = hints_of(RAI_SA, 0, 0);

	EXPECT_EQ(EINVAL, err(resolve_addrinfo(NULL, IP4, NULL, NULL)));
	EXPECT_EQ(EINVAL, err(resolve_addrinfo(self->id, NULL, NULL, NULL)));
	EXPECT_EQ(EOPNOTSUPP,
		  err(resolve_addrinfo(self->id, NULL, "1", &hints)));
	hints.ai_flags |= RAI_DNS;
	EXPECT_EQ(EINVAL, err(resolve_addrinfo(self->id, NULL, "1", &hints)));
	EXPECT_EQ(EINVAL, err(query_addrinfo(self->id, NULL)));
	EXPECT_EQ(EINVAL, err(write_cm_event(NULL, RCM_CM_EVENT_USER, 0, 0)));
	EXPECT_EQ(EINVAL, err(write_cm_event(self->id,
					     RDMA_CM_EVENT_ESTABLISHED, 0, 0)));
}

TEST_F(newer, destroy_while_looking_up)
{
	struct rdma_cm_id *id;

	ASSERT_EQ(0, rdma_create_id(self->channel, &id, NULL, RDMA_PS_TCP));
	ASSERT_EQ(0, resolve_addrinfo(id, "rdmahost", PORT_STR, NULL));
	EXPECT_EQ(0, rdma_destroy_id(id));
	EXPECT_FALSE(readable(self->channel, 0));
}

TEST_F(newer, synchronous)
{
	struct rdma_addrinfo *info;
	struct rdma_cm_id *id;

	ASSERT_EQ(0, rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	ASSERT_EQ(0, resolve_addrinfo(id, IP4, PORT_STR, NULL));
	EXPECT_EQ(RCM_CM_EVENT_ADDRINFO_RESOLVED, id->event->event);
	ASSERT_EQ(0, query_addrinfo(id, &info));
	rdma_freeaddrinfo(info);

	resolver_says = EAI_AGAIN;
	EXPECT_EQ(EAGAIN, err(resolve_addrinfo(id, "host", PORT_STR, NULL)));
	resolver_says = EAI_FAMILY;
	EXPECT_EQ(EAFNOSUPPORT,
		  err(resolve_addrinfo(id, "host", PORT_STR, NULL)));
	resolver_says = EAI_FAIL;
	EXPECT_EQ(EIO, err(resolve_addrinfo(id, "host", PORT_STR, NULL)));
	resolver_says = 0;
	EXPECT_EQ(0, rdma_destroy_id(id));
}

TEST_F(newer, the_answer_moves_along)
{
	struct rdma_event_channel *other = rdma_create_event_channel();
	struct rdma_addrinfo *info;

	ASSERT_NE(NULL, other);
	resolver_waits = 300;
	ASSERT_EQ(0, resolve_addrinfo(self->id, "rdmahost", PORT_STR, NULL));
	ASSERT_EQ(0, rdma_migrate_id(self->id, other));
	/* Its thread used the old channel, so it is done. */
	ASSERT_EQ(0, query_addrinfo(self->id, &info));
	resolver_waits = 0;
	rdma_freeaddrinfo(info);
	ASSERT_EQ(0, expect_event(other, RCM_CM_EVENT_ADDRINFO_RESOLVED));
	ASSERT_EQ(0, rdma_migrate_id(self->id, self->channel));
	rdma_destroy_event_channel(other);
}

TEST_F(newer, written_events)
{
	struct rdma_addrinfo *info;
	struct rdma_cm_event *event;
	int i;

	for (i = 0; i < RCM_MAX_WRITTEN_EVENTS; i++)
		ASSERT_EQ(0, write_cm_event(self->id, RCM_CM_EVENT_USER, -i,
					    0x1122334455667788 + i));
	EXPECT_EQ(ENOBUFS,
		  err(write_cm_event(self->id, RCM_CM_EVENT_USER, 0, 0)));
	/* The library's own has its place nevertheless. */
	ASSERT_EQ(0, resolve_addrinfo(self->id, IP4, PORT_STR, NULL));
	while (err(query_addrinfo(self->id, &info)) == ENODATA)
		usleep(1000);
	rdma_freeaddrinfo(info);
	usleep(100000);
	for (i = 0; i < RCM_MAX_WRITTEN_EVENTS; i++) {
		event = next_event(self->channel, RCM_CM_EVENT_USER);
		ASSERT_NE(NULL, event);
		EXPECT_EQ(self->id, event->id);
		EXPECT_EQ(-i, event->status);
		EXPECT_EQ(0x1122334455667788 + i, rcm_event_arg(event));
		EXPECT_EQ(0, rdma_ack_cm_event(event));
	}
	EXPECT_EQ(0,
		  expect_event(self->channel, RCM_CM_EVENT_ADDRINFO_RESOLVED));
	EXPECT_STREQ("RDMA_CM_EVENT_USER", rdma_event_str(RCM_CM_EVENT_USER));
}

TEST_HARNESS_MAIN
