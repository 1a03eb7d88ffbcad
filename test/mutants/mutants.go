package mutants

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// Switch holds the fault of a part that is switched on. It is safe for concurrent use.
type Switch[F any] struct{ on atomic.Pointer[F] }

// Fault returns the fault that is switched on, the zero F for none.
func (s *Switch[F]) Fault() (f F) {
	if on := s.on.Load(); on != nil {
		return *on
	}
	return f
}

// part is what Register knows of one part: the names of its faults, sorted, and how one
// is switched on.
type part struct {
	names []string
	set   func(fault string)
}

var (
	mu    sync.Mutex
	parts = map[string]part{}
)

// Register makes the faults of a part known and returns its switch, with none of them
// on. The files of the overlay call it while their package is initialised.
func Register[F any](name string, faults map[string]F) *Switch[F] {
	mu.Lock()
	defer mu.Unlock()
	s := &Switch[F]{}
	parts[name] = part{slices.Sorted(maps.Keys(faults)), func(fault string) {
		if f, ok := faults[fault]; ok {
			s.on.Store(&f)
		} else {
			s.on.Store(nil)
		}
	}}
	return s
}

// Faults returns the names of a part's faults, sorted. It is empty in a build without
// the overlay.
func Faults(name string) []string {
	mu.Lock()
	defer mu.Unlock()
	return slices.Clone(parts[name].names)
}

// Seed switches one fault of a part on, instead of any other of that part. An unknown
// part or fault is an error and changes nothing.
func Seed(name, fault string) error {
	mu.Lock()
	defer mu.Unlock()
	p, ok := parts[name]
	if !ok {
		return fmt.Errorf("no part is named %q: the test has to run with the overlay, see the Makefile", name)
	}
	if !slices.Contains(p.names, fault) {
		return fmt.Errorf("no fault of %s is named %q", name, fault)
	}
	p.set(fault)
	return nil
}

// Clear switches the faults of a part off.
func Clear(name string) {
	mu.Lock()
	defer mu.Unlock()
	if p, ok := parts[name]; ok {
		p.set("")
	}
}
