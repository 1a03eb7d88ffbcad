package worker

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/status"
)

// resetPod returns initPod with a second regular container. Only the sidecar restarts by its
// own policy. All containers restart if one of the triggers exits with 42.
func resetPod(triggers ...string) *v1.Pod {
	p := initPod()
	p.Spec.RestartPolicy = v1.RestartPolicyNever
	p.Spec.Containers = append(p.Spec.Containers, v1.Container{Name: "other", Image: "img"})
	for _, list := range [][]v1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range list {
			if c := &list[i]; strings.Contains(strings.Join(triggers, " "), c.Name) {
				if c.RestartPolicy == nil {
					c.RestartPolicy = new(v1.ContainerRestartPolicyNever)
				}
				c.RestartPolicyRules = []v1.ContainerRestartRule{{
					Action:    v1.ContainerRestartRuleActionRestartAllContainers,
					ExitCodes: &v1.ContainerRestartRuleOnExitCodes{Operator: v1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{42}},
				}}
			}
		}
	}
	return p
}

// TestPlan_reset checks which containers are removed before a pod starts anew, and in which
// order. A container whose ID has a ! is stopped before it is removed.
func TestPlan_reset(t *testing.T) {
	t.Parallel()
	is := func(name string, state status.ContainerState, code int32) status.ObservedContainer {
		return status.ObservedContainer{ID: "id-" + name, Name: name, SandboxID: "s1", State: state, ExitCode: code}
	}
	runs := func(name string) status.ObservedContainer { return is(name, status.StateRunning, 0) }
	ended := func(name string, code int32) status.ObservedContainer { return is(name, status.StateExited, code) }
	before := func(c status.ObservedContainer) status.ObservedContainer { c.ID = "old-" + c.Name; return c }
	elsewhere := func(c status.ObservedContainer) status.ObservedContainer { c.SandboxID = "s0"; return c }
	type instances = []status.ObservedContainer
	for name, tc := range map[string]struct {
		triggers []string
		has      instances
		change   func(*v1.Pod, *status.ObservedPod)
		want     []string
	}{
		"a regular container": {
			triggers: []string{"main"}, has: instances{ended("first", 0), runs("sidecar"), ended("last", 0), ended("main", 42), runs("other")},
			want: []string{"!id-other", "id-last", "!id-sidecar", "id-first", "id-main"},
		},
		"a sidecar": {
			triggers: []string{"sidecar"}, has: instances{ended("first", 0), ended("sidecar", 42), ended("last", 0), runs("main"), ended("other", 0)},
			want: []string{"id-other", "!id-main", "id-last", "id-first", "id-sidecar"},
		},
		"an init container": {
			triggers: []string{"last"}, has: instances{ended("first", 0), runs("sidecar"), ended("last", 42)},
			want: []string{"!id-sidecar", "id-first", "id-last"},
		},
		"two at once": {
			triggers: []string{"sidecar", "main"}, has: instances{ended("sidecar", 42), ended("main", 42), runs("other")},
			want: []string{"!id-other", "id-main", "id-sidecar"},
		},
		"all instances go, the newest of the trigger last": {
			triggers: []string{"main"}, has: instances{ended("main", 42), before(ended("main", 42)), before(ended("other", 1))},
			want: []string{"old-other", "old-main", "id-main"},
		},
		"only the trigger is left of a restart that was interrupted": {
			triggers: []string{"main"}, has: instances{ended("main", 42)}, want: []string{"id-main"},
		},
		"one that nobody knows to run is stopped": {
			triggers: []string{"main"}, has: instances{ended("main", 42), is("other", status.StateUnknown, 0)},
			want: []string{"!id-other", "id-main"},
		},
		"ephemeral containers stay": {
			triggers: []string{"main"}, has: instances{ended("main", 42), runs("debug")},
			change: func(p *v1.Pod, _ *status.ObservedPod) {
				p.Spec.EphemeralContainers = []v1.EphemeralContainer{{EphemeralContainerCommon: v1.EphemeralContainerCommon{Name: "debug"}}}
			},
			want: []string{"id-main"},
		},
		"a sandbox that is gone meanwhile": {
			triggers: []string{"main"}, has: instances{ended("main", 42), ended("other", 255)},
			change: func(_ *v1.Pod, o *status.ObservedPod) { o.Sandboxes[0].Ready = false },
			want:   []string{"id-other", "id-main"},
		},
		"not for another exit code":           {triggers: []string{"main"}, has: instances{ended("main", 41), runs("other")}},
		"not for an exit in a sandbox before": {triggers: []string{"main"}, has: instances{elsewhere(ended("main", 42)), runs("other")}},
		"not for an earlier exit":             {triggers: []string{"main"}, has: instances{runs("main"), before(ended("main", 42)), runs("other")}},
		"not for an exit of another":          {triggers: []string{"main"}, has: instances{runs("main"), ended("other", 42)}},
		"not in a pod that is being deleted": {
			triggers: []string{"main"}, has: instances{ended("main", 42), runs("other")},
			change: func(p *v1.Pod, _ *status.ObservedPod) { p.DeletionTimestamp = new(metav1.Now()) },
		},
		"not where a rule before it matches": {
			triggers: []string{"main"}, has: instances{ended("main", 42), runs("other")},
			change: func(p *v1.Pod, _ *status.ObservedPod) {
				c := &p.Spec.Containers[0]
				again := c.RestartPolicyRules[0]
				again.Action = v1.ContainerRestartRuleActionRestart
				c.RestartPolicyRules = append([]v1.ContainerRestartRule{again}, c.RestartPolicyRules...)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := resetPod(tc.triggers...)
			o := &status.ObservedPod{Sandboxes: []status.ObservedSandbox{{ID: "s1", Ready: true, IPs: []string{"10.0.0.1"}}}, Containers: tc.has}
			if tc.change != nil {
				tc.change(p, o)
			}
			a := plan(p, o)
			var got []string
			for _, r := range a.Reset {
				mark := ""
				if r.Stop {
					mark = "!"
				}
				got = append(got, mark+r.ID)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("reset (-want +got):\n%s", diff)
			}
			if tc.want != nil && (a.KillPod || a.CreateSandbox || len(a.Start)+len(a.Stop) > 0 || a.Empty()) {
				t.Errorf("the plan has more than the reset: %+v", a)
			}
		})
	}
}

// startReset starts all containers of a pod. The IDs are c2 for first, c3 for the sidecar, c4
// for last, c5 for main and c6 for other.
func startReset(t *testing.T, b *bench, p *v1.Pod) {
	t.Helper()
	b.create(p)
	synctest.Wait()
	for _, id := range []string{"c2", "", "c4"} {
		if id != "" {
			b.exit(id, 0)
		}
		b.sync(p)
		synctest.Wait()
	}
	if got := b.newest(p.UID, "main"); got.State != status.StateRunning {
		t.Fatalf("the pod has not started: %v", b.taken())
	}
	b.sync(p)
	synctest.Wait()
	b.taken()
}

// finishReset completes a restart of all containers. It checks that each has this attempt and
// restart count.
func finishReset(t *testing.T, b *bench, p *v1.Pod, attempt uint32) {
	t.Helper()
	for _, name := range []string{"first", "", "last"} {
		if name != "" {
			b.exit(b.newest(p.UID, name).ID, 0)
		}
		b.sync(p)
		synctest.Wait()
	}
	b.sync(p)
	synctest.Wait()
	st, _ := b.store.Get(p.UID)
	for _, list := range [][]v1.ContainerStatus{st.InitContainerStatuses, st.ContainerStatuses} {
		for i := range list {
			if c := &list[i]; c.RestartCount != int32(attempt) {
				t.Errorf("%s has the restart count %d, want %d", c.Name, c.RestartCount, attempt)
			}
			if c := b.newest(p.UID, list[i].Name); c.Attempt != attempt {
				t.Errorf("%s runs as attempt %d, want %d", c.Name, c.Attempt, attempt)
			}
		}
	}
	if st.Phase != v1.PodRunning {
		t.Errorf("the pod is %s", st.Phase)
	}
	if c := api.Condition(&st, v1.AllContainersRestarting); c == nil || c.Status != v1.ConditionFalse {
		t.Errorf("condition AllContainersRestarting is %+v", c)
	}
}

// TestPool_restartsAllContainers checks that all containers restart in the same sandbox, even
// if the policies say otherwise.
func TestPool_restartsAllContainers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		trigger, id string
		// ended are containers that have exited with 0 before.
		ended []string
		calls []string
	}{
		"for a regular container": {
			"main", "c5", nil,
			[]string{"stop c6 0s", "remove c6", "remove c4", "stop c3 0s", "remove c3", "remove c2", "remove c5", "start web/first#1"},
		},
		"for a sidecar, where all regular ones have to do no more": {
			"sidecar", "c3",
			[]string{"c6"},
			[]string{"remove c6", "stop c5 0s", "remove c5", "remove c4", "remove c2", "remove c3", "start web/first#1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				withOutcomes(b)
				p := resetPod(tc.trigger)
				startReset(t, b, p)
				for _, id := range tc.ended {
					b.exit(id, 0)
				}
				b.exit(tc.id, 42)
				b.sync(p)
				expectCalls(t, b, tc.calls...)
				if st, _ := b.store.Get("1"); st.Phase != v1.PodRunning && st.Phase != v1.PodPending {
					t.Errorf("the pod is %s while its containers restart", st.Phase)
				}
				finishReset(t, b, p, 1)
			})
		})
	}
}

// TestPool_goesOnWithARestartOfAll checks that a restart of all containers continues after a
// failed call, and after the agent was killed in between.
func TestPool_goesOnWithARestartOfAll(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ trigger, id, fails string }{
		"before anything is removed":            {"main", "c5", "stop c6"},
		"once the first is stopped":             {"main", "c5", "remove c6"},
		"once the regular ones are removed":     {"main", "c5", "remove c4"},
		"once all but the trigger are removed":  {"main", "c5", "remove c5"},
		"once all are removed":                  {"main", "c5", "start web/first"},
		"once the only regular one is stopped":  {"sidecar", "c3", "remove c5"},
		"once the only regular one is removed":  {"sidecar", "c3", "remove c4"},
		"once all but the sidecar are removed":  {"sidecar", "c3", "remove c3"},
		"once all are removed, for the sidecar": {"sidecar", "c3", "start web/first"},
	} {
		for _, killed := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					b := newBench(t)
					withOutcomes(b)
					p := resetPod(tc.trigger)
					if tc.trigger == "sidecar" {
						p.Spec.Containers = p.Spec.Containers[:1]
					}
					startReset(t, b, p)
					b.fail[tc.fails] = errBroken
					b.exit(tc.id, 42)
					b.sync(p)
					synctest.Wait()
					st, _ := b.store.Get("1")
					if c := api.Condition(&st, v1.AllContainersRestarting); tc.fails != "start web/first" && (c == nil || c.Status != v1.ConditionTrue || c.Reason != "RestartAllContainersStarted") {
						t.Errorf("condition AllContainersRestarting is %+v", c)
					}
					// The pod is synced once more while the call fails, as after an update.
					b.sync(p)
					synctest.Wait()
					if phase := b.phase("1"); phase != v1.PodRunning && phase != v1.PodPending {
						t.Errorf("the pod is %s", phase)
					}
					b.mu.Lock()
					delete(b.fail, tc.fails)
					b.mu.Unlock()
					if killed {
						had := b.node
						b = reboot(t, b)
						b.change("1", func(o *status.ObservedPod) { *o = snapshot(had.pods["1"]) })
						b.made = had.made
						b.create(p)
						synctest.Wait()
					}
					syncFor(b, p, 20*time.Second)
					finishReset(t, b, p, 1)
				})
			})
		}
	}
}

// TestPool_pacesRestartsOfAll checks that a pod that restarts all containers again waits for
// the backoff.
func TestPool_pacesRestartsOfAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := resetPod("main")
		startReset(t, b, p)
		b.exit("c5", 42)
		b.sync(p)
		synctest.Wait()
		finishReset(t, b, p, 1)
		b.taken()
		b.exit(b.newest("1", "main").ID, 42)
		b.sync(p)
		expectCalls(t, b)
		st, _ := b.store.Get("1")
		if w := st.ContainerStatuses[0].State.Waiting; w == nil || w.Reason != "CrashLoopBackOff" || !b.recorded("web BackOff") {
			t.Errorf("main is %+v", st.ContainerStatuses[0].State)
		}
		syncFor(b, p, 8*time.Second)
		expectCalls(t, b)
		syncFor(b, p, 4*time.Second)
		finishReset(t, b, p, 2)
	})
}
