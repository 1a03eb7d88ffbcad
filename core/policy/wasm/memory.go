package wasm

import (
	"bytes"
	"fmt"
	"unsafe"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// pageSize is a page of linear memory, in bytes.
const pageSize = 64 << 10

const protection = unix.PROT_READ | unix.PROT_WRITE

// allocator gives linear memories that lie outside of Go's heap: the garbage
// collector need not count them, untouched pages cost nothing, and a memory is
// the system's again when its instance is closed. It serves one instance.
type allocator struct{ made linearMemory }

// Allocate maps the memory for the most it may grow to.
func (a *allocator) Allocate(_, most uint64) experimental.LinearMemory {
	const flags = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_NORESERVE
	all, err := unix.Mmap(-1, 0, int(max(most, 1)), protection, flags)
	if err != nil {
		stop(fmt.Errorf("map %d bytes of linear memory: %w", most, err))
	}
	smallPages(all)
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

// smallPages asks for no huge pages: with them the first byte written may cost
// 2 MiB. It is advice only: kernels that have none refuse it.
func smallPages(memory []byte) { _ = unix.Madvise(memory, unix.MADV_NOHUGEPAGE) }

// freeze remembers the first size bytes as they are now, in a file without a
// name that is mapped in their place: what is written from now on goes to
// copies of its pages, which thaw drops.
func (m *linearMemory) freeze(size int) error {
	if size == 0 {
		return nil
	}
	file, err := unix.MemfdCreate("wardlet-plugin", unix.MFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("make a file in memory: %w", err)
	}
	defer unix.Close(file) // the mapping keeps the content
	if err := unix.Ftruncate(file, int64(size)); err != nil {
		return fmt.Errorf("size a file in memory: %w", err)
	}
	if err := writeBlocks(file, m.all[:size]); err != nil {
		return fmt.Errorf("write a file in memory: %w", err)
	}
	const flags = unix.MAP_PRIVATE | unix.MAP_FIXED | unix.MAP_NORESERVE
	if _, err := unix.MmapPtr(file, 0, unsafe.Pointer(&m.all[0]), uintptr(size), protection, flags); err != nil {
		return fmt.Errorf("map a file in memory: %w", err)
	}
	smallPages(m.all[:size])
	return nil
}

// writeBlocks writes memory to a file that holds zeros.
func writeBlocks(file int, memory []byte) error {
	const size = 4 << 10
	var zeros [size]byte
	for at := 0; at < len(memory); at += size {
		block := memory[at : at+size]
		if bytes.Equal(block, zeros[:]) {
			continue
		}
		for n := 0; n < size; {
			written, err := unix.Pwrite(file, block[n:], int64(at+n))
			if err != nil {
				return err
			}
			n += written
		}
	}
	return nil
}

// thaw puts the first size bytes back to what freeze remembered.
func (m *linearMemory) thaw(size int) error {
	if size == 0 {
		return nil
	}
	return unix.Madvise(m.all[:size], unix.MADV_DONTNEED)
}
