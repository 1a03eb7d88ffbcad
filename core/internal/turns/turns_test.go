package turns

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTake_waitsForTheOwnersOwnWorkOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := New(3)
		var all []func()
		for range 3 {
			done, ok := turns.Take(t.Context(), "greedy")
			if !ok {
				t.Fatal("a place is missing")
			}
			all = append(all, done)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, ok := turns.Take(ctx, "greedy"); ok {
			t.Error("one place too many")
		}
		done, ok := turns.Take(t.Context(), "modest")
		if !ok {
			t.Fatal("another owner has to wait")
		}
		done()
		for _, done := range all {
			done()
		}
		if len(turns.owners) != 0 {
			t.Errorf("%d owners without work are kept", len(turns.owners))
		}
	})
}

func TestTake_isFirstComeFirstServed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := New(1)
		var order []int
		var all sync.WaitGroup
		began := time.Now()
		for i := range 4 {
			all.Go(func() {
				done, ok := turns.Take(t.Context(), "a")
				if !ok {
					t.Error("no place")
					return
				}
				defer done()
				order = append(order, i)
				time.Sleep(time.Second)
			})
			synctest.Wait() // this goroutine waits before the next one starts
		}
		all.Wait()
		if diff := cmp.Diff([]int{0, 1, 2, 3}, order); diff != "" {
			t.Error(diff)
		}
		if took := time.Since(began); took != 4*time.Second {
			t.Errorf("took %v", took)
		}
	})
}
