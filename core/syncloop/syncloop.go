package syncloop

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/internal/backoff"
	"github.com/wardlet/wardlet/core/internal/faultlog"
	"github.com/wardlet/wardlet/core/pleg"
	"github.com/wardlet/wardlet/core/worker"
)

const (
	syncPeriod         = time.Second
	housekeepingPeriod = 2 * time.Second
)

// errClosed is the error of Run if the stream of updates was closed.
var errClosed = errors.New("the stream of pod updates was closed")

// Loop is the sync loop. See the package comment.
type Loop struct {
	cfg     Config
	pods    *podSet
	sources *sources
	// lastStep is when the last step began or finished.
	lastStep atomic.Pointer[time.Time]

	// relisting is true while a list for housekeeping is under way. Its result is sent to relisted,
	// which has room for it and is never closed.
	relisting bool
	relisted  chan error
	helpers   sync.WaitGroup

	// waiting are the rejected pods that are judged again, with the reason of the rejection.
	// usersWhenRejected are the pods that used the node when they were rejected.
	waiting           map[types.UID]admission.Result
	usersWhenRejected map[types.UID]*v1.Pod
	// again is true if the waiting pods are to be judged again, see JudgeAgain.
	again atomic.Bool
	// pendingPreemptors are the admitted pods that start when others have left the node.
	pendingPreemptors map[types.UID]pendingPreemptor
	// preemptedEarly are the pods that were preempted before the loop received them.
	preemptedEarly map[types.UID]bool
	// terminating are the removed pods that may have left something on the node. The value is the
	// time since which their remains keep a recreated pod of the same UID from starting, zero if
	// they do not.
	terminating map[types.UID]time.Time
	batch       admissionBatch
	// rejections are the final rejections that are not shown yet.
	rejections *rejections

	// unhealthy limits the log entries about failed checks before a step, unlisted those about
	// failed lists for housekeeping.
	unhealthy, unlisted faultlog.Pace
}

// New makes a loop; Run starts it.
func New(cfg Config) *Loop {
	return &Loop{
		cfg:               cfg,
		pods:              newPodSet(),
		sources:           newSources(cfg.Sources, cfg.Desired),
		relisted:          make(chan error, 1),
		waiting:           map[types.UID]admission.Result{},
		usersWhenRejected: map[types.UID]*v1.Pod{},
		pendingPreemptors: map[types.UID]pendingPreemptor{},
		preemptedEarly:    map[types.UID]bool{},
		terminating:       map[types.UID]time.Time{},

		rejections: newRejections(),
	}
}

// Run works until ctx is done or the stream of updates is closed, and returns the error for either.
func (l *Loop) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer l.helpers.Wait()
	defer cancel()
	syncTick := time.NewTicker(syncPeriod)
	defer syncTick.Stop()
	housekeepingTick := time.NewTicker(housekeepingPeriod)
	defer housekeepingTick.Stop()

	var probed <-chan struct{}
	if l.cfg.Probes != nil {
		probed = l.cfg.Probes.Due()
	}
	for {
		if err := l.awaitHealth(ctx); err != nil {
			return err
		}
		l.recordStep()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case u, open := <-l.cfg.Updates:
			if !open {
				return errClosed
			}
			l.handleUpdate(&u)
		case e := <-l.cfg.PLEG.Events():
			l.handleEvent(e)
		case <-probed:
			l.sync(l.cfg.Probes.TakeDue())
		case <-syncTick.C:
			l.sync(l.cfg.Workers.Due())
			l.retry()
		case <-housekeepingTick.C:
			l.housekeep(ctx)
		case <-l.rejections.wake:
			l.showDurable()
		case err := <-l.relisted:
			l.killOrphans(err)
		}
		l.recordStep()
	}
}

// handleEvent handles an event of the runtime. The pod is read from the set, never from the event.
func (l *Loop) handleEvent(e pleg.Event) {
	if m, ok := l.pods.get(e.UID); ok && e.Type != pleg.ContainerRemoved {
		l.request(worker.Sync, m)
	}
}

// sync requests a sync of the pods that are due. A pod that is not in the set is being terminated,
// and housekeeping continues its termination.
func (l *Loop) sync(due []types.UID) {
	for _, uid := range due {
		if m, ok := l.pods.get(uid); ok {
			l.request(worker.Sync, m)
		}
	}
}

// request sends a request to the worker of a pod. A pod that has not started has no worker, and
// gets none here: the cause of the request concerns an earlier pod, or is handled when the pod
// starts.
func (l *Loop) request(kind worker.Kind, m member) {
	uid := m.pod.UID
	_, arrives := l.pendingPreemptors[uid]
	switch {
	case kind == worker.Sync && m.rejected && !l.cfg.Workers.Has(uid):
		return
	case m.recreated && (kind == worker.Update || !l.cfg.Workers.Has(uid)):
		return // an existing worker belongs to the earlier pod
	case !arrives:
	case m.pod.DeletionTimestamp != nil:
		delete(l.pendingPreemptors, uid)
	default:
		return
	}
	l.cfg.Workers.Submit(worker.Request{Kind: kind, Pod: m.pod, Origin: m.origin})
}

const (
	// startGrace is how long the loop waits for the runtime after its start without a warning: the
	// first answers of a runtime always take a moment.
	startGrace     = 10 * time.Second
	minHealthDelay = 100 * time.Millisecond
	// maxHealthDelay is the longest time between two runs of the checks, which do not call the
	// runtime.
	maxHealthDelay = time.Second
	// maxStep is the age of the last step from which on the loop counts as stuck.
	maxStep = 5 * time.Minute
)

// awaitHealth returns when all checks pass, or with ctx's error. Until then the loop handles
// nothing, so it does not act on wrong information. Nothing is lost, because updates and events
// wait.
func (l *Loop) awaitHealth(ctx context.Context) error {
	var starting faultlog.Pace
	quietUntil := time.Time{}
	if l.lastStep.Load() == nil {
		quietUntil = l.cfg.Now().Add(startGrace)
	}
	delays := backoff.Exponential{Min: minHealthDelay, Max: maxHealthDelay}
	for delay := delays.Min; ; delay = delays.Next(delay) {
		err := l.checkHealth()
		if err == nil {
			if l.unhealthy.Over() {
				l.cfg.Log.Info("pods are synced again")
			}
			return nil
		}
		switch now := l.cfg.Now(); {
		case now.Before(quietUntil):
			if starting.Due("", err.Error(), now) {
				l.cfg.Log.Info("waiting for the runtime", "err", err)
			}
		case l.unhealthy.Due("", err.Error(), now):
			l.cfg.Log.Warn("pods are not synced until the runtime works", "err", err)
		}
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l *Loop) checkHealth() error {
	for _, healthy := range l.cfg.Health {
		if err := healthy(); err != nil {
			return err
		}
	}
	return nil
}

func (l *Loop) recordStep() { l.lastStep.Store(new(l.cfg.Now())) }

// Healthy returns an error if the loop has not finished a step for 5 minutes. A loop that has not
// started is healthy.
func (l *Loop) Healthy() error {
	stepped := l.lastStep.Load()
	if stepped == nil {
		return nil
	}
	if age := l.cfg.Now().Sub(*stepped); age > maxStep {
		return fmt.Errorf("the sync loop has not moved for %s, at most %s is expected", age.Round(time.Second), maxStep)
	}
	return nil
}
