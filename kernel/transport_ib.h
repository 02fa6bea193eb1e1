/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The two halves of the ib_cm transport: connections (transport_ib.c) and
 * datagrams (transport_ib_ud.c).
 */
#ifndef RCM_TRANSPORT_IB_H
#define RCM_TRANSPORT_IB_H

#include <rdma/ib_cm.h>

#include "rcm_priv.h"

/*
 * 4.096 us * 2^20 is 4.3 s, and 15 times again: what the in-tree manager
 * asks for, so that each side waits for the other as long as it expects.
 */
#define RCM_IB_RESPONSE_TIMEOUT 20
/* 4.096 us * 2^12 is 17 ms: a busy peer needs as long. */
#define RCM_IB_MIN_TIMEOUT 12

int rcm_ib_handler(struct ib_cm_id *cm, const struct ib_cm_event *ib);
u8 rcm_ib_timeout(struct rcm_id *priv);
__be64 rcm_ib_service_id(struct rcm_id *priv);

int rcm_ib_ud_connect(struct rcm_id *priv, const struct rdma_conn_param *conn);
int rcm_ib_ud_accept(struct rcm_id *priv, const struct rdma_conn_param *conn);
int rcm_ib_ud_reject(struct rcm_id *priv, const void *data, u8 len);
enum rcm_op rcm_ib_ud_ah(struct rcm_id *priv, const struct ib_cm_event *ib,
			 struct rdma_cm_event *event);
void rcm_ib_ud_rep_event(struct rcm_id *priv, const struct ib_cm_event *ib,
			 struct rdma_cm_event *event);
void rcm_ib_ud_req_event(const struct ib_cm_event *ib,
			 struct rdma_cm_event *event);

#endif /* RCM_TRANSPORT_IB_H */
