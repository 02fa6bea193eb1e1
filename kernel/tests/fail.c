// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Makes the n-th call of rcm.ko into ib_core, ib_cm, iw_cm or the IP stack
 * fail, for selftests/failcalls.c. Of the functions of fail_calls.h each has a
 * kprobe at its entry; what anybody else calls is let through.
 *
 * In debugfs, in rcm_fail/:
 *	nth	written n: the n-th call from now on fails, and none after it;
 *		0: none. Read: what failed, and where in rcm.ko it was called;
 *		nothing when none did. Closing the file is as writing 0
 *	calls	each function, whether this kernel has it, how often rcm.ko
 *		called it, and how many calls, of others, were not seen; and
 *		those that are not made to fail, and why
 *
 * rcm.ko is recognised when it is loaded, so this module has to be there first.
 *
 * What an interrupt calls while a probe runs is not seen: Soft-RoCE's sending, for
 * one, uses some of the same functions. rcm.ko makes none of its calls there.
 *
 * Why a call can be replaced: at a function's entry, before its first
 * instruction, nothing of it has happened. Its caller's return address is on
 * top of the stack, and all registers are as the caller left them. To go on at
 * another function instead is therefore the same as if the caller had called
 * that one, which needs no argument, returns to the caller, and keeps what the
 * calling convention wants kept. The stack pointer does not change, so it does
 * not matter whether the probe is a breakpoint or ftrace's.
 */
#include <linux/debugfs.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/seq_file.h>

struct rcm_fail_call {
	struct kprobe kp;
	unsigned long (*instead)(void);
	bool absent;
	atomic_t calls;
};

static unsigned int rcm_fail_errno = EIO;
module_param_named(errno, rcm_fail_errno, uint, 0644);
MODULE_PARM_DESC(errno, "what a call that fails returns");

/* The next to fail is that many calls away; 0: none is. */
static atomic_t rcm_fail_left;

/* What failed last, and where it was called. */
static struct rcm_fail_call *rcm_failed;
static unsigned long rcm_failed_at;

/* rcm.ko, while it is there. Probes run without being preempted. */
static struct module *rcm_fail_module;

static noinline unsigned long notrace rcm_fail_error(void)
{
	return -(unsigned long)READ_ONCE(rcm_fail_errno);
}

static noinline unsigned long notrace rcm_fail_nothing(void)
{
	return 0;
}

#define FAILS(function, how)                 \
	{                                    \
		.kp.symbol_name = #function, \
		.instead = rcm_fail_##how,   \
	},
#define LEFT(function, why)
static struct rcm_fail_call rcm_fail_calls[] = {
#include "fail_calls.h"
};

#undef FAILS
#undef LEFT
#define FAILS(function, how)
#define LEFT(function, why) { #function, why },
static const struct {
	const char *name;
	const char *why;
} rcm_fail_left_alone[] = {
#include "fail_calls.h"
};

static int rcm_fail_pre(struct kprobe *kp, struct pt_regs *regs)
{
	struct rcm_fail_call *call = container_of(kp, struct rcm_fail_call, kp);
	/* Pairs with smp_store_release() of rcm_fail_notify(). */
	struct module *rcm = smp_load_acquire(&rcm_fail_module);
	unsigned long caller = regs_get_kernel_stack_nth(regs, 0);

	if (!rcm || !within_module(caller, rcm))
		return 0;
	WARN_ONCE(in_hardirq() || in_serving_softirq(),
		  "rcm_fail: %s may be missed in an interrupt\n",
		  kp->symbol_name);
	atomic_inc(&call->calls);
	if (atomic_dec_if_positive(&rcm_fail_left))
		return 0;

	WRITE_ONCE(rcm_failed_at, caller);
	/* Pairs with smp_load_acquire() of rcm_fail_read(). */
	smp_store_release(&rcm_failed, call);
	instruction_pointer_set(regs, (unsigned long)call->instead);
	return 1;
}

NOKPROBE_SYMBOL(rcm_fail_pre);

/*
 * Does nothing, but that there is one keeps the probe from being made a jump,
 * which would not look at what rcm_fail_pre() did to the instruction pointer.
 */
static void rcm_fail_post(struct kprobe *kp, struct pt_regs *regs,
			  unsigned long flags)
{
}

NOKPROBE_SYMBOL(rcm_fail_post);

static int rcm_fail_notify(struct notifier_block *nb, unsigned long event,
			   void *data)
{
	struct module *module = data;

	if (strcmp(module->name, "rcm"))
		return NOTIFY_DONE;
	if (event == MODULE_STATE_COMING)
		/* Pairs with smp_load_acquire() of rcm_fail_pre(). */
		smp_store_release(&rcm_fail_module, module);
	if (event == MODULE_STATE_GOING)
		/* The same; what it has is freed a grace period later. */
		smp_store_release(&rcm_fail_module, NULL);
	return NOTIFY_DONE;
}

static struct notifier_block rcm_fail_nb = {
	.notifier_call = rcm_fail_notify,
};

/* --- debugfs */

static ssize_t rcm_fail_write(struct file *file, const char __user *from,
			      size_t len, loff_t *pos)
{
	unsigned int nth;
	int ret;

	ret = kstrtouint_from_user(from, len, 0, &nth);
	if (ret)
		return ret;
	if (nth > INT_MAX)
		return -EINVAL;
	atomic_set(&rcm_fail_left, 0);
	WRITE_ONCE(rcm_failed, NULL);
	atomic_set(&rcm_fail_left, nth);
	return len;
}

static ssize_t rcm_fail_read(struct file *file, char __user *to, size_t len,
			     loff_t *pos)
{
	/* Pairs with smp_store_release() of rcm_fail_pre(). */
	struct rcm_fail_call *call = smp_load_acquire(&rcm_failed);
	char text[KSYM_SYMBOL_LEN + KSYM_NAME_LEN];
	int size = 0;

	if (call)
		size = scnprintf(text, sizeof(text), "%s %pS\n",
				 call->kp.symbol_name,
				 (void *)READ_ONCE(rcm_failed_at));
	return simple_read_from_buffer(to, len, pos, text, size);
}

static int rcm_fail_release(struct inode *inode, struct file *file)
{
	atomic_set(&rcm_fail_left, 0);
	return 0;
}

static const struct file_operations rcm_fail_nth_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = rcm_fail_read,
	.write = rcm_fail_write,
	.release = rcm_fail_release,
	.llseek = default_llseek,
};

static int rcm_fail_calls_show(struct seq_file *seq, void *unused)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rcm_fail_calls); i++) {
		struct rcm_fail_call *call = &rcm_fail_calls[i];

		seq_printf(seq, "%s %s %d %lu\n", call->kp.symbol_name,
			   call->absent ? "absent" : "fails",
			   atomic_read(&call->calls), call->kp.nmissed);
	}
	for (i = 0; i < ARRAY_SIZE(rcm_fail_left_alone); i++)
		seq_printf(seq, "%s left %s\n", rcm_fail_left_alone[i].name,
			   rcm_fail_left_alone[i].why);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rcm_fail_calls);

/* --- load and unload */

static struct dentry *rcm_fail_dir;

static void rcm_fail_stop(unsigned int count)
{
	while (count--) {
		if (!rcm_fail_calls[count].absent)
			unregister_kprobe(&rcm_fail_calls[count].kp);
	}
}

static int rcm_fail_start(void)
{
	struct rcm_fail_call *call;
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(rcm_fail_calls); i++) {
		call = &rcm_fail_calls[i];
		call->kp.pre_handler = rcm_fail_pre;
		call->kp.post_handler = rcm_fail_post;
		ret = register_kprobe(&call->kp);
		call->absent = ret == -ENOENT;
		if (ret && !call->absent) {
			pr_err("rcm_fail: no probe at %s: error %d\n",
			       call->kp.symbol_name, ret);
			rcm_fail_stop(i);
			return ret;
		}
	}
	return 0;
}

static int __init rcm_fail_init(void)
{
	int ret;

	ret = rcm_fail_start();
	if (ret)
		return ret;
	ret = register_module_notifier(&rcm_fail_nb);
	if (ret) {
		rcm_fail_stop(ARRAY_SIZE(rcm_fail_calls));
		return ret;
	}
	rcm_fail_dir = debugfs_create_dir("rcm_fail", NULL);
	debugfs_create_file("nth", 0600, rcm_fail_dir, NULL,
			    &rcm_fail_nth_fops);
	debugfs_create_file("calls", 0400, rcm_fail_dir, NULL,
			    &rcm_fail_calls_fops);
	return 0;
}

static void __exit rcm_fail_exit(void)
{
	debugfs_remove(rcm_fail_dir);
	unregister_module_notifier(&rcm_fail_nb);
	rcm_fail_stop(ARRAY_SIZE(rcm_fail_calls));
	/* Whoever went on in rcm_fail_error() has long left it by now. */
}

module_init(rcm_fail_init);
module_exit(rcm_fail_exit);

MODULE_DESCRIPTION("Makes calls of rcm fail");
MODULE_LICENSE("GPL");
