package pleg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// crowded is a runtime in which many pods run.
type crowded []status.ObservedPod

func (c crowded) ListPods(context.Context) ([]status.ObservedPod, error) { return c, nil }

func (c crowded) InspectPod(_ context.Context, uid types.UID) (status.ObservedPod, error) {
	return c[slices.IndexFunc(c, func(p status.ObservedPod) bool { return p.UID == uid })], nil
}

func (crowded) WatchPods(ctx context.Context, _ func(), _ func(status.PodChange)) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestWhoIsToldThatAllIsWellFindsTheList checks that the cache has the first list when the
// generator becomes healthy. A caller that waits for this assumes that a pod that is not in the
// cache does not run.
func TestWhoIsToldThatAllIsWellFindsTheList(t *testing.T) {
	t.Parallel()
	var pods crowded
	for i := range 200 {
		uid := types.UID(fmt.Sprint("u", i))
		pods = append(pods, status.ObservedPod{UID: uid, Name: string(uid), Sandboxes: []status.ObservedSandbox{{ID: string(uid), Ready: true}}})
	}
	for range 50 {
		cache := NewCache()
		g := New(Config{Runtime: pods, Cache: cache, Logger: slog.New(slog.DiscardHandler), Now: time.Now})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = g.Run(ctx)
		}()
		for g.Healthy() != nil {
			runtime.Gosched()
		}
		if listed, _ := cache.Pods(); len(listed) != len(pods) {
			t.Errorf("the generator is healthy, and the cache has %d pods of %d", len(listed), len(pods))
		}
		cancel()
		<-ended
	}
}

// TestNothingButAListMovesTheTimeOfAll covers kubernetes issue 121349: if a waiter gets an old
// status as a new one, it starts containers twice.
func TestNothingButAListMovesTheTimeOfAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=exited"), newPod("other", "o=running"))
		b, s := follow(t, f, Config{InspectTimeout: time.Hour})
		gate := make(chan struct{})
		_, listed := b.cache.Pods()
		asked := time.Now()
		f.change(func() {
			f.pods["p"] = newPod("p", "a=exited", "b=running")
			f.pods["new"] = newPod("new", "c=running")
			f.inspectGate["p"], f.inspectGate["new"] = gate, gate
		})
		known, unknown := make(chan string, 1), make(chan string, 1)
		read := func(uid types.UID, answer chan<- string) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			p, err := b.cache.GetNewerThan(ctx, uid, asked)
			answer <- fmt.Sprint(shown(p), err)
		}
		go read("p", known)
		go read("new", unknown)
		for range 55 { // seconds, in which other pods change
			f.change(func() { f.pods["other"] = newPod("other", fmt.Sprintf("o%d=running", time.Now().Unix())) })
			s.tell("other")
			s.tell("p")
			time.Sleep(time.Second)
		}
		if _, at := b.cache.Pods(); !at.Equal(listed) {
			t.Error("the time of all has moved without a list")
		}
		if len(known)+len(unknown) > 0 {
			t.Fatalf("answered from before: %d, %d", len(known), len(unknown))
		}
		time.Sleep(20 * time.Second) // a list arrives and has both pods
		if _, at := b.cache.Pods(); at.Equal(listed) {
			t.Error("no list has come")
		}
		if len(known)+len(unknown) > 0 {
			t.Fatalf("answered from a list that showed that they had changed: %d, %d", len(known), len(unknown))
		}
		close(gate)
		if a, b := <-known, <-unknown; a != "a=exited b=running<nil>" || b != "c=running<nil>" {
			t.Errorf("answered %s and %s", a, b)
		}
	})
}

func TestDeathsThatWereNotObserved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running", "b=running"))
		b := start(t, f, Config{})
		b.told()
		f.change(func() { delete(f.pods, "p") })
		b.nextList()
		wantTold(t, b, "ContainerDied p/a", "ContainerDied p/b", "ContainerRemoved p/a", "ContainerRemoved p/b")
	})
}

func TestFailedListChangesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		b := start(t, f, Config{})
		b.told()
		_, before := b.cache.Pods()
		f.change(func() { f.listErr = errors.New("no answer"); delete(f.pods, "p") })
		b.nextList()
		wantTold(t, b)
		if pods, at := b.cache.Pods(); len(pods) != 1 || !at.Equal(before) {
			t.Errorf("list has %d pods at %s, want the last good one", len(pods), at)
		}
		if p, _ := b.cache.Get("p"); shown(p) != "a=running" {
			t.Errorf("cache has %q", shown(p))
		}
		f.change(func() { f.inspectGate["unknown"] = make(chan struct{}) })
		if got := b.answer("unknown", 10*time.Second); got != "no answer" {
			t.Errorf("an unknown pod got %q from a list that failed", got)
		}
	})
}

func TestRelistIsNewerThanTheCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime()
		f.listGate = make(chan struct{})
		b := start(t, f, Config{})
		// The first list waits at its gate and does not have the pod.
		f.change(func() { f.pods["p"] = newPod("p", "a=running") })
		time.Sleep(time.Millisecond)
		called := time.Now()
		done := make(chan error, 1)
		go func() { done <- b.Relist(t.Context()) }()
		synctest.Wait()
		time.Sleep(time.Millisecond)
		close(f.listGate)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if pods, at := b.cache.Pods(); len(pods) != 1 || at.Before(called) {
			t.Errorf("list has %d pods, begun %s after the call", len(pods), at.Sub(called))
		}
	})
}

func TestRelistFails(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	broken := errors.New("no answer")
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime()
		b := start(t, f, Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		f.change(func() { f.listErr = broken })
		if err := b.Relist(t.Context()); !errors.Is(err, broken) {
			t.Errorf("with a failing list: %v", err)
		}
		if strings.Contains(log.String(), "list failed") {
			t.Errorf("an error that was returned is logged too: %s", log.String())
		}
		f.change(func() { f.listErr = nil; f.listGate = make(chan struct{}) })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := b.Relist(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a hanging list: %v", err)
		}
		b.stop()
		ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := b.Relist(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("without Run: %v", err)
		}
	})
}

func TestPeriodCountsFromTheEndOfTheLastList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime()
		b := start(t, f, Config{})
		time.Sleep(600 * time.Millisecond)
		if err := b.Relist(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(999 * time.Millisecond)
		if n := f.listed(); n != 2 {
			t.Errorf("%d lists, want the first and the forced one", n)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if n := f.listed(); n != 3 {
			t.Errorf("%d lists a second after the forced one, want 3", n)
		}
	})
}
