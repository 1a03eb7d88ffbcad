// Package rotate rotates the logs of containers, as a kubelet does: a log that has reached a size is renamed and the
// runtime opens a new one; of the files that were renamed all but the newest are compressed, and the oldest go.
//
// Comes in: the pods of this installation as they were last inspected; the greatest size and number of files. Goes
// out: calls to the runtime to open a log again, files beside the logs, and an event where a log cannot be rotated.
// Only logs of containers that run are touched. Run is the package's only goroutine, of its caller; it finishes what
// it has begun with a log before it ends, for at most 10 s. It holds one block of a file in memory.
//
// What reads a log while it is rotated is package logs, which also knows the names of the files.
package rotate
