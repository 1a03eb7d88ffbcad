// Package harness runs real agents for programs and tests that show, disturb or measure them: an agent with a directory,
// cgroups and a socket of its own; a private container runtime with a connection to it; and a node, which is one of each.
//
// In come a name, the wardlet program, what agent.toml says besides the agent's own places and, where wanted, the policies
// that `make plugins` built. Out come the agent's own answers, through the wardlet command or its socket; its process; what
// the kernel says of processes, mounts and cgroups; and after Close an untouched machine. Agents, runtimes and nodes do not
// disturb each other.
//
// The caller of StartProcess owns the process and ends it. One goroutine per process waits for its end; End and Wait wait
// for that goroutine. A process ends with the program that started it at the latest. An Agent owns the process that it
// started last, a Node its agent and its runtime, a Runtime its containerd (test/privateruntime) and its connection. Each of
// them is for one goroutine at a time, but for commands, API and CRI. Nothing here ends a process that it did not start.
//
// Runtimes and agents need root.
package harness
