package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	is := func(kind v1.PodConditionType, status v1.ConditionStatus) v1.PodCondition {
		return v1.PodCondition{Type: kind, Status: status}
	}
	for name, test := range map[string]struct {
		there, own v1.PodStatus
		mayRun     bool
		want       v1.PodStatus
	}{
		"conditions of others stay, the node's are its own, in the order of the server": {
			there: v1.PodStatus{Conditions: []v1.PodCondition{is("gate/a", "True"), is(v1.PodReady, "False"), is(api.ConditionAdmitted, "False")}},
			own:   v1.PodStatus{Conditions: []v1.PodCondition{is(v1.PodInitialized, "True"), is(v1.PodReady, "True"), is("gate/a", "False"), is("gate/b", "True")}},
			want:  v1.PodStatus{Conditions: []v1.PodCondition{is("gate/a", "True"), is(v1.PodReady, "True"), is(v1.PodInitialized, "True")}},
		},
		"an end is not told while a container may run": {
			there:  v1.PodStatus{Phase: v1.PodRunning, Reason: "a"},
			own:    v1.PodStatus{Phase: v1.PodFailed, Reason: "b", Message: "m"},
			mayRun: true,
			want:   v1.PodStatus{Phase: v1.PodRunning, Reason: "a"},
		},
		"an end that is known stays known": {
			there:  v1.PodStatus{Phase: v1.PodFailed, Reason: "a"},
			own:    v1.PodStatus{Phase: v1.PodFailed, Reason: "b"},
			mayRun: true,
			want:   v1.PodStatus{Phase: v1.PodFailed, Reason: "b"},
		},
		"a disruption is told of with the end": {
			there: v1.PodStatus{Phase: v1.PodRunning},
			own:   v1.PodStatus{Phase: v1.PodFailed, Conditions: []v1.PodCondition{is(v1.DisruptionTarget, "True")}},
			want:  v1.PodStatus{Phase: v1.PodFailed, Conditions: []v1.PodCondition{is(v1.DisruptionTarget, "True")}},
		},
		"and not before": {
			there:  v1.PodStatus{Phase: v1.PodRunning},
			own:    v1.PodStatus{Phase: v1.PodFailed, Conditions: []v1.PodCondition{is(v1.DisruptionTarget, "True")}},
			mayRun: true,
			want:   v1.PodStatus{Phase: v1.PodRunning},
		},
		"what a scheduler wrote stays": {
			there: v1.PodStatus{NominatedNodeName: "n", QOSClass: v1.PodQOSBurstable},
			own:   v1.PodStatus{Phase: v1.PodRunning},
			want:  v1.PodStatus{Phase: v1.PodRunning, NominatedNodeName: "n", QOSClass: v1.PodQOSBurstable},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, merge(&test.there, &test.own, test.mayRun)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
