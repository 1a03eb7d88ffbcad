package state

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// fileLimit is larger than a small record.
const fileLimit = 4096

// large returns a record with more bytes than fileLimit.
func large(source, id string) *Record {
	r := record(source, id, "2")
	r.Pod.Spec.Containers[0].Args = []string{strings.Repeat("x", fileLimit)}
	return r
}

func TestADiskThatTakesNoMoreKeepsTheOldDocumentsAndWritesTheOthers(t *testing.T) {
	t.Parallel()
	path := prepared(t)
	failure, killed := child(t, "a batch over a limit", path, "")
	if killed {
		t.Fatal("the child was killed")
	}
	for _, part := range []string{"2 of 4 documents are not on the disk", "document b of source http: ", "document new of source files: ", "file too large"} {
		if !strings.Contains(failure, part) {
			t.Errorf("the error %q has no %q", failure, part)
		}
	}
	want := map[DocumentID]string{{"files", "a"}: "2", {"http", "b"}: "1"}
	if diff := cmp.Diff(want, versions(t, path)); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
}

// asAnyone calls do without the capabilities that let root ignore file modes.
func asAnyone(t *testing.T, do func()) {
	t.Helper()
	// Capabilities belong to a thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var had [2]unix.CapUserData
	check(t, unix.Capget(&head, &had[0]))
	less := had
	less[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
	check(t, unix.Capset(&head, &less[0]))
	defer func() { check(t, unix.Capset(&head, &had[0])) }()
	do()
}

func TestADirectoryThatCannotBeWrittenKeepsTheOldDocuments(t *testing.T) {
	t.Parallel()
	path := prepared(t)
	d, _ := open(t, path)
	s := d.Documents()
	check(t, os.Chmod(s.path(), 0o500))
	asAnyone(t, func() {
		wantError(t, s.Put(record("files", "a", "2")), "document a of source files: write "+s.path())
		wantError(t, s.Apply([]Record{*record("files", "a", "2")}, []DocumentID{{"http", "b"}}),
			"2 of 2 documents are not on the disk: document a of source files: write "+s.path())
		wantError(t, s.Delete("files", "c"), "permission denied")
	})
	check(t, os.Chmod(s.path(), 0o700))
	check(t, d.Close())
	want := map[DocumentID]string{{"files", "a"}: "1", {"http", "b"}: "1", {"files", "c"}: "1"}
	if diff := cmp.Diff(want, versions(t, path)); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
}

func TestARecordThatMayNotBeReadIsAnErrorAndStays(t *testing.T) {
	t.Parallel()
	d, _ := open(t, prepared(t))
	bad := recordPath(d, "files", "a")
	check(t, os.Chmod(bad, 0))
	asAnyone(t, func() {
		records, errs := d.Documents().LoadAll()
		if len(records) != 2 || len(errs) != 1 || !strings.Contains(errs[0].Error(), bad) {
			t.Errorf("%d records, errors %v; want two, and an error that names %s", len(records), errs, bad)
		}
	})
	if !d.Lost() {
		t.Error("what could not be read does not count as lost")
	}
	if _, err := os.Lstat(bad); err != nil {
		t.Error(err)
	}
}
