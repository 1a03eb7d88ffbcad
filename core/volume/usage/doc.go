// Package usage counts what the files below a directory take of its disk, while a workload may change them.
//
// Comes in: a directory. Goes out: how many bytes, or that they cannot be counted. The package owns no goroutine.
package usage
