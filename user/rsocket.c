// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * rsocket(7) is not provided.
 *
 * Programs name these functions even where they never make an rsocket, and
 * would not start without them.  rsocket() says EOPNOTSUPP.  Since there is no
 * rsocket, a descriptor given to any other function is an ordinary one: those
 * that librdmacm passes on for ordinary descriptors are passed on, the rest
 * say EBADF, as librdmacm does.
 */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/select.h>

#include <rdma/rsocket.h>

#include "rcm_user.h"

/**
 * rsocket - make an rsocket
 * @domain: not used
 * @type: not used
 * @protocol: not used
 *
 * Return: -1 with errno EOPNOTSUPP.
 */
int rsocket(int domain, int type, int protocol)
{
	(void)domain;
	(void)type;
	(void)protocol;
	return rcm_fail(EOPNOTSUPP);
}

/**
 * rpoll - wait for ordinary descriptors
 * @fds: descriptors
 * @nfds: their number
 * @timeout: milliseconds, -1 for ever
 *
 * Return: as poll(2).
 */
int rpoll(struct pollfd *fds, nfds_t nfds, int timeout)
{
	return poll(fds, nfds, timeout);
}

/**
 * rselect - wait for ordinary descriptors
 * @nfds: highest descriptor plus one
 * @readfds: to read from
 * @writefds: to write to
 * @exceptfds: for exceptional conditions
 * @timeout: how long, or NULL for ever
 *
 * Return: as select(2).
 */
int rselect(int nfds, fd_set *readfds, fd_set *writefds, fd_set *exceptfds,
	    struct timeval *timeout)
{
	return select(nfds, readfds, writefds, exceptfds, timeout);
}

/* The rest: no descriptor is an rsocket. */

int rbind(int socket, const struct sockaddr *addr, socklen_t addrlen)
{
	(void)socket;
	(void)addr;
	(void)addrlen;
	return rcm_fail(EBADF);
}

int rlisten(int socket, int backlog)
{
	(void)socket;
	(void)backlog;
	return rcm_fail(EBADF);
}

int raccept(int socket, struct sockaddr *addr, socklen_t *addrlen)
{
	(void)socket;
	(void)addr;
	(void)addrlen;
	return rcm_fail(EBADF);
}

int rconnect(int socket, const struct sockaddr *addr, socklen_t addrlen)
{
	(void)socket;
	(void)addr;
	(void)addrlen;
	return rcm_fail(EBADF);
}

int rshutdown(int socket, int how)
{
	(void)socket;
	(void)how;
	return rcm_fail(EBADF);
}

int rclose(int socket)
{
	(void)socket;
	return rcm_fail(EBADF);
}

ssize_t rrecv(int socket, void *buf, size_t len, int flags)
{
	(void)socket;
	(void)buf;
	(void)len;
	(void)flags;
	return rcm_fail(EBADF);
}

ssize_t rrecvfrom(int socket, void *buf, size_t len, int flags,
		  struct sockaddr *src_addr, socklen_t *addrlen)
{
	(void)socket;
	(void)buf;
	(void)len;
	(void)flags;
	(void)src_addr;
	(void)addrlen;
	return rcm_fail(EBADF);
}

ssize_t rrecvmsg(int socket, struct msghdr *msg, int flags)
{
	(void)socket;
	(void)msg;
	(void)flags;
	return rcm_fail(EBADF);
}

ssize_t rsend(int socket, const void *buf, size_t len, int flags)
{
	(void)socket;
	(void)buf;
	(void)len;
	(void)flags;
	return rcm_fail(EBADF);
}

ssize_t rsendto(int socket, const void *buf, size_t len, int flags,
		const struct sockaddr *dest_addr, socklen_t addrlen)
{
	(void)socket;
	(void)buf;
	(void)len;
	(void)flags;
	(void)dest_addr;
	(void)addrlen;
	return rcm_fail(EBADF);
}

ssize_t rsendmsg(int socket, const struct msghdr *msg, int flags)
{
	(void)socket;
	(void)msg;
	(void)flags;
	return rcm_fail(EBADF);
}

ssize_t rread(int socket, void *buf, size_t count)
{
	(void)socket;
	(void)buf;
	(void)count;
	return rcm_fail(EBADF);
}

ssize_t rreadv(int socket, const struct iovec *iov, int iovcnt)
{
	(void)socket;
	(void)iov;
	(void)iovcnt;
	return rcm_fail(EBADF);
}

ssize_t rwrite(int socket, const void *buf, size_t count)
{
	(void)socket;
	(void)buf;
	(void)count;
	return rcm_fail(EBADF);
}

ssize_t rwritev(int socket, const struct iovec *iov, int iovcnt)
{
	(void)socket;
	(void)iov;
	(void)iovcnt;
	return rcm_fail(EBADF);
}

int rgetpeername(int socket, struct sockaddr *addr, socklen_t *addrlen)
{
	(void)socket;
	(void)addr;
	(void)addrlen;
	return rcm_fail(EBADF);
}

int rgetsockname(int socket, struct sockaddr *addr, socklen_t *addrlen)
{
	(void)socket;
	(void)addr;
	(void)addrlen;
	return rcm_fail(EBADF);
}

int rsetsockopt(int socket, int level, int optname, const void *optval,
		socklen_t optlen)
{
	(void)socket;
	(void)level;
	(void)optname;
	(void)optval;
	(void)optlen;
	return rcm_fail(EBADF);
}

int rgetsockopt(int socket, int level, int optname, void *optval,
		socklen_t *optlen)
{
	(void)socket;
	(void)level;
	(void)optname;
	(void)optval;
	(void)optlen;
	return rcm_fail(EBADF);
}

int rfcntl(int socket, int cmd, ... /* arg */)
{
	(void)socket;
	(void)cmd;
	return rcm_fail(EBADF);
}

off_t riomap(int socket, void *buf, size_t len, int prot, int flags,
	     off_t offset)
{
	(void)socket;
	(void)buf;
	(void)len;
	(void)prot;
	(void)flags;
	(void)offset;
	return rcm_fail(EBADF);
}

int riounmap(int socket, void *buf, size_t len)
{
	(void)socket;
	(void)buf;
	(void)len;
	return rcm_fail(EBADF);
}

size_t riowrite(int socket, const void *buf, size_t count, off_t offset,
		int flags)
{
	(void)socket;
	(void)buf;
	(void)count;
	(void)offset;
	(void)flags;
	return rcm_fail(EBADF);
}
