package worker

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// fakeOutcomes keeps the outcomes of pods, by UID, also for the next agent.
type fakeOutcomes struct {
	mu    sync.Mutex
	kept  map[types.UID]v1.PodStatus
	ends  map[types.UID]v1.PodPhase // the terminal phases that were saved
	shown func(types.UID) v1.PodPhase
	early bool // a terminal phase was shown before it was saved
}

func (n *fakeOutcomes) Save(p *v1.Pod, st *v1.PodStatus) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.kept[p.UID] = status.Outcome(p, st)
	if phase := n.kept[p.UID].Phase; phase != "" && n.ends[p.UID] != phase {
		n.ends[p.UID] = phase
		n.early = n.early || n.shown(p.UID) == phase
	}
}

func (n *fakeOutcomes) Discard(*v1.Pod, *v1.PodStatus) {}

func (n *fakeOutcomes) Saved(p *v1.Pod) (v1.PodStatus, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	st, ok := n.kept[p.UID]
	return st, ok
}

// withOutcomes replaces the pool of b by one with a fakeOutcomes.
func withOutcomes(b *bench) *fakeOutcomes {
	book := &fakeOutcomes{kept: map[types.UID]v1.PodStatus{}, ends: map[types.UID]v1.PodPhase{}, shown: b.phase}
	b.cfg.Outcomes = book
	b.pool = New(b.cfg)
	return book
}

// reboot stops the agent and returns a bench with a new agent and a new, empty runtime. The
// outcomes stay.
func reboot(t *testing.T, b *bench) *bench {
	t.Helper()
	b.pool.Stop(t.Context())
	after := newBench(t)
	after.cfg.Outcomes = b.cfg.Outcomes
	after.pool = New(after.cfg)
	b.cfg.Outcomes.(*fakeOutcomes).shown = after.phase
	return after
}

func TestAPodThatEndedIsNotStartedAfterTheRuntimeHasLostIt(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		policy v1.RestartPolicy
		exit   int32
		static bool
		want   v1.PodPhase
	}{
		"a static pod that succeeded": {v1.RestartPolicyNever, 0, true, v1.PodSucceeded},
		"a static pod that failed":    {v1.RestartPolicyNever, 1, true, v1.PodFailed},
		"an API server's pod":         {v1.RestartPolicyOnFailure, 0, false, v1.PodSucceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				book := withOutcomes(b)
				p := newPod("job", "1", "a")
				if !tc.static {
					fromAPI(p)
				}
				p.Spec.RestartPolicy = tc.policy
				b.create(p)
				synctest.Wait()
				b.exit("c2", tc.exit)
				b.sync(p)
				synctest.Wait()
				before, _ := b.store.Get("1")
				if before.Phase != tc.want || book.early {
					t.Fatalf("phase = %s, shown before it was kept: %v", before.Phase, book.early)
				}

				b = reboot(t, b)
				b.create(p)
				expectCalls(t, b, "teardown 1", "remove-cgroup 1")
				b.sync(p)
				expectCalls(t, b)
				after, _ := b.store.Get("1")
				if after.Phase != tc.want || b.state("1") != Finished {
					t.Errorf("phase = %s, state = %s", after.Phase, b.state("1"))
				}
				if diff := cmp.Diff(before.ContainerStatuses, after.ContainerStatuses); diff != "" {
					t.Errorf("containers (-before +after):\n%s", diff)
				}
				if !before.StartTime.Equal(after.StartTime) {
					t.Errorf("started at %s, then at %s", before.StartTime, after.StartTime)
				}
				if b.pool.ContentRemovable("1") {
					t.Error("the content of a pod that its source still holds may go")
				}
			})
		})
	}
}

func TestAPodThatEndedIsOnlyStoppedWhereSomethingOfItRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := withOutcomes(b)
		p := newPod("job", "1", "a", "b")
		p.Spec.RestartPolicy = v1.RestartPolicyNever
		book.kept["1"] = v1.PodStatus{Phase: v1.PodFailed, Reason: "Evicted"}
		b.change("1", func(o *status.ObservedPod) {
			o.Name, o.Namespace = p.Name, p.Namespace
			o.Sandboxes = []status.ObservedSandbox{{ID: "s", Ready: true, IPs: []string{"10.0.0.9"}}}
			o.Containers = []status.ObservedContainer{{ID: "c", Name: "a", State: status.StateRunning}}
		})
		b.create(p)
		expectCalls(t, b, "stop c 30s", "stop-sandbox s", "teardown 1", "remove-cgroup 1")
		if st, _ := b.store.Get("1"); st.Phase != v1.PodFailed || st.Reason != "Evicted" {
			t.Errorf("%s, %s", st.Phase, st.Reason)
		}
	})
}

func TestAPodThatEndedDoesNotWaitForAnotherOfItsName(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := withOutcomes(b)
		book.kept["2"] = v1.PodStatus{Phase: v1.PodSucceeded}
		b.create(newPod("web", "1", "a"))
		synctest.Wait()
		b.create(newPod("web", "2", "a"))
		synctest.Wait()
		if b.newest("1", "a").State != status.StateRunning || b.phase("2") != v1.PodSucceeded || b.state("2") != Finished {
			t.Errorf("the other is %s; phase %s, state %s", b.newest("1", "a").State, b.phase("2"), b.state("2"))
		}
	})
}

// goneCache shows a ready sandbox of the pod uid at the first Get only.
type goneCache struct {
	*node
	uid  types.UID
	once sync.Once
}

func (c *goneCache) Get(uid types.UID) (status.ObservedPod, error) {
	o, err := c.cache.Get(uid)
	if uid == c.uid {
		c.once.Do(func() { o.Sandboxes = []status.ObservedSandbox{{ID: "s", Ready: true}} })
	}
	return o, err
}

func (c *goneCache) Pods() ([]status.ObservedPod, time.Time) { return c.cache.Pods() }

func (c *goneCache) GetNewerThan(ctx context.Context, uid types.UID, at time.Time) (status.ObservedPod, error) {
	return c.cache.GetNewerThan(ctx, uid, at)
}

func TestAPodThatEndedIsNotStartedWhereTheRestOfItEndsMeanwhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.cfg.Cache = &goneCache{node: b.node, uid: "2"}
		book := withOutcomes(b)
		defer b.pool.Stop(t.Context())
		book.kept["2"] = v1.PodStatus{Phase: v1.PodFailed, Reason: "Evicted"}
		first := newPod("web", "1", "a")
		b.create(first)
		synctest.Wait()
		b.create(newPod("web", "2", "a"))
		synctest.Wait()
		b.taken()
		b.kill(first)
		synctest.Wait()
		if o := b.newest("2", "a"); o.ID != "" || b.phase("2") != v1.PodFailed || b.state("2") != Finished {
			t.Errorf("container %q, phase %s, state %s", o.ID, b.phase("2"), b.state("2"))
		}
	})
}

func TestRestartCountsGoOnAfterTheRuntimeHasLostThePod(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		withOutcomes(b)
		p := newPod("web", "1", "a")
		b.create(p)
		synctest.Wait()
		b.exit("c2", 1)
		b.sync(p)
		expectCalls(t, b, "run-sandbox web#0", "start web/a#0", "start web/a#1")
		b.sync(p) // observes the started container
		synctest.Wait()

		b = reboot(t, b)
		b.fail["setup web"] = errBroken
		b.create(p)
		synctest.Wait()
		if st, _ := b.store.Get("1"); len(st.ContainerStatuses) != 1 || st.ContainerStatuses[0].RestartCount != 1 {
			t.Errorf("before it starts again: %+v, want one restart", st.ContainerStatuses)
		}
		b.mu.Lock()
		clear(b.fail)
		b.mu.Unlock()
		b.taken()
		b.sync(p)
		expectCalls(t, b, "run-sandbox web#0", "start web/a#2")
		b.exit(b.newest("1", "a").ID, 1)
		b.sync(p)
		expectCalls(t, b, "start web/a#3")
	})
}

func TestTheHighestRestartCountKnownGoesOn(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kept    int32
		log     string
		runtime int // the attempt of a dead container, -1 for none
		want    string
	}{
		"what was kept, where nothing else is left":        {7, "", -1, "start web/a#8"},
		"what was kept, where the newest log is lost":      {7, "3.log", -1, "start web/a#8"},
		"what was kept, where the newest instance is lost": {7, "", 2, "start web/a#8"},
		"the log's, where a write was lost":                {7, "9.log", -1, "start web/a#10"},
		"the runtime's, where a write was lost":            {7, "", 9, "start web/a#10"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				p := newPod("web", "1", "a")
				withOutcomes(b).kept["1"] = v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{{Name: "a", RestartCount: tc.kept}}}
				if tc.log != "" {
					dir := filepath.Join(b.cfg.Layout.LogDir(p), "a")
					if err := os.MkdirAll(dir, 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(dir, tc.log), nil, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if tc.runtime >= 0 {
					b.change("1", func(o *status.ObservedPod) {
						o.Name, o.Namespace = p.Name, p.Namespace
						o.Sandboxes = []status.ObservedSandbox{{ID: "s", Ready: true, IPs: []string{"10.0.0.9"}}}
						o.Containers = []status.ObservedContainer{
							{ID: "c", Name: "a", State: status.StateExited, ExitCode: 1, Attempt: uint32(tc.runtime)},
						}
					})
				}
				b.create(p)
				synctest.Wait()
				calls := b.taken()
				if len(calls) == 0 || calls[len(calls)-1] != tc.want {
					t.Errorf("calls %q, want the last to be %s", calls, tc.want)
				}
			})
		})
	}
}

func TestAPodThatWaitsKeepsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := withOutcomes(b)
		held := make(chan struct{})
		b.hold["run-sandbox"] = held
		b.create(newPod("web", "1", "a"))
		synctest.Wait()
		b.create(newPod("web", "2", "a"))
		synctest.Wait()
		book.mu.Lock()
		if _, kept := book.kept["2"]; kept || b.phase("2") != v1.PodPending {
			t.Errorf("kept %v, phase %s", kept, b.phase("2"))
		}
		book.mu.Unlock()
		close(held)
	})
}

func TestHowAPodEndsThatWasRemovedIsNotKeptForTheOneThatComesBack(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kill *KillOptions
		back bool
		kept bool
	}{
		"one that was removed":                    {nil, false, false},
		"one that was removed and has come back":  {nil, true, false},
		"one that was pushed out":                 {&KillOptions{Evict: true}, false, true},
		"one that was pushed out and comes again": {&KillOptions{Evict: true}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				book := withOutcomes(b)
				p := newPod("job", "1", "a")
				p.Spec.RestartPolicy = v1.RestartPolicyNever
				held := make(chan struct{})
				b.hold["stop c2"] = held
				b.create(p)
				synctest.Wait()
				b.pool.Submit(Request{Kind: Kill, Pod: p, Kill: tc.kill})
				synctest.Wait()
				if tc.back {
					b.create(p)
				}
				close(held)
				synctest.Wait()
				if phase := book.kept["1"].Phase; (phase != "") != tc.kept {
					t.Errorf("kept: %q", phase)
				}
			})
		})
	}
}

func TestStatus_followsTheNodesAddresses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		var address atomic.Pointer[string]
		b.cfg.HostIPs = func() []string { return []string{*address.Load()} }
		b.pool = New(b.cfg)
		p := newPod("web", "1", "a")
		for _, ip := range []string{"192.0.2.1", "192.0.2.2"} {
			address.Store(&ip)
			b.create(p)
			b.sync(p)
			synctest.Wait()
			if st, _ := b.store.Get("1"); st.HostIP != ip {
				t.Errorf("host IP = %q, the node has %q", st.HostIP, ip)
			}
		}
	})
}
