package file

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// relink replaces a symbolic link in one step.
func relink(t *testing.T, target, path string) {
	t.Helper()
	must(t, os.Symlink(target, path+".new"))
	must(t, os.Rename(path+".new", path))
}

func TestADirectoryBehindALinkIsReadAndWatched(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	path := filepath.Join(base, "manifests")
	for _, name := range []string{"one", "two", "empty"} {
		must(t, os.Mkdir(filepath.Join(base, name), 0o700))
	}
	write(t, filepath.Join(base, "one", "a.yaml"), manifestOf("a", "one"))
	write(t, filepath.Join(base, "two", "a.yaml"), manifestOf("a", "two"))
	must(t, os.Symlink("one", path))
	s, k := started(t, path)
	s.cfg.Period, s.cfg.Settle = 20*time.Millisecond, 10*time.Millisecond
	run(t, s, k)
	eventually(t, []string{"a.yaml#0 a one"}, k.has)

	relink(t, "two", path)
	eventually(t, []string{"a.yaml#0 a two"}, k.has)
	replace(t, filepath.Join(base, "two", "b.yaml"), manifestOf("b", "two"))
	eventually(t, []string{"a.yaml#0 a two", "b.yaml#0 b two"}, k.has)

	relink(t, "empty", path)
	eventually(t, true, func() bool {
		healths := k.healths()
		return strings.HasPrefix(healths[len(healths)-1], "list manifests: DIR is empty and not the directory it was")
	})
	relink(t, "nowhere", path)
	eventually(t, true, func() bool {
		healths := k.healths()
		return strings.HasPrefix(healths[len(healths)-1], "list manifests: stat DIR: no such file or directory")
	})
	relink(t, "manifests", path)
	eventually(t, true, func() bool {
		healths := k.healths()
		return healths[len(healths)-1] == "list manifests: stat DIR: too many levels of symbolic links"
	})
	if diff := cmp.Diff([]string{"a.yaml#0 a two", "b.yaml#0 b two"}, k.has()); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	relink(t, "one", path)
	eventually(t, []string{"a.yaml#0 a one"}, k.has)
}

func TestALinkToTheDirectoryIsFollowedAtOnceWhenItIsSwapped(t *testing.T) {
	t.Parallel()
	for rule, tc := range map[string]struct {
		links map[string]string // targets, by name
		path  string
		swap  string
	}{
		"the path":                     {map[string]string{"path": "one"}, "path", "path"},
		"one on the way":               {map[string]string{"now": "one", "path": "now/."}, "path", "now"},
		"one that the path leads to":   {map[string]string{"path": "next", "next": "one"}, "path", "next"},
		"one that leads to a place in": {map[string]string{"up": ".", "path": "up/one"}, "path", "path"},
		"one that is absolute":         {map[string]string{"path": "/BASE/one"}, "path", "path"},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			for _, name := range []string{"one", "two"} {
				must(t, os.Mkdir(filepath.Join(base, name), 0o700))
				write(t, filepath.Join(base, name, "a.yaml"), manifestOf("a", name))
			}
			for name, target := range tc.links {
				must(t, os.Symlink(strings.Replace(target, "/BASE", base, 1), filepath.Join(base, name)))
			}
			path := filepath.Join(base, tc.path)
			s, k := started(t, path)
			run(t, s, k)
			eventually(t, []string{"a.yaml#0 a one"}, k.has)
			link := filepath.Join(base, tc.swap)
			for name, target := range tc.links {
				tc.links[name] = strings.Replace(target, "/BASE", base, 1)
			}
			relink(t, strings.TrimSuffix(tc.links[tc.swap], "one")+"two", link)
			eventually(t, []string{"a.yaml#0 a two"}, k.has)
			replace(t, filepath.Join(base, "two", "b.yaml"), manifestOf("b", "two"))
			eventually(t, []string{"a.yaml#0 a two", "b.yaml#0 b two"}, k.has)
			relink(t, tc.links[tc.swap], link)
			eventually(t, []string{"a.yaml#0 a one", "b.yaml#0 b two"}, k.has) // b is not removed yet
			replace(t, filepath.Join(base, "one", "b.yaml"), manifestOf("b", "one"))
			eventually(t, []string{"a.yaml#0 a one", "b.yaml#0 b one"}, k.has)
		})
	}
}

func TestALinkMayBeSwappedToTheDirectoryItIsIn(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	must(t, os.Mkdir(filepath.Join(base, "one"), 0o700))
	write(t, filepath.Join(base, "one", "a.yaml"), manifestOf("a", "one"))
	path := filepath.Join(base, "path")
	must(t, os.Symlink("one", path))
	s, k := started(t, path)
	run(t, s, k)
	write(t, filepath.Join(base, "a.yaml"), manifestOf("a", "base"))
	for range 2 {
		relink(t, ".", path)
		eventually(t, []string{"a.yaml#0 a base"}, k.has)
		replace(t, filepath.Join(base, "a.yaml"), manifestOf("a", "again"))
		eventually(t, []string{"a.yaml#0 a again"}, k.has)
		relink(t, "one", path)
		eventually(t, []string{"a.yaml#0 a one"}, k.has)
		replace(t, filepath.Join(base, "a.yaml"), manifestOf("a", "base"))
	}
}

func TestLinksToAPath(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.MkdirAll(filepath.Join(base, "real", "deep"), 0o700))
	for name, target := range map[string]string{"a": "real", "b": base + "/a/deep", "loop": "loop", "real/up": "../a"} {
		must(t, os.Symlink(target, filepath.Join(base, name)))
	}
	for path, want := range map[string][]string{
		"real/deep":        nil,
		"a/deep":           {"a"},
		"b":                {"b", "a"},
		"real/up/../deep":  nil,
		"real/up/deep":     {"real/up", "a"},
		"a/nothing/at/all": {"a"},
	} {
		var got []string
		for _, link := range linksTo(filepath.Join(base, path)) {
			got = append(got, strings.TrimPrefix(link, base+"/"))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	if n := len(linksTo(filepath.Join(base, "loop"))); n != maxLinks+1 {
		t.Errorf("%d links of a loop", n)
	}
}

func TestADirectoryWithinItselfIsNotEntered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "one"))
	must(t, os.Symlink(".", filepath.Join(dir, "self.yaml")))
	must(t, os.Symlink(dir, filepath.Join(dir, "again.yaml")))
	must(t, os.Symlink("to.yaml", filepath.Join(dir, "fro.yaml")))
	must(t, os.Symlink("fro.yaml", filepath.Join(dir, "to.yaml")))
	_, k := started(t, dir)
	want := []string{
		"a.yaml#0 a one",
		"again.yaml#* again.yaml: it is a directory; only regular files are read",
		"fro.yaml#* fro.yaml: stat fro.yaml: too many levels of symbolic links",
		"self.yaml#* self.yaml: it is a directory; only regular files are read",
		"to.yaml#* to.yaml: stat to.yaml: too many levels of symbolic links",
	}
	if diff := cmp.Diff(want, k.has()); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
}

func TestASingleFileBehindALinkIsReadAtOnceWhenTheLinkIsSwapped(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule string
		link string // the link that is replaced
	}{
		{"the link itself", "the.manifest"},
		{"a link on the way, as in a mounted ConfigMap", "..data"},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "the.manifest")
			for _, name := range []string{"one", "two"} {
				must(t, os.Mkdir(filepath.Join(dir, ".."+name), 0o700))
				write(t, filepath.Join(dir, ".."+name, "the.manifest"), manifestOf("a", name))
			}
			must(t, os.Symlink("..one", filepath.Join(dir, "..data")))
			must(t, os.Symlink("..data/the.manifest", path))
			s, k := started(t, dir, func(c *Config) { c.Path = path })
			run(t, s, k)
			target := "..two"
			if tc.link == "the.manifest" {
				target = "..two/the.manifest"
			}
			relink(t, target, filepath.Join(dir, tc.link))
			eventually(t, []string{"the.manifest#0 a two"}, k.has)
			for _, d := range k.all() {
				if len(d.Gone) > 0 {
					t.Errorf("gone: %q", d.Gone)
				}
			}
		})
	}
}

func TestASingleFileThatIsMissingIsAnErrorAndEndsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "the.manifest")
	s, k := newSource(dir, 10*time.Millisecond, func(c *Config) { c.Path, c.Period = path, 20*time.Millisecond })
	run(t, s, nil)
	missing := `list manifests: stat DIR/the.manifest: no such file or directory; create it, or set missing_path = "empty"`
	eventually(t, []string{missing}, k.healths)
	replace(t, path, manifestOf("a", "one"))
	eventually(t, []string{"the.manifest#0 a one"}, k.has)
	must(t, os.Remove(path))
	eventually(t, []string{missing, "<nil>", missing}, k.healths)
	replace(t, path, manifestOf("a", "two"))
	eventually(t, []string{"the.manifest#0 a two"}, k.has)
	for _, d := range k.all() {
		if len(d.Gone) > 0 {
			t.Errorf("gone: %q", d.Gone)
		}
	}
}
