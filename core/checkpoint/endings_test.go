package checkpoint

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/state"
)

// endingFiles is a disk in memory.
type endingFiles struct {
	mu     sync.Mutex
	files  map[types.UID]state.Ending
	writes int
	err    error
}

func (f *endingFiles) Apply(put []state.Ending, remove []types.UID) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes++
	if f.err != nil {
		return f.err
	}
	for _, e := range put {
		f.files[e.UID] = e
	}
	for _, uid := range remove {
		delete(f.files, uid)
	}
	return nil
}

func (f *endingFiles) Load() (all []state.Ending, errs []error) {
	for _, e := range f.files {
		all = append(all, e)
	}
	return all, nil
}

func (f *endingFiles) has(uid types.UID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.files[uid]
	return ok
}

func (f *endingFiles) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

// endingsOf returns the Endings of an agent that has just started.
func endingsOf(f *endingFiles, m *machine) *Endings {
	e := NewEndings(f, slog.New(slog.DiscardHandler))
	e.clock = m.clock()
	e.Remains = func(types.UID) bool { return false }
	return e
}

// runEndings runs e until stop is called.
func runEndings(t *testing.T, e *Endings) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- e.Run(ctx) }()
	return func() {
		t.Helper()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("run = %v", err)
		}
	}
}

func TestTheRestOfAGracePeriodOutlivesTheAgent(t *testing.T) {
	t.Parallel()
	seen := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		then func(e *Endings, m *machine)
		want time.Duration
	}{
		"what has passed is gone":               {func(*Endings, *machine) {}, 50 * time.Second},
		"the wall clock is set ahead":           {func(_ *Endings, m *machine) { m.wall = m.wall.AddDate(10, 0, 0) }, 50 * time.Second},
		"the wall clock is set back":            {func(_ *Endings, m *machine) { m.wall = m.wall.AddDate(-10, 0, 0) }, 50 * time.Second},
		"it was made shorter":                   {func(e *Endings, _ *machine) { e.Begin("1", seen, 5*time.Second) }, 5 * time.Second},
		"it cannot be made longer":              {func(e *Endings, _ *machine) { e.Begin("1", seen, time.Hour) }, 50 * time.Second},
		"another pod of the UID has one of its": {func(e *Endings, _ *machine) { e.Begin("1", seen.Add(1), time.Hour) }, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, m := &endingFiles{files: map[types.UID]state.Ending{}}, &machine{wall: seen.Add(time.Hour), boot: "b", up: time.Hour}
			e := endingsOf(f, m)
			e.Begin("1", seen, time.Minute)
			if _, before := e.Interrupted("1"); before {
				t.Error("what this agent ends is taken for what an earlier one did")
			}
			m.pass(10 * time.Second)
			tc.then(e, m)
			e.kept.Flush()
			if got, ok := endingsOf(f, m).Interrupted("1"); !ok || got.Remaining != tc.want {
				t.Errorf("%t, %s left, want %s", ok, got.Remaining, tc.want)
			}
		})
	}
}

func TestAnEndThatIsTriedAgainIsNotWrittenAgain(t *testing.T) {
	t.Parallel()
	f, m := &endingFiles{files: map[types.UID]state.Ending{}}, &machine{boot: "b", up: time.Hour}
	e := endingsOf(f, m)
	for range 3 {
		e.Begin("1", time.Time{}, time.Minute)
		e.kept.Flush()
		m.pass(time.Second)
	}
	if f.writes != 1 {
		t.Errorf("%d writes", f.writes)
	}
}

func TestAnEndingGoesFromTheDiskWhenItIsOver(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		then func(e *Endings)
		left bool // the runtime still has something of the pod
		kept bool
	}{
		"while the pod ends":                             {func(*Endings) {}, true, true},
		"when it has ended and stays":                    {func(e *Endings) { e.Finish("1", false) }, true, false},
		"not while there is something left of it":        {func(e *Endings) { e.Finish("1", true) }, true, true},
		"when nothing is left of it":                     {func(e *Endings) { e.Finish("1", true) }, false, false},
		"when another one starts":                        {func(e *Endings) { e.Finish("1", true); e.Forget("1") }, true, false},
		"not when another one has begun to end":          {func(e *Endings) { e.Finish("1", true); e.Begin("1", time.Time{}.Add(1), time.Second) }, false, true},
		"when an earlier agent began it and all is gone": {func(e *Endings) { e.before["1"] = true }, false, false},
		"not when it did and something is left":          {func(e *Endings) { e.before["1"] = true }, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := &endingFiles{files: map[types.UID]state.Ending{}}
				e := endingsOf(f, &machine{boot: "b"})
				e.Remains = func(types.UID) bool { return tc.left }
				e.Begin("1", time.Time{}, time.Minute)
				tc.then(e)
				stop := runEndings(t, e)
				time.Sleep(time.Minute)
				if f.has("1") != tc.kept {
					t.Errorf("on the disk: %t", f.has("1"))
				}
				stop()
			})
		})
	}
}

func TestAnEndThatCouldNotBeWrittenIsWrittenLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &endingFiles{files: map[types.UID]state.Ending{}, err: errors.New("no space left on device")}
		e := endingsOf(f, &machine{boot: "b"})
		stop := runEndings(t, e)
		e.Begin("1", time.Time{}, time.Minute)
		time.Sleep(time.Minute)
		f.fail(nil)
		time.Sleep(endingSweep)
		synctest.Wait()
		if !f.has("1") {
			t.Error("it is not on the disk once that is well again")
		}
		stop()
	})
}

func TestAnEndThatBeginsWhileEarlierOnesAreSweptIsKept(t *testing.T) {
	t.Parallel()
	f := &endingFiles{files: map[types.UID]state.Ending{}}
	e := endingsOf(f, &machine{boot: "b"})
	e.Begin("1", time.Time{}, time.Minute)
	e.kept.Flush()
	e.Finish("1", true)
	e.Remains = func(uid types.UID) bool {
		e.Begin(uid, time.Time{}.Add(1), time.Hour)
		return false
	}
	e.sweep()
	e.kept.Flush()
	if got := f.files["1"]; got.Grace != time.Hour {
		t.Errorf("the disk has a grace period of %s, want that of the newer end", got.Grace)
	}
}

func TestADiskThatFailsKeepsNoPodFromEnding(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &endingFiles{files: map[types.UID]state.Ending{}, err: errors.New("no space left on device")}
		e := endingsOf(f, &machine{boot: "b"})
		stop := runEndings(t, e)
		e.Begin("1", time.Time{}, time.Minute)
		synctest.Wait()
		f.fail(nil)
		e.Begin("2", time.Time{}, time.Minute)
		time.Sleep(endingSweep)
		synctest.Wait()
		f.fail(errors.New("I/O error"))
		e.Finish("2", false)
		time.Sleep(time.Minute)
		if !f.has("2") {
			t.Fatal("deleted, though the disk has failed")
		}
		f.fail(nil)
		time.Sleep(endingSweep)
		synctest.Wait()
		if f.has("2") {
			t.Error("it is not tried again")
		}
		stop()
	})
}
