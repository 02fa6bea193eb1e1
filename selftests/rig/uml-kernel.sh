#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# uml-kernel.sh [SERIES]: a User-Mode Linux kernel of Debian's source (see
# kernel-source.sh for SERIES) in the configuration uml.config, built once and
# kept in the cache. uml-SERIES.config has what differs in a series. Prints the
# directory, which holds
#   build/          enough to build modules against: KDIR for ARCH=um
#   build/linux     the kernel
#   lib/modules/    its modules

. "$(dirname "$0")/lib.sh"
. "$RIG_DIR/kernel-build.sh"
rig=uml series=${1:-6.12}
what="User-Mode Linux kernel" arch=um image=linux targets=linux
differs=$RIG_DIR/uml-$series.config
# The registers of a process need more room where the processor has AMX: the
# host says EFAULT when it gets fewer of them. Since 6.13 UML asks how many.
[ "$series" != 6.12 ] ||
	edit="arch/x86/um/user-offsets.c s/(HOST_FP_SIZE, 2696)/(HOST_FP_SIZE, 11264)/"
kernel
