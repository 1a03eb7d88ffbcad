// Package writeback writes values to a disk some time after they were set, so that many changes of
// one key cost one write.
//
// Comes in: values by key, and keys to remove. Goes out: batches for a Disk. Map.Run is the
// goroutine that writes; its caller owns it. All other methods may be called from any goroutine.
package writeback

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// Disk stores the values.
type Disk[K comparable, V any] interface {
	// Apply stores values, replacing those with the same keys, and removes the values of other keys.
	// If it returns nil, everything is durable; otherwise any part may be.
	Apply(put []V, remove []K) error
}

// Options configures how a Map writes.
type Options[K comparable] struct {
	// Delay is the time for which changes are collected before a write. It may be 0.
	Delay time.Duration
	// Retry is the delay after which a failed write is repeated.
	Retry time.Duration
	// Report is called after each write with one of its keys and the error or nil. It may be nil.
	Report func(key K, err error)
	// Forgetful drops a removal if the disk fails and is not known to have the value. The map then
	// stays small for a caller with many keys, but the next reader of the disk may find values that
	// were removed.
	Forgetful bool
}

// Map has the values that should be on the disk.
type Map[K comparable, V any] struct {
	Options[K]

	disk Disk[K, V]

	// wake has room for one value, which means that there is something to write. It is never closed.
	wake chan struct{}

	mu      sync.Mutex
	free    sync.Cond // of mu: signals that an entry is no longer being written
	entries map[K]*entry[V]
}

// entry is the intended state of one key on the disk.
type entry[V any] struct {
	value   V
	present bool // else the value is to be removed
	dirty   bool // the disk may have another state
	writing bool
	stored  stored
}

// stored is the known state of a key on the disk.
type stored int

const (
	no stored = iota
	maybe
	yes
)

// New returns a map for a disk. Loaded adds the values that the disk has.
func New[K comparable, V any](disk Disk[K, V], options Options[K]) *Map[K, V] {
	m := &Map[K, V]{disk: disk, Options: options, wake: make(chan struct{}, 1), entries: map[K]*entry[V]{}}
	m.free.L = &m.mu
	return m
}

// Loaded adds a value that the disk has.
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

// Set sets the value of a key. The value must not be modified afterwards. It is on the disk once
// Run, Write or Flush has written it.
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

// Remove removes the value of a key. The removal is written to the disk as with Set.
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

// Values calls yield for all values, in no order, until yield returns false. It holds the lock of
// the map during these calls.
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

// Write writes the current state of a key, and reports whether the disk has it. Run retries a
// failed write.
func (m *Map[K, V]) Write(key K) bool {
	m.mu.Lock()
	for e := m.entries[key]; e != nil && e.writing; e = m.entries[key] {
		m.free.Wait()
	}
	b := m.take(key)
	m.mu.Unlock()
	return m.write(b)
}

// Flush writes everything that is not written or being written yet, and reports whether the disk
// has it.
func (m *Map[K, V]) Flush() bool {
	m.mu.Lock()
	b := m.take(slices.Collect(maps.Keys(m.entries))...)
	m.mu.Unlock()
	return m.write(b)
}

// batch is the content of one write.
type batch[K comparable, V any] struct {
	put          []V
	keys, remove []K
}

// take marks the changes of these keys as being written, and returns them. The caller must hold mu.
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

// write applies a batch and records the result.
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

// written records whether the disk has the written state of a key. The caller must hold mu.
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
		m.notify() // it was set during the write, or the write failed
	} else if !e.present && e.stored == no {
		delete(m.entries, key)
	}
}

// Run writes changes until ctx ends, and then a last time. It returns the error of ctx.
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

// drain waits until nothing is being written, and writes the rest.
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
