// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Names looked up while the application does something else, and events that
 * the application writes itself.
 *
 * A look-up is a thread that calls rdma_getaddrinfo() and writes an event.  The
 * kernel's queue keeps the order, and poll(2) works as for any other event.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <rcm/librcm.h>

#include "rcm_user.h"

/**
 * struct rcm_resolution - a look-up of names
 * @id: identifier
 * @thread: does it
 * @node: as given
 * @service: as given
 * @hints: as given, with copies of what it points to; or NULL
 * @found: the result; valid when @done
 * @error: a negative errno when there is none; valid when @done
 * @done: the thread has written its event, or is about to
 * @joined: it was waited for
 */
struct rcm_resolution {
	struct rcm_id *id;
	pthread_t thread;
	char *node;
	char *service;
	struct rdma_addrinfo *hints;
	struct rdma_addrinfo *found;
	int error;
	bool done;
	bool joined;
};

static void rcm_resolution_free(struct rcm_resolution *res)
{
	if (res->hints) {
		free(res->hints->ai_src_addr);
		free(res->hints->ai_dst_addr);
		free(res->hints->ai_route);
		free(res->hints->ai_connect);
		free(res->hints);
	}
	rdma_freeaddrinfo(res->found);
	free(res->service);
	free(res->node);
	free(res);
}

static int rcm_dup_bytes(void **to, const void *from, size_t len)
{
	*to = NULL;
	if (!from || !len)
		return 0;
	*to = malloc(len);
	if (!*to)
		return -1;
	memcpy(*to, from, len);
	return 0;
}

static struct rdma_addrinfo *rcm_dup_hints(const struct rdma_addrinfo *from)
{
	struct rdma_addrinfo *to = malloc(sizeof(*to));
	int ret;

	if (!to)
		return NULL;
	*to = *from;
	ret = rcm_dup_bytes((void **)&to->ai_src_addr, from->ai_src_addr,
			    from->ai_src_len);
	ret |= rcm_dup_bytes((void **)&to->ai_dst_addr, from->ai_dst_addr,
			     from->ai_dst_len);
	ret |= rcm_dup_bytes(&to->ai_route, from->ai_route, from->ai_route_len);
	ret |= rcm_dup_bytes(&to->ai_connect, from->ai_connect,
			     from->ai_connect_len);
	if (!ret)
		return to;
	free(to->ai_src_addr);
	free(to->ai_dst_addr);
	free(to->ai_route);
	free(to->ai_connect);
	free(to);
	return NULL;
}

static struct rcm_resolution *
rcm_resolution_alloc(struct rcm_id *id, const char *node, const char *service,
		     const struct rdma_addrinfo *hints)
{
	struct rcm_resolution *res = calloc(1, sizeof(*res));

	if (!res)
		return NULL;
	res->id = id;
	res->node = node ? strdup(node) : NULL;
	res->service = service ? strdup(service) : NULL;
	res->hints = hints ? rcm_dup_hints(hints) : NULL;
	if ((node && !res->node) || (service && !res->service) ||
	    (hints && !res->hints)) {
		rcm_resolution_free(res);
		return NULL;
	}
	return res;
}

static int rcm_write_event(struct rcm_id *id, __u32 event, int status,
			   __u64 arg)
{
	struct rcm_write_event cmd = {
		.size = sizeof(cmd),
		.event = event,
		.status = status,
		.arg = arg,
	};

	if (rcm_id_need_handle(id))
		return -1;
	cmd.handle = rcm_id_handle(id);
	return rcm_id_ioctl(id, RCM_WRITE_EVENT, &cmd);
}

/* The status of the event: a negative errno, or the EAI_* code as it is. */
static int rcm_resolution_status(int ret, int error)
{
	return ret == -1 || ret == EAI_SYSTEM ? -error : ret;
}

/* For a call that waited: a negative errno in any case. */
static int rcm_resolution_errno(int ret, int error)
{
	switch (ret) {
	case 0:
		return 0;
	case -1:
	case EAI_SYSTEM:
		return -error;
	case EAI_MEMORY:
		return -ENOMEM;
	case EAI_AGAIN:
		return -EAGAIN;
	case EAI_FAMILY:
	case EAI_ADDRFAMILY:
		return -EAFNOSUPPORT;
	case EAI_NONAME:
	case EAI_NODATA:
	case EAI_SERVICE:
		return -ENOENT;
	case EAI_SOCKTYPE:
	case EAI_QPTYPE:
		return -EINVAL;
	default:
		return -EIO;
	}
}

/*
 * Somebody waits for the event: short of memory, try for a second. No longer,
 * as destroying the identifier waits for that.
 */
static void rcm_resolution_tell(struct rcm_id *id, int status, __u64 event)
{
	static const struct timespec pause = { .tv_nsec = 10000000 };
	int tries = 100;

	while (rcm_write_event(id, RCM_EVENT_INTERNAL, status, event) &&
	       errno == ENOMEM && --tries)
		nanosleep(&pause, NULL);
}

static void *rcm_resolution_run(void *arg)
{
	struct rcm_resolution *res = arg;
	struct rcm_id *id = res->id;
	struct rdma_addrinfo *found = NULL;
	int ret, status, error;

	ret = rdma_getaddrinfo(res->node, res->service, res->hints, &found);
	error = errno;
	status = ret ? rcm_resolution_status(ret, error) : 0;
	pthread_mutex_lock(&id->lock);
	res->found = found;
	res->error = rcm_resolution_errno(ret, error);
	res->done = true;
	pthread_mutex_unlock(&id->lock);
	rcm_resolution_tell(id, status,
			    ret ? RCM_CM_EVENT_ADDRINFO_ERROR :
				  RCM_CM_EVENT_ADDRINFO_RESOLVED);
	return NULL;
}

/* The application's signals are not for this thread. */
static int rcm_resolution_start(struct rcm_resolution *res)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&res->thread, NULL, rcm_resolution_run, res);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ret;
}

static struct rcm_resolution *rcm_resolution_swap(struct rcm_id *id,
						  struct rcm_resolution *res)
{
	struct rcm_resolution *old;

	pthread_mutex_lock(&id->lock);
	old = id->resolution;
	id->resolution = res;
	pthread_mutex_unlock(&id->lock);
	return old;
}

/**
 * rcm_resolution_wait - wait for a look-up, and keep what it found
 * @id: identifier, of which no other thread waits for or starts one
 *
 * Its event is written when the call returns.
 */
void rcm_resolution_wait(struct rcm_id *id)
{
	struct rcm_resolution *res;

	pthread_mutex_lock(&id->lock);
	res = id->resolution;
	pthread_mutex_unlock(&id->lock);
	if (!res || res->joined)
		return;
	pthread_join(res->thread, NULL);
	res->joined = true;
}

/**
 * rcm_resolution_stop - wait for a look-up, and forget it
 * @id: as for rcm_resolution_wait()
 */
void rcm_resolution_stop(struct rcm_id *id)
{
	struct rcm_resolution *res;

	rcm_resolution_wait(id);
	res = rcm_resolution_swap(id, NULL);
	if (res)
		rcm_resolution_free(res);
}

static bool rcm_resolution_busy(struct rcm_id *id)
{
	bool busy;

	pthread_mutex_lock(&id->lock);
	busy = id->resolution && !id->resolution->done;
	pthread_mutex_unlock(&id->lock);
	return busy;
}

/**
 * rdma_resolve_addrinfo - translate names and services, and report when done
 * @id: identifier
 * @node: as for rdma_getaddrinfo()
 * @service: as for rdma_getaddrinfo()
 * @hints: as for rdma_getaddrinfo()
 *
 * RDMA_CM_EVENT_ADDRINFO_RESOLVED follows, and rdma_query_addrinfo() has the
 * result; or RDMA_CM_EVENT_ADDRINFO_ERROR, whose status is a negative errno or
 * the EAI_* code that rdma_getaddrinfo() gave.  A result of before is
 * forgotten.  Does not wait unless the identifier is synchronous.
 * rdma_destroy_id() waits for the name servers.
 *
 * Follows rdma_resolve_addrinfo(3).
 *
 * Return: 0, or -1 with errno: EINVAL (@id is NULL, or all others are), EBUSY
 * (one is under way), EOPNOTSUPP (RAI_SA: no InfiniBand port), ENOMEM, EMFILE,
 * EAGAIN (no thread); synchronously also that of rdma_getaddrinfo(), and for its
 * EAI_* codes ENOENT (no such name, service or address), EAFNOSUPPORT, EAGAIN,
 * ENOMEM, EINVAL (types that do not go together), EIO (any other).
 */
int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node,
			  const char *service,
			  const struct rdma_addrinfo *hints)
{
	struct rcm_resolution *res;
	struct rcm_id *priv;
	int ret;

	if (!id || (!node && !service && !hints))
		return rcm_fail(EINVAL);
	priv = to_rcm_id(id);
	if (hints && (hints->ai_flags & RAI_SA))
		return rcm_fail(hints->ai_flags & RAI_DNS ? EINVAL :
							    EOPNOTSUPP);
	if (rcm_resolution_busy(priv))
		return rcm_fail(EBUSY);
	if (rcm_id_need_handle(priv))
		return -1;
	rcm_resolution_stop(priv);
	res = rcm_resolution_alloc(priv, node, service, hints);
	if (!res)
		return rcm_fail(ENOMEM);
	rcm_resolution_swap(priv, res);
	ret = rcm_resolution_start(res);
	if (ret) {
		rcm_resolution_swap(priv, NULL);
		rcm_resolution_free(res);
		return rcm_fail(ret);
	}
	ret = rcm_complete(priv);
	if (ret && res->done && res->error)
		errno = -res->error;
	return ret;
}

/**
 * rdma_query_addrinfo - what rdma_resolve_addrinfo() found
 * @id: identifier
 * @info: where to put the list, for rdma_freeaddrinfo()
 *
 * Follows rdma_query_addrinfo(3).  Does not wait.
 *
 * Return: 0, or -1 with errno: EINVAL (NULL), ENODATA (nothing was found, or
 * not yet), ENOMEM.
 */
int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info)
{
	struct rdma_addrinfo *copy = NULL;
	struct rcm_id *priv;
	int error = ENODATA;

	if (!id || !info)
		return rcm_fail(EINVAL);
	priv = to_rcm_id(id);
	pthread_mutex_lock(&priv->lock);
	if (priv->resolution && priv->resolution->done &&
	    priv->resolution->found) {
		copy = rcm_addrinfo_dup(priv->resolution->found);
		error = ENOMEM;
	}
	pthread_mutex_unlock(&priv->lock);
	if (!copy)
		return rcm_fail(error);
	*info = copy;
	return 0;
}

/**
 * rdma_write_cm_event - put an event into the channel of an identifier
 * @id: identifier
 * @event: RDMA_CM_EVENT_USER
 * @status: the event's status
 * @arg: the event's param.arg; rcm_event_arg() reads it where the header does
 *	not know that member
 *
 * The event comes after those that are there already.  Does not wait.
 *
 * Follows rdma_write_cm_event(3).
 *
 * Return: 0, or -1 with errno: EINVAL (NULL, another event), ENOBUFS (64 of
 * them were not read yet), ENOMEM, EMFILE.
 */
int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type event,
			int status, uint64_t arg)
{
	if (!id || event != RCM_CM_EVENT_USER)
		return rcm_fail(EINVAL);
	return rcm_write_event(to_rcm_id(id), RCM_EVENT_USER, status, arg);
}
