package memory

import (
	"errors"
	"sync"

	"golang.org/x/sys/unix"
)

// Method is a way to reset a memory.
type Method int

// The methods.
const (
	// Best chooses a method by what the kernel supports and by the size of the
	// memory.
	Best Method = iota
	// Scan copies the written pages back. It asks the kernel for these pages,
	// unless there was no page fault since the last scan, so that they must be the
	// same as before. The pages stay private, so the next call has no page faults
	// for them. When there are many, they are dropped.
	Scan
	// Drop makes the kernel drop all written pages. The next call has a page fault
	// for each of them that it touches.
	Drop
	// Copy copies the whole memory back.
	Copy
)

// String returns the method's name.
func (m Method) String() string { return [...]string{"best", "scan", "drop", "copy"}[m] }

// copyUpTo is the largest memory, in bytes, that is copied as a whole if the kernel
// cannot list written pages. Copying it takes about as long as two page faults.
const copyUpTo = 256 << 10

// kernel describes what the system supports.
type kernel struct {
	// pagemap is the file descriptor for scans, -1 if the kernel cannot scan.
	pagemap int
	// watch is the userfaultfd, see lone; -1 if there is none.
	watch int
	// faults reports whether the system counts page faults as needed, see
	// tellsFaults.
	faults  bool
	newFile func() (int, error)
}

// system finds out once what this system supports. The files that it opens stay
// open.
var system = sync.OnceValue(func() *kernel {
	return &kernel{pagemap: openPagemap("/proc/self/pagemap"), watch: openWatch(), faults: tellsFaults(), newFile: newFile}
})

// openPagemap opens the list of the process's pages. It returns -1 if there is
// none, or if a test scan does not find the right pages.
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

// scans tests a scan of three pages: one is written, one read, and one neither.
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

// choose returns the method by which a memory with this snapshot is reset.
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
