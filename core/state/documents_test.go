package state

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

func record(source, id, version string) *Record {
	return &Record{
		Source: source, ID: id, Version: version,
		Pod: &v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "u", Annotations: map[string]string{"a": "b"}},
			Spec: v1.PodSpec{Containers: []v1.Container{{
				Name: "main", Image: "i",
				Resources: v1.ResourceRequirements{Limits: v1.ResourceList{v1.ResourceCPU: resource.MustParse("500m")}},
			}}},
		},
		FirstSeen: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
	}
}

// recordPath returns the path of a document's file.
func recordPath(d *Dir, source, id string) string {
	return filepath.Join(d.Path(), documentsDir, DocumentID{source, id}.file())
}

func load(t *testing.T, s Documents, source string) []Record {
	t.Helper()
	records, errs := s.Load(source)
	if len(errs) != 0 {
		t.Fatal(errs)
	}
	slices.SortFunc(records, func(a, b Record) int { return strings.Compare(a.ID, b.ID) })
	return records
}

func TestRecordsComeBack(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	d, _ := open(t, path)
	s := d.Documents()
	a, b := record("files", "/m/a.yaml#0", "1"), record("files", "/m/b.yaml#0", "1")
	b.Runs = true
	b.Decided = &Decided{
		Pod: record("files", "/m/b.yaml#0", "0").Pod, Origin: api.Origin{Source: "files", Document: "/m/b.yaml#0", Version: "0"},
		Verdict: &api.Verdict{Answer: api.Deny, Reason: "R", Message: "m", Policy: "p", Sets: []string{"d"}, Opinions: []api.Opinion{{Policy: "p", Answer: api.Deny}}},
	}
	b.Decided.Identity = &types.NamespacedName{Namespace: b.Pod.Namespace, Name: "before"}
	b.Suppressed = &Suppressed{
		Since: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Until: time.Date(2026, 1, 2, 7, 4, 5, 6, time.UTC),
		Verdict: &api.Verdict{Answer: api.Allow, Sets: []string{"d"}},
	}
	for _, r := range []*Record{a, b, record("http", "/m/a.yaml#0", "9")} {
		check(t, s.Put(r))
	}
	a.Version = "2"
	check(t, s.Put(a))
	check(t, d.Close())

	d, _ = open(t, path)
	got := load(t, d.Documents(), "files")
	if diff := cmp.Diff([]Record{*a, *b}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := load(t, d.Documents(), "http"); len(got) != 1 || got[0].Version != "9" {
		t.Errorf("http: %v", got)
	}
	if got := load(t, d.Documents(), "none"); len(got) != 0 {
		t.Errorf("none: %v", got)
	}
	entries, err := os.ReadDir(filepath.Join(path, documentsDir))
	check(t, err)
	for _, entry := range entries {
		if info, err := entry.Info(); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", entry.Name(), info.Mode(), err)
		}
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	d, _ := open(t, statePath(t))
	s := d.Documents()
	check(t, s.Put(record("files", "a", "1")))
	check(t, s.Put(record("files", "b", "1")))
	check(t, s.Delete("files", "a"))
	check(t, s.Delete("files", "a"))
	if got := load(t, s, "files"); len(got) != 1 || got[0].ID != "b" {
		t.Errorf("left: %v", got)
	}
}

func TestARecordThatWouldNotBeReadBackIsNotWritten(t *testing.T) {
	t.Parallel()
	for name, tc := range unusable {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, _ := open(t, statePath(t))
			r := record("files", "a", "1")
			tc.spoil(r)
			wantError(t, d.Documents().Put(r), tc.err)
			if got := load(t, d.Documents(), "files"); len(got) != 0 {
				t.Errorf("stored: %v", got)
			}
		})
	}
}

func TestSourceAndIDAreToldApart(t *testing.T) {
	t.Parallel()
	d, _ := open(t, statePath(t))
	s := d.Documents()
	check(t, s.Put(record("ab", "c", "1")))
	check(t, s.Put(record("a", "bc", "2")))
	if got := load(t, s, "ab"); len(got) != 1 || got[0].Version != "1" {
		t.Errorf("%v", got)
	}
}

func TestABadRecordIsMovedAsideAndTheRestIsRead(t *testing.T) {
	t.Parallel()
	tests := map[string]func(t *testing.T, bad, good string){
		"a bit flipped": func(t *testing.T, bad, _ string) { t.Helper(); corrupt(t, bad) },
		"truncated":     func(t *testing.T, bad, _ string) { t.Helper(); check(t, os.Truncate(bad, 10)) },
		"empty":         func(t *testing.T, bad, _ string) { t.Helper(); check(t, os.Truncate(bad, 0)) },
		"another document's": func(t *testing.T, bad, good string) {
			t.Helper()
			data, err := os.ReadFile(good)
			check(t, err)
			check(t, os.WriteFile(bad, data, 0o600))
		},
		"no record": func(t *testing.T, bad, _ string) {
			t.Helper()
			data, err := seal([]int{1})
			check(t, err)
			check(t, os.WriteFile(bad, data, 0o600))
		},
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, log := open(t, statePath(t))
			s := d.Documents()
			check(t, s.Put(record("files", "bad", "1")))
			check(t, s.Put(record("files", "good", "1")))
			bad := recordPath(d, "files", "bad")
			spoil(t, bad, recordPath(d, "files", "good"))
			for range 2 {
				if got := load(t, s, "files"); len(got) != 1 || got[0].ID != "good" {
					t.Errorf("read: %v", got)
				}
			}
			if strings.Count(log.String(), "state file is corrupt") != 1 {
				t.Errorf("not logged once: %s", log)
			}
			if _, err := os.Stat(filepath.Join(d.Path(), quarantineDir, filepath.Base(bad))); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	d, _ := open(t, statePath(t))
	s := d.Documents()
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			for j := range 5 {
				if err := s.Put(record("files", strconv.Itoa(i), strconv.Itoa(j))); err != nil {
					t.Error(err)
				}
				s.Load("files")
			}
		})
	}
	writers.Wait()
	for _, r := range load(t, s, "files") {
		if r.Version != "4" {
			t.Errorf("%s has version %s", r.ID, r.Version)
		}
	}
}

func TestLostDocumentsAreKnownAsLost(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		harm func(documents string) error
		lost bool
	}{
		"nothing happened":           {func(string) error { return nil }, false},
		"the directory is gone":      {os.RemoveAll, true},
		"a record is torn":           {tear, true},
		"the last document was gone": {empty, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := statePath(t)
			d, _ := open(t, path)
			if d.Lost() {
				t.Error("a first start has lost something")
			}
			check(t, d.Documents().Put(record("files", "/m/a.yaml#0", "1")))
			check(t, d.Close())
			check(t, tc.harm(filepath.Join(path, documentsDir)))
			d, _ = open(t, path)
			load(t, d.Documents(), "files")
			if d.Lost() != tc.lost {
				t.Errorf("lost = %v, want %v", d.Lost(), tc.lost)
			}
			check(t, d.Close())
		})
	}
}

// tear truncates every file in the directory.
func tear(dir string) error {
	return each(dir, func(file string) error { return os.Truncate(file, 10) })
}

func empty(dir string) error { return each(dir, os.Remove) }

func each(dir string, do func(file string) error) error {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		err = errors.Join(err, do(filepath.Join(dir, entry.Name())))
	}
	return err
}
