// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Synchronous operation, and endpoints, which are built from it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_verbs.h>

#include "rcm_user.h"

/* No operation ends with one of these. */
static bool rcm_event_unrelated(enum rdma_cm_event_type event)
{
	return event == RDMA_CM_EVENT_TIMEWAIT_EXIT ||
	       event == RDMA_CM_EVENT_ADDR_CHANGE;
}

/**
 * rcm_complete - wait for the event that ends an operation
 * @id: identifier; returns at once when it is not synchronous
 *
 * The event is in @id's event member afterwards, until the next operation.
 *
 * Return: 0, or -1 with errno, the event's where it reports a failure.
 */
int rcm_complete(struct rcm_id *id)
{
	int error;

	if (!id->sync)
		return 0;
	do {
		rcm_drop_event(id);
		if (rdma_get_cm_event(id->id.channel, &id->id.event))
			return -1;
	} while (rcm_event_unrelated(id->id.event->event));
	error = rcm_event_errno(id->id.event);
	return error ? rcm_fail(error) : 0;
}

static int rcm_request_qp(const struct rcm_id *listener, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr;

	if (!listener->ep_attr)
		return 0;
	attr = *listener->ep_attr;
	return rdma_create_qp(id, listener->ep_pd, &attr);
}

/**
 * rdma_get_request - wait for a connection request
 * @listen: synchronous identifier that listens
 * @id: where to put the request's identifier, which is synchronous too and has
 *	the event in its event member
 *
 * Has a queue pair when @listen was made by rdma_create_ep() with attributes
 * for it.  Waits.
 *
 * Follows rdma_get_request(3).
 *
 * Return: 0, or -1 with errno: EINVAL (NULL, @listen is not synchronous, or an
 * event came that is no request), ENODEV (device is gone), those of
 * rdma_get_cm_event() and rdma_create_qp().
 */
int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id)
{
	struct rdma_cm_event *event;
	int error;

	if (!listen || !id || !to_rcm_id(listen)->sync)
		return rcm_fail(EINVAL);
	rcm_drop_event(to_rcm_id(listen));
	if (rdma_get_cm_event(listen->channel, &event))
		return -1;
	error = rcm_event_errno(event);
	if (error)
		goto err_event;
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
		error = EINVAL;
		if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
			error = ENODEV;
		goto err_event;
	}
	if (rcm_request_qp(to_rcm_id(listen), event->id)) {
		error = errno;
		rdma_destroy_id(event->id);
		rdma_ack_cm_event(event);
		return rcm_fail(error);
	}
	*id = event->id;
	(*id)->event = event;
	return 0;

err_event:
	listen->event = event;
	return rcm_fail(error);
}

static int rcm_ep_passive(struct rcm_id *id, struct rdma_addrinfo *res,
			  struct ibv_qp_init_attr *attr)
{
	if (attr) {
		id->ep_attr = malloc(sizeof(*attr));
		if (!id->ep_attr)
			return rcm_fail(ENOMEM);
		*id->ep_attr = *attr;
		id->ep_attr->qp_type = res->ai_qp_type;
	}
	return rdma_bind_addr(&id->id, res->ai_src_addr);
}

static int rcm_ep_connect_data(struct rcm_id *id, struct rdma_addrinfo *res)
{
	if (!res->ai_connect_len)
		return 0;
	if (res->ai_connect_len > UINT8_MAX)
		return rcm_fail(EINVAL);
	id->connect_data = malloc(res->ai_connect_len);
	if (!id->connect_data)
		return rcm_fail(ENOMEM);
	memcpy(id->connect_data, res->ai_connect, res->ai_connect_len);
	id->connect_len = res->ai_connect_len;
	return 0;
}

static int rcm_ep_route(struct rcm_id *id, struct rdma_addrinfo *res)
{
	if (!res->ai_route_len)
		return rdma_resolve_route(&id->id, RCM_DEFAULT_TIMEOUT_MS);
	if (rdma_set_option(&id->id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH,
			    res->ai_route, res->ai_route_len))
		return -1;
	return rcm_complete(id);
}

static int rcm_ep_active(struct rcm_id *id, struct rdma_addrinfo *res,
			 struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr copy;
	int ret;

	if (rdma_resolve_addr(&id->id,
			      res->ai_src_len ? res->ai_src_addr : NULL,
			      res->ai_dst_addr, RCM_DEFAULT_TIMEOUT_MS) ||
	    rcm_ep_route(id, res) || rcm_ep_connect_data(id, res))
		return -1;
	if (!attr)
		return 0;
	copy = *attr;
	copy.qp_type = res->ai_qp_type;
	ret = rdma_create_qp(&id->id, NULL, &copy);
	if (!ret)
		attr->cap = copy.cap;
	return ret;
}

/**
 * rdma_create_ep - make a synchronous identifier for an address
 * @id: where to put the identifier
 * @res: from rdma_getaddrinfo(); the first of the list is used
 * @pd: protection domain for what is made on the identifier, left in id->pd; or
 *	NULL for the default one
 * @qp_init_attr: attributes of a queue pair, or NULL for none; its qp_type is
 *	not used, res->ai_qp_type is; on return its cap is what it has
 *
 * For an active @res the address and the route are resolved and the queue pair
 * is made: rdma_connect() comes next.  For one with RAI_PASSIVE the identifier
 * is bound, rdma_listen() comes next, and the requests got by
 * rdma_get_request() have queue pairs.  Waits.
 *
 * Follows rdma_create_ep(3).
 *
 * Return: 0, or -1 with errno: EINVAL (NULL, no address), and those of
 * rdma_create_id(), rdma_bind_addr(), rdma_resolve_addr(),
 * rdma_resolve_route() and rdma_create_qp().
 */
int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res,
		   struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr)
{
	struct rcm_id *priv;
	int error, ret;

	if (!id || !res)
		return rcm_fail(EINVAL);
	if (rcm_id_create(NULL, &priv, NULL, res->ai_port_space,
			  res->ai_qp_type))
		return -1;
	priv->ep_pd = pd;
	priv->id.pd = pd;
	if (res->ai_flags & RAI_PASSIVE)
		ret = rcm_ep_passive(priv, res, qp_init_attr);
	else
		ret = rcm_ep_active(priv, res, qp_init_attr);
	if (ret) {
		error = errno;
		rdma_destroy_ep(&priv->id);
		return rcm_fail(error);
	}
	*id = &priv->id;
	return 0;
}

/**
 * rdma_destroy_ep - destroy an identifier and what was made on it
 * @id: identifier, or NULL
 *
 * Destroys its queue pair and its shared receive queue, and waits as
 * rdma_destroy_id() does.
 *
 * Follows rdma_destroy_ep(3).
 */
void rdma_destroy_ep(struct rdma_cm_id *id)
{
	if (!id)
		return;
	rdma_destroy_qp(id);
	rdma_destroy_srq(id);
	rdma_destroy_id(id);
}
