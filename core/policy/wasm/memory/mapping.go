package memory

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	writable = unix.PROT_READ | unix.PROT_WRITE
	ownPages = unix.MAP_PRIVATE | unix.MAP_NORESERVE
)

// anonymous maps size bytes of zeros.
func anonymous(size int) ([]byte, error) {
	all, err := unix.Mmap(-1, 0, size, writable, ownPages|unix.MAP_ANONYMOUS)
	if err == nil {
		smallPages(all)
	}
	return all, err
}

// smallPages asks the kernel not to use huge pages: with them the first byte
// written may cost 2 MiB. It is only advice: kernels without huge pages refuse it.
func smallPages(memory []byte) { _ = unix.Madvise(memory, unix.MADV_NOHUGEPAGE) }

// lay maps a file over memory, copy on write.
func lay(memory []byte, protection, file int) error {
	const flags = ownPages | unix.MAP_FIXED
	_, err := unix.MmapPtr(file, 0, unsafe.Pointer(&memory[0]), uintptr(len(memory)), protection, flags)
	if err != nil {
		return fmt.Errorf("map a file in memory: %w", err)
	}
	smallPages(memory)
	return nil
}
