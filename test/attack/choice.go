package attack

import (
	"fmt"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// fresh is the image of documents of which none is running.
const fresh = "fresh"

// conflict returns the question which of n documents wins. The first document is running.
func conflict(n int, image string) *abi.MergeRequest {
	m := &abi.MergeRequest{Time: Now}
	claimed := judged(image)
	for i := range n {
		m.Candidates = append(m.Candidates, abi.Candidate{
			Pod: claimed, Kind: "file", Origin: api.Origin{Source: "manifests", Document: fmt.Sprintf("/m/web%d.yaml#0", i)},
			Running: i == 0 && image != fresh, FirstSeen: Now,
		})
	}
	if n > 0 && image != fresh {
		m.Current = claimed
	}
	return m
}

// change returns the question whether an update may be applied to a pod.
func change(image string) *abi.Request {
	r := Request(image)
	r.Question.Op, r.Question.Old, r.Changed = api.UpdateOp, judged("before"), []string{"images"}
	return r
}
