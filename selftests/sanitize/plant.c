// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * plant race|leak|overflow|clean: a program with the fault, which shows inside
 * the library.  sanitize.sh runs it to see that faults are found there.
 */
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_cma.h>

static void *set_ece(void *id)
{
	struct ibv_ece ece = { .vendor_id = 1 };
	int i;

	for (i = 0; i < 100000; i++) {
		ece.options = i;
		rdma_set_local_ece(id, &ece);
	}
	return NULL;
}

/* Two threads write the same without a lock. */
static void race(struct rdma_cm_id *id)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, set_ece, id))
		abort();
	set_ece(id);
	pthread_join(thread, NULL);
}

/* An IPv6 address in the memory of an IPv4 one. */
static void overflow(struct rdma_cm_id *id)
{
	struct sockaddr *addr = calloc(1, sizeof(struct sockaddr_in));

	if (!addr)
		abort();
	addr->sa_family = AF_INET6;
	rdma_bind_addr(id, addr);
	free(addr);
}

int main(int argc, char **argv)
{
	const char *fault = argc > 1 ? argv[1] : "";
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP)) {
		perror("plant");
		return 2;
	}
	if (!strcmp(fault, "race"))
		race(id);
	else if (!strcmp(fault, "overflow"))
		overflow(id);
	if (strcmp(fault, "leak"))
		rdma_destroy_id(id);
	id = NULL;
	rdma_destroy_event_channel(channel);
	channel = NULL;
	return 0;
}
