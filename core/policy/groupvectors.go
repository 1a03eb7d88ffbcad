package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// testUnited is what a group says in a test: of what its members say that match the pod
// and, other than in tests of their own, that it is new or a change.
func (p *policy) testUnited(ctx context.Context, v *spec.TestCase, pods map[string]*v1.Pod) (Statement, error) {
	q := p.testQuestion(v, pods)
	return p.unitedSays(func(m *policy) (Statement, error) {
		if !m.Match.MatchesOperation(q) {
			return notMatching(0), nil
		}
		return m.testAsked(ctx, v, q)
	})
}

// unitedSays is what a group makes of what its members say. Exceptions aside, as
// everywhere where a policy is asked alone. A member that fails is a failure of it.
func (p *policy) unitedSays(ask func(member *policy) (Statement, error)) (Statement, error) {
	var s Statement
	var opinions []*opinion
	for _, m := range p.of {
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

// opinion is the statement of a member for its group.
func (s *Statement) opinion(of *policy) *opinion {
	answer := api.Answer(s.Answer)
	again, _ := time.ParseDuration(s.RetryAfter) // empty for no wish
	return &opinion{
		Opinion:    api.Opinion{Policy: of.Name, Tenant: of.tenant, Answer: answer, Reason: reason(answer, s.Code), Message: s.Message},
		retryAfter: again,
	}
}

// ofMember names the member whose failure err is.
func ofMember(m *policy, err error) error {
	named := fmt.Errorf("member %q: %w", m.Name, err)
	failure, ok := errors.AsType[*wasm.Failure](err)
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
