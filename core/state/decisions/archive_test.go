package decisions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// archived copies a state directory into memory.
func archived(t *testing.T, dir string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	check(t, filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(dir, name)
		files[filepath.ToSlash(relative)] = &fstest.MapFile{Data: data, Mode: 0o600}
		return err
	}))
	return files
}

// told returns the records of an archive with the files they name, and the faults of the
// archive.
func told(files fs.FS) (names, faults []string) {
	damaged, err := NewArchive(files).Each(func(r *Record, e *Exhibits) error {
		input, err := e.Input(r.Pod)
		var contents []string
		for _, p := range r.Policies {
			data, fileErr := e.PolicyFile(p.Module)
			contents, err = append(contents, string(data)), errors.Join(err, fileErr)
		}
		if err != nil {
			faults = append(faults, err.Error())
		}
		names = append(names, fmt.Sprintf("%s %s %s %q", r.ID, r.Name, input, contents))
		return nil
	})
	for _, err := range append(damaged, err) {
		if err != nil {
			faults = append(faults, err.Error())
		}
	}
	return names, faults
}

// aFewRecords returns a state directory with records of the operator and of a tenant.
func aFewRecords(t *testing.T) fstest.MapFS {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state")
	l, closeAll := decisions(t, path, map[string]int64{"": 1 << 20, "a": 1 << 20})
	check(t, l.KeepFiles("", files("module one")))
	check(t, l.KeepFiles("a", files("module two")))
	appended(t, l, "", entry("web", "first", "module one"), entry("db", "second"), entry("web", "first", "module one"))
	appended(t, l, "a", entry("cache", "third", "module one", "module two"))
	check(t, l.Counted("", []Count{{ID: "operator-1", Count: 2}}))
	closeAll()
	return archived(t, path)
}

func TestAnArchiveHasAllRecordsWithWhatTheyName(t *testing.T) {
	t.Parallel()
	names, faults := told(aFewRecords(t))
	same(t, "records", []string{
		`operator-1 web "first" ["module one"]`, `operator-2 db "second" []`, `operator-3 web "first" ["module one"]`,
		`tenant-a-1 cache "third" ["module one" "module two"]`,
	}, names)
	same(t, "faults", []string(nil), faults)
}

func TestAnyByteOfARecordThatIsAnotherIsNoticed(t *testing.T) {
	t.Parallel()
	whole := aFewRecords(t)
	want, _ := told(whole)
	tried := 0
	for name, file := range whole {
		if !strings.HasPrefix(name, DirName+"/") {
			continue
		}
		good := file.Data
		for at := range good {
			for _, flip := range []byte{1, 0x20, 0x80, good[at] ^ '\n'} {
				if flip == 0 {
					continue
				}
				file.Data = slices.Clone(good)
				file.Data[at] ^= flip
				tried++
				// A compressed file may have bytes that do not affect its content.
				if got, faults := told(whole); len(faults) == 0 && (strings.HasSuffix(name, segmentSuffix) || !slices.Equal(got, want)) {
					t.Errorf("%s: byte %d is %#x instead of %#x, and nobody notices", name, at, file.Data[at], good[at])
				}
			}
		}
		file.Data = good
	}
	if tried < 4000 {
		t.Errorf("only %d bytes were changed", tried)
	}
}

func TestAnArchiveSaysWhatItLacks(t *testing.T) {
	t.Parallel()
	if _, faults := told(fstest.MapFS{}); len(faults) != 1 || !strings.Contains(faults[0], "no decisions are on record there") {
		t.Errorf("of nothing: %q", faults)
	}
	files := aFewRecords(t)
	for name := range files {
		if strings.HasSuffix(name, fileSuffix) {
			delete(files, name)
		}
	}
	names, faults := told(files)
	if len(names) != 4 || len(faults) != 3 || !strings.Contains(faults[0], filesDir+"/") {
		t.Errorf("without files of policies: %q, %q", names, faults)
	}
}

func TestWhoReadsAnArchiveMayStop(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	n := 0
	_, err := NewArchive(aFewRecords(t)).Each(func(*Record, *Exhibits) error { n++; return enough })
	if n != 1 || !errors.Is(err, enough) {
		t.Errorf("after %d records: %v", n, err)
	}
}
