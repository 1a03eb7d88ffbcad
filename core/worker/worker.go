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
	// frequency is how often a pod that is as it should be is looked at.
	frequency atomic.Int64

	// draining ends when Stop begins: no further call is to be started.
	draining context.Context
	drain    context.CancelFunc
	// calls ends when calls in flight are cancelled.
	calls       context.Context
	cancelCalls context.CancelFunc
	workers     sync.WaitGroup

	mu      sync.Mutex
	stopped bool
	// synced: SyncKnownPods has been called, so a UID without a record is a pod that
	// has nothing running.
	synced  bool
	records map[types.UID]*record
	// successors are the pods that start once the pod with the UID is gone.
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
			if err != nil { // how far it came is not known
				rec.lastChange = now
			}
			p.observeSync(&it, before, now.Sub(began))
			before = it.pod
			p.finishSync(ctx, rec, it, ended, err)
		}
	}
}

// SetSyncFrequency changes Config.SyncFrequency, which is positive. From now on no pod waits
// longer than that.
func (p *Pool) SetSyncFrequency(d time.Duration) {
	p.frequency.Store(int64(d))
	p.queue.shortenDelays(func() time.Duration { return p.cfg.Jitter(d) })
}

// SyncFrequency returns it as it is now.
func (p *Pool) SyncFrequency() time.Duration { return time.Duration(p.frequency.Load()) }

// Due removes and returns the pods whose next sync is due. The caller asks for a Sync of those
// that it still wants.
func (p *Pool) Due() []types.UID { return p.queue.popDue() }

// Wake has a pod synced at once: something that the pod uses has changed. A sync under way may have read what was
// there before, so it is followed by another one, whatever it ends with.
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

// interrupted returns an error where an iteration must make no further call: the pool is
// stopping, or ctx has ended.
func (p *Pool) interrupted(ctx context.Context) error {
	if err := p.draining.Err(); err != nil {
		return err
	}
	return ctx.Err()
}

const (
	// stopTimeout is how long calls in flight may go on after Stop.
	stopTimeout = 10 * time.Second
	// cancelTimeout is how long they may take to return once they are cancelled.
	cancelTimeout = 5 * time.Second
)

// Stop accepts no more requests and starts no more calls. It waits for calls in flight 10 s or
// until ctx ends, then cancels them, and waits for all workers. A worker whose call ignores
// the cancellation for 5 s more is left behind. Pods stay as they are.
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

// record is what the pool knows of one pod. It is guarded by the pool's lock.
type record struct {
	uid types.UID
	// fullName is the name of a static pod in the queue of its name, empty for pods that may
	// start at any time.
	fullName string
	// replaces is the pod that must be gone before this one starts, empty for none.
	replaces types.UID
	// pod and origin are the newest version asked for; pod is nil for a pod
	// that only the runtime knows, which then is observed.
	pod      *v1.Pod
	origin   api.Origin
	observed *status.ObservedPod

	state State
	// terminatingAt is when the termination began.
	terminatingAt time.Time
	// terminationDeadline is the end of the grace period that an earlier agent began, zero
	// for none; resumedAt is when this agent found the termination.
	terminationDeadline, resumedAt time.Time
	// terminalAtStart is true for a pod that ended before the agent started. minAttempts
	// are lower bounds for the attempts of the next instances, by container.
	terminalAtStart bool
	minAttempts     map[string]uint32
	// started is true once the queue of its name has let the pod pass.
	started bool
	// blocked is true while the pod has not started because of another that has not ended.
	blocked bool
	// activeSince is when the pod became active, with a monotonic reading; zero before.
	activeSince time.Time
	// startedTerminating is true once an iteration has begun to stop containers.
	startedTerminating bool
	// deleted: the pod is not to come back; evicted: it was pushed out; removed: its
	// source has it no more.
	deleted, evicted, removed bool
	// restartRequested: the UID was created again during its termination.
	restartRequested bool
	// grace is the grace period in force, in seconds, 0 for none yet.
	grace int64
	// failure is why the pod failed, nil where that is for its containers to say.
	failure *status.Reason
	// statusFunc is the last requested change of the final status, nil for none.
	statusFunc func(*v1.PodStatus)
	// waiters are closed once the containers have stopped.
	waiters []chan<- struct{}

	// syncLog paces what is logged of failed iterations, removeLog of failed removals of
	// old instances.
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

	// pending: there is something the worker has not acted on.
	pending bool
	// wake has room for one value. It is closed by the pool, which then sets
	// it to nil: when the record goes, or at Stop.
	wake chan struct{}
	// cancel ends the calls of the current iteration, nil between iterations.
	cancel context.CancelFunc
}

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

// notifyWaiters closes the channels of all requests that wait for the containers to have
// stopped.
func (r *record) notifyWaiters() {
	for _, w := range r.waiters {
		close(w)
	}
	r.waiters = nil
}
