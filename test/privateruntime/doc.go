// Package privateruntime brings up a container runtime of one's own: containerd, runc, a CNI bridge and local images, on
// directories, sockets, a subnet and a link that nothing else uses. Several live side by side, in one process or in
// many, and each is taken away with all it made.
//
// In come a name and a directory (Options); out come a CRI endpoint and, afterwards, an untouched machine. What is
// short-lived or must have a short path lies in /run/wardlet-test/NAME, what is large in Options.Dir. instance.json in
// the former is all that another process needs to take a runtime away, also after a crash of the one that started it.
//
// Locks order the rest: the lock file in /run/wardlet-test covers claiming a name and a subnet and what all runtimes of
// the machine share (IPv4 forwarding, CNI's own iptables chains, parent cgroups); a lock on an instance's directory
// covers bringing it up and taking it down.
//
// Goroutines: one per containerd started by this process, which waits for its exit. The Runtime owns it, and Stop waits
// for it. A process that ends without Stop leaves containerd running, on purpose: it is in a session of its own.
//
// Everything needs root on Linux, and the programs that tools/setup.sh runtime makes.
package privateruntime
