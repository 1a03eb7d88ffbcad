// Package harness runs real agents for programs and tests that show, disturb or measure them. It
// provides an agent with a directory, cgroups and a socket of its own; a private container runtime
// with a connection to it; and a node, which consists of one agent and one runtime.
//
// Its inputs are a name, the wardlet program, the values of agent.toml other than the agent's own
// paths and, if wanted, the policies that `make plugins` built. Its outputs are the agent's own
// answers, through the wardlet command or its socket; its process; what
// the kernel reports about processes, mounts and cgroups; and after Close an untouched machine.
// Agents, runtimes and nodes do not disturb each other.
//
// The caller of StartProcess owns the process and must end it. One goroutine per process waits for
// its exit; End and Wait wait for that goroutine. A process exits at the latest with the program
// that started it. An Agent owns the process that it started last, a Node its agent and its
// runtime, a Runtime its containerd (test/privateruntime) and its connection. Each of
// them is for one goroutine at a time, except for commands, API and CRI. The package ends no
// process that it did not start.
//
// Runtimes and agents need root.
package harness
