package wasm

import (
	"context"
	"time"
)

// deferredFor is how long an update is deferred by a plugin that names no time.
const deferredFor = time.Minute

// FilterAnswer is what the hook filter decides.
type FilterAnswer string

// The answers of the hook filter.
const (
	// FilterPass: the update goes on.
	FilterPass FilterAnswer = "pass"
	// FilterDrop: it is held back until the pod changes again.
	FilterDrop FilterAnswer = "drop"
	// FilterDefer: it is held back for a time.
	FilterDefer FilterAnswer = "defer"
	// FilterAbstain: the plugin has no opinion.
	FilterAbstain FilterAnswer = "abstain"
)

var filterAnswers = [...]FilterAnswer{FilterPass, FilterDrop, FilterDefer, FilterAbstain}

// FilterResult is a plugin's answer. Its texts are as those of Result.
type FilterResult struct {
	Answer          FilterAnswer
	Reason, Message string
	Explanation     string
	Warnings        []string
	Annotations     map[string]string
	// DeferFor is how long a FilterDefer lasts, above 0 and at most 24 h.
	DeferFor time.Duration
	// Fuel is what the call took.
	Fuel int64
	// Extra is as in Result.
	Extra int64
	// Reads is as in Result.
	Reads []string
}

// Filter asks the plugin whether an update may reach a pod now. The question's
// Pod is the new version, its Old the one that the agent acted on last. The
// error is a *Failure, ErrNotReady, or that of ctx, whose end ends the call.
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
