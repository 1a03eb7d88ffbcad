package memory

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// faults returns how many page faults all threads of this process have had so far,
// including threads that have ended; -1 if the system does not report it. A page of
// a private mapping becomes private only in a page fault, whatever writes to it. So
// as long as the number does not change, the private pages of a memory remain the
// same.
func faults() int64 {
	var u syscall.Rusage
	_, _, errno := syscall.RawSyscall(syscall.SYS_GETRUSAGE, syscall.RUSAGE_SELF, uintptr(unsafe.Pointer(&u)), 0)
	if errno != 0 {
		return -1
	}
	return int64(u.Minflt) + int64(u.Majflt) //nolint:unconvert // 32 bits on some systems
}

// tellsFaults tests whether faults counts the first write to a page of a file in
// memory, after the page was read.
func tellsFaults() bool {
	memory, err := anonymous(pageSize)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Munmap(memory) }() // it is mapped
	file, err := newFile()
	if err != nil {
		return false
	}
	defer unix.Close(file)
	memory[0] = 1
	if fill(file, memory) != nil || lay(memory, writable, file) != nil || memory[0] != 1 {
		return false
	}
	before := faults()
	memory[0] = 2
	return before >= 0 && faults() > before
}

const (
	// trust is how often in a row hold may fail. It is then not tried for distrust
	// scans. Another goroutine with frequent page faults is enough to make it fail.
	trust    = 3
	distrust = 16
)

// known are the private pages that the last scan found.
type known struct {
	regions []region
	// at is the number of page faults before that scan, -1 if regions are not
	// valid.
	at int64
	// read is the number of page faults in this Restore, -1 if it was not read.
	read int64
	// failed is how often in a row there were further page faults. resting is the
	// number of scans in which faults is not called.
	failed, resting int
}

// hold reports whether no other page can have become private since the last scan.
func (k *known) hold() bool {
	k.read = -1
	if k.at < 0 {
		return false
	}
	if k.read = faults(); k.read == k.at {
		k.failed = 0
		return true
	}
	k.at = -1
	if k.failed++; k.failed >= trust {
		k.failed, k.resting = 0, distrust
	}
	return false
}

// begin is called at the begin of a scan, after hold returned false.
func (k *known) begin() {
	k.regions = k.regions[:0]
	switch {
	case k.resting > 0:
		k.resting--
		k.read = -1
	case k.read < 0:
		k.read = faults()
	}
}

// note records the pages that a scan has found, as long as there is room for them.
func (k *known) note(found []region) {
	if k.read < 0 {
		return
	}
	if len(k.regions)+len(found) > cap(k.regions) {
		k.read = -1
		return
	}
	k.regions = append(k.regions, found...)
}

// end is called when the scan has covered the whole memory and all pages were
// copied back.
func (k *known) end() { k.at = k.read }

// forget is called when pages may no longer be private.
func (k *known) forget() { k.at, k.read = -1, -1 }
