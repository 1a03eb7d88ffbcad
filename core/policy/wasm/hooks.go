package wasm

import (
	"context"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// Result is a plugin's answer. All text is valid UTF-8 and printable, except that
// Explanation and the values of Annotations may contain newlines and tabs.
type Result struct {
	Answer api.Answer
	// Reason is the plugin's code, at most 64 bytes. Message has at most 4 KiB.
	Reason, Message string
	Explanation     string
	Warnings        []string
	Annotations     map[string]string
	// RetryAfter is the time after which the plugin requests to be called again about a pod
	// that it holds, at most 24 h; 0 if the plugin set none.
	RetryAfter time.Duration
	// Patch is a JSON patch of the pod, which only an Allow can have; nil if there
	// is none. It is known to be a list of add, replace, remove and test
	// operations; nothing else in it was checked.
	Patch []byte
	// Fuel is the fuel that the call used.
	Fuel int64
	// Extra is what the call cost in addition to Fuel, in units of fuel: writing
	// the declared fields and quantities, how often the guest of a tenant returned
	// to the host, what earlier calls did to memories, and a new instance if this
	// one must be replaced. It differs from call to call, so it is charged to
	// budgets but not recorded. It is also set for calls that fail.
	Extra int64
	// Reads are the fields and documents of the question that the plugin got, by
	// their names in docs/abi.md. They are also set for calls that fail. The caller
	// must not change them.
	Reads []string
}

var answers = [...]api.Answer{api.Allow, api.Deny, api.Hold, api.Abstain}

// Admit asks the plugin about a pod. The error is a *Failure, ErrNotReady, or the
// cause of ctx. The call stops when ctx is done.
func (p *Plugin) Admit(ctx context.Context, r *abi.Request) (Result, error) {
	return p.verdict(ctx, abi.HookAdmit, r)
}

// Connect asks the plugin about the question's connection to a running pod. The
// answer is never Hold, and has no patch. The errors are those of Admit.
func (p *Plugin) Connect(ctx context.Context, r *abi.Request) (Result, error) {
	return p.verdict(ctx, abi.HookConnect, r)
}

func (p *Plugin) verdict(ctx context.Context, hook abi.Hook, r *abi.Request) (Result, error) {
	var s said
	err := p.ask(ctx, hook, r, nil, &s)
	if err == nil {
		err = s.check(hook, len(answers))
	}
	if err == nil && hook == abi.HookConnect && answers[s.number] == api.Hold {
		err = s.spoiled("%s gives %d: a connection cannot wait, answers are 0, 1 and 3", abi.Exports[string(hook)], s.number)
	}
	if err != nil {
		return Result{Reads: s.reads, Extra: s.extra}, err
	}
	result := Result{
		Reads: s.reads, Extra: s.extra,
		Answer: answers[s.number], Reason: s.reason, Message: s.message,
		Explanation: s.explanation, Warnings: s.warnings, Annotations: s.annotations, Fuel: s.fuel,
	}
	switch {
	case result.Answer == api.Hold:
		result.RetryAfter = s.retryAfter
	case result.Answer == api.Allow && hook == abi.HookAdmit:
		result.Patch = s.patch
	}
	return result, nil
}

// said is the result of a hook, and what the guest handed over during the call.
type said struct {
	number int32
	// fuel is the fuel that the call used. extra is what it cost in addition, see
	// Result.
	fuel, extra int64
	// reads are the paths of the question that the guest got.
	reads []string
	output
}

// check returns an error for a number that is no answer of the hook. The answers
// are 0 to n-1.
func (s *said) check(hook abi.Hook, n int) error {
	switch {
	case s.number < 0:
		return s.failed(hook)
	case int(s.number) >= n:
		return s.spoiled("%s gives %d: answers are 0 to %d", abi.Exports[string(hook)], s.number, n-1)
	}
	return nil
}

// failed returns the failure of a plugin that reports that it cannot decide.
func (s *said) failed(hook abi.Hook) error {
	failure := abi.Failf(abi.PluginError, "%s reports an error%s", abi.Exports[string(hook)], s.why(s.number))
	failure.Fuel = s.fuel
	return failure
}

// spoiled returns the failure of a plugin whose answer is not valid.
func (s *said) spoiled(format string, args ...any) error {
	failure := abi.Failf(abi.BadOutput, format, args...)
	failure.Fuel = s.fuel
	return failure
}

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
func (p *Plugin) Filter(ctx context.Context, r *abi.Request) (FilterResult, error) {
	var s said
	err := p.ask(ctx, abi.HookFilter, r, nil, &s)
	if err == nil {
		err = s.check(abi.HookFilter, len(filterAnswers))
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
func (p *Plugin) Merge(ctx context.Context, m *abi.MergeRequest) (MergeResult, error) {
	var s said
	err := p.ask(ctx, abi.HookMerge, nil, m, &s)
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
		return MergeResult{Reads: s.reads, Extra: s.extra}, s.failed(abi.HookMerge)
	case s.number == mergeAbstain:
		result.Answer = MergeAbstain
	case s.number == mergeReject:
		result.Answer = MergeReject
	case s.number == mergeKeep:
		if !slices.ContainsFunc(m.Candidates, func(c abi.Candidate) bool { return c.Running }) {
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
