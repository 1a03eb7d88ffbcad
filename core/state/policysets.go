package state

import (
	"fmt"
	"path/filepath"
	"time"
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
	path := filepath.Join(s.dir.path, policiesDir, ownerOf(tenant))
	if err := ownDir(path); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return path, nil
}

// ownerOf names an owner. A tenant's name is a DNS label.
func ownerOf(tenant string) string {
	if tenant == "" {
		return "operator"
	}
	return "tenant-" + tenant
}

func policySetFile(tenant string) string {
	return filepath.Join(policiesDir, ownerOf(tenant)+recordSuffix)
}
