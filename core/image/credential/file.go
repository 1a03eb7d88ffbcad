package credential

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"syscall"
)

// maxFile is the maximum size of a credentials file, in bytes.
const maxFile = 1 << 20

// file is a file that may change at any time.
type file[T any] struct {
	key, path string
	parse     func([]byte) (T, error)
	log       *slog.Logger

	mu    sync.Mutex
	known bool
	data  []byte // the content that was parsed last
	value T      // from the last usable content
	fault string // why the file cannot be used, "" if it can
	open  bool   // users other than the owner may read it
}

// get returns the value of the file or, if it cannot be read or used now, its last value. The error
// names the file and its key.
func (f *file[T]) get() (T, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	data, mode, err := readFile(f.path)
	if err == nil && f.known && f.fault == "" && bytes.Equal(data, f.data) {
		return f.value, nil
	}
	var value T
	if err == nil {
		value, err = f.parse(data)
	}
	if err != nil {
		err = fmt.Errorf("runtime.%s: %s cannot be used: %w", f.key, f.path, pathless(err))
		if f.fault != err.Error() {
			f.log.Warn("credentials of registries cannot be read; those before stay in force", "err", err)
		}
		f.fault = err.Error()
		return f.value, err
	}
	open := othersRead(mode)
	if open && !f.open {
		f.log.Warn("others than its owner may read a file of registry credentials; chmod 600 it", "path", f.path, "mode", mode.Perm().String())
	}
	f.known, f.data, f.value, f.fault, f.open = true, data, value, "", open
	return f.value, nil
}

func othersRead(mode os.FileMode) bool { return mode.Perm()&0o077 != 0 }

// readFile reads a regular file. It does not block on a file of another kind.
func readFile(path string) ([]byte, os.FileMode, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, 0, err
	case !info.Mode().IsRegular():
		return nil, 0, errors.New("it is no regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("it is longer than %d bytes", maxFile)
	}
	return data, info.Mode(), err
}

// pathless removes the path from an error, because the caller adds it.
func pathless(err error) error {
	if f, ok := errors.AsType[*os.PathError](err); ok {
		return f.Err
	}
	return err
}
