// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * rsocket(7) by the distribution's own implementation, over our identifiers.
 *
 * The distribution's librdmacm has rsockets and the rdma_* functions in one
 * file, but its rsockets call these functions by name.  Loaded beside ours, in
 * whose favour a program's symbols are resolved, its rsockets use ours.  It is
 * loaded by the first rsocket().
 *
 * One thing in them does not go by name: they ask the private part of an
 * identifier whether its calls wait.  That one word we have to keep where they
 * expect it, in rcm_id.foreign, which is zero otherwise.  Where that is, is
 * found out by asking: rdma_get_request() of theirs refuses an identifier that
 * does not wait, and for one that does it calls our rdma_get_cm_event().  So
 * one question tells both where the word is and that ours are called.
 *
 * Where anything of this fails, rsocket() says EOPNOTSUPP.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rdma/rsocket.h>

#include "rcm_user.h"

/* The distribution's functions; all of them, or none while loaded is false. */
static struct {
	__typeof__(rsocket) *rsocket;
	__typeof__(rbind) *rbind;
	__typeof__(rlisten) *rlisten;
	__typeof__(raccept) *raccept;
	__typeof__(rconnect) *rconnect;
	__typeof__(rshutdown) *rshutdown;
	__typeof__(rclose) *rclose;
	__typeof__(rrecv) *rrecv;
	__typeof__(rrecvfrom) *rrecvfrom;
	__typeof__(rrecvmsg) *rrecvmsg;
	__typeof__(rsend) *rsend;
	__typeof__(rsendto) *rsendto;
	__typeof__(rsendmsg) *rsendmsg;
	__typeof__(rread) *rread;
	__typeof__(rreadv) *rreadv;
	__typeof__(rwrite) *rwrite;
	__typeof__(rwritev) *rwritev;
	__typeof__(rpoll) *rpoll;
	__typeof__(rselect) *rselect;
	__typeof__(rgetpeername) *rgetpeername;
	__typeof__(rgetsockname) *rgetsockname;
	__typeof__(rsetsockopt) *rsetsockopt;
	__typeof__(rgetsockopt) *rgetsockopt;
	__typeof__(rfcntl) *rfcntl;
	__typeof__(riomap) *riomap;
	__typeof__(riounmap) *riounmap;
	__typeof__(riowrite) *riowrite;
	bool loaded;
} rcm_real;

static const struct {
	const char *name;
	size_t at;
} rcm_real_names[] = {
	{ "rsocket", offsetof(__typeof__(rcm_real), rsocket) },
	{ "rbind", offsetof(__typeof__(rcm_real), rbind) },
	{ "rlisten", offsetof(__typeof__(rcm_real), rlisten) },
	{ "raccept", offsetof(__typeof__(rcm_real), raccept) },
	{ "rconnect", offsetof(__typeof__(rcm_real), rconnect) },
	{ "rshutdown", offsetof(__typeof__(rcm_real), rshutdown) },
	{ "rclose", offsetof(__typeof__(rcm_real), rclose) },
	{ "rrecv", offsetof(__typeof__(rcm_real), rrecv) },
	{ "rrecvfrom", offsetof(__typeof__(rcm_real), rrecvfrom) },
	{ "rrecvmsg", offsetof(__typeof__(rcm_real), rrecvmsg) },
	{ "rsend", offsetof(__typeof__(rcm_real), rsend) },
	{ "rsendto", offsetof(__typeof__(rcm_real), rsendto) },
	{ "rsendmsg", offsetof(__typeof__(rcm_real), rsendmsg) },
	{ "rread", offsetof(__typeof__(rcm_real), rread) },
	{ "rreadv", offsetof(__typeof__(rcm_real), rreadv) },
	{ "rwrite", offsetof(__typeof__(rcm_real), rwrite) },
	{ "rwritev", offsetof(__typeof__(rcm_real), rwritev) },
	{ "rpoll", offsetof(__typeof__(rcm_real), rpoll) },
	{ "rselect", offsetof(__typeof__(rcm_real), rselect) },
	{ "rgetpeername", offsetof(__typeof__(rcm_real), rgetpeername) },
	{ "rgetsockname", offsetof(__typeof__(rcm_real), rgetsockname) },
	{ "rsetsockopt", offsetof(__typeof__(rcm_real), rsetsockopt) },
	{ "rgetsockopt", offsetof(__typeof__(rcm_real), rgetsockopt) },
	{ "rfcntl", offsetof(__typeof__(rcm_real), rfcntl) },
	{ "riomap", offsetof(__typeof__(rcm_real), riomap) },
	{ "riounmap", offsetof(__typeof__(rcm_real), riounmap) },
	{ "riowrite", offsetof(__typeof__(rcm_real), riowrite) },
};

static_assert(offsetof(__typeof__(rcm_real), loaded) ==
		      RCM_ARRAY_SIZE(rcm_real_names) * sizeof(void *),
	      "each has its name");

static pthread_once_t rcm_real_once = PTHREAD_ONCE_INIT;

/* Into rcm_id.foreign; 0 while not known. */
static size_t rcm_sync_offset;

/**
 * rcm_id_show_sync - tell rsockets whether the calls of an identifier wait
 * @id: identifier
 */
void rcm_id_show_sync(struct rcm_id *id)
{
	int sync = id->sync;

	if (rcm_sync_offset)
		memcpy((char *)id + rcm_sync_offset, &sync, sizeof(sync));
}

struct rcm_object {
	const void *addr;
	char path[PATH_MAX];
};

static int rcm_object_visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct rcm_object *object = arg;
	uintptr_t at = (uintptr_t)object->addr - info->dlpi_addr;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		__typeof__(info->dlpi_phdr) part = &info->dlpi_phdr[i];

		if (part->p_type == PT_LOAD &&
		    at - part->p_vaddr < part->p_memsz)
			return snprintf(object->path, sizeof(object->path),
					"%s", info->dlpi_name) > 0;
	}
	return 0;
}

/* The file that an address belongs to. */
static bool rcm_find_object(struct rcm_object *object, const void *addr)
{
	object->addr = addr;
	return addr && dl_iterate_phdr(rcm_object_visit, object);
}

/* By an address of our own that no program's can be taken for. */
static bool rcm_self(struct rcm_object *self)
{
	static const char here;

	return rcm_find_object(self, &here);
}

/*
 * The distribution's library: where libibverbs is, which is built from the
 * same source, unless that is ourselves.
 */
static bool rcm_real_path(const struct rcm_object *self, char *path,
			  size_t size)
{
	void *verbs = dlsym(RTLD_DEFAULT, "ibv_get_device_list");
	struct stat ours, theirs;
	struct rcm_object object;
	char *slash;

	if (!rcm_find_object(&object, verbs))
		return false;
	slash = strrchr(object.path, '/');
	if (!slash)
		return false;
	*slash = 0;
	if (snprintf(path, size, "%s/librdmacm.so.1", object.path) >= (int)size)
		return false;
	if (stat(path, &theirs) || stat(self->path, &ours))
		return false;
	return theirs.st_dev != ours.st_dev || theirs.st_ino != ours.st_ino;
}

/* A program may have loaded us for itself alone; names must lead to us. */
static bool rcm_become_global(const struct rcm_object *self)
{
	return dlopen(self->path, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

/* Their library insists on the in-tree manager's ABI number, and no more. */
static bool rcm_real_usable(void)
{
	int fd = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* EAGAIN is our empty channel's: the identifier was taken for one that waits. */
static bool rcm_real_waits(__typeof__(rdma_get_request) *get_request,
			   struct rdma_cm_id *id)
{
	struct rdma_cm_id *request;

	errno = 0;
	return get_request(id, &request) && errno == EAGAIN;
}

static size_t rcm_find_sync(__typeof__(rdma_get_request) *get_request)
{
	size_t at, found = 0;
	struct rcm_channel *ch;
	struct rcm_id *id;
	const int one = 1;

	ch = rcm_channel_create();
	if (!ch)
		return 0;
	id = calloc(1, sizeof(*id));
	if (id && !fcntl(ch->channel.fd, F_SETFL, O_NONBLOCK)) {
		id->id.channel = &ch->channel;
		for (at = offsetof(struct rcm_id, foreign);
		     at < offsetof(struct rcm_id, uid) && !found;
		     at += sizeof(one)) {
			memcpy((char *)id + at, &one, sizeof(one));
			if (rcm_real_waits(get_request, &id->id))
				found = at;
			memset((char *)id + at, 0, sizeof(one));
		}
	}
	free(id);
	rcm_channel_close(ch);
	return found;
}

static void *rcm_real_open(void)
{
	__typeof__(rdma_get_request) *get_request;
	char path[PATH_MAX];
	struct rcm_object self;
	void *lib;

	if (!rcm_self(&self) || !rcm_real_path(&self, path, sizeof(path)) ||
	    !rcm_become_global(&self) || !rcm_real_usable())
		return NULL;
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		return NULL;
	*(void **)&get_request = dlsym(lib, "rdma_get_request");
	if (get_request)
		rcm_sync_offset = rcm_find_sync(get_request);
	if (rcm_sync_offset)
		return lib;
	dlclose(lib);
	return NULL;
}

static void rcm_real_load(void)
{
	void *lib = rcm_real_open();
	void *function;
	size_t i;

	if (!lib)
		return;
	for (i = 0; i < RCM_ARRAY_SIZE(rcm_real_names); i++) {
		function = dlsym(lib, rcm_real_names[i].name);
		if (!function)
			return;
		memcpy((char *)&rcm_real + rcm_real_names[i].at, &function,
		       sizeof(function));
	}
	rcm_real.loaded = true;
}

/**
 * rsocket - make an rsocket
 * @domain: AF_INET or AF_INET6
 * @type: SOCK_STREAM or SOCK_DGRAM
 * @protocol: 0, or the one that goes with @type
 *
 * Follows rsocket(7), as do the functions below.
 *
 * Return: a descriptor, or -1 with errno: EOPNOTSUPP where the distribution's
 * librdmacm or /dev/infiniband/rdma_cm is missing, or the two libraries do not
 * go together; otherwise what the distribution's says.
 */
int rsocket(int domain, int type, int protocol)
{
	pthread_once(&rcm_real_once, rcm_real_load);
	if (!rcm_real.loaded)
		return rcm_fail(EOPNOTSUPP);
	return rcm_real.rsocket(domain, type, protocol);
}

/* Before there is an rsocket, descriptors are ordinary ones. */

int rpoll(struct pollfd *fds, nfds_t nfds, int timeout)
{
	if (!rcm_real.loaded)
		return poll(fds, nfds, timeout);
	return rcm_real.rpoll(fds, nfds, timeout);
}

int rselect(int nfds, fd_set *readfds, fd_set *writefds, fd_set *exceptfds,
	    struct timeval *timeout)
{
	if (!rcm_real.loaded)
		return select(nfds, readfds, writefds, exceptfds, timeout);
	return rcm_real.rselect(nfds, readfds, writefds, exceptfds, timeout);
}

int rbind(int socket, const struct sockaddr *addr, socklen_t addrlen)
{
	if (!rcm_real.loaded)
		return rcm_fail(EBADF);
	return rcm_real.rbind(socket, addr, addrlen);
}

int rlisten(int socket, int backlog)
{
	if (!rcm_real.loaded)
		return rcm_fail(EBADF);
	return rcm_real.rlisten(socket, backlog);
}

int raccept(int socket, struct sockaddr *addr, socklen_t *addrlen)
{
	if (!rcm_real.loaded)
		return rcm_fail(EBADF);
	return rcm_real.raccept(socket, addr, addrlen);
}

int rconnect(int socket, const struct sockaddr *addr, socklen_t addrlen)
{
	if (!rcm_real.loaded)
		return rcm_fail(EBADF);
	return rcm_real.rconnect(socket, addr, addrlen);
}

int rshutdown(int socket, int how)
{
	if (!rcm_real.loaded)
		return rcm_fail(EBADF);
	return rcm_real.rshutdown(socket, how);
}

int rclose(int socket)
{
	if (!rcm_real.loaded)
		return rcm_fail(EBADF);
	return rcm_real.rclose(socket);
}

ssize_t rrecv(int socket, void *buf, size_t len, int flags)
{
	if (!rcm_real.loaded)
		return rcm_fail(EBADF);
	return rcm_real.rrecv(socket, buf, len, flags);
}

ssize_t rrecvfrom(int socket, void *buf, size_t len, int flags,
		  struct sockaddr *src_addr, socklen_t *addrlen)
{
	if (!rcm_real.loaded)
		return rcm_fail(EBADF);
	return rcm_real.rrecvfrom(socket, buf, len, flags, src_addr, addrlen);
}

ssize_t rrecvmsg(int socket, struct msghdr *msg, int flags)
{
	if (!rcm_real.loaded)
		return rcm_fail(EBADF);
	return rcm_real.rrecvmsg(socket, msg, flags);
}

ssize_t rsend(int socket, const void *buf, size_t len, int flags)
{
	if (!rcm_real.loaded)
		return rcm_fail(EBADF);
	return rcm_real.rsend(socket, buf, len, flags);
}

ssize_t rsendto(int socket, const void *buf, size_t len, int flags,
		const struct sockaddr *dest_addr, socklen_t addrlen)
{
	if (!rcm_real.loaded)
		return rcm_fail(EBADF);
	return rcm_real.rsendto(socket, buf, len, flags, dest_addr, addrlen);
}

ssize_t rsendmsg(int socket, const struct msghdr *msg, int flags)
{
	if (!rcm_real.loaded)
		return rcm_fail(EBADF);
	return rcm_real.rsendmsg(socket, msg, flags);
}

ssize_t rread(int socket, void *buf, size_t count)
{
	if (!rcm_real.loaded)
		return rcm_fail(EBADF);
	return rcm_real.rread(socket, buf, count);
}

ssize_t rreadv(int socket, const struct iovec *iov, int iovcnt)
{
	if (!rcm_real.loaded)
		return rcm_fail(EBADF);
	return rcm_real.rreadv(socket, iov, iovcnt);
}

ssize_t rwrite(int socket, const void *buf, size_t count)
{
	if (!rcm_real.loaded)
		return rcm_fail(EBADF);
	return rcm_real.rwrite(socket, buf, count);
}

ssize_t rwritev(int socket, const struct iovec *iov, int iovcnt)
{
	if (!rcm_real.loaded)
		return rcm_fail(EBADF);
	return rcm_real.rwritev(socket, iov, iovcnt);
}

int rgetpeername(int socket, struct sockaddr *addr, socklen_t *addrlen)
{
	if (!rcm_real.loaded)
		return rcm_fail(EBADF);
	return rcm_real.rgetpeername(socket, addr, addrlen);
}

int rgetsockname(int socket, struct sockaddr *addr, socklen_t *addrlen)
{
	if (!rcm_real.loaded)
		return rcm_fail(EBADF);
	return rcm_real.rgetsockname(socket, addr, addrlen);
}

int rsetsockopt(int socket, int level, int optname, const void *optval,
		socklen_t optlen)
{
	if (!rcm_real.loaded)
		return rcm_fail(EBADF);
	return rcm_real.rsetsockopt(socket, level, optname, optval, optlen);
}

int rgetsockopt(int socket, int level, int optname, void *optval,
		socklen_t *optlen)
{
	if (!rcm_real.loaded)
		return rcm_fail(EBADF);
	return rcm_real.rgetsockopt(socket, level, optname, optval, optlen);
}

int rfcntl(int socket, int cmd, ... /* arg */)
{
	va_list args;
	long arg;

	if (!rcm_real.loaded)
		return rcm_fail(EBADF);
	va_start(args, cmd);
	arg = va_arg(args, long);
	va_end(args);
	return rcm_real.rfcntl(socket, cmd, arg);
}

off_t riomap(int socket, void *buf, size_t len, int prot, int flags,
	     off_t offset)
{
	if (!rcm_real.loaded)
		return rcm_fail(EBADF);
	return rcm_real.riomap(socket, buf, len, prot, flags, offset);
}

int riounmap(int socket, void *buf, size_t len)
{
	if (!rcm_real.loaded)
		return rcm_fail(EBADF);
	return rcm_real.riounmap(socket, buf, len);
}

size_t riowrite(int socket, const void *buf, size_t count, off_t offset,
		int flags)
{
	if (!rcm_real.loaded)
		return rcm_fail(EBADF);
	return rcm_real.riowrite(socket, buf, count, offset, flags);
}
