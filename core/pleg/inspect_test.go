package pleg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

func TestHangingInspectionHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("hung", "h=running"), newPod("ok", "a=running"))
		gate := make(chan struct{})
		f.inspectGate["hung"] = gate
		b := start(t, f, Config{})
		wantTold(t, b, "ContainerStarted ok/a")
		start := time.Now()
		for i := range 5 {
			id := fmt.Sprintf("a%d", i)
			f.change(func() { f.pods["ok"] = newPod("ok", id+"=exited") })
			if got := b.answer("ok", 1500*time.Millisecond); got != id+"=exited" {
				t.Errorf("the other pod: %q", got)
			}
			if got := b.answer("unknown", 1500*time.Millisecond); got != "" {
				t.Errorf("a pod that does not exist: %q", got)
			}
			b.nextList()
		}
		if _, at := b.cache.Pods(); at.Before(start) {
			t.Error("no list since the inspection began to hang")
		}
		if err := b.Healthy(); err != nil {
			t.Error(err)
		}
		if got := b.answer("hung", 10*time.Second); got != "no answer" {
			t.Errorf("the hung pod was answered %q without an inspection", got)
		}
		if n := f.inspected("hung"); n != 1 {
			t.Errorf("the hung pod is inspected %d times", n)
		}
		b.told()
		close(gate)
		wantTold(t, b, "ContainerStarted hung/h")
		if n := f.inspected("hung"); n != 2 {
			t.Errorf("inspected %d times, want once more for who has asked, and not for every list", n)
		}
		if got := b.answer("hung", 1500*time.Millisecond); got != "h=running" {
			t.Errorf("after it came back: %q", got)
		}
	})
}

func TestHungPodIsNotAnsweredFromBeforeItsChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		b := start(t, f, Config{})
		gate := make(chan struct{})
		f.change(func() {
			f.pods["p"] = newPod("p", "a=exited")
			f.inspectGate["p"] = gate
		})
		asked := time.Now()
		if got := b.answer("p", 30*time.Second); got != "no answer" {
			t.Errorf("answered %q, from before the pod changed", got)
		}
		close(gate)
		p, err := b.cache.GetNewerThan(t.Context(), "p", asked)
		if err != nil || shown(p) != "a=exited" {
			t.Errorf("after it came back: %q, %v", shown(p), err)
		}
	})
}

func TestHungPodFailsAfterTheTimeoutAndIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		f.inspectGate["p"] = make(chan struct{})
		b := start(t, f, Config{})
		start := time.Now()
		_, err := b.cache.GetNewerThan(t.Context(), "p", start.Add(-1))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 2*time.Minute {
			t.Errorf("after %s: %v, want a timeout after 2 min", time.Since(start), err)
		}
		b.nextList()
		if n := f.inspected("p"); n != 2 {
			t.Errorf("inspected %d times, want once more", n)
		}
	})
}

func TestHoweverManyPodsHangOthersWaitLittleLongerThanForOneSlot(t *testing.T) {
	t.Parallel()
	for _, hung := range []int{30, 200} {
		t.Run(strconv.Itoa(hung), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeRuntime(newPod("z", "a=running"))
				gate := make(chan struct{})
				for i := range hung {
					uid := types.UID(fmt.Sprintf("hung%d", i))
					f.pods[uid] = newPod(uid, "h=running")
					f.inspectGate[uid] = gate
				}
				b := start(t, f, Config{})
				time.Sleep(slotTime + slotTime*3/4)
				wantTold(t, b, "ContainerStarted z/a")
				b.told()
				close(gate)
				b.settle()
				if n := b.hanging.Load(); n != 0 {
					t.Errorf("%d inspections still count as hanging", n)
				}
			})
		})
	}
}

func TestListNewerThanAnInspectionIsLookedIntoAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		gate := make(chan struct{})
		f.inspectGate["p"] = gate // the inspection has seen "a=running" and waits
		b := start(t, f, Config{})
		f.change(func() { f.pods["p"] = newPod("p", "a=exited") })
		b.nextList()
		f.change(func() { f.inspectGate["p"] = nil })
		asked := time.Now()
		close(gate)
		wantTold(t, b, "ContainerDied p/a", "ContainerStarted p/a")
		if p, _ := b.cache.Get("p"); shown(p) != "a=exited" || time.Since(asked) > tick {
			t.Errorf("cache has %q after %s", shown(p), time.Since(asked))
		}
	})
}

func TestInspectionOfAPodThatWentMeanwhileCountsForNothing(t *testing.T) {
	t.Parallel()
	for _, deaf := range []bool{false, true} {
		t.Run(fmt.Sprintf("deaf runtime: %v", deaf), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeRuntime(newPod("p", "a=running"))
				f.deaf = deaf
				b := start(t, f, Config{})
				gate := make(chan struct{})
				f.change(func() { f.pods["p"] = newPod("p", "a=exited"); f.inspectGate["p"] = gate })
				b.nextList()
				f.change(func() { delete(f.pods, "p"); f.inspectGate["p"] = nil })
				b.nextList()
				wantTold(t, b, "ContainerDied p/a", "ContainerRemoved p/a", "ContainerStarted p/a")
				if p, err := b.cache.Get("p"); err != nil || shown(p) != "" {
					t.Errorf("cache has %q, %v", shown(p), err)
				}
				if got := b.answer("p", 1500*time.Millisecond); got != "" {
					t.Errorf("answered %q", got)
				}
				if deaf { // otherwise its context has ended it
					close(gate)
				}
				b.nextList() // removes the record that only the reader needed
				b.stop()
				if len(b.records) != 0 {
					t.Error("the record stays")
				}
			})
		})
	}
}

func TestPodThatComesBackBeforeItsInspectionEndsIsInspectedAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		f.deaf = true
		gate := make(chan struct{})
		f.inspectGate["p"] = gate
		b := start(t, f, Config{})
		f.change(func() { delete(f.pods, "p"); f.inspectGate["p"] = nil })
		b.nextList()
		f.change(func() { f.pods["p"] = newPod("p", "b=running") })
		b.nextList()
		wantTold(t, b)
		asked := time.Now()
		close(gate)
		wantTold(t, b, "ContainerStarted p/b")
		if waited := time.Since(asked); waited > tick {
			t.Errorf("waited %s for a list", waited)
		}
	})
}

func TestRunWaitsForCallsInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		f.deaf = true
		gate := make(chan struct{})
		f.inspectGate["p"] = gate
		b := start(t, f, Config{})
		stopped := make(chan struct{})
		go func() {
			b.stop()
			close(stopped)
		}()
		synctest.Wait()
		select {
		case <-stopped:
			t.Error("Run has returned with an inspection in flight")
		default:
		}
		close(gate)
		<-stopped
	})
}

func TestWhoAskedComesFirstAndOthersEveryFourthTurn(t *testing.T) {
	t.Parallel()
	var q queue
	for i := range 3 {
		q.add(types.UID(fmt.Sprintf("told%d", i)), false)
	}
	for i := range 5 {
		q.add(types.UID(fmt.Sprintf("asked%d", i)), true)
	}
	var got []string
	for {
		uid, ok := q.next()
		if !ok {
			break
		}
		got = append(got, string(uid))
	}
	if want := strings.Fields("asked0 asked1 asked2 told0 asked3 asked4 told1 told2"); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestInspectionThatWaitsIsForAllWhoComeBeforeItBegins checks that a pod waits for a slot only
// once, even if several callers ask for it.
func TestInspectionThatWaitsIsForAllWhoComeBeforeItBegins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("busy", "x=running"), newPod("p", "a=running", "b=running"))
		b, s := follow(t, f, Config{MaxInspect: 1})
		gate := make(chan struct{})
		f.change(func() { f.inspectGate["busy"] = gate })
		b.Refresh("busy")
		synctest.Wait()
		n := f.inspected("p")
		answers := make(chan string, 3)
		for range 3 {
			s.tell("p")
			go func(asked time.Time) {
				p, err := b.cache.GetNewerThan(t.Context(), "p", asked)
				answers <- fmt.Sprint(shown(p), err)
			}(time.Now())
			b.Refresh("p")
			time.Sleep(10 * time.Millisecond)
		}
		if f.inspected("p") != n {
			t.Error("inspected without a slot")
		}
		f.change(func() { f.pods["p"] = newPod("p", "a=exited", "b=running") })
		close(gate)
		for range 3 {
			if got := <-answers; got != "a=exited b=running<nil>" {
				t.Errorf("answered %q", got)
			}
		}
		wantTold(t, b, "ContainerDied p/a")
		if n := f.inspected("p") - n; n != 1 {
			t.Errorf("%d inspections, want 1", n)
		}
	})
}

func TestPodSomebodyAsksAboutIsInspectedBeforeThoseThatOnlyEventsAreAbout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pods := []status.ObservedPod{newPod("busy", "x=running"), newPod("asked", "a=running")}
		for i := range 10 {
			pods = append(pods, newPod(types.UID(fmt.Sprintf("told%d", i)), "a=running"))
		}
		f := newFakeRuntime(pods...)
		b, s := follow(t, f, Config{MaxInspect: 1})
		busy, rest := make(chan struct{}), make(chan struct{})
		defer close(rest)
		f.change(func() {
			f.inspectGate["busy"] = busy
			for i := range 10 {
				f.inspectGate[types.UID(fmt.Sprintf("told%d", i))] = rest
			}
		})
		b.Refresh("busy")
		synctest.Wait()
		for i := range 10 {
			s.tell(types.UID(fmt.Sprintf("told%d", i)))
		}
		s.tell("asked")
		synctest.Wait()
		n := f.inspected("asked")
		b.Refresh("asked")
		synctest.Wait()
		close(busy)
		b.settle()
		if f.inspected("asked") == n {
			t.Error("it waits for the others")
		}
	})
}

func TestPodThatGoesBeforeItsInspectionBeginsNeedsNone(t *testing.T) {
	t.Parallel()
	for name, hangs := range map[string]types.UID{"others are inspected": "busy", "it is inspected itself": "p"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeRuntime(newPod("busy", "x=running"), newPod("p", "a=running"))
				f.deaf = true
				b, _ := follow(t, f, Config{MaxInspect: 1})
				gate := make(chan struct{})
				f.change(func() { f.inspectGate[hangs] = gate })
				b.Refresh(hangs)
				b.settle()
				b.Refresh("p")
				time.Sleep(time.Millisecond)
				n := f.inspected("p")
				f.change(func() { delete(f.pods, "p") })
				if err := b.Relist(t.Context()); err != nil {
					t.Fatal(err)
				}
				wantTold(t, b, "ContainerDied p/a", "ContainerRemoved p/a")
				close(gate)
				b.settle()
				if f.inspected("p") != n {
					t.Error("it was inspected")
				}
				b.stop()
				if b.records["p"] != nil {
					t.Error("its record stays")
				}
			})
		})
	}
}

func TestListBegunBeforeAnInspectionThatHadToWaitUndoesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("busy", "x=running"))
		b, _ := follow(t, f, Config{MaxInspect: 1})
		busy, list := make(chan struct{}), make(chan struct{})
		f.change(func() { f.inspectGate["busy"] = busy; f.listGate = list })
		b.Refresh("busy")
		synctest.Wait()
		b.Refresh("p")
		time.Sleep(time.Millisecond)
		listed := make(chan error, 1)
		go func() { listed <- b.Relist(t.Context()) }() // it sees no such pod
		time.Sleep(time.Millisecond)
		f.change(func() { f.pods["p"] = newPod("p", "a=running"); f.listGate = nil })
		close(busy)
		wantTold(t, b, "ContainerStarted p/a")
		close(list)
		if err := <-listed; err != nil {
			t.Fatal(err)
		}
		wantTold(t, b)
	})
}

func TestEventWhoseInspectionWaitsIsNotMissing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("busy", "x=running"), newPod("p", "a=running", "b=running"))
		b, s := follow(t, f, Config{MaxInspect: 1})
		gate := make(chan struct{})
		defer close(gate)
		f.change(func() {
			f.inspectGate["busy"] = gate
			f.pods["p"] = newPod("p", "a=exited", "b=running")
		})
		b.Refresh("busy")
		synctest.Wait()
		s.tell("p")
		time.Sleep(time.Millisecond)
		if err := b.Relist(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(slotTime * 3 / 4)
		if !b.Streaming() {
			t.Error("the stream was given up, for an event that it told of")
		}
	})
}
