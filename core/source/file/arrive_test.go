package file

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAFileThatArrivesWholeIsReadAtOnce has a settle time of one minute, so a file that is
// delivered was read without waiting for this time.
func TestAFileThatArrivesWholeIsReadAtOnce(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule   string
		arrive func(t *testing.T, dir, path string)
	}{
		{"renamed within the directory", func(t *testing.T, _, path string) {
			t.Helper()
			replace(t, path, manifestOf("a", "new"))
		}},
		{"renamed from elsewhere, just written", func(t *testing.T, _, path string) {
			t.Helper()
			elsewhere := filepath.Join(filepath.Dir(filepath.Dir(path)), "elsewhere")
			write(t, elsewhere, manifestOf("a", "new"))
			must(t, os.Rename(elsewhere, path))
		}},
		{"a second link to a file", func(t *testing.T, dir, path string) {
			t.Helper()
			must(t, os.RemoveAll(path))
			write(t, filepath.Join(dir, ".a"), manifestOf("a", "new"))
			must(t, os.Link(filepath.Join(dir, ".a"), path))
		}},
		{"a symbolic link", func(t *testing.T, dir, path string) {
			t.Helper()
			must(t, os.RemoveAll(path))
			write(t, filepath.Join(dir, ".a"), manifestOf("a", "new"))
			must(t, os.Symlink(".a", path))
		}},
		{"a symbolic link that is replaced", func(t *testing.T, dir, path string) {
			t.Helper()
			write(t, filepath.Join(dir, ".a"), manifestOf("a", "new"))
			must(t, os.Symlink(".a", filepath.Join(dir, ".link")))
			must(t, os.Rename(filepath.Join(dir, ".link"), path))
		}},
	} {
		for _, before := range []string{"new", "replacing another"} {
			t.Run(tc.rule+"/"+before, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), "manifests")
				must(t, os.Mkdir(dir, 0o700))
				path := filepath.Join(dir, "a.yaml")
				if before != "new" {
					write(t, path, manifestOf("a", "old"))
				}
				s, k := started(t, dir)
				run(t, s, k)
				tc.arrive(t, dir, path)
				eventually(t, []string{"a.yaml#0 a new"}, k.has)
			})
		}
	}
}

func TestASwappedDirectoryLinkIsReadAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	generation := func(name, image string) {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		write(t, filepath.Join(dir, name, "a.yaml"), manifestOf("a", image))
		must(t, os.Symlink(name, filepath.Join(dir, "..data_tmp")))
		must(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
	}
	generation("..1", "one")
	must(t, os.Symlink("..data/a.yaml", filepath.Join(dir, "a.yaml")))
	s, k := started(t, dir)
	run(t, s, k)
	generation("..2", "two")
	eventually(t, []string{"a.yaml#0 a two"}, k.has)
}
