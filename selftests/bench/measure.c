// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Time, processor time, and the kernel's counters.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

/* Long enough that those who work for us have gone to sleep. */
#define SETTLE_US 3000

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/*
 * What tasks ran, of all processors. It is exact, but a task counts when it
 * stops to run. Where the kernel has it not, ticks have to do.
 */
static uint64_t machine_ns(void)
{
	unsigned long long user, nice, system, idle, wait, irq, soft;
	uint64_t sum = 0;
	char line[512];
	FILE *file;

	file = fopen("/proc/schedstat", "r");
	while (file && fgets(line, sizeof(line), file)) {
		unsigned long long ran;

		if (sscanf(line, "cpu%*d %*u %*u %*u %*u %*u %*u %llu", &ran) ==
		    1)
			sum += ran;
	}
	if (file)
		fclose(file);
	if (sum)
		return sum;

	file = fopen("/proc/stat", "r");
	if (!file ||
	    fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice,
		   &system, &idle, &wait, &irq, &soft) != 7)
		die("/proc/stat");
	fclose(file);
	return (user + nice + system + irq + soft) *
	       (1000000000ULL / sysconf(_SC_CLK_TCK));
}

static uint64_t timeval_ns(const struct timeval *tv)
{
	return tv->tv_sec * 1000000000ULL + tv->tv_usec * 1000ULL;
}

static void usage_read(struct usage *usage)
{
	struct rusage self;

	usleep(SETTLE_US);
	usage->cpu = machine_ns();
	getrusage(RUSAGE_SELF, &self);
	usage->own = timeval_ns(&self.ru_utime) + timeval_ns(&self.ru_stime);
	usage->switches = self.ru_nvcsw + self.ru_nivcsw;
}

void usage_begin(struct usage *usage)
{
	usage_read(usage);
	usage->wall = now_ns();
}

/* Leaves in @usage what was used since usage_begin(). */
void usage_end(struct usage *usage)
{
	struct usage end;

	end.wall = now_ns();
	usage_read(&end);
	usage->wall = end.wall - usage->wall;
	usage->cpu = end.cpu - usage->cpu;
	usage->own = end.own - usage->own;
	usage->switches = end.switches - usage->switches;
}

void samples_init(struct samples *samples, unsigned int room)
{
	memset(samples, 0, sizeof(*samples));
	samples->ns = calloc(room, sizeof(*samples->ns));
	if (!samples->ns)
		die("memory");
	samples->room = room;
}

void samples_add(struct samples *samples, uint64_t ns)
{
	unsigned int i = atomic_fetch_add(&samples->count, 1);

	if (i < samples->room)
		samples->ns[i] = ns;
}

void samples_free(struct samples *samples)
{
	free(samples->ns);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void report(const char *metric, double value)
{
	printf("%s,%d,%s,%s,%.3f\n", opt.stack, opt.round, opt.test, metric,
	       value);
	fflush(stdout);
}

static void report_us(const char *step, const char *what, double ns)
{
	char metric[64];

	snprintf(metric, sizeof(metric), "%s_%s_us", step, what);
	report(metric, ns / 1000);
}

/* Of @samples each one's time, of @usage what one of @count costs. */
void report_step(const char *step, struct samples *samples,
		 const struct usage *usage, unsigned int count)
{
	unsigned int n = samples ? samples->count : 0;
	char metric[64];

	if (n) {
		qsort(samples->ns, n, sizeof(*samples->ns), compare);
		report_us(step, "p50", samples->ns[n / 2]);
		report_us(step, "p99", samples->ns[n * 99ULL / 100]);
		report_us(step, "max", samples->ns[n - 1]);
	}
	if (!usage)
		return;
	report_us(step, "wall", (double)usage->wall / count);
	report_us(step, "cpu", (double)usage->cpu / count);
	report_us(step, "own", (double)usage->own / count);
	snprintf(metric, sizeof(metric), "%s_switches", step);
	report(metric, (double)usage->switches / count);
}

static uint64_t read_number(const char *dir, const char *name)
{
	unsigned long long value = 0;
	char path[1024];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "r");
	if (file && fscanf(file, "%llu", &value) != 1)
		value = 0;
	if (file)
		fclose(file);
	return value;
}

static uint64_t sum_of_files(const char *dir_path)
{
	struct dirent *entry;
	uint64_t sum = 0;
	DIR *dir;

	dir = opendir(dir_path);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		sum += read_number(dir_path, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return sum;
}

/* cm_tx_retries, cm_rx_duplicates ...: all kinds of messages, all devices */
uint64_t cm_counter(const char *group)
{
	static const char base[] = "/sys/class/infiniband";
	struct dirent *entry;
	char path[512];
	uint64_t sum = 0;
	DIR *dir;

	dir = opendir(base);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s/ports/1/%s", base,
			 entry->d_name, group);
		sum += sum_of_files(path);
	}
	if (dir)
		closedir(dir);
	return sum;
}

uint64_t slab_bytes(void)
{
	unsigned long long kb = 0;
	char line[256];
	FILE *file;

	file = fopen("/proc/meminfo", "r");
	while (file && fgets(line, sizeof(line), file) &&
	       sscanf(line, "Slab: %llu kB", &kb) != 1)
		;
	if (file)
		fclose(file);
	return kb * 1024;
}
