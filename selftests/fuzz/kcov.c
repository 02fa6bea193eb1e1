// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which places of rcm.ko were reached, by KCOV, where the module was built with
 * INSTRUMENT=kcov. Of system calls alone: what a workqueue does is not seen.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

#define KCOV_INIT_TRACE _IOR('c', 1, unsigned long)
#define KCOV_ENABLE	_IO('c', 100)
#define KCOV_TRACE_PC	0

#define ENTRIES	   (64 << 10)
#define MAX_PLACES (1 << 20) /* bytes of text */

static __thread unsigned long *area;

static unsigned long base;
static uint32_t reached_in[MAX_PLACES]; /* the last round that reached it */
static bool seen[MAX_PLACES];
static uint32_t this_round = 1;
static uint32_t reached[MAX_PLACES]; /* places of this round */
static int nr_reached;
static int nr_seen;

static unsigned long module_base(void)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	unsigned long low = ~0UL, address;
	char line[512], type;

	while (file && fgets(line, sizeof(line), file)) {
		if (strstr(line, "\t[rcm]\n") &&
		    sscanf(line, "%lx %c", &address, &type) == 2 &&
		    (type == 't' || type == 'T') && address < low)
			low = address;
	}
	if (file)
		fclose(file);
	return low;
}

bool kcov_init(void)
{
	int fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
	void *map;

	if (fd < 0)
		return false;
	if (!base)
		base = module_base();
	if (ioctl(fd, KCOV_INIT_TRACE, ENTRIES))
		return false;
	map = mmap(NULL, ENTRIES * sizeof(*area), PROT_READ | PROT_WRITE,
		   MAP_SHARED, fd, 0);
	if (map == MAP_FAILED || ioctl(fd, KCOV_ENABLE, KCOV_TRACE_PC))
		return false;
	area = map;
	return true;
}

void kcov_start(void)
{
	if (area)
		__atomic_store_n(&area[0], 0, __ATOMIC_RELAXED);
}

/* Threads do this at once; that one of them misses a place does no harm. */
static void reach(unsigned long pc)
{
	uint32_t place = pc - base;

	if (place >= MAX_PLACES || reached_in[place] == this_round)
		return;
	reached_in[place] = this_round;
	if (nr_reached < MAX_PLACES)
		reached[nr_reached++] = place;
}

void kcov_stop(void)
{
	unsigned long i, count;

	if (!area)
		return;
	count = __atomic_load_n(&area[0], __ATOMIC_RELAXED);
	for (i = 1; i <= count && i < ENTRIES; i++)
		reach(area[i]);
}

void kcov_leave(void)
{
	area = NULL;
}

int kcov_places(void)
{
	return nr_seen;
}

void kcov_next(void)
{
	this_round++;
	nr_reached = 0;
}

int kcov_new(uint32_t *place, int max)
{
	int i, count = 0;

	for (i = 0; i < nr_reached && count < max; i++) {
		if (!seen[reached[i]])
			place[count++] = reached[i];
	}
	return count;
}

int kcov_again(uint32_t *place, int count)
{
	int i, again = 0;

	for (i = 0; i < count; i++) {
		uint32_t this = place[i];

		if (reached_in[this] == this_round) {
			place[i] = place[again];
			place[again++] = this;
		}
	}
	return again;
}

void kcov_accept(void)
{
	int i;

	for (i = 0; i < nr_reached; i++) {
		if (!seen[reached[i]]) {
			seen[reached[i]] = true;
			nr_seen++;
		}
	}
}
