/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What librcm offers beyond the functions of <rdma/rdma_cma.h>.
 *
 * Link with -lrcm.  The drop-in librdmacm.so.1 exports exactly librdmacm's
 * names, and so none of these.
 */
#ifndef RCM_LIBRCM_H
#define RCM_LIBRCM_H

#include <netdb.h>

#include <rdma/rdma_cma.h>
#include <rdma/rcm.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * rdma_getaddrinfo() returns this when ai_qp_type and ai_port_space of the
 * hints do not go together, or one of them is unknown.  No libc defines it;
 * the value is outside of the range of those that they do.
 */
#ifndef EAI_QPTYPE
#define EAI_QPTYPE (-200)
#endif

/* Flags of rdma_getaddrinfo() that older <rdma/rdma_cma.h> have not. */
#ifndef RAI_SA
#define RAI_SA 0x00000010
#endif
#ifndef RAI_DNS
#define RAI_DNS 0x00000020
#endif

/*
 * rdma_set_option() with level RCM_OPTION, of <rdma/rcm.h>, before
 * rdma_connect(); each value is a uint32_t:
 *
 * RCM_OPTION_CONNECT_TIMEOUT: after how many milliseconds a connect without
 *	answer ends with RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT.  0, the default,
 *	leaves it to the number of tries.
 * RCM_OPTION_CONNECT_TRIES: how often the request is sent, 1 to 16 times, 16
 *	by default, 4.6 s apart (which makes 74 s) or shared out in the time
 *	that there is.
 */

/*
 * Functions and events that older <rdma/rdma_cma.h> do not declare.  Both
 * libraries have them, documented in user/resolve.c; that they are declared
 * again does no harm.
 */
#define RCM_CM_EVENT_ADDRINFO_RESOLVED ((enum rdma_cm_event_type)16)
#define RCM_CM_EVENT_ADDRINFO_ERROR    ((enum rdma_cm_event_type)17)
#define RCM_CM_EVENT_USER	       ((enum rdma_cm_event_type)RCM_EVENT_USER)

int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node,
			  const char *service,
			  const struct rdma_addrinfo *hints);
int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info);
int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type event,
			int status, uint64_t arg);

/* The value written with an RCM_CM_EVENT_USER. */
static inline __u64 rcm_event_arg(const struct rdma_cm_event *event)
{
	__u64 arg;

	__builtin_memcpy(&arg, &event->param, sizeof(arg));
	return arg;
}

/* Several events in one system call; documented in user/event.c. */
int rcm_get_cm_events(struct rdma_event_channel *channel,
		      struct rdma_cm_event **events, int max);

/* All of them are documented where they are defined, user/reason.c. */
const struct rcm_reason *rcm_event_reason(const struct rdma_cm_event *event);
int rcm_last_reason(struct rdma_cm_id *id, struct rcm_reason *reason);
const char *rcm_step_str(unsigned int step);
char *rcm_reason_str(const struct rcm_reason *reason, char *buf, size_t size);
const char *rcm_gai_strerror(int error);

#ifdef __cplusplus
}
#endif

#endif /* RCM_LIBRCM_H */
