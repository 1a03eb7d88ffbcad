package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wardlet/wardlet/test/harness"
)

// The images of the pods. The runtime has all of them.
const (
	imageOne   = "registry.example/web:1"
	imageTwo   = "registry.example/web:2"
	imageOther = "untrusted.example/web:1"
)

// imageList is one setting of the policy allowed-images.
type imageList struct {
	what     string
	patterns []string
	// images are the images that the patterns allow.
	images []string
}

// lists are the settings between which the policy is edited. All of them allow the steady pods.
var lists = []imageList{
	{"one registry passes", []string{"registry.example/*"}, []string{imageOne, imageTwo}},
	{"one tag passes", []string{imageOne}, []string{imageOne}},
	{"all pass", []string{"registry.example/*", "untrusted.example/*"}, []string{imageOne, imageTwo, imageOther}},
}

// The example policies of a run. The first one is edited.
const (
	policyImages = "allowed-images"
	policyLabels = "required-labels"
	policyQuota  = "tenant-quota"
)

// policies is the operator's directory of policies.
type policies struct {
	dir     string
	modules map[string][]byte
}

// newPolicies writes three example policies into a directory. They admit all pods whose images are
// in the first list.
func newPolicies(built, dir string) (*policies, error) {
	p := &policies{dir: dir, modules: map[string][]byte{}}
	for _, name := range []string{policyImages, policyLabels, policyQuota} {
		module, err := os.ReadFile(filepath.Join(built, name+".wasm"))
		if err != nil {
			return nil, fmt.Errorf("%w; run make plugins", err)
		}
		p.modules[name] = module
		if err := harness.Replace(filepath.Join(dir, name+".wasm"), module); err != nil {
			return nil, err
		}
	}
	if err := p.write(policyLabels, "required = [\"team\"]\neffect = \"hold\"\n"); err != nil {
		return nil, err
	}
	if err := p.write(policyQuota, "effect = \"hold\"\n[settings.quota.\"default\"]\npods = 500\n", "node.read"); err != nil {
		return nil, err
	}
	return p, p.allow(0)
}

// allow sets the list of allowed images.
func (p *policies) allow(list int) error {
	quoted := make([]string, len(lists[list].patterns))
	for i, pattern := range lists[list].patterns {
		quoted[i] = fmt.Sprintf("%q", pattern)
	}
	return p.write(policyImages, "allow = ["+strings.Join(quoted, ", ")+"]\n")
}

// spoil replaces the document of the edited policy by one that cannot be parsed.
func (p *policies) spoil() error {
	return harness.Replace(filepath.Join(p.dir, policyImages+".toml"), []byte("api = \"wardlet.dev/v1\"\nname = [\n"))
}

func (p *policies) write(name, settings string, capabilities ...string) error {
	for i, c := range capabilities {
		capabilities[i] = fmt.Sprintf("%q", c)
	}
	return harness.Replace(filepath.Join(p.dir, name+".toml"), fmt.Appendf(nil, `api = "wardlet.dev/v1"
name = %q
module = "%s.wasm"
sha256 = "%x"
hooks = ["admit"]
capabilities = [%s]
[settings]
%s`, name, name, sha256.Sum256(p.modules[name]), strings.Join(capabilities, ", "), settings))
}
