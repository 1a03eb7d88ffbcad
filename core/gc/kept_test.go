package gc

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAContainerThatTheRuntimeKeepsHoldsUpOnlyItsSandbox(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		gone, over bool
		want       []string
	}{
		"of a pod that is gone": {gone: true, want: []string{
			"container c1", "container c0", "stop s2", "stop s1", "sandbox s1", "volumes u", "cgroup u", "directory u",
		}},
		"of a pod that has ended": {over: true, want: []string{"container c1", "container c0", "stop s1", "sandbox s1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNode()
			n.add("u", []string{"c2 main exited s2", "c1 main exited s1", "c0 main exited s2"}, []string{"s2 ready", "s1 over"})
			if tc.gone {
				n.removable["u"] = "files"
			}
			n.over["u"] = tc.over
			n.kept["c2"] = true
			c, log := newCollector(t, n)
			once(t, c)
			if diff := cmp.Diff(tc.want, n.done()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if log.lines("restart the runtime") != 1 {
				t.Errorf("not logged: %s", &log.buf)
			}
		})
	}
}

func TestASandboxThatIsOverIsNotStoppedAgainForAContainerThatIsKept(t *testing.T) {
	t.Parallel()
	n := goneNode()
	n.add("u", []string{"c1 main exited s1"}, []string{"s1 over"})
	n.kept["c1"] = true
	c, _ := newCollector(t, n)
	once(t, c)
	if slices.Contains(n.done(), "stop s1") {
		t.Errorf("done: %v", n.done())
	}
}

func TestWhatElseFailsOfAPodWithAContainerThatIsKeptIsTriedAgainSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := goneNode()
		n.kept["c1"] = true
		n.fail["cgroup u"] = true
		_, _, stop := start(t, n)
		defer stop()
		time.Sleep(time.Second)
		n.set(n.fail, "cgroup u", false)
		time.Sleep(retryInterval)
		synctest.Wait()
		if !slices.Contains(n.done(), "directory u") {
			t.Errorf("done: %v", n.done())
		}
	})
}

func TestAContainerThatTheRuntimeKeepsIsTriedLessAndLessOften(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNode()
		n.add("u", []string{"c1 main exited s1"}, []string{"s1 over"})
		n.removable["u"] = "files"
		n.kept["c1"] = true
		c, log, stop := start(t, n)
		defer stop()
		time.Sleep(10*time.Minute - time.Second)
		// The tries are 5, 10 and 20 s apart, and then 30 s.
		if tries := n.tried("c1"); tries < 20 || tries > 24 {
			t.Errorf("%d tries in ten minutes", tries)
		}
		if lines := log.lines("restart the runtime"); lines != 10 {
			t.Errorf("%d lines in ten minutes, want one a minute", lines)
		}
		n.set(n.kept, "c1", false)
		time.Sleep(keptDelays.Max + maxInterval)
		synctest.Wait()
		if !slices.Contains(n.done(), "sandbox s1") {
			t.Errorf("it stays when the runtime has let go: %v", n.done())
		}
		if len(c.kept) > 0 {
			t.Errorf("%d are remembered", len(c.kept))
		}
	})
}

func TestAKeptContainerOfAPodThatLivesOnBringsNoPassOfItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNode()
		n.add("u", []string{"c3 a running s", "c2 a exited s", "c1 a exited s"}, []string{"s ready"})
		n.kept["c1"] = true
		_, _, stop := start(t, n)
		defer stop()
		time.Sleep(10*maxInterval - time.Second)
		if passes := n.count(); passes != 10 {
			t.Errorf("%d passes, want one every 30 s", passes)
		}
	})
}
