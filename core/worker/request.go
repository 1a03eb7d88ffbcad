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

// Update hands a request to the worker of its pod and makes the worker if
// there is none. It does not block on anything the worker does.
func (p *Pool) Update(r Request) {
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
		former := p.former(&r)
		if former != nil {
			p.log.Info("pod runs under another name, that is ended first",
				append(logPod(r.Pod, r.Pod.UID), "former", former.Namespace+"/"+former.Name)...)
			r = Request{Kind: Kill, Observed: former}
		}
		rec = p.newRecord(&r)
		rec.restart = former != nil
	}
	if known && rec.state > Syncing && r.Kind == Create {
		rec.restart = true
		return
	}
	if rec.state == Finished {
		r.Kill.done()
		return
	}
	// The time of a turn that runs is measured by the old deadline.
	changed := rec.state == Syncing && r.Pod != nil && deadline(rec.pod) != deadline(r.Pod)
	switch {
	case r.Pod == nil:
		rec.observed = r.Observed
	case rec.restart, rec.state > Syncing && r.Kind == Sync:
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
		rec.take(r.Kill)
		if ended {
			rec.bound(now)
		}
		shortened = before != 0 && rec.grace != before
	default:
		r.Kill.done()
		if rec.state == Terminated && r.Pod == nil {
			return
		}
	}

	rec.pending = true
	rec.poke()
	if (ended || shortened || changed) && rec.cancel != nil {
		rec.cancel()
	}
}

// Return has a pod that is being ended come back after that, and reports whether it is
// being ended.
func (p *Pool) Return(uid types.UID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	rec, known := p.records[uid]
	if !known || rec.state == Syncing {
		return false
	}
	rec.restart = true
	return true
}

// former is what runs of a new pod under a name it had before, nil for nothing:
// an earlier agent did not get to end it. Nothing can be renamed while it runs, so
// this ends like a pod nobody knows; then the pod has no worker, and gets one.
func (p *Pool) former(r *Request) *status.ObservedPod {
	if r.Kind != Create {
		return nil
	}
	observed := p.shown(r.Pod.UID)
	if !observed.Active() || observed.Name == "" || observed.Name == r.Pod.Name && observed.Namespace == r.Pod.Namespace {
		return nil
	}
	return &observed
}

// newRecord records a pod and starts its worker.
func (p *Pool) newRecord(r *Request) *record {
	rec := &record{uid: r.uid(), after: r.After, pod: r.Pod, origin: r.Origin, state: Syncing, wake: make(chan struct{}, 1)}
	p.resume(rec)
	p.inherit(rec)
	rec.ended = rec.ended || r.Pod != nil && pod.IsTerminal(r.Pod.Status.Phase)
	if rec.ended && !p.active(rec.uid) {
		// It ended before the agent started: clean up, but start nothing.
		rec.state, rec.started, rec.stopping = Terminated, true, true
	}
	p.records[rec.uid] = rec
	if r.Pod != nil && pod.IsStatic(r.Pod) && !rec.started {
		rec.name = pod.FullName(r.Pod)
		p.gate.join(rec.name, rec.uid)
	}
	if _, known := p.records[rec.after]; known && !rec.started {
		p.followers[rec.after] = append(p.followers[rec.after], rec.uid)
	}
	p.awaited(rec, r.Observed)
	wake := rec.wake
	p.workers.Go(func() { p.work(rec, wake) })
	return rec
}

// transition moves the record to terminating if the request, or the pod it
// brings, asks for that, and reports whether it did.
func (r *record) transition(req *Request, now time.Time) bool {
	if r.state != Syncing {
		return false
	}
	switch {
	case r.pod == nil, r.pod.DeletionTimestamp != nil:
		r.deleted = true
	case r.ended, pod.IsTerminal(r.pod.Status.Phase):
	case req.Kind == Kill:
		r.evicted = req.Kill != nil && req.Kill.Evict
	default:
		return false
	}
	r.state, r.endedAt = Terminating, now
	return true
}

// take collects what a request says about the way to end, and brings the
// grace period up to date.
func (r *record) take(o *KillOptions) {
	var override *int64
	if o != nil {
		override = o.Grace
		if o.Status != nil {
			r.status = o.Status
		}
		if o.Done != nil {
			r.waiters = append(r.waiters, o.Done)
		}
	}
	r.grace = effectiveGrace(r.grace, r.pod, override)
}
