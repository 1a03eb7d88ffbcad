package memory

import (
	"errors"
	"sync"

	"golang.org/x/sys/unix"
)

// Method is a way to put a memory back.
type Method int

// The methods.
const (
	// Best chooses by what the kernel can do and by the size of the memory.
	Best Method = iota
	// Scan asks the kernel which pages were written, unless no page fault says that
	// there may be others than before, and copies those back. They stay the
	// memory's own, so the next call finds them without a page fault. When they
	// have become many they are dropped.
	Scan
	// Drop has the kernel forget all pages that were written: the next call that
	// touches them has a page fault for each.
	Drop
	// Copy copies the whole memory back.
	Copy
)

// String is the method's name.
func (m Method) String() string { return [...]string{"best", "scan", "drop", "copy"}[m] }

// copyUpTo is the largest memory, in bytes, that is copied as a whole where the
// kernel cannot list pages: that takes about as long as two page faults.
const copyUpTo = 256 << 10

// kernel is what the system can do.
type kernel struct {
	// pagemap is the file to scan with, -1 if it cannot be done.
	pagemap int
	// watch is the userfaultfd, -1 if there is none.
	watch int
	// faults says that it counts page faults as it must.
	faults  bool
	newFile func() (int, error)
}

// system finds out once what this system can do. The files it opens stay open.
var system = sync.OnceValue(func() *kernel {
	return &kernel{pagemap: openPagemap("/proc/self/pagemap"), watch: openWatch(), faults: tellsFaults(), newFile: newFile}
})

// openPagemap opens the list of the process's pages. It returns -1 if there is
// none, or if scanning it does not find what it must.
func openPagemap(path string) int {
	file, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	if !scans(file) {
		_ = unix.Close(file) // only read
		return -1
	}
	return file
}

// scans tries a scan: of three pages one is written, one read, and one neither.
func scans(pagemap int) bool {
	memory, err := anonymous(3 * pageSize)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Munmap(memory) }() // it is mapped
	file, err := newFile()
	if err != nil {
		return false
	}
	defer unix.Close(file)
	memory[0], memory[pageSize] = 1, 1
	if fill(file, memory) != nil || lay(memory, writable, file) != nil {
		return false
	}
	memory[pageSize] += memory[0]
	s := newScanner(pagemap, memory)
	s.begin()
	found, err := s.next()
	if err != nil || !s.done() || len(found) != 2 || !found[0].shared() || found[1].shared() {
		return false
	}
	start, end := s.place(found[1])
	return start == pageSize && end == 2*pageSize
}

var errCannotScan = errors.New("this kernel cannot list the pages that were written (PAGEMAP_SCAN, Linux 6.7): put memories back in another way")

// choose is how a memory that begins from a snapshot is put back.
func (k *kernel) choose(wanted Method, s *Snapshot) Method {
	switch {
	case s.file < 0:
		return Copy
	case wanted != Best:
		return wanted
	case k.pagemap >= 0:
		return Scan
	case s.size <= copyUpTo:
		return Copy
	}
	return Drop
}
