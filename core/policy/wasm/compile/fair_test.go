package compile

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"
)

// TestLibrary_aBombHoldsNoOtherOwnerUp checks that other owners do not wait for a bomb to
// end.
func TestLibrary_aBombHoldsNoOtherOwnerUp(t *testing.T) {
	t.Parallel()
	fifo := makeFifo(t)
	f := library(t, t.TempDir()+"/cache", acting("asleep", fifo))
	ctx, stop := context.WithCancel(t.Context())
	bomb := make(chan error, 1)
	go func() {
		_, err := f.Acquire(ctx, "a", Whole(small(1)))
		bomb <- err
	}()
	pid := announced(t, fifo) // this child never terminates
	f.awaitChild()
	f.cache.children.command = []string{"/proc/self/exe", childArgument}
	for n, owner := range []string{"b", "", "c", "b"} {
		code := acquireAs(t, f, owner, small(int32(2+n)))
		answers(t, f, code, int32(2+n))
		code.Release()
	}
	select {
	case err := <-bomb:
		t.Errorf("the bomb has ended: %v", err)
	default:
	}
	stop()
	if err := <-bomb; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	ends(t, pid)
}

// awaitChild waits until the queue has a running child.
func (f *fixture) awaitChild() {
	for started := false; !started; runtime.Gosched() {
		f.turns.mu.Lock()
		started = len(f.turns.running) == 1 && f.turns.running[0].ran != nil
		f.turns.mu.Unlock()
	}
}

func acquireAs(t *testing.T, f *fixture, owner string, module []byte) *Code {
	t.Helper()
	code, err := f.Acquire(t.Context(), owner, Whole(module))
	if err != nil {
		t.Fatalf("%q: %v; log: %s", owner, err, f.out)
	}
	return code
}

// TestLibrary_aDisplacedModuleIsCompiledInTheEnd checks a bomb that is displaced because no
// place is free: the bomb is compiled later, and its owner pays for both attempts.
func TestLibrary_aDisplacedModuleIsCompiledInTheEnd(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache", func(o *Options) {
		o.PerHour = map[string]time.Duration{"a": time.Hour}
		o.Limits = Limits{CPU: 5 * time.Minute, Memory: 8 << 30} // for the race detector
	})
	f.turns.places, f.turns.grace = 1, 300*time.Millisecond
	loops := 300
	if slow {
		loops = 120
	}
	module := bomb(1000, loops)
	done := make(chan *Code, 1)
	go func() {
		code, err := f.Acquire(t.Context(), "a", Whole(module))
		if err != nil {
			t.Error(err)
		}
		done <- code
	}()
	f.awaitChild()
	code := acquireAs(t, f, "b", small(1))
	answers(t, f, code, 1)
	code.Release()
	code = <-done
	if code == nil {
		return
	}
	defer code.Release()
	f.budgets.mu.Lock()
	defer f.budgets.mu.Unlock()
	if n, paid := f.children(t), time.Hour-f.budgets.of["a"].left; n != 3 || paid <= code.Cost().CPU {
		t.Errorf("%d children; its owner paid %v for them, the last took %v", n, paid, code.Cost().CPU)
	}
}
