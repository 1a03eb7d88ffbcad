// Package memory keeps the linear memories of plugin instances outside of Go's
// heap, and puts them back after each call to what they held after
// initialisation.
//
// Comes in: the most bytes a memory may have (NewLinear), wazero's calls to grow
// and free it, and when to remember it (Linear.Capture), to take over what
// another instance remembered (Linear.Adopt), to give it its old size after it
// grew (Linear.Shrink) and to put it back (Linear.Restore). Goes out: memory for
// wazero, a Snapshot that the instances of one plugin share, and how much address
// space and memory all of them take (Usage).
//
// The package owns no goroutine. A Linear belongs to the goroutine that runs its
// instance, one at a time. Any goroutine may share a Snapshot, and call Usage.
//
// A snapshot is a sealed file in memory. It is mapped copy on write over the
// memories that begin from it, so they share the pages that none of them wrote.
// To put a memory back means to undo what was written since: Method tells the
// three ways to do it.
package memory
