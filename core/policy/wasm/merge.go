package wasm

import (
	"context"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// MergeRequest is a question to the hook merge: which of the documents that claim
// one pod wins.
type MergeRequest struct {
	// Candidates are in an order that does not depend on time: by the rank of their
	// source, then by source and document.
	Candidates []Candidate
	// Current is the running pod, nil if none runs.
	Current *v1.Pod
	// Tenant is the tenant that the pod belongs to, empty for the operator's.
	Tenant string
	// Time is the time of the decision. The plugin sees no other clock.
	Time time.Time
	// ClockSynchronized reports whether the node's clock is known to be right.
	ClockSynchronized bool
	// Node and Texts are as in Request.
	Node  *NodeFacts
	Texts *pod.Texts
}

// MergeAnswer is the answer of the hook merge.
type MergeAnswer string

// The answers of the hook merge.
const (
	// MergeWinner: one of the candidates wins.
	MergeWinner MergeAnswer = "winner"
	// MergeKeep: the running pod keeps running; it must be one of the candidates.
	MergeKeep MergeAnswer = "keep"
	// MergeReject: none of the candidates may run.
	MergeReject MergeAnswer = "reject"
	// MergeAbstain: the plugin has no opinion.
	MergeAbstain MergeAnswer = "abstain"
)

// MergeResult is a plugin's answer. Its texts are bounded like those of Result.
type MergeResult struct {
	Answer MergeAnswer
	// Winner is the index of the winner in the list of candidates, 0 if there is
	// none.
	Winner          int
	Reason, Message string
	Explanation     string
	Warnings        []string
	Annotations     map[string]string
	// Patch is a JSON patch of the winner's document, nil if there is none; see
	// Result.
	Patch []byte
	// Fuel is the fuel that the call used.
	Fuel int64
	// Extra is as in Result.
	Extra int64
	// Reads is as in Result.
	Reads []string
}

// These are the negative results of wardlet_merge.
const (
	mergeKeep    = -1
	mergeReject  = -2
	mergeAbstain = -3
)

// Merge asks the plugin which document wins. The error is a *Failure, ErrNotReady,
// or the cause of ctx. The call stops when ctx is done.
func (p *Plugin) Merge(ctx context.Context, m *MergeRequest) (MergeResult, error) {
	var s said
	err := p.ask(ctx, HookMerge, nil, m, &s)
	if err != nil {
		return MergeResult{Reads: s.reads, Extra: s.extra}, err
	}
	result := MergeResult{
		Reads: s.reads, Extra: s.extra,
		Reason: s.reason, Message: s.message,
		Explanation: s.explanation, Warnings: s.warnings, Annotations: s.annotations, Fuel: s.fuel,
	}
	n := len(m.Candidates)
	switch {
	case s.number < mergeAbstain:
		return MergeResult{Reads: s.reads, Extra: s.extra}, s.failed(HookMerge)
	case s.number == mergeAbstain:
		result.Answer = MergeAbstain
	case s.number == mergeReject:
		result.Answer = MergeReject
	case s.number == mergeKeep:
		if !slices.ContainsFunc(m.Candidates, func(c Candidate) bool { return c.Running }) {
			return MergeResult{Reads: s.reads, Extra: s.extra}, s.spoiled("wardlet_merge keeps what runs, but none of the %d candidates runs", n)
		}
		result.Answer = MergeKeep
	case int(s.number) < n:
		result.Answer, result.Winner, result.Patch = MergeWinner, int(s.number), s.patch
	default:
		return MergeResult{Reads: s.reads, Extra: s.extra}, s.spoiled("wardlet_merge names candidate %d: there are %d, counted from 0", s.number, n)
	}
	return result, nil
}
