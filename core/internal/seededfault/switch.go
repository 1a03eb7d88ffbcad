//go:build seededfaults

package seededfault

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
)

// Faults are ways to be wrong, by name; the empty name is not one.
type Faults[F any] map[string]F

// Names are those of all faults, sorted.
func (f Faults[F]) Names() []string { return slices.Sorted(maps.Keys(f)) }

// Switch says which fault of a package is switched on. It is safe for concurrent use.
type Switch[F any] struct {
	tables []Faults[F]
	// on is nil for none.
	on atomic.Pointer[F]
}

// New makes a switch for the faults of all tables, with none of them on.
func New[F any](tables ...Faults[F]) *Switch[F] { return &Switch[F]{tables: tables} }

// Set switches a fault on, instead of any other. The empty name switches all off. A
// name that no fault has is an error, and changes nothing.
func (s *Switch[F]) Set(name string) error {
	if name == "" {
		s.on.Store(nil)
		return nil
	}
	for _, faults := range s.tables {
		if f, ok := faults[name]; ok {
			s.on.Store(&f)
			return nil
		}
	}
	return fmt.Errorf("no fault is named %q", name)
}

// Fault is the one that is switched on, the zero F for none.
func (s *Switch[F]) Fault() (f F) {
	if on := s.on.Load(); on != nil {
		return *on
	}
	return f
}
