package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/test/fakecri"
)

// makers make things in turns, each for a given time.
type makers struct {
	starts *startLimiter
	works  sync.WaitGroup

	mu         sync.Mutex
	busy, most int
	began      []string
}

func (m *makers) make(ctx context.Context, name string, wait func(context.Context) (func(), error), takes time.Duration) {
	m.works.Go(func() {
		done, err := wait(ctx)
		if err != nil {
			return
		}
		defer done()
		m.mu.Lock()
		m.busy++
		m.most = max(m.most, m.busy)
		m.began = append(m.began, name)
		m.mu.Unlock()
		time.Sleep(takes)
		m.mu.Lock()
		m.busy--
		m.mu.Unlock()
	})
	synctest.Wait()
}

func TestSoManyAreMadeAtOnceAndContainersFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &makers{starts: &startLimiter{free: 2}}
		for i := range 4 {
			m.make(t.Context(), fmt.Sprint("sandbox ", i), m.starts.acquireSandbox, time.Second)
		}
		for i := range 3 {
			m.make(t.Context(), fmt.Sprint("container ", i), m.starts.acquireContainer, time.Second)
		}
		m.works.Wait()
		want := []string{"sandbox 0", "sandbox 1", "container 0", "container 1", "container 2", "sandbox 2", "sandbox 3"}
		slices.Sort(m.began[:2])
		slices.Sort(m.began[2:4])
		slices.Sort(m.began[4:6])
		slices.Sort(want[4:6])
		if !slices.Equal(m.began, want) {
			t.Errorf("made in the order %q, want %q", m.began, want)
		}
		if m.most != 2 {
			t.Errorf("%d at once, want 2", m.most)
		}
		if m.starts.free != 2 {
			t.Errorf("%d turns are free at the end, want 2", m.starts.free)
		}
	})
}

func TestWhoGivesUpWaitingTakesNobodysTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &makers{starts: &startLimiter{free: 1}}
		m.make(t.Context(), "first", m.starts.acquireSandbox, time.Second)
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("not wanted any more")
		failed := make(chan error, 1)
		go func() { _, err := m.starts.acquireSandbox(ctx); failed <- err }()
		synctest.Wait()
		m.make(t.Context(), "last", m.starts.acquireSandbox, time.Second)
		cancel(gone)
		if err := <-failed; !errors.Is(err, gone) {
			t.Errorf("ended with %v", err)
		}
		m.works.Wait()
		if !slices.Equal(m.began, []string{"first", "last"}) || m.starts.free != 1 {
			t.Errorf("made %q, and %d turns are free", m.began, m.starts.free)
		}
	})
}

func TestATurnThatComesWhenNobodyWaitsForItAnyMoreGoesOn(t *testing.T) {
	t.Parallel()
	for range 100 {
		s := &startLimiter{free: 1}
		done, err := s.acquireSandbox(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var works sync.WaitGroup
		works.Go(func() {
			if done, err := s.acquireContainer(ctx); err == nil {
				done()
			}
		})
		works.Go(cancel)
		works.Go(done)
		works.Wait()
		if s.free != 1 {
			t.Fatalf("%d turns are free, want 1", s.free)
		}
	}
}

func TestHoweverManyHangOthersWaitLittleLongerThanForOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &makers{starts: &startLimiter{free: 8}}
		for i := range 200 {
			m.make(t.Context(), fmt.Sprint("hangs ", i), m.starts.acquireSandbox, time.Hour)
		}
		m.make(t.Context(), "healthy", m.starts.acquireSandbox, time.Second)
		time.Sleep(firstSlotTime + firstSlotTime*3/4)
		synctest.Wait()
		if !slices.Contains(m.began, "healthy") {
			t.Errorf("the healthy one still waits, %d hang", m.starts.hanging)
		}
		m.works.Wait()
		if m.starts.free != 8 || m.starts.hanging != 0 {
			t.Errorf("at the end %d turns are free, and %d count as hanging", m.starts.free, m.starts.hanging)
		}
	})
}

func TestASlowOneGivesItsTurnBackOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &makers{starts: &startLimiter{free: 1}}
		m.make(t.Context(), "slow", m.starts.acquireSandbox, 2*firstSlotTime)
		m.make(t.Context(), "next", m.starts.acquireSandbox, 4*firstSlotTime)
		m.works.Wait()
		if m.most != 2 || m.starts.free != 1 {
			t.Errorf("%d at once, want 2; %d turns are free at the end, want 1", m.most, m.starts.free)
		}
	})
}

// A start that takes longer than slotTime is nothing unusual on a slow node: the next ones wait for it.
func TestStartLimiter_slowNode(t *testing.T) {
	t.Parallel()
	for name, takes := range map[string]time.Duration{"fast": time.Second, "slow": firstSlotTime - time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &makers{starts: &startLimiter{free: 4}}
				for i := range 40 {
					m.make(t.Context(), fmt.Sprint("sandbox ", i), m.starts.acquireSandbox, takes)
				}
				m.works.Wait()
				if m.most != 4 || m.starts.free != 4 {
					t.Errorf("%d at once, want 4; %d slots are free at the end, want 4", m.most, m.starts.free)
				}
				m.make(t.Context(), "hangs", m.starts.acquireSandbox, time.Hour)
				time.Sleep(min(max(slowFactor*takes, slotTime), maxSlotTime) + time.Second)
				if m.starts.hanging != 1 {
					t.Errorf("%d hang, want 1", m.starts.hanging)
				}
				m.works.Wait()
			})
		})
	}
}

func TestPodsAreMadeInTurns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.limiter = &startLimiter{free: 2}
	r.cri.Load(appImage, 1000, fakecri.Program{})
	var mu sync.Mutex
	busy, most := 0, 0
	for _, call := range []string{"RunPodSandbox", "CreateContainer", "StartContainer"} {
		r.cri.Before(call, func(context.Context, any) error {
			mu.Lock()
			busy++
			most = max(most, busy)
			mu.Unlock()
			time.Sleep(5 * time.Millisecond)
			mu.Lock()
			busy--
			mu.Unlock()
			return nil
		})
	}
	var works sync.WaitGroup
	for i := range 10 {
		works.Go(func() {
			p := newPod(fmt.Sprint("web-", i))
			id, err := r.RunSandbox(t.Context(), sandboxRun(p))
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := r.StartContainer(t.Context(), containerRun(p, id, 0)); err != nil {
				t.Error(err)
			}
		})
	}
	works.Wait()
	if most != 2 {
		t.Errorf("%d calls at once, want 2", most)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	r.limiter.free = 0
	p := newPod("late")
	if _, err := r.RunSandbox(gone, sandboxRun(p)); !interrupted(err) {
		t.Errorf("a sandbox that is not wanted any more: %v", err)
	}
	if _, err := r.StartContainer(gone, containerRun(p, "none", 0)); !interrupted(err) {
		t.Errorf("a container that is not wanted any more: %v", err)
	}
}
