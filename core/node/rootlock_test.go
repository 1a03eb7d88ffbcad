package node

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func TestLockRoot_oneAgentAtATime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/locks"
	first, err := LockRoot(dir, "/wardlet")
	if err != nil {
		t.Fatal(err)
	}
	_, err = LockRoot(dir, "/wardlet")
	if !errors.Is(err, ErrRootTaken) {
		t.Fatalf("the second lock: %v", err)
	}
	if want := fmt.Sprintf("cgroup root /wardlet: another agent uses it, process %d: stop that one, or name another cgroup_root", os.Getpid()); err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
	other, err := LockRoot(dir, "/other/wardlet")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(other.Close(), first.Close()); err != nil {
		t.Fatal(err)
	}
	// A process that another test starts holds all open files for a moment, also this lock.
	again, err := LockRoot(dir, "/wardlet")
	for range 500 {
		if !errors.Is(err, ErrRootTaken) {
			break
		}
		time.Sleep(10 * time.Millisecond)
		again, err = LockRoot(dir, "/wardlet")
	}
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

func TestLockRoot_whereItCannotBe(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := LockRoot(file, "/wardlet")
	if err == nil || errors.Is(err, ErrRootTaken) || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("error %v", err)
	}
}
