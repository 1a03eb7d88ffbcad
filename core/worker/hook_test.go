package worker

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/handler"
	"github.com/wardlet/wardlet/core/runtime/criconfig"
	"github.com/wardlet/wardlet/core/status"
)

// hooks runs hooks as calls of the node, which may be held or fail. A hook with a sleep takes
// that time first.
type hooks struct{ *node }

func (h hooks) Hook(ctx context.Context, to handler.Target, hook *v1.LifecycleHandler) error {
	if hook.Sleep != nil {
		select {
		case <-time.After(time.Duration(hook.Sleep.Seconds) * time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if hook.HTTPGet != nil {
		return h.call(ctx, "hook %s %s:%s", to.ID, to.IP, hook.HTTPGet.Path)
	}
	return h.call(ctx, "hook %s %s", to.ID, hook.Exec.Command[0])
}

func hook(name string, sleeps int64) *v1.LifecycleHandler {
	h := &v1.LifecycleHandler{Exec: &v1.ExecAction{Command: []string{name}}}
	if sleeps > 0 {
		h.Sleep = &v1.SleepAction{Seconds: sleeps}
	}
	return h
}

// hooked returns a bench, and a pod whose first container has hooks.
func hooked(t *testing.T, lifecycle v1.Lifecycle) (*bench, *v1.Pod) {
	t.Helper()
	b := newBench(t)
	b.pool.cfg.Hooks = hooks{b.node}
	p := newPod("web", "1", "a", "b")
	p.Spec.Containers[0].Lifecycle = &lifecycle
	return b, p
}

// TestPostStart checks that the next container starts only after the postStart hook has ended.
func TestPostStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, p := hooked(t, v1.Lifecycle{PostStart: hook("start", 0)})
		held := make(chan struct{})
		b.hold["hook"] = held
		b.create(p)
		expectCalls(t, b, "run-sandbox web#0", "start web/a#0", "hook c2 start")
		close(held)
		expectCalls(t, b, "start web/b#0")
		time.Sleep(slowHook)
		if b.recorded("web SlowPostStartHook") {
			t.Error("an event says that the hook takes long")
		}
	})
}

func TestPostStart_neverEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, p := hooked(t, v1.Lifecycle{PostStart: hook("start", 0)})
		b.hold["hook"] = make(chan struct{})
		b.create(p)
		time.Sleep(slowHook + time.Second)
		if !b.recorded("web SlowPostStartHook") {
			t.Error("no event says so")
		}
		b.kill(p)
		synctest.Wait()
	})
}

// TestPostStart_fails checks that a container whose hook fails is stopped with a reason in the
// pod's status, and that the other containers start.
func TestPostStart_fails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, p := hooked(t, v1.Lifecycle{PostStart: hook("start", 0)})
		b.fail["hook"] = errBroken
		b.create(p)
		expectCalls(t, b, "run-sandbox web#0", "start web/a#0", "hook c2 start", "stop c2 30s", "start web/b#0")
		if got := b.waitingReason(p, "a"); got != "PostStartHookError" {
			t.Errorf("it waits for %q", got)
		}
		if !b.recorded("web FailedPostStartHook") {
			t.Error("event FailedPostStartHook is missing")
		}
	})
}

// TestPostStart_ofAPodThatEnds checks that the termination of a pod does not wait for a hook
// that never ends.
func TestPostStart_ofAPodThatEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, p := hooked(t, v1.Lifecycle{PostStart: hook("start", 0)})
		b.hold["hook"] = make(chan struct{})
		b.create(p)
		expectCalls(t, b, "run-sandbox web#0", "start web/a#0", "hook c2 start")
		b.kill(p)
		expectCalls(t, b, "stop c2 30s", "stop-sandbox s1", "teardown 1", "remove-cgroup 1")
	})
}

// TestPreStop checks that the time of a preStop hook is part of the grace period.
func TestPreStop(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		sleeps int64
		grace  string
		warns  bool
	}{
		"takes a part of the grace period": {10, "20s", false},
		"takes all of it":                  {40, "2s", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b, p := hooked(t, v1.Lifecycle{PreStop: hook("stop", tc.sleeps)})
				b.create(p)
				expectCalls(t, b, "run-sandbox web#0", "start web/a#0", "start web/b#0")
				b.kill(p)
				expectCalls(t, b, "stop c3 30s")
				time.Sleep(time.Duration(tc.sleeps) * time.Second)
				var want []string
				if !tc.warns {
					want = []string{"hook c2 stop"}
				}
				expectCalls(t, b, append(want, "stop c2 "+tc.grace, "stop-sandbox s1", "teardown 1", "remove-cgroup 1")...)
				if b.recorded("web FailedPreStopHook") != tc.warns {
					t.Errorf("event FailedPreStopHook: want %v", tc.warns)
				}
			})
		})
	}
}

// TestPreStop_restored checks that the preStop hook of a container without a known spec is
// restored from its annotations.
func TestPreStop_restored(t *testing.T) {
	t.Parallel()
	const preStop = "io.kubernetes.container.preStopHandler"
	for name, tc := range map[string]struct {
		annotations map[string]string
		hostNetwork bool
		calls       []string
		warns       bool
	}{
		"without a hook":        {nil, false, []string{"stop c0 1s"}, false},
		"a program":             {map[string]string{preStop: `{"exec":{"command":["stop"]}}`}, false, []string{"hook c0 stop", "stop c0 2s"}, false},
		"a request":             {map[string]string{preStop: `{"httpGet":{"path":"/stop","port":"web"}}`}, false, []string{"hook c0 10.0.0.9:/stop", "stop c0 2s"}, false},
		"on the node's network": {map[string]string{preStop: `{"httpGet":{"path":"/stop","port":"web"}}`}, true, []string{"hook c0 192.0.2.1:/stop", "stop c0 2s"}, false},
		"nothing readable":      {map[string]string{preStop: `{`}, false, []string{"stop c0 1s"}, true},
		"longer than the grace": {map[string]string{preStop: `{"exec":{"command":["stop"]},"sleep":{"seconds":5}}`}, false, []string{"stop c0 2s"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.pool.cfg.Hooks, b.pool.cfg.Restore = hooks{b.node}, criconfig.RestoreContainer
				b.pool.cfg.HostIPs = func() []string { return []string{"192.0.2.1"} }
				orphan(b, "c0")
				b.change("9", func(o *status.ObservedPod) {
					o.Containers[0].Annotations, o.Sandboxes[0].HostNetwork = tc.annotations, tc.hostNetwork
					if !tc.hostNetwork {
						o.Sandboxes[0].IPs = []string{"10.0.0.9"}
					}
				})
				b.pool.KillOrphan(&b.pool.Orphans()[0])
				time.Sleep(orphanGrace)
				expectCalls(t, b, append(tc.calls, "stop-sandbox s0")...)
				if b.recorded("stray FailedPreStopHook") != tc.warns {
					t.Errorf("event FailedPreStopHook: want %v", tc.warns)
				}
			})
		})
	}
}

// TestPreStop_ofAContainerThatTheSpecHasLost checks that a container that is no longer in the
// spec is stopped with the hook in its annotations.
func TestPreStop_ofAContainerThatTheSpecHasLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.pool.cfg.Hooks, b.pool.cfg.Restore = hooks{b.node}, criconfig.RestoreContainer
		p := newPod("web", "1", "a", "b")
		b.create(p)
		expectCalls(t, b, "run-sandbox web#0", "start web/a#0", "start web/b#0")
		b.change("1", func(o *status.ObservedPod) {
			for i := range o.Containers {
				o.Containers[i].Annotations = map[string]string{"io.kubernetes.container.preStopHandler": `{"exec":{"command":["stop"]}}`}
			}
		})
		less := newPod("web", "1", "a")
		b.update(less)
		expectCalls(t, b, "hook c3 stop", "stop c3 30s")
	})
}
