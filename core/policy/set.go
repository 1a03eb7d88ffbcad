package policy

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

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
	// policies are in the order they are asked.
	policies []*policy
	// users counts the decisions that use the set, and its being in force.
	users atomic.Int64
}

// policy is one policy of a set.
type policy struct {
	*document
	// tenant is whose it is, empty for the operator's.
	tenant string
	// sum is the digest of its module.
	sum string
	// plugin is nil in mode off.
	plugin *handle
	counts *counters
	log    *slog.Logger
}

func newSet(digest string, policies []*policy) *set {
	s := &set{digest: digest, policies: policies}
	s.users.Store(1)
	slices.SortFunc(s.policies, func(a, b *policy) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Name, b.Name))
	})
	return s
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
	for _, p := range s.policies {
		if p.plugin != nil {
			p.plugin.plugin.Rest()
		}
	}
}

// release gives one use of the set back, and its plugins after the last.
func (s *set) release() {
	if s == nil || s.users.Add(-1) > 0 {
		return
	}
	for _, p := range s.policies {
		if p.plugin != nil {
			p.plugin.release()
		}
	}
}

// loads is what the plugin of a policy is made from, beside its module.
func (d *document) loads(node string) wasm.Options {
	return wasm.Options{
		Policy: d.Name, Hooks: d.Hooks, Settings: d.Settings,
		MemoryPages: uint32(d.Limits.MemoryPages), //nolint:gosec // 1 to maxMemoryPages
		Fuel:        int64(d.Limits.Fuel),
		OutputBytes: d.Limits.OutputBytes,
		Node:        node,
	}
}
