package checkpoint

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/internal/faultlog"
	"github.com/wardlet/wardlet/core/internal/writeback"
	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/core/worker"
)

// endingSweep is how often it is looked for what is left of pods that have ended, while
// there are any, and when what could not be written or deleted is tried again.
const endingSweep = 2 * time.Second

// Endings keeps which pods are being ended, for the workers: an agent that is started
// meanwhile leaves them the rest of their grace period. The methods may be called from
// any goroutine; Run writes, and deletes what is over: no end waits for the disk.
type Endings struct {
	// Remains reports whether the runtime has, or may have, something of a pod. It is set
	// before anything runs.
	Remains func(uid types.UID) bool

	clock bootClock
	log   *slog.Logger
	// over has room for one value: something is over. It is never closed.
	over chan struct{}

	// mu is held while what is kept is read and then set.
	mu   sync.Mutex
	kept *writeback.Map[types.UID, state.Ending]
	// before are those that an earlier agent began, goes those that are to be deleted
	// when nothing is left of the pod.
	before, goes map[types.UID]bool
}

// EndingDisk is where endings are; state.Endings is one.
type EndingDisk interface {
	writeback.Disk[types.UID, state.Ending]
	Load() ([]state.Ending, []error)
}

// NewEndings reads what an earlier agent has kept.
func NewEndings(disk EndingDisk, log *slog.Logger) *Endings {
	e := &Endings{clock: newBootClock(), log: log, over: make(chan struct{}, 1), before: map[types.UID]bool{}, goes: map[types.UID]bool{}}
	e.kept = writeback.New(disk, writeback.Options[types.UID]{Retry: endingSweep, Report: e.reporter()})
	kept, errs := disk.Load()
	for _, err := range errs {
		log.Error("the record of a terminating pod is lost; its grace period begins anew, or is 1 s if no source has the pod", "err", err)
	}
	for i := range kept {
		e.kept.Loaded(kept[i].UID, kept[i])
		e.before[kept[i].UID] = true
	}
	return e
}

// rest is what is left of a grace period.
func (e *Endings) rest(kept *state.Ending) time.Duration {
	return kept.Grace - e.clock.ago(kept.Began, kept.Since)
}

// Begin implements worker.Terminations. An end that has begun becomes no longer by it.
func (e *Endings) Begin(uid types.UID, seen time.Time, grace time.Duration) {
	now := e.clock.now()
	e.mu.Lock()
	defer e.mu.Unlock()
	if kept, ok := e.kept.Get(uid); ok && kept.Seen.Equal(seen) && !e.goes[uid] && e.rest(&kept) <= grace {
		return
	}
	delete(e.before, uid)
	delete(e.goes, uid)
	e.kept.Set(uid, state.Ending{UID: uid, Seen: seen, Grace: grace, Began: now, Since: e.clock.at(now)})
}

// Interrupted implements worker.Terminations.
func (e *Endings) Interrupted(uid types.UID) (worker.Termination, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	kept, ok := e.kept.Get(uid)
	if !ok || !e.before[uid] {
		return worker.Termination{}, false
	}
	return worker.Termination{FirstSeen: kept.Seen, Remaining: e.rest(&kept)}, true
}

// Finish implements worker.Terminations.
func (e *Endings) Finish(uid types.UID, goes bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, ok := e.kept.Get(uid); !ok || e.goes[uid] {
		return
	}
	if !goes {
		e.remove(uid)
		return
	}
	e.goes[uid] = true
	select {
	case e.over <- struct{}{}:
	default:
	}
}

// Forget implements worker.Terminations.
func (e *Endings) Forget(uid types.UID) {
	e.mu.Lock()
	e.remove(uid)
	e.mu.Unlock()
	e.kept.Write(uid)
}

// remove has nothing kept of a UID. The lock is held.
func (e *Endings) remove(uid types.UID) {
	delete(e.before, uid)
	delete(e.goes, uid)
	e.kept.Remove(uid)
}

// reporter logs that the disk fails, or is well again.
func (e *Endings) reporter() func(types.UID, error) {
	var (
		mu   sync.Mutex
		pace faultlog.Pace
	)
	return func(uid types.UID, err error) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			if pace.Due("", err.Error(), time.Now()) {
				e.log.Error("the list of terminating pods is not saved; a restart of the agent may change their grace periods", "uid", uid, "err", err)
			}
		case pace.Over():
			e.log.Info("the list of terminating pods is saved again")
		}
	}
}

// sweep drops what is over, and what an earlier agent has kept, of pods of which nothing
// is there any more, and reports whether there is more to look at.
func (e *Endings) sweep() (more bool) {
	for _, uid := range e.ended() {
		if e.Remains(uid) {
			continue
		}
		e.mu.Lock()
		if e.goes[uid] || e.before[uid] { // else another end has begun
			e.remove(uid)
		}
		e.mu.Unlock()
	}
	return len(e.ended()) > 0
}

// ended are the pods that go, or went while no agent ran.
func (e *Endings) ended() []types.UID {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.AppendSeq(slices.Collect(maps.Keys(e.goes)), func(yield func(types.UID) bool) {
		for uid := range e.before {
			if !e.goes[uid] && !yield(uid) {
				return
			}
		}
	})
}

// Run writes and deletes until ctx ends, and then writes what is left.
func (e *Endings) Run(ctx context.Context) error {
	var writer sync.WaitGroup
	writer.Go(func() { _ = e.kept.Run(ctx) })
	defer writer.Wait()
	defer e.sweep()
	tick := time.NewTicker(endingSweep)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-e.over:
		case <-tick.C:
		}
		if e.sweep() {
			tick.Reset(endingSweep)
		} else {
			tick.Stop()
		}
	}
}
