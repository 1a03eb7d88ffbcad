package worker

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/status"
)

// Kind is what is asked of a worker.
type Kind int

// The kinds of a Request.
const (
	// Create introduces a pod. For a UID that is being ended it asks for the
	// pod to be made again once that is done.
	Create Kind = iota + 1
	// Update brings a new version of the pod.
	Update
	// Sync asks to look at the pod again.
	Sync
	// Kill ends the pod.
	Kill
)

// Request asks something of the worker of one pod.
type Request struct {
	Kind Kind
	// Pod is the pod as it should be, nil for one that only the runtime knows.
	Pod *v1.Pod
	// Origin is where Pod came from.
	Origin api.Origin
	// After is, with Create, the pod whose place this one takes: it starts when
	// that one has left. Empty for none, or for one that is not known.
	After types.UID
	// Observed is the pod as the runtime shows it, when Pod is nil. Such a
	// pod can only be killed.
	Observed *status.ObservedPod
	// Kill says how to end the pod, nil for the usual way. It counts only
	// where the pod is ending.
	Kill *KillOptions
}

// KillOptions say how a pod is to be ended.
type KillOptions struct {
	// Done, if not nil, is closed by the pool when the pod's containers have
	// stopped, or at once when there is nothing to wait for. It stays open
	// when the pool is stopped first.
	Done chan<- struct{}
	// Evict marks the pod as evicted: its content may go although its source
	// still holds it.
	Evict bool
	// Status changes the status the pod ends with.
	Status func(*v1.PodStatus)
	// Grace, in seconds, shortens the pod's own grace period.
	Grace *int64
}

// uid is the pod's, whichever way it was given.
func (r *Request) uid() types.UID {
	if r.Pod != nil {
		return r.Pod.UID
	}
	return r.Observed.UID
}

// done tells whoever waits that there is nothing (more) to wait for.
func (o *KillOptions) done() {
	if o != nil && o.Done != nil {
		close(o.Done)
	}
}
