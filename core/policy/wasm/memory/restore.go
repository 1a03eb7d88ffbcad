package memory

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// patience says how long a memory that is scanned keeps pages of its own. To keep
// a page costs time in each call, about 0.1 µs to scan it and copy it back; to
// drop it costs a page fault when it is written again, about 2 µs.
type patience struct {
	// keep is the most bytes of pages that stay after a call.
	keep int
	// waste is how many bytes may be copied back, in all calls since the last drop,
	// beside those that the first of these calls wrote.
	waste int
	// calls is after how many calls everything is dropped in any case: also pages
	// that were only read cost time in each scan.
	calls int
}

// patient wastes about as much time as it takes to write 300 pages again.
var patient = patience{keep: 4 << 20, waste: 16 << 20, calls: 4096}

// Restored is what it took to put a memory back, in bytes.
type Restored struct {
	// Copied back.
	Copied int
	// Dropped is the size of the memory if the kernel was told to forget what was
	// written, else 0.
	Dropped int
	// Fresh is the size of the pages that were read or written since the memory was
	// put back last, and were not mapped before, or were not its own before they were
	// written: each cost the guest a page fault, and one that was read and then
	// written two. For memories that are put back by Drop it counts all page faults
	// that the process had since, which may be more.
	Fresh int
}

var (
	errNoSnapshot = errors.New("the linear memory has no snapshot to be put back to")
	errGrown      = errors.New("the linear memory grew since its snapshot: shrink it first, or throw the instance away")
)

// Restore puts the memory back to its snapshot. It allocates nothing but for an
// error.
func (l *Linear) Restore() (Restored, error) {
	switch {
	case l.snapshot == nil:
		return Restored{}, errNoSnapshot
	case l.size != l.snapshot.size:
		return Restored{}, errGrown
	}
	if err := l.clean(); err != nil || l.size == 0 {
		return Restored{}, err
	}
	refresh := false
	if l.calls++; l.calls >= l.patience.calls {
		l.calls, refresh = 0, true
		l.snapshot.measure()
	}
	switch l.method {
	case Copy:
		done := Restored{Copied: copy(l.all, l.snapshot.image), Fresh: l.size - l.mapped.own}
		l.mapped.own = l.size
		return done, nil
	case Drop:
		done, err := l.drop()
		now := faults()
		done.Fresh = int(min(now-l.seen, int64(l.size/pageSize))) * pageSize
		l.seen = now
		return done, err
	}
	done, err := l.copyBack()
	if err == nil && refresh && done.Dropped == 0 {
		return l.dropAfter(done)
	}
	return done, err
}

// Trim resets the memory and releases all pages that it has of its own to
// the system: for an instance that had no call for a while. The next call is
// slower. Memories that are put back by Copy keep theirs.
func (l *Linear) Trim() error {
	if err := l.dropGrown(); err != nil {
		return err
	}
	if l.method != Scan || l.snapshot == nil || l.Grown() || l.size == 0 {
		_, err := l.Restore()
		return err
	}
	_, err := l.drop()
	return err
}

// copyBack copies the pages back that are the memory's own, or drops them if
// they are many or were for nothing too often. A scan that fails costs time
// only: all pages are dropped.
func (l *Linear) copyBack() (Restored, error) {
	var (
		s, k = l.scan, l.known
		done Restored
		now  extent
	)
	if k != nil && k.hold() {
		done.Copied = l.copyRegions(k.regions)
		return l.copied(done)
	}
	if k != nil {
		k.begin()
	}
	for s.begin(); !s.done(); {
		found, err := s.next()
		if err != nil {
			done.Fresh = l.size
			return l.dropAfter(done)
		}
		own := found[:0]
		for _, r := range found {
			now.add(r)
			if !r.shared() {
				own = append(own, r)
			}
		}
		if now.own > l.patience.keep {
			if s.rest(&now) != nil {
				now.own = l.size
			}
			done.Fresh = now.since(l.mapped)
			return l.dropAfter(done)
		}
		if k != nil {
			k.note(own)
		}
		done.Copied += l.copyRegions(own)
	}
	if k != nil {
		k.end()
	}
	done.Fresh, l.mapped = now.since(l.mapped), now
	return l.copied(done)
}

// copyRegions copies some pages back, and returns how many bytes these were.
func (l *Linear) copyRegions(regions []region) (size int) {
	for _, r := range regions {
		start, end := l.scan.place(r)
		copy(l.all[start:end], l.snapshot.image[start:end])
		size += end - start
	}
	return size
}

// copied drops what was copied back, if it was for nothing too often.
func (l *Linear) copied(done Restored) (Restored, error) {
	if l.needed < 0 {
		l.needed = done.Copied
	}
	if l.wasted += done.Copied - l.needed; l.wasted > l.patience.waste {
		return l.dropAfter(done)
	}
	return done, nil
}

func (l *Linear) dropAfter(done Restored) (Restored, error) {
	dropped, err := l.drop()
	done.Dropped = dropped.Dropped
	return done, err
}

// drop has the kernel forget the pages that are the memory's own.
func (l *Linear) drop() (Restored, error) {
	l.needed, l.wasted, l.mapped = -1, 0, extent{}
	if l.known != nil {
		l.known.forget()
	}
	if err := unix.Madvise(l.all[:l.size], unix.MADV_DONTNEED); err != nil {
		return Restored{}, fmt.Errorf("drop the written pages of a linear memory: %w", err)
	}
	return Restored{Dropped: l.size}, nil
}

// Fresh is what Restore would give as Fresh, for a memory that is not put back
// any more.
func (l *Linear) Fresh() int {
	if l.method != Scan || l.scan == nil {
		return l.size
	}
	now, err := l.scan.mapped()
	if err != nil {
		return l.size
	}
	return now.since(l.mapped)
}
