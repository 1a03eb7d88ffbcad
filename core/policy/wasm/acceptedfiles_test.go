package wasm

import (
	"crypto/sha256"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm/compile"
	"github.com/wardlet/wardlet/core/policy/wasm/verify"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

func testFiles(t *testing.T) *acceptedFiles {
	t.Helper()
	return newAcceptedFiles(t.TempDir(), verify.Default(), slog.New(slog.DiscardHandler))
}

func TestWhatIsKnownOfModulesIsUsedAgain(t *testing.T) {
	t.Parallel()
	f := testFiles(t)
	sum := sha256.Sum256([]byte("a"))
	if f.load(sum) != nil {
		t.Error("a module from nowhere")
	}
	stored := accepted{Metered: compile.Digest{1}, Globals: []string{"g"}, Hooks: []string{"admit"}, Pages: 3}
	f.store(sum, &stored)
	again := newAcceptedFiles(filepath.Dir(f.dir), verify.Default(), f.log).load(sum)
	if !reflect.DeepEqual(again, &stored) {
		t.Errorf("%+v, want %+v", again, stored)
	}
}

func TestWhatMayBeWrongOfModulesIsNotUsed(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256([]byte("a"))
	for name, damage := range map[string]func(f *acceptedFiles, path string) error{
		"of other caps":    func(f *acceptedFiles, _ string) error { f.revision += "1"; return nil },
		"empty":            func(_ *acceptedFiles, path string) error { return os.Truncate(path, 0) },
		"torn":             func(_ *acceptedFiles, path string) error { return os.Truncate(path, 150) },
		"without a header": func(_ *acceptedFiles, path string) error { return os.WriteFile(path, []byte("\x00asm"), 0o600) },
		"changed": func(_ *acceptedFiles, path string) error {
			text, err := os.ReadFile(path)
			if err == nil {
				text[len(text)-1] ^= 1
				err = os.WriteFile(path, text, 0o600)
			}
			return err
		},
		"another module's": func(f *acceptedFiles, path string) error {
			f.store(sha256.Sum256([]byte("b")), &accepted{Hooks: []string{"admit"}})
			return os.Rename(f.path(sha256.Sum256([]byte("b"))), path)
		},
		"a link": func(_ *acceptedFiles, path string) error {
			if err := os.Rename(path, path+"-elsewhere"); err != nil {
				return err
			}
			return os.Symlink(path+"-elsewhere", path)
		},
	} {
		f := testFiles(t)
		f.store(sum, &accepted{Hooks: []string{"admit"}})
		if f.load(sum) == nil {
			t.Fatalf("%s: not there before", name)
		}
		if err := damage(f, f.path(sum)); err != nil {
			t.Fatal(err)
		}
		if f.load(sum) != nil {
			t.Errorf("one that is %s is used", name)
		}
	}
}

func TestAProgramKnowsItself(t *testing.T) {
	t.Parallel()
	if id := programID(); len(id) < 32 || id != programID() {
		t.Errorf("its ID is %q", id)
	}
}

func TestWhatIsKnownOfOldModulesGoes(t *testing.T) {
	t.Parallel()
	f := testFiles(t)
	for n := range maxAccepted + 5 {
		sum := sha256.Sum256([]byte(strconv.Itoa(n)))
		f.store(sum, &accepted{Hooks: []string{"admit"}})
		then := testTime.Add(time.Duration(n) * time.Second)
		if err := os.Chtimes(f.path(sum), then, then); err != nil {
			t.Fatal(err)
		}
	}
	f.store(sha256.Sum256([]byte("last")), &accepted{Hooks: []string{"admit"}})
	entries, err := os.ReadDir(f.dir)
	if err != nil || len(entries) != maxAccepted {
		t.Errorf("%d files, %v", len(entries), err)
	}
	if f.load(sha256.Sum256([]byte("0"))) != nil || f.load(sha256.Sum256([]byte("last"))) == nil {
		t.Error("not the oldest is gone")
	}
}

// TestAPluginLoadsTheSameFromWhatIsKept checks that a stored module equals the result of
// rewriting it again.
func TestAPluginLoadsTheSameFromWhatIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/cache"
	var fuel []int64
	for range 2 {
		e := engineIn(t, dir, &testLog{})
		p, err := e.Load(t.Context(), w.Denying("object.spec.@containers[*].image", "evil"), testOptions())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		result, err := p.Admit(t.Context(), question(testPod("good", "evil")))
		if err != nil {
			t.Fatal(err)
		}
		fuel = append(fuel, result.Fuel)
	}
	if fuel[0] != fuel[1] {
		t.Errorf("fuel %v", fuel)
	}
}
