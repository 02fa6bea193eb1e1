// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The transcript.  A line is written by one system call, so that lines of
 * sequences that run at the same time do not mix.
 */
#include <stdarg.h>

#include "seq.h"

#define MAX_KEYS 16

static const char *say_name;
static int say_calls;

/* What was said since the last call, and how often. */
static struct {
	const char *key;
	int count;
} said[MAX_KEYS];

/**
 * say_start - name the sequence that this process is
 * @name: its name
 */
void say_start(const char *name)
{
	say_name = name;
	say_calls = 0;
}

/**
 * say_end - print how the sequence ended
 * @how: "ok", "crash" or "blocks"
 */
void say_end(const char *how)
{
	char line[256];
	int len = snprintf(line, sizeof(line), "%s\tend\t%s\n", say_name, how);

	if (write(STDOUT_FILENO, line, len) != len)
		_exit(1);
}

static int count(const char *key)
{
	int i;

	for (i = 0; i < MAX_KEYS - 1 && said[i].key; i++) {
		if (!strcmp(said[i].key, key))
			break;
	}
	said[i].key = key;
	return said[i].count++;
}

/**
 * say - print a line
 * @key: the step; it is printed with the number of calls so far and how often
 *	it came since the last one, so that one event more or less does not give
 *	all that follows another name
 * @format: the result
 */
void say(const char *key, const char *format, ...)
{
	char line[1024];
	va_list args;
	int len;

	len = snprintf(line, sizeof(line), "%s\t%02d.%s.%d\t", say_name,
		       say_calls, key, count(key));
	va_start(args, format);
	len += vsnprintf(line + len, sizeof(line) - len, format, args);
	va_end(args);
	line[len++] = '\n';
	if (write(STDOUT_FILENO, line, len) != len)
		_exit(1);
}

/**
 * say_ret - print what a call returned, with errno where it failed
 * @key: the step
 * @ret: what it returned
 *
 * Return: @ret.
 */
int say_ret(const char *key, int ret)
{
	const char *name = strerrorname_np(errno);

	say_calls++;
	memset(said, 0, sizeof(said));
	if (ret != -1)
		say(key, "%d", ret);
	else if (name)
		say(key, "-1,%s", name);
	else
		say(key, "-1,errno=%d", errno);
	return ret;
}

/**
 * addr_text - an address without its port
 * @addr: address
 * @to: where to put the text
 * @size: of @to
 *
 * Return: @to.
 */
const char *addr_text(const struct sockaddr *addr, char *to, size_t size)
{
	const struct sockaddr_in6 *sin6 = (const void *)addr;
	const struct sockaddr_in *sin = (const void *)addr;

	snprintf(to, size, "family%d", addr->sa_family);
	if (addr->sa_family == AF_INET)
		inet_ntop(AF_INET, &sin->sin_addr, to, size);
	else if (addr->sa_family == AF_INET6)
		inet_ntop(AF_INET6, &sin6->sin6_addr, to, size);
	return to;
}

/* How much of the pattern it is, and whether only zeros follow. */
static const char *data_text(const void *data, int len, char *to, size_t size)
{
	const unsigned char *byte = data;
	unsigned char sent[256]; /* a length of private data has eight bits */
	int i, good;

	if (!data) {
		snprintf(to, size, "%d:none", len);
		return to;
	}
	pattern(sent, sizeof(sent));
	for (good = 0; good < len && byte[good] == sent[good]; good++)
		;
	for (i = good; i < len && !byte[i]; i++)
		;
	snprintf(to, size, "%d:%d%s", len, good, i < len ? "+garbage" : "");
	return to;
}

/* Own ports by their number, others by their kind. */
static const char *port_text(const struct world *w, __be16 port, char *to,
			     size_t size)
{
	int n = ntohs(port), own = n - w->job->port;

	if (!n)
		snprintf(to, size, "0");
	else if (own >= 0 && own < SEQ_PORTS)
		snprintf(to, size, "P%d", own);
	else if (n >= 32768)
		snprintf(to, size, "ephemeral");
	else
		snprintf(to, size, "%d", n);
	return to;
}

static const char *id_name(const struct world *w, const struct rdma_cm_id *id)
{
	if (!id)
		return "-";
	if (id == w->id)
		return "id";
	if (id == w->peer)
		return "peer";
	if (id == w->listener)
		return "listener";
	return "new";
}

static void say_conn(const char *key, const char *head,
		     const struct rdma_conn_param *param)
{
	char data[64];

	say(key, "%s,data=%s,rr=%d,id=%d,fc=%d,retry=%d,rnr=%d,srq=%d,qp=%d",
	    head,
	    data_text(param->private_data, param->private_data_len, data,
		      sizeof(data)),
	    param->responder_resources, param->initiator_depth,
	    param->flow_control, param->retry_count, param->rnr_retry_count,
	    param->srq, !!param->qp_num);
}

static bool gid_set(const union ibv_gid *gid)
{
	return gid->global.subnet_prefix || gid->global.interface_id;
}

/* The private data of a join's event is the context, a pointer. */
static void say_ud(const char *key, const char *head,
		   const struct rdma_cm_event *event)
{
	const struct rdma_ud_param *param = &event->param.ud;
	const struct ibv_ah_attr *ah = &param->ah_attr;
	bool join = event->event == RDMA_CM_EVENT_MULTICAST_JOIN ||
		    event->event == RDMA_CM_EVENT_MULTICAST_ERROR;
	char data[64];

	if (join)
		snprintf(data, sizeof(data), "%p", param->private_data);
	else
		data_text(param->private_data, param->private_data_len, data,
			  sizeof(data));
	say(key,
	    "%s,data=%s,qp=%s,qkey=%#x,dgid=%d,flow=%d,sgid=%d,hop=%d,tc=%d,dlid=%d,sl=%d,bits=%d,rate=%d,global=%d,port=%d",
	    head, data,
	    !param->qp_num	      ? "0" :
	    param->qp_num == 0xffffff ? "multicast" :
					"set",
	    param->qkey, gid_set(&ah->grh.dgid), !!ah->grh.flow_label,
	    !!ah->grh.sgid_index, ah->grh.hop_limit, ah->grh.traffic_class,
	    ah->dlid, ah->sl, ah->src_path_bits, ah->static_rate, ah->is_global,
	    ah->port_num);
}

static bool has_param(enum rdma_cm_event_type type)
{
	return type != RDMA_CM_EVENT_ADDR_RESOLVED &&
	       type != RDMA_CM_EVENT_ADDR_ERROR &&
	       type != RDMA_CM_EVENT_ROUTE_RESOLVED &&
	       type != RDMA_CM_EVENT_ROUTE_ERROR;
}

/**
 * say_event - print an event
 * @w: whose identifiers it names
 * @key: the step
 * @event: event
 */
void say_event(const struct world *w, const char *key,
	       const struct rdma_cm_event *event)
{
	const char *error = strerrorname_np(-event->status);
	char head[160], status[32];

	snprintf(status, sizeof(status), "%d", event->status);
	snprintf(head, sizeof(head), "%s,status=%s,%s,listen=%s",
		 rdma_event_str(event->event) + strlen("RDMA_CM_EVENT_"),
		 event->status < 0 && error ? error : status,
		 id_name(w, event->id), id_name(w, event->listen_id));
	if (!has_param(event->event))
		say(key, "%s", head);
	else if (event->id->qp_type == IBV_QPT_UD)
		say_ud(key, head, event);
	else
		say_conn(key, head, &event->param.conn);
}

/* Members that mean nothing on RoCE are what librdmacm did not write. */
static void say_path(const char *key, const struct ibv_sa_path_rec *path)
{
	say(key,
	    "sgid=%d,dgid=%d,flow=%d,hop=%d,tc=%d,reversible=%d,pkey=%#x,sl=%d,mtu=%d:%d,rate=%d:%d,life=%d:%d",
	    gid_set(&path->sgid), gid_set(&path->dgid), !!path->flow_label,
	    path->hop_limit, path->traffic_class, path->reversible,
	    ntohs(path->pkey), path->sl, path->mtu_selector, path->mtu,
	    path->rate_selector, path->rate, path->packet_life_time_selector,
	    path->packet_life_time);
}

/**
 * say_id - print what an application can see of an identifier
 * @w: whose it is
 * @key: the step
 * @id: identifier
 */
void say_id(const struct world *w, const char *key, const struct rdma_cm_id *id)
{
	const struct rdma_addr *addr = &id->route.addr;
	char src[64], dst[64], src_port[16], dst_port[16];
	struct rdma_cm_id *asked = (struct rdma_cm_id *)id;

	say(key,
	    "src=%s:%s,dst=%s:%s,sgid=%d,dgid=%d,pkey=%#x,paths=%d,verbs=%d,pd=%d,port=%d,ps=%#x,type=%d,qp=%d,srq=%d,cqs=%d%d,channels=%d%d,event=%d,context=%p",
	    addr_text(&addr->src_addr, src, sizeof(src)),
	    port_text(w, rdma_get_src_port(asked), src_port, sizeof(src_port)),
	    addr_text(&addr->dst_addr, dst, sizeof(dst)),
	    port_text(w, rdma_get_dst_port(asked), dst_port, sizeof(dst_port)),
	    gid_set(&addr->addr.ibaddr.sgid),
	    /* Without a destination it means nothing. */
	    rdma_get_dst_port(asked) && gid_set(&addr->addr.ibaddr.dgid),
	    ntohs(addr->addr.ibaddr.pkey), id->route.num_paths, !!id->verbs,
	    !!id->pd, id->port_num, id->ps, id->qp_type, !!id->qp, !!id->srq,
	    !!id->send_cq, !!id->recv_cq, !!id->send_cq_channel,
	    !!id->recv_cq_channel, !!id->event, id->context);
	if (id->qp)
		say("qp", "state=%d", qp_state(id->qp));
	if (id->route.num_paths)
		say_path("path", id->route.path_rec);
}
