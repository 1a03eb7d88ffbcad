package wasm

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	w "github.com/wardlet/wardlet/test/wasmtest"
)

func testFacts() *NodeFacts {
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
	r := question(&v1.Pod{})
	r.Node = testFacts()
	for path, want := range map[string]any{
		"node.name":                  "node-1",
		"node.labels":                map[string]string{"zone": "a", "arch": "amd64"},
		"node.labels['zone']":        "a",
		"node.labels['none']":        missing{},
		"node.allocatable":           map[string]string{"cpu": "4", "memory": "8Gi"},
		"node.allocatable['cpu']":    "4",
		"node.pods[*].namespace":     list{"shop", "shop"},
		"node.pods[1].name":          "db",
		"node.pods[2].name":          missing{},
		"node.pods[*].uid":           list{"uid-1", "uid-2"},
		"node.pods[*].source":        list{"manifests", "api"},
		"node.pods[*].labels":        list{map[string]string{"app": "web"}, missing{}},
		"node.pods[*].labels['app']": list{"web", missing{}},
		"node.pods[*].priority":      list{int64(7), int64(0)},
		"node.pods[*].requests":      list{map[string]string{"cpu": "500m"}, missing{}},
		"node.pods[*].hostPorts":     list{list{int64(80), int64(443)}, missing{}},
		"node.pods[*].hostPorts[*]":  list{list{int64(80), int64(443)}, list{}},
		"node.pods[1]":               raw(`{"namespace":"shop","name":"db","uid":"uid-2","source":"api","priority":0}`),
	} {
		if diff := cmp.Diff(want, parseRecord(t, recordOf(t, declared(t, path), r))[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
		if got := parseRecord(t, recordOf(t, declared(t, path), question(&v1.Pod{})))[0]; got != (missing{}) {
			t.Errorf("%s, where nothing is known: %v", path, got)
		}
	}
}

func TestFactsNeedTheCapability(t *testing.T) {
	t.Parallel()
	for _, of := range []w.Import{w.Path, w.Field} {
		e, _ := testEngine(t)
		o := testOptions()
		_, err := e.Load(t.Context(), declaring(of, "node.pods[*].name"), o)
		want := `PluginError: wardlet_init refuses with -1 and gives no reason; the last path it was refused: ` +
			`path node.pods[*].name: node needs the capability "node.read": add it to the policy's capabilities`
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", of.Name, err, want)
		}
		o.Capabilities = []string{"node.read"}
		p, err := e.Load(t.Context(), declaring(of, "node.pods[*].name"), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestUnknownCapabilitiesAreRefused(t *testing.T) {
	t.Parallel()
	e, _ := testEngine(t)
	o := testOptions()
	o.Capabilities = []string{"node.read", "node.write"}
	_, err := e.Load(t.Context(), w.Answering(0, "", ""), o)
	if want := `the capability "node.write" is not supported in this version: there are ["node.read" "references.read"]`; err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}
