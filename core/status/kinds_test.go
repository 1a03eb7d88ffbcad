package status

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// TestGenerate_initContainers checks the status of a pod at each step. The pod has an init
// container, a sidecar and another init container before its main container.
func TestGenerate_initContainers(t *testing.T) {
	t.Parallel()
	in := func(sandbox string, all ...ObservedContainer) []ObservedContainer {
		for i := range all {
			all[i].SandboxID = sandbox
		}
		return all
	}
	runs := func(name string) ObservedContainer { return instance(name, 0, StateRunning, 0) }
	ended := func(name string, code int32) ObservedContainer { return instance(name, 0, StateExited, code) }
	const initializing = "Initialized=False ContainersNotInitialized containers with incomplete status: "
	for name, tc := range map[string]struct {
		policy   v1.RestartPolicy
		has      []ObservedContainer
		reasons  map[string]Reason
		terminal bool
		want     string
	}{
		"nothing has run": {want: "Pending; " + initializing + "[first sidecar last]; " +
			"first=PodInitializing sidecar=PodInitializing last=PodInitializing main=PodInitializing"},
		"the first one is at work": {has: in("s0", runs("first")), want: "Pending; " + initializing + "[first sidecar last]; " +
			"first=running,started sidecar=PodInitializing last=PodInitializing main=PodInitializing"},
		"the first one has done its work": {has: in("s0", ended("first", 0)), want: "Pending; " + initializing + "[sidecar last]; " +
			"first=ended,ready sidecar=PodInitializing last=PodInitializing main=PodInitializing"},
		"the first one failed, and starts again": {has: in("s0", ended("first", 1)), want: "Pending; " + initializing + "[first sidecar last]; " +
			"first=ended sidecar=PodInitializing last=PodInitializing main=PodInitializing"},
		"the first one waits for its next start": {
			has: in("s0", ended("first", 1)), reasons: map[string]Reason{"first": {Reason: "CrashLoopBackOff"}},
			want: "Pending; " + initializing + "[first sidecar last]; " +
				"first=CrashLoopBackOff sidecar=PodInitializing last=PodInitializing main=PodInitializing",
		},
		"the first one failed for good": {policy: v1.RestartPolicyNever, has: in("s0", ended("first", 1)), want: "Failed; " + initializing +
			"[first sidecar last]; first=ended sidecar=PodInitializing last=PodInitializing main=PodInitializing"},
		"the sidecar runs": {has: in("s0", ended("first", 0), runs("sidecar")), want: "Pending; " + initializing + "[last]; " +
			"first=ended,ready sidecar=running,started,ready last=PodInitializing main=PodInitializing"},
		"the main container runs": {has: in("s0", ended("first", 0), runs("sidecar"), ended("last", 0), runs("main")), want: "Running; Initialized=True; " +
			"first=ended,ready sidecar=running,started,ready last=ended,ready main=running,started,ready"},
		"the main container runs, and little else is known": {has: in("s0", runs("main")), want: "Pending; Initialized=True; " +
			"first=ended,ready sidecar=PodInitializing last=ended,ready main=running,started,ready"},
		"the sidecar has ended, and starts again": {
			has:  in("s0", ended("first", 0), ended("sidecar", 1), ended("last", 0), runs("main")),
			want: "Running; Initialized=True; first=ended,ready sidecar=ended last=ended,ready main=running,started,ready",
		},
		"the main container has ended": {
			policy: v1.RestartPolicyNever, has: in("s0", ended("first", 0), runs("sidecar"), ended("last", 0), ended("main", 0)),
			want: "Running; Initialized=True; first=ended,ready sidecar=running,started,ready last=ended,ready main=ended",
		},
		"all have ended": {
			policy: v1.RestartPolicyNever, has: in("s0", ended("first", 0), ended("sidecar", 137), ended("last", 0), ended("main", 0)), terminal: true,
			want: "Succeeded; Initialized=True PodCompleted; first=ended,ready sidecar=ended last=ended,ready main=ended",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policy := tc.policy
			if policy == "" {
				policy = v1.RestartPolicyAlways
			}
			p := testPod(policy, "api", "main")
			for _, name := range []string{"first", "sidecar", "last"} {
				p.Spec.InitContainers = append(p.Spec.InitContainers, v1.Container{Name: name, Image: "img"})
			}
			p.Spec.InitContainers[1].RestartPolicy = new(v1.ContainerRestartPolicyAlways)
			st := Generate(Input{Pod: p, Observed: observed(tc.has...), Reasons: tc.reasons, Now: noon, RuntimeName: "containerd", Terminal: tc.terminal})
			if diff := cmp.Diff(tc.want, inWords(&st)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// inWords returns a short text about the states of a pod and its containers.
func inWords(st *v1.PodStatus) string {
	c := api.Condition(st, v1.PodInitialized)
	var text strings.Builder
	text.WriteString(strings.TrimSpace(fmt.Sprintf("%s; Initialized=%s %s %s", st.Phase, c.Status, c.Reason, c.Message)) + ";")
	for own := range pod.Statuses(st) {
		text.WriteString(" " + own.Name + "=")
		switch s := &own.State; {
		case s.Waiting != nil:
			text.WriteString(s.Waiting.Reason)
		case s.Running != nil:
			text.WriteString("running")
		default:
			text.WriteString("ended")
		}
		if own.Started != nil && *own.Started {
			text.WriteString(",started")
		}
		if own.Ready {
			text.WriteString(",ready")
		}
	}
	return text.String()
}

// Ephemeral containers have statuses of their own, sorted by name. They affect neither the phase
// nor the readiness.
func TestGenerate_ephemeralContainers(t *testing.T) {
	t.Parallel()
	p := testPod(v1.RestartPolicyAlways, "api", "main")
	for _, name := range []string{"b", "a"} {
		p.Spec.EphemeralContainers = append(p.Spec.EphemeralContainers, v1.EphemeralContainer{EphemeralContainerCommon: v1.EphemeralContainerCommon{Name: name}})
	}
	st := Generate(Input{Pod: p, Observed: observed(instance("main", 0, StateRunning, 0), instance("a", 0, StateExited, 1)), Now: noon, RuntimeName: "containerd"})
	if diff := cmp.Diff("Running; Initialized=True; main=running,started,ready a=ended b=ContainerCreating", inWords(&st)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c := api.Condition(&st, v1.PodReady); c.Status != v1.ConditionTrue {
		t.Errorf("the pod is %+v", c)
	}
}
