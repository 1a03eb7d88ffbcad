package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

func TestProcessorTimeIsThatOfAllThreads(t *testing.T) {
	t.Parallel()
	before, err := processorTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(30 * time.Millisecond); time.Now().Before(until); {
	}
	after, err := processorTime(os.Getpid())
	if err != nil || after-before < 5*time.Millisecond {
		t.Errorf("%s, %v", after-before, err)
	}
	if _, err := processorTime(1 << 22); err == nil {
		t.Error("there is no such process")
	}
}

func TestResidentMemory(t *testing.T) {
	t.Parallel()
	got, err := resident("Name:\tx y z\nVmRSS:\t     100 kB\nRssAnon:\t 60 kB\nRssFile:\t 30 kB\nRssShmem:\t 10 kB\n")
	if err != nil || got["VmRSS"] != 100<<10 || got["RssAnon"] != 60<<10 {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := resident("VmPeak:\t 9 kB\nVmRSS:\t 9 kB\n"); err == nil {
		t.Errorf("not all is told: %v", got)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := resident(string(status)); err != nil || got["VmRSS"] < 1<<20 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestHierarchiesOfBothVersions(t *testing.T) {
	t.Parallel()
	got := cgroupMounts("proc /proc proc rw 0 0\ncgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n")
	if !slices.Equal(got, []string{"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/unified"}) {
		t.Errorf("got %q", got)
	}
}

func TestACgroupHasTheProcessorsOfItsHierarchy(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "cpuset.cpus"), []byte("0-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// The kernel makes this file with the cgroup; here writing makes it.
	if err := makeCgroup(root, "bench"); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(root, "bench", "cpuset.cpus")); err != nil || string(text) != "0-1\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestACgroupIsLeftOnlyBelowItsRoot(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "podlike-root")
	if got, err := podCgroup(root); got != "" || err != nil {
		t.Errorf("nothing is there: %q, %v", got, err)
	}
	pod := filepath.Join(root, "besteffort", "pod1")
	if err := os.MkdirAll(pod, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := podCgroup(root); got != pod || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if err := removeTree(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(root); err == nil {
		t.Error("it is still there")
	}
}

func TestAnEntryOfADirectoryIsLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing")
	if got, err := leftIn([]string{missing, dir}); got != "" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if got, err := leftIn([]string{missing, dir}); got != filepath.Join(dir, "link") || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestSoManyAtATime(t *testing.T) {
	t.Parallel()
	var now, most, done atomic.Int64
	err := parallel(3, make([]int, 20), func(int) error {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer now.Add(-1)
		done.Add(1)
		return nil
	})
	if err != nil || done.Load() != 20 || most.Load() > 3 {
		t.Errorf("%d done, %d at a time, %v", done.Load(), most.Load(), err)
	}
	broken := errors.New("broken")
	if err := parallel(2, []int{1, 2}, func(int) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
