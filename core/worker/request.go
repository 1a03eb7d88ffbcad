package worker

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
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
	// Replaces is, with Create, the pod that must be gone before this one starts. Empty
	// for none; a UID that is not known counts as none.
	Replaces types.UID
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

// done closes Done: there is nothing (more) to wait for.
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
		// It is, or may be, the version that comes after this one: one that waits, or
		// was refused, and never was created.
	default:
		rec.pod, rec.origin = r.Pod, r.Origin
	}

	now := p.cfg.Now()
	ended := rec.transition(&r, now)
	rec.removed = rec.removed || r.Kind == Kill && (r.Kill == nil || !r.Kill.Evict)
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

// Recreate makes a pod that is being terminated start again after that, and reports whether it
// is being terminated.
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

// renamedPod returns what runs of a new pod under an earlier name, nil for nothing: an earlier
// agent could not end it. A running pod cannot be renamed, so the old one ends like an orphan;
// then the new one gets its worker.
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

// transition moves the record to Terminating if the request, or the pod in it, asks for that,
// and reports whether it did.
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
	default:
		return false
	}
	r.state, r.terminatingAt = Terminating, now
	return true
}

// applyKill adds what a request says about the termination, and updates the grace period.
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
