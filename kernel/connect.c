// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Connect, accept, reject, disconnect: what does not depend on the transport.
 */
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "rcm_priv.h"

/* 0xff asks for as much as the device can do. */
static int rcm_limit(u8 *value, int limit)
{
	if (*value == 0xff)
		*value = min(limit, 0xff);
	return *value > limit ? -EINVAL : 0;
}

/* How much private data fits, of a connection's message or a datagram's. */
static u8 rcm_max_data(struct rcm_id *priv, u8 max_data, u8 max_ud_data)
{
	return priv->id.qp_type == IB_QPT_UD ? max_ud_data : max_data;
}

/* The queue pair that a connection is to have, when that matters. */
static int rcm_check_qp(struct rcm_id *priv, const struct rdma_conn_param *conn)
{
	const struct rcm_transport *transport = priv->device->transport;

	if (!transport->check_qp)
		return 0;
	return transport->check_qp(priv,
				   priv->id.qp ? priv->qp_num : conn->qp_num);
}

static int rcm_check_conn(struct rcm_id *priv, struct rdma_conn_param *conn,
			  u8 max_data)
{
	const struct ib_device_attr *attrs = &priv->device->ib->attrs;

	if (conn->private_data_len > max_data || rcm_check_qp(priv, conn))
		return -EINVAL;
	if (priv->id.qp_type == IB_QPT_UD)
		return rcm_set_qkey(priv, conn->qkey);
	if (rcm_limit(&conn->responder_resources, attrs->max_qp_rd_atom) ||
	    rcm_limit(&conn->initiator_depth, attrs->max_qp_init_rd_atom))
		return -EINVAL;

	/* Fields of three bits. */
	conn->retry_count = min_t(u8, conn->retry_count, 7);
	conn->rnr_retry_count = min_t(u8, conn->rnr_retry_count, 7);
	return 0;
}

static void rcm_take_qp(struct rcm_id *priv, const struct rdma_conn_param *conn)
{
	if (!priv->id.qp) {
		priv->qp_num = conn->qp_num;
		priv->srq = conn->srq;
	}
}

/**
 * rcm_set_connect_timeout - bound the time that a connect takes
 * @priv: identifier, with its mutex held
 * @timeout_ms: milliseconds; 0 for no bound but the number of tries
 *
 * Return: 0; -EINVAL when it connects already or @timeout_ms is absurd.
 */
int rcm_set_connect_timeout(struct rcm_id *priv, u32 timeout_ms)
{
	if (priv->state > RCM_STATE_ROUTE_RESOLVED || timeout_ms > INT_MAX / 2)
		return -EINVAL;
	priv->connect_timeout_ms = timeout_ms;
	return 0;
}

/**
 * rcm_set_connect_tries - bound how often a request is sent
 * @priv: identifier, with its mutex held
 * @tries: 1 to RCM_CONNECT_TRIES
 *
 * Return: 0; -EINVAL when it connects already or @tries is out of range.
 */
int rcm_set_connect_tries(struct rcm_id *priv, u32 tries)
{
	if (priv->state > RCM_STATE_ROUTE_RESOLVED || !tries ||
	    tries > RCM_CONNECT_TRIES)
		return -EINVAL;
	priv->connect_tries = tries;
	return 0;
}

/*
 * The peer's answer to our end of the connection is overdue, and the transport
 * did not say so: ib_cm forgets a message that the device flushes.
 */
static int rcm_disconnect_timed_out(struct rcm_id *priv)
{
	rcm_id_move(priv, RCM_OP_DREQ_NO_ANSWER);
	rcm_id_blame(priv, RCM_STEP_DISCONNECT, -ETIMEDOUT, 0);
	return rcm_id_report(priv, RDMA_CM_EVENT_DISCONNECTED, -ETIMEDOUT);
}

/*
 * Time is up. The transport counts in powers of two and by tries; this timer
 * keeps the promise to the millisecond.
 */
static void rcm_connect_timed_out(struct work_struct *work)
{
	struct rcm_peer *peer =
		container_of(to_delayed_work(work), struct rcm_peer, timer);
	struct rcm_id *priv = peer->priv;
	struct rcm_device *device = NULL;
	void *cm = NULL;

	rcm_id_lock_events(priv);
	/* Started anew while it waited for the mutex: it will run again. */
	if (time_before(jiffies, peer->due))
		goto out;
	if (priv->state == RCM_STATE_CLOSING &&
	    rcm_disconnect_timed_out(priv)) {
		rcm_id_destroy_unlock(priv);
		goto out_cm;
	}
	if (priv->state != RCM_STATE_REQ_SENT)
		goto out;
	rcm_id_move(priv, RCM_OP_NO_ANSWER);
	rcm_id_blame(priv, RCM_STEP_CONNECT, -ETIMEDOUT, 0);
	/* It has to be there until the transport's side is gone. */
	device = priv->device;
	rcm_device_get(device);
	cm = priv->cm;
	priv->cm = NULL;
	if (rcm_id_report(priv, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT)) {
		rcm_id_destroy_unlock(priv);
		goto out_cm;
	}
out:
	rcm_id_unlock_events(priv);
out_cm:
	if (cm)
		rcm_cm_destroy(priv, device, cm);
	if (device)
		rcm_device_put(device);
	rcm_id_put(priv);
}

/**
 * rcm_peer_alloc - make what an identifier needs that is to have a peer
 * @priv: identifier, with its mutex held; it may have it already
 *
 * It goes with the identifier.
 *
 * Context: process; may sleep.
 * Return: 0 or -ENOMEM.
 */
int rcm_peer_alloc(struct rcm_id *priv)
{
	struct rcm_peer *peer;

	if (priv->peer)
		return 0;
	peer = kzalloc(sizeof(*peer), rcm_gfp(priv->inline_events));
	if (!peer)
		return -ENOMEM;
	peer->priv = priv;
	INIT_DELAYED_WORK(&peer->timer, rcm_connect_timed_out);
	WRITE_ONCE(priv->peer, peer);
	return 0;
}

/* Unless it runs already; 0 milliseconds are no bound. */
static void rcm_connect_start_timer(struct rcm_id *priv, unsigned int ms)
{
	unsigned long delay = msecs_to_jiffies(ms);
	unsigned long due = jiffies + delay;

	if (!ms)
		return;
	rcm_id_get(priv);
	if (queue_delayed_work(rcm_wq, &priv->peer->timer, delay))
		priv->peer->due = due;
	else
		rcm_id_put(priv);
}

/**
 * rcm_connect_stop_timer - the answer is there, or nobody waits for it
 * @priv: identifier, with its mutex held or being destroyed
 *
 * A timer that runs finds that it came too late.
 */
void rcm_connect_stop_timer(struct rcm_id *priv)
{
	if (priv->peer && cancel_delayed_work(&priv->peer->timer))
		rcm_id_put(priv);
}

/**
 * rcm_connect_timer_runs - whether it will say when time is up
 * @priv: identifier, with its mutex held
 */
bool rcm_connect_timer_runs(struct rcm_id *priv)
{
	return priv->state == RCM_STATE_REQ_SENT &&
	       delayed_work_pending(&priv->peer->timer);
}

/* Sends it, or arranges that it is sent. */
static int rcm_connect_send(struct rcm_id *priv,
			    const struct rdma_conn_param *conn)
{
	int ret = rcm_pace_enter(priv, conn);

	if (!ret)
		ret = priv->device->transport->connect(priv, conn);
	if (ret < 0)
		return ret;
	rcm_connect_start_timer(priv, priv->connect_timeout_ms);
	return 0;
}

/**
 * rcm_connect_send_late - send a request that had to wait
 * @priv: identifier in state REQ_SENT, with both of its mutexes held
 * @conn: what is to be sent
 *
 * Return: 0; what the consumer's handler says of an event, see
 * rcm_id_dispatch().
 */
int rcm_connect_send_late(struct rcm_id *priv,
			  const struct rdma_conn_param *conn)
{
	int ret = priv->device->transport->connect(priv, conn);

	if (!ret)
		return 0;
	rcm_connect_stop_timer(priv);
	/* Of the peer this says nothing. */
	rcm_pace_leave(priv, RCM_OP_CONNECT_FAIL);
	rcm_id_move(priv, RCM_OP_NO_ANSWER);
	rcm_id_blame(priv, RCM_STEP_SEND, ret, 0);
	return rcm_id_report(priv, RDMA_CM_EVENT_CONNECT_ERROR, ret);
}

/**
 * rcm_id_connect - send a connection request
 * @priv: identifier in state ROUTE_RESOLVED, with its mutex held
 * @conn: parameters; read resources of 0xff are replaced by the device's
 *	limits, retry counts above 7 by 7
 *
 * When many requests to this destination have no answer yet it is sent later;
 * if that fails then, CONNECT_ERROR is reported.
 *
 * Context: process; may sleep, but not for the network.
 * Return: 0 when the peer's answer, or that there is none, will be reported;
 * -EINVAL in a state that does not allow it, for too much private data, or
 * more read resources than the device has; -ENODEV when the device is gone;
 * -ENOMEM. The identifier is as before when it fails.
 */
int rcm_id_connect(struct rcm_id *priv, struct rdma_conn_param *conn)
{
	const struct rcm_transport *transport;
	int ret;

	ret = rcm_id_allows(priv, RCM_OP_CONNECT);
	if (ret)
		return ret;
	transport = priv->device->transport;
	ret = rcm_check_conn(priv, conn,
			     rcm_max_data(priv, transport->max_connect_data,
					  transport->max_ud_request_data));
	if (ret)
		return ret;

	rcm_id_move(priv, RCM_OP_CONNECT);
	rcm_take_qp(priv, conn);
	ret = rcm_connect_send(priv, conn);
	if (ret) {
		rcm_id_blame(priv, RCM_STEP_SEND,
			     ret == -ERESTARTSYS ? -EINTR : ret, 0);
		rcm_id_move(priv, RCM_OP_CONNECT_FAIL);
	}
	return ret;
}

/**
 * rcm_id_accept - accept a connection request
 * @priv: identifier of the request, with its mutex held
 * @conn: parameters, as for rcm_id_connect()
 *
 * Context: process; may sleep, but not for the network.
 * Return: 0; -EINVAL as for rcm_id_connect(), with nothing changed; -ENODEV when
 * the device is gone. When the transport fails, its error, and the request is
 * rejected.
 */
int rcm_id_accept(struct rcm_id *priv, struct rdma_conn_param *conn)
{
	const struct rcm_transport *transport;
	int ret;

	ret = rcm_id_allows(priv, RCM_OP_ACCEPT);
	if (ret)
		return ret;
	transport = priv->device->transport;
	ret = rcm_check_conn(priv, conn,
			     rcm_max_data(priv, transport->max_accept_data,
					  transport->max_ud_reply_data));
	if (ret)
		return ret;

	rcm_id_move(priv, RCM_OP_ACCEPT);
	rcm_take_qp(priv, conn);
	ret = transport->accept(priv, conn);
	if (ret) {
		rcm_qp_to_error(priv);
		rcm_id_blame(priv, RCM_STEP_SEND, ret, 0);
		rcm_id_move(priv, RCM_OP_ACCEPT_FAIL);
		transport->reject(priv, 0, NULL, 0);
	}
	return ret;
}

/**
 * rcm_id_establish - confirm the peer's acceptance
 * @priv: identifier in state REP_RCVD, with its mutex held
 *
 * Return: 0, the connection is established; -EINVAL in a state that does not
 * allow it; -ENODEV when the device is gone; the transport's error, with
 * nothing changed.
 */
int rcm_id_establish(struct rcm_id *priv)
{
	int ret;

	ret = rcm_id_allows(priv, RCM_OP_ESTABLISH);
	if (ret)
		return ret;
	ret = priv->device->transport->establish(priv);
	if (ret) {
		rcm_id_blame(priv, RCM_STEP_SEND, ret, 0);
		return ret;
	}
	return rcm_id_move(priv, RCM_OP_ESTABLISH);
}

/**
 * rcm_connect_finish - confirm the peer's acceptance in the consumer's place
 * @priv: identifier with a queue pair, in state REP_RCVD, with its mutex held
 * @event: CONNECT_RESPONSE; becomes ESTABLISHED, or CONNECT_ERROR and the peer
 *	is told no
 *
 * The queue pair is ours to move, so there is nothing to wait for.
 */
void rcm_connect_finish(struct rcm_id *priv, struct rdma_cm_event *event)
{
	int ret;

	ret = rcm_qp_to_rts(priv, NULL);
	if (!ret)
		ret = rcm_id_establish(priv);
	if (!ret) {
		event->event = RDMA_CM_EVENT_ESTABLISHED;
		return;
	}
	rcm_id_blame(priv, RCM_STEP_CONNECT, ret, 0);
	rcm_qp_to_error(priv);
	rcm_id_reject(priv, NULL, 0, 0);
	event->event = RDMA_CM_EVENT_CONNECT_ERROR;
	event->status = ret;
}

/**
 * rcm_id_reject - refuse a connection request, or a peer's acceptance
 * @priv: identifier, with its mutex held
 * @data: private data for the peer
 * @len: its length, bytes
 * @reason: reason code of the transport; 0 for "consumer defined"
 *
 * Return: 0; -EINVAL in a state that does not allow it or for too much
 * private data; -ENODEV when the device is gone; the transport's error, and the
 * connection is over nevertheless, but the peer has to find out by itself.
 */
int rcm_id_reject(struct rcm_id *priv, const void *data, u8 len, u8 reason)
{
	const struct rcm_transport *transport;
	int ret;

	ret = rcm_id_allows(priv, RCM_OP_REJECT);
	if (ret)
		return ret;
	transport = priv->device->transport;
	if (len > rcm_max_data(priv, transport->max_reject_data,
			       transport->max_ud_reply_data))
		return -EINVAL;
	/* The transport lets go of the connection first, and sends then. */
	ret = transport->reject(priv, reason, data, len);
	if (ret)
		rcm_id_blame(priv, RCM_STEP_SEND, ret, 0);
	rcm_id_move(priv, RCM_OP_REJECT);
	return ret;
}

/* When nobody could be asked there is nothing to wait for. */
static void rcm_disconnect_start_timer(struct rcm_id *priv, int error)
{
	const struct rcm_transport *transport = priv->device->transport;

	if (error)
		rcm_connect_start_timer(priv, 1);
	else if (transport->disconnect_ms)
		rcm_connect_start_timer(priv, transport->disconnect_ms(priv));
}

/* The peer of datagrams keeps no connection: there is nothing to wait for. */
static int rcm_ud_disconnect(struct rcm_id *priv)
{
	int ret = rcm_id_allows(priv, RCM_OP_DISCONNECT);

	if (!ret && priv->cm)
		rcm_qp_to_error(priv);
	return ret;
}

/**
 * rcm_id_disconnect - end a connection, or answer the peer who ends it
 * @priv: identifier that connected or was connected to, with its mutex held
 *
 * When the device fails to ask the peer the connection is over nevertheless.
 * Of datagrams nothing but the queue pair ends, and no event follows.
 *
 * Return: 0; -EINVAL when there never was a connection; -ENODEV when the
 * device is gone.
 */
int rcm_id_disconnect(struct rcm_id *priv)
{
	int ret;

	if (priv->id.qp_type == IB_QPT_UD)
		return rcm_ud_disconnect(priv);
	ret = rcm_id_begin(priv, RCM_OP_DISCONNECT);
	if (ret)
		return ret;
	if (priv->state == RCM_STATE_REP_SENT ||
	    priv->state == RCM_STATE_CLOSING)
		priv->disconnect_asked = true;
	/* When the connect timed out there is nothing left to do either. */
	if (!priv->cm)
		return 0;
	rcm_qp_to_error(priv);
	/* ib_cm takes it when it had a notice, and then tells of neither. */
	if (priv->state == RCM_STATE_REP_SENT)
		return 0;
	ret = priv->device->transport->disconnect(priv);
	if (priv->state == RCM_STATE_CLOSING)
		rcm_disconnect_start_timer(priv, ret);
	return 0;
}

/**
 * rcm_disconnect_asked - keep a disconnect that came before its time
 * @priv: identifier, with its mutex held
 * @op: what the transport told of, after the consumer has its event
 *
 * The side that accepts can do nothing until the peer's confirmation is there;
 * and the peer may ask for the same at the same time, with our own request
 * lost on the way. The consumer has said what it wants and will not again.
 */
void rcm_disconnect_asked(struct rcm_id *priv, enum rcm_op op)
{
	if (priv->disconnect_asked &&
	    (op == RCM_OP_RTU_RCVD || op == RCM_OP_DREQ_RCVD))
		rcm_id_disconnect(priv);
}

/**
 * rcm_id_notify - tell of an event that the consumer saw on its queue pair
 * @priv: identifier with a connection, with its mutex held
 * @event: IB_EVENT_COMM_EST: data arrived before the peer's confirmation
 *
 * Return: 0; -EINVAL without connection or for an event of no interest;
 * -EISCONN when it is established already.
 */
int rcm_id_notify(struct rcm_id *priv, enum ib_event_type event)
{
	int ret;

	if (priv->state == RCM_STATE_REMOVED)
		return -ENODEV;
	if (!priv->cm)
		return -EINVAL;
	if (!priv->device->transport->notify)
		return 0;
	ret = priv->device->transport->notify(priv, event);
	if (!ret && event == IB_EVENT_COMM_EST)
		WRITE_ONCE(priv->notified, true);
	return ret;
}

/**
 * rcm_notify_done - the transport has taken the notice to heart
 * @priv: identifier, with its mutex held
 */
void rcm_notify_done(struct rcm_id *priv)
{
	if (!priv->notified)
		return;
	/* Pairs with smp_load_acquire() of rcm_cm_destroy(). */
	smp_store_release(&priv->notified, false);
	/* Pairs with set_current_state() of rcm_cm_destroy()'s wait. */
	smp_mb();
	wake_up_var(&priv->notified);
}

/**
 * struct rcm_late_cm - the transport's side of a connection, that takes long
 * @work: lets go of it
 * @priv: identifier that it was of, with a reference: callbacks may come
 * @device: its device, with a reference
 * @cm: the object
 */
struct rcm_late_cm {
	struct work_struct work;
	struct rcm_id *priv;
	struct rcm_device *device;
	void *cm;
};

static void rcm_cm_destroy_work(struct work_struct *work)
{
	struct rcm_late_cm *late = container_of(work, struct rcm_late_cm, work);

	late->device->transport->destroy(late->cm);
	rcm_device_put(late->device);
	rcm_id_put(late->priv);
	kfree(late);
}

static bool rcm_cm_destroy_late(struct rcm_id *priv, struct rcm_device *device,
				void *cm)
{
	struct rcm_late_cm *late = kzalloc(sizeof(*late), GFP_KERNEL);

	if (!late)
		return false;
	INIT_WORK(&late->work, rcm_cm_destroy_work);
	late->priv = rcm_id_get(priv);
	rcm_device_get(device);
	late->device = device;
	late->cm = cm;
	queue_work(rcm_wq, &late->work);
	return true;
}

/**
 * rcm_cm_destroy - let go of the transport's side of a connection
 * @priv: identifier that it was of
 * @device: its device
 * @cm: what was priv->cm
 *
 * ib_cm takes its reply back when it acts on a notice, which is a moment
 * later.  Destroyed in between, it waits for that reply's time-out, which the
 * peer may have made more than a minute.  When it ended the connection first,
 * it never acts on the notice: then a workqueue waits for it.
 *
 * Context: process; sleeps. The identifier's mutex is not held.
 */
void rcm_cm_destroy(struct rcm_id *priv, struct rcm_device *device, void *cm)
{
	bool acted = wait_var_event_timeout(&priv->notified,
					    /* Pairs with rcm_notify_done(). */
					    !smp_load_acquire(&priv->notified),
					    HZ);

	if (acted || !rcm_cm_destroy_late(priv, device, cm))
		device->transport->destroy(cm);
}
