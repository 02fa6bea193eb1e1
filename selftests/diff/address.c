// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Addresses and ports: every kind of address bound and resolved, and which
 * two go together.
 */
#include "seq.h"

static const char *const addresses[] = {
	IP4,	     "0.0.0.0",		"127.0.0.1",   "127.0.0.2",
	"0.0.0.5",   DEAD_IP4,		FAR_IP4,       "10.0.0.255",
	"239.1.1.1", "255.255.255.255", IP6,	       "::",
	"::1",	     "fd00::77",	"2001:db8::1", "ff0e::101",
	"fe80::77",  "::ffff:10.0.0.1",
};

/* Families by number: none, local, packet, InfiniBand, beyond all. */
static const int families[] = { 0, 1, 17, 27, 9999 };

static union lib_addr address_of(const struct job *job, int port)
{
	union lib_addr addr = { 0 };

	if (job->p[0])
		return lib_addr(job->p[0], port);
	addr.sa.sa_family = job->n[0];
	return addr;
}

static void finish(struct world *w)
{
	drain(w);
	say_id(w, "id", w->id);
	SAY("destroy", rdma_destroy_id(w->id));
}

static void run_bind(const struct job *job)
{
	union lib_addr addr = address_of(job, job->n[1] ? job->port : 0);
	struct world w;

	if (!world_open(&w, job, RDMA_PS_TCP, false) || !enter_fresh(&w))
		return;
	if (!SAY("bind", rdma_bind_addr(w.id, &addr.sa)))
		SAY("listen", rdma_listen(w.id, 1));
	finish(&w);
}

static void run_privileged(const struct job *job)
{
	union lib_addr addr = lib_addr(IP4, job->n[0]);
	struct world w;

	if (!world_open(&w, job, RDMA_PS_TCP, false) || !enter_fresh(&w))
		return;
	if (job->n[1] && setresuid(65534, 65534, 65534))
		say("setuid", "-1");
	SAY("bind", rdma_bind_addr(w.id, &addr.sa));
	finish(&w);
}

static void run_resolve(const struct job *job)
{
	union lib_addr dst = address_of(job, job->port);
	struct world w;

	if (!world_open(&w, job, RDMA_PS_TCP, false) || !enter_fresh(&w))
		return;
	SAY("resolve_addr", rdma_resolve_addr(w.id, NULL, &dst.sa, 100));
	drain(&w);
	SAY("resolve_route", rdma_resolve_route(w.id, 100));
	finish(&w);
}

static void run_resolve_from(const struct job *job)
{
	union lib_addr src = lib_addr(job->p[0], job->n[0] ? job->port + 1 : 0);
	union lib_addr dst = lib_addr(job->p[1], job->port);
	struct world w;

	if (!world_open(&w, job, RDMA_PS_TCP, false) || !enter_fresh(&w))
		return;
	SAY("resolve_addr", rdma_resolve_addr(w.id, &src.sa, &dst.sa, 100));
	finish(&w);
}

static void run_bound_resolve(const struct job *job)
{
	union lib_addr src = lib_addr(job->p[0], job->port + 1);
	union lib_addr dst = lib_addr(job->p[1], job->port);
	struct world w;

	if (!world_open(&w, job, RDMA_PS_TCP, false) || !enter_fresh(&w))
		return;
	if (!SAY("bind", rdma_bind_addr(w.id, &src.sa)))
		SAY("resolve_addr",
		    rdma_resolve_addr(w.id, NULL, &dst.sa, 100));
	finish(&w);
}

/* A failed attempt, and then one that could succeed. */
static void run_retry(const struct job *job)
{
	union lib_addr dst = address_of(job, job->port);
	union lib_addr good = lib_addr(IP4, job->port);
	struct world w;

	if (!world_open(&w, job, RDMA_PS_TCP, false) || !enter_fresh(&w))
		return;
	if (job->n[1])
		SAY("bind", rdma_bind_addr(w.id, &dst.sa));
	else
		SAY("resolve_addr", rdma_resolve_addr(w.id, NULL, &dst.sa, 50));
	drain(&w);
	SAY("again", rdma_resolve_addr(w.id, NULL, &good.sa, TIMEOUT));
	finish(&w);
}

#define BIND_REUSE  1
#define BIND_AFONLY 2
#define BIND_LISTEN 4

struct binding {
	const char *ip;
	int flags;
};

static const struct binding bindings[] = {
	{ IP4, 0 },
	{ IP4, BIND_REUSE },
	{ IP4, BIND_REUSE | BIND_LISTEN },
	{ "0.0.0.0", 0 },
	{ "0.0.0.0", BIND_REUSE },
	{ "0.0.0.0", BIND_REUSE | BIND_LISTEN },
	{ "127.0.0.1", 0 },
	{ "127.0.0.1", BIND_REUSE },
	{ IP6, 0 },
	{ IP6, BIND_REUSE },
	{ "::", 0 },
	{ "::", BIND_REUSE },
	{ "::", BIND_AFONLY },
	{ "::", BIND_REUSE | BIND_LISTEN },
};

static struct rdma_cm_id *bind_with(struct world *w,
				    const struct binding *binding)
{
	union lib_addr addr = lib_addr(binding->ip, w->job->port);
	struct rdma_cm_id *id;
	int on = 1;

	if (rdma_create_id(w->near, &id, NULL, w->ps))
		return NULL;
	if (binding->flags & BIND_REUSE)
		SAY("reuse",
		    rdma_set_option(id, RDMA_OPTION_ID,
				    RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)));
	if (binding->flags & BIND_AFONLY)
		SAY("afonly",
		    rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY,
				    &on, sizeof(on)));
	if (!SAY("bind", rdma_bind_addr(id, &addr.sa)) &&
	    binding->flags & BIND_LISTEN)
		SAY("listen", rdma_listen(id, 1));
	return id;
}

/* Two identifiers that want one port; the second again without the first. */
static void run_conflict(const struct job *job)
{
	const struct binding *one = job->p[0], *other = job->p[1];
	union lib_addr addr = lib_addr(other->ip, job->port);
	struct rdma_cm_id *first, *second;
	struct world w;

	if (!world_open(&w, job, RDMA_PS_TCP, false))
		return;
	first = bind_with(&w, one);
	second = bind_with(&w, other);
	SAY("listen-first", rdma_listen(first, 1));
	SAY("listen-second", rdma_listen(second, 1));
	rdma_destroy_id(first);
	SAY("bind-second", rdma_bind_addr(second, &addr.sa));
	SAY("listen-second", rdma_listen(second, 1));
	rdma_destroy_id(second);
}

/* The same port in another port space. */
static void run_spaces(const struct job *job)
{
	union lib_addr addr = lib_addr(IP4, job->port);
	struct rdma_cm_id *first, *second;
	struct world w;

	if (!world_open(&w, job, RDMA_PS_TCP, false))
		return;
	if (SAY("create", rdma_create_id(w.near, &first, NULL, job->n[0])) ||
	    SAY("create", rdma_create_id(w.near, &second, NULL, job->n[1])))
		return;
	SAY("bind", rdma_bind_addr(first, &addr.sa));
	SAY("bind", rdma_bind_addr(second, &addr.sa));
	SAY("listen", rdma_listen(first, 1));
	SAY("listen", rdma_listen(second, 1));
}

/* Two active identifiers from one port to the same place, or to another. */
static void run_same_source(const struct job *job)
{
	union lib_addr src = lib_addr(IP4, job->port + 1);
	union lib_addr dst = lib_addr(IP4, job->port);
	struct rdma_cm_id *id;
	struct world w;
	int i, on = 1;

	if (!world_open(&w, job, RDMA_PS_TCP, false))
		return;
	for (i = 0; i < 2; i++) {
		if (rdma_create_id(w.near, &id, NULL, w.ps))
			return;
		if (job->n[0])
			SAY("reuse", rdma_set_option(id, RDMA_OPTION_ID,
						     RDMA_OPTION_ID_REUSEADDR,
						     &on, sizeof(on)));
		SAY("resolve",
		    rdma_resolve_addr(id, &src.sa, &dst.sa, TIMEOUT));
		drain(&w);
		if (job->n[1])
			dst = lib_addr(IP4, job->port + 2);
	}
}

static void add_conflicts(void)
{
	struct job *job;
	size_t i, j;

	for (i = 0; i < COUNT(bindings); i++) {
		for (j = 0; j < COUNT(bindings); j++) {
			job = job_add(run_conflict, "conflict/%s-%d/%s-%d",
				      bindings[i].ip, bindings[i].flags,
				      bindings[j].ip, bindings[j].flags);
			job->p[0] = &bindings[i];
			job->p[1] = &bindings[j];
		}
	}
}

static void add_each(void (*run)(const struct job *job), const char *name,
		     long n)
{
	struct job *job;
	size_t i;

	for (i = 0; i < COUNT(addresses); i++) {
		job = job_add(run, "%s/%s", name, addresses[i]);
		job->p[0] = addresses[i];
		job->n[1] = n;
	}
	for (i = 0; i < COUNT(families); i++) {
		job = job_add(run, "%s/family%d", name, families[i]);
		job->n[0] = families[i];
		job->n[1] = n;
	}
}

static void add_both(void (*run)(const struct job *job), const char *name,
		     long n)
{
	struct job *job;
	size_t i, j;

	for (i = 0; i < COUNT(addresses); i++) {
		for (j = 0; j < COUNT(addresses); j += 10) {
			job = job_add(run, "%s/%s/%s", name, addresses[i],
				      addresses[j]);
			job->p[0] = addresses[i];
			job->p[1] = addresses[j];
			job->n[0] = n;
		}
	}
}

static void add_spaces(void)
{
	static const int spaces[] = { 0,	   RDMA_PS_IPOIB, RDMA_PS_TCP,
				      RDMA_PS_UDP, RDMA_PS_IB,	  0x107 };
	struct job *job;
	size_t i, j;

	for (i = 0; i < COUNT(spaces); i++) {
		for (j = 0; j < COUNT(spaces); j++) {
			job = job_add(run_spaces, "space/%#x/%#x", spaces[i],
				      spaces[j]);
			job->n[0] = spaces[i];
			job->n[1] = spaces[j];
		}
	}
}

/**
 * add_addresses - add what is about addresses and ports
 */
void add_addresses(void)
{
	struct job *job;
	int i;

	add_each(run_bind, "bind", 1);
	add_each(run_bind, "bind-port0", 0);
	add_each(run_resolve, "resolve", 0);
	add_each(run_retry, "resolve-again", 0);
	add_each(run_retry, "bind-resolve", 1);
	add_both(run_resolve_from, "resolve-from", 0);
	add_both(run_resolve_from, "resolve-from-port", 1);
	add_both(run_bound_resolve, "bound-resolve", 0);
	add_conflicts();
	add_spaces();
	for (i = 0; i < 4; i++) {
		job = job_add(run_same_source, "same-source/%d%d", i & 1,
			      i >> 1);
		job->n[0] = i & 1;
		job->n[1] = i >> 1;
		job = job_add(run_privileged, "privileged/%d%d", i & 1, i >> 1);
		job->n[0] = i >> 1 ? 1023 - i : 1024 + i;
		job->n[1] = i & 1;
	}
}
