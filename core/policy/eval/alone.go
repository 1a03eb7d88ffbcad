package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/manifest"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// Result is the result of one policy that is asked alone, in a test or by its author. The
// same module returns the same result on every machine, to the last bit.
type Result struct {
	// Answer is an answer of the hook or, for merge, the document that wins. It is empty if
	// there is no answer.
	Answer string `json:"answer,omitempty"`
	// NotAsked says why the plugin was not called, empty if it was.
	NotAsked string `json:"notAsked,omitempty"`
	// Failure is the code of a failure, which Message explains; empty for none.
	Failure string `json:"failure,omitempty"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// RetryAfter is the delay before the question is to be asked again, as in "10m0s";
	// empty if the policy does not say.
	RetryAfter  string            `json:"retryAfter,omitempty"`
	Warnings    []string          `json:"warnings,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Explanation string            `json:"explanation,omitempty"`
	// Patch is the JSON patch that came with the answer. Changed lists what it changes.
	Patch   json.RawMessage `json:"patch,omitempty"`
	Changed []string        `json:"changed,omitempty"`
	// Reads are the fields and documents that the plugin read, by the names of
	// docs/abi.md.
	Reads []string `json:"reads,omitempty"`
	// Fuel is the part of limits.fuel that the call used. HostFuel is the cost of
	// conditions and the patch.
	Fuel     int64 `json:"fuel"`
	HostFuel int64 `json:"hostFuel,omitempty"`
	// Extra is the other cost of the call for the host, in units of fuel. It differs each
	// time.
	Extra int64 `json:"-"`
}

// cost returns the cost of everything.
func (s *Result) cost() int64 { return s.Fuel + s.HostFuel + s.Extra }

// Output returns how many bytes of limits.output_bytes the result's texts use. A text that
// the plugin replaced counts towards the limit, but not here.
func (s *Result) Output() (bytes int) {
	for _, text := range s.Warnings {
		bytes += len(text)
	}
	for key, value := range s.Annotations {
		bytes += len(key) + len(value)
	}
	return bytes + len(s.Code) + len(s.Message) + len(s.Explanation) + len(s.Patch)
}

// because returns code and message, for display.
func (s *Result) because() string { return said(s.Code, s.Message) }

// SetFailure turns s into the result of a plugin that returned no answer.
func (s *Result) SetFailure(err error) {
	code, message, fuel := FailureOf(err)
	s.Answer, s.Failure, s.Message = "", code, message
	s.Fuel += fuel
}

// ExceptedResult returns the result for a pod that an exception exempts.
func ExceptedResult(why string) Result {
	return Result{Answer: string(api.Abstain), NotAsked: strings.TrimPrefix(why, exceptedPrefix)}
}

// NotMatching returns the result for a pod that the policy does not match.
func NotMatching(fuel int64) Result {
	return Result{Answer: string(api.Abstain), NotAsked: "the pod does not match [match]", HostFuel: fuel}
}

// AskPlugin calls the plugin about one pod. If the call failed, its fuel is in the
// *abi.Failure, except Extra.
func (p *Policy) AskPlugin(ctx context.Context, hook string, r *abi.Request, mutateAPI bool) (Result, error) {
	if hook == api.HookFilter {
		got, err := p.Plugin.Plugin.Filter(ctx, r)
		return Result{
			Answer: string(got.Answer), Code: got.Reason, Message: got.Message, RetryAfter: pause(got.DeferFor),
			Warnings: got.Warnings, Annotations: got.Annotations, Explanation: got.Explanation, Reads: got.Reads,
			Fuel: got.Fuel, Extra: got.Extra,
		}, err
	}
	ask := p.Plugin.Plugin.Admit
	if hook == api.HookConnect {
		ask = p.Plugin.Plugin.Connect
	}
	got, err := ask(ctx, r)
	s := Result{
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
		return s, &abi.Failure{Code: codeOf(err), Err: err}
	}
	s.Changed = made.Changed
	return s, nil
}

// ChooseWinner calls the plugin to choose one of the candidates.
func (p *Policy) ChooseWinner(ctx context.Context, m *Conflict) (Result, error) {
	got, err := p.Plugin.Plugin.Merge(ctx, m.MergeRequest)
	fuel := got.Fuel
	var made *pod.Mutation
	if err == nil {
		made, err = p.base(m, &got)
	}
	if err != nil {
		return Result{Reads: got.Reads, Extra: got.Extra}, err
	}
	s := Result{
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

// pause returns a duration as text, empty for none.
func pause(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// AskMatching asks about one pod, if it matches and no exception exempts it.
func (p *Policy) AskMatching(ctx context.Context, x *Decision, mutateAPI bool) (Result, error) {
	if !p.Match.Matches(x.Request.Question, x.Request.Kind) {
		return NotMatching(0), nil
	}
	if o, ok := p.Excepted(x); ok {
		return ExceptedResult(o.Message), nil
	}
	matches, fuel, err := x.turn.All(ctx, p.Match.Compiled, x.conditions())
	if err == nil && !matches {
		return NotMatching(fuel), nil
	}
	var s Result
	if err == nil {
		s, err = p.AskPlugin(ctx, x.Hook, x.Request, mutateAPI)
	}
	s.HostFuel += fuel
	return s, err
}

// AfterCall returns the result after a call: a failure is a result, too.
func (s *Result) AfterCall(ctx context.Context, err error) (Result, error) {
	if ctx.Err() != nil {
		return *s, context.Cause(ctx)
	}
	if err != nil {
		s.SetFailure(err)
	}
	return *s, nil
}

// RunTest runs a test and returns its cost. got is the result if the test expects another
// one, and empty if the test passed. The error says why there was no answer.
func (p *Policy) RunTest(ctx context.Context, v *spec.TestCase, pods map[string]*v1.Pod) (got string, fuel int64, err error) {
	s, err := p.AskTest(ctx, v, pods)
	got, took := s.Mismatch(v, err)
	return got, s.cost() + took, err
}

// Mismatch returns the result if the test expects another one, and an empty string if the
// test passed. fuel is the fuel of a call that failed.
func (s *Result) Mismatch(v *spec.TestCase, err error) (got string, fuel int64) {
	switch {
	case err != nil:
		_, message, took := FailureOf(err)
		return "a failure: " + message, took
	case s.Answer == v.Expect:
		return "", 0
	case s.NotAsked != "":
		return fmt.Sprintf("%s (%s)", s.Answer, s.NotAsked), 0
	case s.because() == "":
		return s.Answer, 0
	}
	return fmt.Sprintf("%s (%s)", s.Answer, s.because()), 0
}

// AskTest returns the result of the policy in a test.
func (p *Policy) AskTest(ctx context.Context, v *spec.TestCase, pods map[string]*v1.Pod) (Result, error) {
	if v.Hook == api.HookMerge {
		return p.ChooseWinner(ctx, ConflictOfTestCase(v, pods))
	}
	if p.Group != nil {
		return p.testUnited(ctx, v, pods)
	}
	return p.testAsked(ctx, v, p.QuestionOfTest(v, pods))
}

// testAsked returns the result of a policy for the question of a test.
func (p *Policy) testAsked(ctx context.Context, v *spec.TestCase, q *api.Question) (Result, error) {
	matches, fuel, err := p.testMatches(ctx, v, q)
	if err != nil {
		return Result{HostFuel: fuel}, err
	}
	if !matches {
		return NotMatching(fuel), nil
	}
	s, err := p.AskPlugin(ctx, v.Hook, p.RequestOfTestCase(q, v.At, v.KnownReferences()), true)
	s.HostFuel += fuel
	return s, err
}

// testMatches reports whether the policy matches a test's pod. Source and operation always
// match. fuel is the cost of its conditions.
func (p *Policy) testMatches(ctx context.Context, v *spec.TestCase, q *api.Question) (matches bool, fuel int64, err error) {
	if !p.Match.MatchesPod(q) {
		return false, 0, nil
	}
	d := &Decision{Hook: v.Hook, Request: p.RequestOfTestCase(q, v.At, v.KnownReferences())}
	return d.turn.All(ctx, p.Match.Compiled, d.conditions())
}

// ConflictOfTestCase returns the conflict of a test of the hook merge.
func ConflictOfTestCase(v *spec.TestCase, pods map[string]*v1.Pod) *Conflict {
	m := &abi.MergeRequest{Time: v.At, ClockSynchronized: true}
	for i := range v.Candidates {
		c := &v.Candidates[i]
		m.Candidates = append(m.Candidates, abi.Candidate{
			Pod: pods[c.Pod], Origin: api.Origin{Source: c.Source, Document: c.Pod, FirstSeen: spec.TestTime},
			Kind: c.Kind, Running: c.Running, FirstSeen: spec.TestTime,
		})
		if c.Running && m.Current == nil {
			m.Current = pods[c.Pod]
		}
	}
	return &Conflict{MergeRequest: m, MutateAPI: true}
}

// QuestionOfTest returns the question of a test about a pod: a connection to it; a
// change, if the test has an old version; else a new pod or, for a filter or a policy
// that does not judge new pods, a change that changes nothing.
func (p *Policy) QuestionOfTest(v *spec.TestCase, pods map[string]*v1.Pod) *api.Question {
	q := &api.Question{
		Op: api.Add, Pod: pods[v.Pod], Old: pods[v.Old],
		Origin: api.Origin{Source: spec.TestSource, Document: v.Pod, FirstSeen: spec.TestTime},
	}
	if v.Hook == api.HookConnect {
		q.Op, q.Old, q.Connection = api.Connect, nil, v.ConnectionTo(q.Pod)
		return q
	}
	if q.Old == nil && (v.Hook == api.HookFilter || len(p.Match.Operations) > 0 && !slices.Contains(p.Match.Operations, api.Add)) {
		q.Old = q.Pod
	}
	if q.Old != nil {
		q.Op = api.UpdateOp
	}
	return q
}

// PodOfTest returns the pod of a manifest that a test names.
func PodOfTest(r *bundle.Bundle, path, node string) (*v1.Pod, error) {
	docs := manifest.Decode(r.Files[path].Data, manifest.DecodeFrom{Source: spec.TestSource, Kind: api.KindFile, File: path, NodeName: node})
	for _, d := range docs {
		if d.Err != nil {
			return nil, d.Err
		}
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("%s: want one pod, found %d", path, len(docs))
	}
	return docs[0].Pod, nil
}

// said returns a reason and a message, for display.
func said(reason, message string) string {
	return strings.TrimPrefix(strings.TrimSuffix(reason+": "+message, ": "), ": ")
}

// testUnited returns the result of a group in a test. It asks the members that match the
// pod and, unlike in their own tests, the operation.
func (p *Policy) testUnited(ctx context.Context, v *spec.TestCase, pods map[string]*v1.Pod) (Result, error) {
	q := p.QuestionOfTest(v, pods)
	return p.AskGroup(func(m *Policy) (Result, error) {
		if !m.Match.MatchesOperation(q) {
			return NotMatching(0), nil
		}
		return m.testAsked(ctx, v, q)
	})
}

// AskGroup asks the members of a group and returns the group's result. The group's
// exceptions are ignored. If a member fails, the group fails.
func (p *Policy) AskGroup(ask func(member *Policy) (Result, error)) (Result, error) {
	var s Result
	var opinions []*PolicyResult
	for _, m := range p.Members {
		said, err := ask(m)
		s.Fuel, s.HostFuel, s.Extra = s.Fuel+said.Fuel, s.HostFuel+said.HostFuel, s.Extra+said.Extra
		s.Reads = append(s.Reads, said.Reads...)
		if err != nil {
			return s, ofMember(m, err)
		}
		if said.NotAsked == "" {
			opinions = append(opinions, said.opinion(m))
		}
	}
	slices.Sort(s.Reads)
	s.Reads = slices.Compact(s.Reads)
	if len(opinions) == 0 {
		s.Answer, s.NotAsked = string(api.Abstain), "the pod matches no member"
		return s, nil
	}
	o := p.verdict(opinions, false)
	s.Answer, s.Message, s.RetryAfter = string(o.Answer), o.Message, pause(o.retryAfter)
	if o.Message == "" {
		s.Explanation = because(opinions)
	}
	return s, nil
}

// opinion returns a member's result as an opinion.
func (s *Result) opinion(of *Policy) *PolicyResult {
	answer := api.Answer(s.Answer)
	again, _ := time.ParseDuration(s.RetryAfter) // empty if the policy does not say
	return &PolicyResult{
		Opinion:    api.Opinion{Policy: of.Name, Tenant: of.Tenant, Answer: answer, Reason: reason(answer, s.Code), Message: s.Message},
		retryAfter: again,
	}
}

// ofMember adds the name of the member to its failure.
func ofMember(m *Policy, err error) error {
	named := fmt.Errorf("member %q: %w", m.Name, err)
	failure, ok := errors.AsType[*abi.Failure](err)
	if !ok {
		return named
	}
	again := *failure
	again.Err = fmt.Errorf("member %q", m.Name)
	if failure.Err != nil {
		again.Err = fmt.Errorf("member %q: %w", m.Name, failure.Err)
	}
	return &again
}
