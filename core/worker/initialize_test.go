package worker

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/status"
)

// initPod returns a pod with two init containers, a sidecar between them, and a regular
// container.
func initPod() *v1.Pod {
	p := newPod("web", "1", "main")
	for _, name := range []string{"first", "sidecar", "last"} {
		p.Spec.InitContainers = append(p.Spec.InitContainers, v1.Container{Name: name, Image: "img"})
	}
	p.Spec.InitContainers[1].RestartPolicy = new(v1.ContainerRestartPolicyAlways)
	return p
}

// TestPlan_initContainers checks the order in which init containers and the other containers
// start.
func TestPlan_initContainers(t *testing.T) {
	t.Parallel()
	type instances map[string]status.ObservedContainer
	runs := status.ObservedContainer{State: status.StateRunning}
	ended := func(code int32) status.ObservedContainer {
		return status.ObservedContainer{State: status.StateExited, ExitCode: code}
	}
	elsewhere := func(o status.ObservedContainer) status.ObservedContainer { o.SandboxID = "s0"; return o }
	unknown, made := status.ObservedContainer{State: status.StateUnknown}, status.ObservedContainer{State: status.StateCreated}
	oom := ended(0)
	oom.Reason = "OOMKilled"
	const never = v1.RestartPolicyNever
	for name, tc := range map[string]struct {
		policy v1.RestartPolicy
		has    instances
		want   planned
	}{
		"none has run":                              {has: instances{}, want: planned{Start: []string{"first"}}},
		"the first one is at work":                  {has: instances{"first": runs}},
		"the first one was made and never ran":      {has: instances{"first": made}, want: planned{Start: []string{"first"}}},
		"the first one has ended well":              {has: instances{"first": ended(0)}, want: planned{Start: []string{"sidecar"}}},
		"the first one failed":                      {has: instances{"first": ended(1)}, want: planned{Start: []string{"first"}}},
		"the first one failed and may not again":    {policy: never, has: instances{"first": ended(1)}, want: planned{KillPod: true}},
		"the first one ran out of memory":           {has: instances{"first": oom}, want: planned{Start: []string{"first"}}},
		"the first one ran out of memory, for good": {policy: never, has: instances{"first": oom}, want: planned{KillPod: true}},
		"nobody knows whether the first one runs":   {has: instances{"first": unknown}, want: planned{Stop: []string{"id-first"}, Start: []string{"first"}}},
		"the sidecar runs":                          {has: instances{"first": ended(0), "sidecar": runs}, want: planned{Start: []string{"last"}}},
		"the sidecar has ended":                     {has: instances{"first": ended(0), "sidecar": ended(0)}, want: planned{Start: []string{"sidecar"}}},
		"the sidecar ends whatever the pod's policy": {
			policy: never, has: instances{"first": ended(0), "sidecar": ended(1), "last": runs}, want: planned{Start: []string{"sidecar"}},
		},
		"the sidecar ends while the last one is at work": {has: instances{"sidecar": ended(1), "last": runs}, want: planned{Start: []string{"sidecar"}}},
		"the last one failed, the sidecar has ended": {
			has: instances{"sidecar": ended(1), "last": ended(1)}, want: planned{Start: []string{"sidecar", "last"}},
		},
		"all have ended well":                                  {has: instances{"first": ended(0), "sidecar": runs, "last": ended(0)}, want: planned{Start: []string{"main"}}},
		"only the last one is known":                           {has: instances{"last": ended(0)}, want: planned{Start: []string{"sidecar", "main"}}},
		"the main container runs":                              {has: instances{"sidecar": runs, "main": runs}},
		"the main container runs, nothing else is known":       {has: instances{"main": runs}, want: planned{Start: []string{"sidecar"}}},
		"the main container runs, and an init container fails": {has: instances{"first": ended(1), "sidecar": runs, "main": runs}},
		"the main container has ended": {
			policy: never, has: instances{"sidecar": runs, "last": ended(0), "main": ended(0)}, want: planned{KillPod: true},
		},
		"the main container has ended, and so has the sidecar": {
			policy: never, has: instances{"sidecar": ended(0), "last": ended(0), "main": ended(0)}, want: planned{KillPod: true},
		},
		"all ended in a sandbox before": {
			has:  instances{"first": elsewhere(ended(0)), "sidecar": elsewhere(ended(0)), "last": elsewhere(ended(0)), "main": elsewhere(ended(0))},
			want: planned{Start: []string{"first"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := initPod()
			if tc.policy != "" {
				p.Spec.RestartPolicy = tc.policy
			}
			o := &status.ObservedPod{Sandboxes: []status.ObservedSandbox{{ID: "s1", Ready: true, IPs: []string{"10.0.0.1"}}}}
			for name, c := range tc.has {
				c.ID, c.Name = "id-"+name, name
				if c.SandboxID == "" {
					c.SandboxID = "s1"
				}
				o.Containers = append(o.Containers, c)
			}
			a := plan(p, o)
			got := planned{KillPod: a.KillPod, CreateSandbox: a.CreateSandbox, Start: a.Start}
			for _, s := range a.Stop {
				got.Stop = append(got.Stop, s.ID)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPlan_newSandboxOfAPodWithInitContainers checks that a new sandbox begins with the first
// init container, and that ephemeral containers wait for it.
func TestPlan_newSandboxOfAPodWithInitContainers(t *testing.T) {
	t.Parallel()
	p := initPod()
	p.Spec.EphemeralContainers = []v1.EphemeralContainer{{EphemeralContainerCommon: v1.EphemeralContainerCommon{Name: "debug"}}}
	if got := plan(p, &status.ObservedPod{}).Start; !slices.Equal(got, []string{"first"}) {
		t.Errorf("starts %v", got)
	}
}

// TestPlan_ephemeralContainers checks that an ephemeral container starts only once, whatever
// the other containers do.
func TestPlan_ephemeralContainers(t *testing.T) {
	t.Parallel()
	p, o := good()
	p.Spec.EphemeralContainers = []v1.EphemeralContainer{
		{EphemeralContainerCommon: v1.EphemeralContainerCommon{Name: "new"}},
		{EphemeralContainerCommon: v1.EphemeralContainerCommon{Name: "ended"}},
	}
	o.Containers = append(o.Containers, status.ObservedContainer{ID: "e", Name: "ended", State: status.StateExited, ExitCode: 1})
	if got := plan(p, o).Start; !slices.Equal(got, []string{"new"}) {
		t.Errorf("starts %v", got)
	}
}

// TestInitContainers checks that init containers start one after the other, before the main
// container.
func TestInitContainers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := initPod()
		b.create(p)
		expectCalls(t, b, "run-sandbox web#0", "start web/first#0")
		b.exit(b.newest("1", "first").ID, 0)
		b.sync(p)
		expectCalls(t, b, "start web/sidecar#0")
		b.sync(p)
		expectCalls(t, b, "start web/last#0")
		b.exit(b.newest("1", "last").ID, 0)
		b.sync(p)
		expectCalls(t, b, "start web/main#0")
		if got, _ := b.pool.cfg.Statuses.Get("1"); got.Phase != v1.PodPending && got.Phase != v1.PodRunning {
			t.Errorf("phase %s", got.Phase)
		}
	})
}

// TestWaitTurn checks that a sidecar waits for the other containers at most for the grace
// period, and then has at least two seconds of its own.
func TestWaitTurn(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		after time.Duration
		grace time.Duration
		// waits is how long the sidecar waits, and left the grace period that it then has.
		waits, left time.Duration
	}{
		"the others stop soon":           {3500 * time.Millisecond, 30 * time.Second, 3500 * time.Millisecond, 27 * time.Second},
		"the others stop too late":       {time.Minute, 10 * time.Second, 10 * time.Second, 2 * time.Second},
		"the others have hardly ended":   {9 * time.Second, 10 * time.Second, 9 * time.Second, 2 * time.Second},
		"the others have stopped before": {0, 10 * time.Second, 0, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := &Pool{cfg: Config{Now: time.Now}}
				stopped := []chan struct{}{make(chan struct{})}
				time.AfterFunc(tc.after, func() { close(stopped[0]) })
				began := time.Now()
				left := p.waitTurn(context.Background(), []int{0}, stopped, tc.grace)
				if waited := time.Since(began); waited != tc.waits || left != tc.left {
					t.Errorf("waited %s and has %s, want %s and %s", waited, left, tc.waits, tc.left)
				}
			})
		})
	}
}

// TestKillPod_sidecarOutlivesFailure checks that a sidecar is not stopped before the main
// container. If the main container cannot be stopped, the sidecar runs until the next try.
func TestKillPod_sidecarOutlivesFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := initPod()
		b.create(p)
		synctest.Wait()
		b.exit(b.newest("1", "first").ID, 0)
		b.sync(p)
		synctest.Wait()
		b.sync(p)
		synctest.Wait()
		b.exit(b.newest("1", "last").ID, 0)
		b.sync(p)
		synctest.Wait()
		b.taken()
		sidecar, main := b.newest("1", "sidecar").ID, b.newest("1", "main").ID
		b.fail["stop "+main] = errors.New("the runtime is away")
		b.kill(p)
		expectCalls(t, b, "stop "+main+" 30s")
		delete(b.fail, "stop "+main)
		syncFor(b, p, time.Minute)
		expectCalls(t, b, "stop "+main+" 30s", "stop "+sidecar+" 30s", "stop-sandbox s1", "teardown 1", "remove-cgroup 1")
	})
}

// TestOrderStops checks that sidecars stop after the regular containers, in the reverse order
// of their start.
func TestOrderStops(t *testing.T) {
	t.Parallel()
	p := initPod()
	p.Spec.InitContainers = append(p.Spec.InitContainers, v1.Container{Name: "second", RestartPolicy: new(v1.ContainerRestartPolicyAlways)})
	stops := []StopContainer{{Name: "sidecar"}, {Name: "main"}, {Name: "second"}, {Name: "last"}, {Name: "gone"}}
	orderStops(p, stops)
	got := map[string][]int{}
	for _, s := range stops {
		got[s.Name] = s.after
	}
	want := map[string][]int{"main": nil, "last": nil, "gone": nil, "second": {1}, "sidecar": {1, 2}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPlan_probes checks that a failed probe restarts only its container, with the grace period
// of the probe. If the pod may not restart, the container is only stopped.
func TestPlan_probes(t *testing.T) {
	t.Parallel()
	failed := func(id string) string {
		if id == "id-foo2" || id == "id-sidecar" {
			return "failed liveness probe"
		}
		return ""
	}
	p, o := good()
	p.Spec.Containers[1].LivenessProbe = &v1.Probe{TerminationGracePeriodSeconds: new(int64(5))}
	a := Plan(p, o, &v1.PodStatus{}, hash, failed)
	if len(a.Stop) != 1 || a.Stop[0].ID != "id-foo2" || a.Stop[0].Message != "Container foo2 failed liveness probe, will be restarted" ||
		a.Stop[0].grace != 5*time.Second || !slices.Equal(a.Start, []string{"foo2"}) || a.KillPod {
		t.Errorf("plan %+v", a)
	}
	p.Spec.RestartPolicy = v1.RestartPolicyNever
	if a = Plan(p, o, &v1.PodStatus{}, hash, failed); len(a.Stop) != 1 || a.Stop[0].Message != "Container foo2 failed liveness probe" || len(a.Start) != 0 || a.KillPod {
		t.Errorf("plan of a pod that may not restart %+v", a)
	}
	// The last init container waits for the startup probe of the sidecar before it.
	p = initPod()
	p.Spec.InitContainers[1].StartupProbe = &v1.Probe{}
	o = &status.ObservedPod{Sandboxes: []status.ObservedSandbox{{ID: "s1", Ready: true, IPs: []string{"10.0.0.1"}}}, Containers: []status.ObservedContainer{
		{ID: "other", Name: "sidecar", SandboxID: "s1", State: status.StateRunning},
	}}
	for started, want := range map[bool][]string{false: nil, true: {"last"}} {
		st := &v1.PodStatus{InitContainerStatuses: []v1.ContainerStatus{{Name: "sidecar", Started: &started}}}
		if got := Plan(p, o, st, hash, failed).Start; !slices.Equal(got, want) {
			t.Errorf("started %v: starts %v, want %v", started, got, want)
		}
	}
	o.Containers[0].ID = "id-sidecar"
	if a = Plan(p, o, &v1.PodStatus{}, hash, failed); len(a.Stop) != 1 || !slices.Equal(a.Start, []string{"sidecar"}) {
		t.Errorf("plan of a sidecar that failed %+v", a)
	}
}
