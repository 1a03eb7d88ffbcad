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
	// calls ends when calls in flight are to be given up.
	calls   context.Context
	abandon context.CancelFunc
	workers sync.WaitGroup

	mu      sync.Mutex
	stopped bool
	// synced: Known has been called, so a UID without a record is a pod that
	// has nothing running.
	synced  bool
	records map[types.UID]*record
	// followers are the pods that start when the one with that UID has left.
	followers map[types.UID][]types.UID
	gate      startGate
}

// New makes a pool without workers.
func New(cfg Config) *Pool {
	p := &Pool{
		cfg:       cfg,
		log:       cfg.Log,
		queue:     newQueue(cfg.Now),
		backoff:   newRestartBackoff(cfg.Now),
		records:   map[types.UID]*record{},
		followers: map[types.UID][]types.UID{},
		gate:      newStartGate(),
	}
	p.draining, p.drain = context.WithCancel(context.Background())
	p.calls, p.abandon = context.WithCancel(context.Background())
	p.frequency.Store(int64(cfg.SyncFrequency))
	return p
}

// work is the goroutine of one pod.
func (p *Pool) work(rec *record, wake <-chan struct{}) {
	var before *v1.Pod // what the turn before was about
	for {
		select {
		case _, open := <-wake:
			if !open {
				return
			}
		case <-p.due(rec):
		}
		if ctx, t, ok := p.begin(rec); ok {
			began := p.cfg.Now()
			ended, err := p.run(ctx, t, rec.changed)
			now := p.cfg.Now()
			if err != nil { // how far it came is not known
				rec.changed = now
			}
			p.worked(&t, before, now.Sub(began))
			before = t.pod
			p.settle(ctx, rec, t, ended, err)
		}
	}
}

// SetSyncFrequency changes Config.SyncFrequency, which is positive. No pod waits
// for longer than that from now.
func (p *Pool) SetSyncFrequency(d time.Duration) {
	p.frequency.Store(int64(d))
	p.queue.hasten(func() time.Duration { return p.cfg.Jitter(d) })
}

func (p *Pool) syncFrequency() time.Duration { return time.Duration(p.frequency.Load()) }

// Due takes the pods whose time to be looked at again has come. The caller
// asks for a Sync of those it still wants.
func (p *Pool) Due() []types.UID { return p.queue.take() }

// proceed says whether a turn may go on to its next call.
func (p *Pool) proceed(ctx context.Context) error {
	if err := p.draining.Err(); err != nil {
		return err
	}
	return ctx.Err()
}

const (
	// stopTimeout is how long calls in flight may go on after Stop.
	stopTimeout = 10 * time.Second
	// leaveTimeout is how long they may take to end when they are given up.
	leaveTimeout = 5 * time.Second
)

// Stop takes no more requests, starts no more calls, gives the calls in flight
// 10 s or until ctx ends, and waits for all workers. A worker whose call ignores
// for 5 s more that it is to end is left behind. Every pod is left as it is.
func (p *Pool) Stop(ctx context.Context) {
	p.mu.Lock()
	p.stopped = true
	for _, rec := range p.records {
		rec.retire()
	}
	p.mu.Unlock()
	p.drain()
	defer p.abandon()

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
	p.abandon()
	timer := time.NewTimer(leaveTimeout)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		p.log.Error("workers are left behind whose calls do not end", "pods", p.busy())
	}
}

// busy are the pods whose worker takes a turn.
func (p *Pool) busy() []string {
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
