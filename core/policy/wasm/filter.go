package wasm

import (
	"context"
	"time"
)

// deferredFor is how long an update is deferred if the plugin names no time.
const deferredFor = time.Minute

// FilterAnswer is the answer of the hook filter.
type FilterAnswer string

// The answers of the hook filter.
const (
	// FilterPass: the update is applied.
	FilterPass FilterAnswer = "pass"
	// FilterDrop: the update is held back until the pod changes again.
	FilterDrop FilterAnswer = "drop"
	// FilterDefer: the update is held back for a time.
	FilterDefer FilterAnswer = "defer"
	// FilterAbstain: the plugin has no opinion.
	FilterAbstain FilterAnswer = "abstain"
)

var filterAnswers = [...]FilterAnswer{FilterPass, FilterDrop, FilterDefer, FilterAbstain}

// FilterResult is a plugin's answer. Its texts are bounded like those of Result.
type FilterResult struct {
	Answer          FilterAnswer
	Reason, Message string
	Explanation     string
	Warnings        []string
	Annotations     map[string]string
	// DeferFor is how long a FilterDefer lasts, more than 0 and at most 24 h.
	DeferFor time.Duration
	// Fuel is the fuel that the call used.
	Fuel int64
	// Extra is as in Result.
	Extra int64
	// Reads is as in Result.
	Reads []string
}

// Filter asks the plugin whether an update may be applied to a pod now. Pod of the
// question is the new version, Old is the version that the agent applied last. The
// error is a *Failure, ErrNotReady, or the cause of ctx. The call stops when ctx is
// done.
func (p *Plugin) Filter(ctx context.Context, r *Request) (FilterResult, error) {
	var s said
	err := p.ask(ctx, HookFilter, r, nil, &s)
	if err == nil {
		err = s.check(HookFilter, len(filterAnswers))
	}
	if err != nil {
		return FilterResult{Reads: s.reads, Extra: s.extra}, err
	}
	result := FilterResult{
		Reads: s.reads, Extra: s.extra,
		Answer: filterAnswers[s.number], Reason: s.reason, Message: s.message,
		Explanation: s.explanation, Warnings: s.warnings, Annotations: s.annotations, Fuel: s.fuel,
	}
	if result.Answer == FilterDefer {
		if result.DeferFor = s.retryAfter; result.DeferFor == 0 {
			result.DeferFor = deferredFor
		}
	}
	return result, nil
}
