package agent

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/internal/faultlog"
	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/core/worker"
)

// endingSweep is how often it is looked for what is left of pods that have ended, while
// there are any, and what could not be deleted is tried again.
const endingSweep = 2 * time.Second

// endings keep which pods are being ended, for the workers: an agent that is started
// meanwhile gives them what is left of their grace period. The methods may be called from
// any goroutine; run writes, and deletes what is over: no end waits for the disk.
type endings struct {
	disk  endingDisk
	clock bootClock
	log   *slog.Logger
	// remains reports whether the runtime has, or may have, something of a pod. It is set
	// before anything runs.
	remains func(uid types.UID) bool
	// nudge has room for one value and is never closed.
	nudge chan struct{}

	mu      sync.Mutex
	entries map[types.UID]*endingEntry
	pace    faultlog.Pace
}

// endingDisk is where endings are; state.Endings is one.
type endingDisk interface {
	// Put is durable when it returns.
	Put(e *state.Ending) error
	// Delete forgets an ending; one that is not there is no error.
	Delete(uid types.UID) error
	Load() ([]state.Ending, []error)
}

// endingEntry is the ending of one UID. All but writing is guarded by endings.mu.
type endingEntry struct {
	// writing is held while the file is written.
	writing sync.Mutex
	kept    state.Ending
	// before: an earlier agent began it.
	before bool
	// over: it is to be deleted, goes: when nothing is left of the pod.
	over, goes bool
	// dirty: the disk has not what is kept.
	dirty bool
}

// unwritten reports whether the disk has yet to have the ending. endings.mu is held.
func (e *endingEntry) unwritten() bool { return e.dirty && (!e.over || e.goes) }

// newEndings reads what an earlier agent has kept.
func newEndings(disk endingDisk, log *slog.Logger) *endings {
	e := &endings{disk: disk, clock: newBootClock(), log: log, nudge: make(chan struct{}, 1), entries: map[types.UID]*endingEntry{}}
	kept, errs := disk.Load()
	for _, err := range errs {
		log.Error("that a pod was being ended was lost; it has its grace period once more, or a second if nobody wants it", "err", err)
	}
	for i := range kept {
		e.entries[kept[i].UID] = &endingEntry{kept: kept[i], before: true}
	}
	return e
}

// rest is what is left of a grace period.
func (e *endings) rest(kept *state.Ending) time.Duration {
	return kept.Grace - e.clock.ago(kept.Began, kept.Since)
}

// Begin implements worker.Endings. An end that has begun becomes no longer by it.
func (e *endings) Begin(uid types.UID, seen time.Time, grace time.Duration) {
	now := e.clock.now()
	e.mu.Lock()
	entry := e.entries[uid]
	switch {
	case entry == nil:
		entry = &endingEntry{}
		e.entries[uid] = entry
	case entry.kept.Seen.Equal(seen) && !entry.over && e.rest(&entry.kept) <= grace:
		e.mu.Unlock()
		return
	}
	entry.over, entry.goes, entry.before, entry.dirty = false, false, false, true
	entry.kept = state.Ending{UID: uid, Seen: seen, Grace: grace, Began: now, Since: e.clock.at(now)}
	e.mu.Unlock()
	e.poke()
}

func (e *endings) poke() {
	select {
	case e.nudge <- struct{}{}:
	default: // the one that waits says it too
	}
}

// write writes an ending that the disk has not as it is.
func (e *endings) write(uid types.UID, entry *endingEntry) {
	entry.writing.Lock()
	defer entry.writing.Unlock()
	e.mu.Lock()
	kept, dirty := entry.kept, entry.unwritten()
	entry.dirty = false
	e.mu.Unlock()
	if dirty && !e.wrote(uid, e.disk.Put(&kept)) {
		e.mu.Lock()
		defer e.mu.Unlock()
		entry.dirty = true
	}
}

// Before implements worker.Endings.
func (e *endings) Before(uid types.UID) (worker.End, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	entry := e.entries[uid]
	if entry == nil || !entry.before {
		return worker.End{}, false
	}
	return worker.End{Seen: entry.kept.Seen, Rest: e.rest(&entry.kept)}, true
}

// Over implements worker.Endings.
func (e *endings) Over(uid types.UID, goes bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if entry := e.entries[uid]; entry != nil && !entry.over {
		entry.over, entry.goes = true, goes
		e.poke()
	}
}

// Forget implements worker.Endings.
func (e *endings) Forget(uid types.UID) {
	e.mu.Lock()
	entry := e.entries[uid]
	if entry != nil {
		entry.over, entry.goes = true, false
	}
	e.mu.Unlock()
	if entry != nil {
		e.delete(uid, entry)
	}
}

// delete deletes an ending, unless the pod has begun to end again.
func (e *endings) delete(uid types.UID, entry *endingEntry) {
	entry.writing.Lock()
	defer entry.writing.Unlock()
	over := func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return e.entries[uid] == entry && entry.over
	}
	if !over() || !e.wrote(uid, e.disk.Delete(uid)) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if entry.over {
		delete(e.entries, uid)
	}
}

// wrote logs that the disk has failed, or is well again, and reports which.
func (e *endings) wrote(uid types.UID, err error) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case err != nil:
		if e.pace.Due("", err.Error(), time.Now()) {
			e.log.Error("which pods are being ended is not kept; a restart of the agent may change how long they may take", "uid", uid, "err", err)
		}
	case e.pace.Over():
		e.log.Info("which pods are being ended is kept again")
	}
	return err == nil
}

// sweep writes what has begun, deletes what is over, and what an earlier agent has kept
// of pods of which nothing is there any more, and reports whether there is more to look at.
func (e *endings) sweep() (more bool) {
	over, dirty := map[types.UID]*endingEntry{}, map[types.UID]*endingEntry{}
	now := map[types.UID]bool{}
	e.mu.Lock()
	for uid, entry := range e.entries {
		if entry.unwritten() {
			dirty[uid] = entry
		}
		if entry.over || entry.before {
			over[uid], now[uid] = entry, entry.over && !entry.goes
		}
	}
	e.mu.Unlock()
	for uid, entry := range dirty {
		e.write(uid, entry)
	}
	for uid, entry := range over {
		if now[uid] || !e.remains(uid) && e.nothingLeft(entry) {
			e.delete(uid, entry)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, entry := range e.entries {
		more = more || entry.over || entry.before || entry.unwritten()
	}
	return more
}

// nothingLeft has an ending deleted of whose pod nothing is left, and gives false where
// another end has begun meanwhile.
func (e *endings) nothingLeft(entry *endingEntry) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	entry.over = entry.over || entry.before
	return entry.over
}

// run deletes what is over until ctx ends.
func (e *endings) run(ctx context.Context) error {
	defer e.sweep()
	tick := time.NewTicker(endingSweep)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-e.nudge:
		case <-tick.C:
		}
		if e.sweep() {
			tick.Reset(endingSweep)
		} else {
			tick.Stop()
		}
	}
}
