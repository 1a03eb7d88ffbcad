package pleg

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
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
				if deaf { // else it was told to stop
					close(gate)
				}
				b.nextList() // forgets whom only the reader asked about
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
