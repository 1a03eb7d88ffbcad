// Package durabletest is a model of a disk for tests of durable writes.
package durabletest

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"sync"

	"github.com/wardlet/wardlet/core/state/durable"
)

// Disk is a model of a file system with a cache: unsynced data may or may not be there after a
// power cut. It implements durable.Filesystem. Its fields are read and set only between calls.
type Disk struct {
	mu sync.Mutex
	// Cached and Stored are the directory entries, as in the cache and as synced.
	Cached, Stored map[string]*File
	// Step is the number of steps so far. CrashAt is the step at which all further steps fail.
	// FailAt is the only step that fails. 0 means none.
	Step, CrashAt, FailAt int
	// Done lists the steps' names.
	Done []string
}

// File is a file of a Disk: its path when it was opened, and its content, as in the cache and as
// synced.
type File struct {
	disk           *Disk
	path           string
	Cached, Stored string
}

// ErrStep is the error of a failed step, and of each step after the crash.
var ErrStep = errors.New("no space left on device")

// NewDisk returns a disk with files of some content, by path.
func NewDisk(files map[string]string) *Disk {
	d := &Disk{Cached: map[string]*File{}}
	for path, content := range files {
		d.Cached[path] = &File{disk: d, Cached: content, Stored: content}
	}
	d.Stored = maps.Clone(d.Cached)
	return d
}

// do runs a step, unless the step is to fail or comes after the crash. It always runs the functions
// in always.
func (d *Disk) do(name string, step func(), always ...func()) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Step++
	d.Done = append(d.Done, name)
	for _, f := range always {
		f()
	}
	if d.Step == d.FailAt || d.CrashAt > 0 && d.Step >= d.CrashAt {
		return fmt.Errorf("%s: %w", name, ErrStep)
	}
	step()
	return nil
}

// Create implements durable.Filesystem.
func (d *Disk) Create(dir, pattern string) (durable.File, error) {
	f := &File{disk: d, path: filepath.Join(dir, strings.Replace(pattern, "*", "1", 1))}
	return f, d.do("create", func() { d.Cached[f.path] = f })
}

// AppendTo implements durable.Filesystem.
func (d *Disk) AppendTo(path string) (durable.File, error) {
	d.mu.Lock()
	f := d.Cached[path]
	d.mu.Unlock()
	if f == nil {
		f = &File{disk: d, path: path}
	}
	return f, d.do("open", func() { d.Cached[path] = f })
}

// Rename implements durable.Filesystem.
func (d *Disk) Rename(from, to string) error {
	return d.do("rename", func() {
		d.Cached[to] = d.Cached[from]
		delete(d.Cached, from)
	})
}

// SyncDir implements durable.Filesystem.
func (d *Disk) SyncDir(string) error {
	return d.do("syncDir", func() { d.Stored = maps.Clone(d.Cached) })
}

// Remove implements durable.Filesystem.
func (d *Disk) Remove(path string) error {
	return d.do("remove", func() { delete(d.Cached, path) })
}

// Name implements durable.File.
func (f *File) Name() string { return f.path }

// Close implements durable.File.
func (f *File) Close() error { return f.disk.do("close", func() {}) }

// Sync implements durable.File.
func (f *File) Sync() error { return f.disk.do("sync", func() { f.Stored = f.Cached }) }

// Write implements durable.File. A failed write writes the first half.
func (f *File) Write(data []byte) (int, error) {
	half := len(data) / 2
	return len(data), f.disk.do("write", func() { f.Cached += string(data[half:]) }, func() { f.Cached += string(data[:half]) })
}

// Missing is the content of a missing file.
const Missing = "(missing)"

// AfterPowerCut returns all contents that a file may have after a power cut.
func (d *Disk) AfterPowerCut(path string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []string
	for _, entries := range []map[string]*File{d.Cached, d.Stored} {
		f, ok := entries[path]
		if !ok {
			all = append(all, Missing)
			continue
		}
		all = append(all, f.Cached, f.Stored)
	}
	return all
}
