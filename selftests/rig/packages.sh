#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# packages.sh PURPOSE...: see to it that the Debian packages for each purpose
# are there. Installs what is missing where it may, else names the command.

. "$(dirname "$0")/lib.sh"

packages() {
	case $1 in
	build)	# module and library
		echo gcc make libc6-dev libelf-dev libibverbs-dev librdmacm-dev kmod ;;
	kernel)	# a kernel, User-Mode Linux or x86
		echo gcc make libc6-dev libelf-dev flex bison bc perl xz-utils kmod cpio rsync ;;
	vm)	# booting Debian's kernel
		echo qemu-system-x86 busybox-static cpio gzip xz-utils kmod ;;
	guest)	# what runs inside the kernels under test
		echo rdmacm-utils ibverbs-providers ibverbs-utils iproute2 kmod busybox-static \
			strace procps ;;
	apps)	# the unmodified programs of selftests/apps
		echo perftest qperf fio libfabric-bin ucx-utils dapl2-utils iperf qemu-system-x86 \
			openmpi-bin python3-mpi4py python3-pyverbs ;;
	coverage) # coverage.sh
		echo gcc gcovr ;;
	sanitize) # sanitize.sh
		echo gcc valgrind libc6-dbg ;;
	bench)
		echo gnuplot-nox ;;
	lint)
		echo sparse cppcheck clang-format perl python3 git abigail-tools mandoc \
			groff-base rdmacm-utils ;;
	*)
		die "packages.sh: unknown purpose '$1' (build kernel vm guest apps coverage sanitize bench lint)" ;;
	esac
}

missing=()
for purpose; do
	list=$(packages "$purpose") || exit 1
	for p in $list; do
		case $(dpkg-query -W -f '${Status}' "$p" 2>/dev/null) in
		*" ok installed") ;;
		*) missing+=("$p") ;;
		esac
	done
done
[ ${#missing[@]} -gt 0 ] || exit 0
mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)

root=()
if [ "$(id -u)" -ne 0 ]; then
	if sudo -n true 2>/dev/null; then
		root=(sudo -n)
	else
		die "packages are missing; as root: apt-get install ${missing[*]}"
	fi
fi

install() {
	"${root[@]}" env DEBIAN_FRONTEND=noninteractive \
		apt-get -q -y --no-install-recommends install "${missing[@]}"
}

log=$CACHE/log/packages.log
if ! apt-cache show "${missing[@]}" >/dev/null 2>&1; then
	locked packages step "reading the machine's package lists" "$log" "${root[@]}" apt-get -q update
fi
# A release may lack one of the programs; the test of it says so and is skipped
there=()
for p in "${missing[@]}"; do
	if [[ " $(packages apps) " == *" $p "* ]] && ! apt-cache show "$p" >/dev/null 2>&1; then
		say "this release has no package $p: what needs it is skipped"
	else
		there+=("$p")
	fi
done
missing=("${there[@]}")
[ ${#missing[@]} -gt 0 ] || exit 0

# Old lists name versions that the archive no longer has
if ! (locked packages step "installing ${missing[*]}" "$log" install); then
	locked packages step "reading the machine's package lists" "$log" "${root[@]}" apt-get -q update
	locked packages step "installing ${missing[*]}" "$log" install
fi
