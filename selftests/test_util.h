/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What tests of the ioctls (rcm_test.h) and of the library (lib_test.h) share.
 */
#ifndef TEST_UTIL_H
#define TEST_UTIL_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

/* Runs a shell command; its exit status, -1 when it had none. */
static inline int sh(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
static inline int sh(const char *format, ...)
{
	char command[512];
	va_list args;
	int ret;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	ret = system(command);
	return WIFEXITED(ret) ? WEXITSTATUS(ret) : -1;
}

/* Private data that can be recognised; no byte is 0. */
static inline void pattern(void *to, size_t len)
{
	unsigned char *byte = to;
	size_t i;

	for (i = 0; i < len; i++)
		byte[i] = 1 + i % 251;
}

#endif /* TEST_UTIL_H */
