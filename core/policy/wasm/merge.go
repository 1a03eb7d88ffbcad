package wasm

import (
	"context"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// MergeRequest is a question to the hook merge: which of the documents that
// claim one pod wins.
type MergeRequest struct {
	// Candidates come in an order that does not depend on time: by the rank of
	// their source, then by source and document.
	Candidates []Candidate
	// Current is the pod that runs, nil if none does.
	Current *v1.Pod
	// Tenant is whose pod it is, empty for the operator's.
	Tenant string
	// Time is the decision's time: all that the plugin sees of a clock.
	Time time.Time
	// ClockSynchronized says whether the node's clock is known to be right.
	ClockSynchronized bool
	// Node and Texts are as in Request.
	Node  *NodeFacts
	Texts *pod.Texts
}

// MergeAnswer is what the hook merge decides.
type MergeAnswer string

// The answers of the hook merge.
const (
	// MergeWinner: one of the candidates wins.
	MergeWinner MergeAnswer = "winner"
	// MergeKeep: what runs goes on; one of the candidates runs.
	MergeKeep MergeAnswer = "keep"
	// MergeReject: none of the candidates may run.
	MergeReject MergeAnswer = "reject"
	// MergeAbstain: the plugin has no opinion.
	MergeAbstain MergeAnswer = "abstain"
)

// MergeResult is a plugin's answer. Its texts are as those of Result.
type MergeResult struct {
	Answer MergeAnswer
	// Winner is the winner's place in the list of candidates, 0 where there is
	// none.
	Winner          int
	Reason, Message string
	Explanation     string
	Warnings        []string
	Annotations     map[string]string
	// Patch is a JSON patch of the winner's document, nil where there is none;
	// see Result.
	Patch []byte
	// Fuel is what the call took.
	Fuel int64
	// Extra is as in Result.
	Extra int64
	// Reads is as in Result.
	Reads []string
}

// The numbers below 0 of wardlet_merge.
const (
	mergeKeep    = -1
	mergeReject  = -2
	mergeAbstain = -3
)

// Merge asks the plugin which document wins. The error is a *Failure,
// ErrNotReady, or that of ctx, whose end ends the call.
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
