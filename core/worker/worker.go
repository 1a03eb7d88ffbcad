package worker

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/faultlog"
	"github.com/wardlet/wardlet/core/status"
)

// Pool holds the workers of all pods. Its methods may be called from any
// goroutine.
type Pool struct {
	cfg     Config
	log     *slog.Logger
	queue   *queue
	backoff *restartBackoff
	// frequency is the current SyncFrequency, a time.Duration.
	frequency atomic.Int64

	// draining is done when Stop begins: no further call may be started.
	draining context.Context
	drain    context.CancelFunc
	// calls is done when calls in flight are cancelled.
	calls       context.Context
	cancelCalls context.CancelFunc
	workers     sync.WaitGroup

	mu      sync.Mutex
	stopped bool
	// synced is true once SyncKnownPods has been called: then a pod without a record has nothing
	// running.
	synced  bool
	records map[types.UID]*record
	// successors are the pods that start once the pod with the key's UID is gone.
	successors map[types.UID][]types.UID
	names      nameQueue
}

// New makes a pool without workers.
func New(cfg Config) *Pool {
	if cfg.Probes == nil {
		cfg.Probes = noProbes{}
	}
	p := &Pool{
		cfg:        cfg,
		log:        cfg.Log,
		queue:      newQueue(cfg.Now),
		backoff:    newRestartBackoff(cfg.Now),
		records:    map[types.UID]*record{},
		successors: map[types.UID][]types.UID{},
		names:      newNameQueue(),
	}
	p.draining, p.drain = context.WithCancel(context.Background())
	p.calls, p.cancelCalls = context.WithCancel(context.Background())
	p.frequency.Store(int64(cfg.SyncFrequency))
	return p
}

// podWorkerLoop runs the iterations of one pod until its record closes wake.
func (p *Pool) podWorkerLoop(rec *record, wake <-chan struct{}) {
	var before *v1.Pod // the version of the previous iteration
	for {
		select {
		case _, open := <-wake:
			if !open {
				return
			}
		case <-p.deadlineTimer(rec):
		}
		if ctx, it, ok := p.startSync(rec); ok {
			began := p.cfg.Now()
			ended, err := p.sync(ctx, it, rec.lastChange)
			now := p.cfg.Now()
			if err != nil { // it is unknown which calls succeeded
				rec.lastChange = now
			}
			p.observeSync(&it, before, now.Sub(began))
			before = it.pod
			p.finishSync(ctx, rec, it, ended, err)
		}
	}
}

// SetSyncFrequency changes Config.SyncFrequency to d, which must be positive. From now on no pod
// waits longer than d, stretched by Jitter.
func (p *Pool) SetSyncFrequency(d time.Duration) {
	p.frequency.Store(int64(d))
	p.queue.shortenDelays(func() time.Duration { return p.cfg.Jitter(d) })
}

// SyncFrequency returns the current Config.SyncFrequency.
func (p *Pool) SyncFrequency() time.Duration { return time.Duration(p.frequency.Load()) }

// Due removes and returns the pods whose next sync is due. The caller submits a Sync for those that
// it still wants.
func (p *Pool) Due() []types.UID { return p.queue.popDue() }

// Wake makes a pod sync at once because something that the pod uses has changed. A sync under way
// may have read the old state, so another sync follows it, whatever its result.
func (p *Pool) Wake(uid types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch rec := p.records[uid]; {
	case rec == nil || rec.state != Syncing:
	case rec.cancel != nil, rec.started:
		p.syncAgain(rec)
	default: // it waits for another pod
		p.queue.add(uid, 0)
	}
}

// interrupted returns an error if an iteration must make no further call: the pool is stopping, or
// ctx is done.
func (p *Pool) interrupted(ctx context.Context) error {
	if err := p.draining.Err(); err != nil {
		return err
	}
	return ctx.Err()
}

const (
	// stopTimeout is how long calls in flight may continue after Stop begins.
	stopTimeout = 10 * time.Second
	// cancelTimeout is how long cancelled calls may take to return.
	cancelTimeout = 5 * time.Second
)

// Stop accepts no more requests and starts no more calls. It waits for calls in flight for 10 s or
// until ctx is done, then cancels them and waits for all workers. If a call ignores the
// cancellation for 5 s more, its worker is abandoned. Pods keep running.
func (p *Pool) Stop(ctx context.Context) {
	p.mu.Lock()
	p.stopped = true
	for _, rec := range p.records {
		rec.closeWake()
	}
	p.mu.Unlock()
	p.drain()
	defer p.cancelCalls()

	ended := make(chan struct{})
	go func() {
		p.workers.Wait()
		close(ended)
	}()
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	p.cancelCalls()
	timer := time.NewTimer(cancelTimeout)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		p.log.Error("workers whose calls do not return are abandoned", "pods", p.busyPods())
	}
}

// busyPods lists the pods in the middle of an iteration.
func (p *Pool) busyPods() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var pods []string
	for uid, rec := range p.records {
		switch {
		case rec.cancel == nil:
		case rec.pod == nil:
			pods = append(pods, string(uid))
		default:
			pods = append(pods, rec.pod.Namespace+"/"+rec.pod.Name)
		}
	}
	slices.Sort(pods)
	return pods
}

// record holds what the pool knows about one pod. The pool's lock guards it.
type record struct {
	uid types.UID
	// fullName is the full name of a static pod, by which it is queued. It is empty for a pod that
	// may start at any time.
	fullName string
	// replaces is the pod that must be gone before this one starts, empty for none.
	replaces types.UID
	// pod and origin are the newest requested version. pod is nil for a pod that only the runtime
	// knows; then observed is set.
	pod      *v1.Pod
	origin   api.Origin
	observed *status.ObservedPod

	state State
	// terminatingAt is when the termination began.
	terminatingAt time.Time
	// terminationDeadline is the end of the grace period that an earlier agent began, zero for
	// none. resumedAt is when this agent found that termination.
	terminationDeadline, resumedAt time.Time
	// terminalAtStart is true for a pod that ended before the agent started. minAttempts
	// are lower bounds for the attempts of the next instances, by container.
	terminalAtStart bool
	minAttempts     map[string]uint32
	// started is true once the pod no longer waits for another pod before it starts.
	started bool
	// blocked is true while the pod waits for another pod that has not terminated.
	blocked bool
	// activeSince is when the pod became active, with a monotonic reading; zero before.
	activeSince time.Time
	// startedTerminating is true once an iteration has begun to stop containers.
	startedTerminating bool
	// deleted is true if the pod must not come back, evicted if it was evicted, and removed if its
	// source no longer has it.
	deleted, evicted, removed bool
	// nodeShutdown is true if the pod is terminated because the machine shuts down.
	nodeShutdown bool
	// restartRequested is true if the UID was created again during its termination.
	restartRequested bool
	// grace is the grace period in force, in seconds, 0 for none yet.
	grace int64
	// failure is why the pod failed. If it is nil, the pod's containers decide whether it failed.
	failure *status.Reason
	// statusFunc is the last requested change of the final status, nil for none.
	statusFunc func(*v1.PodStatus)
	// waiters are closed once the containers have stopped.
	waiters []chan<- struct{}

	// syncLog limits the log entries about failed iterations. removeLog limits those about old
	// instances that could not be removed.
	syncLog, removeLog faultlog.Pace
	// starting are, by container, the instances that could not be removed and may
	// be starting.
	starting map[string]startingInstance

	// lastChange is when the worker last changed something in the runtime, zero for never:
	// only a newer observation shows it. Only the worker's goroutine uses it.
	lastChange time.Time
	// lostSandbox is the sandbox whose loss the last event reported, empty for none. Only
	// the worker's goroutine uses it.
	lostSandbox string

	// pending is true if there is something that the worker has not acted on.
	pending bool
	// wake is a channel with room for one value. The pool closes it and sets it to nil when the
	// record is removed, or at Stop.
	wake chan struct{}
	// cancel cancels the calls of the current iteration, nil between iterations.
	cancel context.CancelFunc
}

// State is the stage of a worker. A worker never goes back to an earlier state.
type State int

// The states of a worker.
const (
	// Syncing: the pod should run, or waits until it may start.
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

// notify wakes the worker. It never blocks: one pending wake-up is enough.
func (r *record) notify() {
	if r.wake == nil {
		return
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// closeWake ends the goroutine of the worker after its current iteration.
func (r *record) closeWake() {
	if r.wake != nil {
		close(r.wake)
		r.wake = nil
	}
}

// terminate moves the record to Terminating and sets its grace period.
func (r *record) terminate(now time.Time, override *int64) {
	r.state, r.terminatingAt = Terminating, now
	r.grace = effectiveGrace(r.grace, r.pod, override)
	r.capGrace(now)
}

// notifyWaiters closes the channels of all requests that wait until the containers have stopped.
func (r *record) notifyWaiters() {
	for _, w := range r.waiters {
		close(w)
	}
	r.waiters = nil
}
