// Package rotate rotates the logs of containers, as a kubelet does: a log that has reached a
// maximum size is renamed, and the runtime opens a new one. All rotated files but the newest are
// compressed, and the oldest are removed.
//
// Comes in: the last inspected state of the pods of this installation; the maximum size and number
// of files. Goes out: calls to the runtime to reopen a log, files beside the logs, and an event if
// a log cannot be rotated. Only logs of running containers are rotated. Run is the package's only
// goroutine; its caller owns it. Before it ends, it finishes the current rotation, which takes at
// most 10 s. It holds one block of a file in memory.
//
// Package logs reads rotated logs, and defines the names of the files.
package rotate
