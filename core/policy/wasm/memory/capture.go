package memory

import (
	"errors"
	"fmt"
)

var (
	errFreed    = errors.New("the linear memory was freed")
	errCaptured = errors.New("the linear memory has its snapshot already: make another instance")
	errReleased = errors.New("the snapshot was released and is gone: capture another")
)

// Capture makes a snapshot of the memory. Restore then resets the memory to it. The
// caller releases the snapshot when no more instances will adopt it. A memory can
// be captured only once.
func (l *Linear) Capture() (*Snapshot, error) {
	if err := l.fresh(); err != nil {
		return nil, err
	}
	s, err := newSnapshot(l.all[:l.size], l.kernel.newFile)
	if err != nil {
		return nil, err
	}
	if err := l.Adopt(s); err != nil {
		s.Release()
		return nil, err
	}
	return s, nil
}

// Adopt replaces the content of the memory by the snapshot of another instance of
// the same plugin. Restore then resets the memory to it. The memory must have the
// size of the snapshot. A memory can adopt only once, and not after Capture.
func (l *Linear) Adopt(s *Snapshot) error {
	if err := l.fresh(); err != nil {
		return err
	}
	if l.size != s.size {
		return fmt.Errorf("the snapshot has %d bytes, the linear memory %d: grow it to the same first", s.size, l.size)
	}
	if !s.join() {
		return errReleased
	}
	if err := l.begin(s); err != nil {
		s.leave()
		return err
	}
	s.measure()
	l.snapshot, l.populates, l.given = s, false, l.size
	return nil
}

// fresh returns an error if the memory cannot begin from a snapshot.
func (l *Linear) fresh() error {
	switch {
	case l.all == nil:
		return errFreed
	case l.snapshot != nil:
		return errCaptured
	}
	return nil
}

// begin maps or copies the snapshot into the memory, and chooses the method by
// which the memory is reset.
func (l *Linear) begin(s *Snapshot) error {
	l.method = l.kernel.choose(l.wanted, s)
	if s.size == 0 {
		return nil
	}
	memory := l.all[:s.size]
	if s.file < 0 {
		copy(memory, s.image)
		return nil
	}
	if err := lay(memory, writable, s.file); err != nil {
		return err
	}
	l.seen = faults()
	if l.method == Scan {
		l.scan = newScanner(l.kernel.pagemap, memory)
		if l.kernel.faults {
			l.known = &known{regions: make([]region, 0, regionsAtOnce), at: -1}
		}
		l.kernel.lone(memory)
	}
	return nil
}
