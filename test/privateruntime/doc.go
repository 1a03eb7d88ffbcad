// Package privateruntime starts private container runtimes: containerd, runc, a CNI bridge and
// local images, with directories, sockets, a subnet and a link that nothing else uses. Several run
// side by side, in one process or in many, and each can be removed with everything it made.
//
// Comes in: a name and a directory (Options). Goes out: a CRI endpoint and, afterwards, an
// unchanged machine. Short-lived files and files that need a short path are in
// /run/wardlet-test/NAME, large files in Options.Dir. instance.json in the former has everything
// that another process needs to remove a runtime, also after a crash of the process that started
// it.
//
// There are two kinds of locks. The lock file in /run/wardlet-test covers claiming a name and a
// subnet, and everything that all runtimes of the machine share (IPv4 forwarding, CNI's own
// iptables chains, parent cgroups). A lock on an instance's directory covers starting and removing
// the instance.
//
// Goroutines: one per containerd that this process started, which waits for its exit. The Runtime
// owns it, and Stop waits for it. If a process exits without Stop, containerd keeps running, on
// purpose: it is in a session of its own.
//
// Everything needs root on Linux, and the programs that tools/setup.sh runtime builds.
package privateruntime
