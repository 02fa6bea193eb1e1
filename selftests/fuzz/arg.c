// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The argument of a command: what the values of an op mean, and how it is
 * spoilt. A value of 0 is a sensible one.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/mman.h>

#include "test_util.h"

#include "fuzz.h"

/* Further than the kernel writes events, whatever their number and size. */
#define FAR	     (4 << 20)
#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* fz0 has ARP, and nobody else on it; d0 has no ARP. */
static const char *const hosts[] = {
	"10.0.0.1",  "fd00::1",	  "0.0.0.0",	     "::",
	"127.0.0.1", "::1",	  "10.0.0.99",	     "fe80::1%d0",
	"fe80::1",   "10.77.0.1", "239.1.1.1",	     "ff0e::1:1",
	"none",	     "strange",	  "::ffff:10.0.0.1", "fd00::99",
	"10.9.9.1",  "10.9.9.9",  "255.255.255.255", "fe80::99%d0",
};

static const char *const groups[] = { "239.1.1.1", "ff0e::1:1" };

static void set_addr(struct __kernel_sockaddr_storage *to, const char *text,
		     uint16_t port)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)to;
	struct sockaddr_in *sin = (struct sockaddr_in *)to;
	const char *scope = strchr(text, '%');
	char host[64];

	snprintf(host, sizeof(host), "%.*s", (int)strcspn(text, "%"), text);
	if (inet_pton(AF_INET, host, &sin->sin_addr) == 1) {
		sin->sin_family = AF_INET;
		sin->sin_port = htons(port);
	} else if (inet_pton(AF_INET6, host, &sin6->sin6_addr) == 1) {
		sin6->sin6_family = AF_INET6;
		sin6->sin6_port = htons(port);
		sin6->sin6_scope_id = scope ? if_nametoindex(scope + 1) : 0;
	} else if (!strcmp(host, "strange")) {
		to->ss_family = 27;
	}
}

static const char *host_of(uint16_t value)
{
	return hosts[value % COUNT(hosts)];
}

static uint16_t port_of(uint16_t value)
{
	static const uint16_t ports[] = { 7000, 7001, 7002, 0, 80, 65535 };

	return ports[value % COUNT(ports)];
}

static void fill_create(struct rcm_create_id *to, const struct op *op)
{
	static const uint16_t spaces[] = { 0x106, 0x111, 0x13f, 0x2 };

	to->ps = op->value[0] < 0xff00 ? spaces[op->value[0] % COUNT(spaces)] :
					 op->value[0];
	to->qp_type = op->value[1] % 12;
	to->uid = op->value[2];
}

/* RCM_BIND and RCM_RESOLVE_ADDR may make their identifier. */
static void fill_maker(struct rcm_bind *to, const struct op *op)
{
	if (!(to->flags & RCM_CREATE))
		return;
	to->handle = 0;
	to->ps = op->value[2] & 0x100 ? 0x111 : 0x106;
	to->uid = op->value[2];
}

static void fill_resolve(struct rcm_resolve_addr *to, const struct op *op)
{
	to->timeout_ms = 20;
	to->flags = op->value[2] % 16 < 4  ? op->value[2] % 4 :
		    op->value[2] % 16 == 4 ? 4 :
					     0;
	fill_maker((struct rcm_bind *)to, op);
	set_addr(&to->dst, host_of(op->value[0]), port_of(op->value[1]));
	if (op->value[3])
		set_addr(&to->src, host_of(op->value[3]), 0);
}

static uint16_t data_len(uint16_t value)
{
	static const uint16_t lens[] = { 8,   0,   56,	57,   92,   136,
					 148, 149, 180, 181,  196,  197,
					 255, 256, 257, 1024, 65535 };

	return lens[value % COUNT(lens)];
}

static void fill_conn(struct rcm_conn_param *to, const struct op *op,
		      uint32_t qp_num)
{
	to->private_data_len = data_len(op->value[0]);
	memset(to->private_data, 0x5a, sizeof(to->private_data));
	to->responder_resources = op->value[1] ? op->value[1] : 1;
	to->initiator_depth = op->value[1] ? op->value[1] >> 8 : 1;
	to->qp_num = op->value[2] ? op->value[2] % 8 : qp_num;
	to->qkey = op->value[3];
	to->retry_count = op->value[3];
	to->rnr_retry_count = op->value[3] >> 8;
	to->srq = op->value[3] >> 12;
	to->flow_control = op->value[3] >> 13;
}

static void fill_reject(struct rcm_reject *to, const struct op *op)
{
	static const uint8_t reasons[] = { 0, 28, 35, 1 };

	to->reason = reasons[op->value[1] % COUNT(reasons)];
	to->private_data_len = data_len(op->value[0]);
	memset(to->private_data, 0xa5, sizeof(to->private_data));
}

static void fill_option(struct memory *memory, const struct op *op)
{
	struct rcm_set_option *to = &memory->arg.option;
	uint16_t which = op->value[0] % 9;

	memory->option = op->value[1];
	to->level = which < 4 ? 0 : which < 7 ? RCM_OPTION : 1;
	to->optname = which < 4 ? which : which - 4;
	to->optlen = op->value[2]		? op->value[2] % 9 :
		     (which == 0 || which == 3) ? 1 :
						  4;
	to->optval = op->value[3] % 16 == 1 ? 8 :
					      (unsigned long)&memory->option;
}

static void fill_join(struct rcm_join_multicast *to, const struct op *op)
{
	to->number = op->value[1] % 5;
	to->flags = op->value[2] % 3;
	set_addr(&to->addr,
		 op->value[0] < COUNT(groups) ? groups[op->value[0]] :
						host_of(op->value[0]),
		 0);
}

static void fill_translate(struct rcm_translate *to, const struct op *op)
{
	to->timeout_ms = 5;
	set_addr(&to->dst, host_of(op->value[0]), port_of(op->value[1]));
	if (op->value[3])
		set_addr(&to->src, host_of(op->value[3]), 0);
}

#define OF(type) (memset(arg, 0, sizeof(arg->type)), sizeof(arg->type))

/* Sizes are what the command's own structure has. */
static uint32_t arg_clear(union arg *arg, int kind)
{
	switch (kind) {
	case OP_CREATE:
		return OF(create);
	case OP_DESTROY:
		return OF(destroy);
	case OP_BIND:
		return OF(bind);
	case OP_RESOLVE:
		return OF(resolve);
	case OP_ROUTE:
		return OF(route);
	case OP_LISTEN:
		return OF(listen);
	case OP_CONNECT:
		return OF(connect);
	case OP_ACCEPT:
		return OF(accept);
	case OP_ESTABLISH:
		return OF(establish);
	case OP_REJECT:
		return OF(reject);
	case OP_DISCONNECT:
		return OF(disconnect);
	case OP_NOTIFY:
		return OF(notify);
	case OP_INIT_QP:
		return OF(init_qp);
	case OP_OPTION:
		return OF(option);
	case OP_QUERY:
		return OF(query);
	case OP_MIGRATE:
		return OF(migrate);
	case OP_EVENT:
		return OF(event);
	case OP_JOIN:
		return OF(join);
	case OP_LEAVE:
		return OF(leave);
	case OP_TRANSLATE:
		return OF(translate);
	case OP_WRITE:
		return OF(write);
	case OP_EVENTS:
		return OF(events);
	default:
		return OF(info);
	}
}

static bool has_handle(int kind)
{
	return kind != OP_INFO && kind != OP_CREATE && kind != OP_EVENT &&
	       kind != OP_TRANSLATE && kind != OP_EVENTS && kind != OP_OTHER;
}

uint32_t arg_fill(struct memory *memory, const struct op *op, uint32_t handle,
		  int other_fd, uint32_t qp_num)
{
	union arg *arg = &memory->arg;
	uint32_t size = arg_clear(arg, op->kind);

	arg->size = size;
	/* It follows the size wherever there is one. */
	if (has_handle(op->kind))
		arg->destroy.handle = handle;
	switch (op->kind) {
	case OP_CREATE:
		fill_create(&arg->create, op);
		break;
	case OP_BIND:
		arg->bind.flags = op->value[2] % 16 == 1 ? RCM_CREATE : 0;
		fill_maker(&arg->bind, op);
		set_addr(&arg->bind.addr, host_of(op->value[0]),
			 port_of(op->value[1]));
		break;
	case OP_RESOLVE:
		fill_resolve(&arg->resolve, op);
		break;
	case OP_ROUTE:
		arg->route.timeout_ms = op->value[0];
		break;
	case OP_LISTEN:
		arg->listen.backlog = op->value[0] ? op->value[0] % 2048 : 4;
		break;
	case OP_CONNECT:
		fill_conn(&arg->connect.conn, op, qp_num);
		break;
	case OP_ACCEPT:
		fill_conn(&arg->accept.conn, op, qp_num);
		break;
	case OP_REJECT:
		fill_reject(&arg->reject, op);
		break;
	case OP_NOTIFY:
		arg->notify.event = op->value[0] == 0 ? 4 :
				    op->value[0] & 1  ? 7 :
							op->value[0];
		break;
	case OP_INIT_QP:
		arg->init_qp.qp_state = (op->value[0] + 1) % 5;
		break;
	case OP_OPTION:
		fill_option(memory, op);
		break;
	case OP_MIGRATE:
		arg->migrate.fd = other_fd;
		break;
	case OP_EVENT:
		arg->event.flags = op->value[0] == 2 ? 0 : RCM_EVENT_DONTWAIT;
		break;
	case OP_JOIN:
		fill_join(&arg->join, op);
		break;
	case OP_LEAVE:
		arg->leave.number = op->value[1] % 5;
		break;
	case OP_TRANSLATE:
		fill_translate(&arg->translate, op);
		break;
	case OP_WRITE:
		arg->write.event = op->value[0] == 0 ? RCM_EVENT_USER :
				   op->value[0] & 1  ? RCM_EVENT_INTERNAL :
						       op->value[0];
		arg->write.status = -(int)op->value[1];
		arg->write.arg = op->value[2];
		break;
	case OP_EVENTS:
		arg->events.flags = RCM_EVENT_DONTWAIT;
		arg->events.count = (op->value[0] + 4) % 8;
		arg->events.event_size =
			sizeof(struct rcm_event) + op->value[1] % 32;
		arg->events.events = (unsigned long)memory->events;
		break;
	}
	return size;
}

static void spoil_bytes(union arg *arg, const struct op *op, uint32_t size)
{
	struct rng rng;
	uint32_t i;

	rng_seed(&rng, op->value[3], op->value[2]);
	for (i = sizeof(arg->size); i < size; i++)
		arg->bytes[i] = rng_next(&rng);
}

static void *far_away(uint16_t value)
{
	static const unsigned long places[] = {
		0,
		8,
		0x60000000UL, /* where User-Mode Linux itself is */
		0x7fffffffe000UL,
		0xffff888000000000UL,
		-4096UL,
		-4UL,
	};

	return (void *)places[value % COUNT(places)];
}

static void *spoil_const(struct memory *memory, uint32_t size)
{
	mprotect(memory->fixed, PAGE, PROT_READ | PROT_WRITE);
	memcpy(memory->fixed, &memory->arg, size);
	mprotect(memory->fixed, PAGE, PROT_READ);
	return memory->fixed;
}

/* What the kernel writes to must stay what it is meant to write to. */
static void keep_pointer(struct memory *memory, const struct op *op)
{
	if (op->kind == OP_EVENTS && memory->arg.events.events)
		memory->arg.events.events = (unsigned long)memory->events;
}

void *arg_spoil(struct memory *memory, const struct op *op, uint32_t size)
{
	union arg *arg = &memory->arg;
	uint32_t longer = size + 1 + op->value[3] % 512;
	void *to;

	switch (op->spoilt) {
	case SPOILT_SHORT:
		arg->size = op->value[3] % size;
		return arg;
	case SPOILT_LONG:
		memset(arg->bytes + size, 0, longer - size);
		arg->size = longer;
		return arg;
	case SPOILT_JUNK:
		memset(arg->bytes + size, 0, longer - size);
		arg->bytes[longer - 1] = 1;
		arg->size = op->value[3] & 1 ? longer : op->value[3] * 256U;
		return arg;
	case SPOILT_BYTE:
		arg->bytes[op->value[2] % size] = op->value[3];
		keep_pointer(memory, op);
		return arg;
	case SPOILT_BYTES:
		spoil_bytes(arg, op, size);
		keep_pointer(memory, op);
		return arg;
	case SPOILT_POINTER:
		return far_away(op->value[3]);
	case SPOILT_EDGE:
		to = memory->map + PAGE - size + (op->value[3] & 4);
		memcpy(to, arg, size - (op->value[3] & 4));
		return to;
	case SPOILT_CONST:
		return spoil_const(memory, size);
	case SPOILT_ALIGN:
		to = memory->map + 1 + op->value[3] % 3;
		memcpy(to, arg, size);
		return to;
	case SPOILT_HANDLE:
		arg->destroy.handle = op->value[3];
		return arg;
	default:
		return arg;
	}
}

int memory_init(struct memory *memory)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;

	memory->map = page_with_nothing_after();
	memory->fixed = mmap(NULL, PAGE, PROT_READ, flags, -1, 0);
	memory->events = mmap(NULL, FAR, PROT_NONE, flags, -1, 0);
	if (memory->map == MAP_FAILED || memory->fixed == MAP_FAILED ||
	    memory->events == MAP_FAILED ||
	    mprotect(memory->events, PAGE, PROT_READ | PROT_WRITE))
		return -errno;
	return 0;
}
