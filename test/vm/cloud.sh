#!/bin/sh
# Makes build/vm/cloud: Debian's kernel for clouds, and an initial RAM disk that loads its modules and starts systemd on the
# disk that build.sh makes. Run by tools/setup.sh qemu, as root.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$root/build/vm"
cd "$root/build/vm"
rm -rf cloud.new && mkdir -p cloud.new/debs cloud.new/files
package() { apt-cache depends linux-image-cloud-amd64 | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1; }
[ -n "$(package)" ] || apt-get update
(cd cloud.new/debs && { apt-get download "$(package)" || { apt-get update && apt-get download "$(package)"; }; })
dpkg-deb -x cloud.new/debs/*.deb cloud.new/files
cp cloud.new/files/boot/vmlinuz-* cloud.new/vmlinuz

initrd=cloud.new/initrd.d
mkdir -p "$initrd/bin" "$initrd/dev" "$initrd/proc" "$initrd/sys" "$initrd/new" "$initrd/modules"
cp "$(command -v busybox)" "$initrd/bin/busybox"
n=10
# Each module after those that it needs: for the disk, for the shared directory, and for containers.
for module in virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk fuse virtiofs overlay llc stp bridge br_netfilter veth; do
	file=$(find cloud.new/files/lib/modules -name "$module.ko")
	[ -n "$file" ] || { echo "the kernel has no module $module" >&2; exit 1; }
	cp "$file" "$initrd/modules/$n-$module.ko"
	n=$((n + 1))
done
cat >"$initrd/init" <<'I'
#!/bin/busybox sh
/bin/busybox mount -t devtmpfs none /dev
/bin/busybox mount -t proc none /proc
for module in /modules/*; do /bin/busybox insmod "$module"; done
tries=0
until [ -b /dev/vda ] || [ $tries -gt 300 ]; do
	/bin/busybox sleep 0.1
	tries=$((tries + 1))
done
/bin/busybox mount -t ext4 -o rw /dev/vda /new || exec /bin/busybox reboot -f
/bin/busybox umount /proc
/bin/busybox mount --move /dev /new/dev
exec /bin/busybox switch_root /new /lib/systemd/systemd
I
chmod +x "$initrd/init"
(cd "$initrd" && find . | cpio -o -H newc) | gzip -1 >cloud.new/initrd
rm -rf "$initrd" cloud.new/debs cloud.new/files cloud
mv cloud.new cloud
