// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How much one user may have, over all the files that he opened, so that
 * opening more of them gains nothing.
 */
#include <linux/hashtable.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

#include "uabi.h"

static unsigned int max_user_ids = 262144;
module_param(max_user_ids, uint, 0644);
MODULE_PARM_DESC(max_user_ids,
		 "Identifiers that all files of one user may own together");

/**
 * struct rcm_user - a user with files open
 * @node: in rcm_users; lock: rcm_users_mutex
 * @uid: who
 * @files: how many; lock: rcm_users_mutex
 * @nr_ids: identifiers of all of them
 */
struct rcm_user {
	struct hlist_node node;
	kuid_t uid;
	unsigned int files;
	atomic_t nr_ids;
};

static DEFINE_MUTEX(rcm_users_mutex); /* protects rcm_users */
static DEFINE_HASHTABLE(rcm_users, 6);

static struct rcm_user *rcm_user_find(kuid_t uid)
{
	struct rcm_user *user;

	lockdep_assert_held(&rcm_users_mutex);
	hash_for_each_possible(rcm_users, user, node, __kuid_val(uid)) {
		if (uid_eq(user->uid, uid))
			return user;
	}
	return NULL;
}

/**
 * rcm_user_get - a user opens a file
 * @uid: who
 *
 * Context: process; sleeps.
 * Return: the user, for rcm_user_put(); %NULL without memory.
 */
struct rcm_user *rcm_user_get(kuid_t uid)
{
	struct rcm_user *user;

	mutex_lock(&rcm_users_mutex);
	user = rcm_user_find(uid);
	if (!user) {
		user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);
		if (!user)
			goto out;
		user->uid = uid;
		hash_add(rcm_users, &user->node, __kuid_val(uid));
	}
	user->files++;
out:
	mutex_unlock(&rcm_users_mutex);
	return user;
}

/**
 * rcm_user_put - a file that a user had opened goes
 * @user: from rcm_user_get()
 *
 * Context: process; sleeps.
 */
void rcm_user_put(struct rcm_user *user)
{
	mutex_lock(&rcm_users_mutex);
	if (!--user->files) {
		hash_del(&user->node);
		kfree(user);
	}
	mutex_unlock(&rcm_users_mutex);
}

/**
 * rcm_user_charge - count an identifier more
 * @user: user
 *
 * Return: whether he may have it.
 */
bool rcm_user_charge(struct rcm_user *user)
{
	return atomic_add_unless(&user->nr_ids, 1, READ_ONCE(max_user_ids));
}

/**
 * rcm_user_add - count identifiers that come or go without being refused
 * @user: user
 * @count: how many; negative when they go
 */
void rcm_user_add(struct rcm_user *user, int count)
{
	atomic_add(count, &user->nr_ids);
}
