/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the files of the differential test share.  It uses nothing but
 * librdmacm's documented functions, so that the same program runs on either
 * connection manager, and prints nothing that depends on time, pointers or
 * random numbers.
 */
#ifndef SEQ_H
#define SEQ_H

#include <assert.h>

#include "../lib_test.h"

/* Ports that a sequence has to itself, from its job's on. */
#define SEQ_PORTS 3

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* On the network of a veth pair that the test makes, and answered by nobody. */
#define DEAD_IP4 "10.8.0.77"
/* No route leads there. */
#define FAR_IP4 "192.0.2.1"

/**
 * struct job - one sequence
 * @name: its name, first field of each line it prints
 * @run: runs it, in a process of its own
 * @p: what @run needs to know
 * @n: likewise
 * @port: first of its ports
 * @pid: its process while it runs
 * @deadline: when that is killed, as now_ms()
 */
struct job {
	char name[96];
	void (*run)(const struct job *job);
	const void *p[3];
	long n[2];
	int port;
	pid_t pid;
	long long deadline;
};

/**
 * struct world - the identifiers of one sequence
 * @job: the sequence
 * @ps: port space
 * @sync: @id is synchronous
 * @near: channel of @id
 * @far: channel of @peer
 * @id: the identifier under test
 * @peer: the other end, or the listener that it would reach
 * @listener: of @id when that came from a request, of @peer otherwise
 * @request: identifier of the request that came last and was not used
 */
struct world {
	const struct job *job;
	enum rdma_port_space ps;
	bool sync;
	struct rdma_event_channel *near, *far;
	struct rdma_cm_id *id, *peer, *listener, *request;
};

/**
 * struct state - how an identifier gets where it is tested
 * @name: of the state
 * @enter: gets it there; false when that failed
 */
struct state {
	const char *name;
	bool (*enter)(struct world *w);
};

/**
 * struct op - one call
 * @name: of the call and its arguments
 * @call: makes it and says what it returned
 */
struct op {
	const char *name;
	void (*call)(struct world *w);
};

/* main.c */
struct job *job_add(void (*run)(const struct job *job), const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* say.c */
void say_start(const char *name);
void say(const char *key, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void say_end(const char *how);
int say_ret(const char *key, int ret);
void say_event(const struct world *w, const char *key,
	       const struct rdma_cm_event *event);
void say_id(const struct world *w, const char *key,
	    const struct rdma_cm_id *id);
const char *addr_text(const struct sockaddr *addr, char *to, size_t size);

/* Says what @call, a function that returns -1 and errno, returned. */
#define SAY(key, call) (errno = 0, say_ret(key, call))

/* state.c */
extern int quiet_ms;
extern const struct state rc_states[], ud_states[], some_states[],
	pair_states[], sync_states[];
bool world_open(struct world *w, const struct job *job, enum rdma_port_space ps,
		bool sync);
struct rdma_cm_event *wait_event(struct world *w,
				 struct rdma_event_channel *channel,
				 enum rdma_cm_event_type type);
bool wait_for(struct world *w, struct rdma_event_channel *channel,
	      enum rdma_cm_event_type type);
bool enter_fresh(struct world *w);
bool enter_route(struct world *w);
bool enter_connecting(struct world *w);
bool enter_connecting_no_qp(struct world *w);
bool enter_request(struct world *w);
void drain(struct world *w);
struct rdma_conn_param conn_param(const struct rdma_cm_id *id, void *data,
				  int len);
union lib_addr own_addr(const struct world *w, int n);

/* op.c */
extern const struct op few_ops[];

/* Each adds its sequences. */
void add_states(void);
void add_addresses(void);
void add_lengths(void);
void add_null(void);
void add_rest(void);

#endif /* SEQ_H */
