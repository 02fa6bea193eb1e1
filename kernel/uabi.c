// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * /dev/infiniband/rcm: one table of commands, one dispatcher.
 *
 * The dispatcher copies the argument in and out; a command sees a kernel copy
 * of it and nothing of the user's memory.
 */
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>

#include "uabi.h"

static int rcm_cmd_info(struct rcm_file *file, void *arg)
{
	struct rcm_info *info = arg;

	info->out_abi_version = RCM_ABI_VERSION;
	info->out_features = RCM_FEATURE_ROCE | RCM_FEATURE_CREATE_ON_USE |
			     RCM_FEATURE_RESOLVE_BOTH | RCM_FEATURE_DATAGRAM |
			     RCM_FEATURE_MULTICAST | RCM_FEATURE_TRANSLATE |
			     RCM_FEATURE_CONNECT_TIMEOUT |
			     RCM_FEATURE_WRITE_EVENT | RCM_FEATURE_IWARP |
			     RCM_FEATURE_GET_EVENTS;
	info->out_max_ids = rcm_file_max_ids();
	info->out_max_backlog = RCM_MAX_BACKLOG;
	memset(info->out_version, 0, sizeof(info->out_version));
	strscpy(info->out_version, RCM_VERSION, sizeof(info->out_version));
	return 0;
}

/**
 * struct rcm_uabi_cmd - a command
 * @size: of its structure as this kernel knows it, bytes
 * @min: of its first version
 * @out: it has a result, to be written to the argument
 * @run: does it; gets the kernel's copy of the argument
 * @reason: offset of its struct rcm_reason, which is written when it fails, too;
 *	0 when it has none
 * @undo: called when the result cannot be written, for a command that makes
 *	something
 */
struct rcm_uabi_cmd {
	size_t size;
	size_t min;
	size_t reason;
	bool out;
	int (*run)(struct rcm_file *file, void *arg);
	void (*undo)(struct rcm_file *file, void *arg);
};

union rcm_uabi_arg {
	struct rcm_info info;
	struct rcm_create_id create_id;
	struct rcm_bind bind;
	struct rcm_resolve_addr resolve_addr;
	struct rcm_connect connect;
	struct rcm_accept accept;
	struct rcm_reject reject;
	struct rcm_query query;
	struct rcm_init_qp_attr init_qp_attr;
	struct rcm_set_option set_option;
	struct rcm_migrate migrate;
	struct rcm_join_multicast join_multicast;
	struct rcm_translate translate;
	struct rcm_write_event write_event;
};

#define RCM_UABI_ENTRY(nr, type, last, has_out, run_fn, undo_fn)       \
	[RCM_CMD_##nr - RCM_CMD_INFO] = {                              \
		.size = sizeof(struct type) +                          \
			BUILD_BUG_ON_ZERO(sizeof(struct type) >        \
					  sizeof(union rcm_uabi_arg)), \
		.min = offsetofend(struct type, last),                 \
		.out = has_out,                                        \
		.run = run_fn,                                         \
		.undo = undo_fn,                                       \
	}

/* One that may fail with nothing left that could be asked for the reason. */
#define RCM_UABI_CMD_REASON(nr, type, last, run_fn, undo_fn) \
	[RCM_CMD_##nr - RCM_CMD_INFO] = {                    \
		.size = sizeof(struct type),                 \
		.min = offsetofend(struct type, last),       \
		.out = true,                                 \
		.reason = offsetof(struct type, out_reason), \
		.run = run_fn,                               \
		.undo = undo_fn,                             \
	}

/* With a result, and without */
#define RCM_UABI_CMD(nr, type, last, run_fn, undo_fn) \
	RCM_UABI_ENTRY(nr, type, last, true, run_fn, undo_fn)
#define RCM_UABI_IN(nr, type, last, run_fn) \
	RCM_UABI_ENTRY(nr, type, last, false, run_fn, NULL)

static const struct rcm_uabi_cmd rcm_uabi_cmds[] = {
	RCM_UABI_CMD(INFO, rcm_info, out_version, rcm_cmd_info, NULL),
	RCM_UABI_CMD(CREATE_ID, rcm_create_id, reserved2, rcm_cmd_create_id,
		     rcm_undo_create_id),
	RCM_UABI_CMD(DESTROY_ID, rcm_destroy_id, reserved, rcm_cmd_destroy_id,
		     NULL),
	RCM_UABI_CMD_REASON(BIND, rcm_bind, addr, rcm_cmd_bind, rcm_undo_bind),
	RCM_UABI_CMD_REASON(RESOLVE_ADDR, rcm_resolve_addr, dst,
			    rcm_cmd_resolve_addr, rcm_undo_resolve_addr),
	RCM_UABI_IN(RESOLVE_ROUTE, rcm_resolve_route, reserved,
		    rcm_cmd_resolve_route),
	RCM_UABI_IN(LISTEN, rcm_listen, reserved, rcm_cmd_listen),
	RCM_UABI_IN(CONNECT, rcm_connect, conn, rcm_cmd_connect),
	RCM_UABI_IN(ACCEPT, rcm_accept, conn, rcm_cmd_accept),
	RCM_UABI_IN(ESTABLISH, rcm_establish, handle, rcm_cmd_establish),
	RCM_UABI_IN(REJECT, rcm_reject, private_data, rcm_cmd_reject),
	RCM_UABI_IN(DISCONNECT, rcm_disconnect, handle, rcm_cmd_disconnect),
	RCM_UABI_IN(NOTIFY, rcm_notify, reserved, rcm_cmd_notify),
	RCM_UABI_CMD(INIT_QP_ATTR, rcm_init_qp_attr, out_attr,
		     rcm_cmd_init_qp_attr, NULL),
	RCM_UABI_IN(SET_OPTION, rcm_set_option, optval, rcm_cmd_set_option),
	RCM_UABI_CMD(QUERY, rcm_query, out_endpoint, rcm_cmd_query, NULL),
	RCM_UABI_CMD(MIGRATE, rcm_migrate, reserved, rcm_cmd_migrate, NULL),
	RCM_UABI_IN(JOIN_MULTICAST, rcm_join_multicast, addr,
		    rcm_cmd_join_multicast),
	RCM_UABI_IN(LEAVE_MULTICAST, rcm_leave_multicast, reserved,
		    rcm_cmd_leave_multicast),
	RCM_UABI_CMD(TRANSLATE, rcm_translate, out_endpoint, rcm_cmd_translate,
		     NULL),
	RCM_UABI_IN(WRITE_EVENT, rcm_write_event, arg, rcm_cmd_write_event),
};

static int rcm_uabi_size(void __user *arg, size_t min, u32 *size)
{
	/* All members are aligned, so their structure has to be. */
	if (!IS_ALIGNED((unsigned long)arg, sizeof(u32)))
		return -EINVAL;
	if (get_user(*size, (u32 __user *)arg))
		return -EFAULT;
	if (*size < min)
		return -EINVAL;
	return *size > PAGE_SIZE ? -E2BIG : 0;
}

/* Why it failed, where the caller's structure is long enough for that. */
static void rcm_uabi_put_reason(const struct rcm_uabi_cmd *cmd,
				void __user *uarg, u32 size, int ret,
				struct rcm_reason *reason)
{
	if (size < cmd->reason + sizeof(*reason))
		return;
	rcm_reason_for(reason, ret);
	/* A caller whose memory went is told of the failure, at least. */
	if (copy_to_user(uarg + cmd->reason, reason, sizeof(*reason)))
		return;
}

static int rcm_uabi_run(struct rcm_file *file, const struct rcm_uabi_cmd *cmd,
			void __user *uarg)
{
	struct rcm_reason *reason;
	union rcm_uabi_arg arg;
	u32 size;
	int ret;

	ret = rcm_uabi_size(uarg, cmd->min, &size);
	if (ret)
		return ret;
	ret = copy_struct_from_user(&arg, cmd->size, uarg, size);
	if (ret)
		return ret;
	reason = cmd->reason ? (void *)&arg + cmd->reason : NULL;
	if (reason)
		memset(reason, 0, sizeof(*reason));
	ret = cmd->run(file, &arg);
	if (ret && reason)
		rcm_uabi_put_reason(cmd, uarg, size, ret, reason);
	if (ret || !cmd->out)
		return ret;
	if (copy_to_user(uarg, &arg, min_t(size_t, size, cmd->size))) {
		if (cmd->undo)
			cmd->undo(file, &arg);
		return -EFAULT;
	}
	return 0;
}

/* Of what this kernel does not know, it could not fill in anything. */
static int rcm_uabi_event_tail(void __user *event, u32 size)
{
	int ret;

	if (size <= sizeof(struct rcm_event))
		return 0;
	ret = check_zeroed_user(event + sizeof(struct rcm_event),
				size - sizeof(struct rcm_event));
	if (ret < 0)
		return ret;
	return ret ? 0 : -E2BIG;
}

static bool rcm_uabi_dont_wait(const struct file *filp, u32 flags)
{
	return flags & RCM_EVENT_DONTWAIT || filp->f_flags & O_NONBLOCK;
}

static int rcm_uabi_get_event(struct file *filp, void __user *uarg)
{
	struct {
		u32 size;
		u32 flags;
	} arg;
	u32 size;
	int ret;

	ret = rcm_uabi_size(uarg, offsetofend(struct rcm_event, out_qp), &size);
	if (ret)
		return ret;
	if (copy_from_user(&arg, uarg, sizeof(arg)))
		return -EFAULT;
	if (arg.flags & ~RCM_EVENT_DONTWAIT)
		return -EOPNOTSUPP;
	ret = rcm_uabi_event_tail(uarg, size);
	if (ret)
		return ret;
	return rcm_uevent_read(filp->private_data, uarg, size,
			       rcm_uabi_dont_wait(filp, arg.flags));
}

static int rcm_uabi_check_events(const struct rcm_get_events *arg)
{
	if (arg->flags & ~RCM_EVENT_DONTWAIT)
		return -EOPNOTSUPP;
	if (!arg->count ||
	    arg->event_size < offsetofend(struct rcm_event, out_qp) ||
	    !IS_ALIGNED(arg->event_size, sizeof(u64)) ||
	    !IS_ALIGNED(arg->events, sizeof(u32)))
		return -EINVAL;
	return arg->event_size > PAGE_SIZE ? -E2BIG : 0;
}

/* Returns how many it took, unless it took none. */
static int rcm_uabi_get_events(struct file *filp, void __user *uarg)
{
	struct rcm_get_events arg;
	void __user *at;
	bool dont_wait;
	u32 size, n;
	int ret;

	ret = rcm_uabi_size(uarg, offsetofend(struct rcm_get_events, events),
			    &size);
	if (ret)
		return ret;
	ret = copy_struct_from_user(&arg, sizeof(arg), uarg, size);
	if (ret)
		return ret;
	ret = rcm_uabi_check_events(&arg);
	if (ret)
		return ret;

	dont_wait = rcm_uabi_dont_wait(filp, arg.flags);
	at = u64_to_user_ptr(arg.events);
	for (n = 0; n < min_t(u32, arg.count, RCM_MAX_GET_EVENTS); n++) {
		ret = rcm_uabi_event_tail(at, arg.event_size);
		if (ret)
			break;
		ret = rcm_uevent_read(filp->private_data, at, arg.event_size,
				      n || dont_wait);
		if (ret)
			break;
		at += arg.event_size;
	}
	return n ?: ret;
}

static long rcm_uabi_ioctl(struct file *filp, unsigned int cmd,
			   unsigned long arg)
{
	unsigned int nr = _IOC_NR(cmd) - RCM_CMD_INFO;

	if (cmd == RCM_GET_EVENT)
		return rcm_uabi_get_event(filp, (void __user *)arg);
	if (cmd == RCM_GET_EVENTS)
		return rcm_uabi_get_events(filp, (void __user *)arg);
	if (_IOC_NR(cmd) < RCM_CMD_INFO || nr >= ARRAY_SIZE(rcm_uabi_cmds) ||
	    cmd != _IO(RCM_IOC_TYPE, _IOC_NR(cmd)))
		return -ENOTTY;
	return rcm_uabi_run(filp->private_data, &rcm_uabi_cmds[nr],
			    (void __user *)arg);
}

static __poll_t rcm_uabi_poll(struct file *filp, struct poll_table_struct *wait)
{
	struct rcm_file *file = filp->private_data;

	poll_wait(filp, &file->wait, wait);
	return list_empty_careful(&file->events) ? 0 : EPOLLIN | EPOLLRDNORM;
}

static int rcm_uabi_open(struct inode *inode, struct file *filp)
{
	struct rcm_file *file;

	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		return -ENOMEM;
	file->user = rcm_user_get(current_euid());
	if (!file->user) {
		kfree(file);
		return -ENOMEM;
	}

	file->net = get_net(current->nsproxy->net_ns);
	xa_init_flags(&file->ids, XA_FLAGS_ALLOC1);
	mutex_init(&file->reading);
	spin_lock_init(&file->lock);
	INIT_LIST_HEAD(&file->events);
	init_waitqueue_head(&file->wait);
	filp->private_data = file;
	return stream_open(inode, filp);
}

/* Those that wait to be sent first: others make room for them when they go. */
static void rcm_file_destroy_ids(struct rcm_file *file, bool waiting)
{
	struct rcm_uctx *ctx;
	unsigned long handle;

	xa_for_each(&file->ids, handle, ctx) {
		if (waiting && !rcm_pace_waits(ctx->priv))
			continue;
		xa_erase(&file->ids, handle);
		rcm_uctx_destroy(ctx);
	}
}

static int rcm_uabi_release(struct inode *inode, struct file *filp)
{
	struct rcm_file *file = filp->private_data;

	/* No command runs any more, so nothing is added. */
	rcm_file_destroy_ids(file, true);
	rcm_file_destroy_ids(file, false);
	xa_destroy(&file->ids);
	put_net(file->net);
	rcm_user_put(file->user);
	kfree_rcu(file, rcu);
	return 0;
}

static const struct file_operations rcm_fops = {
	.owner = THIS_MODULE,
	.open = rcm_uabi_open,
	.release = rcm_uabi_release,
	.unlocked_ioctl = rcm_uabi_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.poll = rcm_uabi_poll,
};

/**
 * rcm_file_of - what is behind an open file
 * @filp: any open file
 *
 * Return: our side of it, %NULL when it is not one of ours.
 */
struct rcm_file *rcm_file_of(struct file *filp)
{
	return filp->f_op == &rcm_fops ? filp->private_data : NULL;
}

static struct miscdevice rcm_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "rcm",
	.nodename = "infiniband/rcm",
	.mode = 0666,
	.fops = &rcm_fops,
};

int rcm_uabi_init(void)
{
	int ret;

	ret = rcm_uctx_init();
	if (ret)
		return ret;
	ret = rcm_uevent_init();
	if (ret)
		goto err_uctx;
	ret = misc_register(&rcm_misc);
	if (ret)
		goto err_uevent;
	return 0;

err_uevent:
	rcm_uevent_exit();
err_uctx:
	rcm_uctx_exit();
	return ret;
}

void rcm_uabi_exit(void)
{
	misc_deregister(&rcm_misc);
	rcm_uevent_exit();
	rcm_uctx_exit();
}
