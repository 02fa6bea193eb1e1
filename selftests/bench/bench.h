/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the parts of the benchmark share. It calls documented librdmacm
 * functions alone, so that the same file runs on either library.
 */
#ifndef RCM_BENCH_H
#define RCM_BENCH_H

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rdma/rdma_cma.h>

#define TIMEOUT_MS 8000

/**
 * struct options - what the command line says
 * @test: third column of each line printed, with what it depends on
 * @stack: first column of each line printed
 * @round: second column
 * @address: where the server is, or what to bind
 * @port: of the server
 * @count: connections, identifiers or listeners
 * @window: operations under way at once; 0: all of them
 * @threads: of the client
 * @channels: of the client, at most one a thread unless there is one thread
 * @qp: make a queue pair for each connection
 * @qpn: first queue pair number when not
 * @percent: how full the range of ephemeral ports is
 * @live: in @count dead addresses, one that answers
 * @role: run the server, the client or both
 */
struct options {
	char test[80];
	const char *stack;
	int round;
	struct sockaddr_in address;
	uint16_t port;
	int count;
	int window;
	int threads;
	int channels;
	bool qp;
	uint32_t qpn;
	int percent;
	struct sockaddr_in live;
	enum {
		BOTH,
		SERVER,
		CLIENT
	} role;
};

extern struct options opt;

/**
 * struct usage - a point in time, and what had been used up by then
 * @wall: ns
 * @cpu: of the whole machine, ns: kernel threads work for us, too
 * @own: of this process, ns
 * @switches: context switches of this process
 */
struct usage {
	uint64_t wall;
	uint64_t cpu;
	uint64_t own;
	uint64_t switches;
};

/**
 * struct samples - how long each of many operations took
 * @ns: one each
 * @count: how many there are
 * @room: of @ns
 */
struct samples {
	uint64_t *ns;
	atomic_uint count;
	unsigned int room;
};

/* measure.c */
uint64_t now_ns(void);
void usage_begin(struct usage *usage);
void usage_end(struct usage *usage);
void samples_init(struct samples *samples, unsigned int room);
void samples_add(struct samples *samples, uint64_t ns);
void samples_free(struct samples *samples);
void report(const char *metric, double value);
void report_step(const char *step, struct samples *samples,
		 const struct usage *usage, unsigned int count);
uint64_t cm_counter(const char *group);
uint64_t slab_bytes(void);

/* common.c */
void die(const char *text);
struct rdma_event_channel *open_channel(void);
struct rdma_cm_event *need_event(struct rdma_event_channel *channel);
void expect_event(struct rdma_event_channel *channel,
		  enum rdma_cm_event_type type);
struct rdma_cm_id *new_id(struct rdma_event_channel *channel, void *context);
struct rdma_cm_id *warm_up(struct rdma_event_channel *channel);
void bind_any(struct rdma_cm_id *id, uint16_t port);
struct ibv_qp *make_qp(struct rdma_cm_id *id);
uint32_t next_qpn(void);
struct sockaddr *server_address(void);

/* one file each */
void server(int started, int finish);
void storm(void);
void ports(void);
void listeners(void);
void dead(void);
void events(void);
void memory(void);

#endif
