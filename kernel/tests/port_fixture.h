/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the suites of port spaces share: a space, users of it, and addresses by
 * short names.
 */
#ifndef RCM_PORT_FIXTURE_H
#define RCM_PORT_FIXTURE_H

#include <kunit/test.h>
#include <linux/in.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../port.h"

#define PORT  7471
#define USERS 12

#define NOTAVAIL (-EADDRNOTAVAIL)
#define INUSE	 (-EADDRINUSE)

enum host {
	NONE,
	ANY4,
	LOOP4,
	A4,
	B4,
	ANY6,
	LOOP6,
	C6,
	LL6_ETH1, /* the same address behind two interfaces */
	LL6_ETH2,
	HOSTS
};

struct fixture {
	struct rcm_port_space *space;
	struct rcm_binding *users;
	unsigned int count;
};

static inline void set_addr(union rcm_addr *addr, enum host host, u16 port)
{
	memset(addr, 0, sizeof(*addr));
	if (host == NONE)
		return;

	addr->sa.sa_family = host < ANY6 ? AF_INET : AF_INET6;
	rcm_addr_set_port(addr, htons(port));
	switch (host) {
	case LOOP4:
		addr->sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		break;
	case A4:
		addr->sin.sin_addr.s_addr = htonl(0x0a000001);
		break;
	case B4:
		addr->sin.sin_addr.s_addr = htonl(0x0a000002);
		break;
	case LOOP6:
		addr->sin6.sin6_addr.s6_addr[15] = 1;
		break;
	case C6:
		addr->sin6.sin6_addr.s6_addr[0] = 0xfd;
		addr->sin6.sin6_addr.s6_addr[15] = 3;
		break;
	case LL6_ETH1:
	case LL6_ETH2:
		addr->sin6.sin6_addr.s6_addr[0] = 0xfe;
		addr->sin6.sin6_addr.s6_addr[1] = 0x80;
		addr->sin6.sin6_addr.s6_addr[15] = 1;
		addr->sin6.sin6_scope_id = host == LL6_ETH1 ? 1 : 2;
		break;
	default:
		break;
	}
}

/* clang-format off */
#define addr(host, port)					\
	({							\
		union rcm_addr _addr;				\
								\
		set_addr(&_addr, host, port);			\
		_addr;						\
	})
/* clang-format on */

/* User @n of the fixture, not bound, with a source to bind. */
static inline struct rcm_binding *user(struct kunit *test, unsigned int n,
				       enum host host, u16 port)
{
	struct fixture *fix = test->priv;
	struct rcm_binding *user = &fix->users[n];

	KUNIT_ASSERT_LT(test, n, fix->count);
	KUNIT_ASSERT_NULL(test, user->port);
	memset(user, 0, sizeof(*user));
	user->src = addr(host, port);
	user->v6only = user->src.sa.sa_family == AF_INET;
	return user;
}

static inline struct rcm_binding *reuser(struct kunit *test, unsigned int n,
					 enum host host, u16 port)
{
	struct rcm_binding *binding = user(test, n, host, port);

	binding->reuse = true;
	return binding;
}

static inline int bind_range(struct kunit *test, struct rcm_binding *binding,
			     u16 low, u16 high)
{
	struct fixture *fix = test->priv;
	struct rcm_binding before = *binding;
	int ret = rcm_port_bind(fix->space, binding, low, high);

	if (ret)
		KUNIT_EXPECT_EQ(test, 0,
				memcmp(&before, binding, sizeof(before)));
	return ret;
}

static inline int bind(struct kunit *test, struct rcm_binding *binding)
{
	return bind_range(test, binding, 32768, 60999);
}

static inline int listen(struct kunit *test, struct rcm_binding *binding)
{
	struct fixture *fix = test->priv;

	return rcm_port_listen(fix->space, binding);
}

static inline int connect(struct kunit *test, struct rcm_binding *binding,
			  enum host host, u16 port)
{
	struct fixture *fix = test->priv;
	union rcm_addr dst = addr(host, port);

	return rcm_port_connect(fix->space, binding, &dst);
}

static inline void release(struct kunit *test, struct rcm_binding *binding)
{
	struct fixture *fix = test->priv;

	rcm_port_release(fix->space, binding);
}

static inline unsigned int in_use(struct kunit *test)
{
	struct fixture *fix = test->priv;

	return rcm_port_space_in_use(fix->space);
}

static inline void release_all(struct kunit *test)
{
	struct fixture *fix = test->priv;
	unsigned int i;

	for (i = 0; i < fix->count; i++)
		release(test, &fix->users[i]);
	KUNIT_EXPECT_EQ(test, in_use(test), 0U);
}

static inline int alloc_users(struct kunit *test, unsigned int count)
{
	struct fixture *fix = test->priv;

	kvfree(fix->users);
	fix->users = kvcalloc(count, sizeof(*fix->users), GFP_KERNEL);
	fix->count = fix->users ? count : 0;
	return fix->users ? 0 : -ENOMEM;
}

static inline int port_init(struct kunit *test)
{
	struct fixture *fix = kunit_kzalloc(test, sizeof(*fix), GFP_KERNEL);

	if (!fix)
		return -ENOMEM;
	test->priv = fix;
	fix->space = rcm_port_space_alloc();
	if (!fix->space)
		return -ENOMEM;
	return alloc_users(test, USERS);
}

static inline void port_exit(struct kunit *test)
{
	struct fixture *fix = test->priv;

	if (!fix)
		return;
	if (fix->space)
		release_all(test);
	rcm_port_space_free(fix->space);
	kvfree(fix->users);
}

#endif /* RCM_PORT_FIXTURE_H */
