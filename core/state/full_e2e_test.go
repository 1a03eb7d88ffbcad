//go:build e2e

package state

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// TestAFullDiskKeepsTheOldDocumentsForReal needs root.
func TestAFullDiskKeepsTheOldDocumentsForReal(t *testing.T) {
	t.Parallel()
	mount := t.TempDir()
	check(t, unix.Mount("tmpfs", mount, "tmpfs", unix.MS_NOSUID, "size=256k,mode=0755"))
	t.Cleanup(func() { check(t, unix.Unmount(mount, 0)) })
	path := filepath.Join(mount, "state")
	d, _ := open(t, path)
	s := d.Documents()
	var put []Record
	for i := range 10 {
		put = append(put, *record("files", strconv.Itoa(i), "1"))
	}
	check(t, s.Apply(put, nil))
	// Another file fills the disk.
	var full error
	for full == nil {
		var f *os.File
		if f, full = os.OpenFile(filepath.Join(mount, "filler"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); full == nil {
			_, full = f.Write(make([]byte, 4096))
			full = errors.Join(full, f.Close())
		}
	}
	if !errors.Is(full, unix.ENOSPC) {
		t.Fatal(full)
	}
	for i := range put {
		put[i].Version = "2"
	}
	err := s.Apply(put, nil)
	wantError(t, err, "10 of 10 documents are not on the disk: document ")
	if !errors.Is(err, unix.ENOSPC) {
		t.Errorf("error %v", err)
	}
	// A removal needs no space.
	check(t, s.Apply(nil, []DocumentID{{"files", "0"}}))
	check(t, d.Close())
	found := versions(t, path)
	if len(found) != 9 {
		t.Errorf("%d documents left", len(found))
	}
	for id, version := range found {
		if version != "1" {
			t.Errorf("%s has version %s", id, version)
		}
	}
	// There is space again.
	check(t, os.Remove(filepath.Join(mount, "filler")))
	d, _ = open(t, path)
	check(t, d.Documents().Apply(put, nil))
	check(t, d.Close())
	if found := versions(t, path); len(found) != 10 || found[DocumentID{"files", "9"}] != "2" {
		t.Errorf("after it: %v", found)
	}
}
