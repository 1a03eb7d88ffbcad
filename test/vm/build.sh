#!/bin/sh
# Builds the machine of test/vm in build/vm: a Debian system with systemd, cgroup v2, AppArmor and containerd, and a Linux
# kernel that runs as a process (User Mode Linux). Run by tools/setup.sh vm, as root. It uses no loop device.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
vm=$root/build/vm tools=$root/build/tools images=$root/build/images guest=$root/test/vm/guest
suite=${SUITE:-bookworm}
# The mirror of Debian that this machine uses.
mirror=${MIRROR:-$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true; } | sed -nE 's/^(URIs:|deb) +(\[[^]]*\] +)?([^ ]+).*/\3/p' | grep -v security | head -1)}
packages=systemd,systemd-sysv,libpam-systemd,udev,dbus,kmod,procps,iproute2,iptables,runc,containernetworking-plugins,apparmor,ca-certificates
mkdir -p "$vm"
cd "$vm"

if [ ! -x uml/usr/bin/patchelf ]; then
	rm -rf uml debs && mkdir debs
	# Since Linux 6.16 it runs programs with the help of seccomp instead of ptrace, which makes them five times as fast. That kernel
	# comes from a newer Debian, so it gets the C library from there, too.
	apt="-o Dir::Etc::sourcelist=$vm/debs/sources.list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$vm/debs/lists -o Dir::Cache=$vm/debs/cache"
	mkdir -p debs/lists/partial debs/cache/archives/partial
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror ${KERNEL_SUITE:-forky} main" >debs/sources.list
	(
		cd debs
		apt-get $apt update
		apt-get $apt download user-mode-linux libc6
		apt-get download patchelf || { apt-get update && apt-get download patchelf; }
	)
	for package in debs/*.deb; do
		dpkg-deb -x "$package" uml
	done
	libc=$vm/uml/usr/lib/x86_64-linux-gnu
	uml/usr/bin/patchelf --set-interpreter "$libc/ld-linux-x86-64.so.2" --set-rpath "$libc" uml/usr/bin/linux.uml
	uml/usr/bin/linux.uml --version
	rm -rf debs
fi
if [ ! -e debian.tar ]; then
	rm -rf system
	debootstrap --variant=minbase --include="$packages" "$suite" system "$mirror"
	rm -rf system/var/cache/apt/archives/*.deb system/var/lib/apt/lists/* system/usr/share/doc system/usr/share/man system/usr/share/locale
	tar -C system -cf .debian.tar --numeric-owner .
	mv .debian.tar debian.tar
fi

rm -rf system disk.new && mkdir system
tar -C system -xf debian.tar
mkdir -p system/lib/modules system/host system/var/log/journal
cp -a uml/usr/lib/uml/modules/* system/lib/modules/
for program in containerd containerd-shim-runc-v2 ctr; do
	install -m 0755 "$tools/$program" system/usr/local/bin/
done
install -D -m 0644 "$guest/containerd.toml" system/etc/containerd/config.toml
install -D -m 0644 "$guest/cni.conflist" system/etc/cni/net.d/10-vm.conflist
install -m 0755 "$guest/scripts" system/usr/local/sbin/scripts
install -m 0644 "$guest"/*.service system/etc/systemd/system/
echo vm >system/etc/hostname
echo '127.0.0.1 localhost vm' >system/etc/hosts
echo 'nameserver 127.0.0.1' >system/etc/resolv.conf
: >system/etc/machine-id
echo '/dev/ubda / ext4 defaults 0 1' >system/etc/fstab
mkdir -p system/etc/systemd/journald.conf.d system/etc/modules-load.d
printf '[Journal]\nStorage=persistent\nForwardToConsole=no\n' >system/etc/systemd/journald.conf.d/vm.conf
printf 'overlay\nbridge\nbr_netfilter\nveth\n' >system/etc/modules-load.d/vm.conf
echo 'net.ipv4.ip_forward=1' >system/etc/sysctl.d/vm.conf
chroot system systemctl -q enable scripts.service containerd.service
for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer fstrim.timer getty@tty1.service systemd-timesyncd.service; do
	chroot system systemctl -q mask "$unit" || true
done

# The images, put into the containerd of the machine by one that runs here for a moment.
state=$(mktemp -d /run/wardlet-vm.XXXXXX)
cat >"$state/config.toml" <<T
version = 3
root = "$vm/system/var/lib/containerd"
state = "$state/state"
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime"]
[grpc]
address = "$state/socket"
T
"$tools/containerd" --config "$state/config.toml" --log-level warn &
containerd=$!
trap 'kill $containerd 2>/dev/null || true' EXIT
for archive in "$images"/*.tar; do
	tries=0
	until "$tools/ctr" --address "$state/socket" --namespace k8s.io images import --local "$archive" >"$state/log" 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 20 ] || { cat "$state/log" >&2; exit 1; }
		sleep 0.5
	done
done
kill $containerd
wait $containerd || true
trap - EXIT
rm -rf "$state"

truncate -s 3G disk.new
mke2fs -q -t ext4 -F -d system disk.new
rm -rf system
mv disk.new disk
