package pleg

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/status"
)

func TestListsAreAMinuteApartWhileEventsCome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		newEventStream(f)
		b := start(t, f, Config{})
		wantLists(t, f, 2500*time.Millisecond, 2)
		if b.Streaming() {
			t.Error("events are relied on before the stream has settled")
		}
		wantLists(t, f, time.Second, 1)
		if !b.Streaming() {
			t.Error("events are not relied on after a list has closed the gap")
		}
		wantLists(t, f, 59*time.Second, 0)
		wantLists(t, f, time.Second, 1)
		wantLists(t, f, 10*time.Minute, 10)
		if err := b.Healthy(); err != nil {
			t.Error(err)
		}
	})
}

func TestListBegunBeforeTheStreamHasSettledClosesNoGap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime()
		newEventStream(f)
		b := start(t, f, Config{})
		gate := make(chan struct{})
		time.Sleep(2500 * time.Millisecond)
		f.change(func() { f.listGate = gate })
		done := make(chan error, 1)
		go func() { done <- b.Relist(t.Context()) }() // from 2.5 s to 5 s
		time.Sleep(2500 * time.Millisecond)
		f.change(func() { f.listGate = nil })
		close(gate)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if b.Streaming() {
			t.Error("a list that was begun before the stream had settled is relied on")
		}
		b.nextList()
		if !b.Streaming() {
			t.Error("the next list is not")
		}
	})
}

func TestListThatFailsClosesNoGap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime()
		f.listErr = errBroken
		newEventStream(f)
		b := start(t, f, Config{})
		wantLists(t, f, 10*time.Second, 10)
		if b.Streaming() {
			t.Error("events are relied on without a list")
		}
		f.change(func() { f.listErr = nil })
		wantLists(t, f, 30*time.Second, 1)
	})
}

func TestEventHasItsPodInspectedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running", "c=running"), newPod("q", "b=running"))
		b, s := follow(t, f, Config{})
		lists, p, q := f.listed(), f.inspected("p"), f.inspected("q")
		f.change(func() { f.pods["p"] = newPod("p", "a=exited", "c=running") })
		s.tell("p")
		wantTold(t, b, "ContainerDied p/a")
		f.change(func() { delete(f.pods, "p") })
		s.tell("p")
		wantTold(t, b, "ContainerDied p/c", "ContainerRemoved p/a", "ContainerRemoved p/c")
		if n := f.inspected("p") - p; n != 2 {
			t.Errorf("%d inspections, want 2", n)
		}
		if f.inspected("q") != q || f.listed() != lists {
			t.Error("others were inspected, or all were listed")
		}
		wantLists(t, f, time.Minute, 1)
		wantTold(t, b)
		b.stop()
		if b.records["p"] != nil {
			t.Error("the record of a pod that is gone stays after a list")
		}
	})
}

func TestLostStreamMeansAListAtOnceAndThenEverySecond(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		b, s := follow(t, f, Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		time.Sleep(20 * time.Second)
		before := f.listed()
		s.refuses(errBroken)
		f.change(func() { f.pods["p"] = newPod("p", "a=exited") }) // its event is lost
		s.breaks <- errBroken
		wantTold(t, b, "ContainerDied p/a")
		if n := f.listed() - before; n != 1 || b.Streaming() {
			t.Errorf("%d lists at once, relied on events = %v", n, b.Streaming())
		}
		wantLists(t, f, 30*time.Second, 30)
		if n := strings.Count(log.String(), "event stream broke"); n != 1 {
			t.Errorf("it was logged %d times:\n%s", n, &log)
		}
		s.refuses(nil)
		time.Sleep(time.Minute)
		if !b.Streaming() {
			t.Error("the events are not relied on again")
		}
	})
}

func TestListUnderWayWhenTheStreamIsLostIsFollowedByAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		b, s := follow(t, f, Config{})
		gate := make(chan struct{})
		f.change(func() { f.listGate = gate })
		done := make(chan error, 1)
		go func() { done <- b.Relist(t.Context()) }()
		synctest.Wait()
		f.change(func() { f.listGate = nil; f.pods["p"] = newPod("p", "a=exited") })
		s.breaks <- errBroken
		synctest.Wait()
		begun := time.Now()
		close(gate)
		wantTold(t, b, "ContainerDied p/a")
		if waited := time.Since(begun); waited > tick {
			t.Errorf("it took %s", waited)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestBackToTheStreamWithBackOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime()
		s := newEventStream(f)
		s.refuses(errBroken)
		begin := time.Now()
		b := start(t, f, Config{})
		time.Sleep(200 * time.Second)
		if d := cmp.Diff([]int{0, 1, 3, 7, 15, 31, 63, 123, 183}, s.opened(begin)); d != "" {
			t.Errorf("the stream was tried at second (-want +got):\n%s", d)
		}
		s.refuses(nil)
		time.Sleep(5 * time.Minute)
		if !b.Streaming() {
			t.Fatal("the events are not relied on")
		}
		again := time.Now()
		n := len(s.opened(begin))
		s.breaks <- errBroken
		time.Sleep(1500 * time.Millisecond)
		if got := s.opened(again)[n:]; len(got) != 1 || got[0] != 1 {
			t.Errorf("after it had held it was tried again at second %v, want 1", got)
		}
	})
}

func TestRuntimeWithoutEventsIsListedEverySecond(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime()
		s := newEventStream(f)
		s.refuses(fmt.Errorf("containerd 1.6: %w", status.ErrNoEvents))
		begin := time.Now()
		start(t, f, Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		wantLists(t, f, 150*time.Second, 150)
		if d := cmp.Diff([]int{0, 60, 120}, s.opened(begin)); d != "" {
			t.Errorf("the stream was tried at second (-want +got):\n%s", d)
		}
		if n := strings.Count(log.String(), "sends no events"); n != 1 || strings.Contains(log.String(), "WARN") {
			t.Errorf("it was logged %d times:\n%s", n, &log)
		}
	})
}

func TestBurstOfEventsIsTwoInspections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		b, s := follow(t, f, Config{})
		before := f.inspected("p")
		gate := make(chan struct{})
		f.change(func() { f.inspectGate["p"] = gate })
		for range 100 {
			s.tell("p")
			time.Sleep(tick)
		}
		f.change(func() { f.inspectGate["p"] = nil; f.pods["p"] = newPod("p", "a=exited") })
		close(gate)
		wantTold(t, b, "ContainerDied p/a")
		if n := f.inspected("p") - before; n != 2 {
			t.Errorf("%d inspections, want 2", n)
		}
	})
}

func TestHangingInspectionHoldsUpNoEventOfAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("hung", "h=running"), newPod("p", "a=running"))
		b, s := follow(t, f, Config{})
		gate := make(chan struct{})
		defer close(gate)
		f.change(func() { f.inspectGate["hung"] = gate; f.pods["p"] = newPod("p", "a=exited") })
		s.tell("hung")
		s.tell("p")
		wantTold(t, b, "ContainerDied p/a")
	})
}

func TestEventThatNamesNoPodIsThatOfItsContainer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "sandbox:s=running"), newPod("q", "a=running"))
		b, s := follow(t, f, Config{})
		q := f.inspected("q")
		f.change(func() { delete(f.pods, "p") })
		s.changes <- status.PodChange{ID: "s", Kind: status.ChangeRemoving, At: time.Now()}
		s.changes <- status.PodChange{ID: "foreign", Kind: status.ChangeRemoving, At: time.Now()}
		wantTold(t, b, "ContainerDied p/s", "ContainerRemoved p/s")
		if f.inspected("q") != q || f.inspected("") != 0 {
			t.Error("a container that nobody knows had something inspected")
		}
	})
}

func TestFailedInspectionIsTriedEverySecondAlsoWhileListsAreRare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		b, s := follow(t, f, Config{})
		f.change(func() { f.pods["p"] = newPod("p", "a=exited"); f.inspectErr["p"] = errBroken })
		before, lists := f.inspected("p"), f.listed()
		s.tell("p")
		time.Sleep(5500 * time.Millisecond)
		if n := f.inspected("p") - before; n != 6 {
			t.Errorf("inspected %d times in 5.5 s, want 6", n)
		}
		f.change(func() { delete(f.inspectErr, "p") })
		time.Sleep(time.Second)
		wantTold(t, b, "ContainerDied p/a")
		before = f.inspected("p")
		time.Sleep(40 * time.Second)
		if n := f.inspected("p") - before; n != 0 || f.listed() != lists {
			t.Errorf("inspected %d times after it had succeeded", n)
		}
	})
}

func TestContainerThatWasMadeAndNotStartedIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "sandbox:s=running"))
		b, s := follow(t, f, Config{})
		before := f.inspected("p")
		f.change(func() { f.pods["p"] = newPod("p", "sandbox:s=running", "a=created") })
		s.changes <- status.PodChange{UID: "p", ID: "a", Kind: status.ChangeCreated, At: time.Now()}
		wantTold(t, b)
		if n := f.inspected("p") - before; n != 0 {
			t.Errorf("inspected %d times before anything could be seen", n)
		}
		time.Sleep(4 * time.Second) // after 1 s and 1 s more
		// Starting the container fails, and the runtime sends no event for this.
		f.change(func() { f.pods["p"] = newPod("p", "sandbox:s=running", "a=exited") })
		time.Sleep(4 * time.Second)
		wantTold(t, b, "ContainerDied p/a")
		if n := f.inspected("p") - before; n < 3 || n > 5 {
			t.Errorf("inspected %d times, want after 1 s, and then less and less often", n)
		}
		before = f.inspected("p")
		time.Sleep(30 * time.Second)
		if n := f.inspected("p") - before; n != 0 {
			t.Errorf("inspected %d times after it had settled", n)
		}
	})
}

func TestContainerThatStartsNeedsNoSecondLook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "sandbox:s=running"))
		b, s := follow(t, f, Config{})
		before := f.inspected("p")
		f.change(func() { f.pods["p"] = newPod("p", "sandbox:s=running", "a=running") })
		s.changes <- status.PodChange{UID: "p", ID: "a", Kind: status.ChangeCreated, At: time.Now()}
		s.tell("p")
		wantTold(t, b, "ContainerStarted p/a")
		time.Sleep(30 * time.Second)
		if n := f.inspected("p") - before; n != 1 {
			t.Errorf("inspected %d times, want 1", n)
		}
	})
}

func TestSandboxThatIsAboutToGoIsLookedAtOnceMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "sandbox:s=exited"))
		b, s := follow(t, f, Config{})
		s.changes <- status.PodChange{UID: "p", ID: "s", Kind: status.ChangeRemoving, At: time.Now()}
		wantTold(t, b)
		f.change(func() { delete(f.pods, "p") })
		time.Sleep(time.Second)
		wantTold(t, b, "ContainerRemoved p/s")
	})
}

func TestStreamThatDoesNotTellOfAChangeIsGivenUp(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		b, s := follow(t, f, Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		begin := time.Now()
		n := len(s.opened(begin))
		f.change(func() { f.pods["p"] = newPod("p", "a=exited") })
		time.Sleep(time.Minute)
		wantTold(t, b, "ContainerDied p/a")
		time.Sleep(time.Second)
		if synctest.Wait(); b.Streaming() || !strings.Contains(log.String(), "it sent no events of containers") {
			t.Errorf("a stream that is silent is relied on:\n%s", &log)
		}
		wantLists(t, f, 2*time.Second, 2)
		time.Sleep(4 * time.Second)
		if !b.Streaming() || len(s.opened(begin)) != n+1 {
			t.Error("it was not opened anew")
		}
	})
}

func TestEventThatComesAfterTheListIsNotHeldAgainstTheStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		b, s := follow(t, f, Config{})
		f.change(func() { f.pods["p"] = newPod("p", "a=exited") })
		if err := b.Relist(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(500 * time.Millisecond)
		s.tell("p")
		time.Sleep(5 * time.Second)
		if !b.Streaming() {
			t.Error("the stream was given up")
		}
	})
}

func TestFailingListsShowWhileEventsCome(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		b, s := follow(t, f, Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		f.change(func() { f.listErr = errBroken })
		time.Sleep(time.Minute)
		wantLists(t, f, 10*time.Second, 10)
		if !strings.Contains(log.String(), "pod list failed") {
			t.Errorf("the log does not tell:\n%s", &log)
		}
		f.change(func() { f.pods["p"] = newPod("p", "a=exited") })
		s.tell("p")
		wantTold(t, b, "ContainerDied p/a") // events go on
		time.Sleep(2 * time.Minute)
		if err := b.Healthy(); err == nil || !strings.Contains(err.Error(), "broken") {
			t.Errorf("after 3 min: %v", err)
		}
		f.change(func() { f.listErr = nil })
		b.nextList()
		if err := b.Healthy(); err != nil {
			t.Error(err)
		}
		wantLists(t, f, time.Minute, 1)
	})
}

func TestHappened(t *testing.T) {
	t.Parallel()
	now := time.Now()
	wall := now.Round(0)
	tests := []struct {
		name     string
		at       time.Time
		followed time.Duration
		want     time.Time
	}{
		{"when the runtime says", wall.Add(-5 * time.Millisecond), time.Hour, now.Add(-5 * time.Millisecond)},
		{"never where the runtime does not say", time.Time{}, time.Hour, time.Time{}},
		{"never where it was before events were followed", wall.Add(-2 * time.Second), time.Second, time.Time{}},
		{"now where that is yet to come", wall.Add(time.Hour), time.Hour, now},
		{"never where that is too long ago to be true", wall.Add(-61 * time.Second), time.Hour, time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := eventTime(tt.at, now, tt.followed)
			if !got.Equal(tt.want) || !got.IsZero() && !strings.Contains(got.String(), " m=") {
				t.Errorf("%s, want %s by the monotonic clock", got, tt.want)
			}
		})
	}
}

func TestEventFromBeforeTheClockWasSetForwardIsNotMeasured(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var n notes
		f := newFakeRuntime(newPod("p", "a=running"))
		b, s := follow(t, f, Config{Observer: &n})
		time.Sleep(2 * time.Hour)
		for age, want := range map[time.Duration]bool{time.Second: true, time.Hour: false} {
			n.take()
			s.changes <- status.PodChange{UID: "p", Kind: status.ChangeVisible, At: time.Now().Round(0).Add(-age)}
			b.settle()
			if got := slices.ContainsFunc(n.take(), func(l string) bool { return strings.HasPrefix(l, "lag ") }); got != want {
				t.Errorf("an event of %s ago is measured: %v, want %v", age, got, want)
			}
		}
	})
}
