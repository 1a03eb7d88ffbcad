package runtime

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestPullsTakeTurnsInTheOrderTheyWereAskedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPulls(time.Now)
		var order []int
		var all sync.WaitGroup
		began := time.Now()
		for i := range 4 {
			all.Go(func() {
				done, err := p.wait(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				defer done()
				order = append(order, i)
				time.Sleep(time.Second)
			})
			synctest.Wait() // this one is in line before the next one asks
		}
		all.Wait()
		mustEqual(t, "order", []int{0, 1, 2, 3}, order)
		mustEqual(t, "time for four pulls of a second", 4*time.Second, time.Since(began))
	})
}

func TestWhoGivesUpLeavesTheLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPulls(time.Now)
		done, err := p.wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := p.wait(ctx); err == nil {
			t.Error("two have the turn")
		}
		done()
		if done, err = p.wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		done()
	})
}

func TestOldFailuresAreForgotten(t *testing.T) {
	t.Parallel()
	now := &clock{now: time.Unix(0, 0)}
	p := newPulls(now.Now)
	p.failed(pullKey{"a", "x"}, context.Canceled)
	now.advance(2*pullBackOffMax + time.Second)
	p.failed(pullKey{"b", "x"}, context.Canceled)
	mustEqual(t, "failures kept", 1, len(p.failures))
}
