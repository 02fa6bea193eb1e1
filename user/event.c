// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Events: read, understood, acknowledged.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rcm/librcm.h>

#include "rcm_user.h"

/* Something was read that is not for the application. */
#define RCM_NOTHING 1

static const char *const rcm_event_names[] = {
	[RDMA_CM_EVENT_ADDR_RESOLVED] = "RDMA_CM_EVENT_ADDR_RESOLVED",
	[RDMA_CM_EVENT_ADDR_ERROR] = "RDMA_CM_EVENT_ADDR_ERROR",
	[RDMA_CM_EVENT_ROUTE_RESOLVED] = "RDMA_CM_EVENT_ROUTE_RESOLVED",
	[RDMA_CM_EVENT_ROUTE_ERROR] = "RDMA_CM_EVENT_ROUTE_ERROR",
	[RDMA_CM_EVENT_CONNECT_REQUEST] = "RDMA_CM_EVENT_CONNECT_REQUEST",
	[RDMA_CM_EVENT_CONNECT_RESPONSE] = "RDMA_CM_EVENT_CONNECT_RESPONSE",
	[RDMA_CM_EVENT_CONNECT_ERROR] = "RDMA_CM_EVENT_CONNECT_ERROR",
	[RDMA_CM_EVENT_UNREACHABLE] = "RDMA_CM_EVENT_UNREACHABLE",
	[RDMA_CM_EVENT_REJECTED] = "RDMA_CM_EVENT_REJECTED",
	[RDMA_CM_EVENT_ESTABLISHED] = "RDMA_CM_EVENT_ESTABLISHED",
	[RDMA_CM_EVENT_DISCONNECTED] = "RDMA_CM_EVENT_DISCONNECTED",
	[RDMA_CM_EVENT_DEVICE_REMOVAL] = "RDMA_CM_EVENT_DEVICE_REMOVAL",
	[RDMA_CM_EVENT_MULTICAST_JOIN] = "RDMA_CM_EVENT_MULTICAST_JOIN",
	[RDMA_CM_EVENT_MULTICAST_ERROR] = "RDMA_CM_EVENT_MULTICAST_ERROR",
	[RDMA_CM_EVENT_ADDR_CHANGE] = "RDMA_CM_EVENT_ADDR_CHANGE",
	[RDMA_CM_EVENT_TIMEWAIT_EXIT] = "RDMA_CM_EVENT_TIMEWAIT_EXIT",
	[RCM_CM_EVENT_ADDRINFO_RESOLVED] = "RDMA_CM_EVENT_ADDRINFO_RESOLVED",
	[RCM_CM_EVENT_ADDRINFO_ERROR] = "RDMA_CM_EVENT_ADDRINFO_ERROR",
	[RCM_CM_EVENT_USER] = "RDMA_CM_EVENT_USER",
};

/**
 * rdma_event_str - name of an event
 * @event: type of event
 *
 * Follows rdma_event_str(3).
 *
 * Return: the name as in <rdma/rdma_cma.h>, "UNKNOWN EVENT" for no event.
 * Never NULL.
 */
const char *rdma_event_str(enum rdma_cm_event_type event)
{
	if ((unsigned int)event >= RCM_ARRAY_SIZE(rcm_event_names))
		return "UNKNOWN EVENT";
	return rcm_event_names[event];
}

static void rcm_copy_conn(struct rcm_cm_event *evt,
			  const struct rcm_conn_param *from)
{
	struct rdma_conn_param *to = &evt->event.param.conn;

	/* The field of <rdma/rdma_cma.h> has eight bits. */
	to->private_data_len =
		from->private_data_len > 0xff ? 0xff : from->private_data_len;
	if (to->private_data_len) {
		memcpy(evt->private_data, from->private_data,
		       to->private_data_len);
		to->private_data = evt->private_data;
	}
	to->responder_resources = from->responder_resources;
	to->initiator_depth = from->initiator_depth;
	to->flow_control = from->flow_control;
	to->retry_count = from->retry_count;
	to->rnr_retry_count = from->rnr_retry_count;
	to->srq = from->srq;
	to->qp_num = from->qp_num;
}

static void rcm_copy_ud(struct rcm_cm_event *evt, const struct rcm_event *in)
{
	struct rdma_ud_param *to = &evt->event.param.ud;
	const struct rcm_conn_param *from = &in->out_conn;

	to->private_data_len =
		from->private_data_len > 0xff ? 0xff : from->private_data_len;
	if (to->private_data_len) {
		memcpy(evt->private_data, from->private_data,
		       to->private_data_len);
		to->private_data = evt->private_data;
	}
	rcm_copy_ah(&to->ah_attr, &in->out_qp.ah);
	to->qp_num = from->qp_num;
	to->qkey = from->qkey;
}

static void rcm_note_qp(struct rcm_id *id, const struct rcm_qp_attr *attr)
{
	if (attr->init_mask || attr->rtr_mask || attr->rts_mask)
		id->qp_attr = *attr;
}

static void rcm_destroy_handle(struct rcm_channel *ch, __u32 handle)
{
	struct rcm_destroy_id cmd = {
		.size = sizeof(cmd),
		.handle = handle,
	};

	rcm_ioctl(ch->channel.fd, RCM_DESTROY_ID, &cmd);
}

/*
 * Makes the identifier of a request.  A request that we cannot give to the
 * application is refused, which destroying its identifier does.
 */
static struct rcm_id *rcm_request_id(struct rcm_channel *ch,
				     struct rcm_id *listener,
				     const struct rcm_event *in)
{
	struct rcm_id *id;

	id = rcm_id_create_child(ch, listener, in->out_new_handle);
	if (!id) {
		rcm_destroy_handle(ch, in->out_new_handle);
		return NULL;
	}
	rcm_note_qp(id, &in->out_qp);
	id->remote_ece = in->out_ece;
	id->responder_resources = in->out_conn.responder_resources;
	id->initiator_depth = in->out_conn.initiator_depth;
	if (rcm_id_apply(id, &in->out_endpoint) ||
	    (listener->sync && rdma_migrate_id(&id->id, NULL))) {
		rdma_destroy_id(&id->id);
		return NULL;
	}
	return id;
}

static int rcm_on_request(struct rcm_channel *ch, const struct rcm_event *in,
			  struct rcm_cm_event *evt)
{
	struct rcm_id *listener = evt->ref->id;
	struct rcm_id *id = rcm_request_id(ch, listener, in);

	if (!id) {
		rcm_ref_ack(evt->ref);
		return RCM_NOTHING;
	}
	evt->event.id = &id->id;
	evt->event.listen_id = &listener->id;
	return 0;
}

static int rcm_establish(struct rcm_channel *ch, struct rcm_ref *ref)
{
	struct rcm_establish cmd = {
		.size = sizeof(cmd),
		.handle = ref->handle,
	};

	if (rcm_qp_connect(ref->id))
		return -1;
	return rcm_ioctl(ch->channel.fd, RCM_ESTABLISH, &cmd);
}

static void rcm_refuse(struct rcm_channel *ch, struct rcm_ref *ref)
{
	struct rcm_reject cmd = {
		.size = sizeof(cmd),
		.handle = ref->handle,
	};

	rcm_ioctl(ch->channel.fd, RCM_REJECT, &cmd);
}

/* With a queue pair the library finishes the handshake by itself. */
static void rcm_on_response(struct rcm_channel *ch, const struct rcm_event *in,
			    struct rcm_cm_event *evt)
{
	struct rcm_id *id = evt->ref->id;
	int error;

	id->remote_ece = in->out_ece;
	if (!id->id.qp)
		return;
	id->responder_resources = in->out_qp.max_dest_rd_atomic;
	id->initiator_depth = in->out_qp.max_rd_atomic;
	if (id->responder_resources > id->dev->max_responder_resources)
		id->responder_resources = id->dev->max_responder_resources;
	if (id->initiator_depth > id->dev->max_initiator_depth)
		id->initiator_depth = id->dev->max_initiator_depth;
	if (!rcm_establish(ch, evt->ref)) {
		evt->event.event = RDMA_CM_EVENT_ESTABLISHED;
		id->connected = true;
		return;
	}
	error = errno;
	rcm_last_reason(&id->id, &evt->reason);
	rcm_refuse(ch, evt->ref);
	rcm_id_set_reason(id, &evt->reason);
	rcm_qp_error(id);
	id->connect_failed = true;
	evt->event.event = RDMA_CM_EVENT_CONNECT_ERROR;
	evt->event.status = -error;
}

static void rcm_on_resolved(const struct rcm_event *in,
			    struct rcm_cm_event *evt,
			    enum rdma_cm_event_type failure)
{
	if (!rcm_id_apply(evt->ref->id, &in->out_endpoint))
		return;
	evt->event.event = failure;
	evt->event.status = -errno;
	rcm_last_reason(&evt->ref->id->id, &evt->reason);
}

/*
 * False for what the peer did that made the connect fail: the application has
 * its answer.
 */
static bool rcm_on_event(struct rcm_channel *ch, const struct rcm_event *in,
			 struct rcm_cm_event *evt)
{
	struct rcm_id *id = evt->ref->id;

	if (id->connect_failed &&
	    (evt->event.event == RDMA_CM_EVENT_REJECTED ||
	     evt->event.event == RDMA_CM_EVENT_DISCONNECTED))
		return false;
	rcm_note_qp(id, &in->out_qp);
	switch (evt->event.event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		rcm_on_resolved(in, evt, RDMA_CM_EVENT_ADDR_ERROR);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		rcm_on_resolved(in, evt, RDMA_CM_EVENT_ROUTE_ERROR);
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		rcm_on_response(ch, in, evt);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		id->connected = !rcm_id_is_ud(id);
		break;
	case RDMA_CM_EVENT_REJECTED:
		rcm_qp_error(id);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		id->connected = true;
		id->disconnected = true;
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		rcm_device_gone(id->dev);
		break;
	default:
		break;
	}
	return true;
}

/* False when the application left the group before it heard that it joined. */
static bool rcm_on_multicast(const struct rcm_event *in,
			     struct rcm_cm_event *evt)
{
	if (in->out_event != RDMA_CM_EVENT_MULTICAST_JOIN)
		return true;
	return rcm_mcast_joined(evt, in->out_new_handle, &in->out_qp.ah);
}

/*
 * Not of the kernel's making.  RCM_EVENT_INTERNAL carries which event of the
 * library's it stands for.
 */
static void rcm_on_written(const struct rcm_event *in, struct rcm_cm_event *evt)
{
	__u64 arg;

	memcpy(&arg, in->out_conn.private_data, sizeof(arg));
	memset(&evt->event.param, 0, sizeof(evt->event.param));
	if (in->out_event == RCM_EVENT_INTERNAL)
		evt->event.event = arg;
	else
		memcpy(&evt->event.param, &arg, sizeof(arg));
	if (evt->event.event == RCM_CM_EVENT_ADDRINFO_ERROR)
		evt->reason.step = RCM_STEP_NAME;
}

static int rcm_dispatch(struct rcm_channel *ch, const struct rcm_event *in,
			struct rcm_cm_event *evt)
{
	struct rcm_ref *ref;
	bool told;

	ref = rcm_channel_find(ch, in->out_handle, in->out_uid);
	if (!ref)
		return RCM_NOTHING;
	memset(&evt->event, 0, sizeof(evt->event));
	evt->ref = ref;
	evt->mcast = NULL;
	evt->reason = in->out_reason;
	/* Newer than what the library remembers. */
	if (evt->reason.step)
		rcm_id_no_reason(ref->id);
	evt->event.id = &ref->id->id;
	evt->event.event = in->out_event;
	evt->event.status = in->out_status;
	if (in->out_event >= RCM_EVENT_USER) {
		rcm_on_written(in, evt);
		return 0;
	}
	if (rcm_id_is_ud(ref->id))
		rcm_copy_ud(evt, in);
	else
		rcm_copy_conn(evt, &in->out_conn);
	if (in->out_event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return rcm_on_request(ch, in, evt);
	told = rcm_on_multicast(in, evt);
	if (told) {
		/* Another thread may have read the one before it just now. */
		pthread_mutex_lock(&ref->id->event_lock);
		told = rcm_on_event(ch, in, evt);
		pthread_mutex_unlock(&ref->id->event_lock);
	}
	if (told)
		return 0;
	rcm_ref_ack(ref);
	return RCM_NOTHING;
}

/*
 * librdmacm's wait is a read(), so that applications can end a thread in it by
 * pthread_cancel(3).  An ioctl() is no cancellation point; make it one.
 */
static int rcm_wait_ioctl(struct rcm_channel *ch, unsigned long nr, void *cmd,
			  int cancel_state)
{
	int ret, type;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	pthread_setcancelstate(cancel_state, NULL);
	ret = rcm_ioctl(ch->channel.fd, nr, cmd);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_setcanceltype(type, NULL);
	return ret;
}

static int rcm_wait_event(struct rcm_channel *ch, struct rcm_event *in,
			  int cancel_state)
{
	memset(in, 0, sizeof(*in));
	in->size = sizeof(*in);
	return rcm_wait_ioctl(ch, RCM_GET_EVENT, in, cancel_state);
}

/* How many, or -1 with errno. */
static int rcm_wait_events(struct rcm_channel *ch, struct rcm_event *in,
			   int count, int cancel_state)
{
	struct rcm_get_events cmd = {
		.size = sizeof(cmd),
		.count = count,
		.event_size = sizeof(*in),
		.events = (uintptr_t)in,
	};

	memset(in, 0, count * sizeof(*in));
	return rcm_wait_ioctl(ch, RCM_GET_EVENTS, &cmd, cancel_state);
}

/* So many are read in one call, with their memory at hand. */
#define RCM_BATCH 16

struct rcm_reader {
	struct rcm_channel *ch;
	struct rcm_cm_event *evt[RCM_BATCH]; /* to be filled in, then NULL */
	int count;
};

static void rcm_reader_end(void *arg)
{
	struct rcm_reader *reader = arg;
	int i;

	for (i = 0; i < reader->count; i++)
		free(reader->evt[i]);
	rcm_channel_put(reader->ch);
}

/* Memory for up to @max events; false when there is none for any. */
static bool rcm_reader_begin(struct rcm_reader *reader,
			     struct rdma_event_channel *channel, int max)
{
	if (max > RCM_BATCH)
		max = RCM_BATCH;
	for (reader->count = 0; reader->count < max; reader->count++) {
		reader->evt[reader->count] =
			calloc(1, sizeof(struct rcm_cm_event));
		if (!reader->evt[reader->count])
			break;
	}
	if (!reader->count)
		return false;
	reader->ch = to_rcm_channel(channel);
	rcm_channel_get(reader->ch);
	return true;
}

static int rcm_get_event(struct rcm_reader *reader)
{
	struct rcm_event in;
	int ret, state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	do {
		ret = rcm_wait_event(reader->ch, &in, state);
		if (!ret)
			ret = rcm_dispatch(reader->ch, &in, reader->evt[0]);
	} while (ret == RCM_NOTHING);
	pthread_setcancelstate(state, NULL);
	return ret;
}

/* How many there are for the application; their memory is @to's then. */
static int rcm_dispatch_all(struct rcm_reader *reader,
			    const struct rcm_event *in, int count,
			    struct rdma_cm_event **to)
{
	int i, n = 0;

	for (i = 0; i < count; i++) {
		if (rcm_dispatch(reader->ch, &in[i], reader->evt[i]))
			continue;
		to[n++] = &reader->evt[i]->event;
		reader->evt[i] = NULL;
	}
	return n;
}

static int rcm_get_events(struct rcm_reader *reader, struct rdma_cm_event **to)
{
	struct rcm_event in[RCM_BATCH];
	int ret, state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	do {
		ret = rcm_wait_events(reader->ch, in, reader->count, state);
		if (ret > 0)
			ret = rcm_dispatch_all(reader, in, ret, to);
	} while (!ret);
	pthread_setcancelstate(state, NULL);
	return ret;
}

/**
 * rdma_get_cm_event - take the next event
 * @channel: channel
 * @event: where to put the event; rdma_ack_cm_event() frees it
 *
 * Waits for one, unless channel->fd was set to O_NONBLOCK.  Finishes the
 * handshake of identifiers that have a queue pair, and leaves in the
 * identifier what the event says of addresses, device and path.  May be called
 * by several threads.  A cancellation point.
 *
 * Follows rdma_get_cm_event(3).
 *
 * Return: 0, or -1 with errno: EINVAL (NULL), EAGAIN (nothing there, and not
 * to wait), EINTR (a signal), EBADF (the channel is destroyed), ENOMEM.
 */
int rdma_get_cm_event(struct rdma_event_channel *channel,
		      struct rdma_cm_event **event)
{
	struct rcm_reader reader;
	int error, ret;

	if (!channel || !event)
		return rcm_fail(EINVAL);
	if (!rcm_reader_begin(&reader, channel, 1))
		return rcm_fail(ENOMEM);
	pthread_cleanup_push(rcm_reader_end, &reader);
	ret = rcm_get_event(&reader);
	error = errno;
	if (!ret) {
		*event = &reader.evt[0]->event;
		reader.evt[0] = NULL;
	}
	pthread_cleanup_pop(1);
	errno = error;
	return ret;
}

/**
 * rcm_get_cm_events - take the next events, in one system call
 * @channel: channel
 * @events: where to put the events; rdma_ack_cm_event() frees each
 * @max: how many there is room for
 *
 * As rdma_get_cm_event(), which may be used beside it.  Waits for the first
 * event, and takes those that are there, at most 16 of them.  All are understood
 * before it returns: the identifier of an earlier one may be past it already.
 * rdma_destroy_id() waits for all events of its identifier that were taken, so
 * acknowledge them first.
 *
 * Return: how many there are, at least one; or -1 with errno: EINVAL (NULL, or
 * @max below 1), and those of rdma_get_cm_event().
 */
int rcm_get_cm_events(struct rdma_event_channel *channel,
		      struct rdma_cm_event **events, int max)
{
	struct rcm_reader reader;
	int error, ret;

	if (!channel || !events || max < 1)
		return rcm_fail(EINVAL);
	if (!rcm_reader_begin(&reader, channel, max))
		return rcm_fail(ENOMEM);
	pthread_cleanup_push(rcm_reader_end, &reader);
	ret = rcm_get_events(&reader, events);
	error = errno;
	pthread_cleanup_pop(1);
	errno = error;
	return ret;
}

/**
 * rdma_ack_cm_event - free an event
 * @event: from rdma_get_cm_event()
 *
 * Does not wait.  What the event points to, its private data, goes with it.
 *
 * Follows rdma_ack_cm_event(3).
 *
 * Return: 0, or -1 with errno EINVAL (@event is NULL).
 */
int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	struct rcm_cm_event *evt;
	struct rcm_ref *ref;

	if (!event)
		return rcm_fail(EINVAL);
	evt = (struct rcm_cm_event *)event;
	ref = evt->ref;
	if (evt->mcast)
		rcm_mcast_ack(ref->id, evt->mcast);
	free(evt);
	rcm_ref_ack(ref);
	return 0;
}

/**
 * rcm_drop_event - acknowledge the event that a synchronous call left
 * @id: identifier
 */
void rcm_drop_event(struct rcm_id *id)
{
	struct rdma_cm_event *event = id->id.event;

	id->id.event = NULL;
	if (event)
		rdma_ack_cm_event(event);
}

/**
 * rcm_event_errno - an event's failure as an errno
 * @event: event
 *
 * Return: 0 when nothing failed, otherwise a positive errno: ECONNREFUSED when
 * the peer refused, for whatever reason (a datagram peer's refusal is
 * UNREACHABLE with the status of its reply); what the kernel said; or EPROTO when
 * that is a number of the device's own.
 */
int rcm_event_errno(const struct rdma_cm_event *event)
{
	int error = event->status < 0 ? -event->status : EPROTO;

	if (!event->status)
		return 0;
	if (event->event == RDMA_CM_EVENT_REJECTED ||
	    (event->event == RDMA_CM_EVENT_UNREACHABLE && event->status > 0))
		error = ECONNREFUSED;
	return error;
}
