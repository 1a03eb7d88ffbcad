package bundle

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestASetIsRefusedAsItIsReadFor(t *testing.T) {
	t.Parallel()
	const second = "[[test]]\npod = \"tests/a.yaml\"\nexpect = \"allow\""
	for name, test := range map[string]struct {
		make func(d policytest.Tree)
		want string
	}{
		"a missing directory": {
			func(d policytest.Tree) { d.Remove("") },
			"the policy directory DIR is missing; make it, or take it out of agent.toml to have no policies",
		},
		"no policy at all": {
			func(d policytest.Tree) { d.Write("README.md", "") },
			"the policy directory DIR has no policy (*.toml); add one, or take it out of agent.toml to have no policies",
		},
		"more documents than a set may have": {
			func(d policytest.Tree) {
				for i := range maxDocuments + 1 {
					d.Write(fmt.Sprintf("%d.toml", i), "")
				}
			},
			"the policy directory DIR has more than 256 documents; remove some, or unite policies",
		},
		"the manifest of a signed set": {
			func(d policytest.Tree) { d.Policy("p", "allow"); d.Write("set.toml", "revision = 1\n") },
			`DIR/set.toml: api: missing; the manifest of a signed set begins with api = "wardlet.dev/v1"`,
		},
		"a document that is too large": {
			func(d policytest.Tree) { d.Write("p.toml", strings.Repeat("#", 256<<10+1)) },
			"DIR/p.toml: cannot be read: 262145 bytes long, more than the 262144 it may have",
		},
		"a document that is a link": {
			func(d policytest.Tree) {
				d.Policy("p", "allow")
				policytest.Must(d.T, os.Symlink("p.toml", filepath.Join(d.Dir, "q.toml")))
			},
			"DIR/q.toml: cannot be read: a symbolic link, and links are not followed; put what it leads to in its place",
		},
		"a document that is a directory": {
			func(d policytest.Tree) { d.Policy("p", "allow"); d.Write("q.toml/x", "") },
			"DIR/q.toml: cannot be read: not a regular file; remove it, or put one in its place",
		},
		"every faulty document, in order": {
			func(d policytest.Tree) {
				d.Write("b.toml", strings.Replace(policytest.DocumentOf("b", "allow"), "hooks", "hoks", 1))
				d.Write("a.toml", policytest.DocumentOf("a", "allow", "priority = -1", "mode = \"on\""))
			},
			"DIR/a.toml:6: priority: want 0 to 1000, found -1\nDIR/a.toml:7: mode: want \"enforce\", \"warn\", \"audit\", \"shadow\", \"member\" or \"off\", found \"on\"\n" +
				"DIR/b.toml:5: hoks: unknown key; did you mean \"hooks\"?",
		},
		"a name that stands for two": {
			func(d policytest.Tree) {
				d.Policy("p", "allow")
				d.Write("q.toml", policytest.DocumentOf("p", "allow"))
			},
			`DIR/q.toml:2: name: "p" is the name of the policy in p.toml too; give each its own`,
		},
		"a name that stands for two, the other in a file of two lines": {
			func(d policytest.Tree) {
				d.Policy("p", "allow")
				d.Write("a\nb.toml", policytest.DocumentOf("p", "allow"))
			},
			`DIR/p.toml:2: name: "p" is the name of the policy in a\nb.toml too; give each its own`,
		},
		"a module that is missing": {
			func(d policytest.Tree) { d.Policy("p", "allow"); d.Remove("p.wasm") },
			"DIR/p.toml:3: module: p.wasm cannot be read: no such file or directory",
		},
		"a module that is too large": {
			func(d policytest.Tree) { d.Policy("p", strings.Repeat("x", 4<<20+1)) },
			"DIR/p.toml:3: module: p.wasm cannot be read: 4194305 bytes long, more than the 4194304 it may have; " +
				"build it smaller, or raise policy.module_bytes in agent.toml",
		},
		"a module that is a link": {
			func(d policytest.Tree) {
				d.Policy("p", "allow")
				policytest.Must(d.T, os.Rename(filepath.Join(d.Dir, "p.wasm"), filepath.Join(d.Dir, "real")))
				policytest.Must(d.T, os.Symlink("real", filepath.Join(d.Dir, "p.wasm")))
			},
			"DIR/p.toml:3: module: p.wasm cannot be read: a symbolic link, and links are not followed; put what it leads to in its place",
		},
		"another module than is pinned": {
			func(d policytest.Tree) { d.Policy("p", "allow"); d.Write("p.wasm", "deny") },
			"DIR/p.toml:4: sha256: p.wasm has the digest " + policytest.SumOf("deny") +
				": if that is the module meant, write it here, else put the right module in place",
		},
		"a pod of a test that is missing": {
			func(d policytest.Tree) { d.Policy("p", "allow", second) },
			"DIR/p.toml:7: test.pod: tests/a.yaml cannot be read: no such file or directory",
		},
		"more than a set may hold": {
			func(d policytest.Tree) {
				large := strings.Repeat("x", 4<<20-1)
				for i := range 17 {
					d.Policy(fmt.Sprintf("p%02d", i), fmt.Sprintf("%s%c", large, 'a'+i))
				}
			},
			"DIR/p15.toml:3: module: p15.wasm cannot be read: with it the files of the set are larger than 64 MiB together",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := policytest.NewTree(t)
			test.make(d)
			got, _, _ := strings.Cut(policytest.InDir(Read(Options{Dir: d.Dir}).Err(), d.Dir), "\nDIR/p16")
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
			d := policytest.NewTree(t)
			d.Policy("p", strings.Repeat("x", test.length))
			want := ""
			if test.want != "" {
				want = "DIR/p.toml:3: module: p.wasm cannot be read: " + test.want + "; build it smaller, or raise policy.module_bytes in agent.toml"
			}
			if got := policytest.InDir(Read(Options{Dir: d.Dir, ModuleBytes: test.most}).Err(), d.Dir); got != want {
				t.Errorf("error:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func TestAModuleOfSeveralPoliciesIsReadOnce(t *testing.T) {
	t.Parallel()
	d := policytest.NewTree(t)
	d.Write("same.wasm", "allow")
	for _, name := range []string{"a", "b"} {
		d.Write(name+".toml", strings.Replace(policytest.DocumentOf(name, "allow"), name+".wasm", "same.wasm", 1))
	}
	r := Read(Options{Dir: d.Dir})
	policytest.Must(t, r.Err())
	if want := int64(len("allow") + 2*len(policytest.DocumentOf("a", "allow")) - 2*len("a.wasm") + 2*len("same.wasm")); r.size != want {
		t.Errorf("%d bytes were read, want %d", r.size, want)
	}
}

func TestTheDigestOfASet(t *testing.T) {
	t.Parallel()
	const vector = "[[test]]\npod = \"tests/a.yaml\"\nexpect = \"allow\""
	whole := func(t *testing.T) policytest.Tree {
		t.Helper()
		d := policytest.NewTree(t)
		d.Policy("p", "allow", vector)
		d.Write("tests/a.yaml", policytest.ManifestText)
		return d
	}
	before := Read(Options{Dir: whole(t).Dir, AllowUnpinned: true})
	policytest.Must(t, before.Err())
	for name, test := range map[string]struct {
		change func(d policytest.Tree)
		same   bool
	}{
		"is the same elsewhere":               {func(policytest.Tree) {}, true},
		"is the same with files nobody names": {func(d policytest.Tree) { d.Write("README.md", "x"); d.Write("other.wasm", "x") }, true},
		"is another with another document":    {func(d policytest.Tree) { d.Policy("p", "allow", "# x", vector) }, false},
		"is another with another module":      {func(d policytest.Tree) { d.Write("p.wasm", "deny") }, false},
		"is another with another pod":         {func(d policytest.Tree) { d.Write("tests/a.yaml", policytest.ManifestText+"# x\n") }, false},
		"is another with one more policy":     {func(d policytest.Tree) { d.Policy("q", "allow") }, false},
		"is another under another name": {func(d policytest.Tree) {
			policytest.Must(d.T, os.Rename(filepath.Join(d.Dir, "p.toml"), filepath.Join(d.Dir, "o.toml")))
		}, false},
		"is another without a module it names": {func(d policytest.Tree) { d.Remove("p.wasm") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := whole(t)
			test.change(d)
			if same := Read(Options{Dir: d.Dir, AllowUnpinned: true}).Digest() == before.Digest(); same != test.same {
				t.Errorf("same = %t, want %t", same, test.same)
			}
		})
	}
}

func TestAReadingIsOldWhen(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(d policytest.Tree)
		old    bool
	}{
		"never, if nothing happens":       {func(policytest.Tree) {}, false},
		"not another file comes":          {func(d policytest.Tree) { d.Write("README.md", "x"); d.Write(".p.toml", "x") }, false},
		"a document comes":                {func(d policytest.Tree) { d.Write("q.toml", "x") }, true},
		"a document goes":                 {func(d policytest.Tree) { d.Remove("p.toml") }, true},
		"a document is written to":        {func(d policytest.Tree) { d.Policy("p", "allow", "priority = 1") }, true},
		"a module is written to":          {func(d policytest.Tree) { d.Write("p.wasm", "denies") }, true},
		"a module that was missing comes": {func(d policytest.Tree) { d.Write("missing.wasm", "x") }, true},
		"a file of another size comes under its name": {func(d policytest.Tree) {
			d.Write("new", "allow all")
			policytest.Must(d.T, os.Rename(filepath.Join(d.Dir, "new"), filepath.Join(d.Dir, "p.wasm")))
		}, true},
		"the directory is another": {func(d policytest.Tree) {
			policytest.Must(d.T, os.Rename(d.Dir, d.Dir+"-old"))
			policytest.Must(d.T, os.CopyFS(d.Dir, os.DirFS(d.Dir+"-old")))
		}, true},
		"the directory goes": {func(d policytest.Tree) { policytest.Must(d.T, os.RemoveAll(d.Dir)) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := policytest.NewTree(t)
			d.Policy("p", "allow")
			d.Write("m.toml", policytest.DocumentOf("missing", "x"))
			r := Read(Options{Dir: d.Dir})
			test.change(d)
			if old := !Unchanged(d.Dir, r.Stamps); old != test.old {
				t.Errorf("old = %t, want %t", old, test.old)
			}
		})
	}
}

func TestOnlyWhatMayBeOverIsWorthAnotherLook(t *testing.T) {
	t.Parallel()
	d := policytest.NewTree(t)
	d.Policy("p", "allow")
	d.Remove("p.wasm")
	if r := Read(Options{Dir: d.Dir}); !r.Whole {
		t.Error("a module that is missing is looked for again, though its coming would be seen")
	}
	d.Write("dir/p.wasm", "allow")
	d.Write("p.toml", strings.Replace(policytest.DocumentOf("p", "allow"), "p.wasm", strings.Repeat("x", 300), 1))
	if r := Read(Options{Dir: d.Dir}); r.Whole {
		t.Error("an error of the system is taken for final")
	}
}

func TestATenantsDocumentsAreDecodedOnlyAsFarAsTheyHaveRoom(t *testing.T) {
	t.Parallel()
	const text = 10_000
	d := policytest.NewTree(t)
	for _, name := range []string{"p0", "p1", "p2"} {
		document := policytest.DocumentOf(name, "deny", "mode = \"off\"\n#")
		d.Of("a").Policy(name, "deny", "mode = \"off\"\n#"+strings.Repeat("x", text-len(document)))
	}
	for _, of := range []string{"a", ""} {
		o := Options{Dir: d.Of("a").Dir}
		if o.Memory = 2 * text * decodedFactor; of == "" {
			o.Memory = 0
		}
		got := Read(o)
		err, want := got.Err(), `p2.toml: with it the documents have 30000 bytes together, more than the 20000 for which policy_memory in agent.toml has room`
		if (err != nil) != (of != "") || of != "" && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "p1.toml")) {
			t.Errorf("of %q: %v", of, err)
		}
		if decoded := len(got.Documents); decoded != 3 && of == "" || decoded != 2 && of != "" {
			t.Errorf("of %q: %d are decoded", of, decoded)
		}
	}
}

// TestADocumentTakesNoMoreMemoryThanItIsCountedFor is not parallel: it measures what the
// whole process allocates.
func TestADocumentTakesNoMoreMemoryThanItIsCountedFor(t *testing.T) {
	d := policytest.NewTree(t)
	d.Write("m.wasm", "allow")
	for i := range 64 {
		more := "[match]\nconditions = [" + strings.Repeat(`"!(1<2)",`, 32) + "]"
		if i%2 == 0 {
			more = "[settings]\nk = [" + strings.Repeat("{a=1},", 50) + "]"
		}
		d.Write(fmt.Sprintf("p%d.toml", i), strings.Replace(policytest.DocumentOf(fmt.Sprintf("p%d", i), "allow", "mode = \"off\"", more), fmt.Sprintf("p%d.wasm", i), "m.wasm", 1))
	}
	o := Options{Dir: d.Dir}
	if err := Read(o).Err(); err != nil { // makes what is made only once before the measurement
		t.Fatal(err)
	}
	used := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := used()
	got := Read(o)
	if took := used() - before; took > decodedFactor*got.text {
		t.Errorf("%d bytes of documents take %d bytes, %d for each", got.text, took, took/got.text)
	}
	runtime.KeepAlive(got)
}

// TestRead_awaited reads the directory of a set that the cluster has not delivered.
func TestRead_awaited(t *testing.T) {
	t.Parallel()
	b := Read(Options{Dir: filepath.Join(t.TempDir(), "current"), Awaited: "the ConfigMap kube-system/policies"})
	const want = "the ConfigMap kube-system/policies has not been read yet: it does not exist, the API server cannot be reached, or the agent has only just started"
	if len(b.Refused) != 1 || b.Refused[0].Err.Error() != want {
		t.Errorf("got %v, want %s", b.Refused, want)
	}
}
