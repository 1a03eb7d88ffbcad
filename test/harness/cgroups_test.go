package harness

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRemoveCgroup(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "wardlet-demo-1")
	if err := removeCgroup(t.Context(), root); err != nil {
		t.Errorf("what is not there: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(root, "besteffort", "pod1"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "burstable"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := removeCgroup(t.Context(), root); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(root); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestACgroupThatIsBusyIsTriedAgainUntilTheTimeIsOver(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	// A file prevents the removal of its directory, as a process does with its cgroup.
	busy := filepath.Join(root, "busy")
	if err := os.WriteFile(busy, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := removeCgroup(ctx, root); err == nil || !strings.Contains(err.Error(), root) {
		t.Errorf("error is %v, want one that names %s", err, root)
	}
	freed := make(chan error)
	go func() { freed <- os.Remove(busy) }()
	if err := removeCgroup(t.Context(), root); err != nil {
		t.Error(err)
	}
	if err := <-freed; err != nil {
		t.Error(err)
	}
}

func TestDirectoriesComeOuterOnesFirst(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "root")
	inner := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := directories(root)
	if want := []string{root, filepath.Join(root, "a"), inner}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := directories(filepath.Join(root, "none")); err != nil || got != nil {
		t.Errorf("of none: %q, %v", got, err)
	}
}
