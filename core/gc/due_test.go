package gc

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/status"
)

// knows copies the pods of the node to the pods that are known without a call.
func (n *fakeNode) knows() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.known = nil
	for _, p := range n.pods {
		n.known = append(n.known, status.ObservedPod{
			UID: p.UID, Name: p.Name, Namespace: p.Namespace,
			Containers: slices.Clone(p.Containers), Sandboxes: slices.Clone(p.Sandboxes),
		})
	}
}

// quietly starts a Collector, waits for the end of its first pass, and clears the recorded calls.
func quietly(t *testing.T, n *fakeNode) (c *Collector, stop func()) {
	t.Helper()
	c, _, stop = start(t, n)
	time.Sleep(lookInterval / 2)
	synctest.Wait()
	n.mu.Lock()
	n.calls = nil
	n.mu.Unlock()
	return c, stop
}

func TestWhatAnEndedPodLeftGoesAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := goneNode()
		delete(n.removable, "u")
		c, stop := quietly(t, n)
		defer stop()
		n.mu.Lock()
		n.removable["u"] = "files"
		n.mu.Unlock()
		lists := n.count()
		c.Ended("u")
		synctest.Wait()
		if !slices.Contains(n.done(), "directory u") {
			t.Errorf("still there; done: %v", n.done())
		}
		if n.count() != lists {
			t.Error("all pods were listed for one")
		}
	})
}

func TestAPodThatBecomesRemovableGoesWithinASecondWhatever(t *testing.T) {
	t.Parallel()
	for name, leaves := range map[string]func(n *fakeNode){
		"it left":              func(n *fakeNode) { n.add("late", []string{"l1 main exited l"}, []string{"l over"}) },
		"and a directory only": func(n *fakeNode) { n.own("late", "files") },
		"and no container":     func(n *fakeNode) { n.add("late", nil, []string{"l over", "k over"}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := newNode()
				leaves(n)
				n.knows()
				_, stop := quietly(t, n)
				defer stop()
				n.knows()
				time.Sleep(retryInterval) // only then is the source of the pod listed
				n.mu.Lock()
				n.removable["late"] = "files"
				n.mu.Unlock()
				time.Sleep(lookInterval)
				synctest.Wait()
				if !slices.Contains(n.done(), "directory late") {
					t.Errorf("still there; done: %v", n.done())
				}
			})
		})
	}
}

func TestADeadInstanceBeyondTheLimitGoesWithinASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNode()
		n.add("u", []string{"c2 a running s", "c1 a exited s"}, []string{"s ready"})
		n.knows()
		_, stop := quietly(t, n)
		defer stop()
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if done := n.done(); len(done) != 0 {
			t.Fatalf("within the limits, yet %v", done)
		}
		n.mu.Lock()
		n.pods["u"].Containers[0].State = status.StateExited
		n.mu.Unlock()
		n.knows()
		time.Sleep(lookInterval)
		synctest.Wait()
		if got := n.done(); !slices.Equal(got, []string{"container c1"}) {
			t.Errorf("done: %v", got)
		}
		// The removed container is still known for a while. That starts no further removal.
		time.Sleep(retryInterval - lookInterval)
		synctest.Wait()
		if got := n.done(); len(got) != 1 {
			t.Errorf("done again: %v", got)
		}
	})
}

func TestALookThatFindsNothingAsksTheRuntimeNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNode()
		n.add("u", []string{"c2 a running s", "c1 a exited s"}, []string{"s ready"})
		n.add("done", []string{"d1 a exited t"}, []string{"t over"})
		n.knows()
		_, stop := quietly(t, n)
		defer stop()
		lists := n.count()
		time.Sleep(maxInterval - 2*time.Second)
		synctest.Wait()
		if n.count() != lists || n.inspected() != 0 || len(n.done()) != 0 {
			t.Errorf("%d lists, %d inspections, %v", n.count()-lists, n.inspected(), n.done())
		}
	})
}

func TestOfAPodThatIsOverOnlyWhatShowsItStays(t *testing.T) {
	t.Parallel()
	n := goneNode()
	delete(n.removable, "u")
	n.over["u"] = true
	n.pods["u"].Sandboxes[0].Ready = false
	c, _ := newCollector(t, n)
	once(t, c)
	want := []string{"container c2", "container c1", "stop s2", "sandbox s2", "stop s1", "sandbox s1"}
	if got := n.done(); !slices.Equal(got, want) {
		t.Errorf("done: %v, want %v", got, want)
	}
}

func TestOfAPodThatIsOverNothingGoesWhileSomethingRuns(t *testing.T) {
	t.Parallel()
	n := newNode()
	n.add("u", []string{"c3 a running s2", "c2 a exited s2", "c1 a exited s1"}, []string{"s2 ready", "s1 over"})
	n.over["u"] = true
	c, _ := newCollector(t, n)
	once(t, c)
	if got := n.done(); len(got) > 0 {
		t.Errorf("done: %v", got)
	}
}

func TestStopLetsACallFinishAndBeginsNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := goneNode()
		n.slow = 3 * time.Second
		_, log, stop := start(t, n)
		time.Sleep(7 * time.Second) // the list, the question whether the pod may go, and the removal of c2 under way
		begun := time.Now()
		stop()
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("took %s, the call takes 3s", took)
		}
		if done := n.done(); len(done) != 1 || log.lines("level=WARN") != 0 {
			t.Errorf("done: %v\n%s", done, &log.buf)
		}
	})
}

func TestStopGivesUpACallAfterTenSeconds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ limit, want time.Duration }{
		"of its own":               {time.Hour, 10 * time.Second},
		"or when its context ends": {4 * time.Second, 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := goneNode()
				n.hang["container c2"] = true
				c, log, stop := start(t, n)
				defer stop()
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), tt.limit)
				defer cancel()
				begun := time.Now()
				c.Stop(ctx)
				if took := time.Since(begun); took != tt.want {
					t.Errorf("took %s, want %s", took, tt.want)
				}
				c.Ended("u")
				time.Sleep(maxInterval)
				if done := n.done(); len(done) != 0 || log.lines("level=WARN") != 0 {
					t.Errorf("done: %v\n%s", done, &log.buf)
				}
			})
		})
	}
}
