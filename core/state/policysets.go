package state

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/wardlet/wardlet/core/state/decisions"
	"github.com/wardlet/wardlet/core/state/durable"
)

// policiesDir is the directory of what is known of policy sets: a file for
// each owner, and beside it a directory with what was in its sets.
const policiesDir = "policies"

// PolicySet is what must be known of an owner's policies after a restart.
type PolicySet struct {
	// Tenant is whose they are, empty for the operator's.
	Tenant string `json:"tenant,omitempty"`
	// Good are the digests of the sets that were in force and are kept, the newest
	// first.
	Good []string `json:"good,omitempty"`
	// Generation counts the sets that came into force.
	Generation int `json:"generation"`
	// Revision is that of the last signed set that came into force, 0 for none.
	Revision uint64 `json:"revision,omitempty"`
	// Trial is the set on probation, zero where none is.
	Trial PolicyTrial `json:"trial,omitzero"`
	// Refused are contents that are not tried again, the newest first.
	Refused []RefusedSet `json:"refused,omitempty"`
}

// PolicyTrial is a set on probation: it gives way to the one before it if the
// plugins of these of its policies fail.
type PolicyTrial struct {
	Set      string   `json:"set"`
	Policies []string `json:"policies"`
}

// RefusedSet is a content of a directory of policies that was refused.
type RefusedSet struct {
	// Content identifies it, with all that could not be read of it, and the agent
	// that refused it.
	Content string    `json:"content"`
	Reason  string    `json:"reason"`
	At      time.Time `json:"at"`
}

// PolicySets keeps one record per owner of policies, and what was in its sets.
type PolicySets struct{ dir *Dir }

// PolicySets is the store of what is known of policy sets.
func (d *Dir) PolicySets() PolicySets { return PolicySets{d} }

// Load reads what is known of an owner's policies: nothing, if that was never
// stored or is corrupt. The error says why it cannot be read.
func (s PolicySets) Load(tenant string) (PolicySet, error) {
	stored := PolicySet{Tenant: tenant}
	found, err := s.dir.load(policySetFile(tenant), &stored)
	if err != nil || !found || stored.Tenant != tenant {
		return PolicySet{Tenant: tenant}, err
	}
	return stored, nil
}

// Store keeps what is known of an owner's policies. When it returns nil that is
// on the disk.
func (s PolicySets) Store(p *PolicySet) error { return s.dir.store(policySetFile(p.Tenant), p) }

// Content is the directory of what was in an owner's sets. It exists, and is the
// owner's of the policies to use.
func (s PolicySets) Content(tenant string) (string, error) {
	path := filepath.Join(s.dir.path, policiesDir, decisions.OwnerDir(tenant))
	if err := durable.OwnDir(path); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return path, nil
}

func policySetFile(tenant string) string {
	return filepath.Join(policiesDir, decisions.OwnerDir(tenant)+recordSuffix)
}

// Evictions are how many pods an owner's policies have evicted, which they may not
// begin to count anew after a restart.
type Evictions struct {
	// Tenant is whose policies they are, empty for the operator's.
	Tenant   string          `json:"tenant,omitempty"`
	Policies []EvictionCount `json:"policies,omitempty"`
}

// EvictionCount is what one content of a policy has evicted.
type EvictionCount struct {
	Policy string `json:"policy"`
	// Document and Module are the digests of that content.
	Document string `json:"document"`
	Module   string `json:"module"`
	// Of is how many pods it judged when it took effect, Evicted how many it has
	// evicted, or may have.
	Of      int `json:"of"`
	Evicted int `json:"evicted"`
	// Confirmed: it may evict more than a part of them.
	Confirmed bool `json:"confirmed,omitempty"`
	// Last is when it has evicted the last one, zero for never.
	Last time.Time `json:"last,omitzero"`
	// Left is since when a confirmed content is not in force, zero while it is.
	Left time.Time `json:"left,omitzero"`
}

// EvictionCounts keeps one record per owner of policies.
type EvictionCounts struct{ dir *Dir }

// EvictionCounts is the store of what policies have evicted.
func (d *Dir) EvictionCounts() EvictionCounts { return EvictionCounts{d} }

// Load reads what an owner's policies have evicted: nothing, if that was never stored
// or is corrupt. The error says why it cannot be read.
func (s EvictionCounts) Load(tenant string) (Evictions, error) {
	stored := Evictions{Tenant: tenant}
	found, err := s.dir.load(evictionsFile(tenant), &stored)
	if err == nil && found {
		if odd := stored.usable(tenant); odd != nil {
			found, err = false, s.dir.quarantine(evictionsFile(tenant), odd)
		}
	}
	if err != nil || !found {
		return Evictions{Tenant: tenant}, err
	}
	return stored, nil
}

// Store keeps what an owner's policies have evicted. When it returns nil that is on
// the disk.
func (s EvictionCounts) Store(e *Evictions) error { return s.dir.store(evictionsFile(e.Tenant), e) }

// usable says what keeps the agent from going on with a record.
func (e *Evictions) usable(tenant string) error {
	if e.Tenant != tenant {
		return fmt.Errorf("it is about tenant %q", e.Tenant)
	}
	for _, c := range e.Policies {
		if c.Policy == "" || c.Of < 0 || c.Evicted < 0 {
			return errors.New("it counts what cannot be")
		}
	}
	return nil
}

// evictionsFile is the file of an owner below the state directory.
func evictionsFile(tenant string) string {
	return filepath.Join(policiesDir, "evictions-"+decisions.OwnerDir(tenant)+recordSuffix)
}
