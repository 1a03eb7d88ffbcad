package instrument

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/checkpoint"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/core/syncloop"
	"github.com/wardlet/wardlet/core/worker"
)

// newTestMeters returns the meters of an agent with two tenants.
func newTestMeters() *Meters {
	m := New(Options{
		Node: "edge", Policies: true, Logger: slog.New(slog.DiscardHandler),
		Tenants: []config.Tenant{{Name: "a", Namespaces: []string{"a", "a-*"}}, {Name: "b", Namespaces: []string{"b-*"}}},
	})
	m.starts = newStarts(m.Workers, noonOfMeters)
	return m
}

var noonOfMeters = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// measured returns the samples whose names begin with a prefix, without buckets and samples of
// value 0.
func measured(t *testing.T, h http.Handler, prefix string) []string {
	t.Helper()
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	var all []string
	for line := range strings.Lines(answer.Body.String()) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, prefix) && !strings.Contains(line, "_bucket{") && !strings.HasSuffix(line, " 0") {
			all = append(all, line)
		}
	}
	return all
}

func meteredPod(uid types.UID, namespace, source string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web", UID: uid, Annotations: map[string]string{pod.AnnotationSource: source}},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "main"}}},
	}
}

func TestOwnersOfNamespaces(t *testing.T) {
	t.Parallel()
	of := newTestMeters().Tenants.Of
	for namespace, want := range map[string]string{"a": "a", "a-web": "a", "b-": "b", "b": "", "default": "", "": ""} {
		if got := of(namespace); got != want {
			t.Errorf("namespace %q is %q's, want %q", namespace, got, want)
		}
	}
}

func TestPodsAreTimedFromWhenTheyWereFirstSeen(t *testing.T) {
	t.Parallel()
	at := func(seconds int) time.Time { return noonOfMeters.Add(time.Duration(seconds) * time.Second) }
	for name, test := range map[string]struct {
		seen   int // seconds after the start of the agent
		phases []v1.PodPhase
		gone   bool
		began  []string
		runs   []string
	}{
		"a pod that starts": {
			1,
			[]v1.PodPhase{v1.PodPending, v1.PodRunning, v1.PodRunning},
			false,
			[]string{"kubelet_pod_worker_start_duration_seconds_sum 1", "kubelet_pod_worker_start_duration_seconds_count 1"},
			[]string{"kubelet_pod_start_duration_seconds_sum 9", "kubelet_pod_start_duration_seconds_count 1"},
		},
		"one that was seen by an earlier agent": {-1, []v1.PodPhase{v1.PodPending, v1.PodRunning}, false, nil, nil},
		"one that fails": {
			1,
			[]v1.PodPhase{v1.PodFailed, v1.PodRunning},
			false,
			[]string{"kubelet_pod_worker_start_duration_seconds_sum 1", "kubelet_pod_worker_start_duration_seconds_count 1"},
			nil,
		},
		"one that is gone before it runs": {
			1,
			[]v1.PodPhase{v1.PodPending, v1.PodRunning},
			true,
			[]string{"kubelet_pod_worker_start_duration_seconds_sum 1", "kubelet_pod_worker_start_duration_seconds_count 1"},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newTestMeters()
			p := meteredPod("u", "a", "static")
			m.starts.begun(p, at(test.seen), at(2))
			if test.gone {
				m.starts.keep(func(types.UID) bool { return false })
			}
			for _, phase := range test.phases {
				m.starts.is("u", phase, at(10))
			}
			if diff := cmp.Diff(test.began, measured(t, m.Metrics.Handler(), "kubelet_pod_worker_start")); diff != "" {
				t.Errorf("workers (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.runs, measured(t, m.Metrics.Handler(), "kubelet_pod_start")); diff != "" {
				t.Errorf("starts (-want +got):\n%s", diff)
			}
			if test.phases[len(test.phases)-1] == v1.PodRunning && len(m.starts.seen) != 0 {
				t.Error("a pod that runs is still remembered")
			}
		})
	}
}

// runtimeOf is a runtime that returns err from every call.
type runtimeOf struct {
	worker.Runtime
	worker.Images
	err error
}

func (r runtimeOf) RunSandbox(context.Context, pod.SandboxRun) (string, error) { return "s", r.err }

func (r runtimeOf) StartContainer(context.Context, pod.ContainerRun) (string, error) {
	return "c", r.err
}

func (r runtimeOf) Ensure(context.Context, *v1.Pod, *v1.Container) (string, error) {
	return "i", r.err
}

func TestWhatIsMadeOfPodsIsCounted(t *testing.T) {
	t.Parallel()
	fault := &status.Fault{Reason: "CreateContainerError", Err: errors.New("no")}
	ended, end := context.WithCancel(t.Context())
	end()
	for name, test := range map[string]struct {
		ctx  context.Context
		err  error
		want []string
	}{
		"well": {t.Context(), nil, []string{
			`kubelet_started_containers_total{container_type="container"} 1`, "kubelet_started_pods_total 1",
		}},
		"with a reason": {t.Context(), fault, []string{
			`kubelet_started_containers_errors_total{code="CreateContainerError",container_type="container"} 2`,
			`kubelet_started_containers_total{container_type="container"} 1`, "kubelet_started_pods_errors_total 1", "kubelet_started_pods_total 1",
		}},
		"without a reason": {t.Context(), errors.New("no"), []string{
			`kubelet_started_containers_errors_total{code="ErrImagePull",container_type="container"} 1`,
			`kubelet_started_containers_errors_total{code="RunContainerError",container_type="container"} 1`,
			`kubelet_started_containers_total{container_type="container"} 1`, "kubelet_started_pods_errors_total 1", "kubelet_started_pods_total 1",
		}},
		"of a pod that is to end": {ended, context.Canceled, []string{
			`kubelet_started_containers_total{container_type="container"} 1`, "kubelet_started_pods_total 1",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newTestMeters()
			r, i := Runtime{runtimeOf{err: test.err}, m.Workers}, Images{runtimeOf{err: test.err}, m.Workers}
			sandbox, err := r.RunSandbox(test.ctx, pod.SandboxRun{})
			image, imageErr := i.Ensure(test.ctx, nil, nil)
			container, containerErr := r.StartContainer(test.ctx, pod.ContainerRun{})
			if sandbox != "s" || image != "i" || container != "c" || !slices.Equal([]error{err, imageErr, containerErr}, []error{test.err, test.err, test.err}) {
				t.Errorf("%s, %s, %s: %v, %v, %v", sandbox, image, container, err, imageErr, containerErr)
			}
			if diff := cmp.Diff(test.want, measured(t, m.Metrics.Handler(), "kubelet_started")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// denies answers every question at once.
type denies struct{ mux.Gate }

func (denies) Judge(_ api.Question, answer func(api.Verdict)) {
	answer(api.Verdict{Answer: api.Deny, Opinions: []api.Opinion{{Policy: "p", Fuel: 5}}})
}

func (denies) Connect(_ api.Question, answer func(api.Verdict)) {
	answer(api.Verdict{Answer: api.Deny, Opinions: []api.Opinion{{Policy: "p", Fuel: 3}}})
}

// rejects is a resolver that chooses no candidate.
type rejects struct{ mux.Resolver }

func (rejects) Resolve(_ api.Contest, answer func(api.Resolution)) {
	answer(api.Resolution{Choice: api.ChooseNone})
}

// defers is a filter that defers every update.
type defers struct{}

func (defers) FilterChanged() <-chan struct{} { return nil }

func (defers) Filter(_ api.FilterQuestion, answer func(api.FilterVerdict)) {
	answer(api.FilterVerdict{Answer: api.Defer, Opinions: []api.Opinion{{Policy: "p", Fuel: 2}, {Policy: "q", Tenant: "b", Fuel: 1}}})
}

func TestVerdictsAreCountedByTheTenantOfThePod(t *testing.T) {
	t.Parallel()
	m := newTestMeters()
	answered := 0
	web, mirror := meteredPod("u", "a-web", "static"), meteredPod("m", "a-web", pod.SourceAPI)
	mirror.Annotations[pod.AnnotationMirror] = "x"
	gate := Gate{denies{}, m}
	gate.Judge(api.Question{Pod: web}, func(v api.Verdict) {
		if v.Answer == api.Deny {
			answered++
		}
	})
	gate.Judge(api.Question{Pod: mirror}, func(api.Verdict) { answered++ })
	Filter{defers{}, m}.Filter(api.FilterQuestion{Pod: web}, func(v api.FilterVerdict) {
		if v.Answer == api.Defer {
			answered++
		}
	})
	Resolver{rejects{}, m}.Resolve(api.Contest{Identity: types.NamespacedName{Namespace: "default"}}, func(r api.Resolution) {
		if r.Choice == api.ChooseNone {
			answered++
		}
	})
	Connections{denies{}, m}.Connect(api.Question{Pod: web, Connection: &api.Connection{}}, func(v api.Verdict) {
		if v.Answer == api.Deny {
			answered++
		}
	})
	if answered != 5 {
		t.Errorf("%d answers were handed on, want 5", answered)
	}
	want := []string{
		`wardlet_policy_fuel_total{policy="p",tenant="operator"} 10`, `wardlet_policy_fuel_total{policy="q",tenant="b"} 1`,
		`wardlet_policy_verdicts_total{hook="admit",tenant="a",verdict="deny"} 1`,
		`wardlet_policy_verdicts_total{hook="connect",tenant="a",verdict="deny"} 1`,
		`wardlet_policy_verdicts_total{hook="filter",tenant="a",verdict="defer"} 1`,
		`wardlet_policy_verdicts_total{hook="merge",tenant="operator",verdict="none"} 1`,
	}
	got := slices.Concat(measured(t, m.Metrics.Handler(), "wardlet_policy_fuel"), measured(t, m.Metrics.Handler(), "wardlet_policy_verdicts"))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAContainerIsCountedOnceWhenItIsFirstShownAsEnded(t *testing.T) {
	t.Parallel()
	running := v1.ContainerStatus{Name: "a", State: v1.ContainerState{Running: &v1.ContainerStateRunning{}}}
	ended := func(name string, code int32, reason string) v1.ContainerStatus {
		return v1.ContainerStatus{Name: name, State: v1.ContainerState{Terminated: &v1.ContainerStateTerminated{ExitCode: code, Reason: reason}}}
	}
	m := newTestMeters()
	shown := status.NewStore()
	dir, err := state.Open(t.TempDir()+"/state", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	o := Outcomes{checkpoint.NewOutcomes(dir.Outcomes(), slog.New(slog.DiscardHandler)), m, shown.Get}
	o.Wanted = func(types.UID) bool { return true }
	p := meteredPod("u", "a", "static")
	p.Annotations[pod.AnnotationHash] = "h"
	for _, containers := range [][]v1.ContainerStatus{
		{running},
		{ended("a", 1, "Error"), ended("b", 0, "Completed")},
		{ended("a", 1, "Error"), ended("b", 0, "Completed")},
		{running, ended("b", 0, "Completed")},
		{ended("a", 1, "Error"), ended("b", 0, "Completed")},
	} {
		st := v1.PodStatus{Phase: v1.PodRunning, ContainerStatuses: containers}
		o.Save(p, &st)
		if _, err := shown.Set(p, st); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		`kubelet_terminated_containers_total{container_type="container",exit_code="0",reason="Completed"} 1`,
		`kubelet_terminated_containers_total{container_type="container",exit_code="1",reason="Error"} 2`,
	}
	if diff := cmp.Diff(want, measured(t, m.Metrics.Handler(), "kubelet_terminated")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// crew imitates the workers that the sync loop uses.
type crew struct {
	syncloop.Workers
	has, ending map[types.UID]bool
	asked       []worker.Kind
}

func (c *crew) Has(uid types.UID) bool                  { return c.has[uid] }
func (c *crew) TerminationRequested(uid types.UID) bool { return c.ending[uid] }
func (c *crew) Submit(r worker.Request)                 { c.asked = append(c.asked, r.Kind) }
func (c *crew) KillOrphan(*worker.Orphan)               { c.asked = append(c.asked, worker.Kill) }

func (*crew) SyncKnownPods(func(types.UID) bool) map[types.UID]worker.State { return nil }

func TestWhatIsAskedOfWorkersIsCounted(t *testing.T) {
	t.Parallel()
	m := newTestMeters()
	c := &crew{has: map[types.UID]bool{"known": true, "ending": true}, ending: map[types.UID]bool{"ending": true}}
	w := Workers{c, m}
	seen := api.Origin{FirstSeen: noonOfMeters}
	w.Submit(worker.Request{Kind: worker.Create, Pod: meteredPod("new", "a", "static"), Origin: seen})
	w.Submit(worker.Request{Kind: worker.Create, Pod: meteredPod("known", "a", "static"), Origin: seen})
	w.Submit(worker.Request{Kind: worker.Create, Pod: meteredPod("ending", "a", pod.SourceAPI), Origin: seen})
	w.Submit(worker.Request{Kind: worker.Update, Pod: meteredPod("other", "a", "static"), Origin: seen})
	w.Submit(worker.Request{Kind: worker.Kill, Observed: &status.ObservedPod{UID: "orphan"}})
	w.KillOrphan(&worker.Orphan{})
	if want := []worker.Kind{worker.Create, worker.Create, worker.Create, worker.Update, worker.Kill, worker.Kill}; !slices.Equal(c.asked, want) {
		t.Errorf("asked %v, want %v", c.asked, want)
	}
	for prefix, want := range map[string]string{
		"kubelet_pod_worker_start_duration_seconds_count": "kubelet_pod_worker_start_duration_seconds_count 1",
		"kubelet_containers_per_pod_count_count":          "kubelet_containers_per_pod_count_count 1",
		"kubelet_restarted":                               `kubelet_restarted_pods_total{static=""} 1`,
		"kubelet_orphaned":                                "kubelet_orphaned_runtime_pods_total 1",
	} {
		if got := measured(t, m.Metrics.Handler(), prefix); !slices.Equal(got, []string{want}) {
			t.Errorf("%q, want %s", got, want)
		}
	}
	if _, timed := m.starts.seen["new"]; !timed {
		t.Error("a new pod is not timed")
	}
	w.SyncKnownPods(nil)
	if len(m.starts.seen) != 0 {
		t.Error("a pod without a worker is still timed")
	}
}
