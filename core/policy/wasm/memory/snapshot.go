package memory

import (
	"fmt"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Snapshot is the content of a memory when it was captured. It never changes. It is
// kept until all its users have released it: the caller of Capture, and each memory
// that begins from it. It is safe for concurrent use.
type Snapshot struct {
	size int
	// image is a read-only mapping of the whole content.
	image []byte
	// file is the file with the content. It is -1 if the system has no files in
	// memory (image is then plain memory), and if there is no content.
	file      int
	committed atomic.Int64

	users    atomic.Int64
	released atomic.Bool
}

// newSnapshot makes a snapshot of memory, with one user.
func newSnapshot(memory []byte, newFile func() (int, error)) (_ *Snapshot, err error) {
	s := &Snapshot{size: len(memory), file: -1}
	s.users.Store(1)
	if s.size == 0 {
		return s, nil
	}
	if s.image, err = anonymous(s.size); err != nil {
		return nil, fmt.Errorf("map %d bytes for a snapshot: %w", s.size, err)
	}
	usage.mapped.Add(int64(s.size))
	if file, err := newFile(); err == nil {
		s.file = file
	}
	if err := s.take(memory); err != nil {
		s.leave()
		return nil, err
	}
	s.measure()
	return s, nil
}

func (s *Snapshot) take(memory []byte) error {
	if s.file < 0 {
		copy(s.image, memory)
		return unix.Mprotect(s.image, unix.PROT_READ)
	}
	if err := fill(s.file, memory); err != nil {
		return err
	}
	if err := seal(s.file); err != nil {
		return err
	}
	// A private read-only mapping shares the pages of the file, as a shared mapping
	// does. Kernels before 6.7 refuse a shared mapping of a sealed file.
	return lay(s.image, unix.PROT_READ, s.file)
}

// measure updates how much memory the content uses. Pages of zeros that were left
// out of the file are added to it when an instance first touches them.
func (s *Snapshot) measure() {
	now := int64(s.size)
	if s.file >= 0 {
		const block = 512 // of stat.Blocks, whatever the file system's block size is
		var stat unix.Stat_t
		if unix.Fstat(s.file, &stat) != nil {
			return
		}
		now = stat.Blocks * block
	}
	usage.committed.Add(now - s.committed.Swap(now))
}

// Size returns how many bytes a memory must have to adopt the snapshot.
func (s *Snapshot) Size() int { return s.size }

// Committed returns how many bytes of memory the content uses, as of the last
// measurement. It grows, up to Size, as instances touch pages that held only zeros.
func (s *Snapshot) Committed() int64 { return s.committed.Load() }

// Release ends the use by the caller of Capture. The snapshot remains as long as a
// memory uses it. A second call does nothing.
func (s *Snapshot) Release() {
	if !s.released.Swap(true) {
		s.leave()
	}
}

// join adds a user. It returns false if there are no users any more.
func (s *Snapshot) join() bool {
	for {
		n := s.users.Load()
		if n == 0 {
			return false
		}
		if s.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// leave removes a user. After the last, the snapshot is freed.
func (s *Snapshot) leave() {
	if s.users.Add(-1) > 0 {
		return
	}
	if s.image != nil {
		_ = unix.Munmap(s.image) // fails only for what is not mapped
		usage.mapped.Add(-int64(s.size))
	}
	if s.file >= 0 {
		_ = unix.Close(s.file) // no data can be lost
	}
	usage.committed.Add(-s.committed.Swap(0))
}
