package main

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"
)

// TestStandin_readsAVolumeOfObjects: a volume is read through its links, without its internal
// directories. The claims of a token are found.
func TestStandin_readsAVolumeOfObjects(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	token := "e30." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"web"}`)) + ".c2ln"
	for name, text := range map[string]string{"..1/conf": "one", "..1/of/level": "two", "..1/token": token} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"..data": "..1", "conf": "..data/conf", "of": "..data/of", "token": "..data/token", "gone": "..data/gone"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	found, err := (&standinMount{Path: dir, Deep: true, Write: true}).look("web")
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Files) != 4 || found.Files["conf"] == "" || found.Files["of/level"] == "" || found.Files["gone"] != "" {
		t.Errorf("files are %v", found.Files)
	}
	if string(found.Tokens["token"]) != `{"sub":"web"}` || len(found.Tokens) != 1 {
		t.Errorf("tokens are %s", found.Tokens)
	}
	written, err := os.ReadFile(filepath.Join(dir, "standin-web"))
	if err != nil || string(written) != "written by web" || found.Unwritable != "" {
		t.Errorf("written is %q, %v, %s", written, err, found.Unwritable)
	}
}

// TestDuty_copies: duty copies a file as an init container does, and fails if an argument is
// missing.
func TestDuty_copies(t *testing.T) {
	t.Parallel()
	from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
	if err := os.WriteFile(from, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := duty("cp", []string{"-f", from, to}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(to); err != nil || string(text) != "text" {
		t.Errorf("the copy says %q, %v", text, err)
	}
	if err := duty("cp", []string{from}); err == nil {
		t.Error("cp with one file succeeds")
	}
}
