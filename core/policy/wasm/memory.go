package wasm

import (
	"fmt"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// pageSize is a page of linear memory, in bytes.
const pageSize = 64 << 10

// allocator gives linear memories that lie outside of Go's heap: the garbage
// collector need not count them, untouched pages cost nothing, and a memory is
// the system's again when its instance is closed. It serves one instance.
type allocator struct{ made linearMemory }

// Allocate maps the memory for the most it may grow to.
func (a *allocator) Allocate(_, most uint64) experimental.LinearMemory {
	const protection, flags = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_NORESERVE
	all, err := unix.Mmap(-1, 0, int(max(most, 1)), protection, flags)
	if err != nil {
		stop(fmt.Errorf("map %d bytes of linear memory: %w", most, err))
	}
	// Without this the first byte written may cost 2 MiB. It is advice only:
	// kernels without huge pages refuse it.
	_ = unix.Madvise(all, unix.MADV_NOHUGEPAGE)
	a.made.all = all
	return &a.made
}

type linearMemory struct{ all []byte }

// Reallocate gives the first size bytes, nil if that is more than the maximum.
func (m *linearMemory) Reallocate(size uint64) []byte {
	if size > uint64(len(m.all)) {
		return nil
	}
	return m.all[:size:size]
}

// Free unmaps the memory, if it is mapped. Nothing may touch it any more.
func (m *linearMemory) Free() {
	if m.all != nil {
		_ = unix.Munmap(m.all) // fails only for what was never mapped
		m.all = nil
	}
}
