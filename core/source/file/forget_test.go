package file

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDeliveriesOfChanges(t *testing.T) {
	t.Parallel()
	const uncertain = "which pods the file holds is uncertain; those it held before go on until this is mended"
	a, b, c := manifestOf("a", "a1"), manifestOf("b", "b1"), manifestOf("c", "c1")
	const sep = "---\n"
	list := func(pods ...string) string {
		const spec = "}\n  spec: {containers: [{name: c, image: i}]}\n"
		return "apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: " + strings.Join(pods, spec+"- metadata: {name: ") + spec
	}
	type files map[string]string
	for _, tc := range []struct {
		rule          string
		before, after files
		// want are the expected deliveries after the snapshot.
		want []delivery
	}{
		{"the same bytes deliver nothing", files{"x.yaml": a}, files{"x.yaml": a}, nil},
		{
			"a change delivers the file it is in, and no other",
			files{"x.yaml": a + sep + b, "y.yaml": c},
			files{"x.yaml": a + sep + manifestOf("b", "b2")},
			[]delivery{{Changed: []string{"x.yaml#0 a a1", "x.yaml#1 b b2"}}},
		},
		{
			"a document that the file no longer has is not in it",
			files{"x.yaml": a + sep + b},
			files{"x.yaml": a},
			[]delivery{{Changed: []string{"x.yaml#0 a a1"}}},
		},
		{
			"an item that the list no longer has is not in it",
			files{"x.yaml": list("a", "b")},
			files{"x.yaml": list("a")},
			[]delivery{{Changed: []string{"x.yaml#0.0 a i"}}},
		},
		{
			"comments alone end all pods of a file",
			files{"x.yaml": a + sep + b},
			files{"x.yaml": "# " + "nothing\n"},
			[]delivery{{Gone: []string{"x.yaml"}}},
		},
		{
			"an invalid document takes no other's place",
			files{"x.yaml": a + sep + b},
			files{"x.yaml": a + sep + "apiVersion: v1\nkind: Pod\nmetadata: {name: b}\n"},
			[]delivery{{Changed: []string{"x.yaml#0 a a1", "x.yaml#1 x.yaml:9: spec.containers: Required value"}}},
		},
		{
			"a document without a name holds the file: nobody knows which pod it is",
			files{"x.yaml": a + sep + b + sep + c},
			files{"x.yaml": "apiVersion: v1\nkind: Pod\n" + sep + c},
			[]delivery{{Changed: []string{"x.yaml#0 x.yaml:1: metadata.name: Required value", "x.yaml#1 c c1", "x.yaml#* x.yaml:1: " + uncertain}}},
		},
		{
			"another pod with the very same fault is another document",
			files{"x.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n" + sep + c},
			files{"x.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: b}\n" + sep + c},
			[]delivery{{Changed: []string{"x.yaml#0 x.yaml:1: spec.containers: Required value", "x.yaml#1 c c1"}}},
		},
		{
			"a document that does not parse holds the file; the others are delivered",
			files{"x.yaml": a + sep + b + sep + c},
			files{"x.yaml": a + sep + "b: [\n" + sep + manifestOf("c", "c2")},
			[]delivery{{Changed: []string{
				"x.yaml#0 a a1", "x.yaml#1 x.yaml:9: did not find expected node content", "x.yaml#2 c c2", "x.yaml#* x.yaml:9: " + uncertain,
			}}},
		},
		{
			"a separator that broke ends no pod and moves none",
			files{"x.yaml": a + sep + b + sep + c},
			files{"x.yaml": a + b + sep + c},
			[]delivery{{Changed: []string{
				`x.yaml#0 x.yaml:8: duplicate key "apiVersion", first in line 1`, "x.yaml#1 c c1", "x.yaml#* x.yaml:8: " + uncertain,
			}}},
		},
		{
			"a file that is cut off before its first pod holds",
			files{"x.yaml": a + sep + b},
			files{"x.yaml": ""},
			[]delivery{{Changed: []string{"x.yaml#* x.yaml: the manifest is empty; remove it to end its pods"}}},
		},
		{
			"a list that is now one bad pod keeps its items where nobody knows which pod",
			files{"x.yaml": list("a", "b")},
			files{"x.yaml": "apiVersion: v1\nkind: Pod\n"},
			[]delivery{{Changed: []string{"x.yaml#0 x.yaml:1: metadata.name: Required value", "x.yaml#* x.yaml:1: " + uncertain}}},
		},
		{
			"a list that is now one bad pod is no list any more",
			files{"x.yaml": list("a", "b")},
			files{"x.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"},
			[]delivery{{Changed: []string{"x.yaml#0 x.yaml:1: spec.containers: Required value"}}},
		},
		{
			"a document that becomes a list is none",
			files{"x.yaml": a},
			files{"x.yaml": list("b")},
			[]delivery{{Changed: []string{"x.yaml#0.0 b i"}}},
		},
		{
			"one identity in two files is the mux's to decide",
			files{"x.yaml": a},
			files{"x.yaml": a, "y.yaml": a},
			[]delivery{{Changed: []string{"y.yaml#0 a a1"}}},
		},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range tc.before {
				replace(t, filepath.Join(dir, name), text)
			}
			s, k := started(t, dir)
			for name, text := range tc.after {
				replace(t, filepath.Join(dir, name), text)
			}
			s.cfg.Settle = time.Nanosecond
			must(t, s.listAll(t.Context()))
			must(t, s.listAll(t.Context()))
			if diff := cmp.Diff(tc.want, k.all()[1:], cmpEmpty); diff != "" {
				t.Errorf("deliveries (-want +got):\n%s", diff)
			}
			// When the files have their old content again, the pods are those of a new source.
			for name := range tc.after {
				must(t, os.Remove(filepath.Join(dir, name)))
			}
			for name, text := range tc.before {
				replace(t, filepath.Join(dir, name), text)
			}
			must(t, s.listAll(t.Context()))
			must(t, s.listAll(t.Context()))
			_, fresh := newSource(dir, time.Nanosecond)
			again := New(Config{Name: "local", Path: dir, NodeName: "node", Sink: fresh, Settle: time.Nanosecond})
			must(t, again.look(t.Context()))
			if diff := cmp.Diff(fresh.has(), k.has()); diff != "" {
				t.Errorf("after it was mended (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAHeldFileStaysHeldBesideWhatIsDelivered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.yaml")
	broken := func(image string) string { return manifestOf("a", image) + "---\nb: [\n" }
	replace(t, path, broken("one"))
	s, k := started(t, dir)
	replace(t, path, broken("two"))
	takeEvents(t, s)
	s.cfg.Settle = time.Nanosecond
	must(t, s.listAll(t.Context()))
	got := k.all()[1].Changed
	if len(got) != 3 || got[0] != "a.yaml#0 a two" || !strings.HasPrefix(got[2], "a.yaml#* ") {
		t.Errorf("delivered %q", got)
	}
}

func TestAFileThatIsAbsentIsGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	replace(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "a1")+"---\n"+manifestOf("b", "b1"))
	replace(t, filepath.Join(dir, "c.yaml"), manifestOf("c", "c1"))
	s, k := newSource(dir, DefaultSettle)
	run(t, s, k)
	must(t, os.Remove(filepath.Join(dir, "a.yaml")))
	eventually(t, []string{"c.yaml#0 c c1"}, k.has)
	must(t, os.Remove(filepath.Join(dir, "c.yaml")))
	eventually(t, nil, k.has)
}

func TestEditorsEndNoPod(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule string
		save func(t *testing.T, path, text string)
	}{
		{"vim: the old file is moved away, the new one written, the backup removed", func(t *testing.T, path, text string) {
			t.Helper()
			write(t, filepath.Join(filepath.Dir(path), ".a.yaml.swp"), "swap")
			write(t, filepath.Join(filepath.Dir(path), "4913"), "")
			must(t, os.Remove(filepath.Join(filepath.Dir(path), "4913")))
			must(t, os.Rename(path, path+"~"))
			time.Sleep(20 * time.Millisecond)
			write(t, path, text)
			must(t, os.Remove(path+"~"))
			must(t, os.Remove(filepath.Join(filepath.Dir(path), ".a.yaml.swp")))
		}},
		{"vim with backupcopy: a copy is made, the file written over, the copy removed", func(t *testing.T, path, text string) {
			t.Helper()
			write(t, filepath.Join(filepath.Dir(path), ".a.yaml.swp"), "swap")
			old, err := os.ReadFile(path)
			must(t, err)
			write(t, path+"~", string(old))
			write(t, path, text)
			must(t, os.Remove(path+"~"))
			must(t, os.Remove(filepath.Join(filepath.Dir(path), ".a.yaml.swp")))
		}},
		{"nano: a lock, and the file written over", func(t *testing.T, path, text string) {
			t.Helper()
			write(t, filepath.Join(filepath.Dir(path), ".a.yaml.swp"), "nano")
			write(t, path, text)
			must(t, os.Remove(filepath.Join(filepath.Dir(path), ".a.yaml.swp")))
		}},
		{"GLib: a new file is moved over the old one, which is kept as a link", func(t *testing.T, path, text string) {
			t.Helper()
			write(t, filepath.Join(filepath.Dir(path), ".goutputstream-XYZ"), text)
			must(t, os.Link(path, path+"~"))
			must(t, os.Rename(filepath.Join(filepath.Dir(path), ".goutputstream-XYZ"), path))
		}},
		{"JetBrains: the old file is moved away, the new one into its place", func(t *testing.T, path, text string) {
			t.Helper()
			write(t, path+"___jb_tmp___", text)
			must(t, os.Rename(path, path+"___jb_old___"))
			must(t, os.Rename(path+"___jb_tmp___", path))
			must(t, os.Remove(path+"___jb_old___"))
		}},
		{"emacs: a lock, a copy is kept, the file written over", func(t *testing.T, path, text string) {
			t.Helper()
			lock := filepath.Join(filepath.Dir(path), ".#a.yaml")
			must(t, os.Symlink("me@here.1:1", lock))
			defer os.Remove(lock)
			old, err := os.ReadFile(path)
			must(t, err)
			write(t, path+"~", string(old))
			write(t, filepath.Join(filepath.Dir(path), "#a.yaml#"), "auto-save")
			write(t, path, text)
			must(t, os.Remove(filepath.Join(filepath.Dir(path), "#a.yaml#")))
		}},
		{"sed -i: a new file is moved over the old one", func(t *testing.T, path, text string) {
			t.Helper()
			write(t, filepath.Join(filepath.Dir(path), "sedXYZ"), text)
			must(t, os.Rename(filepath.Join(filepath.Dir(path), "sedXYZ"), path))
		}},
		{"install: the file is removed and written", func(t *testing.T, path, text string) {
			t.Helper()
			must(t, os.Remove(path))
			write(t, path, text)
			must(t, os.Chmod(path, 0o644))
		}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "a.yaml")
			replace(t, path, manifestOf("a", "old"))
			s, k := newSource(dir, 300*time.Millisecond)
			run(t, s, k)
			tc.save(t, path, manifestOf("a", "new"))
			eventually(t, []string{"a.yaml#0 a new"}, k.has)
			for _, d := range k.all()[1:] {
				if len(d.Gone) > 0 || !slices.Equal(d.Changed, []string{"a.yaml#0 a new"}) {
					t.Errorf("delivered: %v", k.all())
				}
			}
		})
	}
}

func TestARenamedFileIsGoneAndThereInOneDelivery(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	replace(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "a1"))
	s, k := started(t, dir)
	run(t, s, k)
	must(t, os.Rename(filepath.Join(dir, "a.yaml"), filepath.Join(dir, "b.yaml")))
	eventually(t, []string{"b.yaml#0 a a1"}, k.has)
	want := delivery{Changed: []string{"b.yaml#0 a a1"}, Gone: []string{"a.yaml"}}
	if diff := cmp.Diff(want, k.all()[1]); diff != "" {
		t.Errorf("delivery (-want +got):\n%s", diff)
	}
}
