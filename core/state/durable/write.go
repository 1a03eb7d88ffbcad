package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// TempPrefix starts the names of files that are being written.
const TempPrefix = ".tmp-"

// WriteFile replaces the file name in dir by data, mode 0600. When it returns
// nil the content is on the disk. Whenever it is cut short, by an error, a
// crash or a power cut, the file holds the old content or the new.
func WriteFile(dir, name string, data []byte) error {
	return Write(OS{}, dir, name, data)
}

// Filesystem is the steps of a durable write, of which tests make each fail.
type Filesystem interface {
	// Create makes and opens a file of mode 0600 with a new name.
	Create(dir, pattern string) (File, error)
	// AppendTo opens a file of mode 0600 at its end, and makes it if it is missing.
	AppendTo(path string) (File, error)
	Rename(from, to string) error
	// SyncDir puts the entries of a directory on the disk.
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

// Write is WriteFile with a file system of the caller.
func Write(fs Filesystem, dir, name string, data []byte) error {
	if err := Replace(fs, dir, name, data); err != nil {
		return err
	}
	if err := fs.SyncDir(dir); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(dir, name), err)
	}
	return nil
}

// Replace does all of Write but the last step: the content is on the
// disk, and under its name once the directory is.
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

// Remove removes a file durably; one that does not exist is removed.
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

// RemoveTemps removes what crashes left of files being written in dir.
func RemoveTemps(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		// A write makes no directory of such a name.
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

func (OS) Create(dir, pattern string) (File, error) { return os.CreateTemp(dir, pattern) }
func (OS) Rename(from, to string) error             { return os.Rename(from, to) }
func (OS) Remove(path string) error                 { return os.Remove(path) }

func (OS) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// AppendTo opens a file for appending, and makes it where it is missing.
func (OS) AppendTo(path string) (File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
}
