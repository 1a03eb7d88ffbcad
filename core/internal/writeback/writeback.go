// Package writeback brings values to a disk some time after they were set, so that many
// changes of one key cost one write.
//
// Comes in: values by key, and keys that are to have none. Goes out: batches for a Disk.
// Map.Run is the goroutine that writes; its caller owns it. All other methods may be
// called from any goroutine.
package writeback

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// Disk is where values are kept.
type Disk[K comparable, V any] interface {
	// Apply stores values in place of those with the same keys, and removes the values
	// of other keys. When it returns nil all of it is durable; else any part may be.
	Apply(put []V, remove []K) error
}

// Options says how a Map writes.
type Options[K comparable] struct {
	// Delay is for how long changes are gathered. It may be 0.
	Delay time.Duration
	// Retry is when what failed is written again.
	Retry time.Duration
	// Report is called after each write with one of its keys and the error or nil. It may
	// be nil.
	Report func(key K, err error)
	// Forgetful leaves out the removal of what a disk that fails may have: the map of a
	// caller whose keys are many stays small then, and the disk's next reader meets
	// values that were removed.
	Forgetful bool
}

// Map holds what is to be on the disk.
type Map[K comparable, V any] struct {
	Options[K]

	disk Disk[K, V]

	// wake has room for one value: there is something to write. It is never closed.
	wake chan struct{}

	mu      sync.Mutex
	free    sync.Cond // of mu: an entry is no longer being written
	entries map[K]*entry[V]
}

// entry is what is to be on the disk of one key.
type entry[V any] struct {
	value   V
	present bool // else it is to be removed
	dirty   bool // the disk may have something else
	writing bool
	stored  stored
}

// stored is what is known of the disk.
type stored int

const (
	no stored = iota
	maybe
	yes
)

// New returns a map of what the disk holds, which is loaded with Loaded.
func New[K comparable, V any](disk Disk[K, V], options Options[K]) *Map[K, V] {
	m := &Map[K, V]{disk: disk, Options: options, wake: make(chan struct{}, 1), entries: map[K]*entry[V]{}}
	m.free.L = &m.mu
	return m
}

// Loaded sets a value that the disk has.
func (m *Map[K, V]) Loaded(key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries[key] = &entry[V]{value: value, present: true, stored: yes}
}

// Get returns the value of a key.
func (m *Map[K, V]) Get(key K) (value V, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.entries[key]; e != nil && e.present {
		return e.value, true
	}
	return value, false
}

// Set sets the value of a key, which must not be changed from then on. The disk has it
// once Run, Write or Flush has written it.
func (m *Map[K, V]) Set(key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[key]
	if e == nil {
		e = &entry[V]{}
		m.entries[key] = e
	}
	e.value, e.present, e.dirty = value, true, true
	m.notify()
}

// Remove removes the value of a key, from the disk as Set writes it.
func (m *Map[K, V]) Remove(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[key]
	switch {
	case e == nil || !e.present:
	case e.stored == no && !e.writing:
		delete(m.entries, key)
	default:
		var none V
		e.value, e.present, e.dirty = none, false, true
		m.notify()
	}
}

// Values calls yield for all values, in no order, until it returns false. The map is
// locked meanwhile.
func (m *Map[K, V]) Values(yield func(K, V) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, e := range m.entries {
		if e.present && !yield(key, e.value) {
			return
		}
	}
}

func (m *Map[K, V]) notify() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// Write brings the disk to what is set of a key now, and reports whether it has it. What
// fails Run writes again.
func (m *Map[K, V]) Write(key K) bool {
	m.mu.Lock()
	for e := m.entries[key]; e != nil && e.writing; e = m.entries[key] {
		m.free.Wait()
	}
	b := m.take(key)
	m.mu.Unlock()
	return m.write(b)
}

// Flush writes all that is to be written and is not being written already, and reports
// whether the disk has it.
func (m *Map[K, V]) Flush() bool {
	m.mu.Lock()
	b := m.take(slices.Collect(maps.Keys(m.entries))...)
	m.mu.Unlock()
	return m.write(b)
}

// batch is what is being written.
type batch[K comparable, V any] struct {
	put          []V
	keys, remove []K
}

// take marks what is to be written of these keys as being written. mu is held.
func (m *Map[K, V]) take(keys ...K) (b batch[K, V]) {
	for _, key := range keys {
		e := m.entries[key]
		if e == nil || !e.dirty || e.writing {
			continue
		}
		e.writing, e.dirty = true, false
		if e.present {
			b.put, b.keys = append(b.put, e.value), append(b.keys, key)
		} else {
			b.remove = append(b.remove, key)
		}
	}
	return b
}

// write applies a batch and notes what has become of it.
func (m *Map[K, V]) write(b batch[K, V]) bool {
	if len(b.put)+len(b.remove) == 0 {
		return true
	}
	err := m.disk.Apply(b.put, b.remove)
	if m.Report != nil {
		m.Report(slices.Concat(b.keys, b.remove)[0], err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	defer m.free.Broadcast()
	for _, key := range b.keys {
		m.written(key, yes, err)
	}
	for _, key := range b.remove {
		m.written(key, no, err)
	}
	return err == nil
}

// written notes that the disk has, or has not, the value of a key that was written. mu is
// held.
func (m *Map[K, V]) written(key K, has stored, err error) {
	e := m.entries[key]
	e.writing = false
	switch {
	case err == nil:
		e.stored = has
	case m.Forgetful && !e.present && e.stored != yes:
		delete(m.entries, key)
		return
	default:
		e.dirty = true
		if e.stored == no {
			e.stored = maybe
		}
	}
	if e.dirty {
		m.notify() // set meanwhile, or it failed
	} else if !e.present && e.stored == no {
		delete(m.entries, key)
	}
}

// Run writes what is set until ctx ends, and once more then. It returns the error of ctx.
func (m *Map[K, V]) Run(ctx context.Context) error {
	defer m.drain()
	due := time.NewTimer(0)
	due.Stop()
	defer due.Stop()
	for waiting := false; ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-m.wake:
			if !waiting {
				waiting = true
				due.Reset(m.Delay)
			}
		case <-due.C:
			if waiting = !m.Flush(); waiting {
				due.Reset(m.Retry)
			}
		}
	}
}

// drain writes what is left once nothing is being written.
func (m *Map[K, V]) drain() {
	m.mu.Lock()
	for m.anyWriting() {
		m.free.Wait()
	}
	m.mu.Unlock()
	m.Flush()
}

func (m *Map[K, V]) anyWriting() bool {
	for _, e := range m.entries {
		if e.writing {
			return true
		}
	}
	return false
}
