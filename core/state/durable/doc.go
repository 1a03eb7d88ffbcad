// Package durable reads and writes the small files of the agent's state. After a crash or a power
// cut each file has its content from before a write or from after it.
//
// Input: the content of a file. Output: a file that is on the disk, or an error. The package starts
// no goroutine. Its functions are safe for concurrent use on different files.
package durable
