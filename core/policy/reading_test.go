package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestASetIsRefusedAsItIsReadFor(t *testing.T) {
	t.Parallel()
	const second = "[[test]]\npod = \"tests/a.yaml\"\nexpect = \"allow\""
	for name, test := range map[string]struct {
		make func(d tree)
		want string
	}{
		"a missing directory": {
			func(d tree) { d.remove("") },
			"the policy directory DIR is missing; make it, or take it out of agent.toml to have no policies",
		},
		"no policy at all": {
			func(d tree) { d.write("README.md", "") },
			"the policy directory DIR has no policy (*.toml); add one, or take it out of agent.toml to have no policies",
		},
		"more documents than a set may have": {
			func(d tree) {
				for i := range maxDocuments + 1 {
					d.write(fmt.Sprintf("%d.toml", i), "")
				}
			},
			"the policy directory DIR has more than 256 documents; remove some, or unite policies",
		},
		"the manifest of a signed set": {
			func(d tree) { d.policy("p", "allow"); d.write("set.toml", "revision = 1\n") },
			`DIR/set.toml: api: missing; the manifest of a signed set begins with api = "wardlet.dev/v1"`,
		},
		"a document that is too large": {
			func(d tree) { d.write("p.toml", strings.Repeat("#", 256<<10+1)) },
			"DIR/p.toml: cannot be read: 262145 bytes long, more than the 262144 it may have",
		},
		"a document that is a link": {
			func(d tree) {
				d.policy("p", "allow")
				must(d.t, os.Symlink("p.toml", filepath.Join(d.dir, "q.toml")))
			},
			"DIR/q.toml: cannot be read: a symbolic link, and links are not followed; put what it leads to in its place",
		},
		"a document that is a directory": {
			func(d tree) { d.policy("p", "allow"); d.write("q.toml/x", "") },
			"DIR/q.toml: cannot be read: not a regular file; remove it, or put one in its place",
		},
		"every faulty document, in order": {
			func(d tree) {
				d.write("b.toml", strings.Replace(documentOf("b", "allow"), "hooks", "hoks", 1))
				d.write("a.toml", documentOf("a", "allow", "priority = -1", "mode = \"on\""))
			},
			"DIR/a.toml:6: priority: want 0 to 1000, found -1\nDIR/a.toml:7: mode: want \"enforce\", \"warn\", \"audit\", \"shadow\", \"member\" or \"off\", found \"on\"\n" +
				"DIR/b.toml:5: hoks: unknown key; did you mean \"hooks\"?",
		},
		"a name that stands for two": {
			func(d tree) {
				d.policy("p", "allow")
				d.write("q.toml", documentOf("p", "allow"))
			},
			`DIR/q.toml:2: name: "p" is the name of the policy in p.toml too; give each its own`,
		},
		"a name that stands for two, the other in a file of two lines": {
			func(d tree) {
				d.policy("p", "allow")
				d.write("a\nb.toml", documentOf("p", "allow"))
			},
			`DIR/p.toml:2: name: "p" is the name of the policy in a\nb.toml too; give each its own`,
		},
		"a module that is missing": {
			func(d tree) { d.policy("p", "allow"); d.remove("p.wasm") },
			"DIR/p.toml:3: module: p.wasm cannot be read: no such file or directory",
		},
		"a module that is too large": {
			func(d tree) { d.policy("p", strings.Repeat("x", 4<<20+1)) },
			"DIR/p.toml:3: module: p.wasm cannot be read: 4194305 bytes long, more than the 4194304 it may have; " +
				"build it smaller, or raise policy.module_bytes in agent.toml",
		},
		"a module that is a link": {
			func(d tree) {
				d.policy("p", "allow")
				must(d.t, os.Rename(filepath.Join(d.dir, "p.wasm"), filepath.Join(d.dir, "real")))
				must(d.t, os.Symlink("real", filepath.Join(d.dir, "p.wasm")))
			},
			"DIR/p.toml:3: module: p.wasm cannot be read: a symbolic link, and links are not followed; put what it leads to in its place",
		},
		"another module than is pinned": {
			func(d tree) { d.policy("p", "allow"); d.write("p.wasm", "deny") },
			"DIR/p.toml:4: sha256: p.wasm has the digest " + sumOf("deny") +
				": if that is the module meant, write it here, else put the right module in place",
		},
		"a pod of a test that is missing": {
			func(d tree) { d.policy("p", "allow", second) },
			"DIR/p.toml:7: test.pod: tests/a.yaml cannot be read: no such file or directory",
		},
		"more than a set may hold": {
			func(d tree) {
				large := strings.Repeat("x", 4<<20-1)
				for i := range 17 {
					d.policy(fmt.Sprintf("p%02d", i), fmt.Sprintf("%s%c", large, 'a'+i))
				}
			},
			"DIR/p15.toml:3: module: p15.wasm cannot be read: with it the files of the set are larger than 64 MiB together",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newTree(t)
			test.make(d)
			got, _, _ := strings.Cut(inDir(read(&Config{Dir: d.dir}).err(), d.dir), "\nDIR/p16")
			if got != test.want {
				t.Errorf("error:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}

func TestModulesAreReadUpToTheLengthOfTheConfiguration(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		length, most int
		want         string
	}{
		"as long as it may be by default": {4 << 20, 0, ""},
		"longer than by default":          {5 << 20, 5 << 20, ""},
		"a byte longer than that":         {5<<20 + 1, 5 << 20, "5242881 bytes long, more than the 5242880 it may have"},
		"as short as may be wanted":       {100, 100, ""},
		"a byte longer than it":           {101, 100, "101 bytes long, more than the 100 it may have"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newTree(t)
			d.policy("p", strings.Repeat("x", test.length))
			want := ""
			if test.want != "" {
				want = "DIR/p.toml:3: module: p.wasm cannot be read: " + test.want + "; build it smaller, or raise policy.module_bytes in agent.toml"
			}
			if got := inDir(read(&Config{Dir: d.dir, ModuleBytes: test.most}).err(), d.dir); got != want {
				t.Errorf("error:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func TestAModuleOfSeveralPoliciesIsReadOnce(t *testing.T) {
	t.Parallel()
	d := newTree(t)
	d.write("same.wasm", "allow")
	for _, name := range []string{"a", "b"} {
		d.write(name+".toml", strings.Replace(documentOf(name, "allow"), name+".wasm", "same.wasm", 1))
	}
	r := read(&Config{Dir: d.dir})
	must(t, r.err())
	if want := int64(len("allow") + 2*len(documentOf("a", "allow")) - 2*len("a.wasm") + 2*len("same.wasm")); r.size != want {
		t.Errorf("%d bytes were read, want %d", r.size, want)
	}
}

func TestTheDigestOfASet(t *testing.T) {
	t.Parallel()
	const vector = "[[test]]\npod = \"tests/a.yaml\"\nexpect = \"allow\""
	whole := func(t *testing.T) tree {
		t.Helper()
		d := newTree(t)
		d.policy("p", "allow", vector)
		d.write("tests/a.yaml", manifestText)
		return d
	}
	before := read(&Config{Dir: whole(t).dir, AllowUnpinned: true})
	must(t, before.err())
	for name, test := range map[string]struct {
		change func(d tree)
		same   bool
	}{
		"is the same elsewhere":                {func(tree) {}, true},
		"is the same with files nobody names":  {func(d tree) { d.write("README.md", "x"); d.write("other.wasm", "x") }, true},
		"is another with another document":     {func(d tree) { d.policy("p", "allow", "# x", vector) }, false},
		"is another with another module":       {func(d tree) { d.write("p.wasm", "deny") }, false},
		"is another with another pod":          {func(d tree) { d.write("tests/a.yaml", manifestText+"# x\n") }, false},
		"is another with one more policy":      {func(d tree) { d.policy("q", "allow") }, false},
		"is another under another name":        {func(d tree) { must(d.t, os.Rename(filepath.Join(d.dir, "p.toml"), filepath.Join(d.dir, "o.toml"))) }, false},
		"is another without a module it names": {func(d tree) { d.remove("p.wasm") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := whole(t)
			test.change(d)
			if same := read(&Config{Dir: d.dir, AllowUnpinned: true}).digest() == before.digest(); same != test.same {
				t.Errorf("same = %t, want %t", same, test.same)
			}
		})
	}
}

func TestAReadingIsOldWhen(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(d tree)
		old    bool
	}{
		"never, if nothing happens":       {func(tree) {}, false},
		"not another file comes":          {func(d tree) { d.write("README.md", "x"); d.write(".p.toml", "x") }, false},
		"a document comes":                {func(d tree) { d.write("q.toml", "x") }, true},
		"a document goes":                 {func(d tree) { d.remove("p.toml") }, true},
		"a document is written to":        {func(d tree) { d.policy("p", "allow", "priority = 1") }, true},
		"a module is written to":          {func(d tree) { d.write("p.wasm", "denies") }, true},
		"a module that was missing comes": {func(d tree) { d.write("missing.wasm", "x") }, true},
		"a file of another size comes under its name": {func(d tree) {
			d.write("new", "allow all")
			must(d.t, os.Rename(filepath.Join(d.dir, "new"), filepath.Join(d.dir, "p.wasm")))
		}, true},
		"the directory is another": {func(d tree) {
			must(d.t, os.Rename(d.dir, d.dir+"-old"))
			must(d.t, os.CopyFS(d.dir, os.DirFS(d.dir+"-old")))
		}, true},
		"the directory goes": {func(d tree) { must(d.t, os.RemoveAll(d.dir)) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newTree(t)
			d.policy("p", "allow")
			d.write("m.toml", documentOf("missing", "x"))
			r := read(&Config{Dir: d.dir})
			test.change(d)
			if old := !unchanged(d.dir, r.stamps); old != test.old {
				t.Errorf("old = %t, want %t", old, test.old)
			}
		})
	}
}

func TestOnlyWhatMayBeOverIsWorthAnotherLook(t *testing.T) {
	t.Parallel()
	d := newTree(t)
	d.policy("p", "allow")
	d.remove("p.wasm")
	if r := read(&Config{Dir: d.dir}); !r.whole {
		t.Error("a module that is missing is looked for again, though its coming would be seen")
	}
	d.write("dir/p.wasm", "allow")
	d.write("p.toml", strings.Replace(documentOf("p", "allow"), "p.wasm", strings.Repeat("x", 300), 1))
	if r := read(&Config{Dir: d.dir}); r.whole {
		t.Error("an error of the system is taken for final")
	}
}
