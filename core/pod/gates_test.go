package pod

import (
	"testing"

	v1 "k8s.io/api/core/v1"
)

func TestGatesChanged(t *testing.T) {
	t.Parallel()
	with := func(conditions ...v1.PodCondition) *v1.Pod {
		return &v1.Pod{
			Spec:   v1.PodSpec{ReadinessGates: []v1.PodReadinessGate{{ConditionType: "a/gate"}}},
			Status: v1.PodStatus{Conditions: conditions},
		}
	}
	gate := func(status v1.ConditionStatus) v1.PodCondition {
		return v1.PodCondition{Type: "a/gate", Status: status}
	}
	other := v1.PodCondition{Type: "b", Status: v1.ConditionTrue}
	for name, test := range map[string]struct {
		old, next *v1.Pod
		want      bool
	}{
		"opens":            {with(gate("False")), with(gate("True")), true},
		"is there first":   {with(), with(gate("False")), true},
		"goes":             {with(gate("True")), with(), true},
		"stays":            {with(gate("True")), with(gate("True"), other), false},
		"of no pod before": {nil, with(gate("True")), true},
		"none":             {&v1.Pod{}, &v1.Pod{Status: v1.PodStatus{Conditions: []v1.PodCondition{other}}}, false},
	} {
		if got := GatesChanged(test.old, test.next); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
