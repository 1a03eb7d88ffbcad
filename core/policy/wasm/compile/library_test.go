package compile

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestAModuleIsCompiledOnceAndItsCodeShared(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache")
	a, b := acquire(t, f, small(7)), acquire(t, f, small(7))
	other := acquire(t, f, small(8))
	if a.Module() != b.Module() || a.Digest() != b.Digest() || a.Module() == other.Module() {
		t.Error("not one piece of code for each module")
	}
	a.Release()
	a.Release() // the second release has no effect
	answers(t, f, b, 7)
	b.Release()
	if len(f.held) != 1 {
		t.Errorf("held %v", f.held)
	}
	again := acquire(t, f, small(7))
	answers(t, f, again, 7)
	answers(t, f, other, 8)
	again.Release()
	other.Release()
	if n := f.children(t); n != 2 || len(f.held) != 0 {
		t.Errorf("%d children, held %v", n, f.held)
	}
	f.isClean(t)
	if f.out.String() != "" {
		t.Errorf("log %s", f.out)
	}
}

func TestManyWhoWantAModuleAtOnceGetItFromOneChild(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache")
	var group sync.WaitGroup
	for i := range 40 {
		group.Go(func() {
			code, err := f.Acquire(t.Context(), string(rune('a'+i%3)), Whole(small(int32(i%2))))
			if err != nil {
				t.Error(err)
				return
			}
			answers(t, f, code, int32(i%2))
			code.Release()
		})
	}
	group.Wait()
	if n := f.children(t); n != 2 || len(f.held) != 0 {
		t.Errorf("%d children, held %v", n, f.held)
	}
	f.isClean(t)
}

func TestCodeIsThereAfterARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/cache"
	f := library(t, dir)
	code := acquire(t, f, small(1))
	if !f.cache.Ready(code.Digest()) || f.cache.Ready(Digest{1}) {
		t.Error("ready is what is cached")
	}
	code.Release()
	next := library(t, dir)
	code = acquire(t, next, small(1))
	answers(t, next, code, 1)
	if code.Cost().CPU <= 0 || code.Cost().Peak <= 0 {
		t.Errorf("cost %+v", code.Cost())
	}
	code.Release()
	if n := next.children(t); n != 0 {
		t.Errorf("%d children", n)
	}
}

func TestWhoeverWaitsMayGoAndTheOthersAreServed(t *testing.T) {
	t.Parallel()
	fifo := makeFifo(t)
	f := library(t, t.TempDir()+"/cache", acting("asleep", fifo))
	ctx, stop := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := f.Acquire(ctx, "a", Whole(small(1)))
		first <- err
	}()
	pid := announced(t, fifo)
	// While that child has the turn, another caller waits for the same module and then
	// cancels.
	waiting, leave := context.WithCancelCause(t.Context())
	second := make(chan error, 1)
	go func() {
		_, err := f.Acquire(waiting, "a", Whole(small(1)))
		second <- err
	}()
	left := errors.New("tired of waiting")
	leave(left)
	if err := <-second; !errors.Is(err, left) {
		t.Errorf("who left: %v", err)
	}
	stop()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("whose context ended: %v", err)
	}
	ends(t, pid)
	// The module must not be refused afterwards.
	if r := f.cache.Refused(digestOf(small(1))); r != nil {
		t.Errorf("remembered: %v", r)
	}
	f.cache.children.command = []string{"/proc/self/exe", childArgument}
	code := acquire(t, f, small(1))
	answers(t, f, code, 1)
	code.Release()
	f.isClean(t)
}

func TestWhenTheFirstGivesUpTheNextCompiles(t *testing.T) {
	t.Parallel()
	fifo := makeFifo(t)
	f := library(t, t.TempDir()+"/cache", acting("asleep", fifo))
	ctx, stop := context.WithCancel(t.Context())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := f.Acquire(ctx, "a", Whole(small(1)))
		first <- err
	}()
	announced(t, fifo)
	ctx2, stop2 := context.WithCancel(t.Context())
	go func() {
		_, err := f.Acquire(ctx2, "b", Whole(small(1)))
		second <- err
	}()
	stop()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	ends(t, announced(t, fifo), stop2) // the child of the second caller
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestAModuleOfManyMegabytesIsNotTried(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache")
	_, err := f.Acquire(t.Context(), "", Whole(make([]byte, maxModule+1)))
	if err == nil || !strings.Contains(err.Error(), "at most 33554432 are compiled") || f.children(t) != 0 {
		t.Errorf("%v, %d children", err, f.children(t))
	}
}

func TestTwoAgentsUseOneDirectoryAtOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	var group sync.WaitGroup
	for range 3 { // three other processes
		group.Go(func() {
			text, err := command(t, "agent that works", dir, "").Output()
			if err != nil || string(text) != "ten plugins\n" {
				t.Errorf("%v: %s", err, text)
			}
		})
	}
	for range 2 { // two goroutines of this process
		f := library(t, dir)
		group.Go(func() {
			for i := range int32(10) {
				code, err := f.Acquire(t.Context(), "", Whole(small(i)))
				if err != nil {
					t.Error(err)
					return
				}
				answers(t, f, code, i)
				code.Release()
			}
			if f.out.String() != "" {
				t.Errorf("log %s", f.out)
			}
			f.isClean(t)
		})
	}
	group.Wait()
}

func TestWhatAnotherAgentCompilesMeanwhileIsNotCompiledAgain(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(f *fixture, turn *ticket, done <-chan error) error{
		"found when the turn comes": func(f *fixture, turn *ticket, done <-chan error) error {
			f.turns.leave(turn)
			return <-done
		},
		"found without a turn, as somebody loads it": func(f *fixture, turn *ticket, done <-chan error) error {
			acquire(t, f, small(1)).Release()
			defer f.turns.leave(turn)
			return <-done
		},
	} {
		f := library(t, t.TempDir()+"/cache")
		f.turns.places = 1
		turn := f.turns.join("b", Digest{}, false)
		done := make(chan error, 1)
		go func() {
			code, err := f.Acquire(t.Context(), "a", Whole(small(1)))
			if err == nil {
				code.Release()
			}
			done <- err
		}()
		for waits := false; !waits; runtime.Gosched() {
			f.turns.mu.Lock()
			waits = len(f.turns.waiting) == 1
			f.turns.mu.Unlock()
		}
		acquire(t, library(t, f.dir), small(1)).Release()
		if err := end(f, turn, done); err != nil || f.children(t) != 0 {
			t.Errorf("%s: %v, %d children", name, err, f.children(t))
		}
	}
}

func TestATenantThatSpentItsBudgetHasNothingCompiledForAWhile(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache", func(o *Options) { o.PerHour = map[string]time.Duration{"a": time.Nanosecond} })
	get := func(tenant string, n int32) error {
		code, err := f.Acquire(t.Context(), tenant, Whole(small(n)))
		if err == nil {
			answers(t, f, code, n)
			code.Release()
		}
		return err
	}
	if err := get("a", 1); err != nil {
		t.Fatal(err)
	}
	if _, spent := errors.AsType[*Spent](get("a", 2)); !spent || f.children(t) != 1 {
		t.Errorf("error %v, %d children", get("a", 2), f.children(t))
	}
	if err := get("a", 1); err != nil {
		t.Errorf("what is in the cache: %v", err)
	}
	for _, other := range []string{"b", ""} {
		if err := get(other, int32(3+len(other))); err != nil {
			t.Errorf("%q: %v", other, err)
		}
	}
	f.pass(1000 * time.Hour)
	if _, spent := errors.AsType[*Spent](get("a", 2)); !spent {
		t.Error("what one took too much is not waited for")
	}
	f.budgets.of["a"].left = 1
	if err := get("a", 2); err != nil {
		t.Errorf("after that: %v", err)
	}
}
