// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Translation without an identifier that anybody sees: for rdma_getaddrinfo().
 */
#include <linux/completion.h>

#include "rcm_priv.h"

struct rcm_translation {
	struct completion done;
	int status;
};

/* Takes the events that tell how far it came. */
static int rcm_translate_handler(struct rdma_cm_id *id,
				 struct rdma_cm_event *event)
{
	struct rcm_translation *translation = id->context;

	if (event->event == RDMA_CM_EVENT_ADDR_RESOLVED)
		return 0;
	/* The device goes, now or after it came to its end. */
	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
		translation->status = translation->status ?: -ENODEV;
	else
		translation->status = event->status;
	complete(&translation->done);
	return 0;
}

/**
 * rcm_translate - where a connection to a destination would go
 * @net: namespace
 * @src: local address, or family 0
 * @dst: destination address and port
 * @timeout_ms: how long to wait for the neighbour, milliseconds
 * @to: written whole on success
 *
 * The same steps as for a connection are taken by an identifier of its own,
 * which is gone when the call returns.
 *
 * Context: process; waits for the network, until a signal.
 * Return: 0; the errors of rcm_id_resolve_addr() and rcm_id_resolve_route();
 * -ETIMEDOUT; -EINTR.
 */
int rcm_translate(struct net *net, const union rcm_addr *src,
		  const union rcm_addr *dst, unsigned int timeout_ms,
		  struct rcm_endpoint *to)
{
	struct rcm_translation translation = {};
	struct rcm_id *priv;
	int ret;

	init_completion(&translation.done);
	priv = rcm_id_create(net, rcm_translate_handler, &translation,
			     RDMA_PS_TCP, IB_QPT_RC, true);
	if (IS_ERR(priv))
		return PTR_ERR(priv);

	mutex_lock(&priv->mutex);
	priv->route_follows = true;
	ret = rcm_id_resolve_addr(priv, src, dst, timeout_ms);
	mutex_unlock(&priv->mutex);
	if (ret)
		goto out;
	if (wait_for_completion_interruptible(&translation.done)) {
		ret = -EINTR;
		goto out;
	}

	mutex_lock(&priv->mutex);
	ret = translation.status;
	if (!ret)
		rcm_id_endpoint(priv, to);
	mutex_unlock(&priv->mutex);
	if (ret)
		goto out;
	/* The port is given back, so it means nothing. */
	((struct sockaddr_in *)&to->src)->sin_port = 0;
out:
	rcm_id_destroy(priv);
	return ret;
}
