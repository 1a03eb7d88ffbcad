package policy

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// Statement is all that a policy says to one question that it is asked alone, in a
// test or by its author. The same module says the same on every machine, to the
// last bit.
type Statement struct {
	// Answer is one of its hook, with merge the document that wins. It is empty where
	// there is none.
	Answer string `json:"answer,omitempty"`
	// NotAsked says why the plugin was not asked, empty where it was.
	NotAsked string `json:"notAsked,omitempty"`
	// Failure is the code of what went wrong, which Message tells; empty where nothing
	// did.
	Failure string `json:"failure,omitempty"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// RetryAfter is when the question is to be asked again, as in "10m0s"; empty for
	// no wish.
	RetryAfter  string            `json:"retryAfter,omitempty"`
	Warnings    []string          `json:"warnings,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Explanation string            `json:"explanation,omitempty"`
	// Patch is the JSON patch that came with the answer, Changed what it changes.
	Patch   json.RawMessage `json:"patch,omitempty"`
	Changed []string        `json:"changed,omitempty"`
	// Reads are the fields and documents that the plugin got, by the names of
	// docs/abi.md.
	Reads []string `json:"reads,omitempty"`
	// Fuel is what the call took of limits.fuel, HostFuel what conditions and the
	// patch took beside it.
	Fuel     int64 `json:"fuel"`
	HostFuel int64 `json:"hostFuel,omitempty"`
	// Extra is what else it cost the host, in units of fuel: another each time.
	Extra int64 `json:"-"`
}

// cost is all that it took.
func (s *Statement) cost() int64 { return s.Fuel + s.HostFuel + s.Extra }

// Output is how many bytes of limits.output_bytes its texts have. What a plugin hands
// over and then replaces by another text counts for the limit, and not here.
func (s *Statement) Output() (bytes int) {
	for _, text := range s.Warnings {
		bytes += len(text)
	}
	for key, value := range s.Annotations {
		bytes += len(key) + len(value)
	}
	return bytes + len(s.Code) + len(s.Message) + len(s.Explanation) + len(s.Patch)
}

// because is its code and its message, for display.
func (s *Statement) because() string { return said(s.Code, s.Message) }

// fail makes it that of a plugin that gave no answer.
func (s *Statement) fail(err error) {
	code, message, fuel := failureOf(err)
	s.Answer, s.Failure, s.Message = "", code, message
	s.Fuel += fuel
}

// exceptedStatement is what counts for a pod that an exception takes out.
func exceptedStatement(why string) Statement {
	return Statement{Answer: string(api.Abstain), NotAsked: strings.TrimPrefix(why, exceptedPrefix)}
}

// notMatching is what counts for a pod that a policy does not match.
func notMatching(fuel int64) Statement {
	return Statement{Answer: string(api.Abstain), NotAsked: "the pod does not match [match]", HostFuel: fuel}
}

// judge asks the plugin about one pod. What a call took that failed is in its
// *wasm.Failure, but for its Extra.
func (p *policy) judge(ctx context.Context, hook string, r *wasm.Request, mutateAPI bool) (Statement, error) {
	if hook == api.HookFilter {
		got, err := p.plugin.plugin.Filter(ctx, r)
		return Statement{
			Answer: string(got.Answer), Code: got.Reason, Message: got.Message, RetryAfter: pause(got.DeferFor),
			Warnings: got.Warnings, Annotations: got.Annotations, Explanation: got.Explanation, Reads: got.Reads,
			Fuel: got.Fuel, Extra: got.Extra,
		}, err
	}
	ask := p.plugin.plugin.Admit
	if hook == api.HookConnect {
		ask = p.plugin.plugin.Connect
	}
	got, err := ask(ctx, r)
	s := Statement{
		Answer: string(got.Answer), Code: got.Reason, Message: got.Message, RetryAfter: pause(got.RetryAfter),
		Warnings: got.Warnings, Annotations: got.Annotations, Explanation: got.Explanation, Patch: got.Patch, Reads: got.Reads,
		Fuel: got.Fuel, Extra: got.Extra,
	}
	if err != nil || len(got.Patch) == 0 {
		return s, err
	}
	s.HostFuel = patchCost(r.Question.Pod, got.Patch)
	made, _, err := p.apply(r.Question.Pod, got.Patch, mutateAPI)
	if err != nil {
		return s, &wasm.Failure{Code: codeOf(err), Err: err}
	}
	s.Changed = made.Changed
	return s, nil
}

// choose asks the plugin which of the candidates wins.
func (p *policy) choose(ctx context.Context, m *contest) (Statement, error) {
	got, err := p.plugin.plugin.Merge(ctx, m.MergeRequest)
	fuel := got.Fuel
	var made *pod.Mutation
	if err == nil {
		made, err = p.base(m, &got)
	}
	if err != nil {
		return Statement{Reads: got.Reads, Extra: got.Extra}, err
	}
	s := Statement{
		Answer: string(got.Answer), Code: got.Reason, Message: got.Message,
		Warnings: got.Warnings, Annotations: got.Annotations, Explanation: got.Explanation, Patch: got.Patch, Reads: got.Reads,
		Fuel: fuel, HostFuel: got.Fuel - fuel, Extra: got.Extra,
	}
	if got.Answer == wasm.MergeWinner {
		s.Answer = m.Candidates[got.Winner].Origin.Document
	}
	if made != nil {
		s.Changed = made.By[0].Changed
	}
	return s, nil
}

// pause is a time to wait, empty for none.
func pause(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}
