package worker

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// waitingReason returns the reason for which a container waits according to the pod's status.
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
		time.Sleep(unavailableDelay + time.Millisecond)
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

// recording is a runtime that records the containers it is asked to start.
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
		b.pool.Submit(Request{Kind: Create, Pod: p, Origin: origin})
		synctest.Wait()
		b.exit("c2", 1)
		b.pool.Submit(Request{Kind: Sync, Pod: p, Origin: origin})
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

func TestEvents_areAboutTheirContainer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fail["start web/b"] = &status.Fault{Reason: "CreateContainerError", Err: errBroken}
		p := newPod("web", "1", "a", "b", "c")
		b.create(p)
		synctest.Wait()
		b.exit("c2", 1)
		b.sync(p)
		synctest.Wait()
		b.exit("c4", 1)
		b.sync(p)
		synctest.Wait()
		b.kill(p)
		synctest.Wait()
		got := slices.Compact(slices.Sorted(slices.Values(b.about)))
		want := []string{"web/a BackOff", "web/a Created", "web/a Started", "web/b Failed", "web/c Created", "web/c Killing", "web/c Started"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}
