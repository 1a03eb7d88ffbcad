package runtime

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// openRegular opens a file that other processes may have created or replaced. It does not follow a
// symlink in the last path element, does not open devices, because opening some of them has
// effects, and does not wait for the other end of a pipe.
func openRegular(path string, flag int) (*os.File, fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err == nil {
		err = checkRegular(path, info)
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil { // the file may have been replaced
		err = checkRegular(path, info)
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, nil, err
	}
	return f, info, nil
}

// errNotRegular is the error for a file that is not a regular file.
var errNotRegular = errors.New("is not a regular file")

func checkRegular(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s %w, its mode is %v", path, errNotRegular, info.Mode())
	}
	return nil
}

// syncFile makes a file contain content, and writes it only if it differs. Containers may write to
// the file, so at most len(content) bytes of it are read.
func syncFile(file string, content []byte) error {
	f, info, err := openRegular(file, os.O_RDWR)
	if errors.Is(err, errNotRegular) {
		return fmt.Errorf("%w; remove it", err)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return createFile(file, content)
	}
	if err != nil {
		return err
	}
	if old := make([]byte, len(content)); info.Size() == int64(len(content)) {
		if _, err := io.ReadFull(f, old); err == nil && bytes.Equal(old, content) {
			return f.Close()
		}
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteAt(content, 0)
	}
	return errors.Join(err, f.Close())
}

// createFile writes a new file, which the pod's users must be able to read.
func createFile(file string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// readTail reads at most n bytes from the end of a regular file.
func readTail(path string, n int64) ([]byte, error) {
	f, info, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.Seek(max(info.Size()-n, 0), io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, n))
}

// removeFile removes a file. A file that does not exist counts as removed.
func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func isSymlink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}
