package rollout

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"time"

	"github.com/wardlet/wardlet/core/internal/crashpoint"
	"github.com/wardlet/wardlet/core/internal/fswatch"
	"github.com/wardlet/wardlet/core/policy/bundle"
)

const (
	// SettleTime is how long files must have stood still before they are read.
	SettleTime = 100 * time.Millisecond
	// ListPeriod is how often the directory is listed without an event.
	ListPeriod = 10 * time.Second
	// RestlessTime is how long files may keep changing before the content is refused as for
	// any other fault.
	RestlessTime = 10 * time.Second
	// restTime is how often plugins release memory that they have not needed.
	restTime = 10 * time.Second
)

// reloader keeps the set of the directory in force. All of it belongs to the goroutine of
// run.
type reloader struct {
	cfg      *Options
	standing *activeSet
	kept     lastKnownGood
	loader   Loader
	watch    *bundle.Watch
	// tried is called after every attempt. changed is called after an attempt that
	// activated another set, with the hooks of its policies and of the previous ones.
	tried   func()
	changed func(hooks map[string]bool)
	// commands receives the commands of other goroutines. It is never closed.
	commands chan command
	// trials receives a value when the probation of a set has an outcome. It has room for
	// one value and is never closed.
	trials chan struct{}

	// names are the stamps of the last reading.
	names map[string]fswatch.Stamp
	// acted reports that this reading was applied, and that no event has come since.
	acted bool
	// settle decides when the files have stood still.
	settle fswatch.Settle
	// untidy reports that something was loaded since the last tidy.
	untidy bool
	// due is what came up while a load waited for its budget.
	due due
	// asked are the commands that wait for the next reading.
	asked []command
}

func newReloader(cfg *Options, s *activeSet, tried func(), changed func(hooks map[string]bool)) *reloader {
	r := &reloader{
		cfg: cfg, standing: s, kept: lastKnownGood{cfg: cfg}, loader: Loader{Options: cfg}, watch: bundle.NewWatch(cfg.Dir, ListPeriod, cfg.Logger),
		tried: tried, changed: changed, commands: make(chan command), trials: make(chan struct{}, 1),
		settle: fswatch.Settle{Time: SettleTime, Restless: RestlessTime},
	}
	r.watch.Open = cfg.OpenWatch
	return r
}

func (r *reloader) run(ctx context.Context) {
	defer r.watch.Close()
	r.kept.load()
	r.standing.begin(r.kept.record.Generation)
	next := time.NewTimer(0)
	defer next.Stop()
	rests := time.NewTicker(restTime)
	defer rests.Stop()
	defer func() { r.leave(ctx.Err()) }()
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-r.watch.Events():
			if !ok {
				r.watch.Close()
			} else if !r.watch.Concerns(e, r.names) {
				continue
			}
			r.markChanged(ctx)
			next.Reset(SettleTime)
		case err, ok := <-r.watch.Errors():
			if !ok {
				r.watch.Close()
			} else {
				r.cfg.Logger.Info("events were lost, all policies are read again", "directory", r.cfg.Dir, "err", err)
			}
			r.markChanged(ctx)
			next.Reset(SettleTime)
		case <-next.C:
			next.Reset(r.turn(ctx))
		case x := <-r.commands:
			r.execute(ctx, x)
			next.Reset(0)
		case <-rests.C:
			r.standing.current().trim()
			r.tidy()
			if r.checkProbation(ctx) {
				next.Reset(SettleTime)
			}
		case <-r.trials:
			if r.checkProbation(ctx) {
				next.Reset(SettleTime)
			}
		}
	}
}

// markChanged records that something has changed or may have.
func (r *reloader) markChanged(ctx context.Context) {
	r.acted = false
	if r.settle.Unrest(r.cfg.Now()) {
		reason := fmt.Errorf("the files in %s keep changing; they are read once they have stood still for %s", r.cfg.Dir, SettleTime)
		r.reject(ctx, reason)
		r.answer(reason)
	}
}

// poll reads the directory if it may have changed, applies the content if it has stood
// still, and returns the delay before the next look.
func (r *reloader) poll(ctx context.Context) time.Duration {
	r.watch.Aim(r.names)
	if r.acted && bundle.Unchanged(r.cfg.Dir, r.names) {
		return ListPeriod
	}
	defer r.cfg.loads.over()
	waited, ok := r.cfg.loads.afford(ctx, func() bool { return false })
	r.settle.Pause(waited)
	if !ok {
		r.acted = false
		return SettleTime
	}
	got := bundle.Read(r.cfg.Options)
	r.cfg.loads.pay(got.Took())
	if !r.still(got) {
		r.markChanged(ctx)
		return SettleTime
	}
	r.settle.Rest()
	r.acted = got.Whole
	r.watch.Aim(r.names)
	r.loader.stale = false
	if r.apply(ctx, got) {
		r.untidy = true
	}
	if r.loader.stale {
		r.acted = false
		return SettleTime
	}
	return ListPeriod
}

// tidy collects the garbage of loading, of which there is much. It does not return the
// memory to the kernel: that would delay running decisions.
func (r *reloader) tidy() {
	if r.untidy {
		r.untidy = false
		runtime.GC()
	}
}

// still reports whether the files have stood still long enough: since their last change
// or, if clocks differ, since they were first read like this.
func (r *reloader) still(got *bundle.Bundle) bool {
	now := r.cfg.Now()
	if !got.Steady || !maps.Equal(r.names, got.Stamps) || !r.settle.Begun() {
		r.names = got.Stamps
		r.settle.Changed(now)
	}
	return got.Steady && r.settle.Still(bundle.Newest(got.Stamps), now)
}

// apply activates what was read or refuses it. It reports whether anything was loaded.
func (r *reloader) apply(ctx context.Context, got *bundle.Bundle) (loaded bool) {
	crashpoint.Reached("set read")
	running, content := r.standing.current(), got.Content(r.cfg.Version)
	if running != nil && running.Eval.Digest == got.Digest() && got.Err() == nil {
		if r.standing.refuse(nil, r.cfg.Now()) {
			r.cfg.Logger.Info("the policies are again those in force", "directory", r.cfg.Dir, "digest", running.Eval.Digest)
		}
		return false
	}
	if reason := r.kept.refusal(content); reason != nil {
		r.reject(ctx, reason)
		return false
	}
	var next *Set
	again := false
	err := got.Older(r.kept.record.Revision)
	if err == nil {
		next, err = r.loader.load(ctx, got, running)
		again = r.loader.again
	}
	switch {
	case ctx.Err() != nil:
		next.Release()
	case errors.Is(err, errStale): // the new files are read next
	case err != nil && again:
		r.acted = false // it is tried again with the next listing
		r.reject(ctx, bounded(err))
	case err != nil:
		if got.Whole && got.Older(r.kept.record.Revision) == nil {
			r.kept.refuse(content, bounded(err), r.cfg.Now())
		}
		r.reject(ctx, bounded(err))
	default:
		next.revision, next.key = got.Signature.Revision, got.Signature.Key
		next.content = content
		r.startProbation(next, running)
		crashpoint.Reached("set tested")
		another := r.kept.others(next.Eval.Digest)
		r.kept.good(next, got)
		crashpoint.Reached("set kept")
		r.activate(next, nil, another)
		crashpoint.Reached("set in force")
		r.cfg.Logger.Info("policies are in force", "directory", r.cfg.Dir, "policies", len(next.Eval.Policies),
			"generation", next.generation, "digest", next.Eval.Digest)
	}
	return true
}

// activate puts a set in force and signals that. instead says why the set is not the
// directory's content, nil if it is. another reports that an earlier process last had
// another set in force.
func (r *reloader) activate(next *Set, instead error, another bool) {
	hooks := map[string]bool{NotAsBefore: another}
	r.standing.current().AddHooks(hooks)
	next.AddHooks(hooks)
	r.standing.put(next, instead, r.cfg.Now())
	r.changed(hooks)
	r.tried()
}

// reject records why the content is not in force, and logs it once. If no set is in
// force, it activates the last good one.
func (r *reloader) reject(ctx context.Context, reason error) {
	back := r.standing.current() == nil && r.bringBack(ctx, reason)
	if r.standing.refuse(reason, r.cfg.Now()) || back {
		instead := "none, new pods are held"
		if running := r.standing.current(); running != nil {
			instead = running.Eval.Digest
		}
		r.cfg.Logger.Error("the policies are refused", "directory", r.cfg.Dir, "err", reason, "in_force", instead)
	}
	r.tried()
}

// bringBack activates the last good set of an earlier process because the directory was
// refused, and reports whether it did. If the machine is the reason why it cannot, the next
// listing tries again.
func (r *reloader) bringBack(ctx context.Context, refused error) bool {
	last, err := r.kept.last(ctx, &r.loader, nil)
	if err != nil && r.standing.isNews(err) {
		r.cfg.Logger.Error("policies that were kept cannot be brought back", "directory", r.cfg.Dir, "err", err)
	}
	if last == nil {
		r.acted = r.acted && !r.kept.machine
		return false
	}
	r.startProbation(last, nil)
	r.activate(last, refused, false)
	r.cfg.Logger.Warn("the last good policies are in force, not what the directory holds", "directory", r.cfg.Dir,
		"policies", len(last.Eval.Policies), "digest", last.Eval.Digest)
	return true
}

// maxReasons is how many faults of a set an error has at most.
const maxReasons = 100

// bounded returns an error with at most maxReasons lines.
func bounded(err error) error {
	text := err.Error()
	for i, n := 0, 0; i < len(text); i++ {
		if text[i] != '\n' {
			continue
		}
		if n++; n == maxReasons {
			return errors.New(text[:i] + "\nand more")
		}
	}
	return errors.New(text)
}

// NotAsBefore is among the hooks if another set is in force than before a restart.
const NotAsBefore = ""
