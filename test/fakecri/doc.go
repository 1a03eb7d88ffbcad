// Package fakecri is a container runtime in memory, for tests: the CRI's
// RuntimeService and ImageService over a real unix socket, behaving as
// containerd does where a node agent can tell the difference.
//
// Comes in: CRI calls, and what a test wants to go wrong (Before, Fail,
// Delay, SetReady, Exit, Keep, Stop, BreakEvents, MuteEvents). Goes out: answers,
// events, log files, and a record of every call. gRPC's goroutines are the only
// ones; Stop waits for them. Processes are not run: a Program says when a
// container's would have ended.
package fakecri
