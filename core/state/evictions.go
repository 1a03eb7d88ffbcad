package state

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

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
	return filepath.Join(policiesDir, "evictions-"+ownerOf(tenant)+recordSuffix)
}
