package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
)

// restartAllPod returns a pod with an init container, a sidecar and two regular containers. By its
// policy, only the sidecar restarts. If one of the triggers exits with 42, all containers restart.
func restartAllPod(triggers ...string) *v1.Pod {
	p := testPod(v1.RestartPolicyNever, "file", "a", "b")
	p.Spec.InitContainers = []v1.Container{{Name: "init", Image: "img"}, {Name: "sidecar", Image: "img", RestartPolicy: new(v1.ContainerRestartPolicyAlways)}}
	for _, name := range triggers {
		for _, list := range [][]v1.Container{p.Spec.InitContainers, p.Spec.Containers} {
			for i := range list {
				if list[i].Name == name {
					list[i].RestartPolicyRules = []v1.ContainerRestartRule{{
						Action:    v1.ContainerRestartRuleActionRestartAllContainers,
						ExitCodes: &v1.ContainerRestartRuleOnExitCodes{Operator: v1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{42}},
					}}
				}
			}
		}
	}
	return p
}

// inSandbox does the same as observed and puts the containers into the sandbox.
func inSandbox(containers ...ObservedContainer) ObservedPod {
	for i := range containers {
		containers[i].SandboxID = "s0"
	}
	return observed(containers...)
}

// TestGenerate_restartAll checks the status of a pod at each step of a restart of all containers.
func TestGenerate_restartAll(t *testing.T) {
	t.Parallel()
	const (
		running    = v1.PodRunning
		pending    = v1.PodPending
		never      = v1.ConditionFalse
		restarting = v1.ConditionTrue
	)
	init, sidecar := instance("init", 0, StateExited, 0), instance("sidecar", 0, StateRunning, 0)
	trigger, killed := instance("a", 0, StateExited, 42), instance("b", 0, StateExited, 137)
	p := restartAllPod("a")
	st := v1.PodStatus{}
	for _, step := range []struct {
		name     string
		observed ObservedPod
		phase    v1.PodPhase
		cond     v1.ConditionStatus
		// counts and reasons are those of init, sidecar, a and b. A reason is the reason of the
		// waiting or terminated state.
		counts  [4]int32
		reasons [4]string
	}{
		{
			"it runs", inSandbox(init, sidecar, instance("a", 0, StateRunning, 0), instance("b", 0, StateRunning, 0)), running, never,
			[4]int32{},
			[4]string{"Error", "", "", ""},
		},
		{"a has exited", inSandbox(init, sidecar, trigger, instance("b", 0, StateRunning, 0)), running, restarting, [4]int32{}, [4]string{"Error", "", "Error", ""}},
		{"b was killed", inSandbox(init, sidecar, trigger, killed), running, restarting, [4]int32{}, [4]string{"Error", "", "Error", "Error"}},
		{
			"b and init are removed", inSandbox(sidecar, trigger), running, restarting,
			[4]int32{1, 0, 0, 1},
			[4]string{reasonRestartingAll, "", "Error", reasonRestartingAll},
		},
		{
			"which is said once more", inSandbox(sidecar, trigger), running, restarting,
			[4]int32{1, 0, 0, 1},
			[4]string{"PodInitializing", "", "Error", "PodInitializing"},
		},
		{
			"all are removed", inSandbox(), running, never,
			[4]int32{1, 1, 1, 1},
			[4]string{"PodInitializing", reasonRestartingAll, reasonRestartingAll, "PodInitializing"},
		},
		{
			"init is at work", inSandbox(instance("init", 1, StateRunning, 0)), pending, never,
			[4]int32{1, 1, 1, 1},
			[4]string{"", "PodInitializing", "PodInitializing", "PodInitializing"},
		},
		{
			"it runs again", inSandbox(
				instance("init", 1, StateExited, 0), instance("sidecar", 1, StateRunning, 0),
				instance("a", 1, StateRunning, 0), instance("b", 1, StateRunning, 0)), running, never,
			[4]int32{1, 1, 1, 1},
			[4]string{"Error", "", "", ""},
		},
	} {
		next := Generate(Input{Pod: p, Observed: step.observed, Previous: st, Now: noon, RuntimeName: "r"})
		if err := checkTransition(p, &st, &next); err != nil {
			t.Errorf("%s: %v", step.name, err)
		}
		st = next
		if st.Phase != step.phase {
			t.Errorf("%s: the pod is %s, want %s", step.name, st.Phase, step.phase)
		}
		want := v1.PodCondition{Type: v1.AllContainersRestarting, Status: step.cond}
		if step.cond == restarting {
			want.Reason, want.Message = reasonRestartStarted, messageRestartStarted
		}
		got := *api.Condition(&st, v1.AllContainersRestarting)
		got.ObservedGeneration, got.LastTransitionTime = 0, want.LastTransitionTime
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: condition (-want +got):\n%s", step.name, d)
		}
		if c := api.Condition(&st, v1.PodInitialized); c.Status != v1.ConditionTrue {
			t.Errorf("%s: the pod is not initialised any more: %+v", step.name, c)
		}
		var counts [4]int32
		var reasons [4]string
		for i, c := range append(st.InitContainerStatuses[:2:2], st.ContainerStatuses...) {
			counts[i] = c.RestartCount
			switch {
			case c.State.Waiting != nil:
				reasons[i] = c.State.Waiting.Reason
			case c.State.Terminated != nil:
				reasons[i] = c.State.Terminated.Reason
			}
		}
		if d := cmp.Diff(step.counts, counts) + cmp.Diff(step.reasons, reasons); d != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, d)
		}
	}
	if last := st.ContainerStatuses[0].LastTerminationState.Terminated; last == nil || last.Reason != reasonRestartingAll || last.ExitCode != 137 {
		t.Errorf("the last state of a is %+v", last)
	}
}

// A pod that could restart all containers but does not has a condition that says so. Other pods
// have no such condition.
func TestGenerate_saysThatNotAllRestart(t *testing.T) {
	t.Parallel()
	ends := func(code int32) ObservedPod {
		return inSandbox(instance("init", 0, StateExited, 0), instance("sidecar", 0, StateExited, 0), instance("a", 0, StateExited, code), instance("b", 0, StateExited, code))
	}
	for name, tc := range map[string]struct {
		pod         *v1.Pod
		observed    ObservedPod
		terminating bool
		want        *v1.PodCondition
	}{
		"a pod without such a rule":         {restartAllPod(), ends(42), false, nil},
		"one that succeeded":                {restartAllPod("sidecar"), ends(0), false, &v1.PodCondition{Status: v1.ConditionFalse, Reason: reasonPodCompleted}},
		"one that failed":                   {restartAllPod("a"), ends(41), false, &v1.PodCondition{Status: v1.ConditionFalse, Reason: reasonPodFailed}},
		"one that is being ended":           {restartAllPod("a"), ends(42), true, &v1.PodCondition{Status: v1.ConditionFalse}},
		"one of which nothing has run":      {restartAllPod("a"), ObservedPod{}, false, &v1.PodCondition{Status: v1.ConditionFalse}},
		"one that restarts, for comparison": {restartAllPod("a"), ends(42), false, &v1.PodCondition{Status: v1.ConditionTrue, Reason: reasonRestartStarted}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := Generate(Input{Pod: tc.pod, Observed: tc.observed, Terminating: tc.terminating, Now: noon})
			got := api.Condition(&st, v1.AllContainersRestarting)
			switch {
			case got == nil || tc.want == nil:
				if got != nil || tc.want != nil {
					t.Errorf("condition is %+v, want %+v", got, tc.want)
				}
			case got.Status != tc.want.Status || got.Reason != tc.want.Reason:
				t.Errorf("condition is %+v, want %+v", got, tc.want)
			}
		})
	}
}
