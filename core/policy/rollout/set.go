package rollout

import (
	"context"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/shadow"
	"github.com/wardlet/wardlet/core/policy/spec"
)

// Set is a set that is or was in force, with the state that its owner's reloader has about
// it.
type Set struct {
	Eval *eval.Set
	// generation counts the sets that came into force, from 1.
	generation int
	loaded     time.Time
	// revision and key are those of the set's signature, 0 and empty if it has none.
	revision uint64
	key      string
	// content identifies the set's content among refused contents.
	content string
	// Probation watches the set's plugins, nil if the set is not on probation.
	Probation *probation
	// comparisons are the comparisons of the set's candidates, by name.
	comparisons map[string]*shadow.Stats
}

// Find returns the policy of a name, nil for none. The set may be nil.
func (s *Set) Find(name string) *eval.Policy {
	if s == nil {
		return nil
	}
	return s.Eval.Find(name)
}

// candidate returns the policy in mode shadow of a name, nil for none. The set may be nil.
func (s *Set) candidate(name string) *eval.Policy {
	if s == nil {
		return nil
	}
	return s.Eval.Candidate(name)
}

// Reviews reports whether a policy of the set judges running pods. The set may be nil.
func (s *Set) Reviews() bool { return s != nil && s.Eval.Reviews() }

// AddHooks adds the hooks of the policies that are asked. The set may be nil.
func (s *Set) AddHooks(hooks map[string]bool) {
	if s != nil {
		s.Eval.AddHooks(hooks)
	}
}

// trim makes the plugins return memory that they have not needed lately. The set may be nil.
func (s *Set) trim() {
	if s != nil {
		s.Eval.Trim()
	}
}

// CloseBreakers closes the breakers of all plugins, and reports whether any had counted a
// failure. The set may be nil.
func (s *Set) CloseBreakers() bool { return s != nil && s.Eval.CloseBreakers() }

// Release ends one use of the set, and closes its plugins after the last. The set may be nil.
func (s *Set) Release() {
	if s != nil {
		s.Eval.Release()
	}
}

// Sets are the sets that judge the pods of a tenant.
type Sets []*Set

// Eval returns the sets without the state of their reloaders.
func (l Sets) Eval() []*eval.Set {
	all := make([]*eval.Set, len(l))
	for i, s := range l {
		all[i] = s.Eval
	}
	return all
}

// Release releases all sets.
func (l Sets) Release() {
	for _, s := range l {
		s.Release()
	}
}

// Reset makes the plugins ready for the next question.
func (l Sets) Reset(ctx context.Context) { eval.ResetAll(ctx, l.Eval()) }

// Comparison returns one of the sets and the comparison of its candidate of a name, nil if
// there is none.
func (l Sets) Comparison(of *eval.Set, name string) (*Set, *shadow.Stats) {
	i := slices.IndexFunc(l, func(s *Set) bool { return s.Eval == of })
	if i < 0 {
		return nil, nil
	}
	return l[i], l[i].comparisons[name]
}

// stateOf returns what `get policies` shows of a policy of the set.
func (s *Set) stateOf(p *eval.Policy, path func(string) string) api.PolicyState {
	state := p.State(path)
	if c := s.comparisons[p.Name]; c != nil && p.Mode == spec.ModeShadow {
		state.Shadow = c.Show()
	}
	return state
}

// compare sets the comparison of each candidate. The comparison of the running set
// continues if candidate and policy are the same.
func (s *Set) compare(running *Set, clock func() time.Time) {
	s.comparisons = map[string]*shadow.Stats{}
	for _, c := range s.Eval.Candidates {
		next := shadow.New(c, s.Find(c.Name), clock)
		if running != nil && running.comparisons[c.Name] != nil && running.comparisons[c.Name].Of == next.Of {
			next = running.comparisons[c.Name]
		}
		s.comparisons[c.Name] = next
	}
}
