// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the tests of the exported API share: an identifier with its handler,
 * a record of its events, and a queue pair.
 */
#include <linux/delay.h>
#include <linux/inet.h>
#include <linux/kmod.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "consumer.h"

/* A first byte and a length, so that the peer can tell what came. */
static const u8 refusal[] = "not today";

static void record(struct end *end, struct rdma_cm_id *id,
		   const struct rdma_cm_event *event)
{
	struct seen *seen;

	spin_lock(&end->lock);
	if (end->count == ARRAY_SIZE(end->seen)) {
		atomic_inc(&end->faults);
		goto out;
	}
	seen = &end->seen[end->count++];
	seen->id = id;
	seen->event = event->event;
	seen->status = event->status;
	if (id->qp_type != IB_QPT_UD && event->param.conn.private_data_len) {
		seen->len = event->param.conn.private_data_len;
		memcpy(seen->data, event->param.conn.private_data,
		       min_t(size_t, seen->len, BYTES));
	}
out:
	spin_unlock(&end->lock);
	wake_up_all(&end->wait);
}

static int take_request(struct end *listener, struct rdma_cm_id *id)
{
	struct rdma_conn_param conn = { .responder_resources = 1,
					.initiator_depth = 1,
					.rnr_retry_count = 7 };
	struct end *child = listener->child;

	if (listener->habit == REJECTS) {
		rcm_reject(id, refusal, sizeof(refusal), 0);
		return -1;
	}
	if (child->id)
		return -1;
	child->id = id;
	id->context = child;
	if (listener->habit == WAITS)
		return 0;
	if (end_qp(child) || end_recv(child) || rcm_accept(id, &conn)) {
		atomic_inc(&child->faults);
		end_release(child);
		child->id = NULL;
		return -1;
	}
	return 0;
}

static int go_on(struct end *end, const struct rdma_cm_event *event)
{
	struct rdma_conn_param conn = { .responder_resources = 1,
					.initiator_depth = 1,
					.retry_count = 7,
					.rnr_retry_count = 7 };

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return end_qp(end) ?: rcm_resolve_route(end->id, SHORT);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return rcm_connect_locked(end->id, &conn);
	default:
		return 0;
	}
}

int end_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct end *end = id->context;
	int ret = 0;

	if (atomic_inc_return(&end->inside) != 1 || end->calling == current)
		atomic_inc(&end->faults);
	if (end->held)
		mutex_lock(end->held);
	if (event->event == end->pause_on) {
		complete(&end->paused);
		wait_for_completion(&end->go);
	}
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		ret = take_request(end, id);
	else if (end->habit == CONNECTS)
		ret = go_on(end, event);
	if (event->event == end->die_on) {
		if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
			if (end->keeps_qp)
				end->orphan = id->qp;
			else
				end_release(end);
			end->id = NULL;
		}
		ret = -1;
	}
	record(end, id, event);
	if (end->held)
		mutex_unlock(end->held);
	atomic_dec(&end->inside);
	return ret;
}

struct end *end_alloc(struct kunit *test)
{
	struct end *end = kunit_kzalloc(test, sizeof(*end), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, end);
	end->test = test;
	end->die_on = NONE;
	end->pause_on = NONE;
	init_completion(&end->paused);
	init_completion(&end->go);
	spin_lock_init(&end->lock);
	init_waitqueue_head(&end->wait);
	return end;
}

static void end_cleanup(void *end)
{
	end_destroy(end);
}

struct end *end_new(struct kunit *test, struct net *net,
		    enum rdma_ucm_port_space ps, enum ib_qp_type qp_type)
{
	struct end *end = end_alloc(test);
	struct rdma_cm_id *id;

	end->child = end_alloc(test);
	id = rcm_create_id(net, end_handler, end, ps, qp_type);
	KUNIT_ASSERT_FALSE(test, IS_ERR(id));
	end->id = id;
	/* A test that fails half way leaves nothing, either. */
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, end_cleanup, end),
			0);
	return end;
}

/* Queue pair, buffer and so on; may be called in the handler. */
void end_release(struct end *end)
{
	if (!end->pd)
		return;
	if (end->orphan)
		ib_destroy_qp(end->orphan);
	else
		rcm_destroy_qp(end->id);
	ib_dma_unmap_single(end->pd->device, end->dma, BYTES,
			    DMA_BIDIRECTIONAL);
	ib_free_cq(end->cq);
	ib_dealloc_pd(end->pd);
	kfree(end->buffer);
	end->pd = NULL;
}

/* The end of an end: nothing that must not happen may have happened. */
void end_destroy(struct end *end)
{
	if (end->child)
		end_destroy(end->child);
	if (end->id) {
		end_release(end);
		rcm_destroy_id(end->id);
		end->id = NULL;
	}
	/* One that destroyed its identifier may be about to return. */
	while (atomic_read(&end->inside))
		msleep(20);
	if (end->orphan)
		end_release(end);
	KUNIT_EXPECT_EQ_MSG(end->test, atomic_read(&end->faults), 0,
			    "a handler ran twice at once, or in its own call");
}

int end_qp(struct end *end)
{
	struct ib_qp_init_attr attr = {
		.qp_type = end->id->qp_type,
		.sq_sig_type = IB_SIGNAL_ALL_WR,
		.cap = { .max_send_wr = 4,
			 .max_recv_wr = 4,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	struct ib_device *device = end->id->device;
	int ret;

	end->buffer = kzalloc(BYTES, GFP_KERNEL);
	end->pd = ib_alloc_pd(device, 0);
	end->cq = ib_alloc_cq(device, end, 8, 0, IB_POLL_DIRECT);
	if (!end->buffer || IS_ERR(end->pd) || IS_ERR(end->cq))
		return -ENOMEM;
	end->dma = ib_dma_map_single(device, end->buffer, BYTES,
				     DMA_BIDIRECTIONAL);
	attr.send_cq = end->cq;
	attr.recv_cq = end->cq;
	end->calling = current;
	ret = rcm_create_qp(end->id, end->pd, &attr);
	end->calling = NULL;
	return ret;
}

/* The next event, or NULL when none comes in time. */
const struct seen *end_next(struct end *end, unsigned int ms)
{
	if (!wait_event_timeout(end->wait, READ_ONCE(end->count) != end->read,
				msecs_to_jiffies(ms)))
		return NULL;
	return &end->seen[end->read++];
}

bool end_expect(struct end *end, enum rdma_cm_event_type event, int status)
{
	const struct seen *seen = end_next(end, LONG);

	KUNIT_EXPECT_NOT_NULL_MSG(end->test, seen, "no event, wanted: %s",
				  rcm_event_msg(event));
	if (!seen)
		return false;
	KUNIT_EXPECT_STREQ(end->test, rcm_event_msg(seen->event),
			   rcm_event_msg(event));
	KUNIT_EXPECT_EQ(end->test, seen->status, status);
	return seen->event == event && seen->status == status;
}

/* Nothing comes that the test has not seen. */
bool end_quiet(struct end *end)
{
	return !end_next(end, SHORT);
}

struct sockaddr *ip4(struct sockaddr_in *sin, u32 addr, u16 port)
{
	*sin = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(addr),
	};
	return (struct sockaddr *)sin;
}

int end_listen(struct end *end, u32 addr, u16 port)
{
	struct sockaddr_in sin;

	return rcm_bind_addr(end->id, ip4(&sin, addr, port)) ?:
		       rcm_listen(end->id, 8);
}

int end_resolve(struct end *end, u32 addr, u16 port)
{
	struct sockaddr_in sin;
	int ret;

	end->calling = current;
	ret = rcm_resolve_addr(end->id, NULL, ip4(&sin, addr, port), LONG);
	end->calling = NULL;
	return ret;
}

int end_route(struct end *end)
{
	int ret;

	end->calling = current;
	ret = rcm_resolve_route(end->id, LONG);
	end->calling = NULL;
	return ret;
}

int end_connect(struct end *end, const void *data, u8 len)
{
	struct rdma_conn_param conn = { .private_data = data,
					.private_data_len = len,
					.responder_resources = 1,
					.initiator_depth = 1,
					.retry_count = 7,
					.rnr_retry_count = 7 };
	int ret;

	end->calling = current;
	ret = rcm_connect(end->id, &conn);
	end->calling = NULL;
	return ret;
}

/* In the test's own time, as a server with worker threads does. */
int end_accept(struct end *end)
{
	struct rdma_conn_param conn = { .responder_resources = 1,
					.initiator_depth = 1,
					.rnr_retry_count = 7 };
	int ret;

	rcm_lock_handler(end->id);
	end->calling = current;
	ret = rcm_accept(end->id, &conn);
	end->calling = NULL;
	rcm_unlock_handler(end->id);
	return ret;
}

/* Of an @end that is ready to connect and a @listener that accepts. */
void end_join(struct end *listener, struct end *end)
{
	struct kunit *test = end->test;

	KUNIT_ASSERT_EQ(test, end_recv(end), 0);
	KUNIT_ASSERT_EQ(test, end_connect(end, NULL, 0), 0);
	KUNIT_ASSERT_TRUE(test, end_expect(listener,
					   RDMA_CM_EVENT_CONNECT_REQUEST, 0));
	KUNIT_ASSERT_TRUE(test, end_expect(end, RDMA_CM_EVENT_ESTABLISHED, 0));
	KUNIT_ASSERT_TRUE(test, end_expect(listener->child,
					   RDMA_CM_EVENT_ESTABLISHED, 0));
	KUNIT_EXPECT_EQ(test, end_qp_state(end), IB_QPS_RTS);
	KUNIT_EXPECT_EQ(test, end_qp_state(listener->child), IB_QPS_RTS);
}

/* @child is of a request of @end's that nobody has answered. */
void end_accept_later(struct end *end, struct end *child)
{
	struct kunit *test = end->test;

	KUNIT_ASSERT_EQ(test, end_qp(child), 0);
	KUNIT_EXPECT_EQ(test, end_accept(child), 0);
	end_expect(end, RDMA_CM_EVENT_ESTABLISHED, 0);
	end_expect(child, RDMA_CM_EVENT_ESTABLISHED, 0);
	KUNIT_EXPECT_EQ(test, end_accept(child), -EINVAL);
}

int end_disconnect(struct end *end)
{
	int ret;

	end->calling = current;
	ret = rcm_disconnect(end->id);
	end->calling = NULL;
	return ret;
}

static struct ib_sge end_sge(struct end *end)
{
	return (struct ib_sge){ .addr = end->dma,
				.length = BYTES,
				.lkey = end->pd->local_dma_lkey };
}

int end_recv(struct end *end)
{
	struct ib_sge sge = end_sge(end);
	struct ib_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };

	return ib_post_recv(end->id->qp, &wr, NULL);
}

int end_send(struct end *end, u8 first)
{
	struct ib_sge sge = end_sge(end);
	struct ib_send_wr wr = { .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IB_WR_SEND,
				 .send_flags = IB_SEND_SIGNALED };
	unsigned int i;

	for (i = 0; i < BYTES; i++)
		end->buffer[i] = first + i;
	return ib_post_send(end->id->qp, &wr, NULL);
}

/* Waits for the next completion; 0 when it is a good one of that kind. */
int end_poll(struct end *end, enum ib_wc_opcode opcode)
{
	unsigned long end_time = jiffies + msecs_to_jiffies(LONG);
	struct ib_wc wc;

	while (time_before(jiffies, end_time)) {
		if (ib_poll_cq(end->cq, 1, &wc) == 1)
			return wc.status || wc.opcode != opcode ? -EIO : 0;
		usleep_range(500, 1000);
	}
	return -ETIMEDOUT;
}

bool end_holds(struct end *end, u8 first)
{
	unsigned int i;

	for (i = 0; i < BYTES; i++) {
		if (end->buffer[i] != (u8)(first + i))
			return false;
	}
	return true;
}

int end_qp_state(struct end *end)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	return ib_query_qp(end->id->qp, &attr, IB_QP_STATE, &init) ?:
		       attr.qp_state;
}

/* For what only a command can do: devices and namespaces. */
int shell(const char *command)
{
	char path[] = "PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin";
	char *environment[2] = { path };
	char sh[] = "/bin/sh", c[] = "-c";
	char *arguments[4] = { sh, c, (char *)command };

	return call_usermodehelper(sh, arguments, environment, UMH_WAIT_PROC);
}

kunit_test_suites(&rcm_consumer_suite, &rcm_consumer_life_suite,
		  &rcm_consumer_iw_suite);

MODULE_DESCRIPTION("A kernel consumer, to test rcm");
MODULE_LICENSE("GPL");
