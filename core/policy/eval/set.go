package eval

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"github.com/wardlet/wardlet/core/policy/spec"
)

// Set has the policies of a directory with a certain content. It does not change.
type Set struct {
	// Tenant is the owner, empty for the operator.
	Tenant string
	// Digest identifies the content.
	Digest string
	// Policies are in the order they are asked.
	Policies []*Policy
	// Candidates are the policies in mode shadow. Each is the candidate of one of Policies.
	Candidates []*Policy
	// Users counts the running decisions that use the set, and one more while it is in force.
	Users atomic.Int64
}

// NewSet returns a set of the policies and candidates, with one user. digest identifies its
// content.
func NewSet(digest string, policies []*Policy) *Set {
	s := &Set{Digest: digest}
	for _, p := range policies {
		if p.Mode == spec.ModeShadow {
			s.Candidates = append(s.Candidates, p)
		} else {
			s.Policies = append(s.Policies, p)
		}
	}
	for _, c := range s.Candidates {
		if p := s.Find(c.Name); p != nil {
			p.Candidate = c
		}
	}
	s.joinGroups()
	s.Users.Store(1)
	slices.SortFunc(s.Policies, func(a, b *Policy) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Name, b.Name))
	})
	return s
}

// Name returns the digest, preceded by the tenant's name if the set has one.
func (s *Set) Name() string {
	if s.Tenant == "" {
		return s.Digest
	}
	return s.Tenant + "/" + s.Digest
}

// Find returns the policy of a name, nil if there is none. The set may be nil.
func (s *Set) Find(name string) *Policy {
	if s == nil {
		return nil
	}
	for _, p := range s.Policies {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Candidate returns the candidate of a name, nil if there is none. The set may be nil.
func (s *Set) Candidate(name string) *Policy {
	if s != nil {
		for _, c := range s.Candidates {
			if c.Name == name {
				return c
			}
		}
	}
	return nil
}

// All returns the policies and the candidates.
func (s *Set) All() []*Policy { return slices.Concat(s.Policies, s.Candidates) }

// AddHooks adds the hooks of the policies that are not off. The set may be nil.
func (s *Set) AddHooks(hooks map[string]bool) {
	if s == nil {
		return
	}
	for _, p := range s.Policies {
		for _, hook := range p.Hooks {
			hooks[hook] = hooks[hook] || p.Mode != spec.ModeOff
		}
	}
}

// Reset makes the plugins ready for the next question.
func (s *Set) Reset(ctx context.Context) {
	for _, p := range s.Policies {
		if p.Plugin != nil {
			p.Plugin.Plugin.Reset(ctx)
		}
	}
}

// Trim makes the plugins release memory that they have not needed lately. The set may be
// nil.
func (s *Set) Trim() {
	if s == nil {
		return
	}
	for _, p := range s.All() {
		if p.Plugin != nil {
			p.Plugin.Plugin.Trim()
		}
	}
}

// CloseBreakers closes the breakers of all plugins, and reports whether any had counted a
// failure. The set may be nil.
func (s *Set) CloseBreakers() (had bool) {
	if s == nil {
		return false
	}
	for _, p := range s.All() {
		if p.Plugin != nil && p.Plugin.Breakers.close() {
			had = true
		}
	}
	return had
}

// Release ends one use of the set. After the last one it releases the plugins. The set may
// be nil.
func (s *Set) Release() {
	if s == nil || s.Users.Add(-1) > 0 {
		return
	}
	for _, p := range s.All() {
		if p.Plugin != nil {
			p.Plugin.Release()
		}
	}
}

// Reviews reports whether a policy of the set judges running pods. The set may be nil.
func (s *Set) Reviews() bool {
	return s != nil && slices.ContainsFunc(s.Policies, (*Policy).JudgesRunning)
}

// ResetAll resets the plugins of all sets.
func ResetAll(ctx context.Context, sets []*Set) {
	for _, s := range sets {
		s.Reset(ctx)
	}
}
