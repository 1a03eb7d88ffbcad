package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/manifest"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// test runs the policy's own tests; what fails is put down in its document.
func (l *loader) test(ctx context.Context, r *reading, p *policy) {
	// What they break must not keep the running set from the same plugin.
	ctx = wasm.Rehearse(ctx)
	for i := range p.Tests {
		if !l.afford(ctx, r) {
			return
		}
		v, key := &p.Tests[i], testKey(i)
		pods, ok := l.testPods(r, p, v, key)
		if !ok {
			continue
		}
		got, fuel, err := p.testAnswer(ctx, v, pods)
		l.cfg.loads.pay(fuel)
		l.again = l.again || ofMachine(err)
		if got != "" {
			p.complain(key+".expect", "%s: want %s, got %s", v.about(), v.Expect, got)
		}
	}
}

// testPods are the pods of a test by their paths. One that cannot be used is
// put down in the policy's document, and ok is false.
func (l *loader) testPods(r *reading, p *policy, v *vector, key string) (pods map[string]*v1.Pod, ok bool) {
	pods, ok = map[string]*v1.Pod{}, true
	for _, f := range v.files(key) {
		l.cfg.loads.pay(textByteFuel * int64(len(r.files[f.path].data)))
		manifest, err := testPod(r, f.path, l.cfg.Node)
		if err != nil {
			p.complain(f.key, "%v", err)
			ok = false
		}
		pods[f.path] = manifest
	}
	return pods, ok
}

// testAnswer gives what a test got instead of what it should, empty where it got
// that, and what it took. The error is why there was no answer.
func (p *policy) testAnswer(ctx context.Context, v *vector, pods map[string]*v1.Pod) (got string, fuel int64, err error) {
	s, err := p.testSays(ctx, v, pods)
	got, took := s.unlike(v, err)
	return got, s.cost() + took, err
}

// unlike returns what a test got instead of what it should, empty where it got that.
// fuel is what a call took that failed.
func (s *Statement) unlike(v *vector, err error) (got string, fuel int64) {
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
func (p *policy) testSays(ctx context.Context, v *vector, pods map[string]*v1.Pod) (Statement, error) {
	if v.Hook == api.HookMerge {
		return p.choose(ctx, testContest(v, pods))
	}
	if p.expression != nil {
		return p.testUnited(ctx, v, pods)
	}
	return p.testAsked(ctx, v, p.testQuestion(v, pods))
}

// testAsked is what a policy says to the question of a test.
func (p *policy) testAsked(ctx context.Context, v *vector, q *api.Question) (Statement, error) {
	matches, fuel, err := p.testMatches(ctx, v, q)
	if err != nil {
		return Statement{HostFuel: fuel}, err
	}
	if !matches {
		return notMatching(fuel), nil
	}
	s, err := p.judge(ctx, v.Hook, p.testRequest(q, v.at, v.references()), true)
	s.HostFuel += fuel
	return s, err
}

// testMatches reports whether the policy matches a test's pod: its source and
// operation are whatever the policy wants. fuel is what its conditions took.
func (p *policy) testMatches(ctx context.Context, v *vector, q *api.Question) (matches bool, fuel int64, err error) {
	if !p.Match.matchesPod(q) {
		return false, 0, nil
	}
	d := &decision{hook: v.Hook, request: p.testRequest(q, v.at, v.references())}
	return d.turn.hold(ctx, p.Match.compiled, d.conditions())
}

// testContest is that of a test of the hook merge.
func testContest(v *vector, pods map[string]*v1.Pod) *contest {
	m := &wasm.MergeRequest{Time: v.at, ClockSynchronized: true}
	for i := range v.Candidates {
		c := &v.Candidates[i]
		m.Candidates = append(m.Candidates, wasm.Candidate{
			Pod: pods[c.Pod], Origin: api.Origin{Source: c.Source, Document: c.Pod, FirstSeen: testTime},
			Kind: c.Kind, Running: c.Running, FirstSeen: testTime,
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
func (p *policy) testQuestion(v *vector, pods map[string]*v1.Pod) *api.Question {
	q := &api.Question{
		Op: api.Add, Pod: pods[v.Pod], Old: pods[v.Old],
		Origin: api.Origin{Source: testSource, Document: v.Pod, FirstSeen: testTime},
	}
	if v.Hook == api.HookConnect {
		q.Op, q.Old, q.Connection = api.Connect, nil, v.connection(q.Pod)
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

func testPod(r *reading, path, node string) (*v1.Pod, error) {
	docs := manifest.Decode(r.files[path].data, manifest.DecodeFrom{Source: testSource, Kind: api.KindFile, File: path, NodeName: node})
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
