package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func files(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			var text []byte
			text, err = os.ReadFile(path)
			name, _ := filepath.Rel(dir, path)
			all = append(all, name+"="+string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

func TestFilesAreWrittenGroupAfterGroup(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "policies")
	written, err := publish(dir, map[string][]byte{"z/t.yaml": []byte("1")}, map[string][]byte{"b.wasm": []byte("2"), "a.wasm": []byte("3")},
		map[string][]byte{"a.toml": []byte("4")})
	if err != nil {
		t.Fatal(err)
	}
	if got := files(t, dir); got != "a.toml=4 a.wasm=3 b.wasm=2 z/t.yaml=1" {
		t.Errorf("got %s", got)
	}
	if got := strings.Join(written, " "); got != "z/t.yaml a.wasm b.wasm a.toml" {
		t.Errorf("written in the order %s", got)
	}
}

func TestWhatIsThereAlreadyIsNotTouched(t *testing.T) {
	dir := t.TempDir()
	write := func(a, b, want string) {
		t.Helper()
		written, err := publish(dir, map[string][]byte{"a": []byte(a), "b": []byte(b)})
		if got := strings.Join(written, " "); err != nil || got != want {
			t.Fatalf("wrote %q, %v, want %q", got, err, want)
		}
	}
	stat := func(name string) os.FileInfo {
		t.Helper()
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	if err := os.WriteFile(filepath.Join(dir, "mine.toml"), []byte("m"), 0o600); err != nil {
		t.Fatal(err)
	}
	write("1", "1", "a b")
	a, b := stat("a"), stat("b")
	write("1", "2", "b")
	if !os.SameFile(a, stat("a")) || a.ModTime() != stat("a").ModTime() {
		t.Error("a file with the same content was written again")
	}
	if os.SameFile(b, stat("b")) {
		t.Error("a file was overwritten in place")
	}
	if got := files(t, dir); got != "a=1 b=2 mine.toml=m" {
		t.Errorf("got %s", got)
	}
	if mode := stat("b").Mode().Perm(); mode != 0o644 {
		t.Errorf("mode %o", mode)
	}
}

func TestAFailureLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a.toml", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := publish(dir, map[string][]byte{"a.toml": []byte("1")})
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "a.toml")) {
		t.Errorf("got %v", err)
	}
	if got := files(t, dir); got != "" {
		t.Errorf("left behind: %s", got)
	}
}
