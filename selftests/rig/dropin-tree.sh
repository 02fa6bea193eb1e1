#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# dropin-tree.sh KERNEL: build the drop-in for a kernel (a directory that
# vm-kernel.sh printed) and install it in a module tree of its own, beside that
# kernel's modules. Prints the directory, for modprobe -d.

. "$(dirname "$0")/lib.sh"
kernel=$1
release=$(ls "$kernel/lib/modules")
tree=$TOP/build/$release/tree
modules=$tree/lib/modules/$release

step "building the drop-in for $release" "$CACHE/log/dropin.log" \
	flock "$TOP/build/lock" make -C "$TOP" install-dropin KDIR="$kernel/build" DESTDIR="$tree"
ln -sfn "$kernel/lib/modules/$release/kernel" "$modules/kernel"
cp "$kernel/lib/modules/$release"/modules.{order,builtin,builtin.modinfo} "$modules/" ||
	die "no module lists in $kernel"
mkdir -p "$tree/usr/lib"
ln -sfn ../../lib/modules "$tree/usr/lib/modules"
depmod -b "$tree" "$release" || die "depmod failed in $tree"
echo "$tree"
