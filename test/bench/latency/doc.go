// Package latency measures the time from the write of a manifest until its update is delivered.
//
// Comes in: how the manifests are written, and how many. Goes out: one duration for each.
// Everything in between is the agent's own: the file source with the kernel's events and its
// default settle time, the mux, and the checkpoint on the disk. Measure owns the goroutines and
// waits for them.
package latency
