package worker

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/faultlog"
	"github.com/wardlet/wardlet/core/status"
)

// record is what the pool knows of one pod. It is guarded by the pool's lock.
type record struct {
	uid types.UID
	// name is the full name by which the start gate knows a static pod, empty
	// for pods that may start at any time.
	name string
	// after is the pod whose place this one takes, empty for none.
	after types.UID
	// pod and origin are the newest version asked for; pod is nil for a pod
	// that only the runtime knows, which then is observed.
	pod      *v1.Pod
	origin   api.Origin
	observed *status.ObservedPod

	state State
	// endedAt is when the pod began to be ended.
	endedAt time.Time
	// deadline is when a pod was to have ended that an earlier agent was ending, zero for
	// others; born is when this one met it.
	deadline, born time.Time
	// ended is true for a pod that had ended before the agent started, attempts
	// are the numbers the next instances of its containers have at least.
	ended    bool
	attempts map[string]uint32
	// started is true once the start gate has let the pod pass.
	started bool
	// active is when the pod became active, with a monotonic reading; zero before
	// that.
	active time.Time
	// stopping is true once a turn has begun to stop containers.
	stopping bool
	// deleted: the pod is not to come back; evicted: it was pushed out; removed: its
	// source has it no more.
	deleted, evicted, removed bool
	// restart: the same UID was created again while it was being ended.
	restart bool
	// grace is the grace period in force, in seconds, 0 for none yet.
	grace int64
	// failure is why the pod failed, nil where that is for its containers to say.
	failure *status.Reason
	// status is the change asked for last of the status the pod ends with.
	status func(*v1.PodStatus)
	// waiters are closed once the containers have stopped.
	waiters []chan<- struct{}

	// pace is of the turns, unremoved of old instances that could not be removed.
	pace, unremoved faultlog.Pace
	// starting are, by container, the instances that could not be removed and may
	// be starting.
	starting map[string]starting

	// changed is when the worker had last done something in the runtime, zero if it
	// never has: only what is seen after that shows it. It is the worker's own.
	changed time.Time
	// lostSandbox is the sandbox whose loss was told last, empty for none. It is the
	// worker's own.
	lostSandbox string

	// pending: there is something the worker has not acted on.
	pending bool
	// wake has room for one value. It is closed by the pool, which then sets
	// it to nil: when the record goes, or at Stop.
	wake chan struct{}
	// cancel ends the calls of the turn that runs, nil between turns.
	cancel context.CancelFunc
}

// poke wakes the worker. It never blocks: a worker that has a wake-up before
// it needs no second.
func (r *record) poke() {
	if r.wake == nil {
		return
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// retire lets the goroutine go.
func (r *record) retire() {
	if r.wake != nil {
		close(r.wake)
		r.wake = nil
	}
}

// end moves the record on to terminating and sets its grace period.
func (r *record) end(now time.Time, override *int64) {
	r.state, r.endedAt = Terminating, now
	r.grace = effectiveGrace(r.grace, r.pod, override)
	r.bound(now)
}

// release tells all who wait for the containers to have stopped.
func (r *record) release() {
	for _, w := range r.waiters {
		close(w)
	}
	r.waiters = nil
}
