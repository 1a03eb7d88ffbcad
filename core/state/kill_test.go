package state

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// programs are the programs of child processes, by name.
var programs = map[string]func(s Documents) error{
	"a new record":          func(s Documents) error { return s.Put(record("files", "new", "2")) },
	"a record over another": func(s Documents) error { return s.Put(record("files", "a", "2")) },
	"a removal":             func(s Documents) error { return s.Delete("files", "a") },
	"a batch": func(s Documents) error {
		return s.Apply(
			[]Record{*record("files", "a", "2"), *record("http", "b", "2"), *record("files", "new", "2")},
			[]DocumentID{{"files", "c"}, {"files", "unknown"}},
		)
	},
	"a batch over a limit": func(s Documents) error {
		if err := limitFileSize(fileLimit); err != nil {
			return err
		}
		return s.Apply([]Record{*record("files", "a", "2"), *large("http", "b"), *large("files", "new")}, []DocumentID{{"files", "c"}})
	},
}

// prepared creates a state directory with the documents a, b and c in version 1.
func prepared(t *testing.T) string {
	t.Helper()
	path := statePath(t)
	d, _ := open(t, path)
	for _, r := range []*Record{record("files", "a", "1"), record("http", "b", "1"), record("files", "c", "1")} {
		check(t, d.Documents().Put(r))
	}
	check(t, d.Close())
	return path
}

// gone is the version of a document that does not exist.
const gone = ""

// versions opens a directory after a crash and returns the version of each document. It checks
// that each document is whole and that no other files are left.
func versions(t *testing.T, path string) map[DocumentID]string {
	t.Helper()
	d, log := open(t, path)
	records, errs := d.Documents().LoadAll()
	if len(errs) > 0 || log.Len() > 0 || d.Lost() {
		t.Errorf("errors %v, lost %v, log:\n%s", errs, d.Lost(), log)
	}
	found := map[DocumentID]string{}
	for _, r := range records {
		found[r.document()] = r.Version
		if diff := cmp.Diff(*record(r.Source, r.ID, r.Version), r); diff != "" {
			t.Errorf("%s is not whole (-want +got):\n%s", r.document(), diff)
		}
	}
	for _, pattern := range []string{".tmp-*", "documents/.*", "quarantine/*"} {
		if left, err := filepath.Glob(filepath.Join(path, pattern)); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	}
	entries, err := os.ReadDir(filepath.Join(path, documentsDir))
	check(t, err)
	if len(entries) != len(records) {
		t.Errorf("%d files for %d records", len(entries), len(records))
	}
	check(t, d.Close())
	return found
}

func TestKilledAtAnyStepADocumentIsTheOldOneOrTheNewOne(t *testing.T) {
	t.Parallel()
	a, b, c, fresh := DocumentID{"files", "a"}, DocumentID{"http", "b"}, DocumentID{"files", "c"}, DocumentID{"files", "new"}
	was := map[DocumentID]string{a: "1", b: "1", c: "1", fresh: gone}
	const write, dir = 5, 1
	for name, tc := range map[string]struct {
		steps int
		will  map[DocumentID]string
	}{
		"a new record":          {write + dir, map[DocumentID]string{fresh: "2"}},
		"a record over another": {write + dir, map[DocumentID]string{a: "2"}},
		"a removal":             {1 + dir, map[DocumentID]string{a: gone}},
		"a batch":               {3*write + dir + 1 + 1 + dir, map[DocumentID]string{a: "2", b: "2", fresh: "2", c: gone}},
	} {
		for step := 1; step <= tc.steps+1; step++ {
			for _, point := range []string{before, half, after} {
				t.Run(fmt.Sprintf("%s/%s step %d", name, point, step), func(t *testing.T) {
					t.Parallel()
					path := prepared(t)
					failure, killed := child(t, name, path, fmt.Sprintf("%s %d", point, step))
					if failure != "" || killed != (step <= tc.steps) {
						t.Fatalf("failed with %q, killed %v at step %d of %d", failure, killed, step, tc.steps)
					}
					found := versions(t, path)
					for doc, old := range was {
						want, touched := tc.will[doc]
						switch got := found[doc]; {
						case !touched && got != old:
							t.Errorf("%s has version %q, nobody touched %q", doc, got, old)
						case touched && got != want && got != old:
							t.Errorf("%s has version %q, want %q or %q", doc, got, old, want)
						case touched && step == 1 && point == before && got != old:
							t.Errorf("%s has version %q, and nothing was done yet", doc, got)
						case touched && (step > tc.steps || step == tc.steps && point == after) && got != want:
							t.Errorf("%s has version %q, and all was done", doc, got)
						}
					}
				})
			}
		}
	}
}
