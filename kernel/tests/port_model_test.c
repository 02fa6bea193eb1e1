// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Port spaces: all orders of a few users, and many steps by chance, against a
 * model that walks over all users; then threads all at once.
 */
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/kthread.h>
#include <linux/prandom.h>
#include <linux/sched.h>

#include "port_fixture.h"
#include "tests.h"

/*
 * The model: a list of users in the order in which they came, and the rules
 * asked of each of them.  It knows addresses as numbers of a table.
 */
/* clang-format off */
static const struct {
	bool six;
	bool wild;
} hosts[HOSTS] = {
	[ANY4] = { false, true },
	[LOOP4] = { false, true },
	[A4] = { false, false },
	[B4] = { false, false },
	[ANY6] = { true, true },
	[LOOP6] = { true, true },
	[C6] = { true, false },
	[LL6_ETH1] = { true, false },
	[LL6_ETH2] = { true, false },
};

/* clang-format on */

struct model_user {
	enum host src, dst;
	u16 port, dst_port;
	bool reuse, v6only, listening;
};

struct model {
	struct model_user *users[USERS];
	int count;
};

static int model_check_src(struct model *model, struct model_user *me, u16 port)
{
	int i;

	for (i = model->count - 1; i >= 0; i--) {
		struct model_user *it = model->users[i];

		if (it == me || it->port != port || (me->reuse && it->reuse) ||
		    (me->v6only && it->v6only &&
		     hosts[me->src].six != hosts[it->src].six))
			continue;
		if (hosts[me->src].wild || hosts[it->src].wild)
			return NOTAVAIL;
		if (me->src == it->src)
			return INUSE;
	}
	return 0;
}

static bool model_meet(enum host a, enum host b)
{
	return a == b || hosts[a].wild || hosts[b].wild;
}

static int model_check_dst(struct model *model, struct model_user *me, u16 port,
			   enum host dst, u16 dst_port)
{
	int i;

	for (i = 0; dst && i < model->count; i++) {
		struct model_user *it = model->users[i];

		if (it != me && it->port == port && it->dst &&
		    (it->dst_port == dst_port || !it->dst_port || !dst_port) &&
		    model_meet(it->src, me->src) && model_meet(it->dst, dst))
			return NOTAVAIL;
	}
	return 0;
}

static void model_add(struct model *model, struct model_user *me, u16 port)
{
	me->port = port;
	model->users[model->count++] = me;
}

static int model_bind(struct model *model, struct model_user *me, u16 port)
{
	int ret;

	ret = model_check_src(model, me, port);
	if (!ret)
		ret = model_check_dst(model, me, port, me->dst, me->dst_port);
	if (!ret)
		model_add(model, me, port);
	return ret;
}

static int model_listen(struct model *model, struct model_user *me)
{
	int ret = !me->port || me->listening ?
			  -EINVAL :
			  model_check_src(model, me, me->port);

	if (!ret) {
		me->listening = true;
		me->reuse = false;
	}
	return ret;
}

static int model_connect(struct model *model, struct model_user *me,
			 enum host dst, u16 dst_port)
{
	int ret = !me->port || me->listening ?
			  -EINVAL :
			  model_check_dst(model, me, me->port, dst, dst_port);

	if (!ret) {
		me->dst = dst;
		me->dst_port = dst_port;
	}
	return ret;
}

static void model_release(struct model *model, struct model_user *me)
{
	int i, kept = 0;

	for (i = 0; i < model->count; i++)
		if (model->users[i] != me)
			model->users[kept++] = model->users[i];
	model->count = kept;
	me->port = 0;
	me->dst = NONE;
	me->listening = false;
}

static unsigned int model_in_use(struct model *model)
{
	unsigned int ports = 0;
	int i, j;

	for (i = 0; i < model->count; i++) {
		for (j = 0; j < i; j++)
			if (model->users[j]->port == model->users[i]->port)
				break;
		ports += j == i;
	}
	return ports;
}

/* May @me, with a destination or without, be given the ephemeral @port? */
enum ephemeral {
	FREE,
	SHAREABLE,
	TAKEN
};

static enum ephemeral model_ephemeral(struct model *model,
				      struct model_user *me, u16 port)
{
	enum ephemeral ret = FREE;
	int i;

	for (i = 0; i < model->count; i++) {
		struct model_user *it = model->users[i];

		if (it->port != port)
			continue;
		ret = SHAREABLE;
		if (!me->dst || !it->dst || it->listening)
			return TAKEN;
	}
	if (model_check_dst(model, me, port, me->dst, me->dst_port))
		return TAKEN;
	return ret;
}

/* Is @binding what the model thinks it is? */
static bool same(const struct rcm_binding *binding, const struct model_user *me)
{
	union rcm_addr src = addr(me->src, me->port);
	union rcm_addr dst = addr(me->dst, me->dst_port);

	return !memcmp(&binding->src, &src, sizeof(src)) &&
	       !memcmp(&binding->dst, &dst, sizeof(dst)) &&
	       binding->reuse == me->reuse &&
	       binding->listening == me->listening &&
	       rcm_port_number(binding) == me->port &&
	       !binding->port == !me->port;
}

static void both_init(struct rcm_binding *binding, struct model_user *me,
		      enum host src, bool v6only, bool reuse)
{
	memset(binding, 0, sizeof(*binding));
	memset(me, 0, sizeof(*me));
	binding->src = addr(src, 0);
	me->src = src;
	me->v6only = v6only || !hosts[src].six;
	binding->v6only = me->v6only;
	me->reuse = reuse;
	binding->reuse = reuse;
}

/* What one of the users of an order can be, each with reuse and without. */
/* clang-format off */
static const struct {
	enum host src;
	bool v6only;
} ways[] = {
	{ ANY4 }, { A4 }, { ANY6 }, { C6, true }, { ANY6, true }, { B4 }, { C6 },
};

/* clang-format on */

#define MAX_USERS 3
#define MAX_STEPS 6

/**
 * struct orders - some users, and one order after the other of their steps
 * @users: how many users
 * @steps: how many steps each of them does
 * @left: how many each has still to do
 * @way: what each of them is
 * @order: whose turn it is
 * @count: orders done
 */
struct orders {
	unsigned int users, steps;
	unsigned int left[MAX_USERS];
	unsigned int way[MAX_USERS];
	u8 order[MAX_STEPS];
	long count;
};

static void both_way(struct rcm_binding *binding, struct model_user *me,
		     unsigned int way)
{
	both_init(binding, me, ways[way / 4].src, ways[way / 4].v6only,
		  way & 1);
}

static bool way_listens(unsigned int way)
{
	return way & 2;
}

/* Next step of a user: bind, listen or connect, release. */
static int run_step(struct fixture *fix, struct model *model,
		    struct rcm_binding *binding, struct model_user *me,
		    bool listens, int step, int *want)
{
	union rcm_addr dst;
	int ret;

	switch (step) {
	case 0:
		rcm_addr_set_port(&binding->src, htons(PORT));
		ret = rcm_port_bind(fix->space, binding, 1, 1);
		*want = model_bind(model, me, PORT);
		if (ret)
			rcm_addr_set_port(&binding->src, 0);
		return ret;
	case 1:
		if (listens) {
			*want = model_listen(model, me);
			return rcm_port_listen(fix->space, binding);
		}
		set_addr(&dst, B4, 1);
		*want = model_connect(model, me, B4, 1);
		return rcm_port_connect(fix->space, binding, &dst);
	default:
		rcm_port_release(fix->space, binding);
		model_release(model, me);
		*want = 0;
		return 0;
	}
}

static bool run_order(struct kunit *test, struct orders *orders)
{
	struct model_user me[MAX_USERS];
	struct fixture *fix = test->priv;
	unsigned int step[MAX_USERS] = {};
	struct model model = {};
	bool ok = true;
	int i, n, ret, want;

	for (i = 0; i < orders->users; i++)
		both_way(&fix->users[i], &me[i], orders->way[i]);

	for (n = 0; ok && n < orders->users * orders->steps; n++) {
		i = orders->order[n];
		ret = run_step(fix, &model, &fix->users[i], &me[i],
			       way_listens(orders->way[i]), step[i]++, &want);
		ok = ret == want && same(&fix->users[i], &me[i]);
		if (!ok)
			KUNIT_FAIL(
				test,
				"users %u %u %u, step %d of %*ph: %d, not %d\n",
				orders->way[0], orders->way[1], orders->way[2],
				n, n + 1, orders->order, ret, want);
	}

	for (i = 0; i < orders->users; i++)
		release(test, &fix->users[i]);
	orders->count++;
	return ok;
}

/* All orders that begin with the @n steps that are there already. */
static bool run_orders(struct kunit *test, struct orders *orders, int n)
{
	unsigned int *left = orders->left;
	bool ok = true;
	int i;

	if (n == orders->users * orders->steps)
		return run_order(test, orders);

	for (i = 0; ok && i < orders->users; i++) {
		/* Of users that are alike it does not matter who is first. */
		if (!left[i] ||
		    (i && orders->way[i] == orders->way[i - 1] &&
		     left[i] == orders->steps && left[i - 1] == orders->steps))
			continue;
		left[i]--;
		orders->order[n] = i;
		ok = run_orders(test, orders, n + 1);
		left[i]++;
	}
	return ok;
}

/* All sets of two users of any kind, in all orders of all their steps. */
static void port_orders_of_two(struct kunit *test)
{
	struct orders orders = { .users = 2, .steps = 3, .left = { 3, 3 } };
	unsigned int *way = orders.way, kinds = ARRAY_SIZE(ways) * 4;

	for (way[0] = 0; way[0] < kinds; way[0]++)
		for (way[1] = way[0]; way[1] < kinds; way[1]++) {
			if (!run_orders(test, &orders, 0))
				return;
			cond_resched();
		}
	KUNIT_EXPECT_EQ(test, orders.count, 378L * 20 + 28 * 10);
	KUNIT_EXPECT_EQ(test, 0U, in_use(test));
}

/* All sets of three of the first kinds, in all orders until they are set up. */
static void port_orders_of_three(struct kunit *test)
{
	struct orders orders = { .users = 3, .steps = 2, .left = { 2, 2, 2 } };
	unsigned int *way = orders.way, kinds = 2 * 4;

	for (way[0] = 0; way[0] < kinds; way[0]++)
		for (way[1] = way[0]; way[1] < kinds; way[1]++)
			for (way[2] = way[1]; way[2] < kinds; way[2]++) {
				if (!run_orders(test, &orders, 0))
					return;
				cond_resched();
			}
	KUNIT_EXPECT_EQ(test, orders.count, 56L * 90 + 56 * 45 + 8 * 15);
	KUNIT_EXPECT_EQ(test, 0U, in_use(test));
}

static void random_user(struct rnd_state *rnd, struct rcm_binding *binding,
			struct model_user *me)
{
	both_init(binding, me, ANY4 + prandom_u32_state(rnd) % (HOSTS - ANY4),
		  prandom_u32_state(rnd) & 1, prandom_u32_state(rnd) & 1);
	if (prandom_u32_state(rnd) & 1)
		return;
	me->dst = ANY4 + prandom_u32_state(rnd) % (HOSTS - ANY4);
	me->dst_port = prandom_u32_state(rnd) % 4;
	binding->dst = addr(me->dst, me->dst_port);
}

#define RANDOM_LOW  50000
#define RANDOM_HIGH 50002

static void random_bind(struct kunit *test, struct model *model,
			struct rcm_binding *binding, struct model_user *me)
{
	bool any[TAKEN + 1] = {};
	int ret, want, port;

	for (port = RANDOM_LOW; port <= RANDOM_HIGH; port++)
		any[model_ephemeral(model, me, port)] = true;
	want = any[FREE] || any[SHAREABLE] ? 0 : NOTAVAIL;

	ret = bind_range(test, binding, RANDOM_LOW, RANDOM_HIGH);
	KUNIT_ASSERT_EQ(test, ret, want);
	if (ret)
		return;

	port = rcm_port_number(binding);
	KUNIT_ASSERT_GE(test, port, RANDOM_LOW);
	KUNIT_ASSERT_LE(test, port, RANDOM_HIGH);
	KUNIT_ASSERT_EQ(test, (int)model_ephemeral(model, me, port),
			any[FREE] ? (int)FREE : (int)SHAREABLE);
	model_add(model, me, port);
}

/* A long walk with more users, ports and addresses; always the same one. */
static void port_random_walk(struct kunit *test)
{
	struct fixture *fix = test->priv;
	struct model model = {};
	struct model_user *users;
	unsigned long results = 0;
	struct rnd_state rnd;
	int i;

	users = kunit_kcalloc(test, USERS, sizeof(*users), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, users);
	prandom_seed_state(&rnd, 7471);

	for (i = 0; i < 20000; i++) {
		unsigned int n = prandom_u32_state(&rnd) % USERS;
		u16 port = RANDOM_LOW + prandom_u32_state(&rnd) % 4;
		struct rcm_binding *binding = &fix->users[n];
		struct model_user *me = &users[n];
		unsigned int op = prandom_u32_state(&rnd) % 8;
		int ret = 0, want = 0;
		bool reuse;

		switch (op) {
		case 0:
		case 1:
			if (me->port)
				break;
			random_user(&rnd, binding, me);
			rcm_addr_set_port(&binding->src, htons(port));
			ret = bind(test, binding);
			want = model_bind(&model, me, port);
			if (ret)
				rcm_addr_set_port(&binding->src, 0);
			break;
		case 2:
			if (me->port)
				break;
			random_user(&rnd, binding, me);
			random_bind(test, &model, binding, me);
			break;
		case 3:
			ret = listen(test, binding);
			want = model_listen(&model, me);
			break;
		case 4:
			reuse = prandom_u32_state(&rnd) & 1;
			rcm_port_unlisten(fix->space, binding, reuse);
			if (me->listening)
				me->reuse = reuse;
			me->listening = false;
			break;
		case 5: {
			enum host dst = prandom_u32_state(&rnd) % HOSTS;
			u16 dst_port = dst ? prandom_u32_state(&rnd) % 4 : 0;

			ret = connect(test, binding, dst, dst_port);
			want = model_connect(&model, me, dst, dst_port);
			break;
		}
		case 6:
			if (me->port)
				KUNIT_ASSERT_EQ(test, -EINVAL,
						bind(test, binding));
			break;
		case 7:
			release(test, binding);
			model_release(&model, me);
			break;
		}
		KUNIT_ASSERT_EQ_MSG(test, ret, want, "step %d, operation %u", i,
				    op);
		KUNIT_ASSERT_TRUE_MSG(test, same(binding, me) || !me->port,
				      "step %d, operation %u", i, op);
		KUNIT_ASSERT_EQ_MSG(test, in_use(test), model_in_use(&model),
				    "step %d, operation %u", i, op);
		if (ret == 0)
			results |= BIT(0) << op;
		else
			results |= BIT(8) << op;
		cond_resched();
	}
	/* Everything succeeded at times, and failed at times where it can. */
	KUNIT_EXPECT_EQ(test, results, 0x2bffUL);
}

/* Threads that bind, listen and go, all at once. */
struct crowd {
	struct rcm_port_space *space;
	atomic_t listeners;
	atomic_t owners[4];
	atomic_t faults;
	atomic_t listened;
	atomic_t running;
	int rounds;
	struct completion start;
	struct completion done;
};

static void crowd_listen(struct crowd *crowd)
{
	struct rcm_binding binding = {
		.src = addr(ANY4, PORT),
		.reuse = true,
		.v6only = true,
	};

	if (rcm_port_bind(crowd->space, &binding, 1, 1))
		return;
	cond_resched();
	if (!rcm_port_listen(crowd->space, &binding)) {
		if (atomic_inc_return(&crowd->listeners) != 1)
			atomic_inc(&crowd->faults);
		atomic_inc(&crowd->listened);
		cond_resched();
		atomic_dec(&crowd->listeners);
	}
	rcm_port_release(crowd->space, &binding);
}

static void crowd_ephemeral(struct crowd *crowd)
{
	struct rcm_binding binding = {
		.src = addr(ANY4, 0),
		.v6only = true,
	};
	atomic_t *owners;

	if (rcm_port_bind(crowd->space, &binding, 50000, 50003))
		return;
	owners = &crowd->owners[rcm_port_number(&binding) - 50000];
	if (atomic_inc_return(owners) != 1)
		atomic_inc(&crowd->faults);
	cond_resched();
	atomic_dec(owners);
	rcm_port_release(crowd->space, &binding);
}

static void crowd_shared(struct crowd *crowd, int i)
{
	struct rcm_binding binding = {
		.src = addr(ANY4, 0),
		.dst = addr(B4, 1 + i % 8),
		.v6only = true,
	};
	union rcm_addr dst = addr(B4, 1 + i % 7);

	if (rcm_port_bind(crowd->space, &binding, 60000, 60001))
		return;
	cond_resched();
	if (!rcm_port_connect(crowd->space, &binding, &dst) &&
	    rcm_addr_port(&binding.dst) != rcm_addr_port(&dst))
		atomic_inc(&crowd->faults);
	rcm_port_release(crowd->space, &binding);
}

static int crowd_thread(void *arg)
{
	struct crowd *crowd = arg;
	int i;

	wait_for_completion(&crowd->start);
	for (i = 0; i < crowd->rounds; i++) {
		crowd_listen(crowd);
		crowd_ephemeral(crowd);
		crowd_shared(crowd, i);
		cond_resched();
	}
	if (atomic_dec_and_test(&crowd->running))
		complete(&crowd->done);
	return 0;
}

/* Cases C04 and C05, as far as they can be had without a device. */
static void port_crowd(struct kunit *test)
{
	struct fixture *fix = test->priv;
	struct task_struct *thread;
	struct crowd *crowd;
	int i, threads = 0;

	crowd = kunit_kzalloc(test, sizeof(*crowd), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, crowd);
	crowd->space = fix->space;
	crowd->rounds = num_online_cpus() > 1 ? 5000 : 200;
	init_completion(&crowd->start);
	init_completion(&crowd->done);
	atomic_set(&crowd->running, 1);

	for (i = 0; i < 4; i++) {
		atomic_inc(&crowd->running);
		thread = kthread_run(crowd_thread, crowd, "rcm_port_crowd");
		if (IS_ERR(thread))
			atomic_dec(&crowd->running);
		else
			threads++;
	}
	complete_all(&crowd->start);
	if (!atomic_dec_and_test(&crowd->running))
		wait_for_completion(&crowd->done);

	KUNIT_EXPECT_GT(test, threads, 1);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&crowd->faults));
	KUNIT_EXPECT_GT(test, atomic_read(&crowd->listened), 0);
	KUNIT_EXPECT_EQ(test, 0U, in_use(test));
}

/* clang-format off */
static struct kunit_case port_model_cases[] = {
	KUNIT_CASE(port_orders_of_two),
	KUNIT_CASE(port_orders_of_three),
	KUNIT_CASE(port_random_walk),
	KUNIT_CASE(port_crowd),
	{}
};

/* clang-format on */

struct kunit_suite rcm_port_model_suite = {
	.name = "rcm-port-model",
	.init = port_init,
	.exit = port_exit,
	.test_cases = port_model_cases,
};
