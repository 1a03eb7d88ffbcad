package worker

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// waitingReason is what the pod's status says of a container that waits.
func (b *bench) waitingReason(p *v1.Pod, container string) string {
	st, _ := b.store.Get(p.UID)
	for _, c := range st.ContainerStatuses {
		if c.Name == container && c.State.Waiting != nil {
			return c.State.Waiting.Reason
		}
	}
	return ""
}

func TestAContainerThatFailsDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fail   string
		err    error
		reason string
		event  string
	}{
		"it cannot be created": {
			"start web/b", &status.Fault{Reason: "CreateContainerError", Err: errBroken}, "CreateContainerError", "web Failed",
		},
		"it cannot be run": {
			"start web/b", &status.Fault{Reason: "RunContainerError", Err: errBroken}, "RunContainerError", "web Failed",
		},
		"the runtime is away":         {"start web/b", errBroken, "ContainerCreating", ""},
		"its mounts cannot be made":   {"mounts web/b", errBroken, "CreateContainerConfigError", "web Failed"},
		"its image cannot be fetched": {"image other", &status.Fault{Reason: "ErrImagePull", Err: errBroken}, "ErrImagePull", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.fail[tc.fail] = tc.err
				p := newPod("web", "1", "a", "b", "c")
				p.Spec.Containers[1].Image = "other"
				b.create(p)
				synctest.Wait()
				calls := slices.DeleteFunc(b.taken(), func(c string) bool { return c == "start web/b#0" })
				if diff := cmp.Diff([]string{"run-sandbox web#0", "start web/a#0", "start web/c#0"}, calls); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
				if got := b.waitingReason(p, "b"); got != tc.reason {
					t.Errorf("the status says %q, want %q", got, tc.reason)
				}
				if tc.event != "" && !b.recorded(tc.event) {
					t.Errorf("event %q is missing", tc.event)
				}

				b.mu.Lock()
				clear(b.fail)
				b.mu.Unlock()
				time.Sleep(errorDelay + time.Second)
				if got := b.pool.Due(); len(got) != 1 {
					t.Fatalf("due = %v, want the pod", got)
				}
				b.sync(p)
				expectCalls(t, b, "start web/b#0")
				if _, ok := b.cfg.Reasons.Get("1", "b"); ok {
					t.Error("the failure is still remembered")
				}
				b.sync(p)
				synctest.Wait()
				if got := b.waitingReason(p, "b"); got != "" {
					t.Errorf("the status says %q of a container that runs", got)
				}
			})
		})
	}
}

func TestWhatKeepsAPodFromStarting(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fail  string
		event string
		calls []string
	}{
		"its cgroup":  {"cgroup web", "web FailedCreatePodContainer", nil},
		"its volumes": {"setup web", "web FailedMount", []string{"setup web"}},
		"its sandbox": {"run-sandbox web", "web FailedCreatePodSandBox", []string{"run-sandbox web#0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.fail[tc.fail] = errBroken
				p := newPod("web", "1", "a")
				b.create(p)
				synctest.Wait()
				if !b.recorded(tc.event) {
					t.Errorf("event %q is missing", tc.event)
				}
				if c := b.newest("1", "a"); c.ID != "" {
					t.Error("a container was started")
				}
				b.mu.Lock()
				clear(b.fail)
				b.mu.Unlock()
				b.taken()
				b.sync(p)
				expectCalls(t, b, "run-sandbox web#0", "start web/a#0")
			})
		})
	}
}

func TestTheNetworkIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.network = errBroken
		b.create(newPod("web", "1", "a"))
		host := newPod("host", "2", "a")
		host.Spec.HostNetwork = true
		b.create(host)
		expectCalls(t, b, "run-sandbox host#0", "start host/a#0")
		if !b.recorded("web NetworkNotReady") {
			t.Error("event NetworkNotReady is missing")
		}
		time.Sleep(awayDelay + time.Millisecond)
		if diff := cmp.Diff([]string{"1"}, []string{string(b.pool.Due()[0])}); diff != "" {
			t.Errorf("due after a second (-want +got):\n%s", diff)
		}
	})
}

func TestAChangedContainerIsStoppedAndStarted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a", "b")
		b.create(p)
		synctest.Wait()
		b.taken()
		p = p.DeepCopy()
		p.Spec.Containers[0].Image = "other"
		b.update(p)
		expectCalls(t, b, "stop c2 30s", "start web/a#1")
	})
}

func TestAStopThatFailsEndsTheTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a")
		b.create(p)
		synctest.Wait()
		b.taken()
		b.fail["stop c2"] = errBroken
		p = p.DeepCopy()
		p.Spec.Containers[0].Image = "other"
		b.update(p)
		expectCalls(t, b, "stop c2 30s")
		if !b.recorded("web FailedKillPod") {
			t.Error("event FailedKillPod is missing")
		}
	})
}

func TestOldInstancesArePruned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a")
		running(b, p)
		b.change("1", func(o *status.ObservedPod) {
			dead := func(id string, attempt uint32, state status.ContainerState) status.ObservedContainer {
				return status.ObservedContainer{ID: id, Name: "a", Attempt: attempt, State: state, Hash: "a=img"}
			}
			o.Containers = []status.ObservedContainer{
				dead("x5", 5, status.StateExited), dead("x4", 4, status.StateCreated),
				dead("x3", 3, status.StateExited), dead("x2", 2, status.StateExited),
				{ID: "other", Name: "gone", State: status.StateExited},
			}
		})
		b.fail["remove x4"] = errBroken // is no reason not to start
		b.create(p)
		expectCalls(t, b, "remove x4", "remove x3", "remove x2", "start web/a#6")
	})
}

func TestAContainerIsNotStartedTwice(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		state  status.ContainerState
		age    time.Duration
		starts bool
	}{
		{"one that was just made may be starting", status.StateCreated, time.Second, false},
		{"one that was made long ago is not", status.StateCreated, startPatience, true},
		{"one that was made in the future may be starting, and the clock was set back", status.StateCreated, -time.Hour, false},
		{"one that has ended is not", status.StateExited, time.Second, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				p := newPod("web", "1", "a")
				running(b, p)
				b.change("1", func(o *status.ObservedPod) {
					o.Containers = []status.ObservedContainer{
						{ID: "x2", Name: "a", Attempt: 2, State: tt.state, Hash: "a=img", CreatedAt: time.Now().Add(-tt.age)},
						{ID: "x1", Name: "a", Attempt: 1, State: status.StateExited, Hash: "a=img", FinishedAt: time.Now().Add(-time.Hour)},
						{ID: "x0", Name: "a", State: status.StateExited, Hash: "a=img", FinishedAt: time.Now().Add(-2 * time.Hour)},
					}
				})
				b.fail["remove x2"] = errBroken
				b.create(p)
				synctest.Wait()
				if got := slices.Contains(b.taken(), "start web/a#3"); got != tt.starts {
					t.Errorf("started: %v, want %v", got, tt.starts)
				}
				delete(b.fail, "remove x2")
				time.Sleep(startingDelay + time.Millisecond)
				if due := slices.Contains(b.pool.Due(), p.UID); due == tt.starts {
					t.Errorf("is due a moment later: %v", due)
				}
				b.sync(p)
				synctest.Wait()
				if got := slices.Contains(b.taken(), "start web/a#3"); got == tt.starts {
					t.Errorf("started a moment later: %v", got)
				}
			})
		})
	}
}

func TestRestartCountsSurviveTheRuntime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a")
		dir := filepath.Join(b.cfg.Layout.LogDir(p), "a")
		if err := os.MkdirAll(dir, 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "6.log"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		b.create(p)
		expectCalls(t, b, "run-sandbox web#0", "start web/a#7")
	})
}

// recording keeps what a runtime was asked to run.
type recording struct {
	*node
	runs []pod.ContainerRun
}

func (r *recording) StartContainer(ctx context.Context, run pod.ContainerRun) (string, error) {
	r.runs = append(r.runs, run)
	return r.node.StartContainer(ctx, run)
}

func TestWhatARuntimeIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r := &recording{node: b.node}
		b.cfg.Runtime = r
		b.pool = New(b.cfg)
		defer b.pool.Stop(t.Context())
		p := newPod("web", "1", "a")
		origin := api.Origin{Source: "file", Document: "web.yaml#0", FirstSeen: time.Now().Add(-time.Hour), Instance: "i"}
		b.pool.Update(Request{Kind: Create, Pod: p, Origin: origin})
		synctest.Wait()
		b.exit("c2", 1)
		b.pool.Update(Request{Kind: Sync, Pod: p, Origin: origin})
		synctest.Wait()

		sandbox := pod.SandboxRun{Pod: p, CgroupParent: "/wardlet/1", Seen: origin.FirstSeen, Document: "web.yaml#0", Instance: "i"}
		first := pod.ContainerRun{
			Pod: p, Container: &p.Spec.Containers[0], SandboxID: "s1", SandboxIPs: []string{"10.0.0.1"},
			Sandbox: sandbox, ImageRef: "sha256:img",
		}
		second := first
		second.Attempt = 1
		if diff := cmp.Diff([]pod.ContainerRun{first, second}, r.runs); diff != "" {
			t.Errorf("runs (-want +got):\n%s", diff)
		}
	})
}

// drive does what the sync loop does: it answers due times and what happens
// in the runtime.
func (b *bench) drive(ctx context.Context, p *v1.Pod) {
	news := make(chan struct{}, 1)
	b.changed = func(types.UID) {
		select {
		case news <- struct{}{}:
		default:
		}
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if len(b.pool.Due()) > 0 {
				b.sync(p)
			}
		case <-news:
			b.sync(p)
		case <-ctx.Done():
			return
		}
	}
}

func TestCrashLoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); b.drive(ctx, p) }()
		synctest.Wait()
		b.create(p)
		synctest.Wait()
		for i, secs := range []int64{0, 10, 20, 40, 80, 160, 300, 300} {
			want := seconds(secs)
			c := b.newest("1", "a")
			if c.State != status.StateRunning || c.Attempt != uint32(i) {
				t.Fatalf("instance %d: %s, attempt %d", i, c.State, c.Attempt)
			}
			crashed := time.Now()
			b.exit(c.ID, 1)
			synctest.Wait()
			if want > 0 && b.waitingReason(p, "a") != "CrashLoopBackOff" {
				t.Errorf("while waiting for %s the status says %q, want CrashLoopBackOff", want, b.waitingReason(p, "a"))
			}
			for b.newest("1", "a").State != status.StateRunning {
				time.Sleep(100 * time.Millisecond)
				synctest.Wait()
			}
			// The loop looks once a second at who is due.
			if got := time.Since(crashed); got < want || got > want+2*time.Second {
				t.Errorf("crash %d is answered after %s, want %s", i+1, got, want)
			}
		}
		if !b.recorded("web BackOff") {
			t.Error("event BackOff is missing")
		}
		if b.mu.Lock(); len(b.pods["1"].Containers) != 2 {
			t.Errorf("%d instances are left, want the one that runs and the last dead one", len(b.pods["1"].Containers))
		}
		b.mu.Unlock()
		cancel()
		<-done
	})
}

func TestAContainerWaitsTwoMinutesForAnotherInstanceOfIt(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]time.Duration{
		"that was just made": 0,
		"also where the clock was set back by years since":    10 * 365 * 24 * time.Hour,
		"also where the clock was set back by less than that": time.Minute,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				p := newPod("web", "1", "a")
				running(b, p)
				b.change("1", func(o *status.ObservedPod) {
					o.Containers = []status.ObservedContainer{{ID: "x0", Name: "a", State: status.StateCreated, Hash: "a=img", CreatedAt: time.Now().Add(made)}}
				})
				b.fail["remove x0"] = errBroken
				b.create(p)
				tend(b, p, startPatience-2*startingDelay)
				if slices.Contains(b.taken(), "start web/a#1") {
					t.Error("it is started beside it")
				}
				tend(b, p, 4*startingDelay)
				if !slices.Contains(b.taken(), "start web/a#1") {
					t.Error("it waits for longer")
				}
			})
		})
	}
}
