package state

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// knowing is an agent that knows a schema and how to come to it.
func knowing(schema int, steps map[int]migration) Option {
	return func(d *Dir) { d.schema, d.migrations = schema, steps }
}

// renames is a migration that changes a file and the documents.
func renames(name string) migration {
	return func(d *Dir) error {
		records, errs := d.Documents().LoadAll()
		for i := range records {
			records[i].Version = name
			errs = append(errs, d.Documents().Put(&records[i]))
		}
		return errors.Join(append(errs, d.store(nodeFile, node{Name: name}))...)
	}
}

// older makes the state of schema 1 of a node called "old" with a document.
func older(t *testing.T) (path, installation string) {
	t.Helper()
	path = statePath(t)
	d, _ := open(t, path)
	_, _, err := d.NodeName("old", nil)
	check(t, err)
	check(t, d.Documents().Put(&Record{Source: "s", ID: "a", Version: "old", Pod: &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "p", UID: "u"},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "c"}}},
	}}))
	check(t, d.Close())
	return path, d.Installation()
}

// expectState says which installation, node name and version of the document a state holds.
func expectState(t *testing.T, path, installation, name string, options ...Option) {
	t.Helper()
	d, _ := open(t, path, options...)
	defer d.Close()
	got, _, err := d.NodeName("", func() (string, error) { return "host", nil })
	check(t, err)
	records, errs := d.Documents().LoadAll()
	if len(errs) > 0 || len(records) != 1 || records[0].Version != name || got != name || d.Installation() != installation {
		t.Errorf("%s: installation %s, node %s, %+v, %v; want %s, %s", path, d.Installation(), got, records, errs, installation, name)
	}
}

func TestOlderStateIsMigratedAfterACopy(t *testing.T) {
	t.Parallel()
	path, installation := older(t)
	var order []string
	step := func(name string) migration {
		return func(d *Dir) error {
			order = append(order, name)
			return renames(name)(d)
		}
	}
	agent := knowing(3, map[int]migration{1: step("one"), 2: step("two")})
	d, log := open(t, path, agent)
	check(t, d.Close())
	if !strings.Contains(log.String(), "the state was migrated") {
		t.Errorf("not told: %s", log)
	}
	expectState(t, path, installation, "two", agent)
	if got := strings.Join(order, " "); got != "one two" {
		t.Errorf("steps: %s", got)
	}
	kept := filepath.Join(path, copiesDir, "schema-1")
	if _, err := os.Lstat(filepath.Join(kept, lockFile)); err == nil {
		t.Error("the copy has a lock")
	}
	// It is a state like any other.
	back := filepath.Join(t.TempDir(), "state")
	check(t, os.Rename(kept, back))
	expectState(t, back, installation, "old")
}

func TestAMigrationThatIsCutShortIsResumedByTheNewerAgentOnly(t *testing.T) {
	t.Parallel()
	path, installation := older(t)
	broken := errors.New("the disk is full")
	_, err := tryOpen(path, io.Discard, knowing(3, map[int]migration{1: renames("one"), 2: func(*Dir) error { return broken }}))
	if !errors.Is(err, broken) {
		t.Fatalf("got %v", err)
	}
	wantError(t, err, "what it was is in "+filepath.Join(path, copiesDir, "schema-1"))

	_, err = tryOpen(path, io.Discard)
	wantError(t, err, "it has schema 3, this agent knows up to 1: run the newer agent that wrote it, or go back to what it was before the upgrade: "+
		"move "+path+" away and copies/schema-1, from there, in its place")

	expectState(t, path, installation, "two", knowing(3, map[int]migration{1: renames("one"), 2: renames("two")}))
	expectState(t, filepath.Join(path, copiesDir, "schema-1"), installation, "old")
}

func TestStateThatIsMigratedAgainAfterARollBackHasANewCopy(t *testing.T) {
	t.Parallel()
	path, installation := older(t)
	agent := knowing(2, map[int]migration{1: renames("new")})
	expectState(t, path, installation, "new", agent)
	// Back, and some time passes.
	check(t, os.Rename(path, path+".new"))
	check(t, os.Rename(filepath.Join(path+".new", copiesDir, "schema-1"), path))
	d, _ := open(t, path)
	check(t, renames("later")(d))
	check(t, d.Close())
	// A copy that was never finished is in the way.
	check(t, os.MkdirAll(filepath.Join(path, copiesDir, tempPrefix+"schema-1", "documents"), 0o700))
	check(t, os.Chmod(filepath.Join(path, copiesDir), 0o700))
	expectState(t, path, installation, "new", agent)
	expectState(t, filepath.Join(path, copiesDir, "schema-1"), installation, "later")
}

func TestStateThatCannotBeMigratedIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		steps map[int]migration
		plant func(path string) error
		err   string
	}{
		"no copy can be made": {
			map[int]migration{1: renames("new")},
			func(path string) error { return os.WriteFile(filepath.Join(path, copiesDir), nil, 0o600) },
			"no copy of it can be made before it is migrated",
		},
		"the agent is too new": {
			map[int]migration{},
			func(string) error { return nil },
			"which this agent cannot migrate: run an agent of a version between",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, installation := older(t)
			check(t, tt.plant(path))
			_, err := tryOpen(path, io.Discard, knowing(2, tt.steps))
			wantError(t, err, tt.err)
			expectState(t, path, installation, "old")
		})
	}
}

func sealInto(path string, value any) error {
	data, err := seal(value)
	return errors.Join(err, os.WriteFile(path, data, 0o600))
}

func TestASchemaThatCannotBeReadIsThatOfItsCopy(t *testing.T) {
	t.Parallel()
	agent := knowing(2, map[int]migration{1: renames("new")})
	for name, harm := range map[string]func(path string) error{
		"a file that is corrupt": func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) },
		"a file that is empty":   func(path string) error { return os.Truncate(path, 0) },
		"a file that is gone":    os.Remove,
		"a file that names none": func(path string) error { return sealInto(path, schema{}) },
	} {
		for _, file := range []string{schemaFile, schemaCopyFile} {
			t.Run(name+", "+file, func(t *testing.T) {
				t.Parallel()
				path, installation := older(t)
				check(t, harm(filepath.Join(path, file)))
				expectState(t, path, installation, "new", agent) // it was migrated
				check(t, harm(filepath.Join(path, file)))
				_, err := tryOpen(path, io.Discard)
				wantError(t, err, "it has schema 2, this agent knows up to 1")
				expectState(t, path, installation, "new", agent)
			})
		}
	}
}

func TestStateOfASchemaThatNobodyKnowsIsRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		harm func(path string) error
		err  string
	}{
		"both files are gone": {
			func(path string) error {
				return errors.Join(os.Remove(filepath.Join(path, schemaFile)), os.Remove(filepath.Join(path, schemaCopyFile)))
			},
			"schema.json and schema-copy.json are both missing or corrupt",
		},
		"both files are corrupt": {
			func(path string) error {
				return errors.Join(os.Truncate(filepath.Join(path, schemaFile), 0), os.Truncate(filepath.Join(path, schemaCopyFile), 0))
			},
			"schema.json and schema-copy.json are both missing or corrupt",
		},
		"there are documents, and nothing else": {
			func(path string) error {
				return errors.Join(os.Remove(filepath.Join(path, schemaFile)), os.Remove(filepath.Join(path, schemaCopyFile)), os.Remove(filepath.Join(path, installationFile)))
			},
			"schema.json and schema-copy.json are both missing or corrupt",
		},
		"the copy is of a newer agent": {
			func(path string) error { return sealInto(filepath.Join(path, schemaCopyFile), schema{Schema: 2}) },
			"schema.json says 1 and schema-copy.json says 2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, _ := older(t)
			check(t, tt.harm(path))
			for range 2 {
				_, err := tryOpen(path, io.Discard, knowing(2, map[int]migration{1: renames("new")}))
				wantError(t, err, tt.err)
			}
			if _, err := os.Lstat(filepath.Join(path, copiesDir)); err == nil {
				t.Error("it was migrated")
			}
		})
	}
}

func TestAStateThatHasItsSchemaGoesOnWithoutACopyOfIt(t *testing.T) {
	t.Parallel()
	path, installation := older(t)
	check(t, os.Remove(filepath.Join(path, schemaCopyFile)))
	check(t, os.Mkdir(filepath.Join(path, schemaCopyFile), 0o700)) // moved aside
	expectState(t, path, installation, "old")
	check(t, os.Remove(filepath.Join(path, schemaFile)))
	expectState(t, path, installation, "old") // it was made anew
}

// fullDisk takes no new file.
type fullDisk struct{ kernel }

func (fullDisk) create(string, string) (file, error) { return nil, errors.New("no space left") }

func TestOneFileThatSaysTheSchemaIsEnough(t *testing.T) {
	t.Parallel()
	for _, file := range []string{schemaFile, schemaCopyFile} {
		t.Run("without "+file, func(t *testing.T) {
			t.Parallel()
			path, _ := older(t)
			check(t, os.Remove(filepath.Join(path, file)))
			_, log := open(t, path, writingTo(fullDisk{}))
			if !strings.Contains(log.String(), "only one file says which schema the state has") {
				t.Errorf("not told: %s", log)
			}
		})
	}
}

func TestEverySchemaBeforeThisOneCanBeMigrated(t *testing.T) {
	t.Parallel()
	for s := 1; s < Schema; s++ {
		if migrations()[s] == nil {
			t.Errorf("nothing migrates schema %d", s)
		}
	}
}
