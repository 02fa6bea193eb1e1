// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A kernel consumer that connects to itself, with queue pairs, while it is
 * being loaded, for the flow "consumer" of selftests/fail_flows.h: what loading
 * it says is what the first call or event said that failed. It never stays.
 */
#include <linux/completion.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <rdma/ib_verbs.h>
#include <rcm/rcm.h>

#define RCM_FAIL_WAIT (20 * HZ)
#define RCM_FAIL_MS   2000

/**
 * struct rcm_fail_end - one end of the connection
 * @id: identifier
 * @pd: protection domain
 * @cq: completion queue of its queue pair
 * @done: it is established, or will not be
 * @status: which of the two: 0 or a negative errno
 */
struct rcm_fail_end {
	struct rdma_cm_id *id;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct completion done;
	int status;
};

static struct rcm_fail_end rcm_fail_listener, rcm_fail_server, rcm_fail_client;

static void rcm_fail_release(struct rcm_fail_end *end)
{
	if (end->id && end->id->qp)
		rcm_destroy_qp(end->id);
	if (!IS_ERR_OR_NULL(end->cq))
		ib_free_cq(end->cq);
	if (!IS_ERR_OR_NULL(end->pd))
		ib_dealloc_pd(end->pd);
	end->cq = NULL;
	end->pd = NULL;
}

static int rcm_fail_qp(struct rcm_fail_end *end)
{
	struct ib_qp_init_attr attr = {
		.qp_type = IB_QPT_RC,
		.cap = { .max_send_wr = 1,
			 .max_recv_wr = 1,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	end->pd = ib_alloc_pd(end->id->device, 0);
	if (IS_ERR(end->pd))
		return PTR_ERR(end->pd);
	end->cq = ib_alloc_cq(end->id->device, NULL, 4, 0, IB_POLL_SOFTIRQ);
	if (IS_ERR(end->cq))
		return PTR_ERR(end->cq);
	attr.send_cq = end->cq;
	attr.recv_cq = end->cq;
	return rcm_create_qp(end->id, end->pd, &attr);
}

static void rcm_fail_end_with(struct rcm_fail_end *end, int status)
{
	end->status = status;
	complete(&end->done);
}

static struct rdma_conn_param rcm_fail_conn = {
	.responder_resources = 1,
	.initiator_depth = 1,
	.retry_count = 7,
	.rnr_retry_count = 7,
};

/* An identifier that is not taken is destroyed, and the request rejected. */
static int rcm_fail_request(struct rdma_cm_id *id)
{
	struct rcm_fail_end *end = &rcm_fail_server;
	int ret;

	end->id = id;
	id->context = end;
	ret = rcm_fail_qp(end) ?: rcm_accept(id, &rcm_fail_conn);
	if (!ret)
		return 0;
	rcm_fail_release(end);
	end->id = NULL;
	rcm_fail_end_with(end, ret);
	return ret;
}

static int rcm_fail_go_on(struct rcm_fail_end *end,
			  const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return rcm_fail_qp(end) ?:
					  rcm_resolve_route(end->id, RCM_FAIL_MS);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return rcm_connect_locked(end->id, &rcm_fail_conn);
	case RDMA_CM_EVENT_REJECTED:
		return -ECONNREFUSED;
	default:
		return event->status < 0 ? event->status : 0;
	}
}

static int rcm_fail_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct rcm_fail_end *end = id->context;
	int ret;

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return rcm_fail_request(id);
	ret = rcm_fail_go_on(end, event);
	if (ret || event->event == RDMA_CM_EVENT_ESTABLISHED)
		rcm_fail_end_with(end, ret);
	return 0;
}

static int rcm_fail_new(struct rcm_fail_end *end)
{
	end->id = rcm_create_id(&init_net, rcm_fail_handler, end, RDMA_PS_TCP,
				IB_QPT_RC);
	return PTR_ERR_OR_ZERO(end->id);
}

static void rcm_fail_destroy(struct rcm_fail_end *end)
{
	if (IS_ERR_OR_NULL(end->id))
		return;
	rcm_fail_release(end);
	rcm_destroy_id(end->id);
}

static int rcm_fail_wait(struct rcm_fail_end *end)
{
	if (!wait_for_completion_timeout(&end->done, RCM_FAIL_WAIT))
		return -ETIME;
	return end->status;
}

static int rcm_fail_run(void)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = in_aton("10.0.0.1"),
		.sin_port = htons(7482),
	};
	struct sockaddr *to = (struct sockaddr *)&addr;
	int ret, other;

	ret = rcm_fail_new(&rcm_fail_listener)		      ?:
		      rcm_bind_addr(rcm_fail_listener.id, to) ?:
		      rcm_listen(rcm_fail_listener.id, 4);
	ret = ret ?: rcm_fail_new(&rcm_fail_client);
	ret = ret   ?:
		      rcm_resolve_addr(rcm_fail_client.id, NULL, to,
				       RCM_FAIL_MS);
	if (ret)
		return ret;
	ret = rcm_fail_wait(&rcm_fail_client);
	/*
	 * Refused: the server may know why, or be about to, as an accept that
	 * fails tells the peer first.
	 */
	if (ret && ret != -ECONNREFUSED)
		return ret;
	if (ret && !wait_for_completion_timeout(&rcm_fail_server.done, HZ / 2))
		return ret;
	other = ret ? rcm_fail_server.status : rcm_fail_wait(&rcm_fail_server);
	if (other || ret)
		return other ?: ret;
	return rcm_disconnect(rcm_fail_client.id);
}

static int __init rcm_fail_consumer_init(void)
{
	int ret;

	init_completion(&rcm_fail_server.done);
	init_completion(&rcm_fail_client.done);
	ret = rcm_fail_run();
	/* No request comes any more, then no event. */
	rcm_fail_destroy(&rcm_fail_listener);
	rcm_fail_destroy(&rcm_fail_client);
	rcm_fail_destroy(&rcm_fail_server);
	/* What is done needs no module. */
	return ret ?: -EALREADY;
}

static void __exit rcm_fail_consumer_exit(void)
{
}

module_init(rcm_fail_consumer_init);
module_exit(rcm_fail_consumer_exit);

MODULE_DESCRIPTION("A kernel consumer whose calls fail");
MODULE_LICENSE("GPL");
