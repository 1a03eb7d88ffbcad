package state

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/state/durable"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("got error %v, want one with %q", err, part)
	}
}

// tryOpen opens a state directory. A child process that another test starts may hold an
// inherited lock for a moment after it was released here, so tryOpen tries again for up to 10
// seconds.
func tryOpen(path string, log io.Writer, options ...Option) (*Dir, error) {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		d, err := Open(path, slog.New(slog.NewTextHandler(log, nil)), options...)
		if err == nil || !strings.Contains(err.Error(), "another agent uses it") || time.Now().After(deadline) {
			return d, err
		}
	}
}

// open opens a state directory and closes it when the test ends, unless the caller has closed
// it.
func open(t *testing.T, path string, options ...Option) (*Dir, *bytes.Buffer) {
	t.Helper()
	log := &bytes.Buffer{}
	d, err := tryOpen(path, log, options...)
	check(t, err)
	t.Cleanup(func() { d.Close() })
	return d, log
}

func statePath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "lib", "state")
}

func corrupt(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	check(t, err)
	data[len(data)/2] ^= 1
	check(t, os.WriteFile(path, data, 0o600))
}

func TestOpenMakesADirectoryOfItsOwn(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	d, _ := open(t, path)
	for _, dir := range []string{path, filepath.Join(path, "documents"), filepath.Join(path, "quarantine")} {
		info, err := os.Stat(dir)
		check(t, err)
		if info.Mode() != os.ModeDir|0o700 {
			t.Errorf("%s has mode %v", dir, info.Mode())
		}
	}
	if d.Path() != path {
		t.Errorf("path %s", d.Path())
	}
}

func TestTheInstallationIDIsMadeOnce(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	d, log := open(t, path)
	first := d.Installation()
	if len(first) != 32 || strings.Trim(first, "0123456789abcdef") != "" || !strings.Contains(log.String(), first) {
		t.Errorf("ID %q; %s", first, log)
	}
	check(t, d.Close())
	d, log = open(t, path)
	if d.Installation() != first || log.Len() != 0 {
		t.Errorf("ID %q, was %q; %s", d.Installation(), first, log)
	}
	other, _ := open(t, statePath(t))
	if other.Installation() == first {
		t.Error("two installations share an ID")
	}
}

func TestOpenRefusesADirectoryThatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		plant func(path string) error
		err   string
	}{
		"others may enter": {func(path string) error { return os.Mkdir(path, 0o755) }, "its mode is 0755"},
		"a link":           {func(path string) error { return os.Symlink(os.TempDir(), path) }, "links are not followed"},
		"a file":           {func(path string) error { return os.WriteFile(path, nil, 0o600) }, "not a directory"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "state")
			check(t, tt.plant(path))
			_, err := tryOpen(path, io.Discard)
			wantError(t, err, tt.err)
		})
	}
}

func TestTwoAgentsCannotShareADirectory(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	d, _ := open(t, path)
	_, err := Open(path, slog.New(slog.DiscardHandler))
	wantError(t, err, fmt.Sprintf("another agent uses it, process %d: stop that one", os.Getpid()))
	check(t, d.Close())
	open(t, path)
}

func TestAStateThatIsRemovedWhileAnAgentUsesItIsMadeAnewForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	d, _ := open(t, path)
	check(t, os.RemoveAll(path))
	_, err := d.PolicySets().Content("a")
	check(t, err)
	check(t, d.PolicySets().Store(&PolicySet{Tenant: "a"}))
	check(t, d.Close())
	open(t, path)
}

func TestTheStateOfANewerAgentIsRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	d, _ := open(t, path)
	check(t, d.store(schemaFile, map[string]int{"schema": Schema + 1}))
	check(t, d.Close())
	check(t, os.Remove(filepath.Join(path, installationFile)))
	for range 2 {
		_, err := tryOpen(path, io.Discard)
		wantError(t, err, "it has schema 2, this agent knows up to 1: run the newer agent")
	}
	if _, err := os.Stat(filepath.Join(path, installationFile)); err == nil {
		t.Error("an installation ID was made in it")
	}
}

func TestACorruptFileIsMovedAsideAndMadeAnew(t *testing.T) {
	t.Parallel()
	for _, name := range []string{schemaFile, installationFile, nodeFile} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := statePath(t)
			d, _ := open(t, path)
			_, _, err := d.NodeName("n1", nil)
			check(t, err)
			for range 2 {
				check(t, d.Close())
				corrupt(t, filepath.Join(path, name))
				var log *bytes.Buffer
				d, log = open(t, path)
				_, _, err = d.NodeName("n1", nil)
				check(t, err)
				if !strings.Contains(log.String(), "state file is corrupt") {
					t.Errorf("not logged: %s", log)
				}
			}
			for _, file := range []string{name, filepath.Join(quarantineDir, name)} {
				if _, err := os.Stat(filepath.Join(path, file)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestFilesAreReadableJSON(t *testing.T) {
	t.Parallel()
	d, _ := open(t, statePath(t))
	data, err := os.ReadFile(filepath.Join(d.Path(), schemaFile))
	check(t, err)
	head, body, _ := strings.Cut(string(data), "\n")
	if !strings.HasPrefix(head, "sha256:") || body != "{\n  \"schema\": 1\n}\n" {
		t.Errorf("%s", data)
	}
}

func TestWhatACrashLeftOfAWriteIsRemoved(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	d, _ := open(t, path)
	check(t, d.Close())
	temps := []string{filepath.Join(path, durable.TempPrefix+"a"), filepath.Join(path, documentsDir, durable.TempPrefix+"b.json")}
	for _, temp := range temps {
		check(t, os.WriteFile(temp, []byte("half"), 0o600))
	}
	d, _ = open(t, path)
	if _, errs := d.Documents().Load("s"); len(errs) != 0 {
		t.Errorf("%v", errs)
	}
	for _, temp := range temps {
		if _, err := os.Stat(temp); err == nil {
			t.Errorf("%s is still there", temp)
		}
	}
}

func FuzzUnseal(f *testing.F) {
	good, err := seal(map[string]int{"schema": 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte("sha256:\n"))
	f.Add(checksum([]byte("{")))
	f.Fuzz(func(t *testing.T, data []byte) {
		var value any
		if err := unseal(data, &value); err != nil {
			return
		}
		again, err := seal(value)
		check(t, err)
		check(t, unseal(again, &value))
	})
}
