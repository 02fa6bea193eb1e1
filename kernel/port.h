/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Ports of one port space in one network namespace.
 */
#ifndef RCM_PORT_H
#define RCM_PORT_H

#include <linux/types.h>

#include "addr.h"

struct rcm_port;
struct rcm_port_space;

/**
 * struct rcm_binding - one user of a port; part of an identifier
 * @node: on the list of the port's users; lock: the port's bucket lock
 * @tuple_node: on the hash of (local, remote) pairs, when @dst is set
 * @port: the port in use, %NULL when none
 * @src: local address, with the port once it is taken
 * @dst: remote address and port, family 0 when none; what is connected to @dst
 *	may share its port with others that are connected elsewhere
 * @reuse: may share the port with other users that also have it set; cleared
 *	when it listens
 * @v6only: does not share the port number with the other family
 *	(always set for IPv4)
 * @listening: is a listener
 *
 * All members are copies that belong to the port code: they say what is on
 * the lists, whatever happens to the identifier's own addresses.
 */
struct rcm_binding {
	struct hlist_node node;
	struct hlist_node tuple_node;
	struct rcm_port *port;
	union rcm_addr src;
	union rcm_addr dst;
	bool reuse;
	bool v6only;
	bool listening;
};

struct rcm_port_space *rcm_port_space_alloc(void);
void rcm_port_space_free(struct rcm_port_space *space);
unsigned int rcm_port_space_in_use(struct rcm_port_space *space);

int rcm_port_bind(struct rcm_port_space *space, struct rcm_binding *binding,
		  u16 low, u16 high);
int rcm_port_listen(struct rcm_port_space *space, struct rcm_binding *binding);
void rcm_port_unlisten(struct rcm_port_space *space,
		       struct rcm_binding *binding, bool reuse);
int rcm_port_connect(struct rcm_port_space *space, struct rcm_binding *binding,
		     const union rcm_addr *dst);
void rcm_port_release(struct rcm_port_space *space,
		      struct rcm_binding *binding);
u16 rcm_port_number(const struct rcm_binding *binding);

#endif /* RCM_PORT_H */
