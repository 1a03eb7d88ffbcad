// Package fakecri is a container runtime in memory, for tests: the CRI's
// RuntimeService and ImageService over a real unix socket. It behaves as
// containerd does wherever a node agent can see the difference.
//
// Its inputs are CRI calls, and the faults that a test wants (Before, Fail,
// Delay, SetReady, SetStats, SetSandboxStats, Exit, Keep, Stop, BreakEvents, MuteEvents). Its outputs are answers,
// events, log files, and a record of every call. It has no goroutines other than
// gRPC's, and Stop waits for them. It runs no processes: a Program says when a
// container's process would have exited.
package fakecri
