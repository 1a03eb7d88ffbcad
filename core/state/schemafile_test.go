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

	"github.com/wardlet/wardlet/core/state/durable"
)

// usedState creates the state of a node called "old" with one document.
func usedState(t *testing.T) (path, installation string) {
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

// expectState checks the installation of a state, and that its node name and the version of its
// document are name.
func expectState(t *testing.T, path, installation, name string) {
	t.Helper()
	d, _ := open(t, path)
	defer d.Close()
	got, _, err := d.NodeName("", func() (string, error) { return "host", nil })
	check(t, err)
	records, errs := d.Documents().LoadAll()
	if len(errs) > 0 || len(records) != 1 || records[0].Version != name || got != name || d.Installation() != installation {
		t.Errorf("%s: installation %s, node %s, %+v, %v; want %s, %s", path, d.Installation(), got, records, errs, installation, name)
	}
}

func sealInto(path string, value any) error {
	data, err := seal(value)
	return errors.Join(err, os.WriteFile(path, data, 0o600))
}

func TestOpen_schemaThatCannotBeReadIsThatOfItsCopy(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(path string) error{
		"a file that is corrupt": func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) },
		"a file that is empty":   func(path string) error { return os.Truncate(path, 0) },
		"a file that is gone":    os.Remove,
		"a file that names none": func(path string) error { return sealInto(path, schema{}) },
	} {
		for _, file := range []string{schemaFile, schemaCopyFile} {
			t.Run(name+", "+file, func(t *testing.T) {
				t.Parallel()
				path, installation := usedState(t)
				check(t, harm(filepath.Join(path, file)))
				expectState(t, path, installation, "old")
				newer := schema{Schema: 2}
				check(t, errors.Join(sealInto(filepath.Join(path, schemaFile), newer), sealInto(filepath.Join(path, schemaCopyFile), newer)))
				check(t, harm(filepath.Join(path, file)))
				_, err := tryOpen(path, io.Discard)
				wantError(t, err, "it has schema 2, this agent knows up to 1")
			})
		}
	}
}

func TestOpen_unknownSchemaIsRefused(t *testing.T) {
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
		"it is that of a newer agent": {
			func(path string) error {
				return errors.Join(sealInto(filepath.Join(path, schemaFile), schema{Schema: 3}), sealInto(filepath.Join(path, schemaCopyFile), schema{Schema: 3}))
			},
			"it has schema 3, this agent knows up to 1: run the newer agent that wrote it, or start afresh with another state_root",
		},
		"the copy is of a newer agent": {
			func(path string) error { return sealInto(filepath.Join(path, schemaCopyFile), schema{Schema: 2}) },
			"schema.json says 1 and schema-copy.json says 2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, _ := usedState(t)
			check(t, tt.harm(path))
			for range 2 {
				_, err := tryOpen(path, io.Discard)
				wantError(t, err, tt.err)
			}
		})
	}
}

func TestOpen_stateWithItsSchemaNeedsNoCopyOfIt(t *testing.T) {
	t.Parallel()
	path, installation := usedState(t)
	check(t, os.Remove(filepath.Join(path, schemaCopyFile)))
	check(t, os.Mkdir(filepath.Join(path, schemaCopyFile), 0o700)) // the next start moves it aside
	expectState(t, path, installation, "old")
	check(t, os.Remove(filepath.Join(path, schemaFile)))
	expectState(t, path, installation, "old") // the start before has written it again
}

// fullDisk cannot create files.
type fullDisk struct{ durable.OS }

func (fullDisk) Create(string, string) (durable.File, error) { return nil, errors.New("no space left") }

func TestOpen_oneFileThatSaysTheSchemaIsEnough(t *testing.T) {
	t.Parallel()
	for _, file := range []string{schemaFile, schemaCopyFile} {
		t.Run("without "+file, func(t *testing.T) {
			t.Parallel()
			path, _ := usedState(t)
			check(t, os.Remove(filepath.Join(path, file)))
			_, log := open(t, path, writingTo(fullDisk{}))
			if !strings.Contains(log.String(), "only one file says which schema the state has") {
				t.Errorf("not told: %s", log)
			}
		})
	}
}
