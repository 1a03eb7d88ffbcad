package state

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/wardlet/wardlet/core/state/decisions"
	"github.com/wardlet/wardlet/core/state/durable"
)

// policiesDir is the directory of the state of policy sets: a file for each owner, and beside it a
// directory with the contents of the owner's sets.
const policiesDir = "policies"

// PolicySet is the state of an owner's policies that must survive a restart.
type PolicySet struct {
	// Tenant is the owner, empty for the operator.
	Tenant string `json:"tenant,omitempty"`
	// Good are the digests of the stored sets that were in force, the newest first.
	Good []string `json:"good,omitempty"`
	// Generation is the number of sets that came into force.
	Generation int `json:"generation"`
	// Revision is the revision of the last signed set that came into force, 0 for none.
	Revision uint64 `json:"revision,omitempty"`
	// Trial is the set on probation, zero for none.
	Trial PolicyTrial `json:"trial,omitzero"`
	// Refused are the contents that are not tried again, the newest first.
	Refused []RefusedSet `json:"refused,omitempty"`
}

// PolicyTrial is a set on probation. If the plugins of the listed policies fail, the previous set
// comes back into force.
type PolicyTrial struct {
	Set      string   `json:"set"`
	Policies []string `json:"policies"`
}

// RefusedSet is a refused content of a directory of policies.
type RefusedSet struct {
	// Content identifies the content, including the files that could not be read, and the agent
	// that refused it.
	Content string    `json:"content"`
	Reason  string    `json:"reason"`
	At      time.Time `json:"at"`
}

// PolicySets stores one record per owner of policies, and the contents of its sets.
type PolicySets struct{ dir *Dir }

// PolicySets returns the store of the state of policy sets.
func (d *Dir) PolicySets() PolicySets { return PolicySets{d} }

// Load returns the state of an owner's policies, an empty one if none is stored or it is corrupt.
// The error is the reason why it cannot be read.
func (s PolicySets) Load(tenant string) (PolicySet, error) {
	stored := PolicySet{Tenant: tenant}
	found, err := s.dir.load(policySetFile(tenant), &stored)
	if err != nil || !found || stored.Tenant != tenant {
		return PolicySet{Tenant: tenant}, err
	}
	return stored, nil
}

// Store stores the state of an owner's policies. When it returns nil, the state is on the disk.
func (s PolicySets) Store(p *PolicySet) error { return s.dir.store(policySetFile(p.Tenant), p) }

// Content returns the directory for the contents of an owner's sets, and makes it if it is missing.
// The owner of the policies may use it freely.
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

// Evictions are the numbers of pods that an owner's policies have evicted. They must not start at
// zero after a restart.
type Evictions struct {
	// Tenant is the owner of the policies, empty for the operator.
	Tenant   string          `json:"tenant,omitempty"`
	Policies []EvictionCount `json:"policies,omitempty"`
}

// EvictionCount is the number of pods that one content of a policy has evicted.
type EvictionCount struct {
	Policy string `json:"policy"`
	// Document and Module are the digests of that content.
	Document string `json:"document"`
	Module   string `json:"module"`
	// Of is the number of pods that the content judged when it took effect. Evicted is the number
	// of pods that it has evicted, or may have evicted.
	Of      int `json:"of"`
	Evicted int `json:"evicted"`
	// Confirmed: the content may evict more than a part of them.
	Confirmed bool `json:"confirmed,omitempty"`
	// Last is the time of the last eviction, zero for none.
	Last time.Time `json:"last,omitzero"`
	// Left is the time since when a confirmed content is not in force, zero while it is.
	Left time.Time `json:"left,omitzero"`
}

// EvictionCounts stores one record per owner of policies.
type EvictionCounts struct{ dir *Dir }

// EvictionCounts returns the store of eviction counts.
func (d *Dir) EvictionCounts() EvictionCounts { return EvictionCounts{d} }

// Load returns the eviction counts of an owner's policies, empty if none are stored or they are
// corrupt. The error is the reason why they cannot be read.
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

// Store stores the eviction counts of an owner's policies. When it returns nil, they are on the
// disk.
func (s EvictionCounts) Store(e *Evictions) error { return s.dir.store(evictionsFile(e.Tenant), e) }

// usable returns an error if the agent cannot use the record.
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

// evictionsFile returns the path of an owner's file below the state directory.
func evictionsFile(tenant string) string {
	return filepath.Join(policiesDir, "evictions-"+decisions.OwnerDir(tenant)+recordSuffix)
}
