// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * An identifier's life: create, hold, change state, hand an event up, destroy.
 */
#include <linux/hash.h>
#include <linux/memcontrol.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "rcm_priv.h"
#include "trace.h"

#define RCM_TABLE_BITS 6

/* Every identifier, for people to look at; nothing else is found here. */
struct rcm_table_bucket {
	spinlock_t lock; /* protects head and rcm_id.table_node */
	struct hlist_head head;
};

static struct rcm_table_bucket rcm_table[1 << RCM_TABLE_BITS];
static struct kmem_cache *rcm_id_cache;
static atomic_t rcm_last_number = ATOMIC_INIT(0);

static struct rcm_table_bucket *rcm_table_bucket(u32 number)
{
	return &rcm_table[hash_32(number, RCM_TABLE_BITS)];
}

static void rcm_id_deferred(struct work_struct *work);

/**
 * rcm_id_create - make an identifier
 * @net: namespace that it belongs to
 * @handler: called for its events, with the identifier's mutex held when
 *	@inline_events, with its handler_mutex alone otherwise
 * @context: for @handler
 * @ps: port space, checked by the caller
 * @qp_type: type of the queue pair
 * @inline_events: @handler may be called from within the caller's own calls;
 *	it then has to return 0
 *
 * Context: process; may sleep.
 * Return: the identifier, with one reference that rcm_id_destroy() gives
 * back, or an ERR_PTR: -ENOMEM.
 */
struct rcm_id *rcm_id_create(struct net *net, rdma_cm_event_handler handler,
			     void *context, enum rdma_ucm_port_space ps,
			     enum ib_qp_type qp_type, bool inline_events)
{
	struct rcm_table_bucket *bucket;
	struct rcm_id *priv;

	priv = kmem_cache_zalloc(rcm_id_cache, rcm_gfp(inline_events));
	if (!priv)
		return ERR_PTR(-ENOMEM);

	priv->id.context = context;
	priv->id.event_handler = handler;
	priv->id.ps = ps;
	priv->id.qp_type = qp_type;
	priv->id.route.addr.dev_addr.net = get_net(net);
	priv->net = net;
	/* The caller's, or in a callback the one that pays for that. */
	if (inline_events)
		priv->memcg = get_mem_cgroup_from_mm(NULL);
	priv->number = atomic_inc_return(&rcm_last_number);
	priv->state = RCM_STATE_IDLE;
	priv->inline_events = inline_events;
	priv->psn = get_random_u32() & 0xffffff;
	refcount_set(&priv->refs, 1);
	mutex_init(&priv->handler_mutex);
	mutex_init(&priv->mutex);
	INIT_WORK(&priv->deferred_work, rcm_id_deferred);
	INIT_LIST_HEAD(&priv->device_node);
	INIT_LIST_HEAD(&priv->listens);
	INIT_LIST_HEAD(&priv->wildcard_node);
	INIT_LIST_HEAD(&priv->mcasts);
	INIT_HLIST_NODE(&priv->listen_node);
	priv->node_type = RDMA_NODE_UNSPECIFIED;
	priv->connect_tries = RCM_CONNECT_TRIES;

	bucket = rcm_table_bucket(priv->number);
	spin_lock(&bucket->lock);
	hlist_add_head(&priv->table_node, &bucket->head);
	spin_unlock(&bucket->lock);
	return priv;
}

struct rcm_id *rcm_id_get(struct rcm_id *priv)
{
	refcount_inc(&priv->refs);
	return priv;
}

static void rcm_id_free_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(rcm_id_cache, container_of(rcu, struct rcm_id, rcu));
}

void rcm_id_put(struct rcm_id *priv)
{
	struct rcm_table_bucket *bucket;

	if (!refcount_dec_and_test(&priv->refs))
		return;

	bucket = rcm_table_bucket(priv->number);
	spin_lock(&bucket->lock);
	hlist_del(&priv->table_node);
	spin_unlock(&bucket->lock);

	kfree(priv->addr_req);
	kfree(priv->peer);
	put_net(priv->net);
	mem_cgroup_put(priv->memcg);
	mutex_destroy(&priv->mutex);
	mutex_destroy(&priv->handler_mutex);
	call_rcu(&priv->rcu, rcm_id_free_rcu);
}

/**
 * rcm_id_move - change the state, if that is allowed
 * @priv: identifier, with its mutex held
 * @op: what happens to it
 *
 * The only place that changes a state.
 *
 * Return: 0; what rcm_state_next() says when @op is not allowed.
 */
int rcm_id_move(struct rcm_id *priv, enum rcm_op op)
{
	enum rcm_state from = priv->state;
	int next = rcm_state_next(from, op);

	lockdep_assert_held(&priv->mutex);

	if (next >= 0)
		WRITE_ONCE(priv->state, next);
	trace_rcm_state(priv, op, from, next);
	if (from == RCM_STATE_REQ_SENT && next >= 0 && next != from)
		rcm_pace_leave(priv, op);
	return next < 0 ? next : 0;
}

/**
 * rcm_id_allows - whether the state allows what the consumer wants
 * @priv: identifier, with its mutex held
 * @op: what it wants
 *
 * Return: 0; what rcm_state_next() says when it does not, and that is
 * remembered as the reason.
 */
int rcm_id_allows(struct rcm_id *priv, enum rcm_op op)
{
	int next = rcm_state_next(priv->state, op);

	if (next >= 0)
		return 0;
	if (next == -ENODEV)
		rcm_id_blame(priv, RCM_STEP_REMOVAL, next, priv->reason_device);
	else
		rcm_id_blame(priv, RCM_STEP_STATE, next, 0);
	return next;
}

/**
 * rcm_id_begin - move on by what the consumer wants, if the state allows it
 * @priv: identifier, with its mutex held
 * @op: what it wants
 *
 * Return: as rcm_id_allows(); the state is as it was unless it is 0.
 */
int rcm_id_begin(struct rcm_id *priv, enum rcm_op op)
{
	return rcm_id_allows(priv, op) ?: rcm_id_move(priv, op);
}

/**
 * rcm_id_no_reason - a new operation begins
 * @priv: identifier, with its mutex held
 */
void rcm_id_no_reason(struct rcm_id *priv)
{
	memset(&priv->reason, 0, sizeof(priv->reason));
}

/**
 * rcm_reason_for - what an error means of which nobody said more
 * @reason: filled in, unless it says something already
 * @error: negative errno
 */
void rcm_reason_for(struct rcm_reason *reason, int error)
{
	if (reason->step != RCM_STEP_NONE)
		return;

	switch (error) {
	case -ENOMEM:
	case -EMFILE:
	case -ENOBUFS:
		reason->step = RCM_STEP_RESOURCES;
		break;
	case -ENODEV:
		reason->step = RCM_STEP_REMOVAL;
		break;
	default:
		reason->step = RCM_STEP_PARAM;
		break;
	}
	reason->error = error;
}

/**
 * rcm_id_judge - an operation ended
 * @priv: identifier, with its mutex held
 * @error: 0 or a negative errno; one of which nobody said more is explained
 */
void rcm_id_judge(struct rcm_id *priv, int error)
{
	if (!error || priv->reason.step != RCM_STEP_NONE)
		return;
	rcm_reason_for(&priv->reason, error);
	if (error == -ENODEV)
		priv->reason.detail = priv->reason_device;
	trace_rcm_reason(priv, &priv->reason);
}

/**
 * rcm_step_text - a step in words
 * @step: step
 */
const char *rcm_step_text(u32 step)
{
	static const char *const texts[] = RCM_STEP_TEXTS;

	return step < ARRAY_SIZE(texts) ? texts[step] : "unknown";
}

/**
 * rcm_id_blame_link - remember why an operation failed, and on which interface
 * @priv: identifier, with its mutex held
 * @step: what was being done
 * @error: negative errno, or 0
 * @ifindex: network interface concerned, or 0
 * @detail: the peer's reason, the RDMA device's index, or 0
 */
void rcm_id_blame_link(struct rcm_id *priv, enum rcm_step step, int error,
		       int ifindex, u32 detail)
{
	priv->reason.step = step;
	priv->reason.error = error;
	priv->reason.ifindex = ifindex;
	priv->reason.detail = detail;
	trace_rcm_reason(priv, &priv->reason);
}

/**
 * rcm_id_blame - remember why an operation failed
 * @priv: identifier, with its mutex held; on its interface, if it has one
 * @step: what was being done
 * @error: negative errno, or 0
 * @detail: the peer's reason, the RDMA device's index, or 0
 */
void rcm_id_blame(struct rcm_id *priv, enum rcm_step step, int error,
		  u32 detail)
{
	rcm_id_blame_link(priv, step, error, priv->ifindex, detail);
}

/**
 * rcm_id_dispatch - hand an event to the consumer
 * @priv: identifier, with its mutex held, and its handler_mutex too unless the
 *	consumer takes events inline
 * @event: the event; its private data is valid during the call only
 *
 * The handler and its context are read anew each time: a consumer may change
 * them. A kernel consumer's handler runs without the mutex, so the state may
 * be another one afterwards; the identifier is not destroyed meanwhile.
 *
 * Return: what the handler says; not 0 asks for the identifier to be
 * destroyed, and the caller has to do that with rcm_id_destroy_unlock().
 */
int rcm_id_dispatch(struct rcm_id *priv, struct rdma_cm_event *event)
{
	int ret;

	lockdep_assert_held(&priv->mutex);

	trace_rcm_event(priv, event);
	if (priv->inline_events)
		return priv->id.event_handler(&priv->id, event);

	lockdep_assert_held(&priv->handler_mutex);
	mutex_unlock(&priv->mutex);
	ret = priv->id.event_handler(&priv->id, event);
	mutex_lock(&priv->mutex);
	return ret;
}

/**
 * rcm_id_report - hand up an event that carries nothing but a status
 * @priv: identifier, with its mutex held
 * @type: event
 * @status: negative errno or 0
 *
 * Return: as rcm_id_dispatch().
 */
int rcm_id_report(struct rcm_id *priv, enum rdma_cm_event_type type, int status)
{
	struct rdma_cm_event event = {
		.event = type,
		.status = status,
	};

	return rcm_id_dispatch(priv, &event);
}

static int rcm_id_do(struct rcm_id *priv)
{
	int ret = 0;

	/* What it would work on is going, without the mutex. */
	if (priv->state == RCM_STATE_DESTROYING)
		return 0;
	if (test_and_clear_bit(RCM_DEFER_COMM_EST, &priv->deferred))
		rcm_id_notify(priv, IB_EVENT_COMM_EST);
	if (test_and_clear_bit(RCM_DEFER_ROUTE, &priv->deferred))
		ret = rcm_route_complete(priv);
	if (!ret && test_and_clear_bit(RCM_DEFER_MCAST, &priv->deferred))
		ret = rcm_mcast_report(priv);
	return ret;
}

/* What an operation left to a workqueue. */
static void rcm_id_deferred(struct work_struct *work)
{
	struct rcm_id *priv = container_of(work, struct rcm_id, deferred_work);

	rcm_id_lock_events(priv);
	if (rcm_id_do(priv))
		rcm_id_destroy_unlock(priv);
	else
		rcm_id_unlock_events(priv);
	rcm_id_put(priv);
}

/**
 * rcm_id_defer - leave something to a workqueue
 * @priv: identifier that the caller has a reference on
 * @what: what is to be done; when it is waiting already, it is done once
 *
 * Context: any.
 */
void rcm_id_defer(struct rcm_id *priv, enum rcm_deferred what)
{
	set_bit(what, &priv->deferred);
	rcm_id_get(priv);
	if (!queue_work(rcm_wq, &priv->deferred_work))
		rcm_id_put(priv);
}

/**
 * rcm_id_lock_events - lock an identifier for something that may call its
 *	handler
 * @priv: identifier
 *
 * What is not an operation of the consumer's own starts with this.
 */
void rcm_id_lock_events(struct rcm_id *priv)
{
	mutex_lock(&priv->handler_mutex);
	mutex_lock(&priv->mutex);
}

/**
 * rcm_id_unlock_events - undo rcm_id_lock_events()
 * @priv: identifier
 */
void rcm_id_unlock_events(struct rcm_id *priv)
{
	mutex_unlock(&priv->mutex);
	mutex_unlock(&priv->handler_mutex);
}

/* The state is DESTROYING: nobody else touches the identifier any more. */
static void rcm_id_teardown(struct rcm_id *priv)
{
	rcm_connect_stop_timer(priv);
	if (cancel_work(&priv->deferred_work))
		rcm_id_put(priv);
	rcm_mcast_leave_all(priv);
	rcm_listen_stop(priv);
	if (priv->addr_req && rcm_addr_cancel(priv->addr_req))
		rcm_id_put(priv);
	if (priv->cm)
		rcm_cm_destroy(priv, priv->device, priv->cm);
	if (priv->space)
		rcm_port_release(priv->space, &priv->binding);
	rcm_device_detach(priv);
	rcm_id_put(priv);
}

/**
 * rcm_id_destroy_unlock - destroy an identifier from within its own callback
 * @priv: identifier, with both of its mutexes held, which are released
 *
 * For callers that just got a non-zero return from the consumer's handler.
 * A transport whose callback this is has set priv->cm to %NULL before.
 * Does nothing more than unlock when it is being destroyed already.
 *
 * Context: process; sleeps.
 */
void rcm_id_destroy_unlock(struct rcm_id *priv)
{
	int ret = rcm_id_move(priv, RCM_OP_DESTROY);

	rcm_id_unlock_events(priv);
	if (!ret)
		rcm_id_teardown(priv);
}

/**
 * rcm_id_destroy - destroy an identifier
 * @priv: identifier; not from within its own handler
 *
 * When it returns no callback runs and none will, and the port is free.
 *
 * Context: process; sleeps.
 */
void rcm_id_destroy(struct rcm_id *priv)
{
	rcm_id_lock_events(priv);
	rcm_id_destroy_unlock(priv);
}

static void rcm_id_path(struct rcm_id *priv, struct rcm_path *to)
{
	const struct sa_path_rec *path = &priv->peer->path;

	memcpy(to->dgid, path->dgid.raw, sizeof(to->dgid));
	memcpy(to->sgid, path->sgid.raw, sizeof(to->sgid));
	to->flow_label = be32_to_cpu(path->flow_label);
	to->pkey = be16_to_cpu(path->pkey);
	to->hop_limit = path->hop_limit;
	to->traffic_class = path->traffic_class;
	to->sl = path->sl;
	to->mtu = path->mtu;
	to->rate = path->rate;
	to->packet_life_time = path->packet_life_time;
	to->reversible = path->reversible;
}

/**
 * rcm_id_endpoint - tell where an identifier stands
 * @priv: identifier, with its mutex held
 * @to: written whole
 */
void rcm_id_endpoint(struct rcm_id *priv, struct rcm_endpoint *to)
{
	union ib_gid gid;

	rcm_addr_put_user(&to->src, rcm_src(priv));
	rcm_addr_put_user(&to->dst, rcm_dst(priv));
	memset_startat(to, 0, sgid);
	to->ibdev_index = ~0U;
	to->ifindex = priv->ifindex;
	to->state = priv->state;
	to->ps = priv->id.ps;
	to->qp_type = priv->id.qp_type;
	if (priv->device) {
		to->node_guid = priv->device->ib->node_guid;
		to->ibdev_index = priv->device->ib->index;
		to->port_num = priv->id.port_num;
		to->pkey = 0xffff;
	}
	if (priv->sgid_attr)
		memcpy(to->sgid, priv->sgid_attr->gid.raw, sizeof(to->sgid));
	if (rcm_dst(priv)->sa.sa_family) {
		rcm_addr_to_gid(rcm_dst(priv), &gid);
		memcpy(to->dgid, gid.raw, sizeof(to->dgid));
	}
	if (priv->id.route.path_rec) {
		to->num_paths = 1;
		rcm_id_path(priv, &to->path);
	}
}

static void rcm_show_addr(struct seq_file *seq, const union rcm_addr *addr)
{
	if (addr->sa.sa_family)
		seq_printf(seq, " %pISpc", addr);
	else
		seq_puts(seq, " -");
}

/**
 * rcm_id_show_all - list all identifiers
 * @seq: where to
 */
void rcm_id_show_all(struct seq_file *seq)
{
	struct rcm_id *priv;
	unsigned int i;

	seq_puts(seq, "id state ps src dst port ifindex\n");
	for (i = 0; i < ARRAY_SIZE(rcm_table); i++) {
		spin_lock(&rcm_table[i].lock);
		hlist_for_each_entry(priv, &rcm_table[i].head, table_node) {
			seq_printf(seq, "%u %s 0x%x", priv->number,
				   rcm_state_name(READ_ONCE(priv->state)),
				   priv->id.ps);
			rcm_show_addr(seq, rcm_src(priv));
			rcm_show_addr(seq, rcm_dst(priv));
			seq_printf(seq, " %u %d\n", priv->id.port_num,
				   priv->ifindex);
		}
		spin_unlock(&rcm_table[i].lock);
	}
}

int rcm_id_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rcm_table); i++)
		spin_lock_init(&rcm_table[i].lock);
	rcm_id_cache = KMEM_CACHE(rcm_id, SLAB_ACCOUNT);
	return rcm_id_cache ? 0 : -ENOMEM;
}

void rcm_id_exit(void)
{
	rcu_barrier();
	kmem_cache_destroy(rcm_id_cache);
}
