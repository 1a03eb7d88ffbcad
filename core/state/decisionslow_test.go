package state

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// slowDisk takes its time for the files of one owner.
type slowDisk struct {
	kernel

	owner string
	// begun gets a value when it begins to flush a file, which is done when hang is
	// closed.
	begun chan struct{}
	hang  chan struct{}
}

type slowFile struct {
	file

	disk *slowDisk
}

func (d *slowDisk) appendTo(path string) (file, error) {
	f, err := d.kernel.appendTo(path)
	if err != nil || filepath.Base(filepath.Dir(path)) != d.owner {
		return f, err
	}
	return slowFile{f, d}, nil
}

func (f slowFile) Sync() error {
	f.disk.begun <- struct{}{}
	<-f.disk.hang
	return f.file.Sync()
}

// flushing has a log whose disk is at the first record of tenant a.
func flushing(t *testing.T, limits map[string]int64) (l *DecisionLog, d *slowDisk, done <-chan []error) {
	t.Helper()
	l, closeAll := decisions(t, filepath.Join(t.TempDir(), "state"), limits)
	t.Cleanup(closeAll)
	d = &slowDisk{owner: ownerOf("a"), begun: make(chan struct{}, 100), hang: make(chan struct{})}
	l.dir.fs = d
	came := make(chan []error, 1)
	go func() { came <- l.Append("a", []DecisionEntry{entry("slow", "one")}) }()
	<-d.begun
	return l, d, came
}

func TestNobodyWaitsForTheDiskOfOthersRecords(t *testing.T) {
	t.Parallel()
	l, d, done := flushing(t, map[string]int64{"": 1 << 20, "a": 1 << 20, "b": 1 << 20})
	appended(t, l, "", entry("fast", "two"))
	appended(t, l, "b", entry("fast", "three"))
	check(t, l.KeepFiles("a", map[string][]byte{digestOf([]byte("module")): []byte("module")}))
	select {
	case errs := <-done:
		t.Fatalf("what is not on the disk is said to be: %v", errs)
	default:
	}
	close(d.hang)
	if errs := <-done; errs[0] != nil {
		t.Error(errs[0])
	}
	if names := on(t, l); len(names) != 3 {
		t.Errorf("records of %v", names)
	}
}

func TestASegmentThatGoesWhileItIsFlushedIsNoFault(t *testing.T) {
	t.Parallel()
	l, d, done := flushing(t, map[string]int64{"": 1 << 20, "a": 1 << 20})
	l.makeRoom("a", 1<<20)
	close(d.hang)
	if errs := <-done; errs[0] != nil {
		t.Error(errs[0])
	}
	appended(t, l, "a", entry("next", "two"))
	left, err := os.ReadDir(filepath.Join(l.path(), ownerOf("a")))
	check(t, err)
	if names := on(t, l); len(left) != 1 || len(names) != 1 || !strings.Contains(names[0], "next") {
		t.Errorf("files %v, records of %v", left, names)
	}
}
