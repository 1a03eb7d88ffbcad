// Package memory holds the linear memories of plugin instances outside of Go's
// heap. After each call it resets a memory to its content after initialisation.
//
// Inputs: the largest size of a memory (NewLinear), wazero's calls to grow and free
// it, and calls to make a snapshot of it (Linear.Capture), to begin from the
// snapshot of another instance (Linear.Adopt), to return it to its old size after
// it grew (Linear.Shrink) and to reset it (Linear.Restore). Outputs: memory for
// wazero, a Snapshot that the instances of one plugin share, and how much address
// space and memory all of them use (Usage).
//
// The package starts no goroutine. A Linear may be used by one goroutine at a time,
// the one that runs its instance. Snapshot and Usage are safe for concurrent use.
//
// A snapshot is a sealed file in memory. The file is mapped copy on write into the
// memories that begin from it, so they share the pages that none of them has
// written to. To reset a memory is to undo what was written since: Method lists the
// three ways to do so.
package memory
