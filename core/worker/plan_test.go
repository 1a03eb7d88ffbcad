package worker

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/status"
)

// planned has the content of Actions without pointers, for comparison.
type planned struct {
	KillPod, CreateSandbox bool
	Attempt                uint32
	Sandbox                string
	Stop                   []string
	Start                  []string
}

// good returns a pod with three containers, and its observed state in which all of them run.
func good() (*v1.Pod, *status.ObservedPod) {
	p := newPod("web", "1", "foo1", "foo2", "foo3")
	o := &status.ObservedPod{
		UID: "1", Name: "web", Namespace: "default", IPs: []string{"10.0.0.1"},
		Sandboxes: []status.ObservedSandbox{{ID: "s1", Ready: true, IPs: []string{"10.0.0.1"}}},
	}
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		o.Containers = append(o.Containers, status.ObservedContainer{
			ID: "id-" + c.Name, Name: c.Name, SandboxID: "s1", State: status.StateRunning, Hash: hash(c),
		})
	}
	return p, o
}

func exited(o *status.ObservedPod, code int32, indexes ...int) {
	for _, i := range indexes {
		o.Containers[i].State, o.Containers[i].ExitCode = status.StateExited, code
	}
}

// plan calls Plan for a pod without probes.
func plan(p *v1.Pod, o *status.ObservedPod) Actions {
	return Plan(p, o, &v1.PodStatus{}, hash, func(string) string { return "" })
}

func TestPlan(t *testing.T) {
	t.Parallel()
	const (
		always    = v1.RestartPolicyAlways
		onFailure = v1.RestartPolicyOnFailure
		never     = v1.RestartPolicyNever
	)
	all, every := []string{"foo1", "foo2", "foo3"}, []int{0, 1, 2}
	for name, tc := range map[string]struct {
		policy v1.RestartPolicy
		change func(*v1.Pod, *status.ObservedPod)
		want   planned
	}{
		"everything is good: do nothing": {always, func(*v1.Pod, *status.ObservedPod) {}, planned{Sandbox: "s1"}},
		"a new pod gets sandbox 0 and all containers": {always, func(_ *v1.Pod, o *status.ObservedPod) {
			o.Sandboxes, o.Containers = nil, nil
		}, planned{CreateSandbox: true, Start: all}},
		"a dead sandbox under Always: kill and recreate everything": {always, func(_ *v1.Pod, o *status.ObservedPod) {
			o.Sandboxes[0].Ready = false
		}, planned{KillPod: true, CreateSandbox: true, Attempt: 1, Start: all}},
		"a dead sandbox under OnFailure: only what did not succeed": {onFailure, func(_ *v1.Pod, o *status.ObservedPod) {
			o.Sandboxes[0].Ready = false
			exited(o, 0, 1)
		}, planned{KillPod: true, CreateSandbox: true, Attempt: 1, Start: []string{"foo1", "foo3"}}},
		"a dead sandbox under OnFailure, all succeeded: no sandbox": {onFailure, func(_ *v1.Pod, o *status.ObservedPod) {
			o.Sandboxes[0].Ready = false
			exited(o, 0, every...)
		}, planned{KillPod: true}},
		"a dead sandbox under OnFailure, all failed: recreate": {onFailure, func(_ *v1.Pod, o *status.ObservedPod) {
			o.Sandboxes[0].Ready = false
			exited(o, 1, every...)
		}, planned{KillPod: true, CreateSandbox: true, Attempt: 1, Start: all}},
		"a dead sandbox under Always: not what succeeded under its own OnFailure": {always, func(p *v1.Pod, o *status.ObservedPod) {
			o.Sandboxes[0].Ready = false
			p.Spec.Containers[1].RestartPolicy = new(v1.ContainerRestartPolicyOnFailure)
			exited(o, 0, 1)
			exited(o, 137, 0, 2)
		}, planned{KillPod: true, CreateSandbox: true, Attempt: 1, Start: []string{"foo1", "foo3"}}},
		"a dead sandbox under OnFailure: also what succeeded under its own Always": {onFailure, func(p *v1.Pod, o *status.ObservedPod) {
			o.Sandboxes[0].Ready = false
			p.Spec.Containers[1].RestartPolicy = new(v1.ContainerRestartPolicyAlways)
			exited(o, 0, 1)
			exited(o, 137, 0, 2)
		}, planned{KillPod: true, CreateSandbox: true, Attempt: 1, Start: all}},
		"a dead sandbox under OnFailure: also what succeeded under its own Never": {onFailure, func(p *v1.Pod, o *status.ObservedPod) {
			o.Sandboxes[0].Ready = false
			p.Spec.Containers[1].RestartPolicy = new(v1.ContainerRestartPolicyNever)
			exited(o, 0, 1)
		}, planned{KillPod: true, CreateSandbox: true, Attempt: 1, Start: all}},
		"a dead sandbox under Never, all exited: no sandbox": {never, func(_ *v1.Pod, o *status.ObservedPod) {
			o.Sandboxes[0].Ready = false
			exited(o, 1, every...)
		}, planned{KillPod: true}},
		"a dead sandbox under Never before anything was created: recreate": {never, func(_ *v1.Pod, o *status.ObservedPod) {
			o.Sandboxes[0].Ready = false
			o.Containers = nil
		}, planned{KillPod: true, CreateSandbox: true, Attempt: 1, Start: all}},
		"several ready sandboxes: kill and recreate": {always, func(_ *v1.Pod, o *status.ObservedPod) {
			o.Sandboxes = append([]status.ObservedSandbox{{ID: "s2", Attempt: 4, Ready: true, IPs: []string{"10.0.0.2"}}}, o.Sandboxes...)
		}, planned{KillPod: true, CreateSandbox: true, Attempt: 5, Start: all}},
		"an old dead sandbox beside the good one does not matter": {always, func(_ *v1.Pod, o *status.ObservedPod) {
			o.Sandboxes = append(o.Sandboxes, status.ObservedSandbox{ID: "s0"})
		}, planned{Sandbox: "s1"}},
		"a sandbox without an address: kill and recreate": {always, func(_ *v1.Pod, o *status.ObservedPod) {
			o.Sandboxes[0].IPs = nil
		}, planned{KillPod: true, CreateSandbox: true, Attempt: 1, Start: all}},
		"a sandbox on the host network needs no address": {always, func(p *v1.Pod, o *status.ObservedPod) {
			p.Spec.HostNetwork, o.Sandboxes[0].HostNetwork, o.Sandboxes[0].IPs = true, true, nil
		}, planned{Sandbox: "s1"}},
		"a sandbox on the wrong network: kill and recreate": {always, func(p *v1.Pod, _ *status.ObservedPod) {
			p.Spec.HostNetwork = true
		}, planned{KillPod: true, CreateSandbox: true, Attempt: 1, Start: all}},
		"a container that is missing is started": {always, func(_ *v1.Pod, o *status.ObservedPod) {
			o.Containers = o.Containers[:2]
		}, planned{Sandbox: "s1", Start: []string{"foo3"}}},
		"succeeded containers restart under Always": {always, func(_ *v1.Pod, o *status.ObservedPod) {
			exited(o, 0, 0, 1)
		}, planned{Sandbox: "s1", Start: []string{"foo1", "foo2"}}},
		"failed containers restart under OnFailure, succeeded ones do not": {onFailure, func(_ *v1.Pod, o *status.ObservedPod) {
			exited(o, 0, 0)
			exited(o, 1, 1)
		}, planned{Sandbox: "s1", Start: []string{"foo2"}}},
		"exited containers stay under Never": {never, func(_ *v1.Pod, o *status.ObservedPod) {
			exited(o, 0, 0)
			exited(o, 1, 1)
		}, planned{Sandbox: "s1"}},
		"all succeeded under OnFailure: kill the pod": {onFailure, func(_ *v1.Pod, o *status.ObservedPod) {
			exited(o, 0, every...)
		}, planned{KillPod: true}},
		"all exited under Never: kill the pod": {never, func(_ *v1.Pod, o *status.ObservedPod) {
			exited(o, 1, every...)
		}, planned{KillPod: true}},
		"a changed definition: kill and restart that container": {always, func(p *v1.Pod, _ *status.ObservedPod) {
			p.Spec.Containers[1].Image = "other"
		}, planned{Sandbox: "s1", Stop: []string{"id-foo2"}, Start: []string{"foo2"}}},
		"a changed definition restarts under Never too": {never, func(p *v1.Pod, _ *status.ObservedPod) {
			p.Spec.Containers[1].Image = "other"
		}, planned{Sandbox: "s1", Stop: []string{"id-foo2"}, Start: []string{"foo2"}}},
		"a running container without a hash is taken as it is": {always, func(_ *v1.Pod, o *status.ObservedPod) {
			o.Containers[0].Hash = ""
		}, planned{Sandbox: "s1"}},
		"created but not started containers are started": {never, func(_ *v1.Pod, o *status.ObservedPod) {
			o.Containers[2].State = status.StateCreated
		}, planned{Sandbox: "s1", Start: []string{"foo3"}}},
		"a container in an unknown state is killed, then restarted": {never, func(_ *v1.Pod, o *status.ObservedPod) {
			o.Containers[0].State = status.StateUnknown
		}, planned{Sandbox: "s1", Stop: []string{"id-foo1"}, Start: []string{"foo1"}}},
		"only the newest instance counts": {always, func(_ *v1.Pod, o *status.ObservedPod) {
			o.Containers = append(o.Containers, status.ObservedContainer{ID: "old", Name: "foo1", State: status.StateExited, ExitCode: 1})
		}, planned{Sandbox: "s1"}},
		"a running container that the spec lost is stopped": {always, func(p *v1.Pod, _ *status.ObservedPod) {
			p.Spec.Containers = p.Spec.Containers[:2]
		}, planned{Sandbox: "s1", Stop: []string{"id-foo3"}}},
		"nothing is started in a pod that is being deleted": {always, func(p *v1.Pod, o *status.ObservedPod) {
			p.DeletionTimestamp = new(metav1.Now())
			exited(o, 1, 0)
		}, planned{Sandbox: "s1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, o := good()
			p.Spec.RestartPolicy = tc.policy
			tc.change(p, o)
			a := plan(p, o)
			got := planned{KillPod: a.KillPod, CreateSandbox: a.CreateSandbox, Attempt: a.Attempt, Start: a.Start}
			if a.Sandbox != nil {
				got.Sandbox = a.Sandbox.ID
			}
			for _, s := range a.Stop {
				got.Stop = append(got.Stop, s.ID)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			if quiet := !tc.want.KillPod && !tc.want.CreateSandbox && len(tc.want.Stop)+len(tc.want.Start) == 0; a.Empty() != quiet {
				t.Errorf("Empty = %v, want %v", a.Empty(), quiet)
			}
		})
	}
}

// TestPlan_graceOfTheProbeThatFailed checks that a container is stopped with the grace period
// of the probe that failed. The value 0 stands for the grace period of the pod.
func TestPlan_graceOfTheProbeThatFailed(t *testing.T) {
	t.Parallel()
	within := func(grace *int64) *v1.Probe { return &v1.Probe{TerminationGracePeriodSeconds: grace} }
	for name, tc := range map[string]struct {
		startup, liveness *v1.Probe
		failed            string
		want              time.Duration
	}{
		"startup failed, both have one":      {within(new(int64(5))), within(new(int64(100))), status.FailedStartup, 5 * time.Second},
		"liveness failed, both have one":     {within(new(int64(5))), within(new(int64(100))), status.FailedLiveness, 100 * time.Second},
		"liveness failed, only startup has":  {within(new(int64(5))), within(nil), status.FailedLiveness, 0},
		"startup failed, only liveness has":  {within(nil), within(new(int64(100))), status.FailedStartup, 0},
		"liveness failed, there is no other": {nil, within(new(int64(7))), status.FailedLiveness, 7 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, o := good()
			p.Spec.Containers[1].StartupProbe, p.Spec.Containers[1].LivenessProbe = tc.startup, tc.liveness
			a := Plan(p, o, &v1.PodStatus{}, hash, func(id string) string {
				if id == "id-foo2" {
					return tc.failed
				}
				return ""
			})
			if len(a.Stop) != 1 || a.Stop[0].grace != tc.want {
				t.Errorf("stops %+v, want a grace period of %s", a.Stop, tc.want)
			}
		})
	}
}

// TestPlan_rulesDoNotCountBeforeTheEnd checks that the restart policy decides about the restart
// of a container whose probe has failed. Restart rules need its exit code, so they apply only
// after it has exited.
func TestPlan_rulesDoNotCountBeforeTheEnd(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		own  v1.ContainerRestartPolicy
		want []string
	}{
		"own Never":     {v1.ContainerRestartPolicyNever, nil},
		"own OnFailure": {v1.ContainerRestartPolicyOnFailure, []string{"foo2"}},
		"own Always":    {v1.ContainerRestartPolicyAlways, []string{"foo2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, o := good()
			p.Spec.Containers[1].RestartPolicy = &tc.own
			p.Spec.Containers[1].RestartPolicyRules = []v1.ContainerRestartRule{{
				Action:    v1.ContainerRestartRuleActionRestart,
				ExitCodes: &v1.ContainerRestartRuleOnExitCodes{Operator: v1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{137}},
			}}
			failed := func(id string) string {
				if id == "id-foo2" {
					return status.FailedLiveness
				}
				return ""
			}
			alone := p.DeepCopy()
			alone.Spec.Containers = alone.Spec.Containers[1:2]
			if a := Plan(alone, o, &v1.PodStatus{}, hash, failed); a.KillPod {
				t.Error("the pod of the container alone ends")
			}
			a := Plan(p, o, &v1.PodStatus{}, hash, failed)
			if diff := cmp.Diff(tc.want, a.Start); diff != "" || len(a.Stop) != 1 || a.KillPod {
				t.Errorf("plan %+v (-want +got):\n%s", a, diff)
			}
			for code, want := range map[int32][]string{137: {"foo2"}, 143: tc.want} {
				exited(o, code, 1)
				if a = plan(alone, o); !slices.Equal(a.Start, want) || a.KillPod != (want == nil) {
					t.Errorf("alone, once it has ended with %d: plan %+v, want to start %v", code, a, want)
				}
			}
		})
	}
}
