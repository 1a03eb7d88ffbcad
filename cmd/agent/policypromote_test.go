package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/api"
)

func TestPolicyPromote(t *testing.T) {
	t.Parallel()
	signed := func(s *api.PolicySet) { s.Key = "77AA" }
	for name, test := range map[string]struct {
		edits []func(*api.PolicySet)
		args  []string
	}{
		"policy-promote":              {[]func(*api.PolicySet){ready}, nil},
		"policy-promote-json":         {[]func(*api.PolicySet){ready}, []string{"-o", "json"}},
		"policy-promote-changed":      {[]func(*api.PolicySet){ready}, nil},
		"policy-promote-waits":        {[]func(*api.PolicySet){shadowing}, nil},
		"policy-promote-none":         {nil, nil},
		"policy-promote-signed":       {[]func(*api.PolicySet){ready, signed}, nil},
		"policy-promote-tenant":       {[]func(*api.PolicySet){ready}, []string{"--tenant", "a"}},
		"usage-policy-promote-output": {[]func(*api.PolicySet){ready}, []string{"-o", "wide"}},
		"help-policy-promote":         {nil, []string{"--help"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			set := aSet(test.edits...)
			set.Directory = dir
			write := func(path, text string) (digest string) {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
			}
			documents := map[string]string{}
			for i := range set.Policies {
				p := &set.Policies[i]
				p.Document, p.Module = filepath.Join(dir, filepath.Base(p.Document)), filepath.Join(dir, "p.wasm")
				p.SHA256 = write(p.Module, "p")
				documents[p.Mode] = write(p.Document, "api = \"wardlet.dev/v1\"\nname = \""+p.Name+"\"\nmodule = \"p.wasm\"\nhooks = [\"admit\"]\nmode = \""+p.Mode+"\"\n")
				if p.Shadow != nil {
					p.Shadow.InForceSHA256, p.Shadow.CandidateSHA256 = documents["enforce"], documents["shadow"]
				}
			}
			if name == "policy-promote-changed" {
				write(filepath.Join(dir, "next.toml"), "# another")
			}
			socket, _ := serve(t, &knowledge{policies: [][]api.PolicySet{{set}}})
			args := append([]string{"policy", "promote", "allowed-images", "--socket", socket}, test.args...)
			golden(t, name, wardlet(t.Context(), args...), dir, "DIR", socket, "SOCKET")
			_, err := os.Stat(filepath.Join(dir, "next.toml"))
			if gone := os.IsNotExist(err); gone != (name == "policy-promote" || name == "policy-promote-json" || test.edits == nil) {
				t.Errorf("the candidate is gone: %t", gone)
			}
			if text, err := os.ReadFile(filepath.Join(dir, "allowed-images.toml")); err != nil || !strings.Contains(string(text), "mode = \"enforce\"") {
				t.Errorf("%v: %s", err, text)
			}
		})
	}
}
