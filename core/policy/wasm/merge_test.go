package wasm

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// testMerge returns a request with two candidates, the second of which runs.
func testMerge() *abi.MergeRequest {
	small := func(name string) *v1.Pod { return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}} }
	return &abi.MergeRequest{
		Candidates: []abi.Candidate{
			{Pod: small("first"), Origin: api.Origin{Source: "manifests", Document: "/m/web.yaml#0"}, Kind: "file", Restored: true},
			{Pod: small("runs"), Origin: api.Origin{Source: "cluster", Document: "shop/web"}, Kind: "api", Running: true, FirstSeen: abitest.Time.Add(-time.Hour)},
		},
		Current: small("runs"), Tenant: "shop", Time: abitest.Time, ClockSynchronized: true, Node: testFacts(),
	}
}

func testFacts() *abi.NodeFacts {
	return &abi.NodeFacts{
		Labels:      map[string]string{"zone": "a", "arch": "amd64"},
		Allocatable: map[string]string{"cpu": "4", "memory": "8Gi"},
		Pods: []abi.NodePod{
			{
				Namespace: "shop", Name: "web", UID: "uid-1", Source: "manifests", Labels: map[string]string{"app": "web"}, Priority: 7,
				Requests: map[string]string{"cpu": "500m"}, HostPorts: []int32{80, 443},
			},
			{Namespace: "shop", Name: "db", UID: "uid-2", Source: "api"},
		},
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
		change func(m *abi.MergeRequest)
		want   string
	}{
		"one candidate too many":      {2, nil, "BadOutput: wardlet_merge names candidate 2: there are 2, counted from 0"},
		"the largest number":          {1<<31 - 1, nil, "BadOutput: wardlet_merge names candidate 2147483647: there are 2, counted from 0"},
		"the first of none":           {0, func(m *abi.MergeRequest) { m.Candidates = nil }, "BadOutput: wardlet_merge names candidate 0: there are 0, counted from 0"},
		"keep, where nothing runs":    {-1, func(m *abi.MergeRequest) { m.Candidates[1].Running = false }, "BadOutput: wardlet_merge keeps what runs, but none of the 2 candidates runs"},
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
			if failure, ok := errors.AsType[*abi.Failure](err); !ok || failure.Error() != test.want {
				t.Errorf("%s: %v, %+v\nwant %s", name, err, result, test.want)
			}
		}
	}
}

// TestAPluginMergesByTheCandidates reads a field of a candidate by its path, and returns the
// field as the winner.
func TestAPluginMergesByTheCandidates(t *testing.T) {
	t.Parallel()
	m := fetching(t, []string{"candidates[1].running"}, w.Reason)
	m.Merge(w.I32Const(w.Input+8+4+headerBytes), w.I32Load8(0)) // the bool is the winner's number
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
