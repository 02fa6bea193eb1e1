/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * rcm_consumer.ko: a kernel module that makes and takes connections, as a test
 * of the exported API. A struct end is one identifier and what belongs to it.
 */
#ifndef RCM_CONSUMER_H
#define RCM_CONSUMER_H

#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rcm/rcm.h>

/* Milliseconds; a loaded machine may need many of them. */
#define LONG  20000
#define SHORT 200

/* No event: nothing matches it. */
#define NONE (-1)

#define BYTES 64

struct seen {
	struct rdma_cm_id *id;
	enum rdma_cm_event_type event;
	int status;
	u8 len;
	u8 data[BYTES];
};

/* What an end does by itself when an event comes. */
enum habit {
	WAITS,	 /* nothing: the test does it */
	ACCEPTS, /* a request, with a queue pair, in the handler */
	REJECTS, /* a request, with private data */
	CONNECTS /* all steps of the active side, in the handler */
};

/**
 * struct end - an identifier, and what a consumer has for it
 * @test: test that it belongs to
 * @id: identifier; %NULL once it is destroyed
 * @habit: what it does by itself
 * @qp: makes a queue pair
 * @die_on: event at which the handler returns -1, or NONE
 * @keeps_qp: the queue pair stays then, until end_destroy()
 * @orphan: that queue pair
 * @pause_on: event at which the handler waits for @go, or NONE
 * @paused: it does
 * @go: it may go on
 * @held: taken by the handler, as many consumers do
 * @calling: task that is inside a call of rcm, where no handler may run
 * @inside: how many handlers of one identifier run, at most 1
 * @faults: what must not happen and did
 * @lock: protects @seen, @count, @read
 * @seen: events that came
 * @count: how many
 * @read: how many the test has looked at
 * @wait: for an event
 * @child: end for an identifier of a request
 */
struct end {
	struct kunit *test;
	struct rdma_cm_id *id;
	enum habit habit;
	bool qp;
	int die_on;
	bool keeps_qp;
	struct ib_qp *orphan;
	int pause_on;
	struct completion paused;
	struct completion go;
	struct mutex *held; /* the consumer's own */
	struct task_struct *calling;
	atomic_t inside;
	atomic_t faults;
	spinlock_t lock; /* protects seen, count, read */
	struct seen seen[32];
	unsigned int count;
	unsigned int read;
	wait_queue_head_t wait;
	struct end *child;
	struct ib_pd *pd;
	struct ib_cq *cq;
	u8 *buffer;
	u64 dma;
};

struct end *end_alloc(struct kunit *test);
struct end *end_new(struct kunit *test, struct net *net,
		    enum rdma_ucm_port_space ps, enum ib_qp_type qp_type);
void end_destroy(struct end *end);
int end_handler(struct rdma_cm_id *id, struct rdma_cm_event *event);
int end_qp(struct end *end);
void end_release(struct end *end);

const struct seen *end_next(struct end *end, unsigned int ms);
bool end_expect(struct end *end, enum rdma_cm_event_type event, int status);
bool end_quiet(struct end *end);

int end_listen(struct end *end, u32 addr, u16 port);
int end_resolve(struct end *end, u32 addr, u16 port);
int end_route(struct end *end);
int end_connect(struct end *end, const void *data, u8 len);
int end_accept(struct end *end);
void end_join(struct end *listener, struct end *end);
void end_accept_later(struct end *end, struct end *child);
int end_disconnect(struct end *end);

int end_recv(struct end *end);
int end_send(struct end *end, u8 first);
int end_poll(struct end *end, enum ib_wc_opcode opcode);
bool end_holds(struct end *end, u8 first);
int end_qp_state(struct end *end);

struct sockaddr *ip4(struct sockaddr_in *sin, u32 addr, u16 port);
int shell(const char *command);

extern struct kunit_suite rcm_consumer_suite;
extern struct kunit_suite rcm_consumer_life_suite;
extern struct kunit_suite rcm_consumer_iw_suite;

/* Addresses that the rig and consumer.sh set up. */
#define HERE  0x0a000001 /* 10.0.0.1, rxe0 */
#define OTHER 0x0a520001 /* 10.82.0.1, xc1 */
#define IWARP 0x0a530001 /* 10.83.0.1, xi1 */

#endif /* RCM_CONSUMER_H */
