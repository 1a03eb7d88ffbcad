package policytest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Tree is a directory of policies.
type Tree struct {
	T   *testing.T
	Dir string
}

// NewTree returns an empty directory that is removed after the test.
func NewTree(t *testing.T) Tree {
	t.Helper()
	return Tree{t, t.TempDir()}
}

// Write writes a file below the directory.
func (d Tree) Write(name, text string) {
	d.T.Helper()
	path := filepath.Join(d.Dir, name)
	Must(d.T, os.MkdirAll(filepath.Dir(path), 0o700))
	Must(d.T, os.WriteFile(path, []byte(text), 0o600))
}

// Remove removes a file below the directory.
func (d Tree) Remove(name string) {
	d.T.Helper()
	Must(d.T, os.Remove(filepath.Join(d.Dir, name)))
}

// Policy writes NAME.toml and NAME.wasm. script defines what the plugin does (see Scripts);
// more are further keys.
func (d Tree) Policy(name, script string, more ...string) {
	d.T.Helper()
	d.Write(name+".wasm", script)
	d.Write(name+".toml", DocumentOf(name, script, more...))
}

// Scripts writes a policy p0, p1, … for each text. The text has the script in its first line,
// and further keys after that.
func (d Tree) Scripts(hook string, texts []string) {
	d.T.Helper()
	for i, text := range texts {
		script, lines, _ := strings.Cut(text, "\n")
		d.Hooked("p"+string(rune('0'+i)), hook, script, lines)
	}
}

// Group writes the document of a group.
func (d Tree) Group(name, expression string, more ...string) {
	d.T.Helper()
	d.Write(name+".toml", "api = \"wardlet.dev/v1\"\nname = \""+name+"\"\nexpression = \""+expression+"\"\n"+strings.Join(more, "\n")+"\n")
}

// Hooked writes NAME.toml and NAME.wasm for a policy of one hook.
func (d Tree) Hooked(name, hook, script string, more ...string) {
	d.T.Helper()
	d.Write(name+".wasm", script)
	d.Write(name+".toml", fmt.Sprintf("api = \"wardlet.dev/v1\"\nname = %q\nmodule = %q\nsha256 = %q\nhooks = [%q]\n%s\n",
		name, name+".wasm", SumOf(script), hook, strings.Join(more, "\n")))
}

// Of returns the directory of a tenant's policies.
func (d Tree) Of(tenant string) Tree { return Tree{d.T, filepath.Join(d.Dir, "tenants", tenant)} }

// Candidate writes a candidate for policy p.
func (d Tree) Candidate(script string, more ...string) {
	text := DocumentOf("next", script, append([]string{`mode = "shadow"`}, more...)...)
	d.Write("next.toml", strings.Replace(text, `name = "next"`, `name = "p"`, 1))
	d.Write("next.wasm", script)
}

// DocumentOf returns the document of a policy with the hook admit. Its module, NAME.wasm, is the
// script; more are further keys.
func DocumentOf(name, script string, more ...string) string {
	return fmt.Sprintf("api = \"wardlet.dev/v1\"\nname = %q\nmodule = %q\nsha256 = %q\nhooks = [\"admit\"]\n%s\n",
		name, name+".wasm", SumOf(script), strings.Join(more, "\n"))
}

// DocumentIn is DocumentOf a policy whose hooks may be listed in more.
func DocumentIn(name, script, more string) string {
	text := DocumentOf(name, script, more)
	if strings.Contains(more, "hooks = ") {
		text = strings.Replace(text, "hooks = [\"admit\"]\n", "", 1)
	}
	return text
}

// SumOf returns the SHA-256 of a text in hex.
func SumOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// ManifestText is the manifest of the pod shop/web.
const ManifestText = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop, labels: {tier: web}}\n" +
	"spec:\n  containers: [{name: c, image: img}]\n"

// Must ends the test if err is not nil.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// InDir replaces the directory's name in an error by DIR.
func InDir(err error, dir string) string {
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(err.Error(), dir, "DIR")
}
