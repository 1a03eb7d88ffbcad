package wasm

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// testMerge returns a request with two candidates, the second of which runs.
func testMerge() *MergeRequest {
	small := func(name string) *v1.Pod { return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}} }
	return &MergeRequest{
		Candidates: []Candidate{
			{Pod: small("first"), Origin: api.Origin{Source: "manifests", Document: "/m/web.yaml#0"}, Kind: "file", Restored: true},
			{Pod: small("runs"), Origin: api.Origin{Source: "cluster", Document: "shop/web"}, Kind: "api", Running: true, FirstSeen: testTime.Add(-time.Hour)},
		},
		Current: small("runs"), Tenant: "shop", Time: testTime, ClockSynchronized: true, Node: testFacts(),
	}
}

func TestMergeAnswers(t *testing.T) {
	t.Parallel()
	for number, want := range map[int32]MergeResult{
		0:  {Answer: MergeWinner, Winner: 0},
		1:  {Answer: MergeWinner, Winner: 1},
		-1: {Answer: MergeKeep},
		-2: {Answer: MergeReject},
		-3: {Answer: MergeAbstain},
	} {
		p, _ := load(t, w.Merging(number, "Code", "message"), func(o *Options) { o.Hooks = []string{"merge"} })
		want.Reason, want.Message = "Code", "message"
		for range 2 {
			got, err := p.Merge(t.Context(), testMerge())
			if err != nil {
				t.Fatal(err)
			}
			if got.Fuel < 1 {
				t.Errorf("fuel %d", got.Fuel)
			}
			if want.Fuel == 0 {
				want.Fuel = got.Fuel // the second call must use as much
			}
			got.Extra = 0 // it differs from call to call
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%d (-want +got):\n%s", number, diff)
			}
		}
	}
}

func TestNumbersThatAreNoMerge(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		number int32
		change func(m *MergeRequest)
		want   string
	}{
		"one candidate too many":      {2, nil, "BadOutput: wardlet_merge names candidate 2: there are 2, counted from 0"},
		"the largest number":          {1<<31 - 1, nil, "BadOutput: wardlet_merge names candidate 2147483647: there are 2, counted from 0"},
		"the first of none":           {0, func(m *MergeRequest) { m.Candidates = nil }, "BadOutput: wardlet_merge names candidate 0: there are 0, counted from 0"},
		"keep, where nothing runs":    {-1, func(m *MergeRequest) { m.Candidates[1].Running = false }, "BadOutput: wardlet_merge keeps what runs, but none of the 2 candidates runs"},
		"an error":                    {-4, nil, "PluginError: wardlet_merge reports an error: Code: message"},
		"the largest negative number": {-1 << 31, nil, "PluginError: wardlet_merge reports an error: Code: message"},
	} {
		p, _ := load(t, w.Merging(test.number, "Code", "message"), func(o *Options) { o.Hooks = []string{"merge"} })
		m := testMerge()
		if test.change != nil {
			test.change(m)
		}
		for range 2 { // the plugin still works after the failure
			result, err := p.Merge(t.Context(), m)
			if failure, ok := errors.AsType[*Failure](err); !ok || failure.Error() != test.want {
				t.Errorf("%s: %v, %+v\nwant %s", name, err, result, test.want)
			}
		}
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
		"candidates[*].firstSeen":                        list{missing{}, testTime.Add(-time.Hour).UnixMilli()},
		"candidates[2].source":                           missing{},
		"candidates[*].object.metadata.name":             list{"first", "runs"},
		"candidates[1].object.metadata.name":             "runs",
		"candidates[2].object.metadata.name":             missing{},
		"candidates[*].object.spec.@containers[*].image": list{list{}, list{}},
		"candidates[2].object.spec.@containers[*].image": list{},
		"candidates[*].object.metadata.labels":           list{missing{}, missing{}},
		"object.metadata.name":                           missing{},
		"object.spec.containers[*].image":                missing{},
		"oldObject.metadata.name":                        "runs",
		"request.hook":                                   "merge",
		"request.operation":                              missing{},
		"request.source":                                 missing{},
		"request.kind":                                   missing{},
		"request.document":                               missing{},
		"request.replaces":                               missing{},
		"request.changed":                                missing{},
		"request.changed[*]":                             list{},
		"request.tenant":                                 "shop",
		"request.node":                                   "node-1",
		"request.time":                                   testTime.UnixMilli(),
		"request.clockSynchronized":                      true,
		"node.pods[*].name":                              list{"web", "db"},
	} {
		q := &query{}
		m := testMerge()
		q.setMerge(m)
		q.setNode("node-1", m.Node)
		var r record
		declared(t, path).write(&r, q, maxRecord)
		if diff := cmp.Diff(want, parseRecord(t, r.out)[0]); diff != "" {
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
		var p projection
		if err := p.declare(path, false, capabilities{node: true, references: true}); err == nil || err.Error() != want && len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
			t.Errorf("%s: %v\nwant %s", path, err, want)
		}
	}
}

// TestAPluginMergesByTheCandidates reads a field of a candidate by its path, and returns the
// field as the winner.
func TestAPluginMergesByTheCandidates(t *testing.T) {
	t.Parallel()
	m := fetching(t, []string{"candidates[1].running"}, w.Reason)
	m.Merge(w.I32Const(w.Input+8+4+valueHeader), w.I32Load8(0)) // the bool is the winner's number
	p, _ := load(t, m.Bytes(), func(o *Options) { o.Hooks = []string{"merge"} })
	for _, running := range []bool{true, false} {
		q := testMerge()
		q.Candidates[1].Running = running
		got, err := p.Merge(t.Context(), q)
		if err != nil || got.Answer != MergeWinner || (got.Winner == 1) != running {
			t.Errorf("running %v: %+v, %v", running, got, err)
		}
	}
}
