// Package oom reports the processes that the kernel kills because memory has run out.
//
// Comes in: the log of the kernel, as /dev/kmsg has it. Goes out: events about the node, if the
// whole machine is out of memory, and about pods, if a process of theirs was killed; the number of
// kills by container.
//
// Watcher.Run is one goroutine, which its caller owns, and one that closes the log when ctx ends.
// All other methods may be called from any goroutine.
package oom
