# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# What uml-kernel.sh and vmdebug-kernel.sh share: building a kernel of Debian's
# source (kernel-source.sh), once for each configuration, and keeping of it what
# booting and building modules need. Who sources it sets
#   rig, series     for places and messages
#   what            what it is, for messages
#   arch            for make
#   image           the kernel, as a file of the build tree
#   targets         for make, beside modules
#   differs         configuration that differs from uml.config, see config()
#   edit            a file of the source and what sed has to change in it, or nothing
# and calls kernel, which prints the directory.

JOBS=${JOBS:-$(nproc)}

# uml.config, and where $differs exists, what that says: options more, and
# lines "# not CONFIG_X" for those that go or have another value there.
config() {
	if [ -e "$differs" ]; then
		grep -vE "^($(sed -n 's/^# not \(CONFIG_[A-Za-z0-9_]*\)$/\1/p' "$differs" |
			paste -sd '|'))=" "$RIG_DIR/uml.config"
		cat "$differs"
	else
		cat "$RIG_DIR/uml.config"
	fi
}

# What who sources this may set after it
edit=

edit_source() {
	[ -n "$edit" ] || return 0
	cp "${edit%% *}" before
	sed -i "${edit#* }" "${edit%% *}"
	! cmp before "${edit%% *}" || { echo "nothing to change: $edit"; return 1; }
}

configure() {
	edit_source || return
	config >wanted.config
	make ARCH="$arch" allnoconfig KCONFIG_ALLCONFIG=wanted.config || return

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

# Modules are built later against Makefiles, scripts, headers, objtool and the
# list of exported symbols alone.
prune() {
	find . -type f ! -path './scripts/*' ! -path './include/*' ! -path "./$image" \
		! -name 'Makefile*' ! -name 'Kbuild*' ! -name 'Kconfig*' ! -name '*.h' \
		! -name '.config' ! -name 'Module.symvers' ! -name '*.lds' \
		! -path './tools/objtool/objtool' -delete
	find . \( -path './drivers/*' -o -path './fs/*' -o -path './sound/*' -o -path './net/*' \
		-o -path './Documentation/*' -o -path './samples/*' -o -path './kernel/*' \
		-o -path './lib/*' -o -path './mm/*' -o -path './tools/*' -o -path './security/*' \) \
		-type f ! -path './tools/objtool/objtool' -delete
	find ./scripts -name '*.o' -delete
	find . -type d -empty -delete
	# -Wmissing-include-dirs (W=1) wants it, empty or not
	mkdir -p "arch/$arch/include/generated/uapi"
}

build() {
	local source release

	! cached "$pattern" "build/$image" || return 0
	source=$("$RIG_DIR/kernel-source.sh" "$series") || exit 1
	"$RIG_DIR/packages.sh" build kernel >&2 || exit 1
	scratch
	mkdir -p "$SCRATCH/$rig/build"
	step "unpacking the kernel source" "$CACHE/log/$rig-unpack.log" \
		tar -C "$SCRATCH/$rig/build" --strip-components=1 -xf "$source/linux.tar.xz" \
		--exclude='*/Documentation/devicetree' --exclude='*/drivers/gpu/*.[ch]' \
		--exclude='*/sound/*.c' --exclude='*.dts' --exclude='*.dtsi'
	cd "$SCRATCH/$rig/build" || exit 1
	step "configuring the $what" "$CACHE/log/$rig-config.log" configure
	step "building the $what $series (15 minutes on two cores, once)" \
		"$CACHE/log/$rig-build.log" make ARCH="$arch" -j"$JOBS" "$targets" modules
	step "collecting its modules" "$CACHE/log/$rig-modules.log" \
		make ARCH="$arch" INSTALL_MOD_PATH="$SCRATCH/$rig" modules_install
	release=$(make -s ARCH="$arch" kernelrelease) || exit 1
	rm -f "$SCRATCH/$rig/lib/modules/$release/build" "$SCRATCH/$rig/lib/modules/$release/source"
	prune
	cd /
	publish "$SCRATCH/$rig" "$CACHE/$place-$key-$release"
	echo "$CACHE/$place-$key-$release"
}

kernel() {
	place=$rig
	[ "$series" = 6.12 ] || place=${rig}_$series
	key=$({ config | grep '^CONFIG_'; printf '%s' "$edit"; } | sha256sum | cut -c 1-12)
	pattern="$place-$key-*"
	cached "$pattern" "build/$image" || locked "$rig-kernel" build
}
