package compile

// Rest records whether the user has run the code since its last Rest. If none of the
// users has, the pages of the code are released, once. The next run has page faults,
// as little as 1 µs each if the file is in the page cache. Rest is to be called about
// every 10 s.
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
