package describe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
)

// webPod returns a pod with an init container, a sidecar, and a container with probes. All of them
// are healthy.
func webPod() *v1.Pod {
	always, yes := v1.ContainerRestartPolicyAlways, true
	probe := &v1.Probe{ProbeHandler: v1.ProbeHandler{Exec: &v1.ExecAction{}}}
	up := func(name string) v1.ContainerStatus {
		return v1.ContainerStatus{Name: name, Ready: true, Started: &yes, State: v1.ContainerState{
			Running: &v1.ContainerStateRunning{StartedAt: metav1.NewTime(noon.Add(-time.Hour))},
		}}
	}
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "u"},
		Spec: v1.PodSpec{
			InitContainers: []v1.Container{{Name: "setup"}, {Name: "proxy", RestartPolicy: &always, ReadinessProbe: probe}},
			Containers:     []v1.Container{{Name: "main", ReadinessProbe: probe, StartupProbe: probe, LivenessProbe: probe}},
		},
		Status: v1.PodStatus{
			Phase:                 v1.PodRunning,
			InitContainerStatuses: []v1.ContainerStatus{{Name: "setup", Ready: true, State: terminated("Completed", 0, 0)}, up("proxy")},
			ContainerStatuses:     []v1.ContainerStatus{up("main")},
		},
	}
}

func TestNotReady_namesTheContainerAndWhy(t *testing.T) {
	t.Parallel()
	unhealthy := func(ago time.Duration, path, message string) api.Event {
		return api.Event{UID: "u", Reason: "Unhealthy", FieldPath: path, Message: message, Last: noon.Add(-ago)}
	}
	const main, proxy = "spec.containers{main}", "spec.initContainers{proxy}"
	status := func(i int) func(*v1.Pod) *v1.ContainerStatus {
		return func(p *v1.Pod) *v1.ContainerStatus {
			if i == 2 {
				return &p.Status.ContainerStatuses[0]
			}
			return &p.Status.InitContainerStatuses[i]
		}
	}
	setup, sidecar, app := status(0), status(1), status(2)
	for name, test := range map[string]struct {
		edit   func(*v1.Pod)
		events []api.Event
		want   []string
	}{
		"all is well": {func(*v1.Pod) {}, []api.Event{unhealthy(time.Minute, main, "Readiness probe failed: before it succeeded")}, nil},
		"the readiness probe fails, the newest event counts": {
			func(p *v1.Pod) { app(p).Ready = false },
			[]api.Event{
				unhealthy(2*time.Minute, main, "Readiness probe failed: first"), unhealthy(time.Minute, main, "Readiness probe failed: second\nline\x1b"),
				unhealthy(time.Second, main, "Liveness probe failed: no"), unhealthy(time.Second, proxy, "Readiness probe failed: of another"),
			},
			[]string{`container main: readiness probe failed: second; line\x1b`},
		},
		"it cannot be carried out": {
			func(p *v1.Pod) { app(p).Ready = false },
			[]api.Event{unhealthy(time.Minute, main, "Readiness probe errored: no such pod")},
			[]string{"container main: readiness probe errored: no such pod"},
		},
		"nothing is known of it": {func(p *v1.Pod) { app(p).Ready = false }, nil, []string{"container main: readiness probe has not succeeded yet"}},
		"only of the instance before": {
			func(p *v1.Pod) { app(p).Ready = false },
			[]api.Event{unhealthy(2*time.Hour, main, "Readiness probe failed: old")},
			[]string{"container main: readiness probe has not succeeded yet"},
		},
		"only of another pod of the name": {
			func(p *v1.Pod) { app(p).Ready = false; p.UID = "v" },
			[]api.Event{unhealthy(time.Minute, main, "Readiness probe failed: old")},
			[]string{"container main: readiness probe has not succeeded yet"},
		},
		"the startup probe comes first": {
			func(p *v1.Pod) { app(p).Ready, app(p).Started = false, new(false) },
			[]api.Event{unhealthy(time.Minute, main, "Startup probe failed: not up"), unhealthy(time.Second, main, "Readiness probe failed: no")},
			[]string{"container main: startup probe failed: not up"},
		},
		"a sidecar is not ready": {
			func(p *v1.Pod) { sidecar(p).Ready = false },
			[]api.Event{unhealthy(time.Minute, proxy, "Readiness probe failed: no route")},
			[]string{"container proxy: readiness probe failed: no route"},
		},
		"a sidecar crashes": {
			func(p *v1.Pod) {
				sidecar(p).Ready, sidecar(p).State = false, v1.ContainerState{Waiting: &v1.ContainerStateWaiting{
					Reason: "CrashLoopBackOff", Message: "back-off 40s restarting failed container=proxy pod=web_default(u)",
				}}
				sidecar(p).LastTerminationState = terminated("Error", 1, 0)
			}, nil, []string{"container proxy: CrashLoopBackOff (back-off 40s, exit code 1)"},
		},
		"an init container runs": {
			func(p *v1.Pod) { setup(p).Ready, setup(p).State = false, running() }, nil, []string{"container setup: init container is running"},
		},
		"an init container failed": {
			func(p *v1.Pod) { setup(p).Ready, setup(p).State = false, terminated("OOMKilled", 137, 9) }, nil, []string{"container setup: OOMKilled (signal 9)"},
		},
		"a container has ended": {
			func(p *v1.Pod) { app(p).Ready, app(p).State = false, terminated("", 3, 0) }, nil, []string{"container main: ExitCode:3 (exit code 3)"},
		},
		"an image cannot be pulled": {
			func(p *v1.Pod) {
				app(p).Ready, app(p).State = false, v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "not\nfound"}}
			}, nil, []string{"container main: ImagePullBackOff: not; found"},
		},
		"containers wait for their turn": {
			func(p *v1.Pod) { app(p).Ready, app(p).State = false, waiting("PodInitializing") }, nil, nil,
		},
		"a readiness gate is closed": {
			func(p *v1.Pod) {
				p.Status.Conditions = []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionFalse, Reason: "ReadinessGatesNotReady", Message: `corresponding condition of pod readiness gate "a/b" does not exist.`}}
			}, nil, []string{`readiness gates: corresponding condition of pod readiness gate "a/b" does not exist.`},
		},
		"a pod that has ended": {func(p *v1.Pod) {
			p.Status.Phase, app(p).Ready, app(p).State = v1.PodFailed, false, terminated("Error", 1, 0)
		}, nil, nil},
		"a pod that ends": {func(p *v1.Pod) { p.DeletionTimestamp, app(p).Ready = new(metav1.NewTime(noon)), false }, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := webPod()
			test.edit(p)
			if diff := cmp.Diff(test.want, NotReady(p, test.events)); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}
