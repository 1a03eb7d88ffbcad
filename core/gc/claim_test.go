package gc

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestWaitReturnsWhenTheOldPodIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := goneNode()
		c, _ := newCollector(t, n)
		check(t, c.Wait(t.Context(), "u"))

		release, ok := c.claim("u", "files")
		if !ok {
			t.Fatal("not removable")
		}
		check(t, c.Wait(t.Context(), "another"))
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.Wait(ended, "u"); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		var waited bool
		var worker sync.WaitGroup
		worker.Go(func() {
			check(t, c.Wait(t.Context(), "u"))
			waited = true
		})
		synctest.Wait()
		if waited {
			t.Error("went on while the pod was being removed")
		}
		release()
		worker.Wait()
	})
}

func TestAPodThatMayNotGoIsNotClaimed(t *testing.T) {
	t.Parallel()
	n := newNode()
	c, _ := newCollector(t, n)
	if _, ok := c.claim("u", "files"); ok {
		t.Fatal("claimed")
	}
	check(t, c.Wait(t.Context(), "u"))
}

// The test is repeated for every moment of a pod's removal: the pod comes back at that moment. Each
// step of the removal takes a millisecond.
func TestAPodThatComesBackKeepsWhatItMakes(t *testing.T) {
	t.Parallel()
	for at := range 2 * (len(everything) + 2) {
		synctest.Test(t, func(t *testing.T) {
			n := goneNode()
			n.slow = time.Millisecond
			c, _ := newCollector(t, n)
			ctx, cancel := context.WithCancel(t.Context())
			var collector sync.WaitGroup
			collector.Go(func() {
				defer c.tasks.Wait()
				for ctx.Err() == nil {
					c.pass(ctx)
					time.Sleep(time.Millisecond)
				}
			})
			time.Sleep(time.Duration(at)*time.Millisecond/2 + time.Microsecond)

			n.mu.Lock()
			delete(n.removable, "u")
			n.mu.Unlock()
			check(t, c.Wait(t.Context(), "u"))
			n.mu.Lock()
			n.own("u", "files")
			n.cgroups["u"] = true
			n.mu.Unlock()
			time.Sleep(time.Second)

			n.mu.Lock()
			if n.owners["u"] == nil || !n.cgroups["u"] {
				t.Errorf("back after %d steps: the new directory or cgroup was removed", at/2)
			}
			n.mu.Unlock()
			cancel()
			collector.Wait()
		})
	}
}
