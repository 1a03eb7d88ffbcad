package plane

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// content is the wanted content of a directory of policies.
type content struct {
	files map[string]string
	// spoil changes the directory in a way that no file content can.
	spoil func(dir string) error
}

// answers are the answers of the hook admit, in the order of their numbers.
var answers = []api.Answer{api.Allow, api.Deny, api.Hold}

// samplePod is the pod for the tests in policy documents.
const samplePod = "apiVersion: v1\nkind: Pod\nmetadata: {name: sample, namespace: shop}\nspec:\n  containers: [{name: c, image: i}]\n"

// good returns a set of the policies a and b, whose messages name the set's number.
// Policy a returns the answer. In every eighth set b is another module.
func good(number, answer int) content {
	b := telling()
	if number%8 == 0 {
		b = wasmtest.Answering(0, "Said", said(number))
	}
	return content{files: map[string]string{
		"a.wasm": string(telling()), "b.wasm": string(b), "sample.yaml": samplePod,
		"a.toml": written("a", telling(), number, answer) + fmt.Sprintf("[[test]]\npod = \"sample.yaml\"\nexpect = %q\n", answers[answer]),
		"b.toml": written("b", b, number, 0),
	}}
}

func said(number int) string { return fmt.Sprintf("set %d", number) }

// written returns a policy document.
func written(name string, module []byte, number, answer int) string {
	return fmt.Sprintf("api = \"wardlet.dev/v1\"\nname = %q\nmodule = \"%s.wasm\"\nsha256 = \"%x\"\nhooks = [\"admit\"]\n[settings]\nsays = %q\nanswer = %d\n",
		name, name, sha256.Sum256(module), said(number), answer)
}

// faults are the ways in which a set can be broken. Each function breaks a valid set.
var faults = map[string]func(c *content, number int){
	"no TOML":        edited("a.toml", func(s string, n int) string { return fmt.Sprintf("%s\n[%d", s, n) }),
	"an unknown key": edited("b.toml", func(s string, n int) string { return fmt.Sprintf("naem = \"%d\"\n%s", n, s) }),
	"a key twice":    edited("a.toml", func(s string, n int) string { return fmt.Sprintf("%s# %d\nname = \"a\"\nname = \"a\"\n", s, n) }),
	"a name twice": edited("b.toml", func(s string, n int) string {
		return strings.Replace(s, `name = "b"`, fmt.Sprintf("name = \"a\" # %d", n), 1)
	}),
	"no API version":    edited("a.toml", func(s string, n int) string { return fmt.Sprintf("# %d\n%s", n, strings.Replace(s, "api = ", "# ", 1)) }),
	"an unknown hook":   edited("a.toml", func(s string, n int) string { return strings.Replace(s, `"admit"`, fmt.Sprintf(`"admit%d"`, n), 1) }),
	"an empty document": edited("a.toml", func(_ string, n int) string { return strings.Repeat("\n", n%50) }),
	"a limit too large": edited("b.toml", func(s string, n int) string { return fmt.Sprintf("%s[limits]\nfuel = %d\n", s, 2_000_000_000+n) }),
	"a condition broken": edited("a.toml", func(s string, n int) string {
		return fmt.Sprintf("%s[match]\nconditions = [\"object.spec.(%d\"]\n", s, n)
	}),
	"another digest":     edited("a.wasm", func(s string, n int) string { return s + strconv.Itoa(n) }),
	"a module cut short": edited("b.wasm", func(s string, n int) string { return s[:1+n%(len(s)-1)] }),
	"no module":          edited("b.wasm", nil),
	"a test that fails": edited("a.toml", func(s string, n int) string {
		return fmt.Sprintf("%s# %d\n[[test]]\npod = \"sample.yaml\"\nexpect = \"abstain\"\n", s, n)
	}),
	"a test without pod":  edited("sample.yaml", nil),
	"a pod that is none":  edited("sample.yaml", func(_ string, n int) string { return fmt.Sprintf("kind: %d\n", n) }),
	"settings refused":    module(func(n int) []byte { return wasmtest.RefusingSettings(said(n)) }),
	"a trap at its start": module(func(int) []byte { return wasmtest.TrapAtInit() }),
	"an unknown import":   module(func(int) []byte { return wasmtest.UnknownImport() }),
	"no hook":             module(func(int) []byte { return wasmtest.NoHooks() }),
	"no WebAssembly":      module(func(n int) []byte { return fmt.Appendf(nil, "#!/bin/sh\n# %d\n", n) }),
	"a module too long":   module(func(n int) []byte { return append(make([]byte, 5<<20), byte(n)) }),
	"a link": spoiled(func(dir string) error {
		return replaced(dir, "a.toml", func(name string) error { return os.Symlink("b.toml", name) })
	}),
	"a pipe": spoiled(func(dir string) error {
		return replaced(dir, "a.wasm", func(name string) error { return syscall.Mkfifo(name, 0o600) })
	}),
	"a directory": spoiled(func(dir string) error {
		return replaced(dir, "b.wasm", func(name string) error { return os.Mkdir(name, 0o700) })
	}),
	"nothing":      spoiled(emptied),
	"no directory": spoiled(func(dir string) error { return os.Rename(dir, dir+awaySuffix) }),
}

// awaySuffix is the suffix of a directory that was moved away.
const awaySuffix = ".away"

func edited(name string, edit func(text string, number int) string) func(*content, int) {
	return func(c *content, number int) {
		if edit == nil {
			delete(c.files, name)
			return
		}
		c.files[name] = edit(c.files[name], number)
	}
}

func module(build func(number int) []byte) func(*content, int) {
	return func(c *content, number int) {
		m := build(number)
		c.files["b.wasm"], c.files["b.toml"] = string(m), written("b", m, number, 0)
	}
}

func spoiled(spoil func(dir string) error) func(*content, int) {
	return func(c *content, _ int) { c.spoil = spoil }
}

func replaced(dir, name string, with func(name string) error) error {
	path := filepath.Join(dir, name)
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return with(path)
}

func emptied(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if err == nil {
			err = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
	return err
}

// put writes a content into a directory: each file by rename, or in place.
func (c content) put(t *testing.T, dir string, inPlace bool) {
	t.Helper()
	must(t, c.write(dir, inPlace))
}

func (c content) write(dir string, inPlace bool) error {
	if _, err := os.Stat(dir); err != nil {
		if err := os.Rename(dir+awaySuffix, dir); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, wanted := c.files[e.Name()]; !wanted || !e.Type().IsRegular() {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	for name, text := range c.files {
		path := filepath.Join(dir, name)
		if inPlace {
			err = os.WriteFile(path, []byte(text), 0o600)
		} else {
			err = errors.Join(os.WriteFile(dir+".new", []byte(text), 0o600), os.Rename(dir+".new", path))
		}
		if err != nil {
			return err
		}
	}
	if c.spoil != nil {
		return c.spoil(dir)
	}
	return nil
}
