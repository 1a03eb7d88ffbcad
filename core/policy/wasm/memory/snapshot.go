package memory

import (
	"fmt"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Snapshot is what a memory held when it was captured. It never changes. It is
// kept until its last user lets go of it: the caller of Capture, and each
// memory that begins from it. Any goroutine may use it.
type Snapshot struct {
	size int
	// image is the whole content. It can only be read.
	image []byte
	// file holds the content. It is -1 where the system has no files in memory
	// (image is plain memory then), and where there is no content.
	file      int
	committed atomic.Int64

	users    atomic.Int64
	released atomic.Bool
}

// newSnapshot remembers what memory holds. It has one user.
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
	// A private mapping that cannot be written reads the pages of the file as a
	// shared one does; kernels before 6.7 refuse to share a sealed file.
	return lay(s.image, unix.PROT_READ, s.file)
}

// measure counts anew what the content takes: zeros that were left out of the
// file come into it when an instance touches them first.
func (s *Snapshot) measure() {
	now := int64(s.size)
	if s.file >= 0 {
		const block = 512 // whatever the file system's own is
		var stat unix.Stat_t
		if unix.Fstat(s.file, &stat) != nil {
			return
		}
		now = stat.Blocks * block
	}
	usage.committed.Add(now - s.committed.Swap(now))
}

// Size is how many bytes a memory must have to adopt the snapshot.
func (s *Snapshot) Size() int { return s.size }

// Committed is how many bytes of memory hold the content, as last counted: it
// grows, up to Size, as instances touch pages that held only zeros.
func (s *Snapshot) Committed() int64 { return s.committed.Load() }

// Release lets the caller of Capture let go of the snapshot. It stays as long
// as a memory uses it. To release it again does nothing.
func (s *Snapshot) Release() {
	if !s.released.Swap(true) {
		s.leave()
	}
}

// join counts one more user. It reports false if the last one has let go.
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

// leave counts one user less. After the last nothing is left of the snapshot.
func (s *Snapshot) leave() {
	if s.users.Add(-1) > 0 {
		return
	}
	if s.image != nil {
		_ = unix.Munmap(s.image) // fails only for what is not mapped
		usage.mapped.Add(-int64(s.size))
	}
	if s.file >= 0 {
		_ = unix.Close(s.file) // nothing is written to it that could be lost
	}
	usage.committed.Add(-s.committed.Swap(0))
}
