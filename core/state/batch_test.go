package state

import (
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wardlet/wardlet/core/state/durable"
	"github.com/wardlet/wardlet/core/state/durable/durabletest"
)

// stored returns the versions of all records.
func stored(t *testing.T, s Documents) map[DocumentID]string {
	t.Helper()
	records, errs := s.LoadAll()
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	found := map[DocumentID]string{}
	for _, r := range records {
		found[r.document()] = r.Version
	}
	return found
}

func TestABatchIsStoredAsOneAfterTheOtherWouldBe(t *testing.T) {
	t.Parallel()
	a, b, c := DocumentID{"files", "a"}, DocumentID{"http", "b"}, DocumentID{"files", "c"}
	put := func(id DocumentID, version string) Record { return *record(id.Source, id.ID, version) }
	for name, tc := range map[string]struct {
		put    []Record
		remove []DocumentID
		want   map[DocumentID]string
	}{
		"nothing":                          {nil, nil, map[DocumentID]string{a: "1", b: "1"}},
		"one record":                       {[]Record{put(a, "2")}, nil, map[DocumentID]string{a: "2", b: "1"}},
		"several records of two sources":   {[]Record{put(a, "2"), put(b, "2"), put(c, "2")}, nil, map[DocumentID]string{a: "2", b: "2", c: "2"}},
		"a removal":                        {nil, []DocumentID{a}, map[DocumentID]string{b: "1"}},
		"both":                             {[]Record{put(c, "2")}, []DocumentID{a, b}, map[DocumentID]string{c: "2"}},
		"a document twice":                 {[]Record{put(a, "2"), put(a, "3")}, nil, map[DocumentID]string{a: "3", b: "1"}},
		"a document that is also removed":  {[]Record{put(a, "2"), put(c, "2")}, []DocumentID{a}, map[DocumentID]string{b: "1", c: "2"}},
		"the removal of what is not there": {nil, []DocumentID{c, c}, map[DocumentID]string{a: "1", b: "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, _ := open(t, statePath(t))
			s := d.Documents()
			check(t, s.Apply([]Record{put(a, "1"), put(b, "1")}, nil))
			check(t, s.Apply(tc.put, tc.remove))
			if diff := cmp.Diff(tc.want, stored(t, s)); diff != "" {
				t.Errorf("versions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestManyRecordsAreStoredInOneBatch(t *testing.T) {
	t.Parallel()
	d, _ := open(t, statePath(t))
	var put []Record
	var remove []DocumentID
	want := map[DocumentID]string{}
	for i := range 20 * writers {
		r := record("files", strconv.Itoa(i), strconv.Itoa(i))
		put = append(put, *r)
		remove = append(remove, r.document())
		want[r.document()] = r.Version
	}
	check(t, d.Documents().Apply(put, nil))
	if diff := cmp.Diff(want, stored(t, d.Documents())); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
	check(t, d.Documents().Apply(nil, remove))
	if left := stored(t, d.Documents()); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// modelled returns a store on a model of a disk, with the documents a, b and c in version 1.
func modelled(t *testing.T) (Documents, *durabletest.Disk) {
	t.Helper()
	path := func(id string) string {
		return (Documents{&Dir{path: "state"}}).path() + "/" + DocumentID{"files", id}.file()
	}
	files := map[string]string{}
	for _, id := range []string{"a", "b", "c"} {
		data, err := seal(record("files", id, "1"))
		check(t, err)
		files[path(id)] = string(data)
	}
	d := durabletest.NewDisk(files)
	return Documents{&Dir{path: "state", fs: d}}, d
}

// modelBatch updates a and b, adds d and removes c.
func modelBatch(s Documents) error {
	return s.Apply([]Record{*record("files", "a", "2"), *record("files", "b", "2"), *record("files", "d", "2")}, []DocumentID{{"files", "c"}})
}

// modelSteps is the number of steps of modelBatch. modelBefore and modelAfter are the versions
// before and after these steps.
const modelSteps = 3*5 + 1 + 1 + 1

var (
	modelBefore = map[string]string{"a": "1", "b": "1", "c": "1", "d": gone}
	modelAfter  = map[string]string{"a": "2", "b": "2", "c": gone, "d": "2"}
)

// possible returns the versions a document may have after a power cut.
func possible(t *testing.T, s Documents, d *durabletest.Disk, id string) []string {
	t.Helper()
	var all []string
	for _, content := range d.AfterPowerCut(s.path() + "/" + DocumentID{"files", id}.file()) {
		var r Record
		switch {
		case content == durabletest.Missing:
			all = append(all, gone)
		case unseal([]byte(content), &r) != nil:
			all = append(all, fmt.Sprintf("torn: %q", content))
		default:
			all = append(all, r.Version)
		}
	}
	return all
}

func TestABatchIsOnTheDiskWhenItReturns(t *testing.T) {
	t.Parallel()
	s, d := modelled(t)
	check(t, modelBatch(s))
	if d.Step != modelSteps {
		t.Errorf("%d steps, %v; want %d: the directory is synced once for all", d.Step, d.Done, modelSteps)
	}
	for id, want := range modelAfter {
		for _, got := range possible(t, s, d, id) {
			if got != want {
				t.Errorf("after a power cut %s may have version %q, want %q", id, got, want)
			}
		}
	}
}

func TestAfterAPowerCutAtAnyStepOfABatchEachDocumentIsOldOrNew(t *testing.T) {
	t.Parallel()
	for step := 1; step <= modelSteps; step++ {
		s, d := modelled(t)
		d.CrashAt = step
		if err := modelBatch(s); err == nil {
			t.Errorf("crash at step %d: no error", step)
		}
		for id, want := range modelAfter {
			for _, got := range possible(t, s, d, id) {
				if got != want && got != modelBefore[id] {
					t.Errorf("crash at step %d: %s may have version %q, want %q or %q", step, id, got, modelBefore[id], want)
				}
			}
		}
	}
}

func TestAStepOfABatchThatFailsNamesWhatIsNotOnTheDisk(t *testing.T) {
	t.Parallel()
	for step := 1; step <= modelSteps; step++ {
		s, d := modelled(t)
		d.FailAt = step
		err := modelBatch(s)
		var failed *BatchError
		if !errors.As(err, &failed) || !errors.Is(err, durabletest.ErrStep) {
			t.Fatalf("step %d failed: error %v", step, err)
		}
		named := map[string]bool{}
		for _, doc := range failed.Documents {
			named[doc.ID] = true
			if !strings.Contains(err.Error(), fmt.Sprintf("%d of 4 documents", len(failed.Documents))) {
				t.Errorf("step %d failed: %v", step, err)
			}
		}
		if len(named) == 0 {
			t.Errorf("step %d failed, and no document is named: %v", step, err)
		}
		for id, want := range modelAfter {
			for _, got := range possible(t, s, d, id) {
				if got != want && !named[id] {
					t.Errorf("step %d failed: %s may have version %q, and the error does not name it: %v", step, id, got, err)
				}
			}
		}
		for path := range d.Cached {
			if strings.Contains(path, durable.TempPrefix) {
				t.Errorf("step %d failed and left %s", step, path)
			}
		}
	}
}

func TestABatchErrorIsShortHoweverManyDocumentsFail(t *testing.T) {
	t.Parallel()
	s, d := modelled(t)
	d.CrashAt = 1
	var put []Record
	var want []DocumentID
	for i := range 1000 {
		r := record("files", strconv.Itoa(i), "1")
		put, want = append(put, *r), append(want, r.document())
	}
	err := s.Apply(put, nil)
	var failed *BatchError
	if !errors.As(err, &failed) {
		t.Fatalf("error %v", err)
	}
	sorted := cmpopts.SortSlices(func(a, b DocumentID) bool { return a.ID < b.ID })
	if diff := cmp.Diff(want, failed.Documents, sorted); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	if text := err.Error(); len(text) > 2000 || !strings.HasPrefix(text, "1000 of 1000 documents are not on the disk: ") || !strings.HasSuffix(text, "; and 997 more") {
		t.Errorf("error of %d bytes: %s", len(text), text)
	}
}

func BenchmarkApply(b *testing.B) {
	for _, n := range []int{1, 100, 10000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			path := b.TempDir() + "/state"
			d, err := Open(path, slog.New(slog.DiscardHandler))
			if err != nil {
				b.Fatal(err)
			}
			defer d.Close()
			put := make([]Record, n)
			for i := range put {
				put[i] = *record("files", strconv.Itoa(i), "1")
			}
			for b.Loop() {
				if err := d.Documents().Apply(put, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLoadAll(b *testing.B) {
	d, err := Open(b.TempDir()+"/state", slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	put := make([]Record, 10000)
	for i := range put {
		put[i] = *record("files", strconv.Itoa(i), "1")
	}
	if err := d.Documents().Apply(put, nil); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if records, errs := d.Documents().LoadAll(); len(records) != len(put) || len(errs) > 0 {
			b.Fatal(len(records), errs)
		}
	}
}
