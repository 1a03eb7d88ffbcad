package writeback

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair is a value that has its own key.
type pair struct {
	key   string
	value int
}

// files imitates a disk.
type files struct {
	mu     sync.Mutex
	has    map[string]int
	writes int
	err    error
	// keeps is true if a write that fails still reaches the disk.
	keeps bool
	// lasts is the duration of a write.
	lasts time.Duration
}

func (f *files) Apply(put []pair, remove []string) error {
	time.Sleep(f.lasts)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes++
	if f.err == nil || f.keeps {
		for _, p := range put {
			f.has[p.key] = p.value
		}
		for _, key := range remove {
			delete(f.has, key)
		}
	}
	return f.err
}

func (f *files) expect(t *testing.T, when string, writes int, want map[string]int) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if diff := cmp.Diff(want, f.has); diff != "" || f.writes != writes {
		t.Errorf("%s: %d writes, want %d; disk (-want +got):\n%s", when, f.writes, writes, diff)
	}
}

func (f *files) fail(err error, keeps bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err, f.keeps = err, keeps
}

var errFull = errors.New("no space left on device")

// started runs test in a bubble, with a map whose delay is a second and whose retry is ten seconds.
func started(t *testing.T, options Options[string], test func(m *Map[string, pair], f *files, stop func())) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &files{has: map[string]int{"old": 1}}
		options.Delay, options.Retry = time.Second, 10*time.Second
		m := New(f, options)
		m.Loaded("old", pair{"old", 1})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- m.Run(ctx) }()
		stop := sync.OnceFunc(func() {
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("Run returns %v", err)
			}
		})
		defer stop()
		test(m, f, stop)
	})
}

func set(m *Map[string, pair], key string, value int) { m.Set(key, pair{key, value}) }

func TestMap_changesOfOneKeyAreWrittenOnce(t *testing.T) {
	t.Parallel()
	started(t, Options[string]{}, func(m *Map[string, pair], f *files, stop func()) {
		for i := range 5 {
			set(m, "a", i)
			set(m, "b", i)
			time.Sleep(100 * time.Millisecond)
		}
		m.Remove("b")
		m.Remove("none")
		f.expect(t, "at first", 0, map[string]int{"old": 1})
		time.Sleep(time.Second)
		f.expect(t, "after the delay", 1, map[string]int{"old": 1, "a": 4})
		if got, ok := m.Get("a"); !ok || got.value != 4 {
			t.Errorf("a is %v, %t", got, ok)
		}
		if _, ok := m.Get("b"); ok {
			t.Error("b is there")
		}
		m.Remove("old")
		if got := maps.Collect(m.Values); len(got) != 1 {
			t.Errorf("values are %v", got)
		}
		stop()
		f.expect(t, "at the end", 2, map[string]int{"a": 4})
		synctest.Wait()
		if len(m.entries) != 1 {
			t.Errorf("%d entries are left", len(m.entries))
		}
	})
}

func TestMap_Write(t *testing.T) {
	t.Parallel()
	started(t, Options[string]{}, func(m *Map[string, pair], f *files, _ func()) {
		set(m, "a", 1)
		for _, key := range []string{"a", "a", "none"} {
			if !m.Write(key) {
				t.Errorf("%s was not written", key)
			}
		}
		f.expect(t, "at once", 1, map[string]int{"old": 1, "a": 1})
		m.Remove("old")
		m.Write("old")
		f.expect(t, "removed", 2, map[string]int{"a": 1})
	})
}

func TestMap_failuresAreRetried(t *testing.T) {
	t.Parallel()
	var reports []error
	report := func(_ string, err error) { reports = append(reports, err) }
	started(t, Options[string]{Report: report}, func(m *Map[string, pair], f *files, _ func()) {
		f.fail(errFull, false)
		set(m, "a", 1)
		if m.Write("a") {
			t.Error("it was written")
		}
		time.Sleep(5 * time.Second)
		f.expect(t, "after the delay", 2, map[string]int{"old": 1})
		time.Sleep(10 * time.Second)
		f.expect(t, "after a retry", 3, map[string]int{"old": 1})
		f.fail(nil, false)
		time.Sleep(10 * time.Second)
		f.expect(t, "in the end", 4, map[string]int{"old": 1, "a": 1})
		time.Sleep(time.Hour)
		f.expect(t, "for good", 4, map[string]int{"old": 1, "a": 1})
		synctest.Wait()
		if want := []error{errFull, errFull, errFull, nil}; !cmp.Equal(want, reports, cmp.Comparer(errors.Is)) {
			t.Errorf("reports are %v, want %v", reports, want)
		}
	})
}

func TestMap_whatAFailedWriteMayHaveLeftIsRemoved(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options Options[string]
		left    map[string]int
		writes  int
	}{
		"the disk is left clean":        {Options[string]{}, map[string]int{"old": 1}, 3},
		"unless the map is to be small": {Options[string]{Forgetful: true}, map[string]int{"old": 1, "a": 1}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			started(t, test.options, func(m *Map[string, pair], f *files, _ func()) {
				f.fail(errFull, true)
				set(m, "a", 1)
				time.Sleep(2 * time.Second)
				f.fail(errFull, false)
				m.Remove("a")
				time.Sleep(10 * time.Second)
				f.fail(nil, false)
				time.Sleep(time.Minute)
				f.expect(t, "in the end", test.writes, test.left)
				synctest.Wait()
				if len(m.entries) != 1 {
					t.Errorf("%d entries are left", len(m.entries))
				}
			})
		})
	}
}

func TestMap_changesDuringAWriteAreWrittenAfterIt(t *testing.T) {
	t.Parallel()
	started(t, Options[string]{}, func(m *Map[string, pair], f *files, stop func()) {
		f.lasts = 5 * time.Second
		set(m, "a", 1)
		time.Sleep(2 * time.Second) // the write is under way
		set(m, "a", 2)
		done := make(chan bool)
		go func() { done <- m.Write("a") }()
		if !<-done {
			t.Error("it was not written")
		}
		f.expect(t, "by who waits for it", 2, map[string]int{"old": 1, "a": 2})
		set(m, "a", 3)
		go func() { done <- m.Write("a") }()
		time.Sleep(time.Second)
		m.Remove("a")
		stop()
		f.expect(t, "at the end", 4, map[string]int{"old": 1})
		<-done
	})
}

func TestMap_fromManySides(t *testing.T) {
	t.Parallel()
	started(t, Options[string]{}, func(m *Map[string, pair], f *files, stop func()) {
		f.lasts = 10 * time.Millisecond
		var sides sync.WaitGroup
		for side := range 4 {
			sides.Go(func() {
				for i := range 100 {
					switch (side + i) % 4 {
					case 0:
						m.Remove("a")
					case 1:
						m.Write("a")
					default:
						set(m, "a", i)
					}
					time.Sleep(time.Duration(side+1) * 7 * time.Millisecond)
				}
			})
		}
		sides.Wait()
		set(m, "a", 1000)
		stop()
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.has["a"] != 1000 {
			t.Errorf("the disk has %d", f.has["a"])
		}
	})
}
