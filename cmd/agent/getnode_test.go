package main

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestGetNode(t *testing.T) {
	t.Parallel()
	alone := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "edge", Labels: map[string]string{"site": "north"}}}
	member := alone.DeepCopy()
	member.CreationTimestamp = metav1.NewTime(noon.Add(-time.Hour))
	member.Spec = v1.NodeSpec{Unschedulable: true, Taints: []v1.Taint{{Key: "edge", Value: "yes", Effect: v1.TaintEffectNoSchedule}}}
	member.Status = v1.NodeStatus{
		NodeInfo:  v1.NodeSystemInfo{KubeletVersion: "v1.36.3-wardlet.1.0.0"},
		Addresses: []v1.NodeAddress{{Type: v1.NodeHostName, Address: "edge"}, {Type: v1.NodeInternalIP, Address: "192.0.2.7"}},
		Conditions: []v1.NodeCondition{
			{Type: v1.NodeMemoryPressure, Status: v1.ConditionFalse, Message: "enough"},
			{Type: v1.NodeReady, Status: v1.ConditionFalse, Message: "the runtime is away\x1b[2J"},
		},
	}
	for name, test := range map[string]struct {
		node *v1.Node
		args []string
	}{
		"get-node":        {member, nil},
		"get-node-alone":  {alone, nil},
		"get-node-yaml":   {alone, []string{"-o", "yaml"}},
		"get-node-name":   {alone, []string{"-o", "name"}},
		"get-node-others": {alone, []string{"other"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := serve(t, &knowledge{node: test.node})
			golden(t, name, wardlet(t.Context(), append([]string{"get", "--socket", socket, "node"}, test.args...)...))
		})
	}
}
