package worker

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// turn is one run of a worker: the record as it was when the run began.
type turn struct {
	rec      *record // to be looked at with the pool locked
	uid      types.UID
	pod      *v1.Pod
	origin   api.Origin
	observed *status.ObservedPod
	attempts map[string]uint32
	state    State
	grace    time.Duration
	inherits bool
	failure  *status.Reason
	status   func(*v1.PodStatus)
	// why is the reason why the pod is being ended.
	why string
	// exceeded is true for the turn that ends the pod for its deadline.
	exceeded bool
}

// begin takes what is pending. It gives false when there is nothing to do now,
// or when the record is not the pod's any more.
func (p *Pool) begin(rec *record) (context.Context, turn, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.records[rec.uid] != rec || p.stopped || rec.state == Finished {
		return nil, turn{}, false
	}
	if !rec.started && (!rec.pending || !p.start(rec)) {
		return nil, turn{}, false
	}
	exceeded := rec.expire(p.cfg.Now())
	if !rec.pending {
		return nil, turn{}, false
	}
	rec.pending = false
	rec.stopping = rec.stopping || rec.state == Terminating
	ctx, cancel := context.WithCancel(p.calls)
	rec.cancel = cancel
	return ctx, turn{
		rec: rec, uid: rec.uid, pod: rec.pod, origin: rec.origin, observed: rec.observed, attempts: rec.attempts,
		state: rec.state, grace: rec.period(), inherits: rec.inherits(), failure: rec.failure, status: rec.status,
		exceeded: exceeded, why: rec.why(),
	}, true
}

// run does what the pod's state asks for. ended is true when a pod that was
// to run has run to its end.
func (p *Pool) run(ctx context.Context, t turn, last time.Time) (ended bool, err error) {
	if t.pod == nil {
		return false, p.endOrphan(ctx, t, last)
	}
	if t.exceeded {
		p.cfg.Events.Event(t.pod, v1.EventTypeNormal, reasonDeadline, messageDeadline)
	}
	observed, err := p.observe(ctx, t.uid, last)
	if err != nil {
		p.warn(ctx, t.pod, "FailedSync", err)
		return false, err
	}
	switch t.state {
	case Terminating:
		return false, p.endPod(ctx, t, &observed)
	case Terminated:
		return false, p.cleanUp(ctx, t, &observed)
	default:
		return p.syncPod(ctx, t, &observed)
	}
}

// settle records how a turn went and sees to it that the next one comes.
func (p *Pool) settle(ctx context.Context, rec *record, t turn, ended bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	left, limited := rec.left(p.cfg.Now())
	superseded := ctx.Err() != nil || limited && left <= 0
	rec.cancel()
	rec.cancel = nil
	if p.stopped {
		return
	}
	if err == nil && rec.pace.Over() {
		p.log.Info("what was wrong with the pod is over", append(logPod(t.pod, t.uid), "state", t.state.String())...)
	}
	switch {
	case err != nil && superseded:
		// What cancelled the turn is pending already, or due.
	case err != nil:
		if rec.pace.Due(t.state.String(), err.Error(), p.cfg.Now()) {
			p.log.Warn("pod is not as it should be yet", append(logPod(t.pod, t.uid), "state", t.state.String(), "err", err)...)
		}
		if rec.state == Syncing {
			p.lookAgain(rec)
		}
		p.queue.add(t.uid, p.retryIn(err))
	case ended:
		if rec.state == Syncing {
			rec.end(p.cfg.Now(), nil)
		}
		p.again(rec)
	case t.pod == nil && rec.pod == nil:
		rec.release()
		p.remove(rec)
	case t.state == Terminating:
		rec.state = Terminated
		rec.release()
		p.again(rec)
	case t.state == Terminated:
		p.finish(rec)
	default:
		p.queue.add(t.uid, p.cfg.Jitter(p.lookAgain(rec)))
	}
}

// again makes the worker take another turn at once.
func (p *Pool) again(rec *record) {
	rec.pending = true
	rec.poke()
}

// finish ends the worker; the record stays until Known drops it.
func (p *Pool) finish(rec *record) {
	rec.state, rec.pending = Finished, false
	rec.release()
	rec.retire()
	p.queue.forget(rec.uid)
	p.over(rec, rec.removed || rec.deleted || rec.restart)
	p.leave(rec)
}

// warn records a warning event, unless the failure only comes from the turn
// having been cancelled.
func (p *Pool) warn(ctx context.Context, about *v1.Pod, reason string, err error) {
	if p.proceed(ctx) == nil {
		p.cfg.Events.Event(about, v1.EventTypeWarning, reason, err.Error())
	}
}

// logPod is how logs name a pod.
func logPod(about *v1.Pod, uid types.UID) []any {
	if about == nil {
		return []any{"uid", uid}
	}
	return []any{"pod", about.Namespace + "/" + about.Name, "uid", uid, "source", about.Annotations[pod.AnnotationSource]}
}

// Observer counts what workers do. Workers of different pods call it at once, and
// wait for it: it must not block.
type Observer interface {
	// Worked says that a turn of a worker has ended, well or not, and how long it
	// took. operation is create, update or sync for a pod that is to run, kill while
	// its containers are stopped, and terminated once they have.
	Worked(operation string, took time.Duration)
}

// worked tells the observer of a turn. before is the version of the pod that the
// turn before was about, nil for the first one.
func (p *Pool) worked(t *turn, before *v1.Pod, took time.Duration) {
	if p.cfg.Observer != nil {
		p.cfg.Observer.Worked(t.operation(before), took)
	}
}

// operation is what a turn does, in a kubelet's words.
func (t *turn) operation(before *v1.Pod) string {
	switch {
	case t.state == Terminating:
		return "kill"
	case t.state == Terminated:
		return "terminated"
	case before == nil:
		return "create"
	case t.pod != before:
		return "update"
	}
	return "sync"
}
