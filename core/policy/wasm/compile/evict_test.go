package compile

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// kept returns which of small(0) to small(9) are cached.
func (f *fixture) kept() (kept []int32) {
	for n := range int32(10) {
		if f.cache.Ready(digestOf(small(n))) {
			kept = append(kept, n)
		}
	}
	return kept
}

// entrySize returns the size of a small module's entry, and a little more, because entries of
// other small modules may be larger.
func entrySize(t *testing.T) int64 {
	t.Helper()
	f := library(t, t.TempDir()+"/cache")
	acquire(t, f, small(0)).Release()
	return sizeOf(f.cache.primary.modulePath(digestOf(small(0)))) + 20
}

func TestWhatWasUsedLeastRecentlyGoesFirst(t *testing.T) {
	t.Parallel()
	most := 4 * entrySize(t)
	dir := t.TempDir() + "/cache"
	f := library(t, dir, func(o *Options) { o.MaxBytes = most })
	for n := range int32(4) {
		f.pass(time.Minute)
		acquire(t, f, small(n)).Release()
	}
	f.pass(time.Minute)
	acquire(t, f, small(0)).Release() // used a second time
	f.pass(time.Minute)
	acquire(t, f, small(4)).Release()
	if kept := f.kept(); !slices.Equal(kept, []int32{0, 2, 3, 4}) {
		t.Errorf("kept %v", kept)
	}
	// A module in use stays, whichever library uses it.
	other := library(t, dir)
	inUse := acquire(t, other, small(2))
	held := acquire(t, f, small(3))
	check(t, os.Chtimes(filepath.Join(f.cache.primary.modulePath(inUse.Digest()), indexName), testTime, testTime))
	check(t, os.Chtimes(filepath.Join(f.cache.primary.modulePath(held.Digest()), indexName), testTime, testTime))
	for n := int32(5); n < 8; n++ {
		f.pass(time.Minute)
		acquire(t, f, small(n)).Release()
	}
	if kept := f.kept(); !slices.Equal(kept, []int32{2, 3, 6, 7}) {
		t.Errorf("kept %v", kept)
	}
	answers(t, f, held, 3)
	inUse.Release()
	held.Release()
	f.pass(time.Minute)
	smaller := library(t, dir, func(o *Options) { o.MaxBytes = most / 2 })
	if kept := smaller.kept(); !slices.Equal(kept, []int32{6, 7}) {
		t.Errorf("kept after Open %v", kept)
	}
	f.isClean(t)
}

func TestAModuleLargerThanTheBoundIsLoadedAllTheSame(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache", func(o *Options) { o.MaxBytes = 1 })
	first, second := acquire(t, f, small(1)), acquire(t, f, small(2))
	answers(t, f, first, 1)
	answers(t, f, second, 2)
	first.Release()
	second.Release()
	acquire(t, f, small(3)).Release()
	if kept := f.kept(); !slices.Equal(kept, []int32{3}) {
		t.Errorf("kept %v", kept)
	}
}

func TestWhatIsNotTheAgentsIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/cache"
	f := library(t, dir)
	acquire(t, f, small(1)).Release()
	modules := filepath.Join(dir, modulesDir)
	elsewhere := t.TempDir()
	check(t, errors.Join(
		os.WriteFile(elsewhere+"/file", nil, 0o600),
		os.WriteFile(modules+"/README", make([]byte, 4096), 0o600),
		os.Symlink(elsewhere, modules+"/link"),
		mkfifo(modules+"/pipe"),
		os.MkdirAll(modules+"/wazero-v1.0.0-amd64-linux/x", 0o700),
		mkfifo(dir+"/"+workDir+"/pipe"),
		os.WriteFile(dir+"/"+refusedDir+"/README", nil, 0o600),
		// These look like the agent's entries, but cannot be loaded.
		os.Symlink(elsewhere, filepath.Join(modules, Digest{1}.String())),
		mkfifo(filepath.Join(modules, Digest{2}.String())),
		os.MkdirAll(filepath.Join(modules, Digest{3}.String(), "a", "b"), 0o700),
	))
	next := library(t, dir, func(o *Options) { o.MaxBytes = 1 })
	acquire(t, next, small(2)).Release()
	entries, err := os.ReadDir(modules)
	check(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := []string{digestOf(small(2)).String(), "README", "link", "pipe", "wazero-v1.0.0-amd64-linux"}
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("there are %v\nwant %v", names, want)
	}
	if _, err := os.Stat(elsewhere + "/file"); err != nil {
		t.Errorf("a link was followed: %v", err)
	}
	if next.out.String() != "" {
		t.Errorf("log %s", next.out)
	}
}
