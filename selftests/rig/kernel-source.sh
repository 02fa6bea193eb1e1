#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# kernel-source.sh: Debian's kernel source package, unpacked under the cache.
# Prints the directory, which holds
#   linux.tar.xz                    the source
#   scripts/checkpatch.pl, ...      what `make lint` needs of it
#   selftests/kselftest*.h          what the C selftests need of it

. "$(dirname "$0")/lib.sh"
PACKAGE=linux-source-6.12

fetch() {
	local version

	! cached "${PACKAGE}_*" selftests || return 0
	apt_update
	version=$(apt_candidate $PACKAGE)
	[ -n "$version" ] || die "the archive has no $PACKAGE (see $APT_DIR/sources.list)"

	scratch
	deb_unpack $PACKAGE "$SCRATCH/unpacked"
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

cached "${PACKAGE}_*" selftests || locked kernel-source fetch
