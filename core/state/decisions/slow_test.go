package decisions

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/state/durable"
)

// slowDisk is slow for the log files of one owner, or for policy files whose digest begins with
// digest.
type slowDisk struct {
	durable.OS

	owner, digest string
	// begun gets a value when a slow flush begins. The flush ends when hang is closed or gets a
	// value.
	begun chan struct{}
	hang  chan struct{}
}

func (d *slowDisk) Create(dir, pattern string) (durable.File, error) {
	f, err := d.OS.Create(dir, pattern)
	if err != nil || d.digest == "" || !strings.HasPrefix(pattern, durable.TempPrefix+d.digest) {
		return f, err
	}
	return slowFile{f, d}, nil
}

type slowFile struct {
	durable.File

	disk *slowDisk
}

func (d *slowDisk) AppendTo(path string) (durable.File, error) {
	f, err := d.OS.AppendTo(path)
	if err != nil || filepath.Base(filepath.Dir(path)) != d.owner {
		return f, err
	}
	return slowFile{f, d}, nil
}

func (f slowFile) Sync() error {
	f.disk.begun <- struct{}{}
	<-f.disk.hang
	return f.File.Sync()
}

// flushing returns a log that is flushing the first record of tenant a.
func flushing(t *testing.T, limits map[string]int64) (l *Log, d *slowDisk, done <-chan []error) {
	t.Helper()
	l, closeAll := decisions(t, filepath.Join(t.TempDir(), "state"), limits)
	t.Cleanup(closeAll)
	d = &slowDisk{owner: OwnerDir("a"), begun: make(chan struct{}, 100), hang: make(chan struct{})}
	l.cfg.FS = d
	came := make(chan []error, 1)
	go func() { came <- l.Append("a", []Entry{entry("slow", "one")}) }()
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

// storing returns a log that is flushing a policy file of tenant a.
func storing(t *testing.T) (l *Log, d *slowDisk, digest string, done <-chan error) {
	t.Helper()
	l, closeAll := decisions(t, filepath.Join(t.TempDir(), "state"), map[string]int64{"": 1 << 20, "a": 1 << 20, "b": 1 << 20})
	t.Cleanup(closeAll)
	digest = digestOf([]byte("large"))
	d = &slowDisk{digest: digest, begun: make(chan struct{}, 100), hang: make(chan struct{})}
	l.cfg.FS = d
	came := make(chan error, 1)
	go func() { came <- l.KeepFiles("a", map[string][]byte{digest: []byte("large")}) }()
	<-d.begun
	return l, d, digest, came
}

func TestNobodyWaitsForTheDiskOfOthersPolicies(t *testing.T) {
	t.Parallel()
	l, d, _, done := storing(t)
	small := digestOf([]byte("small"))
	for _, tenant := range []string{"", "b"} {
		check(t, l.KeepFiles(tenant, map[string][]byte{small: []byte("small")}))
	}
	if data, err := l.PolicyFile(small); err != nil || string(data) != "small" {
		t.Errorf("%q, %v", data, err)
	}
	select {
	case err := <-done:
		t.Fatalf("what is not on the disk is said to be: %v", err)
	default:
	}
	close(d.hang)
	check(t, <-done)
}

func TestAFileThatIsBeingStoredIsNotSweptAway(t *testing.T) {
	t.Parallel()
	l, d, digest, done := storing(t)
	// Another owner stores the same file at the same time.
	both := make(chan error, 1)
	go func() { both <- l.KeepFiles("b", map[string][]byte{digest: []byte("large")}) }()
	<-d.begun
	d.hang <- struct{}{} // one of the two flushes ends
	var other <-chan error
	select {
	case err := <-done:
		check(t, err)
		other = both
	case err := <-both:
		check(t, err)
		other = done
	}
	for _, tenant := range []string{"a", "b"} {
		for i := range liveSets + 1 {
			text := tenant + strings.Repeat("x", i)
			check(t, l.KeepFiles(tenant, map[string][]byte{digestOf([]byte(text)): []byte(text)}))
		}
	}
	if data, err := l.PolicyFile(digest); err != nil || string(data) != "large" {
		t.Errorf("%q, %v", data, err)
	}
	close(d.hang)
	check(t, <-other)
	if data, err := l.PolicyFile(digest); err != nil || string(data) != "large" {
		t.Errorf("once it was stored: %q, %v", data, err)
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
	left, err := os.ReadDir(filepath.Join(l.path(), OwnerDir("a")))
	check(t, err)
	if names := on(t, l); len(left) != 1 || len(names) != 1 || !strings.Contains(names[0], "next") {
		t.Errorf("files %v, records of %v", left, names)
	}
}
