// Package node manages the resources that pods share on the node: the cgroups, the machine's
// resources, and the state of its clock.
//
// Comes in: a pod (Ensure) or a UID (Remove, End); a description (Machine). Goes out: directories
// and limits in the cgroup file systems, and the parent cgroup for the runtime's containers; the
// node object by which pods are judged. The package owns no goroutine; Cgroups is safe for
// concurrent use.
//
// Pods are below one root as on a kubelet: guaranteed pods directly in it, the others in its
// children burstable and besteffort, which get the CPU shares of their class. With the driver
// systemd they are slices, which systemd starts and limits. Refresh sets again what other programs
// changed. All state is in the kernel: nothing needs to be restored after a restart.
package node
