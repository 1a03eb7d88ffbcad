package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// buildTwice builds the archives from stand-ins for the binaries, twice.
func buildTwice(t *testing.T) (first, second string) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "binary")
	if err := os.WriteFile(binary, []byte("a program"), 0o700); err != nil {
		t.Fatal(err)
	}
	first, second = t.TempDir(), t.TempDir()
	for _, out := range []string{first, second} {
		if err := buildArchives(binary, binary, out); err != nil {
			t.Fatal(err)
		}
	}
	return first, second
}

func TestSameInputSameBytes(t *testing.T) {
	first, second := buildTwice(t)
	for _, file := range []string{"pause.tar", "test.tar", indexFile} {
		a, err := os.ReadFile(filepath.Join(first, file))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(second, file))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs between two builds", file)
		}
	}
}

// A runtime that removes one name of an image ID removes them all.
func TestEveryNameHasAnImageID(t *testing.T) {
	dir, _ := buildTwice(t)
	names := map[v1.Hash]string{}
	for _, archive := range archives() {
		for _, reference := range archive.Names {
			tag, err := name.NewTag(reference)
			if err != nil {
				t.Fatal(err)
			}
			image, err := tarball.ImageFromPath(filepath.Join(dir, archive.File), &tag)
			if err != nil {
				t.Fatalf("%s: %v", reference, err)
			}
			id, err := image.ConfigName()
			if err != nil {
				t.Fatal(err)
			}
			if other, taken := names[id]; taken {
				t.Errorf("%s and %s have one image ID", reference, other)
			}
			names[id] = reference
		}
	}
}
