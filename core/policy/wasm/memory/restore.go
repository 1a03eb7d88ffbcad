package memory

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// patience bounds how long a memory that is scanned keeps private pages. A private
// page costs about 0.1 µs in each call, to scan it and copy it back. A dropped page
// costs a page fault of about 2 µs when it is written to again.
type patience struct {
	// keep is the largest size of the private pages that are kept after a call, in
	// bytes.
	keep int
	// waste is how many bytes may be copied back, in all calls since the last drop,
	// in addition to those that the first of these calls wrote.
	waste int
	// calls is the number of calls after which all pages are dropped in any case,
	// because pages that were only read cost time in each scan, too.
	calls int
}

// patient allows a waste of about as much time as writing to 300 dropped pages
// takes.
var patient = patience{keep: 4 << 20, waste: 16 << 20, calls: 4096}

// Restored describes the work of a Restore, in bytes.
type Restored struct {
	// Copied is the size of the pages that were copied back.
	Copied int
	// Dropped is the size of the memory if the kernel dropped its written pages,
	// else 0.
	Dropped int
	// Fresh is the size of the pages that were newly mapped or became private since
	// the last Restore. Each cost the guest a page fault, or two if it was read and
	// then written to. With the method Drop, it counts all page faults of the
	// process since the last Restore, which may be more.
	Fresh int
}

var (
	errNoSnapshot = errors.New("the linear memory has no snapshot to be put back to")
	errGrown      = errors.New("the linear memory grew since its snapshot: shrink it first, or throw the instance away")
)

// Restore resets the memory to its snapshot. It allocates nothing unless it fails.
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

// Trim resets the memory and releases all its private pages to the system. It is
// for an instance that had no call for a while. The next call is slower. A memory
// that is reset by Copy keeps its pages.
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

// copyBack copies the private pages back. It drops them if there are many, or if
// too many were copied back in vain. If the scan fails, all pages are dropped,
// which costs only time.
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

// copyRegions copies regions of the snapshot back, and returns their size in bytes.
func (l *Linear) copyRegions(regions []region) (size int) {
	for _, r := range regions {
		start, end := l.scan.place(r)
		copy(l.all[start:end], l.snapshot.image[start:end])
		size += end - start
	}
	return size
}

// copied drops the private pages if too many bytes were copied back in vain.
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

// drop makes the kernel drop the private pages.
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

// Fresh returns what Restore would return as Fresh, for a memory that will not be
// reset again.
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
