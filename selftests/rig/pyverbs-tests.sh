#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# pyverbs-tests.sh: rdma-core's own Python tests, as the installed package
# python3-pyverbs has them. Prints their directory. They count as
# documentation, which a small machine does not unpack; then they come from the
# package, into the cache.

. "$(dirname "$0")/lib.sh"
PACKAGE=python3-pyverbs
MAIN=tests/run_tests.py

fetch() {
	local version=$1 found

	! cached "${PACKAGE}_$version" $MAIN || return 0
	apt_update
	scratch
	deb_unpack "$PACKAGE=$version" "$SCRATCH/unpacked"
	found=$(find "$SCRATCH/unpacked" -path "*/$MAIN" | head -n 1)
	[ -n "$found" ] || die "$PACKAGE $version holds no $MAIN"
	mkdir "$SCRATCH/out"
	mv "${found%/*}" "$SCRATCH/out/tests"
	publish "$SCRATCH/out" "$CACHE/${PACKAGE}_$version"
	echo "$CACHE/${PACKAGE}_$version"
}

version=$(dpkg-query -W -f '${Version}' $PACKAGE 2>/dev/null) || die "$PACKAGE is not installed"
found=$(dpkg -L $PACKAGE | grep "/$MAIN\$")
if [ -n "$found" ] && [ -e "$found" ]; then
	echo "${found%/*}"
else
	dir=$(cached "${PACKAGE}_$version" $MAIN || locked pyverbs-tests fetch "$version") || exit 1
	echo "$dir/tests"
fi
