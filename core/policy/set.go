package policy

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// set is the policies of one content of the directory. It does not change.
type set struct {
	// tenant is whose set it is, empty for the operator's.
	tenant string
	// digest identifies the content.
	digest string
	// generation counts the sets that came into force, from 1.
	generation int
	loaded     time.Time
	// revision and key are those of its signature, 0 and empty without one.
	revision uint64
	key      string
	// content identifies it among what is refused.
	content string
	// probation watches its plugins, nil where it is on none.
	probation *probation
	// policies are in the order they are asked.
	policies []*policy
	// candidates are those in mode shadow; each is that of one of the policies.
	candidates []*policy
	// users counts the decisions that use the set, and its being in force.
	users atomic.Int64
}

// policy is one policy of a set.
type policy struct {
	*spec.Document
	// tenant is whose it is, empty for the operator's.
	tenant string
	// sum is the digest of its module, source that of its document.
	sum, source string
	// plugin is nil in mode off.
	plugin *handle
	// of are the members of a group, members identifies them with what they are made of.
	of      []*policy
	members string
	// reviewed: a group judges pods that run, and the policy is one of its members.
	reviewed bool
	counts   *counters
	log      *slog.Logger
	// candidate is the one in mode shadow that may take its place, nil for none.
	candidate *policy
	// comparison is that of a candidate.
	comparison *comparison
}

func newSet(digest string, policies []*policy) *set {
	s := &set{digest: digest}
	for _, p := range policies {
		if p.Mode == spec.ModeShadow {
			s.candidates = append(s.candidates, p)
		} else {
			s.policies = append(s.policies, p)
		}
	}
	for _, c := range s.candidates {
		if p := s.find(c.Name); p != nil {
			p.candidate = c
		}
	}
	s.joinGroups()
	s.users.Store(1)
	slices.SortFunc(s.policies, func(a, b *policy) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Name, b.Name))
	})
	return s
}

// made identifies what answers for the policy: its module, or the members of a group.
func (p *policy) made() string {
	if p.Group != nil {
		return p.members
	}
	return p.sum
}

// named is the digest, after the tenant's name where it is a tenant's set.
func (s *set) named() string {
	if s.tenant == "" {
		return s.digest
	}
	return s.tenant + "/" + s.digest
}

// find gives the policy of a name, nil where there is none. The set may be
// nil.
func (s *set) find(name string) *policy {
	if s == nil {
		return nil
	}
	for _, p := range s.policies {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// candidate gives the policy in mode shadow of a name, nil where there is none. The set
// may be nil.
func (s *set) candidate(name string) *policy {
	if s != nil {
		for _, c := range s.candidates {
			if c.Name == name {
				return c
			}
		}
	}
	return nil
}

// all are the policies with the candidates.
func (s *set) all() []*policy { return slices.Concat(s.policies, s.candidates) }

// addHooks adds the hooks of the policies that are asked. The set may be nil.
func (s *set) addHooks(hooks map[string]bool) {
	if s == nil {
		return
	}
	for _, p := range s.policies {
		for _, hook := range p.Hooks {
			hooks[hook] = hooks[hook] || p.Mode != spec.ModeOff
		}
	}
}

// has reports whether the policy is asked by a hook.
func (p *policy) has(hook string) bool {
	return p.Mode != spec.ModeOff && slices.Contains(p.Hooks, hook)
}

// readsNode reports whether the policy may see facts about the node.
func (p *policy) readsNode() bool { return slices.Contains(p.Capabilities, wasm.CapabilityNodeRead) }

// counted is the mode of an opinion of the policy: empty where it counts.
func (p *policy) counted() string {
	if p.Mode == spec.ModeEnforce {
		return ""
	}
	return p.Mode
}

// called is the policy's name, for a message.
func (p *policy) called() string { return called(p.Name, p.tenant) }

func called(name, tenant string) string {
	if tenant == "" {
		return fmt.Sprintf("policy %q", name)
	}
	return fmt.Sprintf("policy %q of tenant %q", name, tenant)
}

// settle makes the plugins ready for the next question.
func (s *set) settle(ctx context.Context) {
	for _, p := range s.policies {
		if p.plugin != nil {
			p.plugin.plugin.Settle(ctx)
		}
	}
}

// rest has the plugins give back what they have not needed lately. The set may
// be nil.
func (s *set) rest() {
	if s == nil {
		return
	}
	for _, p := range s.all() {
		if p.plugin != nil {
			p.plugin.plugin.Rest()
		}
	}
}

// closeBreakers closes those of all plugins, and reports whether any had failed. The set
// may be nil.
func (s *set) closeBreakers() (had bool) {
	if s == nil {
		return false
	}
	for _, p := range s.all() {
		if p.plugin != nil && p.plugin.breakers.close() {
			had = true
		}
	}
	return had
}

// release gives one use of the set back, and its plugins after the last.
func (s *set) release() {
	if s == nil || s.users.Add(-1) > 0 {
		return
	}
	for _, p := range s.all() {
		if p.plugin != nil {
			p.plugin.release()
		}
	}
}
