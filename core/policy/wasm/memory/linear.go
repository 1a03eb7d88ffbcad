package memory

import (
	"errors"
	"fmt"
	"math"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

const (
	// wasmPage is the size of a page of linear memory, in bytes.
	wasmPage = 64 << 10
	// largest is the largest size of a memory that a module can address, in bytes.
	largest = 4 << 30
)

// pageSize is the size of a page of the system, in bytes. It divides wasmPage on
// all systems that Go supports.
var pageSize = unix.Getpagesize()

// Linear is the linear memory of one instance. It is the
// experimental.MemoryAllocator of that instance and of no other.
//
// Each page that was read costs time in every scan for written pages, so the host
// must not read through the whole memory.
//
// If a method returns an error, the instance must be thrown away, because the
// content of its memory is not known.
type Linear struct {
	// all is the mapping, of at least limit bytes. It never moves.
	all   []byte
	limit uint64
	// size is the present size of the memory, in bytes.
	size      int
	allocated bool

	kernel   *kernel
	patience patience
	wanted   Method
	method   Method // that of snapshot
	snapshot *Snapshot
	scan     *scanner // nil unless method is Scan
	known    *known   // nil unless method is Scan and kernel.faults is set
	calls    int      // since the last refresh
	// mapped is the size of the pages that were mapped after the last Restore. seen
	// is the number of page faults at that time, for the method Drop.
	mapped extent
	seen   int64
	// populates reports whether pages are made present as soon as the memory grows.
	// given is the offset up to which pages are present, or else the size of the
	// snapshot.
	populates bool
	given     int
	// shrinks reports whether the next Reallocate sets the size back to that of the
	// snapshot. stale is the offset up to which the pages behind the snapshot hold
	// what calls wrote.
	shrinks bool
	stale   int
	// needed is how many bytes the first call after the last drop wrote, -1 if
	// there was no call since. wasted is how many more bytes were copied back in
	// all calls since.
	needed, wasted int
}

// Option changes how a memory is made.
type Option func(*Linear)

// By makes a memory that is reset by method m, even if another one is better. If
// the system has no files in memory, Copy is used instead.
func By(m Method) Option { return func(l *Linear) { l.wanted = m } }

// NewLinear reserves the address space of a memory. The memory may grow to limit
// bytes (at most 4 GiB), whatever its module declares: a caller that knows that the
// module declares less should pass the smaller limit. The caller must free the
// Linear, unless an instance was made with it: then closing the instance frees it.
func NewLinear(limit uint64, options ...Option) (*Linear, error) {
	l := &Linear{limit: min(limit, largest), kernel: system(), patience: patient, needed: -1}
	for _, o := range options {
		o(l)
	}
	if l.wanted == Scan && l.kernel.pagemap < 0 {
		return nil, errCannotScan
	}
	if l.limit > math.MaxInt {
		return nil, fmt.Errorf("%d bytes of linear memory are more than this machine can address: lower the policy's memory limit", l.limit)
	}
	all, err := anonymous(max(int(l.limit), pageSize))
	if err != nil {
		return nil, fmt.Errorf("map %d bytes of linear memory: %w", l.limit, err)
	}
	l.all = all
	usage.mapped.Add(int64(len(all)))
	return l, nil
}

// Allocate returns the memory for its instance. It cannot report an error to
// wazero, so it panics with an error if the memory is already in use, or if the
// initial size of the module exceeds the limit. The caller that makes the instance
// must check that before, or recover.
func (l *Linear) Allocate(least, _ uint64) experimental.LinearMemory {
	switch {
	case l.allocated:
		refuse(errors.New("a linear memory serves one instance, and this one has its own already"))
	case least > l.limit:
		refuse(fmt.Errorf("the module begins with %d bytes of memory, its policy may have %d", least, l.limit))
	}
	l.allocated = true
	return l
}

func refuse(why error) {
	panic(why) //nolint:forbidigo // an allocator cannot return an error
}

// Reallocate resizes the memory to size bytes, which must be whole pages of linear
// memory. It returns nil if size is above the limit, so that memory.grow returns
// -1. The address of the memory never changes.
func (l *Linear) Reallocate(size uint64) []byte {
	if l.shrinks {
		l.size = l.snapshot.size
		return l.all[:l.size:l.size]
	}
	if l.all == nil || size > l.limit || size%wasmPage != 0 {
		return nil
	}
	l.size = int(size)
	l.populate()
	return l.all[:size:size]
}

// Size returns the present size of the memory, in bytes.
func (l *Linear) Size() int { return l.size }

// Method returns the method by which the memory is reset. It is never Best once the
// memory has a snapshot.
func (l *Linear) Method() Method { return l.method }

// Grown reports whether the size of the memory differs from that of its snapshot.
// Such a memory cannot be reset, see Shrink.
func (l *Linear) Grown() bool { return l.snapshot != nil && l.size != l.snapshot.size }

// Free returns the memory to the system, and releases its snapshot. The memory must
// not be used after that. A second call does nothing.
func (l *Linear) Free() {
	if l.all == nil {
		return
	}
	usage.mapped.Add(-int64(len(l.all)))
	_ = unix.Munmap(l.all) // fails only for what is not mapped
	l.all, l.size, l.scan, l.known = nil, 0, nil, nil
	if l.snapshot != nil {
		l.snapshot.measure()
		l.snapshot.leave()
		l.snapshot = nil
	}
}

// Private returns the size of the memory's private pages, in memory or swapped out:
// those written since the snapshot and not dropped. It needs a kernel that can
// scan, whatever the method, and walks all pages of the memory, so it is for
// figures and tests.
func (l *Linear) Private() (int, error) {
	switch {
	case l.kernel.pagemap < 0:
		return 0, errCannotScan
	case l.size == 0:
		return 0, nil
	}
	mapped, err := newScanner(l.kernel.pagemap, l.all[:l.size]).mapped()
	return mapped.own, err
}
