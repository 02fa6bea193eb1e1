// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * why ADDRESS PORT: try to connect, and say why that fails.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rcm/librcm.h>

#define TIMEOUT 1000 /* milliseconds */

static int connect_to(struct rdma_cm_id *id, const char *host, const char *port)
{
	struct rdma_addrinfo hints = {
		.ai_flags = RAI_NUMERICHOST | RAI_NOROUTE,
		.ai_port_space = RDMA_PS_TCP,
	};
	struct rdma_conn_param param = { .qp_num = 4711 };
	struct rdma_addrinfo *info;
	__u32 timeout = TIMEOUT;
	int ret;

	if (rdma_getaddrinfo(host, port, &hints, &info))
		return -1;
	ret = rdma_resolve_addr(id, NULL, info->ai_dst_addr, TIMEOUT) ||
	      rdma_resolve_route(id, TIMEOUT) ||
	      rdma_set_option(id, RCM_OPTION, RCM_OPTION_CONNECT_TIMEOUT,
			      &timeout, sizeof(timeout)) ||
	      rdma_connect(id, &param);
	rdma_freeaddrinfo(info);
	return ret ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct rcm_reason reason;
	struct rdma_cm_id *id;
	char text[128];
	int ret;

	if (argc != 3 || rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP)) {
		perror(argc == 3 ? "rdma_create_id" : "why ADDRESS PORT");
		return 2;
	}
	ret = connect_to(id, argv[1], argv[2]);
	if (ret)
		printf("%s port %s: %s", argv[1], argv[2], strerror(errno));
	else
		printf("%s port %s: connected\n", argv[1], argv[2]);
	if (ret && !rcm_last_reason(id, &reason))
		printf(" (%s)\n", rcm_reason_str(&reason, text, sizeof(text)));
	rdma_destroy_id(id);
	return ret ? 1 : 0;
}
