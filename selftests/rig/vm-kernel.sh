#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# vm-kernel.sh [SERIES]: Debian's kernel for the running release and its
# headers, unpacked under the cache and never installed. Without SERIES it is
# the release's own, with it (6.12) another that the release has. Prints the
# directory, which holds
#   vmlinuz         the kernel
#   initrd          brings up the host's file system as root, see vm-initrd.sh
#   build/          its headers: KDIR for modules
#   lib/modules/    its modules

. "$(dirname "$0")/lib.sh"
series=${1:-}
place=vm${series:+_$series}
pattern="$place-*"

# The newest of a series; the cloud's and the real-time ones have longer names
newest() {
	apt_private apt-cache search -n "^linux-image-${1//./\\.}\\.[^-]*-amd64\$" |
		cut -d ' ' -f 1 | sort -V | tail -n 1
}

depends_on() {
	apt_private apt-cache depends --important "$1" | awk '$1 == "Depends:" { print $2 }'
}

# Header packages name each other by absolute path; make them name their
# place in the cache.
relocate() {
	local dir=$1 final=$2 link to

	grep -rlIE '/usr/(src/linux-headers|lib/linux-kbuild)' "$dir"/usr/src/linux-headers-*/Makefile \
		"$dir"/usr/src/linux-headers-*/.kernelvariables 2>/dev/null |
		xargs -r sed -i -E "s,/usr/(src/linux-headers|lib/linux-kbuild),$final/usr/\1,g"
	find "$dir/usr/src" -type l | while read -r link; do
		to=$(readlink "$link")
		case $to in
		/usr/*)	ln -sfn "$final$to" "$link" ;;
		esac
	done
}

prepare() {
	local arch image release version headers final dir p

	! cached "$pattern" initrd || return 0
	arch=$(dpkg --print-architecture)
	[ "$arch" = amd64 ] || die "the VM rig knows amd64 only, this machine is $arch"
	"$RIG_DIR/packages.sh" vm >&2 || exit 1
	apt_update
	if [ -n "$series" ]; then
		image=$(newest "$series")
	else
		image=$(depends_on linux-image-amd64 | head -n 1)
	fi
	[ -n "$image" ] ||
		die "the archive has no linux-image-${series:+$series.*-}amd64 (see $APT_DIR/sources.list)"
	release=${image#linux-image-}
	version=$(apt_candidate "$image")
	headers=linux-headers-$release

	scratch
	dir=$SCRATCH/vm final=$CACHE/$place-${release}_$version
	mkdir -p "$dir"
	deb_unpack "$image" "$dir"
	deb_unpack "$headers" "$dir"
	for p in $(depends_on "$headers"); do
		case $p in
		linux-headers-*|linux-kbuild-*)
			deb_unpack "$p" "$dir" ;;
		esac
	done
	if [ -d "$dir/usr/lib/modules" ]; then
		mkdir -p "$dir/lib"
		mv "$dir/usr/lib/modules" "$dir/lib/"
	else
		mkdir -p "$dir/usr/lib"
	fi
	# modprobe -d looks in one of the two, by release
	ln -sfn ../../lib/modules "$dir/usr/lib/modules"
	mv "$dir/boot/vmlinuz-$release" "$dir/vmlinuz" || die "$image holds no vmlinuz"
	rm -rf "$dir/boot" "$dir/usr/share" "$dir/lib/modules/$release/build" \
		"$dir/lib/modules/$release/source"
	ln -s "usr/src/$headers" "$dir/build"
	relocate "$dir" "$final"
	depmod -b "$dir" "$release" || die "depmod failed in $dir"
	"$RIG_DIR/vm-initrd.sh" "$dir" "$release" || die "no initrd for $release"
	publish "$dir" "$final"
	echo "$final"
}

cached "$pattern" initrd || locked vm-kernel prepare
