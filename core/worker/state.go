package worker

// State is how far a worker is with its pod. It only ever grows.
type State int

// The states of a worker.
const (
	// Syncing: the pod should run, or waits for its turn to.
	Syncing State = iota + 1
	// Terminating: its containers are being stopped.
	Terminating
	// Terminated: nothing of it runs; volumes and cgroup are being removed.
	Terminated
	// Finished: nothing is left to do, and no goroutine is left either.
	Finished
)

// String names the state for logs.
func (s State) String() string {
	switch s {
	case Syncing:
		return "sync"
	case Terminating:
		return "terminating"
	case Terminated:
		return "terminated"
	case Finished:
		return "finished"
	}
	return "unknown"
}
