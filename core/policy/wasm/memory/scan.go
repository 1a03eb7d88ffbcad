package memory

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// These are the ioctl PAGEMAP_SCAN of /proc/self/pagemap (Linux 6.7), and the
// categories of pages that it reports.
const (
	pagemapScan = 0xc0606610

	pageIsFile    = 1 << 2
	pageIsPresent = 1 << 3
	pageIsSwapped = 1 << 4
)

// regionsAtOnce is how many runs of pages one call of the kernel can report.
const regionsAtOnce = 64

// region is a run of pages that the kernel found. Its pages are all private or all
// shared.
type region struct{ start, end, categories uint64 }

// size returns the size in bytes.
func (r region) size() int { return int(r.end - r.start) }

// shared reports whether the pages are those of the file: mapped, but not written
// to.
func (r region) shared() bool { return r.categories&pageIsFile != 0 }

// extent is the size of a memory's private pages, and of its mapped shared pages,
// in bytes.
type extent struct{ own, shared int }

func (e *extent) add(r region) {
	if r.shared() {
		e.shared += r.size()
	} else {
		e.own += r.size()
	}
}

// since returns the size of the pages that had page faults between two extents.
// There may be up to twice as many page faults, because a page that is read and
// then written has two.
func (e extent) since(before extent) int { return e.own - before.own + max(e.shared-before.shared, 0) }

// scanRequest is struct pm_scan_arg of linux/fs.h.
type scanRequest struct {
	size, flags, start, end, walkEnd, regions, regionCount, maxPages,
	inverted, mask, anyOf, returned uint64
}

// scanner finds the mapped pages of a memory: private pages, and pages that the
// memory still shares with the file from which it was mapped.
type scanner struct {
	request scanRequest
	pagemap int
	base    uint64
	regions [regionsAtOnce]region
}

// newScanner makes a scanner, on the heap: the kernel writes to it by its
// address, so it must not move as a stack does.
//
//go:noinline
func newScanner(pagemap int, memory []byte) *scanner {
	base := uint64(uintptr(unsafe.Pointer(&memory[0])))
	s := &scanner{pagemap: pagemap, base: base}
	s.request = scanRequest{
		size:        uint64(unsafe.Sizeof(s.request)),
		end:         base + uint64(len(memory)),
		regions:     uint64(uintptr(unsafe.Pointer(&s.regions[0]))),
		regionCount: regionsAtOnce,
		anyOf:       pageIsPresent | pageIsSwapped,
		returned:    pageIsFile,
	}
	return s
}

// begin makes next start from the beginning of the memory.
func (s *scanner) begin() { s.request.walkEnd = s.base }

// done reports whether next has seen the whole memory.
func (s *scanner) done() bool { return s.request.walkEnd >= s.request.end }

// next finds more pages, in order. The result is valid until the next call.
func (s *scanner) next() ([]region, error) {
	s.request.start = s.request.walkEnd
	n, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(s.pagemap), pagemapScan, uintptr(unsafe.Pointer(&s.request)))
	switch {
	case errno != 0:
		return nil, errno
	case n == 0 && !s.done():
		return nil, unix.EIO // otherwise the caller would loop forever
	}
	return s.regions[:n], nil
}

// place returns the offsets in the memory at which a region begins and ends.
func (s *scanner) place(r region) (start, end int) {
	return int(r.start - s.base), int(r.end - s.base)
}

// mapped returns the size of all mapped pages.
func (s *scanner) mapped() (e extent, err error) {
	s.begin()
	err = s.rest(&e)
	return e, err
}

// rest adds the size of the pages that next has not returned yet.
func (s *scanner) rest(e *extent) error {
	for !s.done() {
		found, err := s.next()
		if err != nil {
			return err
		}
		for _, r := range found {
			e.add(r)
		}
	}
	return nil
}
