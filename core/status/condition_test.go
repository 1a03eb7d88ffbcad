package status

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
)

func ready(st v1.ContainerStatus) v1.ContainerStatus {
	st.Ready = true
	return st
}

func TestContainersReady(t *testing.T) {
	t.Parallel()
	type statuses = []v1.ContainerStatus
	tests := []struct {
		name     string
		phase    v1.PodPhase
		statuses statuses
		want     conditionReason
	}{
		{"nothing known", v1.PodPending, nil, conditionReason{reason: "UnknownContainerStatuses"}},
		{"all ready", v1.PodRunning, statuses{ready(isRunning("a")), ready(isRunning("b"))}, conditionReason{}},
		{
			"some not ready", v1.PodRunning,
			statuses{isRunning("b"), isRunning("a")},
			conditionReason{"ContainersNotReady", "containers with unready status: [a b]"},
		},
		{
			"some unknown", v1.PodPending,
			statuses{ready(isRunning("a"))},
			conditionReason{"ContainersNotReady", "containers with unknown status: [b]"},
		},
		{
			"some unknown, some not ready", v1.PodPending,
			statuses{isRunning("a")},
			conditionReason{"ContainersNotReady", "containers with unknown status: [b], containers with unready status: [a]"},
		},
		{"completed", v1.PodSucceeded, statuses{hasEnded("a", 0), hasEnded("b", 0)}, conditionReason{reason: "PodCompleted"}},
		{
			"completed, they say, but some are unknown", v1.PodSucceeded,
			statuses{ready(hasEnded("a", 0))},
			conditionReason{"ContainersNotReady", "containers with unknown status: [b]"},
		},
		{"failed", v1.PodFailed, statuses{hasEnded("a", 0), hasEnded("b", 1)}, conditionReason{reason: "PodFailed"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			st := &v1.PodStatus{Phase: tt.phase, ContainerStatuses: tt.statuses}
			if got := containersReady(testPod(v1.RestartPolicyNever, "", "a", "b"), st); got != tt.want {
				t.Errorf("containersReady = %+v, want %+v", got, tt.want)
			}
		})
	}
}

// shown is a condition without times.
type shown struct {
	Type    v1.PodConditionType
	Status  v1.ConditionStatus
	Reason  string
	Message string
}

func show(st *v1.PodStatus) []shown {
	var out []shown
	for _, c := range st.Conditions {
		out = append(out, shown{c.Type, c.Status, c.Reason, c.Message})
	}
	return out
}

func TestConditions(t *testing.T) {
	t.Parallel()
	gate := v1.PodConditionType("example.com/Gate")
	runs := observed(instance("a", 0, StateRunning, 0))
	tests := []struct {
		name string
		in   Input
		edit func(p *v1.Pod)
		want []shown
	}{
		{
			name: "a pod without a sandbox",
			want: []shown{
				{v1.PodReadyToStartContainers, "False", "", ""},
				{v1.PodInitialized, "True", "", ""},
				{v1.PodReady, "False", "ContainersNotReady", "containers with unready status: [a]"},
				{v1.ContainersReady, "False", "ContainersNotReady", "containers with unready status: [a]"},
				{v1.PodScheduled, "True", "", ""},
			},
		}, {
			name: "a pod that runs",
			in:   Input{Observed: runs},
			want: []shown{
				{v1.PodReadyToStartContainers, "True", "", ""},
				{v1.PodInitialized, "True", "", ""},
				{v1.PodReady, "True", "", ""},
				{v1.ContainersReady, "True", "", ""},
				{v1.PodScheduled, "True", "", ""},
			},
		}, {
			name: "a pod that has completed",
			in:   Input{Observed: ObservedPod{Containers: []ObservedContainer{instance("a", 0, StateExited, 0)}}},
			edit: func(p *v1.Pod) { p.Spec.RestartPolicy = v1.RestartPolicyNever },
			want: []shown{
				{v1.PodReadyToStartContainers, "False", "", ""},
				{v1.PodInitialized, "True", "PodCompleted", ""},
				{v1.PodReady, "False", "PodCompleted", ""},
				{v1.ContainersReady, "False", "PodCompleted", ""},
				{v1.PodScheduled, "True", "", ""},
			},
		}, {
			name: "a closed readiness gate closes Ready alone",
			in:   Input{Observed: runs},
			edit: func(p *v1.Pod) { p.Spec.ReadinessGates = []v1.PodReadinessGate{{ConditionType: gate}} },
			want: []shown{
				{v1.PodReadyToStartContainers, "True", "", ""},
				{v1.PodInitialized, "True", "", ""},
				{v1.PodReady, "False", "ReadinessGatesNotReady", `corresponding condition of pod readiness gate "example.com/Gate" does not exist.`},
				{v1.ContainersReady, "True", "", ""},
				{v1.PodScheduled, "True", "", ""},
			},
		}, {
			name: "a readiness gate that is said to be closed",
			in:   Input{Observed: runs},
			edit: func(p *v1.Pod) {
				p.Spec.ReadinessGates = []v1.PodReadinessGate{{ConditionType: gate}, {ConditionType: "x/Y"}}
				p.Status.Conditions = []v1.PodCondition{{Type: gate, Status: "Unknown"}}
			},
			want: []shown{
				{gate, "Unknown", "", ""},
				{v1.PodReadyToStartContainers, "True", "", ""},
				{v1.PodInitialized, "True", "", ""},
				{
					v1.PodReady, "False", "ReadinessGatesNotReady", `the status of pod readiness gate "example.com/Gate" is not "True", but Unknown, ` +
						`corresponding condition of pod readiness gate "x/Y" does not exist.`,
				},
				{v1.ContainersReady, "True", "", ""},
				{v1.PodScheduled, "True", "", ""},
			},
		}, {
			name: "a condition that is gone from the API server closes its gate",
			in:   Input{Observed: runs, Previous: v1.PodStatus{Phase: v1.PodRunning, Conditions: []v1.PodCondition{{Type: gate, Status: "True"}}}},
			edit: func(p *v1.Pod) { p.Spec.ReadinessGates = []v1.PodReadinessGate{{ConditionType: gate}} },
			want: []shown{
				{v1.PodReadyToStartContainers, "True", "", ""},
				{v1.PodInitialized, "True", "", ""},
				{v1.PodReady, "False", "ReadinessGatesNotReady", `corresponding condition of pod readiness gate "example.com/Gate" does not exist.`},
				{v1.ContainersReady, "True", "", ""},
				{v1.PodScheduled, "True", "", ""},
			},
		}, {
			name: "foreign conditions of the API server stay and open gates, of the store only DisruptionTarget",
			in: Input{Observed: runs, Previous: v1.PodStatus{Phase: v1.PodRunning, Conditions: []v1.PodCondition{
				{Type: gate, Status: "False"},
				{Type: "example.com/Gone", Status: "True"},
				{Type: v1.DisruptionTarget, Status: "True", Reason: "TerminationByKubelet"},
			}}},
			edit: func(p *v1.Pod) {
				p.Spec.ReadinessGates = []v1.PodReadinessGate{{ConditionType: gate}}
				p.Status.Conditions = []v1.PodCondition{
					{Type: gate, Status: "True"},
					{Type: v1.PodReady, Status: "False"},
					{Type: "example.com/Other", Status: "True", Reason: "Allowed"},
				}
			},
			want: []shown{
				{gate, "True", "", ""},
				{"example.com/Other", "True", "Allowed", ""},
				{v1.DisruptionTarget, "True", "TerminationByKubelet", ""},
				{v1.PodReadyToStartContainers, "True", "", ""},
				{v1.PodInitialized, "True", "", ""},
				{v1.PodReady, "True", "", ""},
				{v1.ContainersReady, "True", "", ""},
				{v1.PodScheduled, "True", "", ""},
			},
		}, {
			name: "marks are copied neither from the API server nor from the store",
			in: Input{Observed: runs, Previous: v1.PodStatus{Phase: v1.PodRunning, Conditions: []v1.PodCondition{
				{Type: api.ConditionAdmitted, Status: "False"},
				{Type: api.ConditionUpdateAdmitted, Status: "False"},
			}}},
			edit: func(p *v1.Pod) {
				p.Status.Conditions = []v1.PodCondition{
					{Type: api.ConditionAdmitted, Status: "False"},
					{Type: api.ConditionUpdateAdmitted, Status: "False"},
				}
			},
			want: []shown{
				{v1.PodReadyToStartContainers, "True", "", ""},
				{v1.PodInitialized, "True", "", ""},
				{v1.PodReady, "True", "", ""},
				{v1.ContainersReady, "True", "", ""},
				{v1.PodScheduled, "True", "", ""},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.in.Pod = testPod(v1.RestartPolicyAlways, "", "a")
			if tt.edit != nil {
				tt.edit(tt.in.Pod)
			}
			st := Generate(tt.in)
			if d := cmp.Diff(tt.want, show(&st)); d != "" {
				t.Errorf("conditions (-want +got):\n%s", d)
			}
		})
	}
}

func TestTransitionTimeMovesOnlyWithTheStatus(t *testing.T) {
	t.Parallel()
	p := testPod(v1.RestartPolicyAlways, "", "a")
	at := func(previous v1.PodStatus, minute int, o ObservedPod) v1.PodStatus {
		return Generate(Input{Pod: p, Previous: previous, Observed: o, Now: noon.Add(time.Duration(minute) * time.Minute)})
	}
	first := at(v1.PodStatus{}, 1, ObservedPod{})
	second := at(first, 2, observed(instance("a", 0, StateExited, 1))) // Ready: another message would not matter
	third := at(second, 3, observed(instance("a", 1, StateRunning, 0)))

	for _, tt := range []struct {
		name   string
		st     v1.PodStatus
		kind   v1.PodConditionType
		minute int
	}{
		{"a new condition has the time it was made", first, v1.PodReady, 1},
		{"the same status keeps its time", second, v1.PodReady, 1},
		{"another status takes the new time", second, v1.PodReadyToStartContainers, 2},
		{"ready again takes the new time", third, v1.PodReady, 3},
		{"what never changed keeps the first time", third, v1.PodScheduled, 1},
	} {
		want := metav1.NewTime(noon.Add(time.Duration(tt.minute) * time.Minute))
		if got := api.Condition(&tt.st, tt.kind).LastTransitionTime; !got.Equal(&want) {
			t.Errorf("%s: %s, want %s", tt.name, got, want)
		}
	}
}
