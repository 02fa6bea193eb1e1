// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Port spaces of each network namespace, made when they are first used.
 */
#include <linux/err.h>
#include <linux/seq_file.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "rcm_priv.h"

static const struct {
	enum rdma_ucm_port_space ps;
	const char *name;
} rcm_spaces[] = {
	{ RDMA_PS_TCP, "tcp" },
	{ RDMA_PS_IB, "ib" },
	{ RDMA_PS_UDP, "udp" },
	{ RDMA_PS_IPOIB, "ipoib" },
};

struct rcm_net {
	struct rcm_port_space *space[ARRAY_SIZE(rcm_spaces)];
};

static unsigned int rcm_net_id;

/**
 * rcm_net_port_space - the ports of a port space in a namespace
 * @net: namespace
 * @ps: port space
 *
 * Context: process; may sleep.
 * Return: the ports, valid as long as @net; an ERR_PTR: -EPROTONOSUPPORT,
 * -ENOMEM.
 */
struct rcm_port_space *rcm_net_port_space(struct net *net,
					  enum rdma_ucm_port_space ps)
{
	struct rcm_net *rcm_net = net_generic(net, rcm_net_id);
	struct rcm_port_space *space, *old;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rcm_spaces); i++) {
		if (rcm_spaces[i].ps == ps)
			goto found;
	}
	return ERR_PTR(-EPROTONOSUPPORT);

found:
	/* Pairs with the cmpxchg() below: a space that is seen is complete. */
	space = smp_load_acquire(&rcm_net->space[i]);
	if (space)
		return space;

	space = rcm_port_space_alloc();
	if (!space)
		return ERR_PTR(-ENOMEM);
	old = cmpxchg(&rcm_net->space[i], NULL, space);
	if (!old)
		return space;
	rcm_port_space_free(space);
	return old;
}

static void rcm_net_show_one(struct seq_file *seq, struct net *net)
{
	struct rcm_net *rcm_net = net_generic(net, rcm_net_id);
	struct rcm_port_space *space;
	unsigned int i, in_use;

	for (i = 0; i < ARRAY_SIZE(rcm_spaces); i++) {
		/* Pairs with the cmpxchg() in rcm_net_port_space(). */
		space = smp_load_acquire(&rcm_net->space[i]);
		in_use = space ? rcm_port_space_in_use(space) : 0;
		if (in_use)
			seq_printf(seq, "%u %s %u\n", net->ns.inum,
				   rcm_spaces[i].name, in_use);
	}
}

/**
 * rcm_net_show_ports - list how many ports are in use
 * @seq: where to
 */
void rcm_net_show_ports(struct seq_file *seq)
{
	struct net *net;

	seq_puts(seq, "netns ps in-use\n");
	rcu_read_lock();
	for_each_net_rcu(net)
		rcm_net_show_one(seq, net);
	rcu_read_unlock();
}

static void __net_exit rcm_net_exit_one(struct net *net)
{
	struct rcm_net *rcm_net = net_generic(net, rcm_net_id);
	unsigned int i;

	/* Identifiers hold the namespace, so there are none by now. */
	for (i = 0; i < ARRAY_SIZE(rcm_spaces); i++) {
		if (rcm_net->space[i])
			rcm_port_space_free(rcm_net->space[i]);
	}
}

static struct pernet_operations rcm_net_ops = {
	.exit = rcm_net_exit_one,
	.id = &rcm_net_id,
	.size = sizeof(struct rcm_net),
};

int rcm_net_init(void)
{
	return register_pernet_subsys(&rcm_net_ops);
}

void rcm_net_exit(void)
{
	unregister_pernet_subsys(&rcm_net_ops);
}
