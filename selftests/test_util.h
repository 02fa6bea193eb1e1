/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What tests of the ioctls (rcm_test.h) and of the library (lib_test.h) share.
 */
#ifndef TEST_UTIL_H
#define TEST_UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* Whether this is part of make check-debug, which has all the time. */
static inline bool suite_is_debug(void)
{
	const char *suite = getenv("SUITE");

	return suite && !strcmp(suite, "debug");
}

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

/* Memory that the processes of a test share; or NULL. */
static inline void *shared_memory(size_t size)
{
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return map == MAP_FAILED ? NULL : map;
}

#define PAGE 4096

/* Two pages, of which the second cannot be accessed; or MAP_FAILED. */
static inline void *page_with_nothing_after(void)
{
	unsigned char *map = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED || !mprotect(map + PAGE, PAGE, PROT_NONE))
		return map;
	munmap(map, 2 * PAGE);
	return MAP_FAILED;
}

#endif /* TEST_UTIL_H */
