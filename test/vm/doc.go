// Package vm runs the agent as a service of systemd on a machine of its own: Debian with cgroup v2,
// AppArmor and a containerd that makes cgroups through systemd. The machine is a Linux kernel that
// runs as a process (User Mode Linux), because the machines that run these tests have no hardware
// virtualization. It has one processor, and a network only in TestConformance. With the flag -kernel
// cloud it is Debian's kernel for clouds in QEMU, which has two processors and all controllers, and is
// slower.
//
// tools/setup.sh vm builds the machine, in build/vm, and tools/setup.sh qemu gets the other kernel.
// The tests have the build tag vm; make test-vm runs them.
package vm
