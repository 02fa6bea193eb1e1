#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# uml-kernel.sh [SERIES]: a User-Mode Linux kernel of Debian's source (see
# kernel-source.sh for SERIES) in the configuration uml.config, built once and
# kept in the cache. uml-SERIES.config has what differs in a series: options
# more, and lines "# not CONFIG_X" for those that it does not have. Prints the
# directory, which holds
#   build/          enough to build modules against: KDIR for ARCH=um
#   build/linux     the kernel
#   lib/modules/    its modules

. "$(dirname "$0")/lib.sh"
series=${1:-6.12}
place=uml
[ "$series" = 6.12 ] || place=uml_$series
differs=$RIG_DIR/uml-$series.config
JOBS=${JOBS:-$(nproc)}

config() {
	if [ -e "$differs" ]; then
		grep -vxF "$(sed -n 's/^# not \(CONFIG_.*\)/\1=y/p' "$differs")" "$RIG_DIR/uml.config"
		cat "$differs"
	else
		cat "$RIG_DIR/uml.config"
	fi
}

configure() {
	config >wanted.config
	make ARCH=um allnoconfig KCONFIG_ALLCONFIG=wanted.config || return

	# An option that does not exist or misses a dependency vanishes silently
	local line missing=0
	while read -r line; do
		case $line in
		CONFIG_*=n)
			! grep -q "^${line%=n}=" .config || { echo "still set: $line"; missing=1; } ;;
		CONFIG_*)
			grep -qxF "$line" .config || { echo "not taken: $line"; missing=1; } ;;
		esac
	done <wanted.config
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

	! cached "$pattern" build/linux || return 0
	source=$("$RIG_DIR/kernel-source.sh" "$series") || exit 1
	"$RIG_DIR/packages.sh" build kernel >&2 || exit 1
	scratch
	mkdir -p "$SCRATCH/uml/build"
	step "unpacking the kernel source" "$CACHE/log/uml-unpack.log" \
		tar -C "$SCRATCH/uml/build" --strip-components=1 -xf "$source/linux.tar.xz" \
		--exclude='*/Documentation/devicetree' --exclude='*/drivers/gpu/*.[ch]' \
		--exclude='*/sound/*.c' --exclude='*.dts' --exclude='*.dtsi'
	cd "$SCRATCH/uml/build" || exit 1
	step "configuring the User-Mode Linux kernel" "$CACHE/log/uml-config.log" configure
	step "building the User-Mode Linux kernel $series (15 minutes on two cores, once)" \
		"$CACHE/log/uml-build.log" make ARCH=um -j"$JOBS" linux modules
	step "collecting its modules" "$CACHE/log/uml-modules.log" \
		make ARCH=um INSTALL_MOD_PATH="$SCRATCH/uml" modules_install
	release=$(make -s ARCH=um kernelrelease) || exit 1
	rm -f "$SCRATCH/uml/lib/modules/$release/build" "$SCRATCH/uml/lib/modules/$release/source"
	prune
	cd /
	publish "$SCRATCH/uml" "$CACHE/$place-$key-$release"
	echo "$CACHE/$place-$key-$release"
}

key=$(config | sha256sum | cut -c 1-12)
pattern="$place-$key-*"
cached "$pattern" build/linux || locked uml-kernel build
