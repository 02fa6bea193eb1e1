#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# vm-initrd.sh DIR RELEASE: write DIR/initrd, which mounts the host's file
# system read-only over 9p and runs the program that rcm_init= names.

. "$(dirname "$0")/lib.sh"
dir=$1 release=$2
scratch
root=$SCRATCH/initrd
mkdir -p "$root"/{bin,proc,root,mod}
cp "$(command -v busybox)" "$root/bin/busybox" || die "no busybox (package busybox-static)"

for module in virtio_pci 9pnet_virtio 9p; do
	modprobe -d "$dir" -S "$release" --show-depends "$module" ||
		die "the kernel $release has no module $module"
done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r file; do
	name=$(basename "$file" .xz)
	case $file in
	*.xz)	xz -dc "$file" >"$root/mod/$name" ;;
	*)	cp "$file" "$root/mod/$name" ;;
	esac
	echo "$name" >>"$root/mod/order"
done
[ -s "$root/mod/order" ] || touch "$root/mod/order"

cat >"$root/init" <<'X'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc
while read -r m; do $b insmod /mod/$m; done </mod/order
if ! $b mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,ro,cache=loose root /root; then
	echo "rcm: the host's file system does not mount over 9p"
	$b poweroff -f
fi
init=$($b sed -n 's/.*rcm_init=\([^ ]*\).*/\1/p' /proc/cmdline)
$b mount --move /proc /root/proc
exec $b switch_root /root "$init"
X
chmod +x "$root/init"
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$dir/initrd"
