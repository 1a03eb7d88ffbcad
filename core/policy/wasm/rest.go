package wasm

import (
	"time"
)

// idle is how much a pool was used since the last Trim.
type idle struct {
	// busiest is the largest number of instances that were in use at once.
	busiest int
	// trimmed: the ready instances hold no pages that calls have written.
	trimmed bool
}

// ended records the end of a call. inUse is the number of instances in use at that time,
// including the call's own. Recording at the ends of calls is enough to find the maximum:
// after the number of used instances was highest, the next change is the end of a call.
func (d *idle) ended(inUse int) {
	d.busiest = max(d.busiest, inUse)
	d.trimmed = false
}

// rest releases what the plugin did not need since the last rest: instances beyond
// the warm ones and beyond those that were in use at once. If there was no call at
// all, it also releases the pages that calls have written. used reports whether
// there was a call. rest is to be called about every 10 s. The next calls pay for
// what was released: a new instance takes milliseconds, a page takes a page fault.
func (p *Plugin) rest(d *idle) (used bool) {
	l := &p.pool
	l.mu.Lock()
	defer l.mu.Unlock()
	busiest := max(d.busiest, l.inUse())
	d.busiest = 0
	for l.made > max(warmInstances, busiest) {
		i := l.coldest()
		if i == nil {
			break
		}
		// The instance remains in made until it is closed, because drain waits
		// until made is 0.
		l.mu.Unlock()
		i.close()
		l.mu.Lock()
		l.made--
		l.freed.Broadcast()
	}
	if busiest > 0 || d.trimmed || l.closed {
		return busiest > 0
	}
	d.trimmed = true
	for len(l.used) > 0 {
		i := pop(&l.used)
		ok := i.reset() && i.trim()
		l.owe(i)
		if ok {
			l.clean = append(l.clean, i)
		} else {
			l.lose(i)
		}
	}
	for n := len(l.clean); n > 0 && len(l.clean) > 0; n-- {
		i := l.clean[0]
		l.clean = append(l.clean[:0], l.clean[1:]...)
		if i.trim() {
			l.clean = append(l.clean, i)
		} else {
			l.lose(i)
		}
	}
	return false
}

// inUse returns how many instances run a call, or are made or reset for one.
func (l *pool) inUse() int { return l.made - len(l.clean) - len(l.used) }

// coldest removes and returns the instance that was unused for the longest time,
// nil if all are in use.
func (l *pool) coldest() *instance {
	for _, list := range []*[]*instance{&l.clean, &l.used} {
		if len(*list) > 0 {
			i := (*list)[0]
			*list = append((*list)[:0], (*list)[1:]...)
			return i
		}
	}
	return nil
}

// trim resets the memory, and releases the pages that calls have written. It
// returns false if the instance must be thrown away. The next calls get shorter
// slices, because each page will be a page fault again.
func (i *instance) trim() bool {
	if err := i.linear.Trim(); err != nil {
		i.plugin.log.Logger.Error("the memory of a plugin cannot be given back; it starts anew", "error", err)
		return false
	}
	i.dropped()
	return true
}

// Footprint is the memory of a plugin after a call and before Reset.
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
