package wasm

import (
	"context"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

// Result is a plugin's answer. All text is valid UTF-8, and printable but for
// newlines and tabs in Explanation and in the values of Annotations.
type Result struct {
	Answer api.Answer
	// Reason is the plugin's code, at most 64 bytes; Message at most 4 KiB.
	Reason, Message string
	Explanation     string
	Warnings        []string
	Annotations     map[string]string
	// RetryAfter is when a Hold wants to be looked at again, 0 for no wish and
	// at most 24 h.
	RetryAfter time.Duration
	// Patch is a JSON patch of the pod that an Allow comes with, nil where
	// there is none. Nothing of it is known but that it is a list of add,
	// replace, remove and test.
	Patch []byte
	// Fuel is what the call took.
	Fuel int64
	// Extra is what the call cost beside that, in units of fuel: that the declared
	// fields and quantities were written, that the guest of a tenant came back to the
	// host so often, what calls before did to memories, and that its instance must be
	// made anew. It is another each time, so it is for budgets and on no record. It is known of
	// calls that fail, too.
	Extra int64
	// Reads are the fields and documents of the question that the plugin got, by
	// the names of docs/abi.md. They are known of calls that fail, too. The caller
	// must not change them.
	Reads []string
}

var answers = [...]api.Answer{api.Allow, api.Deny, api.Hold, api.Abstain}

// Admit asks the plugin about a pod. The error is a *Failure, ErrNotReady, or
// that of ctx, whose end ends the call.
func (p *Plugin) Admit(ctx context.Context, r *Request) (Result, error) {
	return p.verdict(ctx, HookAdmit, r)
}

// Connect asks the plugin about the connection of the question, to a pod that runs. The
// answer is never Hold, and has no patch. The error is as that of Admit.
func (p *Plugin) Connect(ctx context.Context, r *Request) (Result, error) {
	return p.verdict(ctx, HookConnect, r)
}

func (p *Plugin) verdict(ctx context.Context, hook Hook, r *Request) (Result, error) {
	var s said
	err := p.ask(ctx, hook, r, nil, &s)
	if err == nil {
		err = s.check(hook, len(answers))
	}
	if err == nil && hook == HookConnect && answers[s.number] == api.Hold {
		err = s.spoiled("%s gives %d: a connection cannot wait, answers are 0, 1 and 3", hooks[string(hook)], s.number)
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
	case result.Answer == api.Allow && hook == HookAdmit:
		result.Patch = s.patch
	}
	return result, nil
}

// said is what a hook gave, and what the guest handed over before.
type said struct {
	number int32
	// fuel is what the call took, extra what it cost beside that.
	fuel, extra int64
	// reads is what the guest got of the question.
	reads []string
	output
}

// check refuses numbers that are no answers of a hook that has n of them.
func (s *said) check(hook Hook, n int) error {
	switch {
	case s.number < 0:
		return s.failed(hook)
	case int(s.number) >= n:
		return s.spoiled("%s gives %d: answers are 0 to %d", hooks[string(hook)], s.number, n-1)
	}
	return nil
}

// failed is the failure of a plugin that says it cannot decide.
func (s *said) failed(hook Hook) error {
	failure := failf(PluginError, "%s reports an error%s", hooks[string(hook)], s.why(s.number))
	failure.Fuel = s.fuel
	return failure
}

// spoiled is the failure of a plugin whose answer means nothing.
func (s *said) spoiled(format string, args ...any) error {
	failure := failf(BadOutput, format, args...)
	failure.Fuel = s.fuel
	return failure
}
