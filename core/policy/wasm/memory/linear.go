package memory

import (
	"errors"
	"fmt"
	"math"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

const (
	// wasmPage is a page of linear memory, in bytes.
	wasmPage = 64 << 10
	// largest is the most bytes a module can address.
	largest = 4 << 30
)

// pageSize is a page of the system, in bytes. It divides wasmPage on all
// systems that Go runs on.
var pageSize = unix.Getpagesize()

// Linear is the linear memory of one instance. It is the
// experimental.MemoryAllocator of that instance and of no other.
//
// Each page that is read costs time in every scan for what was written, so the
// host must not read through the memory as a whole.
//
// An instance whose memory gave an error must be thrown away: what its memory
// holds is not known.
type Linear struct {
	// all is the mapping, of at least limit bytes. It never moves.
	all   []byte
	limit uint64
	// size is how many bytes the instance has now.
	size      int
	allocated bool

	kernel   *kernel
	patience patience
	wanted   Method
	method   Method // that of snapshot
	snapshot *Snapshot
	scan     *scanner // nil unless method is Scan
	known    *known   // nil unless faults tell of it
	calls    int      // since the last refresh
	// mapped is what of its pages was mapped after the last Restore, seen what
	// faults gave then, where that tells more.
	mapped extent
	seen   int64
	// populates says that pages that come by growing are given at once, given up to
	// where they are, or the snapshot goes.
	populates bool
	given     int
	// shrinks says that the size goes back to that of the snapshot, stale up to where
	// the pages behind it hold what a call wrote.
	shrinks bool
	stale   int
	// needed is how many bytes the first call wrote after the last drop, -1 if there
	// was none; wasted is how many more were copied back in all calls since.
	needed, wasted int
}

// Option changes how a memory is made.
type Option func(*Linear)

// By makes a memory that is put back in one way, whatever is the best. Copy is
// used all the same where the system has no files in memory.
func By(m Method) Option { return func(l *Linear) { l.wanted = m } }

// NewLinear maps the address space of a memory. It may grow to limit bytes (at
// most 4 GiB), whatever its module declares: callers that know that the module
// declares less pass that. The caller must free the Linear, unless an instance
// was made with it, which frees it when it is closed.
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

// Allocate hands the memory to its instance. wazero has no way to be told that
// it gets none: Allocate panics with an error if the memory is in use already,
// or if the module begins with more than the limit. Who instantiates checks that
// before, or recovers.
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

// Reallocate resizes the memory to size bytes, which are whole pages of linear
// memory. It is nil if that is above the limit, so that memory.grow answers -1.
// The bytes never move.
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

// Size is how many bytes the memory has now.
func (l *Linear) Size() int { return l.size }

// Method is how the memory is put back: never Best, once it has a snapshot.
func (l *Linear) Method() Method { return l.method }

// Grown is whether the memory has another size than its snapshot. Then it
// cannot be put back: see Shrink.
func (l *Linear) Grown() bool { return l.snapshot != nil && l.size != l.snapshot.size }

// Free returns the memory to the system, and releases its snapshot. Nothing
// may touch the memory any more. To free it again does nothing.
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

// Private is how many bytes of pages the memory has of its own now, in memory or
// swapped out: what it wrote since its snapshot, as far as it was not dropped. It
// needs a kernel that can scan, whatever the method, and walks all of the
// memory's pages: it is for figures and tests.
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
