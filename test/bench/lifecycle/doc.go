// Command lifecycle measures the cost of the agent's lifecycle of pods, compared with a real
// kubelet and with direct calls to the runtime, all in turn on one machine and one private
// containerd.
//
// Comes in: flags, the programs that `make build plugins` and tools/setup.sh build. Goes out: after
// each turn a line of JSON with all figures so far, each with its limit, and the share of the work
// that is done; test/bench checks and prints them. One goroutine measures; another receives the
// runtime's events, and one per agent waits for its process. It needs root.
//
// # What is fair
//
// In each round every side has its turn, and each round begins with another side. A side gets
// directories and cgroups of its own; after its turn all its pods and everything else it left are
// removed. All sides run the same pods: on the node's network, one container, which exits at once
// on TERM. Manifests of an agent are moved into its directory. A first pod, which is not measured,
// shows that the side works.
//
// The start and the stop of a container are the moments that the runtime records for them. Both are
// read from the runtime's events, which this program receives for all sides. A measurement begins
// at the moment before the file is moved, the process killed, or the call made.
//
// The floor is the bare calls, with nothing in between: RunPodSandbox, CreateContainer and
// StartContainer with the requests that the agent itself sent for such a pod, as the runtime has
// stored them. Everything that a mount needs is made before the measurement begins.
//
// # Parts
//
// start: one manifest after the other, from the manifest to the running container.
//
// update: a pod with a fixed UID gets another image after its container has run for 300 ms without
// any event. "acted on" is when the old container has stopped; for the floor, that is after
// StopContainer. The time until the new container runs is for information.
//
// restart: the container's process is killed after it has run for 3 s, once per pod, so that no
// back-off is due on any side, at a random moment.
//
// burst: all manifests at once, until the last container runs. The floor makes as many pods with 4,
// 8 and 16 callers; the ratio is to the best of them. The processor time of the agent and of
// containerd is for information: it shows where time is spent, also on a busy machine.
//
// delete: all manifests are removed at once. It measures until the last container has stopped, and
// then until nothing of the agent's is left: no pod or container in the runtime, no pod's cgroup in
// any hierarchy, no pod's directory, no log. The floor stops all containers with 4, 8 and 16
// callers, then stops all pods, and removes them.
//
// idle: processor time with all pods running and nothing to do, after a while to settle. It is that
// of the agent's process, and that of containerd's process minus what containerd uses with as many
// pods and no agent. Shims are for information.
//
// memory: the resident memory of the process, at least 60 s after the last container started. The
// agent has three policies, one of them a Go guest, compiled before by another process; the kubelet
// has none.
//
// A figure is the median over the rounds. If a round has several measurements, their median is the
// round's value. Differences and ratios are computed within each round, except the processor time
// caused in containerd, which is the difference of two medians. The time until everything is gone
// is the worst of all rounds.
//
// With -trace every call that agents make is written to a file, with the time since the measurement
// began, to show where time is spent.
package main
