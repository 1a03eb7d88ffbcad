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

func TestACgroupHasTheProcessorsOfItsHierarchy(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "cpuset.cpus"), []byte("0-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// The kernel creates this file with the cgroup; here the write creates it.
	if err := makeCgroup(root, "bench"); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(root, "bench", "cpuset.cpus")); err != nil || string(text) != "0-1\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestACgroupIsLeftOnlyBelowItsRoot(t *testing.T) {
	t.Parallel()
	const root = "podlike-root"
	if got := podCgroups(nil, root); len(got) > 0 {
		t.Errorf("nothing is there: %q", got)
	}
	all := []string{"/sys/cpu/" + root, "/sys/cpu/" + root + "/besteffort", "/sys/cpu/" + root + "/besteffort/pod1"}
	if got := podCgroups(slices.Clone(all), root); !slices.Equal(got, all[2:]) {
		t.Errorf("%q", got)
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
