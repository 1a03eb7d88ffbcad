package compile

// Rest takes in whether the user has run the code since it said so last. When none
// of its users has, its pages are given back, once: the next to run it has page
// faults, as little as 1 µs each where the file is in the system's cache. It is for
// every 10 s or so.
func (c *Code) Rest(used bool) {
	l := c.library
	l.mu.Lock()
	defer l.mu.Unlock()
	h := c.held
	switch {
	case c.released:
		return
	case used && c.idle:
		h.idle--
		h.dropped = false
	case !used && !c.idle:
		h.idle++
	}
	if c.idle = !used; h.idle < h.users || h.dropped {
		return
	}
	h.dropped = true
	if err := drop(h.laid); err != nil {
		l.log.Warn("the memory of compiled code cannot be given back", "module", c.digest.String(), "error", err)
	}
}
