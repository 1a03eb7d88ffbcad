package pleg

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

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

// While all slots are taken a pod waits for its turn once, whoever wants it.
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
		go func() { listed <- b.Relist(t.Context()) }() // sees no such pod
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
