package pleg

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/status"
)

// What nobody waits for, and nothing hangs on, is looked at once for many events.
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
			[]status.ChangeKind{status.ChangeDone, status.ChangeDone, status.ChangeLeaving},
			[]string{"ContainerRemoved p/a", "ContainerRemoved p/b", "ContainerRemoved p/s"},
		},
		{
			"its sandbox and a container start", nil,
			[]string{"sandbox:s=running", "a=running"},
			[]status.ChangeKind{status.ChangeMade, status.ChangeDone, status.ChangeMade, status.ChangeDone},
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
		f.change(func() { f.pods["p"] = newPod("p", "a=exited") }) // and does not tell
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
		"after a container": status.ChangeDone, "after another sandbox": status.ChangeLeaving,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeRuntime(newPod("p", "sandbox:s=exited", "sandbox:r=exited", "a=exited"))
				b, s := follow(t, f, Config{})
				f.change(func() { f.pods["p"] = newPod("p", "sandbox:s=exited") })
				s.changes <- status.PodChange{UID: "p", Kind: before, At: time.Now()} // a look is due in 1 s
				time.Sleep(900 * time.Millisecond)
				s.changes <- status.PodChange{UID: "p", ID: "s", Kind: status.ChangeLeaving, At: time.Now()}
				time.Sleep(500 * time.Millisecond)
				f.change(func() { delete(f.pods, "p") }) // it took half a second
				time.Sleep(500 * time.Millisecond)
				wantTold(t, b, "ContainerRemoved p/a", "ContainerRemoved p/r", "ContainerRemoved p/s")
			})
		})
	}
}
