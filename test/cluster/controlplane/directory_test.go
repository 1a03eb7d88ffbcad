package controlplane

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestSweep: directories of processes that no longer exist are removed, those in use stay.
func TestSweep(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	used, lock, err := newDir()
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	left := filepath.Join(os.TempDir(), prefix+"left")
	other := filepath.Join(os.TempDir(), "other")
	for _, dir := range []string{left, other} {
		if err := os.MkdirAll(filepath.Join(dir, "etcd"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, lockName), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	next, lock, err := newDir()
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	for dir, stays := range map[string]bool{used: true, next: true, other: true, left: false} {
		if _, err := os.Stat(dir); (err == nil) != stays {
			t.Errorf("%s: %v, want it to stay: %v", dir, err, stays)
		}
	}
}

// TestNewDirAtOnce: tests that make their directories at the same time do not remove each other's.
func TestNewDirAtOnce(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			dir, lock, err := newDir()
			if err != nil {
				t.Error(err)
				return
			}
			defer lock.Close()
			if err := os.WriteFile(filepath.Join(dir, "sa.key"), nil, 0o600); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
