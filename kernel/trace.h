/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Tracepoints: every change of state, every event handed up, every failure.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rcm

#if !defined(RCM_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define RCM_TRACE_H

#include <linux/tracepoint.h>

#include "rcm_priv.h"

/* clang-format off */

TRACE_EVENT(rcm_state,
	TP_PROTO(struct rcm_id *priv, enum rcm_op op, enum rcm_state from,
		 int next),
	TP_ARGS(priv, op, from, next),
	TP_STRUCT__entry(
		__field(u32, number)
		__field(int, op)
		__field(int, from)
		__field(int, to)
		__field(int, err)
		__array(unsigned char, src, sizeof(struct sockaddr_in6))
		__array(unsigned char, dst, sizeof(struct sockaddr_in6))
	),
	TP_fast_assign(
		__entry->number = priv->number;
		__entry->op = op;
		__entry->from = from;
		__entry->to = next < 0 ? from : next;
		__entry->err = next < 0 ? next : 0;
		memcpy(__entry->src, rcm_src(priv), sizeof(struct sockaddr_in6));
		memcpy(__entry->dst, rcm_dst(priv), sizeof(struct sockaddr_in6));
	),
	TP_printk("id=%u op=%s from=%s to=%s src=%pISpc dst=%pISpc err=%d",
		  __entry->number, rcm_op_name(__entry->op),
		  rcm_state_name(__entry->from), rcm_state_name(__entry->to),
		  __entry->src, __entry->dst, __entry->err)
);

TRACE_EVENT(rcm_event,
	TP_PROTO(struct rcm_id *priv, const struct rdma_cm_event *event),
	TP_ARGS(priv, event),
	TP_STRUCT__entry(
		__field(u32, number)
		__field(int, event)
		__field(int, status)
		__field(u32, step)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->number = priv->number;
		__entry->event = event->event;
		__entry->status = event->status;
		__entry->step = priv->reason.step;
		__entry->error = priv->reason.error;
	),
	TP_printk("id=%u event=%d status=%d step=%u error=%d",
		  __entry->number, __entry->event, __entry->status,
		  __entry->step, __entry->error)
);

TRACE_EVENT(rcm_reason,
	TP_PROTO(struct rcm_id *priv, const struct rcm_reason *reason),
	TP_ARGS(priv, reason),
	TP_STRUCT__entry(
		__field(u32, number)
		__field(u32, step)
		__field(int, error)
		__field(u32, ifindex)
		__field(u32, detail)
	),
	TP_fast_assign(
		__entry->number = priv->number;
		__entry->step = reason->step;
		__entry->error = reason->error;
		__entry->ifindex = reason->ifindex;
		__entry->detail = reason->detail;
	),
	TP_printk("id=%u %s: error=%d ifindex=%u detail=%u",
		  __entry->number, rcm_step_text(__entry->step),
		  __entry->error, __entry->ifindex, __entry->detail)
);

/* clang-format on */

#endif /* RCM_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
