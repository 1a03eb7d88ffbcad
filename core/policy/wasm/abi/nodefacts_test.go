package abi

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
)

func nodeFacts() *NodeFacts {
	return &NodeFacts{
		Labels:      map[string]string{"zone": "a", "arch": "amd64"},
		Allocatable: map[string]string{"cpu": "4", "memory": "8Gi"},
		Pods: []NodePod{
			{
				Namespace: "shop", Name: "web", UID: "uid-1", Source: "manifests", Labels: map[string]string{"app": "web"}, Priority: 7,
				Requests: map[string]string{"cpu": "500m"}, HostPorts: []int32{80, 443},
			},
			{Namespace: "shop", Name: "db", UID: "uid-2", Source: "api"},
		},
	}
}

func TestFactsAboutTheNode(t *testing.T) {
	t.Parallel()
	type list = []any
	r := requestFor(&v1.Pod{})
	r.Node = nodeFacts()
	for path, want := range map[string]any{
		"node.name":                  "node-1",
		"node.labels":                map[string]string{"zone": "a", "arch": "amd64"},
		"node.labels['zone']":        "a",
		"node.labels['none']":        abitest.Missing{},
		"node.allocatable":           map[string]string{"cpu": "4", "memory": "8Gi"},
		"node.allocatable['cpu']":    "4",
		"node.pods[*].namespace":     list{"shop", "shop"},
		"node.pods[1].name":          "db",
		"node.pods[2].name":          abitest.Missing{},
		"node.pods[*].uid":           list{"uid-1", "uid-2"},
		"node.pods[*].source":        list{"manifests", "api"},
		"node.pods[*].labels":        list{map[string]string{"app": "web"}, abitest.Missing{}},
		"node.pods[*].labels['app']": list{"web", abitest.Missing{}},
		"node.pods[*].priority":      list{int64(7), int64(0)},
		"node.pods[*].requests":      list{map[string]string{"cpu": "500m"}, abitest.Missing{}},
		"node.pods[*].hostPorts":     list{list{int64(80), int64(443)}, abitest.Missing{}},
		"node.pods[*].hostPorts[*]":  list{list{int64(80), int64(443)}, list{}},
		"node.pods[1]":               abitest.Raw(`{"namespace":"shop","name":"db","uid":"uid-2","source":"api","priority":0}`),
	} {
		if diff := cmp.Diff(want, abitest.ParseRecord(t, recordOf(t, declared(t, path), r))[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
		if got := abitest.ParseRecord(t, recordOf(t, declared(t, path), requestFor(&v1.Pod{})))[0]; got != (abitest.Missing{}) {
			t.Errorf("%s, where nothing is known: %v", path, got)
		}
	}
}
