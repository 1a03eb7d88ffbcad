package gc

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// start runs a Collector in a bubble. The function stop stops it and waits for Run.
func start(t *testing.T, n *fakeNode) (c *Collector, log *lockedBuffer, stop func()) {
	t.Helper()
	c, log = newCollector(t, n)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		c.Run(ctx)
	}()
	return c, log, func() {
		cancel()
		<-over
	}
}

func (n *fakeNode) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.passes
}

func TestPassesComeEveryHalfMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNode()
		_, _, stop := start(t, n)
		defer stop()
		want := func(passes int) {
			t.Helper()
			synctest.Wait()
			if got := n.count(); got != passes {
				t.Errorf("%d passes, want %d", got, passes)
			}
		}
		want(1)
		time.Sleep(maxInterval - time.Millisecond)
		want(1)
		time.Sleep(time.Millisecond)
		want(2)
		time.Sleep(maxInterval)
		want(3)
	})
}

func TestAnErrorIsTriedAgainSoonAndLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := goneNode()
		n.fail["cgroup u"] = true
		_, log, stop := start(t, n)
		defer stop()
		time.Sleep(3*time.Minute - time.Second)
		if lines, passes := log.lines("uid=u"), n.count(); lines != 3 || passes != 36 {
			t.Errorf("%d lines, %d passes", lines, passes)
		}
		n.set(n.fail, "cgroup u", false)
		time.Sleep(retryInterval)
		synctest.Wait()
		if !slices.Contains(n.done(), "directory u") {
			t.Error("still not removed")
		}
	})
}

func TestAPodThatHangsOrFailsStopsNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := goneNode()
		n.hang["stop s2"] = true
		for i := range 3 * parallel {
			uid := types.UID(fmt.Sprint("other-", i))
			n.add(uid, nil, []string{fmt.Sprint("sandbox-", i, " over")})
			n.removable[uid] = "files"
		}
		n.fail["volumes other-0"] = true
		_, log, stop := start(t, n)
		defer stop()
		synctest.Wait()
		for i := 1; i < 3*parallel; i++ {
			if !slices.Contains(n.done(), fmt.Sprint("directory other-", i)) {
				t.Errorf("other-%d is still there", i)
			}
		}
		// The removal that hangs times out and is tried again.
		n.set(n.hang, "stop s2", false)
		time.Sleep(podTimeout + retryInterval)
		synctest.Wait()
		if !slices.Contains(n.done(), "directory u") || log.lines("deadline exceeded") != 1 {
			t.Errorf("after the timeout: %v\n%s", n.done(), &log.buf)
		}
	})
}

func TestAPassThatMetABusyPodIsMadeUpFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNode()
		n.add("u", []string{"c2 a exited s", "c1 a exited s"}, []string{"s ready"})
		n.hang["container c1"] = true
		_, _, stop := start(t, n)
		defer stop()
		synctest.Wait()
		// The pod terminates while the collector removes its dead containers.
		n.mu.Lock()
		n.removable["u"] = "files"
		n.mu.Unlock()
		time.Sleep(maxInterval + time.Second)
		n.set(n.hang, "container c1", false)
		time.Sleep(podTimeout)
		synctest.Wait()
		if !slices.Contains(n.done(), "directory u") {
			t.Errorf("still there; done: %v", n.done())
		}
	})
}

func TestRunEndsWhenItsTasksHaveEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := goneNode()
		n.hang["container c2"] = true
		_, log, stop := start(t, n)
		synctest.Wait()
		stop()
		if log.lines("level=WARN") != 0 {
			t.Errorf("the end was logged as an error: %s", &log.buf)
		}
	})
}
