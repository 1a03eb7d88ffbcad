package rollout

import (
	"path/filepath"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

// activeSet holds the set in force and, if the directory's content is not in force, the
// reason. Only the reloader changes it.
type activeSet struct {
	// tenant is the owner, empty for the operator.
	tenant string
	dir    string

	mu         sync.Mutex
	set        *Set // nil until a set was good
	generation int
	refused    error // nil if the content is in force
	refusedAt  time.Time
	// lost is why the last known good set could not be activated.
	lost string
}

// begin continues the count of generations of an earlier process.
func (s *activeSet) begin(generation int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.generation = generation
}

// isNews reports whether the last known good set could not be activated for another
// reason than before.
func (s *activeSet) isNews(lost error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.lost
	s.lost = lost.Error()
	return before != s.lost
}

// use returns the set in force, which the caller must release. If there is none, set is
// nil and the error says why, if that is known.
func (s *activeSet) use() (*Set, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.set == nil {
		return nil, s.refused
	}
	s.set.Eval.Users.Add(1)
	return s.set, nil
}

// current returns the set in force, for the reloader itself.
func (s *activeSet) current() *Set {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set
}

// put activates a set, or none. instead says why the set is not the directory's content,
// nil if it is. Running decisions keep the previous set.
func (s *activeSet) put(next *Set, instead error, now time.Time) {
	s.mu.Lock()
	before := s.set
	s.set, s.refused, s.refusedAt = next, instead, time.Time{}
	if instead != nil {
		s.refusedAt = now
	}
	if next != nil {
		s.generation++
		next.Eval.Tenant, next.generation, next.loaded = s.tenant, s.generation, now
	}
	s.mu.Unlock()
	before.Release()
}

// refuse records why the content is not in force; nil means that it is. It reports
// whether the reason has changed.
func (s *activeSet) refuse(reason error, now time.Time) (news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if reason == nil {
		news = s.refused != nil
		s.refused, s.refusedAt = nil, time.Time{}
		return news
	}
	if s.refused != nil && s.refused.Error() == reason.Error() {
		return false
	}
	s.refused, s.refusedAt = reason, now
	return true
}

// reason returns why the directory's content is not in force, nil if it is.
func (s *activeSet) reason() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// show returns what `get policies` shows.
func (s *activeSet) show() api.PolicySet {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := api.PolicySet{Tenant: s.tenant, Directory: s.dir, Generation: s.generation, RefusedAt: s.refusedAt, Policies: []api.PolicyState{}}
	if s.refused != nil {
		out.Refused = s.refused.Error()
	}
	if s.set == nil {
		return out
	}
	out.Ready, out.Digest, out.Loaded = true, s.set.Eval.Digest, s.set.loaded
	out.Revision, out.Key, out.Probation = s.set.revision, s.set.key, s.set.Probation.show()
	at := func(path string) string { return filepath.Join(s.dir, path) }
	for _, p := range s.set.Eval.Policies {
		out.Policies = append(out.Policies, s.set.stateOf(p, at))
		if p.Candidate != nil {
			out.Policies = append(out.Policies, s.set.stateOf(p.Candidate, at))
		}
	}
	return out
}
