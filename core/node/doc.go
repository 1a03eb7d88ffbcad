// Package node looks after what pods share on the node: the cgroups that hold
// them, what the machine has for them, and whether its clock is right.
//
// Comes in: a pod (Ensure) or a UID (Remove, End); a description (Machine). Goes out:
// directories and limits in the cgroup file systems, and the parent the runtime
// puts containers in; the node object that pods are judged by.
// The package owns no goroutine; Cgroups is safe for concurrent use.
//
// Pods lie below one root as on a kubelet: guaranteed pods in it, the others
// in its children burstable and besteffort, which get the CPU shares of their
// class. The kernel's word is taken for everything: after a restart nothing
// needs to be read back.
package node
