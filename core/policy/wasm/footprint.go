package wasm

import "time"

// Footprint is the memory of a plugin that was just called, and not settled yet.
type Footprint struct {
	// Size is how large the guest's memory is between calls, in bytes.
	Size int
	// Written is how much of it the last call has made its own, in bytes of pages of
	// 4 KiB; -1 where the system does not tell.
	Written int
	// Rebuild is how long it took at least to make an instance.
	Rebuild time.Duration
}

// Footprint is that of the instance that was used last. It walks all of its memory:
// it is for figures.
func (p *Plugin) Footprint() (f Footprint) {
	f.Rebuild = time.Duration(p.rebuilding.least.Load())
	l := &p.pool
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.used
	if len(last) == 0 {
		last = l.clean
	}
	if len(last) == 0 {
		return f
	}
	i := last[len(last)-1]
	f.Size, f.Written = i.linear.Size(), -1
	if own, err := i.linear.Private(); err == nil {
		f.Written = own
	}
	return f
}
