// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Connection requests are paced: no more of them are on their way to a
 * destination than it can answer before they would be sent again.  The others
 * wait here, and are sent as answers come in; each process in its turn.
 *
 * A destination is an address with its port, as seen from a port of a device:
 * a service that never answers delays nobody who wants another one.
 *
 * A peer that answers nothing at all need not be busy: it may be gone, or wait
 * until everybody has asked.  So while it is silent more and more are sent.
 */
#include <linux/hash.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "pace_window.h"
#include "rcm_priv.h"

static unsigned int pace_max = 1024;
module_param(pace_max, uint, 0644);
MODULE_PARM_DESC(
	pace_max,
	"Requests to one destination that may be unanswered, at most; 0 for no limit");

static unsigned int pace_min = 8;
module_param(pace_min, uint, 0644);
MODULE_PARM_DESC(
	pace_min,
	"Requests to one destination that may be unanswered however slow it is");

static unsigned int pace_delay_ms = 500;
module_param(pace_delay_ms, uint, 0644);
MODULE_PARM_DESC(
	pace_delay_ms,
	"How much later than the quickest answer others may come before fewer requests are sent");

#define RCM_PACE_BITS	8
#define RCM_PACE_QUEUES 16

/**
 * struct rcm_pacer - the requests to one destination
 * @node: in the bucket
 * @bucket: its lock protects all of this
 * @device: the device they leave by; without reference: idle ones go with it
 * @port_num: its port
 * @ps: port space of the destination
 * @dst: the destination
 * @window: how many may be on their way
 * @users: who holds it: a request on its way, one that waits or is about to,
 *	and @silence while it runs
 * @in_flight: requests on their way
 * @waiting: requests in @queues
 * @turn: queue that is looked at next
 * @extra: requests that may be on their way beyond the window, as the peer is
 *	silent
 * @answered: when an answer came last, or silence led to more, jiffies
 * @silence: runs while there are any in @queues
 * @watched: @silence runs; it has a reference on @device
 * @queues: struct rcm_pace_wait; a process's are all in one
 *
 * One that is idle stays, as it knows the peer, until its place in the bucket
 * is wanted or the device goes.
 */
struct rcm_pacer {
	struct hlist_node node;
	struct rcm_pace_bucket *bucket;
	struct rcm_device *device;
	u32 port_num;
	enum rdma_ucm_port_space ps;
	union rcm_addr dst;
	struct rcm_window window;
	u32 users;
	u32 in_flight;
	u32 waiting;
	unsigned int turn;
	u32 extra;
	unsigned long answered;
	struct delayed_work silence;
	bool watched;
	struct list_head queues[RCM_PACE_QUEUES];
};

/**
 * struct rcm_pace_wait - a request that waits to be sent
 * @node: in a queue, until its turn has come; lock: the bucket's
 * @work: sends it
 * @priv: the identifier, with a reference
 * @conn: what the consumer asked for, with private data in @data
 * @data: a copy of it
 */
struct rcm_pace_wait {
	struct list_head node;
	struct work_struct work;
	struct rcm_id *priv;
	struct rdma_conn_param conn;
	u8 data[];
};

struct rcm_pace_bucket {
	spinlock_t lock; /* protects the pacers on head */
	struct hlist_head head;
};

static struct rcm_pace_bucket rcm_pace_table[1 << RCM_PACE_BITS];

/* Since the module was loaded, for people. */
static atomic64_t rcm_pace_waited;
static atomic64_t rcm_pace_late;
static atomic64_t rcm_pace_lost;
static atomic64_t rcm_pace_dropped;

static struct rcm_window_limits rcm_pace_limits(void)
{
	u32 max = max(READ_ONCE(pace_max), 1U);

	return (struct rcm_window_limits){
		.min = clamp(READ_ONCE(pace_min), 1U, max),
		.max = max,
		.delay = msecs_to_jiffies(READ_ONCE(pace_delay_ms)),
	};
}

static struct rcm_pace_bucket *rcm_pace_bucket(struct rcm_id *priv)
{
	u32 seed = hash_ptr(priv->device, 32) ^ priv->id.port_num;

	return &rcm_pace_table[hash_32(rcm_addr_hash(rcm_dst(priv), seed),
				       RCM_PACE_BITS)];
}

static bool rcm_pacer_is_for(const struct rcm_pacer *pacer, struct rcm_id *priv)
{
	return pacer->device == priv->device &&
	       pacer->port_num == priv->id.port_num &&
	       pacer->ps == priv->id.ps &&
	       rcm_addr_port(&pacer->dst) == rcm_addr_port(rcm_dst(priv)) &&
	       rcm_addr_equal(&pacer->dst, rcm_dst(priv));
}

/* The bucket's lock is held. */
static struct rcm_pacer *rcm_pacer_find(struct rcm_pace_bucket *bucket,
					struct rcm_id *priv)
{
	struct rcm_pacer *pacer;

	hlist_for_each_entry(pacer, &bucket->head, node) {
		if (rcm_pacer_is_for(pacer, priv))
			return pacer;
	}
	return NULL;
}

static void rcm_pacer_silent(struct work_struct *work);

static struct rcm_pacer *rcm_pacer_alloc(struct rcm_pace_bucket *bucket,
					 struct rcm_id *priv)
{
	const struct rcm_window_limits limits = rcm_pace_limits();
	struct rcm_pacer *pacer = kzalloc(sizeof(*pacer), GFP_KERNEL_ACCOUNT);
	unsigned int i;

	if (!pacer)
		return NULL;
	pacer->bucket = bucket;
	pacer->device = priv->device;
	pacer->port_num = priv->id.port_num;
	pacer->ps = priv->id.ps;
	pacer->dst = *rcm_dst(priv);
	INIT_DELAYED_WORK(&pacer->silence, rcm_pacer_silent);
	rcm_window_init(&pacer->window, &limits);
	for (i = 0; i < RCM_PACE_QUEUES; i++)
		INIT_LIST_HEAD(&pacer->queues[i]);
	return pacer;
}

/* The bucket's lock is held. Of @device, or all for %NULL. */
static void rcm_pacer_free_idle(struct rcm_pace_bucket *bucket,
				const struct rcm_device *device)
{
	struct hlist_node *next;
	struct rcm_pacer *pacer;

	hlist_for_each_entry_safe(pacer, next, &bucket->head, node) {
		if (pacer->users || (device && pacer->device != device))
			continue;
		hlist_del(&pacer->node);
		kfree(pacer);
	}
}

/* Returns with its bucket's lock held, unless it is %NULL: no memory. */
static struct rcm_pacer *rcm_pacer_lock(struct rcm_id *priv)
{
	struct rcm_pace_bucket *bucket = rcm_pace_bucket(priv);
	struct rcm_pacer *pacer, *fresh;

	spin_lock(&bucket->lock);
	pacer = rcm_pacer_find(bucket, priv);
	if (pacer)
		return pacer;
	spin_unlock(&bucket->lock);

	fresh = rcm_pacer_alloc(bucket, priv);
	if (!fresh)
		return NULL;
	spin_lock(&bucket->lock);
	pacer = rcm_pacer_find(bucket, priv);
	if (pacer) {
		kfree(fresh);
		return pacer;
	}
	rcm_pacer_free_idle(bucket, NULL);
	hlist_add_head(&fresh->node, &bucket->head);
	return fresh;
}

static void rcm_pace_send(struct work_struct *work);

static struct rcm_pace_wait *
rcm_pace_wait_alloc(struct rcm_id *priv, const struct rdma_conn_param *conn)
{
	struct rcm_pace_wait *wait;

	wait = kzalloc(struct_size(wait, data, conn->private_data_len),
		       GFP_KERNEL_ACCOUNT);
	if (!wait)
		return NULL;
	INIT_WORK(&wait->work, rcm_pace_send);
	wait->priv = rcm_id_get(priv);
	wait->conn = *conn;
	if (conn->private_data_len)
		memcpy(wait->data, conn->private_data, conn->private_data_len);
	wait->conn.private_data = wait->data;
	return wait;
}

static void rcm_pace_wait_free(struct rcm_pace_wait *wait)
{
	rcm_id_put(wait->priv);
	kfree(wait);
}

/* How many more may be on their way, if any. */
static u32 rcm_pacer_room(const struct rcm_pacer *pacer)
{
	const struct rcm_window_limits limits = rcm_pace_limits();
	u32 most;

	if (!READ_ONCE(pace_max))
		return U32_MAX;
	most = rcm_window_size(&pacer->window, &limits) + pacer->extra;
	return most - min(most, pacer->in_flight);
}

/*
 * A thread that wakes for each one would take the processor from those who
 * answer: so they go a quarter of a window at a time.
 */
static bool rcm_pacer_is_due(const struct rcm_pacer *pacer)
{
	u32 room = rcm_pacer_room(pacer);

	return room && (room >= pacer->waiting || room >= pacer->in_flight / 3);
}

/* The next of those that wait; there is one. */
static struct rcm_pace_wait *rcm_pacer_next(struct rcm_pacer *pacer)
{
	struct list_head *queue;

	do {
		queue = &pacer->queues[pacer->turn];
		pacer->turn = (pacer->turn + 1) % RCM_PACE_QUEUES;
	} while (list_empty(queue));
	return list_first_entry(queue, struct rcm_pace_wait, node);
}

/*
 * Lets go what there is room for. From a device that goes nothing is sent any
 * more: each identifier is about to be told. The bucket's lock is held.
 */
static void rcm_pacer_run(struct rcm_pacer *pacer)
{
	struct rcm_pace_wait *wait;

	if (READ_ONCE(pacer->device->dead) || !rcm_pacer_is_due(pacer))
		return;
	while (pacer->waiting && rcm_pacer_room(pacer)) {
		wait = rcm_pacer_next(pacer);
		list_del_init(&wait->node);
		pacer->waiting--;
		pacer->in_flight++;
		queue_work(rcm_wq, &wait->work);
	}
}

/* Those that wait are not forgotten. The bucket's lock is held. */
static void rcm_pacer_watch(struct rcm_pacer *pacer)
{
	const struct rcm_window_limits limits = rcm_pace_limits();

	if (pacer->watched || !pacer->waiting)
		return;
	pacer->watched = true;
	pacer->users++;
	rcm_device_get(pacer->device);
	pacer->answered = jiffies;
	queue_delayed_work(rcm_wq, &pacer->silence, limits.delay);
}

/* Undoes rcm_pacer_watch(). The bucket's lock is held. */
static void rcm_pacer_watched(struct rcm_pacer *pacer)
{
	pacer->watched = false;
	pacer->users--;
	rcm_device_put(pacer->device);
}

/* Nobody waits any more. The bucket's lock is held. */
static void rcm_pacer_unwatch(struct rcm_pacer *pacer)
{
	if (pacer->watched && !pacer->waiting &&
	    cancel_delayed_work(&pacer->silence))
		rcm_pacer_watched(pacer);
}

/* Was there no answer for as long as makes one late?  Then as many again go. */
static void rcm_pacer_silent(struct work_struct *work)
{
	struct rcm_pacer *pacer =
		container_of(to_delayed_work(work), struct rcm_pacer, silence);
	const struct rcm_window_limits limits = rcm_pace_limits();
	struct rcm_pace_bucket *bucket = pacer->bucket;
	unsigned long quiet;

	spin_lock(&bucket->lock);
	quiet = jiffies - pacer->answered;
	if (pacer->waiting && quiet >= limits.delay) {
		pacer->extra += max(pacer->in_flight, limits.min);
		pacer->answered = jiffies;
		quiet = 0;
		rcm_pacer_run(pacer);
	}
	if (pacer->waiting && !READ_ONCE(pacer->device->dead))
		queue_delayed_work(rcm_wq, &pacer->silence,
				   limits.delay - min(quiet, limits.delay));
	else
		rcm_pacer_watched(pacer);
	spin_unlock(&bucket->lock);
}

/* Its turn comes by itself. The bucket's lock is held. */
static void rcm_pacer_queue(struct rcm_pacer *pacer, struct rcm_pace_wait *wait)
{
	u32 queue = hash_32(current->tgid, ilog2(RCM_PACE_QUEUES));

	list_add_tail(&wait->node, &pacer->queues[queue]);
	pacer->waiting++;
	rcm_pacer_run(pacer);
	rcm_pacer_watch(pacer);
}

/**
 * rcm_pace_enter - ask whether a request may be sent now
 * @priv: identifier in state REQ_SENT, with its mutex held
 * @conn: what is to be sent
 *
 * Context: process; may sleep.
 * Return: 0: it may; 1: it waits, and rcm_connect_send_late() is called when
 * its turn has come, unless the state is another one by then; -ENOMEM.
 */
int rcm_pace_enter(struct rcm_id *priv, const struct rdma_conn_param *conn)
{
	struct rcm_peer *peer = priv->peer;
	struct rcm_pace_wait *wait;
	struct rcm_pacer *pacer;

	if (!priv->device->transport->try_ms || !READ_ONCE(pace_max))
		return 0;
	pacer = rcm_pacer_lock(priv);
	if (!pacer)
		return -ENOMEM;
	pacer->users++;
	if (!pacer->waiting && rcm_pacer_room(pacer)) {
		pacer->in_flight++;
		spin_unlock(&pacer->bucket->lock);
		peer->pacer = pacer;
		peer->sent = jiffies;
		return 0;
	}
	spin_unlock(&pacer->bucket->lock);

	wait = rcm_pace_wait_alloc(priv, conn);
	spin_lock(&pacer->bucket->lock);
	if (wait)
		rcm_pacer_queue(pacer, wait);
	else
		pacer->users--;
	spin_unlock(&pacer->bucket->lock);
	if (!wait)
		return -ENOMEM;
	peer->pacer = pacer;
	WRITE_ONCE(peer->wait, wait);
	atomic64_inc(&rcm_pace_waited);
	return 1;
}

static bool rcm_pace_is_answer(enum rcm_op op)
{
	return op == RCM_OP_REP_RCVD || op == RCM_OP_CONNECTED ||
	       op == RCM_OP_REJ_RCVD;
}

/* What became of a request says how busy the peer is. The lock is held. */
static void rcm_pacer_learn(struct rcm_pacer *pacer, struct rcm_id *priv,
			    enum rcm_op op)
{
	const struct rcm_window_limits limits = rcm_pace_limits();
	unsigned long sent = priv->peer->sent;
	unsigned long now = jiffies;
	unsigned int try_ms;

	if (rcm_pace_is_answer(op)) {
		rcm_window_answered(&pacer->window, &limits, sent, now,
				    pacer->waiting);
		pacer->answered = now;
		pacer->extra = 0;
		try_ms = priv->device->transport->try_ms(priv);
		if (now - sent > msecs_to_jiffies(try_ms))
			atomic64_inc(&rcm_pace_late);
	} else if (op == RCM_OP_NO_ANSWER) {
		rcm_window_lost(&pacer->window, &limits, sent, now);
		atomic64_inc(&rcm_pace_lost);
	}
}

/* Whether it still stood in its queue. The bucket's lock is held. */
static bool rcm_pacer_unqueue(struct rcm_pacer *pacer,
			      struct rcm_pace_wait *wait)
{
	if (list_empty(&wait->node))
		return false;
	list_del_init(&wait->node);
	pacer->waiting--;
	return true;
}

/**
 * rcm_pace_leave - a request waits for its answer no more
 * @priv: identifier that leaves state REQ_SENT, with its mutex held
 * @op: what happened to it
 *
 * What waited behind it may be sent.
 */
void rcm_pace_leave(struct rcm_id *priv, enum rcm_op op)
{
	struct rcm_peer *peer = priv->peer;
	struct rcm_pacer *pacer = peer->pacer;
	struct rcm_pace_wait *wait = peer->wait;
	bool queued;

	if (!pacer)
		return;
	peer->pacer = NULL;
	WRITE_ONCE(peer->wait, NULL);

	spin_lock(&pacer->bucket->lock);
	queued = wait && rcm_pacer_unqueue(pacer, wait);
	if (!queued)
		pacer->in_flight--;
	if (!wait)
		rcm_pacer_learn(pacer, priv, op);
	/* What was let through for want of answers is not for the next ones. */
	if (!pacer->in_flight && !pacer->waiting)
		pacer->extra = 0;
	rcm_pacer_run(pacer);
	rcm_pacer_unwatch(pacer);
	pacer->users--;
	spin_unlock(&pacer->bucket->lock);

	if (!wait)
		return;
	atomic64_inc(&rcm_pace_dropped);
	/* If its turn came just now, rcm_pace_send() waits for our mutex. */
	if (queued || cancel_work(&wait->work))
		rcm_pace_wait_free(wait);
}

/**
 * rcm_pace_waits - whether a request is still to be sent
 * @priv: identifier, with its mutex held unless a guess is enough
 */
bool rcm_pace_waits(struct rcm_id *priv)
{
	struct rcm_peer *peer = READ_ONCE(priv->peer);

	return peer && READ_ONCE(peer->wait);
}

/* The turn of a request has come. */
static void rcm_pace_send(struct work_struct *work)
{
	struct rcm_pace_wait *wait =
		container_of(work, struct rcm_pace_wait, work);
	struct rcm_id *priv = wait->priv;
	int ret = 0;

	rcm_id_lock_events(priv);
	if (priv->peer->wait == wait) {
		WRITE_ONCE(priv->peer->wait, NULL);
		priv->peer->sent = jiffies;
		ret = rcm_connect_send_late(priv, &wait->conn);
	}
	if (ret)
		rcm_id_destroy_unlock(priv);
	else
		rcm_id_unlock_events(priv);
	rcm_pace_wait_free(wait);
}

/**
 * rcm_pace_device_removed - forget what was learned of a device's peers
 * @device: device that no identifier has any more
 */
void rcm_pace_device_removed(const struct rcm_device *device)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rcm_pace_table); i++) {
		spin_lock(&rcm_pace_table[i].lock);
		rcm_pacer_free_idle(&rcm_pace_table[i], device);
		spin_unlock(&rcm_pace_table[i].lock);
	}
}

static void rcm_pacer_show(struct seq_file *seq, const struct rcm_pacer *pacer)
{
	const struct rcm_window_limits limits = rcm_pace_limits();

	seq_printf(seq, "%s %u 0x%x %pISpc %u %u %u\n",
		   dev_name(&pacer->device->ib->dev), pacer->port_num,
		   pacer->ps, &pacer->dst,
		   rcm_window_size(&pacer->window, &limits), pacer->in_flight,
		   pacer->waiting);
}

/**
 * rcm_pace_show - list the destinations that requests were sent to
 * @seq: where to
 */
void rcm_pace_show(struct seq_file *seq)
{
	struct rcm_pacer *pacer;
	unsigned int i;

	seq_puts(seq, "device port ps destination window in_flight waiting\n");
	for (i = 0; i < ARRAY_SIZE(rcm_pace_table); i++) {
		spin_lock(&rcm_pace_table[i].lock);
		hlist_for_each_entry(pacer, &rcm_pace_table[i].head, node)
			rcm_pacer_show(seq, pacer);
		spin_unlock(&rcm_pace_table[i].lock);
	}
}

/**
 * rcm_pace_show_totals - what became of all requests
 * @seq: where to
 */
void rcm_pace_show_totals(struct seq_file *seq)
{
	seq_puts(seq, "waited late lost dropped\n");
	seq_printf(seq, "%lld %lld %lld %lld\n",
		   atomic64_read(&rcm_pace_waited),
		   atomic64_read(&rcm_pace_late), atomic64_read(&rcm_pace_lost),
		   atomic64_read(&rcm_pace_dropped));
}

void rcm_pace_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rcm_pace_table); i++)
		spin_lock_init(&rcm_pace_table[i].lock);
}
