// Package kernel reads what the kernel counts about the machine, its cgroups and its processes.
//
// Comes in: the files of /proc and of the cgroup file systems, v1 or v2. Goes out: numbers in bytes
// and nanoseconds, nil where the kernel does not count. The package keeps no state and owns no
// goroutine. Every method reads its files at the time of the call.
package kernel
