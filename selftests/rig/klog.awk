# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Finds the kernel's complaints in a dmesg. Prints each as
#	TEST: LINE
# where TEST is the test that ran at that time.

/rcm-rig: begin / {
	test = $NF
	quiet = 0
	next
}

/rcm-rig: end / {
	test = "after " $NF
	quiet = 0
	next
}

# Injected faults print a trace and are meant
/FAULT_INJECTION: forcing a failure/ {
	quiet = 60
}

# As do a slab and a vmalloc() that fail for want of memory
/kmem_cache_create[a-z_]*\([a-z_]*\) failed with error|vmalloc error: size/ {
	quiet = 60
}

quiet > 0 {
	quiet--
	if ($0 ~ /<\/TASK>/)
		quiet = 0
	if ($0 !~ /BUG:|WARNING:|KASAN|UBSAN/)
		next
}

# Not the kernel's: a program crashed, and whoever ran it sees that
/traps: [^ ]*\[[0-9]+\] .* ip:/ {
	next
}

/WARNING:|BUG:|BUG at |KASAN:|UBSAN:|Oops|general protection fault|Kernel panic/ ||
/possible (circular|recursive) locking|inconsistent lock state|suspicious RCU/ ||
/possible irq lock inversion|held lock freed|lock held when returning/ ||
/INFO: task .* blocked for more than|rcu_.*(stall|detected)|workqueue lockup/ ||
/soft lockup|refcount_t:|unregister_netdevice: waiting|ODEBUG:|list_(add|del) corruption/ ||
/sleeping function called|scheduling while atomic|Call Trace:|slab .*(left|remaining)/ ||
/still has .* objects|nobody cared|leaked reference/ {
	printf "%s: %s\n", test ? test : "boot", $0
	found++
}

END {
	exit found > 0
}
