package wasm

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"
)

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
