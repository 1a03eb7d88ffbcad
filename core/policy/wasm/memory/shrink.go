package memory

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Instance is the part of api.Memory that Shrink needs.
type Instance interface {
	Grow(pages uint32) (before uint32, ok bool)
	Size() uint32
}

// Shrink sets a memory that grew back to the size of its snapshot, and reports
// whether it has that size now. It fails if the memory has the largest size that
// its module declares: the instance must then be thrown away. What was written
// behind the snapshot stays there until Restore.
//
// wazero cannot shrink a memory. But when a memory grows, wazero accepts a buffer
// of any length. So Shrink asks wazero to grow the memory by a page, and Reallocate
// returns fewer bytes than before.
func (l *Linear) Shrink(of Instance) bool {
	if !l.Grown() {
		return true
	}
	end := l.size
	l.shrinks = true
	_, ok := of.Grow(1)
	l.shrinks = false
	l.stale = max(l.stale, end)
	return ok && !l.Grown() && int(of.Size()) == l.size
}

// clean sets what calls wrote behind the snapshot to zeros. The pages stay present,
// so that the next call that grows the memory has no page faults for them. If there
// are many, they are dropped instead.
func (l *Linear) clean() error {
	from, end := l.snapshot.size, l.stale
	switch {
	case end <= from:
		return nil
	case end-from > l.patience.keep:
		return l.dropGrown()
	}
	for at := from; at < end; at += wasmPage { // in pieces, because clear cannot be interrupted
		clear(l.all[at : at+wasmPage])
	}
	l.given, l.stale = max(l.given, end), 0
	return nil
}

// dropGrown makes the kernel drop the pages behind the snapshot.
func (l *Linear) dropGrown() error {
	if l.snapshot == nil || l.Grown() {
		return nil
	}
	from, end := l.snapshot.size, max(l.given, l.stale)
	if end <= from {
		return nil
	}
	if err := unix.Madvise(l.all[from:end], unix.MADV_DONTNEED); err != nil {
		return fmt.Errorf("drop the pages that a linear memory grew by: %w", err)
	}
	l.given, l.stale = from, 0
	return nil
}
