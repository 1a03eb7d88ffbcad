package worker

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// Kind is the kind of a Request.
type Kind int

// The kinds of a Request.
const (
	// Create introduces a pod. If the UID is being terminated, the pod is created again after that.
	Create Kind = iota + 1
	// Update brings a new version of the pod.
	Update
	// Sync requests another look at the pod.
	Sync
	// Kill terminates the pod.
	Kill
)

// Request is a request to the worker of one pod.
type Request struct {
	Kind Kind
	// Pod is the desired version of the pod, nil for a pod that only the runtime knows.
	Pod *v1.Pod
	// Origin is where Pod came from.
	Origin api.Origin
	// Replaces is, with Create, the pod that must be gone before this one starts. It is empty for
	// none. An unknown UID has no effect.
	Replaces types.UID
	// Observed is the pod as the runtime shows it, if Pod is nil. Such a pod can only be killed.
	Observed *status.ObservedPod
	// Kill has the options of the termination, nil for the defaults. It is used only if the pod is
	// being terminated.
	Kill *KillOptions
}

// KillOptions are the options of a termination.
type KillOptions struct {
	// Done, if not nil, is closed by the pool when the pod's containers have stopped, or at once if
	// there is nothing to wait for. It stays open if the pool is stopped first.
	Done chan<- struct{}
	// Evict marks the pod as evicted: its content may be removed although its source still has the
	// pod.
	Evict bool
	// NodeShutdown marks the pod as terminated by a shutdown of the machine: its content stays. If the
	// pod is static, its end is not saved, so that it runs again when an agent starts later.
	NodeShutdown bool
	// Status changes the final status of the pod.
	Status func(*v1.PodStatus)
	// Grace, in seconds, shortens the pod's own grace period.
	Grace *int64
}

// uid returns the UID of Pod or, if Pod is nil, of Observed.
func (r *Request) uid() types.UID {
	if r.Pod != nil {
		return r.Pod.UID
	}
	return r.Observed.UID
}

// done closes Done: there is nothing, or nothing more, to wait for.
func (o *KillOptions) done() {
	if o != nil && o.Done != nil {
		close(o.Done)
	}
}

// Submit passes a request to the worker of its pod and starts the worker if there is none. It
// does not wait for the worker.
func (p *Pool) Submit(r Request) {
	if r.Pod == nil && (r.Observed == nil || r.Kind != Kill) {
		p.log.Error("request without a pod can only kill what the runtime shows; dropped", "kind", int(r.Kind))
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return
	}
	rec, known := p.records[r.uid()]
	if !known {
		former := p.renamedPod(&r)
		if former != nil {
			p.log.Info("pod runs under another name; terminating that first",
				append(logPod(r.Pod, r.Pod.UID), "former", former.Namespace+"/"+former.Name)...)
			r = Request{Kind: Kill, Observed: former}
		}
		rec = p.addWorker(&r)
		rec.restartRequested = former != nil
	}
	if known && rec.state > Syncing && r.Kind == Create {
		rec.restartRequested = true
		return
	}
	if rec.state == Finished {
		r.Kill.done()
		return
	}
	// The running iteration is bounded by the old deadline.
	changed := rec.state == Syncing && r.Pod != nil && activeDeadline(rec.pod) != activeDeadline(r.Pod)
	switch {
	case r.Pod == nil:
		rec.observed = r.Observed
	case rec.restartRequested, rec.state > Syncing && r.Kind == Sync:
		// r.Pod may be the version that comes after this pod, waits or was denied, and was never
		// created.
	default:
		rec.pod, rec.origin = r.Pod, r.Origin
	}

	now := p.cfg.Now()
	ended := rec.transition(&r, now)
	rec.removed = rec.removed || r.Kind == Kill && (r.Kill == nil || !r.Kill.Evict && !r.Kill.NodeShutdown)
	shortened := false
	switch rec.state {
	case Terminating:
		before := rec.grace
		rec.applyKill(r.Kill)
		if ended {
			rec.capGrace(now)
		}
		shortened = before != 0 && rec.grace != before
	default:
		r.Kill.done()
		if rec.state == Terminated && r.Pod == nil {
			return
		}
	}

	rec.pending = true
	rec.notify()
	if (ended || shortened || changed) && rec.cancel != nil {
		rec.cancel()
	}
}

// Recreate makes a pod that is being terminated start again after that. It returns false if the pod
// is not being terminated.
func (p *Pool) Recreate(uid types.UID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	rec, known := p.records[uid]
	if !known || rec.state == Syncing {
		return false
	}
	rec.restartRequested = true
	return true
}

// renamedPod returns the running pod that has the UID of a new pod under an earlier name, nil for
// none: an earlier agent could not terminate it. A running pod cannot be renamed, so the old one is
// terminated like an orphan, and then the new one gets its worker.
func (p *Pool) renamedPod(r *Request) *status.ObservedPod {
	if r.Kind != Create {
		return nil
	}
	observed := p.lastObserved(r.Pod.UID)
	if !observed.Active() || observed.Name == "" || observed.Name == r.Pod.Name && observed.Namespace == r.Pod.Namespace {
		return nil
	}
	return &observed
}

// addWorker adds a record for a pod and starts its worker.
func (p *Pool) addWorker(r *Request) *record {
	rec := &record{uid: r.uid(), replaces: r.Replaces, pod: r.Pod, origin: r.Origin, state: Syncing, wake: make(chan struct{}, 1)}
	p.resumeOutcome(rec)
	p.resumeTermination(rec)
	rec.terminalAtStart = rec.terminalAtStart || r.Pod != nil && pod.IsTerminal(r.Pod.Status.Phase)
	if rec.terminalAtStart && !p.active(rec.uid) {
		// It ended before the agent started: clean up, but start nothing.
		rec.state, rec.started, rec.startedTerminating = Terminated, true, true
	}
	p.records[rec.uid] = rec
	if r.Pod != nil && pod.IsStatic(r.Pod) && !rec.started {
		rec.fullName = pod.FullName(r.Pod)
		p.names.enqueue(rec.fullName, rec.uid)
	}
	if _, known := p.records[rec.replaces]; known && !rec.started {
		p.successors[rec.replaces] = append(p.successors[rec.replaces], rec.uid)
	}
	p.addSuccessors(rec, r.Observed)
	wake := rec.wake
	p.workers.Go(func() { p.podWorkerLoop(rec, wake) })
	return rec
}

// transition moves the record to Terminating if the request, or the pod in it, requires that, and
// reports whether it moved the record.
func (r *record) transition(req *Request, now time.Time) bool {
	if r.state != Syncing {
		return false
	}
	switch {
	case r.pod == nil, r.pod.DeletionTimestamp != nil:
		r.deleted = true
	case r.terminalAtStart, pod.IsTerminal(r.pod.Status.Phase):
	case req.Kind == Kill:
		r.evicted = req.Kill != nil && req.Kill.Evict
		r.nodeShutdown = req.Kill != nil && req.Kill.NodeShutdown
	default:
		return false
	}
	r.state, r.terminatingAt = Terminating, now
	return true
}

// applyKill adds the options of a request to the termination, and updates the grace period.
func (r *record) applyKill(o *KillOptions) {
	var override *int64
	if o != nil {
		override = o.Grace
		if o.Status != nil {
			r.statusFunc = o.Status
		}
		if o.Done != nil {
			r.waiters = append(r.waiters, o.Done)
		}
	}
	r.grace = effectiveGrace(r.grace, r.pod, override)
}
