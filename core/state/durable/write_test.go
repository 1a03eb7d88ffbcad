package state

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// disk is a model of a file system with a cache: what is not synced may or
// may not be there after a power cut.
type disk struct {
	mu sync.Mutex
	// cached and stored are the directory entries, as seen and as synced.
	cached, stored map[string]*inode
	// step counts the steps done, crashAt is the step at which all stops,
	// failAt the one that fails alone; 0 is none.
	step, crashAt, failAt int
	// done lists the steps' names.
	done []string
}

type inode struct {
	disk           *disk
	path           string
	cached, stored string
}

var errStep = errors.New("no space left on device")

func newDisk(content string) *disk {
	d := &disk{}
	d.cached = map[string]*inode{"dir/file": {disk: d, cached: content, stored: content}}
	d.stored = maps.Clone(d.cached)
	return d
}

// do runs a step, unless it is the one that fails or after the crash; always
// is done even then.
func (d *disk) do(name string, step func(), always ...func()) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.step++
	d.done = append(d.done, name)
	for _, f := range always {
		f()
	}
	if d.step == d.failAt || d.crashAt > 0 && d.step >= d.crashAt {
		return fmt.Errorf("%s: %w", name, errStep)
	}
	step()
	return nil
}

func (d *disk) create(dir, pattern string) (file, error) {
	f := &inode{disk: d, path: filepath.Join(dir, strings.Replace(pattern, "*", "1", 1))}
	return f, d.do("create", func() { d.cached[f.path] = f })
}

func (d *disk) rename(from, to string) error {
	return d.do("rename", func() {
		d.cached[to] = d.cached[from]
		delete(d.cached, from)
	})
}

func (d *disk) syncDir(string) error {
	return d.do("syncDir", func() { d.stored = maps.Clone(d.cached) })
}

func (d *disk) remove(path string) error {
	return d.do("remove", func() { delete(d.cached, path) })
}

func (f *inode) Name() string { return f.path }
func (f *inode) Close() error { return f.disk.do("close", func() {}) }
func (f *inode) Sync() error  { return f.disk.do("sync", func() { f.stored = f.cached }) }

func (f *inode) Write(data []byte) (int, error) {
	half := len(data) / 2
	return len(data), f.disk.do("write", func() { f.cached += string(data[half:]) }, func() { f.cached += string(data[:half]) })
}

// missing is what a file holds that is not there.
const missing = "(missing)"

// afterPowerCut returns all that may be in a file then.
func (d *disk) afterPowerCut(path string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []string
	for _, entries := range []map[string]*inode{d.cached, d.stored} {
		f, ok := entries[path]
		if !ok {
			all = append(all, missing)
			continue
		}
		all = append(all, f.cached, f.stored)
	}
	return all
}

const (
	oldContent = "the old content"
	newContent = "the new content, which is longer"
)

// steps are those of a write, of which each is a crash point.
var steps = []string{"create", "write", "sync", "close", "rename", "syncDir"}

func TestAWriteIsOnTheDiskWhenItReturns(t *testing.T) {
	t.Parallel()
	d := newDisk(oldContent)
	check(t, writeFile(d, "dir", "file", []byte(newContent)))
	if !slices.Equal(d.done, steps) {
		t.Errorf("steps %v", d.done)
	}
	for _, content := range d.afterPowerCut("dir/file") {
		if content != newContent {
			t.Errorf("after a power cut: %q", content)
		}
	}
}

func TestAfterACrashAtAnyStepTheFileIsOldOrNew(t *testing.T) {
	t.Parallel()
	for i, name := range steps {
		d := newDisk(oldContent)
		d.crashAt = i + 1
		if err := writeFile(d, "dir", "file", []byte(newContent)); err == nil {
			t.Errorf("crash at %s: no error", name)
		}
		for _, content := range d.afterPowerCut("dir/file") {
			if content != oldContent && content != newContent {
				t.Errorf("crash at %s: %q", name, content)
			}
		}
	}
}

func TestAStepThatFailsLeavesNoTemporaryFile(t *testing.T) {
	t.Parallel()
	for i, name := range steps {
		d := newDisk(oldContent)
		d.failAt = i + 1
		err := writeFile(d, "dir", "file", []byte(newContent))
		if !errors.Is(err, errStep) || !strings.Contains(err.Error(), "write dir/file: "+name) {
			t.Errorf("%s failed: %v", name, err)
		}
		if len(d.cached) != 1 {
			t.Errorf("%s failed: left %v", name, slices.Collect(maps.Keys(d.cached)))
		}
		if got := d.cached["dir/file"].cached; got != oldContent && got != newContent {
			t.Errorf("%s failed: %q", name, got)
		}
	}
}

func TestARemovalIsOnTheDiskWhenItReturns(t *testing.T) {
	t.Parallel()
	d := newDisk(oldContent)
	check(t, removeFile(d, "dir", "file"))
	for _, content := range d.afterPowerCut("dir/file") {
		if content != missing {
			t.Errorf("after a power cut: %q", content)
		}
	}
}

func TestWriteFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, content := range []string{"one", "two"} {
		check(t, WriteFile(dir, "file", []byte(content)))
		data, err := os.ReadFile(path)
		if err != nil || string(data) != content {
			t.Errorf("%q, %v", data, err)
		}
	}
	info, err := os.Stat(path)
	check(t, err)
	if info.Mode() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	entries, err := os.ReadDir(dir)
	check(t, err)
	if len(entries) != 1 {
		t.Errorf("left: %v", entries)
	}
	if err := WriteFile(filepath.Join(dir, "missing"), "file", nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}
