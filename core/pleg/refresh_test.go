package pleg

import (
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

func TestRefreshDoesNotWaitForAList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		b := start(t, f, Config{})
		b.told()
		f.change(func() { f.listGate = make(chan struct{}) })
		b.nextList() // hangs
		asked := time.Now()
		time.Sleep(time.Millisecond)

		f.change(func() { f.pods["p"] = newPod("p", "a=exited") })
		b.Refresh("p")
		wantTold(t, b, "ContainerDied p/a")
		f.change(func() { f.pods["new"] = newPod("new", "b=running") })
		b.Refresh("new")
		wantTold(t, b, "ContainerStarted new/b")
		b.Refresh("never there")
		wantTold(t, b)

		for uid, want := range map[types.UID]string{"p": "a=exited", "new": "b=running", "never there": ""} {
			p, err := b.cache.GetNewerThan(t.Context(), uid, asked)
			if err != nil || shown(p) != want {
				t.Errorf("pod %s: %q, %v, want %q", uid, shown(p), err, want)
			}
		}
		if waited := time.Since(asked); waited > 2*time.Millisecond {
			t.Errorf("waited %s for a list", waited)
		}
	})
}

func TestRefreshWithoutAChangeTellsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		b := start(t, f, Config{})
		b.told()
		b.Refresh("p")
		wantTold(t, b)
		if n := f.inspected("p"); n != 2 {
			t.Errorf("inspected %d times, want 2", n)
		}
	})
}

func TestRefreshOfAPodInInspectionIsDoneOnceAfterIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		gate := make(chan struct{})
		f.inspectGate["p"] = gate
		b := start(t, f, Config{})
		f.change(func() { f.inspectGate["p"] = nil; f.pods["p"] = newPod("p", "a=exited") })
		time.Sleep(time.Millisecond)
		for range 3 {
			b.Refresh("p")
		}
		wantTold(t, b)
		close(gate)
		wantTold(t, b, "ContainerDied p/a", "ContainerStarted p/a")
		if n := f.inspected("p"); n != 2 {
			t.Errorf("inspected %d times, want 2", n)
		}
	})
}

func TestListBegunBeforeARefreshUndoesNothing(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		before, after []string
		want          string
		told          []string
	}{
		{"a container that was started", []string{"a=exited"}, []string{"a=exited", "b=running"}, "a=exited b=running", []string{"ContainerStarted p/b"}},
		{"a container that was removed", []string{"a=exited", "b=running"}, []string{"b=running"}, "b=running", []string{"ContainerRemoved p/a"}},
		{"a pod that is new", nil, []string{"b=running"}, "b=running", []string{"ContainerStarted p/b"}},
		{"a pod that is gone", []string{"b=running"}, nil, "", []string{"ContainerDied p/b", "ContainerRemoved p/b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeRuntime()
				put := func(containers []string) {
					delete(f.pods, "p")
					if containers != nil {
						f.pods["p"] = newPod("p", containers...)
					}
				}
				put(tt.before)
				b := start(t, f, Config{})
				b.told()
				gate := make(chan struct{})
				f.change(func() { f.listGate = gate })
				b.nextList() // has seen "before" and waits
				time.Sleep(time.Millisecond)
				f.change(func() { put(tt.after); f.listGate = nil })
				b.Refresh("p")
				synctest.Wait()
				close(gate)
				b.nextList()
				wantTold(t, b, tt.told...)
				if p, err := b.cache.Get("p"); err != nil || shown(p) != tt.want {
					t.Errorf("cache has %q, %v, want %q", shown(p), err, tt.want)
				}
				b.stop()
				if _, known := b.records["p"]; known != (tt.after != nil) {
					t.Errorf("record kept = %v", known)
				}
			})
		})
	}
}

func TestFailedRefreshIsTriedAgainByTheNextList(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		b := start(t, f, Config{})
		b.told()
		f.change(func() { f.inspectErr["p"] = broken })
		time.Sleep(time.Millisecond)
		b.Refresh("p")
		b.settle()
		if _, err := b.cache.Get("p"); !errors.Is(err, broken) {
			t.Errorf("cache has error %v", err)
		}
		f.change(func() { delete(f.inspectErr, "p") })
		b.nextList()
		wantTold(t, b, "PodSync p/")
	})
}

func TestRefreshNeverBlocksAndNothingIsDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime()
		b := start(t, f, Config{})
		gate := make(chan struct{})
		for i := range 1000 {
			f.change(func() { f.inspectGate[types.UID(strconv.Itoa(i))] = gate })
			b.Refresh(types.UID(strconv.Itoa(i)))
		}
		close(gate)
		b.settle()
		for i := range 1000 {
			if n := f.inspected(types.UID(strconv.Itoa(i))); n != 1 {
				t.Errorf("pod %d was inspected %d times, want 1", i, n)
			}
		}
	})
}
