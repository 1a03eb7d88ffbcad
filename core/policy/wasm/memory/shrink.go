package memory

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Instance is what Shrink asks of the memory of an instance: an api.Memory.
type Instance interface {
	Grow(pages uint32) (before uint32, ok bool)
	Size() uint32
}

// Shrink resets a memory that grew to the size of its snapshot, and reports
// whether it has that now. It cannot where the memory stands at the most that its
// module declares: then the instance must be thrown away. What was written behind
// the snapshot is there until the memory is put back.
//
// wazero has nothing to shrink a memory by. But when one grows it takes over
// whatever bytes it is given: so it is asked for a page more, and gets fewer.
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

// clean makes zeros of what a call wrote behind the snapshot. The pages stay, so
// that the next call that lets the memory grow as far has no page faults; unless
// they are many.
func (l *Linear) clean() error {
	from, end := l.snapshot.size, l.stale
	switch {
	case end <= from:
		return nil
	case end-from > l.patience.keep:
		return l.dropGrown()
	}
	for at := from; at < end; at += wasmPage { // in pieces: clear cannot be interrupted
		clear(l.all[at : at+wasmPage])
	}
	l.given, l.stale = max(l.given, end), 0
	return nil
}

// dropGrown has the kernel forget the pages behind the snapshot.
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
