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

// syncIteration is one run of a worker, with a copy of the record's fields from its beginning.
type syncIteration struct {
	rec            *record // may be used only with the pool locked
	uid            types.UID
	pod            *v1.Pod
	origin         api.Origin
	observed       *status.ObservedPod
	minAttempts    map[string]uint32
	state          State
	grace          time.Duration
	wasTerminating bool
	failure        *status.Reason
	statusFunc     func(*v1.PodStatus)
	// reason is why the pod is being terminated.
	reason string
	// deadlineExceeded is true for the iteration that terminates the pod for its active
	// deadline.
	deadlineExceeded bool
}

// startSync begins an iteration for a pending record. It returns false if there is nothing to do
// now, or if the record is no longer that of the pod.
func (p *Pool) startSync(rec *record) (context.Context, syncIteration, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.records[rec.uid] != rec || p.stopped || rec.state == Finished {
		return nil, syncIteration{}, false
	}
	if !rec.started && (!rec.pending || !p.tryStart(rec)) {
		return nil, syncIteration{}, false
	}
	exceeded := rec.checkDeadline(p.cfg.Now())
	if !rec.pending {
		return nil, syncIteration{}, false
	}
	rec.pending = false
	rec.startedTerminating = rec.startedTerminating || rec.state == Terminating
	ctx, cancel := context.WithCancel(p.calls)
	rec.cancel = cancel
	return ctx, syncIteration{
		rec: rec, uid: rec.uid, pod: rec.pod, origin: rec.origin, observed: rec.observed, minAttempts: rec.minAttempts,
		state: rec.state, grace: rec.gracePeriod(), wasTerminating: rec.wasTerminating(), failure: rec.failure, statusFunc: rec.statusFunc,
		deadlineExceeded: exceeded, reason: rec.terminationReason(),
	}, true
}

// sync runs the step for the current state of the pod. ended is true if a pod that should run has
// completed.
func (p *Pool) sync(ctx context.Context, it syncIteration, last time.Time) (ended bool, err error) {
	if it.pod == nil {
		return false, p.syncTerminatingOrphan(ctx, it, last)
	}
	if it.deadlineExceeded {
		p.cfg.Events.Event(it.pod, v1.EventTypeNormal, reasonDeadline, messageDeadline)
	}
	observed, err := p.observe(ctx, it.uid, last)
	if err != nil {
		p.warn(ctx, it.pod, "FailedSync", err)
		return false, err
	}
	switch it.state {
	case Terminating:
		return false, p.syncTerminatingPod(ctx, it, &observed)
	case Terminated:
		return false, p.syncTerminatedPod(ctx, it, &observed)
	default:
		return p.syncPod(ctx, it, &observed)
	}
}

// finishSync records the result of an iteration and schedules the next one.
func (p *Pool) finishSync(ctx context.Context, rec *record, it syncIteration, ended bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	left, limited := rec.remainingActive(p.cfg.Now())
	superseded := ctx.Err() != nil || limited && left <= 0
	rec.cancel()
	rec.cancel = nil
	if p.stopped {
		return
	}
	if err == nil && rec.syncLog.Over() {
		p.log.Info("the pod recovered", append(logPod(it.pod, it.uid), "state", it.state.String())...)
	}
	switch {
	case err != nil && superseded:
		// The event that cancelled the iteration is pending already, or due.
	case err != nil:
		if rec.syncLog.Due(it.state.String(), err.Error(), p.cfg.Now()) {
			p.log.Warn("pod is not as it should be yet", append(logPod(it.pod, it.uid), "state", it.state.String(), "err", err)...)
		}
		if rec.state == Syncing {
			p.resyncDelay(rec)
		}
		p.queue.add(it.uid, p.retryDelay(err))
	case ended:
		if rec.state == Syncing {
			rec.terminate(p.cfg.Now(), nil)
		}
		p.syncAgain(rec)
	case it.pod == nil && rec.pod == nil:
		rec.notifyWaiters()
		p.removeWorker(rec)
	case it.state == Terminating:
		rec.state = Terminated
		rec.notifyWaiters()
		p.syncAgain(rec)
	case it.state == Terminated:
		p.finishWorker(rec)
	default:
		p.queue.add(it.uid, p.cfg.Jitter(p.resyncDelay(rec)))
	}
}

// syncAgain starts another iteration at once.
func (p *Pool) syncAgain(rec *record) {
	rec.pending = true
	rec.notify()
}

// finishWorker stops the worker. The record stays until SyncKnownPods removes it.
func (p *Pool) finishWorker(rec *record) {
	rec.state, rec.pending = Finished, false
	rec.notifyWaiters()
	rec.closeWake()
	p.queue.remove(rec.uid)
	p.finishTermination(rec, rec.removed || rec.deleted || rec.restartRequested)
	p.wakeSuccessors(rec)
	if p.cfg.OnFinished != nil {
		p.cfg.OnFinished(rec.uid)
	}
}

// warn records a warning event, unless the iteration was interrupted: then the interruption is the
// only cause of err.
func (p *Pool) warn(ctx context.Context, about *v1.Pod, reason string, err error) {
	if p.interrupted(ctx) == nil {
		p.cfg.Events.Event(about, v1.EventTypeWarning, reason, err.Error())
	}
}

// logPod returns the log attributes of a pod.
func logPod(about *v1.Pod, uid types.UID) []any {
	if about == nil {
		return []any{"uid", uid}
	}
	return []any{"pod", about.Namespace + "/" + about.Name, "uid", uid, "source", about.Annotations[pod.AnnotationSource]}
}

// Observer records the iterations of workers. Workers of different pods call it concurrently and
// wait for it, so it must not block.
type Observer interface {
	// ObserveSync records a completed iteration, successful or not, and how long it took. operation
	// is create, update or sync for a pod that should run, kill while its containers are stopped,
	// and terminated after that.
	ObserveSync(operation string, took time.Duration)
}

// observeSync reports an iteration to the observer. before is the version of the pod in the
// previous iteration, nil for the first.
func (p *Pool) observeSync(it *syncIteration, before *v1.Pod, took time.Duration) {
	if p.cfg.Observer != nil {
		p.cfg.Observer.ObserveSync(it.operation(before), took)
	}
}

// operation returns the name of the iteration, as a kubelet labels it.
func (it *syncIteration) operation(before *v1.Pod) string {
	switch {
	case it.state == Terminating:
		return "kill"
	case it.state == Terminated:
		return "terminated"
	case before == nil:
		return "create"
	case it.pod != before:
		return "update"
	}
	return "sync"
}
