package accepted

import (
	"crypto/sha256"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	"github.com/wardlet/wardlet/core/policy/wasm/compile"
	"github.com/wardlet/wardlet/core/policy/wasm/verify"
)

func testFiles(t *testing.T) *Files {
	t.Helper()
	return New(t.TempDir(), verify.Default(), slog.New(slog.DiscardHandler))
}

func TestWhatIsKnownOfModulesIsUsedAgain(t *testing.T) {
	t.Parallel()
	f := testFiles(t)
	sum := sha256.Sum256([]byte("a"))
	if f.Load(sum) != nil {
		t.Error("a module from nowhere")
	}
	stored := Module{Metered: compile.Digest{1}, Globals: []string{"g"}, Hooks: []string{"admit"}, Pages: 3}
	f.Store(sum, &stored)
	again := New(filepath.Dir(f.dir), verify.Default(), f.log).Load(sum)
	if !reflect.DeepEqual(again, &stored) {
		t.Errorf("%+v, want %+v", again, stored)
	}
}

func TestWhatMayBeWrongOfModulesIsNotUsed(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256([]byte("a"))
	for name, damage := range map[string]func(f *Files, path string) error{
		"of other caps":    func(f *Files, _ string) error { f.revision += "1"; return nil },
		"empty":            func(_ *Files, path string) error { return os.Truncate(path, 0) },
		"torn":             func(_ *Files, path string) error { return os.Truncate(path, 150) },
		"without a header": func(_ *Files, path string) error { return os.WriteFile(path, []byte("\x00asm"), 0o600) },
		"changed": func(_ *Files, path string) error {
			text, err := os.ReadFile(path)
			if err == nil {
				text[len(text)-1] ^= 1
				err = os.WriteFile(path, text, 0o600)
			}
			return err
		},
		"another module's": func(f *Files, path string) error {
			f.Store(sha256.Sum256([]byte("b")), &Module{Hooks: []string{"admit"}})
			return os.Rename(f.path(sha256.Sum256([]byte("b"))), path)
		},
		"a link": func(_ *Files, path string) error {
			if err := os.Rename(path, path+"-elsewhere"); err != nil {
				return err
			}
			return os.Symlink(path+"-elsewhere", path)
		},
	} {
		f := testFiles(t)
		f.Store(sum, &Module{Hooks: []string{"admit"}})
		if f.Load(sum) == nil {
			t.Fatalf("%s: not there before", name)
		}
		if err := damage(f, f.path(sum)); err != nil {
			t.Fatal(err)
		}
		if f.Load(sum) != nil {
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
	for n := range maxFiles + 5 {
		sum := sha256.Sum256([]byte(strconv.Itoa(n)))
		f.Store(sum, &Module{Hooks: []string{"admit"}})
		then := abitest.Time.Add(time.Duration(n) * time.Second)
		if err := os.Chtimes(f.path(sum), then, then); err != nil {
			t.Fatal(err)
		}
	}
	f.Store(sha256.Sum256([]byte("last")), &Module{Hooks: []string{"admit"}})
	entries, err := os.ReadDir(f.dir)
	if err != nil || len(entries) != maxFiles {
		t.Errorf("%d files, %v", len(entries), err)
	}
	if f.Load(sha256.Sum256([]byte("0"))) != nil || f.Load(sha256.Sum256([]byte("last"))) == nil {
		t.Error("not the oldest is gone")
	}
}
