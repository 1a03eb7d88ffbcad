// Package eviction terminates pods when the node runs out of memory, disk space, inodes or process
// IDs, by a kubelet's rules.
//
// Comes in: thresholds (core/eviction/threshold), and every 10 s the state of the node and the usage
// of its pods, which Machine reads from /proc, cgroups and file systems. Goes out: the conditions
// MemoryPressure, DiskPressure and PIDPressure; requests to remove dead containers and unused images;
// at most one eviction at a time, with its events. Limits evicts pods whose files exceed the limits
// in their own specifications.
//
// The package owns the goroutines of Manager.Run and Limits.Run, and while a file system does not
// answer one goroutine for it. No pass depends on the sync loop or on the runtime: what cannot be read in time
// is unknown, and an unknown signal evicts no pod. Manager.Conditions may be called from any
// goroutine.
package eviction
