#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# uml-kernel.sh: a User-Mode Linux kernel of Debian's source in the
# configuration uml.config, built once and kept in the cache. Prints the
# directory, which holds
#   build/          enough to build modules against: KDIR for ARCH=um
#   build/linux     the kernel
#   lib/modules/    its modules

. "$(dirname "$0")/lib.sh"
CONFIG=$RIG_DIR/uml.config
JOBS=${JOBS:-$(nproc)}

configure() {
	make ARCH=um allnoconfig KCONFIG_ALLCONFIG="$CONFIG" || return

	# An option that does not exist or misses a dependency vanishes silently
	local line missing=0
	while read -r line; do
		case $line in
		CONFIG_*=n)
			! grep -q "^${line%=n}=" .config || { echo "still set: $line"; missing=1; } ;;
		CONFIG_*)
			grep -qxF "$line" .config || { echo "not taken: $line"; missing=1; } ;;
		esac
	done <"$CONFIG"
	return $missing
}

# Modules are built later against Makefiles, scripts, headers and the list of
# exported symbols alone.
prune() {
	find . -type f ! -path './scripts/*' ! -path './include/*' ! -path './linux' \
		! -name 'Makefile*' ! -name 'Kbuild*' ! -name 'Kconfig*' ! -name '*.h' \
		! -name '.config' ! -name 'Module.symvers' ! -name '*.lds' -delete
	find . \( -path './drivers/*' -o -path './fs/*' -o -path './sound/*' -o -path './net/*' \
		-o -path './Documentation/*' -o -path './samples/*' -o -path './kernel/*' \
		-o -path './lib/*' -o -path './mm/*' -o -path './tools/*' -o -path './security/*' \) \
		-type f -delete
	find ./scripts -name '*.o' -delete
	find . -type d -empty -delete
	# -Wmissing-include-dirs (W=1) wants it, empty or not
	mkdir -p arch/um/include/generated/uapi
}

build() {
	local source release

	! cached "uml-$key-*" build/linux || return 0
	source=$("$RIG_DIR/kernel-source.sh") || exit 1
	"$RIG_DIR/packages.sh" build kernel >&2 || exit 1
	scratch
	mkdir -p "$SCRATCH/uml/build"
	step "unpacking the kernel source" "$CACHE/log/uml-unpack.log" \
		tar -C "$SCRATCH/uml/build" --strip-components=1 -xf "$source/linux.tar.xz" \
		--exclude='*/Documentation/devicetree' --exclude='*/drivers/gpu/*.[ch]' \
		--exclude='*/sound/*.c' --exclude='*.dts' --exclude='*.dtsi'
	cd "$SCRATCH/uml/build" || exit 1
	step "configuring the User-Mode Linux kernel" "$CACHE/log/uml-config.log" configure
	step "building the User-Mode Linux kernel (15 minutes on two cores, once)" \
		"$CACHE/log/uml-build.log" make ARCH=um -j"$JOBS" linux modules
	step "collecting its modules" "$CACHE/log/uml-modules.log" \
		make ARCH=um INSTALL_MOD_PATH="$SCRATCH/uml" modules_install
	release=$(make -s ARCH=um kernelrelease) || exit 1
	rm -f "$SCRATCH/uml/lib/modules/$release/build" "$SCRATCH/uml/lib/modules/$release/source"
	prune
	cd /
	publish "$SCRATCH/uml" "$CACHE/uml-$key-$release"
	echo "$CACHE/uml-$key-$release"
}

key=$(sha256sum <"$CONFIG" | cut -c 1-12)
cached "uml-$key-*" build/linux || locked uml-kernel build
