package pleg

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/status"
)

// An inspection that has begun has seen the pod as it was before an event that
// comes while it is under way.
func TestEventDuringAnInspectionIsFollowed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		before        []string // nil: nobody has seen the pod
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
			status.ChangeDone, tick,
			[]string{"ContainerDied p/a", "ContainerStarted p/a", "ContainerStarted p/s"},
		},
		{
			"at once where the last look has shown nothing that runs",
			[]string{"sandbox:s=exited"},
			[]string{"sandbox:t=running", "a=running"},
			[]string{"sandbox:t=running", "a=exited"},
			status.ChangeDone, tick,
			[]string{"ContainerDied p/a", "ContainerRemoved p/s", "ContainerStarted p/a", "ContainerStarted p/t"},
		},
		{
			"a second later where something was made",
			nil,
			[]string{"sandbox:s=running"},
			[]string{"sandbox:s=running", "a=exited"},
			status.ChangeMade, time.Second,
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
				b.settle() // it is under way
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
		go func() { listed <- b.Relist(t.Context()) }() // it shows no pod
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
		b.settle() // it is under way
		if err := b.Relist(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantTold(t, b, "ContainerDied p/a", "ContainerRemoved p/a")
		f.change(func() { f.pods["p"] = newPod("p", "sandbox:s=running"); f.inspectGate["p"] = nil })
		s.changes <- status.PodChange{UID: "p", Kind: status.ChangeMade, At: time.Now()}
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
		s.changes <- status.PodChange{UID: "p", ID: "s", Kind: status.ChangeLeaving, At: time.Now()}
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
