package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// TempPrefix is the prefix of the names of files that are being written.
const TempPrefix = ".tmp-"

// WriteFile replaces the file name in dir by data, with mode 0600. When it returns nil, the content
// is on the disk. If it is interrupted by an error, a crash or a power cut, the file has the old
// content or the new content.
func WriteFile(dir, name string, data []byte) error {
	return Write(OS{}, dir, name, data)
}

// Filesystem has the steps of a durable write. Tests make each of them fail.
type Filesystem interface {
	// Create makes and opens a file of mode 0600 with a new name.
	Create(dir, pattern string) (File, error)
	// AppendTo opens a file of mode 0600 at its end, and makes it if it is missing.
	AppendTo(path string) (File, error)
	Rename(from, to string) error
	// SyncDir writes the entries of a directory to the disk.
	SyncDir(dir string) error
	Remove(path string) error
}

// File is an open file of a Filesystem.
type File interface {
	Name() string
	Write(data []byte) (int, error)
	Sync() error
	Close() error
}

// Write is WriteFile with a file system that the caller passes.
func Write(fs Filesystem, dir, name string, data []byte) error {
	if err := Replace(fs, dir, name, data); err != nil {
		return err
	}
	if err := fs.SyncDir(dir); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(dir, name), err)
	}
	return nil
}

// Replace does all steps of Write except the last one: the content is on the disk, and is under its
// name once the directory is synced.
func Replace(fs Filesystem, dir, name string, data []byte) error {
	temp, err := fs.Create(dir, TempPrefix+name+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(dir, name), err)
	}
	_, err = temp.Write(data)
	if err == nil {
		err = temp.Sync()
	}
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = fs.Rename(temp.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		err = errors.Join(err, fs.Remove(temp.Name()))
		return fmt.Errorf("write %s: %w", filepath.Join(dir, name), err)
	}
	return nil
}

// Link makes path a symbolic link to target, and replaces a link that is there at once. When it
// returns nil, the link is on the disk.
func Link(target, path string) error {
	next := path + ".new"
	if err := os.Remove(next); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Symlink(target, next); err != nil {
		return err
	}
	if err := os.Rename(next, path); err != nil {
		return err
	}
	return OS{}.SyncDir(filepath.Dir(path))
}

// Remove removes a file durably. A missing file is no error.
func Remove(fs Filesystem, dir, name string) error {
	err := fs.Remove(filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = fs.SyncDir(dir)
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", filepath.Join(dir, name), err)
	}
	return nil
}

// RemoveTemps removes temporary files that crashes have left in dir.
func RemoveTemps(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		// A write never makes a directory with such a name.
		if !strings.HasPrefix(entry.Name(), TempPrefix) || entry.IsDir() {
			continue
		}
		if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// OS is the file system of the kernel.
type OS struct{}

// Create implements Filesystem.
func (OS) Create(dir, pattern string) (File, error) { return os.CreateTemp(dir, pattern) }

// Rename implements Filesystem.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove implements Filesystem.
func (OS) Remove(path string) error { return os.Remove(path) }

// SyncDir implements Filesystem.
func (OS) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// AppendTo opens a file for appending, and makes it if it is missing.
func (OS) AppendTo(path string) (File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
}
