package worker

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

func TestAFailedTurnIsLookedAtWhereSomethingWasTried(t *testing.T) {
	t.Parallel()
	away := func(container string) func(*status.ObservedPod) {
		return func(o *status.ObservedPod) {
			o.Containers = slices.DeleteFunc(o.Containers, func(c status.ObservedContainer) bool { return c.Name == container })
		}
	}
	changed := func(o *status.ObservedPod) { o.Containers[0].Hash = "another" }
	for name, tc := range map[string]struct {
		// before is how the pod is found: else a and b run.
		before func(*status.ObservedPod)
		fail   string
		err    error
		want   int
	}{
		"a start that fails":                  {away("b"), "start web/b", &status.Fault{Reason: "RunContainerError", Err: errBroken}, 1},
		"a start while the runtime is away":   {away("b"), "start web/b", errBroken, 1},
		"a stop that fails":                   {changed, "stop a-1", errBroken, 1},
		"a stop, though no start follows":     {changed, "mounts web/a", errBroken, 1},
		"a start, though another cannot be":   {func(o *status.ObservedPod) { o.Containers = nil }, "mounts web/b", errBroken, 1},
		"not an image that cannot be fetched": {away("b"), "image img", &status.Fault{Reason: "ErrImagePull", Err: errBroken}, 0},
		"not mounts that cannot be made":      {away("b"), "mounts web/b", errBroken, 0},
		"not a cgroup that cannot be made":    {away("b"), "cgroup web", errBroken, 0},
		"not volumes that cannot be made":     {away("b"), "setup web", errBroken, 0},
		"not a sandbox that cannot be made":   {func(o *status.ObservedPod) { o.Sandboxes[0].Ready = false }, "run-sandbox web", errBroken, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.fail[tc.fail] = tc.err
				p := newPod("web", "1", "a", "b")
				running(b, p)
				b.change("1", tc.before)
				b.create(p)
				synctest.Wait()
				if b.log.count.Load() != 1 {
					t.Errorf("%d warnings, want that of the turn that failed", b.log.count.Load())
				}
				if b.inspections != tc.want {
					t.Errorf("%d inspections were asked for, want %d", b.inspections, tc.want)
				}
			})
		})
	}
}

func TestAContainerThatWaitsAfterItsCrashIsNotLookedAt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a")
		crash := status.ObservedContainer{ID: "before", Name: "a", State: status.StateExited, FinishedAt: time.Now()}
		if err := b.pool.mayRestart(p, &p.Spec.Containers[0], &crash); err != nil {
			t.Fatal(err)
		}
		running(b, p)
		b.exit("a-1", 1)
		b.create(p)
		synctest.Wait()
		if !b.recorded("web BackOff") || b.inspections != 0 {
			t.Errorf("%d inspections were asked for while it waits, want none", b.inspections)
		}
	})
}

// leaving is a runtime whose containers fail to start, and stay.
type leaving struct{ *node }

func (l leaving) StartContainer(_ context.Context, run pod.ContainerRun) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.pods[run.Pod.UID]
	o.Containers = slices.Insert(o.Containers, 0, status.ObservedContainer{
		ID: "left", Name: run.Container.Name, State: status.StateExited, ExitCode: 128, FinishedAt: time.Now(),
	})
	return "left", &status.Fault{Reason: "RunContainerError", Err: errBroken}
}

func TestWhatIsLeftOfAFailedStartIsSeenBeforeTheNextList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.cfg.Runtime = leaving{b.node}
		b.pool = New(b.cfg)
		defer b.pool.Stop(t.Context())
		b.create(newPod("web", "1", "a"))
		synctest.Wait()
		observed, err := b.cache.Get("1")
		if c := observed.Newest("a"); err != nil || c == nil || c.ID != "left" {
			t.Errorf("of the container is seen %+v, %v", c, err)
		}
	})
}
