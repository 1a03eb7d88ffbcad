package wasm

import "time"

// Footprint is the memory of a plugin after a call and before Settle.
type Footprint struct {
	// Size is the size of the guest's memory between calls, in bytes.
	Size int
	// Written is how much of the memory the last call made private by writing, in
	// bytes of pages of 4 KiB; -1 if the system does not report it.
	Written int
	// Rebuild is the shortest time that making an instance took so far.
	Rebuild time.Duration
}

// Footprint returns the footprint of the instance that was used last. It walks all
// of the instance's memory, so it is for measurements only.
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
