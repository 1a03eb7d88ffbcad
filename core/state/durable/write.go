package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tempPrefix starts the names of files that are being written; Open removes
// what a crash has left of them.
const tempPrefix = ".tmp-"

// WriteFile replaces the file name in dir by data, mode 0600. When it returns
// nil the content is on the disk. Whenever it is cut short, by an error, a
// crash or a power cut, the file holds the old content or the new.
func WriteFile(dir, name string, data []byte) error {
	return writeFile(kernel{}, dir, name, data)
}

// filesystem is the steps of a durable write, of which tests make each fail.
type filesystem interface {
	// create makes and opens a file of mode 0600 with a new name.
	create(dir, pattern string) (file, error)
	// appendTo opens a file of mode 0600 at its end, and makes it if it is missing.
	appendTo(path string) (file, error)
	rename(from, to string) error
	// syncDir puts the entries of a directory on the disk.
	syncDir(dir string) error
	remove(path string) error
}

type file interface {
	Name() string
	Write(data []byte) (int, error)
	Sync() error
	Close() error
}

func writeFile(fs filesystem, dir, name string, data []byte) error {
	if err := replaceFile(fs, dir, name, data); err != nil {
		return err
	}
	if err := fs.syncDir(dir); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(dir, name), err)
	}
	return nil
}

// replaceFile does all of writeFile but the last step: the content is on the
// disk, and under its name once the directory is.
func replaceFile(fs filesystem, dir, name string, data []byte) error {
	temp, err := fs.create(dir, tempPrefix+name+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(dir, name), err)
	}
	_, err = temp.Write(data)
	if err == nil {
		err = temp.Sync()
	}
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = fs.rename(temp.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		err = errors.Join(err, fs.remove(temp.Name()))
		return fmt.Errorf("write %s: %w", filepath.Join(dir, name), err)
	}
	return nil
}

// removeFile removes a file durably; one that does not exist is removed.
func removeFile(fs filesystem, dir, name string) error {
	err := fs.remove(filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = fs.syncDir(dir)
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", filepath.Join(dir, name), err)
	}
	return nil
}

// removeTemps removes what crashes left of files being written in dir.
func removeTemps(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		// A write makes no directory of such a name.
		if !strings.HasPrefix(entry.Name(), tempPrefix) || entry.IsDir() {
			continue
		}
		if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

type kernel struct{}

func (kernel) create(dir, pattern string) (file, error) { return os.CreateTemp(dir, pattern) }
func (kernel) rename(from, to string) error             { return os.Rename(from, to) }
func (kernel) remove(path string) error                 { return os.Remove(path) }

func (kernel) syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
