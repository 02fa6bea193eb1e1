#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# kernel-source.sh [SERIES]: Debian's kernel source package, unpacked under the
# cache. SERIES is 6.12, the default, or 7.x, the newest of those that Debian
# has for any of its releases. Prints the directory, which holds
#   linux.tar.xz                    the source
#   scripts/checkpatch.pl, ...      what `make lint` needs of it
#   selftests/kselftest*.h          what the C selftests need of it

. "$(dirname "$0")/lib.sh"
series=${1:-6.12}
pattern="linux-source-${series/%.x/.*}_*"

fetch() {
	local PACKAGE version

	! cached "$pattern" selftests || return 0
	[[ $series != *.x ]] || apt_newer
	apt_update
	PACKAGE=$(apt_private apt-cache search -n "^linux-source-${series/%.x/.[0-9]+}\$" |
		cut -d ' ' -f 1 | sort -V | tail -n 1)
	[ -n "$PACKAGE" ] || die "the archive has no linux-source-$series (see $APT_DIR/sources.list)"
	version=$(apt_candidate "$PACKAGE")

	scratch
	deb_unpack "$PACKAGE" "$SCRATCH/unpacked"
	mkdir "$SCRATCH/out"
	mv "$SCRATCH/unpacked/usr/src/$PACKAGE.tar.xz" "$SCRATCH/out/linux.tar.xz" ||
		die "$PACKAGE $version holds no $PACKAGE.tar.xz"
	step "unpacking what the tests need of $PACKAGE" "$CACHE/log/source-unpack.log" \
		tar -C "$SCRATCH/out" --strip-components=1 -xf "$SCRATCH/out/linux.tar.xz" --wildcards \
		'*/scripts/checkpatch.pl' '*/scripts/spelling.txt' \
		'*/scripts/const_structs.checkpatch' \
		'*/tools/testing/selftests/kselftest.h' \
		'*/tools/testing/selftests/kselftest_harness.h'
	mkdir "$SCRATCH/out/selftests"
	mv "$SCRATCH"/out/tools/testing/selftests/*.h "$SCRATCH/out/selftests/"
	rm -rf "$SCRATCH/out/tools"
	publish "$SCRATCH/out" "$CACHE/${PACKAGE}_$version"
	echo "$CACHE/${PACKAGE}_$version"
}

cached "$pattern" selftests || locked "kernel-source-$series" fetch
