#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# vmdebug-kernel.sh: an x86 kernel for several processors of Debian's source, in
# the configuration uml.config as vmdebug.config changes it, built once and kept
# in the cache. Prints the directory, which holds
#   build/          enough to build modules against: KDIR
#   build/arch/x86/boot/bzImage
#                   the kernel, which mounts its root over 9p without an initrd
#   lib/modules/    its modules

. "$(dirname "$0")/lib.sh"
. "$RIG_DIR/kernel-build.sh"
rig=vmdebug series=6.12
what="x86 debug kernel" arch=x86 image=arch/x86/boot/bzImage targets=bzImage
differs=$RIG_DIR/vmdebug.config
kernel
