package durable

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// MaxSize is the greatest size of a file of the directory, in bytes. It is several times the size
// that the greatest manifest needs.
const MaxSize = 64 << 20

// OddFileError is the error for a file that the agent cannot have written.
type OddFileError struct{ Reason string }

func (e *OddFileError) Error() string { return e.Reason }

// Read reads a file of at most MaxSize bytes. It follows no link and never blocks on a file that is
// not regular.
func Read(path string) ([]byte, error) {
	// Opening a device can have side effects.
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if err := ordinary(info); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if err := ordinary(info); err != nil {
		return nil, err
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, err
	}
	return data, nil
}

func ordinary(info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return &OddFileError{fmt.Sprintf("it is not a regular file, its mode is %v", info.Mode())}
	case info.Size() > MaxSize:
		return &OddFileError{fmt.Sprintf("it has %d bytes, the agent writes no more than %d", info.Size(), MaxSize)}
	}
	return nil
}
