// Package logs reads the logs of containers in the format of the CRI: the runtime writes a time, a
// stream and a tag before each line, or part of a line, of the container's output.
//
// Comes in: the path of a log, and the part to read. Goes out: the container's output, to the
// caller's writers. A followed log is read on through its rotated files, which package rotate
// makes. The package owns no goroutine. It holds one block of a log in memory, however long its
// lines are.
package logs
