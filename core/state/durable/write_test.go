package durable_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/state/durable"
	"github.com/wardlet/wardlet/core/state/durable/durabletest"
)

const (
	oldContent = "the old content"
	newContent = "the new content, which is longer"
)

// steps are the steps of a write. A crash may happen at each of them.
var steps = []string{"create", "write", "sync", "close", "rename", "syncDir"}

func TestAWriteIsOnTheDiskWhenItReturns(t *testing.T) {
	t.Parallel()
	d := durabletest.NewDisk(map[string]string{"dir/file": oldContent})
	check(t, durable.Write(d, "dir", "file", []byte(newContent)))
	if !slices.Equal(d.Done, steps) {
		t.Errorf("steps %v", d.Done)
	}
	for _, content := range d.AfterPowerCut("dir/file") {
		if content != newContent {
			t.Errorf("after a power cut: %q", content)
		}
	}
}

func TestAfterACrashAtAnyStepTheFileIsOldOrNew(t *testing.T) {
	t.Parallel()
	for i, name := range steps {
		d := durabletest.NewDisk(map[string]string{"dir/file": oldContent})
		d.CrashAt = i + 1
		if err := durable.Write(d, "dir", "file", []byte(newContent)); err == nil {
			t.Errorf("crash at %s: no error", name)
		}
		for _, content := range d.AfterPowerCut("dir/file") {
			if content != oldContent && content != newContent {
				t.Errorf("crash at %s: %q", name, content)
			}
		}
	}
}

func TestAStepThatFailsLeavesNoTemporaryFile(t *testing.T) {
	t.Parallel()
	for i, name := range steps {
		d := durabletest.NewDisk(map[string]string{"dir/file": oldContent})
		d.FailAt = i + 1
		err := durable.Write(d, "dir", "file", []byte(newContent))
		if !errors.Is(err, durabletest.ErrStep) || !strings.Contains(err.Error(), "write dir/file: "+name) {
			t.Errorf("%s failed: %v", name, err)
		}
		if len(d.Cached) != 1 {
			t.Errorf("%s failed: left %v", name, slices.Collect(maps.Keys(d.Cached)))
		}
		if got := d.Cached["dir/file"].Cached; got != oldContent && got != newContent {
			t.Errorf("%s failed: %q", name, got)
		}
	}
}

func TestARemovalIsOnTheDiskWhenItReturns(t *testing.T) {
	t.Parallel()
	d := durabletest.NewDisk(map[string]string{"dir/file": oldContent})
	check(t, durable.Remove(d, "dir", "file"))
	for _, content := range d.AfterPowerCut("dir/file") {
		if content != durabletest.Missing {
			t.Errorf("after a power cut: %q", content)
		}
	}
}

func TestWriteFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, content := range []string{"one", "two"} {
		check(t, durable.WriteFile(dir, "file", []byte(content)))
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
	if err := durable.WriteFile(filepath.Join(dir, "missing"), "file", nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
