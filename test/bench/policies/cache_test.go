package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/wardlet/wardlet/test/bench/policies/guest"
)

func TestCodeOfOtherGuestsIsDropped(t *testing.T) {
	t.Parallel()
	r := &run{dir: t.TempDir(), progress: &bytes.Buffer{}}
	write := func(path, content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.dropStale(); err == nil {
		t.Error("guests that were never built are no error")
	}
	for _, g := range guest.All() {
		write(g.File(r.dir), g.String())
	}
	code := filepath.Join(r.bareCache(), "code")
	for _, step := range []struct {
		name, content string
		stays         bool
	}{
		{"nothing is known", "go-lazy", false},
		{"the same guests", "go-lazy", true},
		{"another one", "changed", false},
	} {
		if err := os.MkdirAll(r.bareCache(), 0o700); err != nil {
			t.Fatal(err)
		}
		write(code, "x")
		write(guest.Guest{Language: guest.Go, Form: guest.Lazy}.File(r.dir), step.content)
		if err := r.dropStale(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(code); (err == nil) != step.stays {
			t.Errorf("%s: the code stays: %v", step.name, err == nil)
		}
	}
}
