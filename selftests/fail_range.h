/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which of the kernel's functions have to be on the stack for something to
 * fail.
 */
#ifndef FAIL_RANGE_H
#define FAIL_RANGE_H

#include "rcm_test.h"

#define FAULTS "/sys/kernel/debug/"

/* An attribute of failslab, fail_page_alloc, ... */
static inline int set_fault(const char *kind, const char *name,
			    unsigned long value)
{
	char path[100], text[24];

	snprintf(path, sizeof(path), FAULTS "%s/%s", kind, name);
	snprintf(text, sizeof(text), "%lu", value);
	return write_file(path, text);
}

/*
 * How: "require" lets nothing fail without a caller in there, "reject" nothing
 * with one.
 */
static inline bool set_fault_range(const char *kind, const char *how,
				   unsigned long low, unsigned long high)
{
	char start[20], end[20];

	snprintf(start, sizeof(start), "%s-start", how);
	snprintf(end, sizeof(end), "%s-end", how);
	return !set_fault(kind, start, low) && !set_fault(kind, end, high);
}

/* Where a function of the kernel, or all of a module's, are. */
static inline bool find_text(const char *what, unsigned long *low,
			     unsigned long *high)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	bool module = what[0] == '[', next = false;
	unsigned long address;
	char line[512], name[256], type;

	*low = *high = 0;
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx %c %255s", &address, &type, name) != 3 ||
		    (type != 't' && type != 'T'))
			continue;
		if (next)
			*high = address;
		next = !module && !strcmp(name, what);
		if (next || (module && strstr(line, what))) {
			if (!*low || address < *low)
				*low = address;
			if (address >= *high)
				*high = address + 1;
		}
	}
	if (file)
		fclose(file);
	return *high;
}

#endif /* FAIL_RANGE_H */
