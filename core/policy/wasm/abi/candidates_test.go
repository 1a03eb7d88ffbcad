package abi

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
)

// mergeRequest returns a request with two candidates, the second of which runs.
func mergeRequest() *MergeRequest {
	small := func(name string) *v1.Pod { return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}} }
	return &MergeRequest{
		Candidates: []Candidate{
			{Pod: small("first"), Origin: api.Origin{Source: "manifests", Document: "/m/web.yaml#0"}, Kind: "file", Restored: true},
			{Pod: small("runs"), Origin: api.Origin{Source: "cluster", Document: "shop/web"}, Kind: "api", Running: true, FirstSeen: abitest.Time.Add(-time.Hour)},
		},
		Current: small("runs"), Tenant: "shop", Time: abitest.Time, ClockSynchronized: true, Node: nodeFacts(),
	}
}

func TestCandidates(t *testing.T) {
	t.Parallel()
	type list = []any
	for path, want := range map[string]any{
		"candidates[*].source":                           list{"manifests", "cluster"},
		"candidates[*].kind":                             list{"file", "api"},
		"candidates[1].document":                         "shop/web",
		"candidates[*].running":                          list{false, true},
		"candidates[*].restored":                         list{true, false},
		"candidates[*].firstSeen":                        list{abitest.Missing{}, abitest.Time.Add(-time.Hour).UnixMilli()},
		"candidates[2].source":                           abitest.Missing{},
		"candidates[*].object.metadata.name":             list{"first", "runs"},
		"candidates[1].object.metadata.name":             "runs",
		"candidates[2].object.metadata.name":             abitest.Missing{},
		"candidates[*].object.spec.@containers[*].image": list{list{}, list{}},
		"candidates[2].object.spec.@containers[*].image": list{},
		"candidates[*].object.metadata.labels":           list{abitest.Missing{}, abitest.Missing{}},
		"object.metadata.name":                           abitest.Missing{},
		"object.spec.containers[*].image":                abitest.Missing{},
		"oldObject.metadata.name":                        "runs",
		"request.hook":                                   "merge",
		"request.operation":                              abitest.Missing{},
		"request.source":                                 abitest.Missing{},
		"request.kind":                                   abitest.Missing{},
		"request.document":                               abitest.Missing{},
		"request.replaces":                               abitest.Missing{},
		"request.changed":                                abitest.Missing{},
		"request.changed[*]":                             list{},
		"request.tenant":                                 "shop",
		"request.node":                                   "node-1",
		"request.time":                                   abitest.Time.UnixMilli(),
		"request.clockSynchronized":                      true,
		"node.pods[*].name":                              list{"web", "db"},
	} {
		q := &Query{}
		m := mergeRequest()
		q.SetMerge(m)
		q.SetNode("node-1", m.Node, everything)
		var r Record
		declared(t, path).Write(&r, q, MaxRecord)
		if diff := cmp.Diff(want, abitest.ParseRecord(t, r.Out)[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

func TestPathsThatNameNoCandidateAreRefused(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"candidates":                        "candidates is a list: [*] or an index must follow",
		"candidates.source":                 "candidates is a list: [*] or an index must follow",
		"candidates['a'].source":            "candidates is a list: [*] or an index must follow",
		"candidates[*]":                     "a field must follow the root",
		"candidates[0]":                     "a field must follow the root",
		"candidates[*][*]":                  "a field must follow the root",
		"candidates[*].object":              "a field must follow the root",
		"candidates[*].object[0]":           "a field must follow the root",
		"candidates[*].object.status.phase": "the status of a pod is not judged",
		"candidates[*].object.Spec":         `Pod has no field "Spec"`,
		"candidates[*].pod":                 `candidate has no field "pod"`,
		"candidates[*].source.x":            `a single value has no field "x"`,
		"candidates[*].-":                   `candidate has no field "-"`,
		"node":                              "a field must follow the root",
		"node.pods.name":                    `a list has no field "name"`,
		"node.user":                         `node has no field "user"`,
	} {
		var p Projection
		if err := p.Declare(path, false, everything); err == nil || err.Error() != want && len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
			t.Errorf("%s: %v\nwant %s", path, err, want)
		}
	}
}
