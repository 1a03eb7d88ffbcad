package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/manifest"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// testAnswer gives what a test got instead of what it should, empty where it got
// that, and what it took. The error is why there was no answer.
func (p *policy) testAnswer(ctx context.Context, v *spec.TestCase, pods map[string]*v1.Pod) (got string, fuel int64, err error) {
	s, err := p.testSays(ctx, v, pods)
	got, took := s.unlike(v, err)
	return got, s.cost() + took, err
}

// unlike returns what a test got instead of what it should, empty where it got that.
// fuel is what a call took that failed.
func (s *Statement) unlike(v *spec.TestCase, err error) (got string, fuel int64) {
	switch {
	case err != nil:
		_, message, took := failureOf(err)
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

// testSays is what the policy says in a test.
func (p *policy) testSays(ctx context.Context, v *spec.TestCase, pods map[string]*v1.Pod) (Statement, error) {
	if v.Hook == api.HookMerge {
		return p.choose(ctx, testContest(v, pods))
	}
	if p.Group != nil {
		return p.testUnited(ctx, v, pods)
	}
	return p.testAsked(ctx, v, p.testQuestion(v, pods))
}

// testAsked is what a policy says to the question of a test.
func (p *policy) testAsked(ctx context.Context, v *spec.TestCase, q *api.Question) (Statement, error) {
	matches, fuel, err := p.testMatches(ctx, v, q)
	if err != nil {
		return Statement{HostFuel: fuel}, err
	}
	if !matches {
		return notMatching(fuel), nil
	}
	s, err := p.judge(ctx, v.Hook, p.testRequest(q, v.At, v.KnownReferences()), true)
	s.HostFuel += fuel
	return s, err
}

// testMatches reports whether the policy matches a test's pod: its source and
// operation are whatever the policy wants. fuel is what its conditions took.
func (p *policy) testMatches(ctx context.Context, v *spec.TestCase, q *api.Question) (matches bool, fuel int64, err error) {
	if !p.Match.MatchesPod(q) {
		return false, 0, nil
	}
	d := &decision{hook: v.Hook, request: p.testRequest(q, v.At, v.KnownReferences())}
	return d.turn.hold(ctx, p.Match.Compiled, d.conditions())
}

// testContest is that of a test of the hook merge.
func testContest(v *spec.TestCase, pods map[string]*v1.Pod) *contest {
	m := &wasm.MergeRequest{Time: v.At, ClockSynchronized: true}
	for i := range v.Candidates {
		c := &v.Candidates[i]
		m.Candidates = append(m.Candidates, wasm.Candidate{
			Pod: pods[c.Pod], Origin: api.Origin{Source: c.Source, Document: c.Pod, FirstSeen: spec.TestTime},
			Kind: c.Kind, Running: c.Running, FirstSeen: spec.TestTime,
		})
		if c.Running && m.Current == nil {
			m.Current = pods[c.Pod]
		}
	}
	return &contest{MergeRequest: m, mutateAPI: true}
}

// testQuestion asks about the one pod of a manifest: as a connection to it, as a change of the old one
// where the test has one, else as a new pod, or, of a policy that judges no new
// ones and of a filter, as a change of it that changes nothing.
func (p *policy) testQuestion(v *spec.TestCase, pods map[string]*v1.Pod) *api.Question {
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

func testPod(r *bundle.Bundle, path, node string) (*v1.Pod, error) {
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

// said is a reason and a message, for display.
func said(reason, message string) string {
	return strings.TrimPrefix(strings.TrimSuffix(reason+": "+message, ": "), ": ")
}
