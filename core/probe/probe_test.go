package probe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/handler"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// rig is a Manager with a runner whose results the test sets.
type rig struct {
	*testing.T
	*Manager
	statuses *status.Store

	mu sync.Mutex
	// ok has the results of probes, by container. err, if not nil, is the reason why probes cannot
	// be carried out.
	ok  map[string]bool
	err error
	// times are the times at which each container was probed, since the beginning.
	times  map[string][]time.Duration
	began  time.Time
	events []string
}

// Probe takes as long as the probe's timeout, and no time without a timeout.
func (r *rig) Probe(ctx context.Context, to handler.Target, spec *v1.Probe) (handler.Outcome, error) {
	if spec.TimeoutSeconds > 0 {
		select {
		case <-time.After(time.Duration(spec.TimeoutSeconds) * time.Second):
		case <-ctx.Done():
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.times[to.Container.Name] = append(r.times[to.Container.Name], time.Since(r.began))
	return handler.Outcome{OK: r.ok[to.Container.Name], Message: "it says no"}, r.err
}

func (r *rig) Event(_ *v1.Pod, _, reason, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, reason+": "+message)
}

func (r *rig) ContainerEvent(_ *v1.Pod, container, _, reason, message string) {
	r.Event(nil, "", reason, container+": "+message)
}

func (r *rig) find(container string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ok[container] = ok
}

func (r *rig) probed(container string) []time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]time.Duration{}, r.times[container]...)
}

// run runs body in a bubble, with an agent that has run for a day.
func run(t *testing.T, body func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{T: t, statuses: status.NewStore(), ok: map[string]bool{}, times: map[string][]time.Duration{}}
		r.Manager = New(Config{
			Runner: r, Statuses: r.statuses, Events: r, Owner: func(p *v1.Pod) string { return p.Labels["tenant"] },
			Spread: func(d time.Duration) time.Duration { return d / 2 }, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		})
		time.Sleep(24 * time.Hour)
		r.began = time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { r.Manager.Run(ctx) })
		defer running.Wait()
		defer cancel()
		body(r)
	})
}

// newPod returns a pod with one container, "main".
func newPod(probes v1.Container) *v1.Pod {
	probes.Name = "main"
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u1"}}
	p.Spec.Containers = []v1.Container{probes}
	return p
}

func every(seconds int32) *v1.Probe {
	return &v1.Probe{ProbeHandler: v1.ProbeHandler{TCPSocket: &v1.TCPSocketAction{}}, PeriodSeconds: seconds, SuccessThreshold: 1, FailureThreshold: 3}
}

// starts shows a container with this ID as running from now on, as a worker does when it starts
// one.
func (r *rig) starts(p *v1.Pod, id string) {
	r.Helper()
	st := status.Generate(status.Input{Pod: p, Probes: r.Manager, Now: time.Now(), RuntimeName: "containerd", Observed: status.ObservedPod{
		UID: p.UID, Sandboxes: []status.ObservedSandbox{{ID: "s", Ready: true, IPs: []string{"10.0.0.1"}}}, IPs: []string{"10.0.0.1"},
		Containers: []status.ObservedContainer{{ID: id, SandboxID: "s", Name: "main", State: status.StateRunning, StartedAt: time.Now()}},
	}})
	if _, err := r.statuses.Set(p, st); err != nil {
		r.Fatal(err)
	}
	r.Nudge(p.UID)
}

// is returns two facts from the container's status: whether it has started, and whether it is
// ready.
func (r *rig) is(p *v1.Pod) string {
	st, _ := r.statuses.Get(p.UID)
	c := pod.ContainerStatus(&st, "main")
	text := ""
	if c != nil && c.Started != nil && *c.Started {
		text += "started"
	}
	if c != nil && c.Ready {
		text += " ready"
	}
	return text
}

func (r *rig) want(p *v1.Pod, want string) {
	r.Helper()
	synctest.Wait()
	if got := r.is(p); got != want {
		r.Errorf("after %s the container is %q, want %q", time.Since(r.began), got, want)
	}
}

func (r *rig) wantDue(want ...types.UID) {
	r.Helper()
	synctest.Wait()
	if diff := cmp.Diff(want, r.TakeDue()); diff != "" && len(want)+len(r.TakeDue()) > 0 {
		r.Errorf("due (-want +got):\n%s", diff)
	}
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	run(t, func(r *rig) {
		p := newPod(v1.Container{ReadinessProbe: every(10)})
		r.Add(p)
		time.Sleep(3 * time.Second)
		r.starts(p, "one")
		r.want(p, "started")
		if got := r.probed("main"); len(got) != 1 || got[0] != 3*time.Second {
			t.Errorf("probed at %v, want at once when it started", got)
		}
		r.find("main", true)
		time.Sleep(10 * time.Second)
		r.want(p, "started ready")
		r.wantDue("u1")
		r.find("main", false)
		time.Sleep(20 * time.Second)
		r.want(p, "started ready")
		time.Sleep(10 * time.Second)
		r.want(p, "started")
		r.starts(p, "two")
		r.want(p, "started")
		if got := r.Ready("one"); got != status.ProbeUnknown {
			t.Errorf("of a container that is gone: %v", got)
		}
		if r.events[0] != "Unhealthy: main: Readiness probe failed: it says no" {
			t.Errorf("events %q", r.events)
		}
	})
}

func TestLiveness(t *testing.T) {
	t.Parallel()
	run(t, func(r *rig) {
		probe := every(5)
		probe.InitialDelaySeconds = 12
		p := newPod(v1.Container{LivenessProbe: probe})
		r.Add(p)
		r.starts(p, "one")
		r.want(p, "started ready")
		time.Sleep(24 * time.Second)
		r.wantDue()
		if got := r.Failed("one"); got != "" {
			t.Errorf("it %s", got)
		}
		time.Sleep(time.Second)
		r.wantDue("u1")
		if got := r.Failed("one"); got != "failed liveness probe" {
			t.Errorf("it %q", got)
		}
		if diff := cmp.Diff([]time.Duration{15 * time.Second, 20 * time.Second, 25 * time.Second}, r.probed("main")); diff != "" {
			t.Errorf("probed (-want +got):\n%s", diff)
		}
		time.Sleep(time.Hour)
		if got := r.probed("main"); len(got) != 3 {
			t.Errorf("probed %d times: the result is final for the container", len(got))
		}
		r.starts(p, "two")
		if got := r.Failed("two"); got != "" {
			t.Errorf("the next container %s", got)
		}
	})
}

func TestStartup(t *testing.T) {
	t.Parallel()
	run(t, func(r *rig) {
		p := newPod(v1.Container{StartupProbe: every(1), LivenessProbe: every(1), ReadinessProbe: every(1)})
		r.Add(p)
		r.starts(p, "one")
		time.Sleep(1500 * time.Millisecond)
		r.want(p, "")
		if got := len(r.probed("main")); got != 2 {
			t.Errorf("probed %d times: only the startup probe counts before the container has started", got)
		}
		r.find("main", true)
		time.Sleep(600 * time.Millisecond)
		r.want(p, "started ready")
		r.wantDue("u1")
		r.starts(p, "two")
		r.want(p, "started ready")
	})
}

func TestStartup_fails(t *testing.T) {
	t.Parallel()
	run(t, func(r *rig) {
		p := newPod(v1.Container{StartupProbe: every(1)})
		r.Add(p)
		r.starts(p, "one")
		time.Sleep(5 * time.Second)
		r.wantDue("u1")
		if got := r.Failed("one"); got != "failed startup probe" {
			t.Errorf("it %q", got)
		}
	})
}

// A probe that cannot be carried out does not affect the container.
func TestProbe_thatCannotBeCarriedOut(t *testing.T) {
	t.Parallel()
	run(t, func(r *rig) {
		r.err = errors.New("the runtime is away")
		p := newPod(v1.Container{LivenessProbe: every(1), ReadinessProbe: every(1)})
		r.Add(p)
		r.starts(p, "one")
		time.Sleep(time.Minute)
		r.wantDue()
		if got := r.Failed("one"); got != "" {
			t.Errorf("it %s", got)
		}
	})
}

// A ready pod stays ready when the agent restarts.
func TestReadiness_overARestart(t *testing.T) {
	t.Parallel()
	run(t, func(r *rig) {
		p := newPod(v1.Container{ReadinessProbe: every(10)})
		p.Status = v1.PodStatus{Phase: v1.PodRunning, ContainerStatuses: []v1.ContainerStatus{{
			Name: "main", ContainerID: "containerd://one", Ready: true, Started: new(true),
			State: v1.ContainerState{Running: &v1.ContainerStateRunning{}},
		}}}
		r.find("main", true)
		r.Add(p)
		r.starts(p, "one")
		r.want(p, "started ready")
		r.find("main", false)
		time.Sleep(40 * time.Second)
		r.want(p, "started")
	})
}

// After a start of the agent, probes are spread over their period.
func TestProbe_isSpreadAfterAStart(t *testing.T) {
	t.Parallel()
	run(t, func(r *rig) {
		r.started = time.Now()
		p := newPod(v1.Container{ReadinessProbe: every(10)})
		r.Add(p)
		r.starts(p, "one")
		time.Sleep(6 * time.Second)
		if diff := cmp.Diff([]time.Duration{5 * time.Second}, r.probed("main")); diff != "" {
			t.Errorf("probed (-want +got):\n%s", diff)
		}
	})
}

func TestProbe_delaysNoOthersProbes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		// timeout is the timeout of a thousand probes that hang, in seconds.
		timeout int32
		// tenant is the tenant of another pod. of is the tenant of the probes that hang. Both are
		// empty for no tenant.
		of, tenant string
		most       time.Duration
	}{
		"a second each, of another tenant":  {timeout: 1, of: "bad", tenant: "good"},
		"a second each, of no tenant":       {timeout: 1, of: "", tenant: ""},
		"an hour each, of another tenant":   {timeout: 3600, of: "bad", tenant: "good"},
		"an hour each, of a pod of none":    {timeout: 3600, of: "bad", tenant: ""},
		"an hour each, of none either":      {timeout: 3600, of: "", tenant: ""},
		"an hour each, of the tenant's own": {timeout: 3600, of: "bad", tenant: "bad", most: 32 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, func(r *rig) {
				for i := range 1000 {
					p := newPod(v1.Container{ReadinessProbe: every(1)})
					p.Spec.Containers[0].ReadinessProbe.TimeoutSeconds = tc.timeout
					p.UID, p.Labels = types.UID(fmt.Sprintf("bad%d", i)), map[string]string{"tenant": tc.of}
					r.Add(p)
					r.starts(p, string(p.UID))
				}
				synctest.Wait()
				good := newPod(v1.Container{ReadinessProbe: every(1)})
				good.Labels = map[string]string{"tenant": tc.tenant}
				r.find("main", true)
				r.Add(good)
				r.starts(good, "good")
				time.Sleep(tc.most)
				r.want(good, "started ready")
			})
		})
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	run(t, func(r *rig) {
		r.find("main", true)
		p := newPod(v1.Container{LivenessProbe: every(1), ReadinessProbe: every(1)})
		r.Add(p)
		r.starts(p, "one")
		time.Sleep(2500 * time.Millisecond)
		r.StopLiveness("u1")
		before := len(r.probed("main"))
		time.Sleep(2 * time.Second)
		if got := len(r.probed("main")) - before; got != 2 {
			t.Errorf("%d probes of a pod that ends in two seconds, want those of readiness", got)
		}
		r.Remove("u1")
		before = len(r.probed("main"))
		time.Sleep(time.Minute)
		if got := len(r.probed("main")) - before; got != 0 {
			t.Errorf("%d probes of a pod that is gone", got)
		}
		if got := r.Ready("one"); got != status.ProbeUnknown {
			t.Errorf("of a pod that is gone: %v", got)
		}
	})
}
