package clusterset

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
)

func TestSet_take(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "cluster-set")
	changes := 0
	restart := func() *Set {
		return New(Config{Namespace: "kube-system", Name: "policies", Dir: filepath.Join(root, "current"), Changed: func(context.Context) { changes++ }, Logger: slog.New(slog.DiscardHandler)})
	}
	s := restart()
	first := &v1.ConfigMap{Data: map[string]string{"a.toml": "one", "set.toml": "manifest"}, BinaryData: map[string][]byte{"a.wasm": {0, 'a', 's', 'm'}}}
	second := &v1.ConfigMap{Data: map[string]string{"b.toml": "two"}}
	want := map[string]string{"a.toml": "one", "set.toml": "manifest", "a.wasm": "\x00asm"}
	for _, step := range []struct {
		name    string
		restart bool
		given   *v1.ConfigMap
		want    map[string]string
		changes int
	}{
		{"none yet", false, nil, map[string]string{}, 0},
		{"a first set", false, first, want, 1},
		{"the same again", false, first.DeepCopy(), want, 1},
		{"a ConfigMap that is deleted", false, nil, want, 1},
		{"the same after a restart", true, first, want, 1},
		{"another set", false, second, map[string]string{"b.toml": "two"}, 2},
		{"the first set again", false, first, want, 3},
		{"a key that is too long for a file", false, &v1.ConfigMap{Data: map[string]string{"a.toml": "one", strings.Repeat("n", 253): ""}}, want, 3},
		{"a key in a directory", false, &v1.ConfigMap{Data: map[string]string{"a/b": "one"}}, want, 3},
		{"too many keys", false, &v1.ConfigMap{Data: keys(513)}, want, 3},
		{"an empty ConfigMap", false, &v1.ConfigMap{}, map[string]string{}, 4},
	} {
		if step.restart {
			s = restart()
		}
		s.take(t.Context(), step.given)
		if diff := cmp.Diff(step.want, content(t, filepath.Join(root, "current"))); diff != "" || changes != step.changes {
			t.Errorf("%s: %d changes, want %d; files (-want +got):\n%s", step.name, changes, step.changes, diff)
		}
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 2 {
		t.Errorf("the directory has %v, %v; want one set and the link", entries, err)
	}
}

// keys returns the data of a ConfigMap with many keys.
func keys(n int) map[string]string {
	all := map[string]string{}
	for i := range n {
		all[strconv.Itoa(i)] = ""
	}
	return all
}

// content returns the files of a directory; none if it does not exist.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[entry.Name()] = string(text)
	}
	return files
}

// A write that was cut off leaves no set that is half one.
func TestSet_afterAPowerCut(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	set := &v1.ConfigMap{Data: map[string]string{"a.toml": "one"}}
	cut := filepath.Join(root, setPrefix+digest(map[string][]byte{"a.toml": []byte("one")}))
	if err := os.Mkdir(cut, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cut, "left.toml"), []byte("part"), 0o600); err != nil {
		t.Fatal(err)
	}
	New(Config{Dir: filepath.Join(root, "current"), Changed: func(context.Context) {}, Logger: slog.New(slog.DiscardHandler)}).take(t.Context(), set)
	if diff := cmp.Diff(map[string]string{"a.toml": "one"}, content(t, filepath.Join(root, "current"))); diff != "" {
		t.Error(diff)
	}
}
