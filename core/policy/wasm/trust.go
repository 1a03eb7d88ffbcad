package wasm

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"

	"github.com/wardlet/wardlet/core/policy/wasm/memory"
)

// When a guest first touches a page of an instance, a page fault occurs. The kernel
// takes 0.5 µs for a read and 2 µs for a write, and 20 µs in a virtual machine
// whose host must allocate the page first. No fuel is charged for that. A guest can
// be interrupted only at the end of its slice. So an instance gets slices of
// leastSlice until it is trusted, which is after calls have shown that they touch
// the same pages as calls before.
const (
	// stormBytes is the size of the new pages that a calm call touches at most.
	// With two faults for each page, that takes about as long as two slices.
	stormBytes = 128 << 10
	// calmCalls is how many calm calls in a row make an instance trusted.
	calmCalls = 8
	// A call of a trusted instance that touches more than stormBytes of new pages is a
	// storm. After each of the first mostStorms storms, all instances of the plugin need
	// stormFactor times as many calm calls.
	stormFactor = 32
	mostStorms  = 4
	// tenantSlice is the slice of a trusted instance of a tenant's plugin. A
	// hostile plugin can be calm for as many calls as are needed, so its slice is
	// short; touching a page takes at least 4 units.
	tenantSlice = 128
)

// longestSlice returns the most fuel that a trusted instance of an owner's plugin
// gets at once. tenant is empty for the operator.
func longestSlice(tenant string) int64 {
	if tenant != "" {
		return tenantSlice
	}
	return mostSlice
}

// judge decides whether the instance is trusted, by what its last call touched.
func (i *instance) judge(last memory.Restored) {
	if last.Fresh > stormBytes {
		// If memories are reset by Drop, the count includes page faults of others.
		// It is then a reason to doubt the instance, but not to count a storm.
		if (i.trusted() || i.budget.cut) && i.linear.Method() != memory.Drop {
			i.plugin.storms.Add(1)
		}
		i.calm = 0
		i.doubt()
		return
	}
	i.budget.cut = false
	if last.Dropped > 0 && i.linear.Method() == memory.Scan {
		i.dropped()
	}
	need := i.plugin.needsCalm()
	i.calm = min(i.calm, need) + 1
	if i.calm > need {
		i.budget.most = i.plugin.longest
	} else {
		i.doubt()
	}
}

// trusted reports whether the instance may have long slices.
func (i *instance) trusted() bool { return i.budget.most > leastSlice }

// doubt makes the slices of the next call short.
func (i *instance) doubt() {
	i.budget.slice, i.budget.most, i.budget.cut = leastSlice, leastSlice, false
}

// dropped is called when the pages of an instance are no longer mapped, so that
// each will be a page fault again. The instance must then show as many calm calls
// as a new one.
func (i *instance) dropped() {
	i.calm = min(i.calm, i.plugin.needsCalm()-calmCalls)
	i.doubt()
}

// needsCalm returns how many calm calls in a row make an instance of the plugin
// trusted.
func (p *Plugin) needsCalm() int {
	need := calmCalls
	for range min(p.storms.Load(), mostStorms) {
		need *= stormFactor
	}
	return need
}

// judgeLost does the work of judge for an instance that is thrown away: it counts a
// storm if the last call touched too many pages before it trapped. Dry runs are
// not counted, because they always get short slices.
func (i *instance) judgeLost() {
	if i.tenant != noTenant && i.calm > i.plugin.needsCalm() && i.linear.Method() != memory.Drop && i.linear.Fresh() > stormBytes {
		i.plugin.storms.Add(1)
	}
}

// maxStormCounts is how many modules have a count of storms. Beyond it all counts
// are dropped.
const maxStormCounts = 4096

// stormCounts are the storms of the plugins of each module and owner, for the
// lifetime of the engine, so that a set that is loaded again does not start as
// trusted. The zero value is ready for use. It is safe for concurrent use.
type stormCounts struct {
	mu sync.Mutex
	of map[stormsOf]*atomic.Int64
}

type stormsOf struct {
	module [sha256.Size]byte
	tenant string
}

// count returns the count of a module and its owner, empty for the operator.
func (s *stormCounts) count(module [sha256.Size]byte, tenant string) *atomic.Int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := stormsOf{module, tenant}
	if one := s.of[key]; one != nil {
		return one
	}
	if s.of == nil || len(s.of) >= maxStormCounts {
		s.of = map[stormsOf]*atomic.Int64{}
	}
	s.of[key] = &atomic.Int64{}
	return s.of[key]
}
