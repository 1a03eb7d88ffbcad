#!/bin/sh
# Makes the programs that tests, demo and lint need, and nothing that is there already:
#
#   tools/setup.sh runtime   Debian packages, containerd, the test images and the private-runtime control program
#   tools/setup.sh cluster   kube-apiserver and etcd
#   tools/setup.sh kubelet   the kubelet that benchmarks stand beside
#   tools/setup.sh conformance  Kubernetes' end-to-end tests, the control plane and images that they need
#   tools/setup.sh vm        the machine of test/vm: Debian with systemd, and a kernel that runs as a process
#   tools/setup.sh qemu      the same machine with Debian's kernel for clouds, emulated by QEMU
#   tools/setup.sh race      the C compiler that builds with the race detector need
#   tools/setup.sh guests    the C compiler and linker that make WebAssembly, and wabt, which shows what is in it
#   tools/setup.sh lint      golangci-lint
#
# Several may be named at once. One line per thing it installs or builds; silent when all is there. Safe to run several
# times at the same time.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
tools=$root/build/tools
images=$root/build/images
log=$root/build/setup.log
PATH=$PATH:/usr/sbin:/sbin:/usr/local/go/bin
# Tools run here, whatever the product is being built for.
unset GOOS GOARCH GOARM GOAMD64 CGO_ENABLED
export PATH GOWORK=off

fail() {
	echo "setup: $*" >&2
	exit 1
}

# logged COMMAND...: runs it quietly; its output is shown when it fails.
logged() {
	if ! "$@" >"$log" 2>&1; then
		cat "$log" >&2
		fail "failed: $*"
	fi
}

# stale FILE SOURCE...: true when FILE is missing or any Go source or module file below a SOURCE is newer.
stale() {
	target=$1
	shift
	[ -e "$target" ] || return 0
	[ -n "$(find "$@" -type f \( -name '*.go' -o -name go.mod -o -name go.sum \) -newer "$target" | head -n 1)" ]
}

# build MODULE SOURCE NAME=PACKAGE...: builds the packages of the module directory into build/tools, each if it is missing
# or older than the module files or the source directory. A running program is replaced, not overwritten. $values are
# flags for the linker; with $tests set, the package's tests become the program.
values= tests=
build() {
	module=$1 source=$2
	shift 2
	for program; do
		name=${program%%=*} package=${program#*=}
		stale "$tools/$name" "$source" "$module/go.mod" "$module/go.sum" || continue
		echo "setup: building $name"
		# A program that is made of tests is not vetted: that takes longer than to build it.
		(cd "$module" && CGO_ENABLED=0 logged go ${tests:-build} -buildvcs=false -trimpath -ldflags="-s -w $values" \
			-tags "grpcnotrace no_btrfs no_devmapper no_zfs no_aufs" -o "$tools/.new" "$package")
		touch "$tools/.new"
		mv "$tools/.new" "$tools/$name"
	done
}

# missing_for PART: the Debian packages of a part whose commands or files are not here.
missing_for() {
	case $1 in
	runtime)
		command -v runc >/dev/null || echo runc
		[ -x /usr/lib/cni/bridge ] || [ -x /opt/cni/bin/bridge ] || echo containernetworking-plugins
		command -v iptables-save >/dev/null || echo iptables
		command -v ip >/dev/null || echo iproute2
		;;
	race)
		command -v gcc >/dev/null || echo gcc
		[ -e /usr/include/stdio.h ] || echo libc6-dev
		;;
	conformance)
		command -v debootstrap >/dev/null || echo debootstrap
		command -v make >/dev/null || echo make
		command -v bzip2 >/dev/null || echo bzip2
		command -v openssl >/dev/null || echo openssl
		command -v curl >/dev/null || echo curl
		;;
	vm)
		command -v debootstrap >/dev/null || echo debootstrap
		command -v mke2fs >/dev/null || echo e2fsprogs
		;;
	qemu)
		command -v qemu-system-x86_64 >/dev/null || echo qemu-system-x86
		command -v qemu-img >/dev/null || echo qemu-utils
		[ -e /usr/share/seabios/bios-256k.bin ] || echo seabios
		command -v busybox >/dev/null || echo busybox-static
		command -v cpio >/dev/null || echo cpio
		;;
	guests)
		command -v clang-19 >/dev/null || echo clang-19
		command -v wasm-ld-19 >/dev/null || echo lld-19
		command -v wat2wasm >/dev/null || echo wabt
		;;
	esac
}

# install_for PART: installs them.
install_for() {
	wanted=$(missing_for "$1" | tr '\n' ' ')
	wanted=${wanted% }
	[ -n "$wanted" ] || return 0
	command -v apt-get >/dev/null || fail "missing: $wanted (Debian's names). There is no apt-get here: install what they hold by hand, then run this again."
	[ "$(id -u)" -eq 0 ] || fail "missing: $wanted. Run this as root, or first: sudo apt-get update && sudo apt-get install -y $wanted"
	echo "setup: installing $wanted"
	export DEBIAN_FRONTEND=noninteractive
	apt="apt-get -o DPkg::Lock::Timeout=300"
	# Package lists may be missing or name versions that are gone: only then fetch them.
	# shellcheck disable=SC2086 # one word per package
	if ! $apt install -y --no-install-recommends $wanted >"$log" 2>&1; then
		logged $apt update
		logged $apt install -y --no-install-recommends $wanted
	fi
	still=$(missing_for "$1" | tr '\n' ' ')
	[ -z "$still" ] || fail "installed, but still missing: $still"
}

build_images() {
	build "$root/tools/images" "$root/tools/images" pause=./pause testbox=./testbox images=.
	if stale "$images/images.json" "$root/tools/images"; then
		echo "setup: building the pause and test images"
		logged "$tools/images" build -pause "$tools/pause" -testbox "$tools/testbox" -out "$images"
	fi
}

runtime() {
	install_for runtime
	install_for race
	containerd=github.com/containerd/containerd/v2/cmd
	build "$root/tools/containerd" "$root/tools/containerd" containerd=$containerd/containerd \
		containerd-shim-runc-v2=$containerd/containerd-shim-runc-v2 ctr=$containerd/ctr
	build_images
	build "$root" "$root/test/privateruntime" privateruntime=./test/privateruntime/ctl
}

# kubernetes MODULE NAME=PACKAGE...: builds programs of Kubernetes that know which version they are.
kubernetes() {
	module=$1
	shift
	release=$(cd "$module" && go list -m -f '{{.Version}}' k8s.io/kubernetes)
	minor=${release#v*.}
	for version in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
		values="$values -X $version.gitVersion=$release -X $version.gitMajor=1 -X $version.gitMinor=${minor%%.*} -X $version.gitTreeState=clean -X $version.buildDate=2026-01-01T00:00:00Z"
	done
	build "$module" "$module/go.mod" "$@"
	values=
}

cluster() {
	install_for race
	build "$root/tools/etcd" "$root/tools/etcd" etcd=.
	kubernetes "$root/test/conformance/kubernetes" kube-apiserver=k8s.io/kubernetes/cmd/kube-apiserver
}

kubelet() {
	# Its module is that of the comparison with a kubelet: what both are made of is compiled once.
	kubernetes "$root/test/parity" kubelet=k8s.io/kubernetes/cmd/kubelet
}

conformance() {
	install_for conformance
	runtime
	cluster
	module=$root/test/conformance/kubernetes
	kubernetes "$module" kube-controller-manager=k8s.io/kubernetes/cmd/kube-controller-manager \
		kube-scheduler=k8s.io/kubernetes/cmd/kube-scheduler kubectl=k8s.io/kubernetes/cmd/kubectl kubeadm=k8s.io/kubernetes/cmd/kubeadm \
		agnhost=k8s.io/kubernetes/test/images/agnhost nonewprivs=k8s.io/kubernetes/test/images/nonewprivs \
		ginkgo=github.com/onsi/ginkgo/v2/ginkgo
	tests="test -c -vet=off"
	kubernetes "$module" e2e.test=k8s.io/kubernetes/test/e2e e2e_node.test=k8s.io/kubernetes/test/e2e_node
	tests=
	build "$root/tools/metricsserver" "$root/tools/metricsserver" metrics-server=.
	build "$root/tools/images" "$root/tools/images" conformance-mirror=./mirror
	build "$root" "$root/test/conformance/report" conformance-report=./test/conformance/report
	build "$root" "$root/test/conformance/login" conformance-login=./test/conformance/login
	build "$root" "$root/test/conformance/kubeletconfig" conformance-kubeletconfig=./test/conformance/kubeletconfig
	build "$root" "$root/test/conformance/logind" conformance-logind=./test/conformance/logind
	if [ ! -e "$root/build/conformance/img/.done" ]; then
		echo "setup: building the images of the end-to-end tests"
		logged "$root/test/conformance/images.sh"
	fi
}

# The machine is built again when what is in it, or how it is built, has changed.
vm() {
	install_for vm
	runtime
	disk=$root/build/vm/disk
	if [ ! -e "$disk" ] || [ -n "$(find "$root/test/vm/build.sh" "$root/test/vm/guest" "$tools/containerd" "$images"/*.tar -newer "$disk" | head -n 1)" ]; then
		echo "setup: building the virtual machine"
		logged "$root/test/vm/build.sh"
	fi
}

qemu() {
	install_for qemu
	vm
	if [ ! -e "$root/build/vm/cloud/vmlinuz" ] || [ "$root/test/vm/cloud.sh" -nt "$root/build/vm/cloud/vmlinuz" ]; then
		echo "setup: getting a kernel for QEMU"
		logged "$root/test/vm/cloud.sh"
	fi
}

race() {
	install_for race
}

guests() {
	install_for guests
}

lint() {
	build "$root/tools/lint" "$root/tools/lint" golangci-lint=github.com/golangci/golangci-lint/v2/cmd/golangci-lint
}

usage() {
	echo "usage: tools/setup.sh runtime|cluster|kubelet|conformance|vm|qemu|race|guests|lint ..." >&2
	exit 2
}

[ $# -gt 0 ] || usage
for part; do
	case $part in
	runtime | cluster | kubelet | conformance | vm | qemu | race | guests | lint) ;;
	*) usage ;;
	esac
done
mkdir -p "$tools" "$images"
command -v flock >/dev/null || fail "missing: flock. Install util-linux, then run this again."
exec 9>"$root/build/.setup.lock"
flock 9
command -v go >/dev/null || fail "missing: go. Install Go 1.26.6 or newer (https://go.dev/dl), then run this again."
for part; do
	"$part"
done
