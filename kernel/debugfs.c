// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * /sys/kernel/debug/rcm: "ids" lists each identifier, "ports" how many ports
 * are in use, "pacing" how many requests are on their way or wait to be sent,
 * "pacing_totals" what became of them. All are a header line and one line an
 * entry.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "rcm_priv.h"

static struct dentry *rcm_debugfs;

static int rcm_ids_show(struct seq_file *seq, void *unused)
{
	rcm_id_show_all(seq);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rcm_ids);

static int rcm_ports_show(struct seq_file *seq, void *unused)
{
	rcm_net_show_ports(seq);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rcm_ports);

static int rcm_pacing_show(struct seq_file *seq, void *unused)
{
	rcm_pace_show(seq);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rcm_pacing);

static int rcm_pacing_totals_show(struct seq_file *seq, void *unused)
{
	rcm_pace_show_totals(seq);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rcm_pacing_totals);

void rcm_debugfs_init(void)
{
	rcm_debugfs = debugfs_create_dir("rcm", NULL);
	debugfs_create_file("ids", 0400, rcm_debugfs, NULL, &rcm_ids_fops);
	debugfs_create_file("ports", 0400, rcm_debugfs, NULL, &rcm_ports_fops);
	debugfs_create_file("pacing", 0400, rcm_debugfs, NULL,
			    &rcm_pacing_fops);
	debugfs_create_file("pacing_totals", 0400, rcm_debugfs, NULL,
			    &rcm_pacing_totals_fops);
}

void rcm_debugfs_exit(void)
{
	debugfs_remove_recursive(rcm_debugfs);
}
