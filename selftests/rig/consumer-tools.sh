#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# consumer-tools.sh: the programs that set up storage over RDMA (nvme-cli,
# open-iscsi, nfs-kernel-server), unpacked under the cache. They are not
# installed, because that would start servers. Prints the directory, which
# looks like a root directory.

. "$(dirname "$0")/lib.sh"
PACKAGES="nvme-cli open-iscsi nfs-kernel-server"

prepare() {
	local p missing

	! cached consumer-tools complete || return 0
	"$RIG_DIR/packages.sh" vm >&2 || exit 1
	apt_update
	scratch
	# shellcheck disable=SC2086 # a list
	missing=$(apt_private apt-get -s --no-install-recommends install $PACKAGES |
		awk '$1 == "Inst" { print $2 }') || die "the archive lacks one of: $PACKAGES"
	mkdir "$SCRATCH/tools"
	for p in $missing; do
		deb_unpack "$p" "$SCRATCH/tools"
	done
	touch "$SCRATCH/tools/complete"
	publish "$SCRATCH/tools" "$CACHE/consumer-tools"
	echo "$CACHE/consumer-tools"
}

cached consumer-tools complete || locked consumer-tools prepare
