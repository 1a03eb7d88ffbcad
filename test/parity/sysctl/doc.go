// Package sysctl compares two checks of core/admission with a kubelet's: the list of sysctls that
// pods may set, which depends on the kernel, and AppArmor, which depends on the security module.
//
// Comes in: random pods, kernels and lists, made from a seed. Goes out: only a verdict; there are
// no differences.
package sysctl
