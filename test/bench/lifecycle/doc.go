// Command lifecycle measures what the agent's lifecycle of pods costs, beside a
// real kubelet and beside direct calls to the runtime, all in turn on one
// machine and one private containerd.
//
// Comes in: flags, the programs that `make build plugins` and tools/setup.sh
// make. Goes out: after each turn a line of JSON with all figures so far, each
// with the limit it must keep, and the share of the work that is done; test/bench
// judges and prints them. One goroutine measures; another receives the runtime's
// events, and one per agent waits for its process. It needs root.
//
// # What is fair
//
// In each round every side has its turn, and each round begins with another
// one. A side gets directories and cgroups of its own; when it is done all its
// pods and whatever it left are taken away. All sides run the same pods: on the
// node's network, one container, which ends at once on TERM; manifests of an
// agent are moved into its directory. A first pod, which does not count, shows
// that the side works.
//
// A container runs from the moment the runtime notes as its start, and has
// stopped at the moment it notes as its end; both are read from the runtime's
// events, to which this program listens on all sides. A beginning is the moment
// before the file is moved, the process killed, or the call made.
//
// The floor is the bare calls, with nothing in between: RunPodSandbox,
// CreateContainer and StartContainer with what the agent itself sent for such a
// pod, as the runtime has kept it. What a mount needs is made before the clock
// runs.
//
// # Parts
//
// start: one manifest after the other, from the manifest to the running
// container.
//
// update: a pod with a fixed UID gets another image after its container has run
// for 300 ms without any event; "acted on" is the end of the old container, for
// the floor that after StopContainer. How long it takes until the new container
// runs is for information.
//
// restart: the container's process is killed after it has run for 3 s, once per
// pod, so that no back-off is due on any side, at a random moment.
//
// burst: all manifests at once, until the last container runs. The floor makes
// as many pods with 4, 8 and 16 callers; the ratio is that to the best of them.
// The processor time that the agent and containerd take for it is for
// information: it says where time goes also on a machine that is busy.
//
// delete: all manifests go at once, until the last container has stopped; then
// until nothing of the agent's is left: no pod or container in the runtime, no
// pod's cgroup in any hierarchy, no pod's directory, no log. The floor stops all
// containers with 4, 8 and 16 callers and then all pods, and removes these.
//
// idle: processor time with all pods running and nothing to do, after a while
// to settle: of the agent's process, and of containerd's, from which is taken
// what it uses with as many pods and no agent. Shims are for information.
//
// memory: what is resident of the process, at least 60 s after the last
// container started; of the agent with three policies, one of them a Go guest,
// compiled by a process before; of the kubelet without any.
//
// A figure is the median over the rounds of what each round gave, where that
// has several measurements their median; differences and ratios are made in
// each round, but for what is caused in containerd, which is the difference of
// two medians. What must be gone in time is the worst of all rounds.
//
// With -trace every call that agents make is written to a file, with the time
// since the measurement began: it shows where time goes.
package main
