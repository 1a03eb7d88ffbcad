// Package durable writes and reads the small files of the agent's state so that a crash or a power
// cut leaves each as it was before a write or after it.
//
// Comes in: the content of a file. Goes out: an error, or a file that is on the disk. The package owns
// no goroutine. Its functions are safe for concurrent use on different files.
package durable
