// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Datagrams by ib_cm: service ID resolution (SIDR). One request, one reply,
 * and the asking side knows queue pair, Q_Key and address vector of the other.
 * IBTA specification volume 1, section 12.11.
 */
#include <rdma/ib_sa.h>

#include "transport_ib.h"
#include "wire.h"

int rcm_ib_ud_connect(struct rcm_id *priv, const struct rdma_conn_param *conn)
{
	u8 data[IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE] = {};
	struct ib_cm_sidr_req_param req = {
		.path = &priv->peer->path,
		.sgid_attr = priv->sgid_attr,
		.service_id = rcm_ib_service_id(priv),
		/* 4.096 us * 2^n, in milliseconds */
		.timeout_ms = 1UL << (rcm_ib_timeout(priv) - 8),
		.private_data = data,
		.private_data_len =
			sizeof(struct rcm_wire_hdr) + conn->private_data_len,
		.max_cm_retries = priv->connect_tries - 1,
	};
	struct ib_cm_id *cm;
	int ret;

	rcm_wire_put((struct rcm_wire_hdr *)data, rcm_src(priv), rcm_dst(priv));
	if (conn->private_data_len)
		memcpy(data + sizeof(struct rcm_wire_hdr), conn->private_data,
		       conn->private_data_len);

	cm = ib_create_cm_id(priv->device->ib, rcm_ib_handler, priv);
	if (IS_ERR(cm))
		return PTR_ERR(cm);

	ret = ib_send_cm_sidr_req(cm, &req);
	if (ret) {
		/* Nothing was sent, so no callback runs that wants our mutex. */
		ib_destroy_cm_id(cm);
		return ret;
	}
	priv->cm = cm;
	return 0;
}

int rcm_ib_ud_accept(struct rcm_id *priv, const struct rdma_conn_param *conn)
{
	struct ib_cm_sidr_rep_param rep = {
		.qp_num = priv->qp_num,
		.qkey = priv->qkey,
		.status = IB_SIDR_SUCCESS,
		.private_data = conn->private_data,
		.private_data_len = conn->private_data_len,
		.ece = priv->ece,
	};

	return ib_send_cm_sidr_rep(priv->cm, &rep);
}

int rcm_ib_ud_reject(struct rcm_id *priv, const void *data, u8 len)
{
	struct ib_cm_sidr_rep_param rep = {
		.status = IB_SIDR_REJECT,
		.private_data = data,
		.private_data_len = len,
	};

	return ib_send_cm_sidr_rep(priv->cm, &rep);
}

/**
 * rcm_ib_ud_ah - make the address vector of a peer that said yes
 * @priv: identifier that waits for the reply, with its mutex held
 * @ib: the reply
 * @event: has it, with a reference, when that is possible; otherwise the
 *	status says why not
 *
 * Return: what the reply amounts to: without address vector it is none.
 */
enum rcm_op rcm_ib_ud_ah(struct rcm_id *priv, const struct ib_cm_event *ib,
			 struct rdma_cm_event *event)
{
	event->status = ib_init_ah_attr_from_path(
		priv->device->ib, priv->id.port_num, &priv->peer->path,
		&event->param.ud.ah_attr, ib->param.sidr_rep_rcvd.sgid_attr);
	return event->status ? RCM_OP_NO_ANSWER : RCM_OP_CONNECTED;
}

/* The peer's reply; a refusal is told as the status of UNREACHABLE. */
void rcm_ib_ud_rep_event(struct rcm_id *priv, const struct ib_cm_event *ib,
			 struct rdma_cm_event *event)
{
	const struct ib_cm_sidr_rep_event_param *rep = &ib->param.sidr_rep_rcvd;

	event->param.ud.private_data = ib->private_data;
	event->param.ud.private_data_len = IB_CM_SIDR_REP_PRIVATE_DATA_SIZE;
	if (rep->status != IB_SIDR_SUCCESS) {
		event->event = RDMA_CM_EVENT_UNREACHABLE;
		event->status = rep->status;
		rcm_id_blame(priv, RCM_STEP_REJECTED, -ECONNREFUSED,
			     rep->status);
		return;
	}

	event->event = RDMA_CM_EVENT_ESTABLISHED;
	event->param.ud.qp_num = rep->qpn;
	event->param.ud.qkey = rep->qkey;
}

void rcm_ib_ud_req_event(const struct ib_cm_event *ib,
			 struct rdma_cm_event *event)
{
	event->event = RDMA_CM_EVENT_CONNECT_REQUEST;
	event->param.ud.private_data =
		ib->private_data + sizeof(struct rcm_wire_hdr);
	event->param.ud.private_data_len = RCM_WIRE_SIDR_REQ_DATA;
}
