// Package usage measures how much disk space the files below a directory use, while a workload may
// change them.
//
// Input: a directory. Output: the number of bytes, or an error if they cannot be counted. The
// package owns no goroutine.
package usage
