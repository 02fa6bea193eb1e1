/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Modules of the kernel, loaded and removed by a test; all ours are where
 * $RCM_KO is.
 */
#ifndef MODULE_H
#define MODULE_H

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test_util.h"

static inline int load_module(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	ret = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	return ret;
}

/* Of a file beside rcm.ko. */
static inline int load_ours(const char *name)
{
	const char *rcm = getenv("RCM_KO");
	const char *end = rcm ? strrchr(rcm, '/') : NULL;
	char path[500];

	if (!end)
		return -ENOENT;
	snprintf(path, sizeof(path), "%.*s/%s", (int)(end - rcm), rcm, name);
	return load_module(path);
}

static inline int load_rcm(void)
{
	return load_module(getenv("RCM_KO") ?: "");
}

/* -EAGAIN while it is in use. */
static inline int unload_module(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}

#endif /* MODULE_H */
