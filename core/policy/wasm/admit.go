package wasm

import (
	"context"
	"time"

	"github.com/wardlet/wardlet/core/api"
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
	// RetryAfter is the time after which the plugin wants to be asked again about a
	// pod that it holds, at most 24 h; 0 if it does not matter.
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
func (p *Plugin) Admit(ctx context.Context, r *Request) (Result, error) {
	return p.verdict(ctx, HookAdmit, r)
}

// Connect asks the plugin about the question's connection to a running pod. The
// answer is never Hold, and has no patch. The errors are those of Admit.
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
func (s *said) check(hook Hook, n int) error {
	switch {
	case s.number < 0:
		return s.failed(hook)
	case int(s.number) >= n:
		return s.spoiled("%s gives %d: answers are 0 to %d", hooks[string(hook)], s.number, n-1)
	}
	return nil
}

// failed returns the failure of a plugin that reports that it cannot decide.
func (s *said) failed(hook Hook) error {
	failure := failf(PluginError, "%s reports an error%s", hooks[string(hook)], s.why(s.number))
	failure.Fuel = s.fuel
	return failure
}

// spoiled returns the failure of a plugin whose answer is not valid.
func (s *said) spoiled(format string, args ...any) error {
	failure := failf(BadOutput, format, args...)
	failure.Fuel = s.fuel
	return failure
}
