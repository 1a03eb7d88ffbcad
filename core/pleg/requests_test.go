package pleg

import (
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

func TestRefreshDoesNotWaitForAList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		b := start(t, f, Config{})
		b.told()
		f.change(func() { f.listGate = make(chan struct{}) })
		b.nextList() // the list hangs
		asked := time.Now()
		time.Sleep(time.Millisecond)

		f.change(func() { f.pods["p"] = newPod("p", "a=exited") })
		b.Refresh("p")
		wantTold(t, b, "ContainerDied p/a")
		f.change(func() { f.pods["new"] = newPod("new", "b=running") })
		b.Refresh("new")
		wantTold(t, b, "ContainerStarted new/b")
		b.Refresh("never there")
		wantTold(t, b)

		for uid, want := range map[types.UID]string{"p": "a=exited", "new": "b=running", "never there": ""} {
			p, err := b.cache.GetNewerThan(t.Context(), uid, asked)
			if err != nil || shown(p) != want {
				t.Errorf("pod %s: %q, %v, want %q", uid, shown(p), err, want)
			}
		}
		if waited := time.Since(asked); waited > 2*time.Millisecond {
			t.Errorf("waited %s for a list", waited)
		}
	})
}

func TestRefreshWithoutAChangeTellsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		b := start(t, f, Config{})
		b.told()
		b.Refresh("p")
		wantTold(t, b)
		if n := f.inspected("p"); n != 2 {
			t.Errorf("inspected %d times, want 2", n)
		}
	})
}

func TestRefreshOfAPodInInspectionIsDoneOnceAfterIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		gate := make(chan struct{})
		f.inspectGate["p"] = gate
		b := start(t, f, Config{})
		f.change(func() { f.inspectGate["p"] = nil; f.pods["p"] = newPod("p", "a=exited") })
		time.Sleep(time.Millisecond)
		for range 3 {
			b.Refresh("p")
		}
		wantTold(t, b)
		close(gate)
		wantTold(t, b, "ContainerDied p/a", "ContainerStarted p/a")
		if n := f.inspected("p"); n != 2 {
			t.Errorf("inspected %d times, want 2", n)
		}
	})
}

func TestListBegunBeforeARefreshUndoesNothing(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		before, after []string
		want          string
		told          []string
	}{
		{"a container that was started", []string{"a=exited"}, []string{"a=exited", "b=running"}, "a=exited b=running", []string{"ContainerStarted p/b"}},
		{"a container that was removed", []string{"a=exited", "b=running"}, []string{"b=running"}, "b=running", []string{"ContainerRemoved p/a"}},
		{"a pod that is new", nil, []string{"b=running"}, "b=running", []string{"ContainerStarted p/b"}},
		{"a pod that is gone", []string{"b=running"}, nil, "", []string{"ContainerDied p/b", "ContainerRemoved p/b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeRuntime()
				put := func(containers []string) {
					delete(f.pods, "p")
					if containers != nil {
						f.pods["p"] = newPod("p", containers...)
					}
				}
				put(tt.before)
				b := start(t, f, Config{})
				b.told()
				gate := make(chan struct{})
				f.change(func() { f.listGate = gate })
				b.nextList() // it has read "before" and waits
				time.Sleep(time.Millisecond)
				f.change(func() { put(tt.after); f.listGate = nil })
				b.Refresh("p")
				synctest.Wait()
				close(gate)
				b.nextList()
				wantTold(t, b, tt.told...)
				if p, err := b.cache.Get("p"); err != nil || shown(p) != tt.want {
					t.Errorf("cache has %q, %v, want %q", shown(p), err, tt.want)
				}
				b.stop()
				if _, known := b.records["p"]; known != (tt.after != nil) {
					t.Errorf("record kept = %v", known)
				}
			})
		})
	}
}

func TestFailedRefreshIsTriedAgainByTheNextList(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		b := start(t, f, Config{})
		b.told()
		f.change(func() { f.inspectErr["p"] = broken })
		time.Sleep(time.Millisecond)
		b.Refresh("p")
		b.settle()
		if _, err := b.cache.Get("p"); !errors.Is(err, broken) {
			t.Errorf("cache has error %v", err)
		}
		f.change(func() { delete(f.inspectErr, "p") })
		b.nextList()
		wantTold(t, b, "PodSync p/")
	})
}

func TestRefreshNeverBlocksAndNothingIsDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime()
		b := start(t, f, Config{})
		gate := make(chan struct{})
		for i := range 1000 {
			f.change(func() { f.inspectGate[types.UID(strconv.Itoa(i))] = gate })
			b.Refresh(types.UID(strconv.Itoa(i)))
		}
		close(gate)
		b.settle()
		for i := range 1000 {
			if n := f.inspected(types.UID(strconv.Itoa(i))); n != 1 {
				t.Errorf("pod %d was inspected %d times, want 1", i, n)
			}
		}
	})
}

// TestPodOfWhichNothingRunsIsLookedAtSoon checks that a pod is inspected once for many events
// if no caller waits for it and nothing depends on it.
func TestPodOfWhichNothingRunsIsLookedAtSoon(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		before, after []string
		kinds         []status.ChangeKind
		told          []string
	}{
		{
			"its containers and its sandbox are removed",
			[]string{"sandbox:s=exited", "a=exited", "b=exited"},
			nil,
			[]status.ChangeKind{status.ChangeVisible, status.ChangeVisible, status.ChangeRemoving},
			[]string{"ContainerRemoved p/a", "ContainerRemoved p/b", "ContainerRemoved p/s"},
		},
		{
			"its sandbox and a container start", nil,
			[]string{"sandbox:s=running", "a=running"},
			[]status.ChangeKind{status.ChangeCreated, status.ChangeVisible, status.ChangeCreated, status.ChangeVisible},
			[]string{"ContainerStarted p/a", "ContainerStarted p/s"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeRuntime(newPod("other", "o=running"))
				if tt.before != nil {
					f.pods["p"] = newPod("p", tt.before...)
				}
				b, s := follow(t, f, Config{})
				n := f.inspected("p")
				f.change(func() {
					delete(f.pods, "p")
					if tt.after != nil {
						f.pods["p"] = newPod("p", tt.after...)
					}
				})
				for _, kind := range tt.kinds {
					s.changes <- status.PodChange{UID: "p", Kind: kind, At: time.Now()}
				}
				wantTold(t, b)
				time.Sleep(time.Second)
				wantTold(t, b, tt.told...)
				time.Sleep(20 * time.Second)
				if n := f.inspected("p") - n; n != 1 {
					t.Errorf("%d inspections, want 1", n)
				}
			})
		})
	}
}

func TestWhoAsksAboutAPodOfWhichNothingRunsIsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "sandbox:s=exited", "a=exited"))
		b, s := follow(t, f, Config{})
		n := f.inspected("p")
		f.change(func() { f.pods["p"] = newPod("p", "sandbox:t=running", "b=running", "sandbox:s=exited", "a=exited") })
		s.tell("p")
		asked := time.Now()
		if got := b.answer("p", time.Minute); got != "t s b=running a=exited" || time.Since(asked) > tick {
			t.Errorf("%q after %s", got, time.Since(asked))
		}
		time.Sleep(20 * time.Second)
		if n := f.inspected("p") - n; n != 1 {
			t.Errorf("%d inspections, want none for the event besides", n)
		}
	})
}

func TestEventThatIsFollowedSoonIsNotMissing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime()
		b, s := follow(t, f, Config{})
		f.change(func() { f.pods["p"] = newPod("p", "a=running") })
		s.tell("p")
		time.Sleep(time.Millisecond)
		if err := b.Relist(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantTold(t, b, "ContainerStarted p/a")
		time.Sleep(3 * time.Second)
		if !b.Streaming() {
			t.Error("the stream was given up, for an event that it told of")
		}
		f.change(func() { f.pods["p"] = newPod("p", "a=exited") }) // without an event
		if err := b.Relist(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if b.Streaming() {
			t.Error("the event that came counts for one that did not")
		}
	})
}

func TestWithoutAStreamThatIsReliedOnEveryEventIsFollowedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=exited"))
		s := newEventStream(f)
		b := start(t, f, Config{})
		b.told()
		f.change(func() { f.pods["p"] = newPod("p", "a=exited", "b=running") })
		s.tell("p")
		wantTold(t, b, "ContainerStarted p/b")
	})
}

func TestSandboxThatIsAboutToGoIsNotLookedAtTooSoon(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]status.ChangeKind{
		"after a container": status.ChangeVisible, "after another sandbox": status.ChangeRemoving,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeRuntime(newPod("p", "sandbox:s=exited", "sandbox:r=exited", "a=exited"))
				b, s := follow(t, f, Config{})
				f.change(func() { f.pods["p"] = newPod("p", "sandbox:s=exited") })
				s.changes <- status.PodChange{UID: "p", Kind: before, At: time.Now()} // inspected in 1 s
				time.Sleep(900 * time.Millisecond)
				s.changes <- status.PodChange{UID: "p", ID: "s", Kind: status.ChangeRemoving, At: time.Now()}
				time.Sleep(500 * time.Millisecond)
				f.change(func() { delete(f.pods, "p") }) // the removal took half a second
				time.Sleep(500 * time.Millisecond)
				wantTold(t, b, "ContainerRemoved p/a", "ContainerRemoved p/r", "ContainerRemoved p/s")
			})
		})
	}
}

// TestEventDuringAnInspectionIsFollowed checks that an event during an inspection leads to
// another inspection: the first one has seen the pod before the event.
func TestEventDuringAnInspectionIsFollowed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		before        []string // nil: the pod was not seen before
		during, after []string
		kind          status.ChangeKind
		within        time.Duration
		told          []string
	}{
		{
			"at once where a container ends while its pod is looked at for the first time",
			nil,
			[]string{"sandbox:s=running", "a=running"},
			[]string{"sandbox:s=running", "a=exited"},
			status.ChangeVisible, tick,
			[]string{"ContainerDied p/a", "ContainerStarted p/a", "ContainerStarted p/s"},
		},
		{
			"at once where the last look has shown nothing that runs",
			[]string{"sandbox:s=exited"},
			[]string{"sandbox:t=running", "a=running"},
			[]string{"sandbox:t=running", "a=exited"},
			status.ChangeVisible, tick,
			[]string{"ContainerDied p/a", "ContainerRemoved p/s", "ContainerStarted p/a", "ContainerStarted p/t"},
		},
		{
			"a second later where something was made",
			nil,
			[]string{"sandbox:s=running"},
			[]string{"sandbox:s=running", "a=exited"},
			status.ChangeCreated, time.Second,
			[]string{"ContainerDied p/a", "ContainerStarted p/s"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeRuntime()
				if tt.before != nil {
					f.pods["p"] = newPod("p", tt.before...)
				}
				b, s := follow(t, f, Config{})
				gate := make(chan struct{})
				f.change(func() { f.pods["p"], f.inspectGate["p"] = newPod("p", tt.during...), gate })
				b.Refresh("p")
				b.settle() // the inspection is in progress
				f.change(func() { f.pods["p"] = newPod("p", tt.after...); delete(f.inspectGate, "p") })
				s.changes <- status.PodChange{UID: "p", Kind: tt.kind, At: time.Now()}
				b.settle()
				close(gate)
				time.Sleep(tt.within)
				wantTold(t, b, tt.told...)
				n := f.inspected("p")
				time.Sleep(30 * time.Second)
				if n := f.inspected("p") - n; n != 0 {
					t.Errorf("%d inspections more after it was seen", n)
				}
			})
		})
	}
}

func TestListBegunBeforeAnEventTakesNoLookAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime()
		b, s := follow(t, f, Config{})
		gate := make(chan struct{})
		f.change(func() { f.listGate = gate })
		listed := make(chan error, 1)
		go func() { listed <- b.Relist(t.Context()) }() // the list has no pod
		b.settle()
		f.change(func() { f.pods["p"] = newPod("p", "a=running") })
		s.tell("p")
		b.settle()
		close(gate)
		if err := <-listed; err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		wantTold(t, b, "ContainerStarted p/a")
	})
}

func TestPodThatComesBackWhileItsLastInspectionHangsIsLookedAt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		f.deaf = true
		b, s := follow(t, f, Config{})
		gate := make(chan struct{})
		f.change(func() { delete(f.pods, "p"); f.inspectGate["p"] = gate })
		s.tell("p")
		b.settle() // the inspection is in progress
		if err := b.Relist(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantTold(t, b, "ContainerDied p/a", "ContainerRemoved p/a")
		f.change(func() { f.pods["p"] = newPod("p", "sandbox:s=running"); f.inspectGate["p"] = nil })
		s.changes <- status.PodChange{UID: "p", Kind: status.ChangeCreated, At: time.Now()}
		b.settle()
		close(gate)
		time.Sleep(time.Second)
		wantTold(t, b, "ContainerStarted p/s")
	})
}

func TestSandboxThatIsAboutToGoIsLookedAtOnceMoreAlsoWhenEventsAreReliedOnOnlySinceThen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "sandbox:s=exited"))
		s := newEventStream(f)
		b := start(t, f, Config{})
		time.Sleep(2999 * time.Millisecond)
		s.changes <- status.PodChange{UID: "p", ID: "s", Kind: status.ChangeRemoving, At: time.Now()}
		time.Sleep(50 * time.Millisecond)
		b.told()
		if !b.Streaming() {
			t.Fatal("after 3 s the events are not relied on")
		}
		f.change(func() { delete(f.pods, "p") })
		time.Sleep(time.Second)
		wantTold(t, b, "ContainerRemoved p/s")
		n := f.inspected("p")
		time.Sleep(30 * time.Second)
		if n := f.inspected("p") - n; n != 0 {
			t.Errorf("%d inspections more after it has gone", n)
		}
	})
}
