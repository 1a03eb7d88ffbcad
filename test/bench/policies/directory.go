package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/wardlet/wardlet/test/bench/policies/guest"
)

// The ways in which a policy is not asked about the pod that all sides evaluate. Each is the
// content of the table match in the policy's document.
const (
	everyPod       = ""
	otherSource    = `sources = ["file"]`
	otherNamespace = `namespaces = ["tenant-a-*"]`
	otherLabels    = `label_selector = "team in (payments,search),tier=db"`
	otherOperation = `operations = ["UPDATE"]`
	otherCondition = `conditions = ["object.spec.containers.exists(c, c.image.startsWith('elsewhere.example/'))"]`
)

// group is a number of policies that are asked about the pods in match.
type group struct {
	policies int
	match    string
	// plugin is the name of their module without its suffix, empty for the example.
	plugin string
}

// module returns the name of the plugin of a group.
func (g *group) module() string {
	if g.plugin == "" {
		return guest.Example
	}
	return g.plugin
}

// directory is a directory of policies.
type directory struct {
	// path is the directory, built is the directory of the built modules.
	path, built string
}

// newDirectory makes an empty directory below built.
func newDirectory(built string) (*directory, error) {
	path, err := os.MkdirTemp(built, "plane-")
	if err != nil {
		return nil, err
	}
	path, err = filepath.Abs(path)
	return &directory{path, built}, err
}

// write writes the policies of all groups, each with settings of its own. Modules and settings
// depend on the edition. It also writes a policy that is off, so that no policies are a set as
// well.
func (d *directory) write(edition uint64, groups ...group) error {
	for i, g := range append([]group{{policies: 1}}, groups...) {
		module, err := readModule(d.built, g.module(), edition)
		if err != nil {
			return err
		}
		if err := d.put(g.module()+".wasm", module); err != nil {
			return err
		}
		for j := range g.policies {
			p := document{name: fmt.Sprintf("group-%d-%02d", i, j), sum: sha256.Sum256(module), edition: edition, group: g}
			if i == 0 {
				p.key = `mode = "off"`
			}
			if err := d.put(p.name+".toml", p.text()); err != nil {
				return err
			}
		}
	}
	return nil
}

// document is the document of a policy.
type document struct {
	name, key string
	sum       [sha256.Size]byte
	edition   uint64
	group
}

func (p *document) text() []byte {
	text := fmt.Appendf(nil, `api = "wardlet.dev/v1"
name = %q
module = "%s.wasm"
sha256 = "%x"
hooks = ["admit"]
%s
[match]
%s
`, p.name, p.module(), p.sum, p.key, p.match)
	if p.plugin == "" {
		text = fmt.Appendf(text, "[settings]\nallow = [%q, %q]\n", "registry.example/*", allowed(p.name, p.edition))
	}
	return text
}

// allowed returns an image that only one policy allows.
func allowed(name string, edition uint64) string {
	return fmt.Sprintf("docker.io/library/%s-%d", name, edition)
}

// put replaces a file atomically, so that no reader sees half of it.
func (d *directory) put(name string, text []byte) error {
	path := filepath.Join(d.path, name)
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func (d *directory) remove() error { return os.RemoveAll(d.path) }

// readModule reads a module and changes it for an edition: the new module does the same, but has
// the edition's number in a custom section at its end.
func readModule(built, name string, edition uint64) ([]byte, error) {
	module, err := os.ReadFile(filepath.Join(built, name+".wasm"))
	if err != nil {
		return nil, err
	}
	const section = "bench"
	content := append([]byte{byte(len(section))}, section...)
	content = fmt.Appendf(content, "%020d", edition)
	return append(append(module, 0, byte(len(content))), content...), nil
}
