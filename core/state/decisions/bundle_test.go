package decisions

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// bundled copies the wanted records of an archive into a bundle.
func bundled(t *testing.T, from fstest.MapFS, wanted func(*Record) bool) (fstest.MapFS, error) {
	t.Helper()
	files := map[string]*bytes.Buffer{}
	b := NewBundle(func(name string) (io.Writer, error) {
		if files[name] != nil {
			t.Errorf("%s is made twice", name)
		}
		files[name] = &bytes.Buffer{}
		return files[name], nil
	})
	damaged, err := NewArchive(from).Each(func(r *Record, e *Exhibits) error {
		if !wanted(r) {
			return nil
		}
		entry, err := e.Entry(r)
		if err != nil {
			return err
		}
		return b.Add(&entry, e.PolicyFile)
	})
	err = errors.Join(append(damaged, err, b.Close())...)
	to := fstest.MapFS{}
	for name, data := range files {
		to[name] = &fstest.MapFile{Data: data.Bytes(), Mode: 0o600}
	}
	return to, err
}

func TestABundleHasTheRecordsWithAllThatTheyName(t *testing.T) {
	t.Parallel()
	from := aFewRecords(t)
	all, _ := told(from)
	to, err := bundled(t, from, func(*Record) bool { return true })
	check(t, err)
	names, faults := told(BundleFiles(to))
	same(t, "records", all, names)
	same(t, "faults", []string(nil), faults)
	if len(to) != 5 {
		t.Errorf("a segment of each owner, two files of policies and a manifest: %d files", len(to))
	}
}

func TestABundleHasNothingThatNoneOfItsRecordsNames(t *testing.T) {
	t.Parallel()
	to, err := bundled(t, aFewRecords(t), func(r *Record) bool { return r.ID == "operator-2" })
	check(t, err)
	names, faults := told(BundleFiles(to))
	same(t, "records", []string{`operator-2 db "second" []`}, names)
	same(t, "faults", []string(nil), faults)
	if len(to) != 2 || bytes.Contains(to["decisions/operator/0000000000000002.log"].Data, []byte(digestOf([]byte(`"first"`)))) {
		t.Errorf("there is more in it: %v", to)
	}
}

func TestARecordOfWhichSomethingIsMissingIsNotBundled(t *testing.T) {
	t.Parallel()
	from := aFewRecords(t)
	for name := range from {
		if strings.HasPrefix(name, "decisions/policies/") {
			delete(from, name)
		}
	}
	if _, err := bundled(t, from, func(*Record) bool { return true }); err == nil {
		t.Error("a plugin that is gone is bundled")
	}
}

func TestWhatIsNoIDOfADecisionIsRefused(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", "operator", "operator-", "operator-0", "operator-x", "-1", "somebody-1", "tenant--1", "tenant-a/../b-1", "operator-99999999999999999999"} {
		b := NewBundle(func(string) (io.Writer, error) { return io.Discard, nil })
		r := &Record{}
		r.ID = id
		if err := b.Add(&Entry{Record: r}, nil); err == nil {
			t.Errorf("%q is taken", id)
		}
	}
}

func TestAFileThatIsLongerThanItSaysIsNotRead(t *testing.T) {
	t.Parallel()
	if _, err := NewArchive(endless{}).read("decisions/operator/0000000000000001.log"); err == nil {
		t.Error("it was read")
	}
}

// endless is a file system whose files have the size 0 but never end.
type endless struct{}

func (endless) Open(string) (fs.File, error) {
	empty, err := fstest.MapFS{"f": {}}.Open("f")
	return endlessFile{empty}, err
}

type endlessFile struct{ fs.File }

func (endlessFile) Read(p []byte) (int, error) { return len(p), nil }
