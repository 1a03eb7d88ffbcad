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

// endingSweep is the time between checks whether anything of terminated pods is left, while there
// are such pods. It is also the time after which failed writes and deletions are tried again.
const endingSweep = 2 * time.Second

// Endings stores the terminating pods for the workers: after a restart of the agent, the pods keep
// the rest of their grace period. The methods may be called from any goroutine. Run writes the
// records and deletes old ones, so that no termination waits for the disk.
type Endings struct {
	// Remains reports whether the runtime has, or may have, anything of a pod. It is set before any
	// pod runs.
	Remains func(uid types.UID) bool

	clock bootClock
	log   *slog.Logger
	// over has room for one value: a termination is complete. It is never closed.
	over chan struct{}

	// mu is held while records are read and then set.
	mu   sync.Mutex
	kept *writeback.Map[types.UID, state.Ending]
	// before are the terminations that an earlier agent began. goes are the records to delete when
	// nothing is left of the pod.
	before, goes map[types.UID]bool
}

// EndingDisk stores endings; state.Endings implements it.
type EndingDisk interface {
	writeback.Disk[types.UID, state.Ending]
	Load() ([]state.Ending, []error)
}

// NewEndings loads the records of an earlier agent.
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

// rest returns the rest of a grace period.
func (e *Endings) rest(kept *state.Ending) time.Duration {
	return kept.Grace - e.clock.ago(kept.Began, kept.Since)
}

// Begin implements worker.Terminations. It never extends a grace period that is already running.
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

// remove removes the record of a UID. The caller holds the lock.
func (e *Endings) remove(uid types.UID) {
	delete(e.before, uid)
	delete(e.goes, uid)
	e.kept.Remove(uid)
}

// reporter returns a function that logs when the disk fails, and when it works again.
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

// sweep drops the records of complete terminations, and of an earlier agent's, if nothing is left
// of the pod. It reports whether there are more to check.
func (e *Endings) sweep() (more bool) {
	for _, uid := range e.ended() {
		if e.Remains(uid) {
			continue
		}
		e.mu.Lock()
		if e.goes[uid] || e.before[uid] { // otherwise a new termination has begun
			e.remove(uid)
		}
		e.mu.Unlock()
	}
	return len(e.ended()) > 0
}

// ended returns the pods whose termination is complete, or was begun by an earlier agent.
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

// Run writes and deletes until ctx is done, and then writes the remaining records.
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
