// Package logs reads the logs of containers, as runtimes write them for the CRI: a line with time, stream and tag before
// each line, or part of a line, that a container wrote.
//
// Comes in: the path of a log, and which part of it is wanted. Goes out: what the container wrote, to writers of the
// caller's; a log that is followed is read on through its rotated files, which rotate makes. The package owns no goroutine.
// It holds one block of a log in memory, however long its lines are.
package logs
