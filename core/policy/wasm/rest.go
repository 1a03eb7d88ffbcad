package wasm

// idle is what a pool knows of how much it was used since it rested last.
type idle struct {
	// busiest is how many instances were in use at once, at most.
	busiest int
	// trimmed: those that are ready hold no pages that calls have written.
	trimmed bool
}

// ended records that a call ends while so many instances are in use, with its own.
// When the most are in use, a call ends next and sees them all.
func (d *idle) ended(inUse int) {
	d.busiest = max(d.busiest, inUse)
	d.trimmed = false
}

// rest releases what the plugin did not need since it rested last: instances
// beyond the warm ones and beyond what was in use at once. If there was no call at
// all, it also releases the pages that calls have written. used reports whether
// there was a call. rest is to be called about every 10 s. The next calls pay again
// for what was released: a new instance takes milliseconds, a page a fault.
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
		// It counts until it is closed: who closes the pool waits for it.
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

// inUse is how many instances have a call, or are made or put back for one.
func (l *pool) inUse() int { return l.made - len(l.clean) - len(l.used) }

// coldest takes out the instance that waits longest, nil if none does.
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

// trim resets the memory, and releases the pages that calls have written;
// false if the instance must be thrown away. The next calls get less fuel in one
// go: each page will be a fault again.
func (i *instance) trim() bool {
	if err := i.linear.Trim(); err != nil {
		i.plugin.log.logger.Error("the memory of a plugin cannot be given back; it starts anew", "error", err)
		return false
	}
	i.dropped()
	return true
}
