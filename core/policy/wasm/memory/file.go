package memory

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// newFile makes an unnamed file in memory.
func newFile() (int, error) {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	file, err := unix.MemfdCreate("wardlet-plugin", flags|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) { // Linux before 6.3 has no such flag
		file, err = unix.MemfdCreate("wardlet-plugin", flags)
	}
	if err != nil {
		return -1, fmt.Errorf("make a file in memory: %w", err)
	}
	return file, nil
}

// fill writes the content of memory to an empty file. It leaves out pages that hold
// only zeros: such pages use no memory until they are read or written.
func fill(file int, memory []byte) error {
	if err := unix.Ftruncate(file, int64(len(memory))); err != nil {
		return fmt.Errorf("size a file in memory: %w", err)
	}
	zeros := make([]byte, pageSize)
	start := 0 // of what is to be written
	for at := 0; at < len(memory); at += pageSize {
		if !bytes.Equal(memory[at:at+pageSize], zeros) {
			continue
		}
		if err := writeRun(file, memory, start, at); err != nil {
			return err
		}
		start = at + pageSize
	}
	return writeRun(file, memory, start, len(memory))
}

// writeRun writes memory[start:end] to the same offset of a file.
func writeRun(file int, memory []byte, start, end int) error {
	for start < end {
		n, err := unix.Pwrite(file, memory[start:end], int64(start))
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("write a file in memory: %w", err)
		}
		start += max(n, 0)
	}
	return nil
}

// seal ensures that a file neither changes nor shrinks any more, so that its
// mappings remain valid.
func seal(file int) error {
	const seals = unix.F_SEAL_WRITE | unix.F_SEAL_GROW | unix.F_SEAL_SHRINK | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(uintptr(file), unix.F_ADD_SEALS, seals); err != nil {
		return fmt.Errorf("seal a file in memory: %w", err)
	}
	return nil
}
