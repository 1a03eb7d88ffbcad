package file

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

// bounded returns a source with limits of 4 manifests and 64 KiB, its sink, and a function that
// moves the clock by a second and makes the source look.
func bounded(t *testing.T, dir string, log *bytes.Buffer) (s *Source, k *sink, step func()) {
	t.Helper()
	now := time.Now()
	s, k = newSource(dir, time.Millisecond, func(c *Config) {
		c.MaxFiles, c.MaxBytes = 4, 64<<10
		c.Now = func() time.Time { return now }
		c.Logger = slog.New(slog.NewTextHandler(log, nil))
	})
	t.Cleanup(s.stopWatching)
	return s, k, func() {
		t.Helper()
		now = now.Add(time.Second)
		must(t, s.look(t.Context()))
	}
}

func TestBounds_directoryBeyondThemKeepsItsSnapshot(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fill func(t *testing.T, path string)
		want string
	}{
		"empty files":    {func(t *testing.T, path string) { t.Helper(); write(t, path, "") }, "holds more than 4 manifests"},
		"directories":    {func(t *testing.T, path string) { t.Helper(); must(t, os.Mkdir(path, 0o700)) }, "holds more than 4 manifests"},
		"dangling links": {func(t *testing.T, path string) { t.Helper(); must(t, os.Symlink("nowhere", path)) }, "holds more than 4 manifests"},
		"good pods": {func(t *testing.T, path string) {
			t.Helper()
			write(t, path, manifestOf(strings.TrimSuffix(filepath.Base(path), ".yaml"), "new"))
		}, "holds more than 4 manifests"},
		"hidden files": {func(t *testing.T, path string) {
			t.Helper()
			write(t, filepath.Join(filepath.Dir(path), "."+filepath.Base(path)), "")
		}, ""},
		"other files": {func(t *testing.T, path string) { t.Helper(); write(t, path+".txt", "") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, log := t.TempDir(), &bytes.Buffer{}
			write(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "v1"))
			s, k, step := bounded(t, dir, log)
			step()
			step()
			before := k.all()
			for i := range 3000 {
				tc.fill(t, filepath.Join(dir, fmt.Sprintf("x%d.yaml", i)))
			}
			for range 3 {
				step()
			}
			if got := k.all(); len(got) != len(before) {
				t.Errorf("%d deliveries more, first %v", len(got)-len(before), got[len(before)])
			}
			last := k.healths()[len(k.healths())-1]
			if tc.want == "" {
				if last != "<nil>" {
					t.Errorf("health %s", last)
				}
				return
			}
			if !strings.Contains(last, tc.want) {
				t.Errorf("health %s, want %s", last, tc.want)
			}
			if got := strings.Count(log.String(), "\n"); got != 1 || !strings.Contains(log.String(), tc.want) {
				t.Errorf("log of %d lines:\n%s", got, log)
			}
			if len(s.files) > 4 || len(s.due)+len(s.arrived)+len(s.late) > 0 {
				t.Errorf("%d files, %d due, %d arrived are remembered", len(s.files), len(s.due), len(s.arrived))
			}
			for i := range 3000 {
				must(t, os.Remove(filepath.Join(dir, fmt.Sprintf("x%d.yaml", i))))
			}
			replace(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "v22"))
			step()
			step()
			if got, want := k.has(), []string{"a.yaml#0 a v22"}; !slices.Equal(got, want) {
				t.Errorf("within the bounds again: %v, want %v", got, want)
			}
			if last := k.healths()[len(k.healths())-1]; last != "<nil>" {
				t.Errorf("health %s", last)
			}
			if got := strings.Count(log.String(), "\n"); got != 2 {
				t.Errorf("log of %d lines:\n%s", got, log)
			}
		})
	}
}

func TestBounds_bytes(t *testing.T) {
	t.Parallel()
	dir, log := t.TempDir(), &bytes.Buffer{}
	path := filepath.Join(dir, "b.yaml")
	write(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "v1"))
	write(t, path, manifestOf("b", "v1"))
	s, k, step := bounded(t, dir, log)
	step()
	step()
	replace(t, path, manifestOf("b", "v2")+strings.Repeat("# a comment\n", 6<<10))
	step()
	step()
	if got := k.healths(); !strings.Contains(got[len(got)-1], "more than 65536 bytes together") {
		t.Errorf("health %v", got)
	}
	replace(t, path, manifestOf("b", "v3"))
	step()
	step()
	if got, want := k.has(), []string{"a.yaml#0 a v1", "b.yaml#0 b v3"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if want := int64(len(manifestOf("a", "v1")) + len(manifestOf("b", "v3"))); s.bytes != want || s.documents != 2 {
		t.Errorf("%d bytes of %d documents are counted, want %d of 2", s.bytes, s.documents, want)
	}
}

// TestBounds_documents checks that a file with too many documents is held while other files are
// read.
func TestBounds_documents(t *testing.T) {
	t.Parallel()
	dir, log := t.TempDir(), &bytes.Buffer{}
	many := filepath.Join(dir, "many.yaml")
	write(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "v1"))
	write(t, many, manifestOf("b", "v1")+"---\n"+manifestOf("c", "v1"))
	_, k, step := bounded(t, dir, log)
	step()
	step()
	replace(t, many, strings.Repeat("---\nno: pod\n", 900))
	step()
	step()
	if got := k.has(); !slices.ContainsFunc(got, func(d string) bool {
		return strings.HasPrefix(d, "many.yaml"+api.HoldSuffix+" many.yaml: with the 901 documents of this file the source has more than 4")
	}) || !slices.Contains(got, "a.yaml#0 a v1") || !slices.Contains(got, "many.yaml#0 b v1") || len(got) != 4 {
		t.Errorf("got %v", got)
	}
	replace(t, many, manifestOf("b", "v2"))
	step()
	step()
	if got, want := k.has(), []string{"a.yaml#0 a v1", "many.yaml#0 b v2"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestBounds_roomAgain checks that a held, unchanged file is read once other files are removed.
func TestBounds_roomAgain(t *testing.T) {
	t.Parallel()
	dir, log := t.TempDir(), &bytes.Buffer{}
	three := func(of string) string {
		return manifestOf(of+"1", "v1") + "---\n" + manifestOf(of+"2", "v1") + "---\n" + manifestOf(of+"3", "v1")
	}
	write(t, filepath.Join(dir, "a.yaml"), three("a"))
	_, k, step := bounded(t, dir, log)
	step()
	step()
	write(t, filepath.Join(dir, "b.yaml"), three("b"))
	step()
	step()
	if got := k.has(); len(got) != 4 || !strings.HasPrefix(got[3], "b.yaml"+api.HoldSuffix) {
		t.Errorf("got %v", got)
	}
	must(t, os.Remove(filepath.Join(dir, "a.yaml")))
	for range 4 {
		step()
	}
	if got, want := k.has(), []string{"b.yaml#0 b1 v1", "b.yaml#1 b2 v1", "b.yaml#2 b3 v1"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
