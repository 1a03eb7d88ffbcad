package policy

import (
	"context"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/shadow"
	"github.com/wardlet/wardlet/core/policy/spec"
)

// loadedSet is a set that is or was in force, with what its owner's reloader knows of it.
type loadedSet struct {
	set *eval.Set
	// generation counts the sets that came into force, from 1.
	generation int
	loaded     time.Time
	// revision and key are those of its signature, 0 and empty without one.
	revision uint64
	key      string
	// content identifies it among refused contents.
	content string
	// probation watches its plugins, nil if it is on none.
	probation *probation
	// comparisons are those of its candidates, by name.
	comparisons map[string]*shadow.Stats
}

// find returns the policy of a name, nil for none. The set may be nil.
func (s *loadedSet) find(name string) *eval.Policy {
	if s == nil {
		return nil
	}
	return s.set.Find(name)
}

// candidate returns the policy in mode shadow of a name, nil for none. The set may be nil.
func (s *loadedSet) candidate(name string) *eval.Policy {
	if s == nil {
		return nil
	}
	return s.set.Candidate(name)
}

// reviews reports whether a policy of the set judges running pods. The set may be nil.
func (s *loadedSet) reviews() bool { return s != nil && s.set.Reviews() }

// addHooks adds the hooks of the policies that are asked. The set may be nil.
func (s *loadedSet) addHooks(hooks map[string]bool) {
	if s != nil {
		s.set.AddHooks(hooks)
	}
}

// rest makes the plugins return memory that they have not needed lately. The set may be nil.
func (s *loadedSet) rest() {
	if s != nil {
		s.set.Trim()
	}
}

// closeBreakers closes those of all plugins, and reports whether any had failed. The set may be nil.
func (s *loadedSet) closeBreakers() bool { return s != nil && s.set.CloseBreakers() }

// release ends one use of the set, and closes its plugins after the last. The set may be nil.
func (s *loadedSet) release() {
	if s != nil {
		s.set.Release()
	}
}

// loadedSets are the sets that judge the pods of a tenant.
type loadedSets []*loadedSet

// sets returns them without what their reloaders know.
func (l loadedSets) sets() []*eval.Set {
	all := make([]*eval.Set, len(l))
	for i, s := range l {
		all[i] = s.set
	}
	return all
}

func (l loadedSets) release() {
	for _, s := range l {
		s.release()
	}
}

func (l loadedSets) settle(ctx context.Context) { settle(ctx, l.sets()) }

// comparison returns that of a candidate of one of the sets, nil if it has none.
func (l loadedSets) comparison(of *eval.Set, name string) (*loadedSet, *shadow.Stats) {
	i := slices.IndexFunc(l, func(s *loadedSet) bool { return s.set == of })
	if i < 0 {
		return nil, nil
	}
	return l[i], l[i].comparisons[name]
}

// stateOf is what `get policies` shows of a policy of the set.
func (s *loadedSet) stateOf(p *eval.Policy, path func(string) string) api.PolicyState {
	state := p.State(path)
	if c := s.comparisons[p.Name]; c != nil && p.Mode == spec.ModeShadow {
		state.Shadow = c.Show()
	}
	return state
}

// compare gives each candidate its comparison: that of the running set where both are
// the same.
func (s *loadedSet) compare(running *loadedSet, clock func() time.Time) {
	s.comparisons = map[string]*shadow.Stats{}
	for _, c := range s.set.Candidates {
		next := shadow.New(c, s.find(c.Name), clock)
		if running != nil && running.comparisons[c.Name] != nil && running.comparisons[c.Name].Of == next.Of {
			next = running.comparisons[c.Name]
		}
		s.comparisons[c.Name] = next
	}
}
