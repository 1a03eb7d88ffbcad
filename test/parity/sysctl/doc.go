// Package sysctl compares the two checks of core/admission that stand for one
// security module or kernel each with a kubelet's: the list of sysctls that pods
// may set, and AppArmor.
//
// Comes in: random pods, kernels and lists, made from a seed. Goes out: nothing
// but a verdict; there are no differences.
package sysctl
