package memory

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// faults returns how many page faults all threads of this process have had so far,
// with those that have ended; -1 if the system does not return it. A page of a
// private mapping becomes the memory's own only in a page fault, whatever writes to
// it. So as long as the number stays, the pages that are its own stay the same.
func faults() int64 {
	var u syscall.Rusage
	_, _, errno := syscall.RawSyscall(syscall.SYS_GETRUSAGE, syscall.RUSAGE_SELF, uintptr(unsafe.Pointer(&u)), 0)
	if errno != 0 {
		return -1
	}
	return int64(u.Minflt) + int64(u.Majflt) //nolint:unconvert // 32 bits on some systems
}

// tellsFaults tries whether faults counts the first write to a page, after it
// was read, of a file in memory.
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
	// trust is how often in a row pages may have come when they are looked for by
	// their faults; distrust is how many scans come then before that is tried
	// again. Another goroutine that has faults at a high rate is enough.
	trust    = 3
	distrust = 16
)

// known are the pages that were the memory's own when it was scanned last.
type known struct {
	regions []region
	// at is what faults returned before that scan, -1 if it does not count.
	at int64
	// read is what faults returned in this Restore, -1 if it was not called.
	read int64
	// failed is how often in a row there were others, resting for how many scans
	// faults is not called.
	failed, resting int
}

// hold says that no other page became the memory's own since.
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

// begin is for the begin of a scan that comes instead.
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

// note records what a scan has found, as long as there is room.
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

// end is when the scan has seen the whole memory, and all is copied back.
func (k *known) end() { k.at = k.read }

// forget is for pages that are no longer the memory's own.
func (k *known) forget() { k.at, k.read = -1, -1 }
