package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/pod"
)

func TestPolicyPromote(t *testing.T) {
	t.Parallel()
	signed := func(s *pod.PolicySet) { s.Key = "77AA" }
	for name, test := range map[string]struct {
		edits []func(*pod.PolicySet)
		args  []string
	}{
		"policy-promote":        {[]func(*pod.PolicySet){ready}, nil},
		"policy-promote-waits":  {[]func(*pod.PolicySet){shadowing}, nil},
		"policy-promote-none":   {nil, nil},
		"policy-promote-signed": {[]func(*pod.PolicySet){ready, signed}, nil},
		"policy-promote-tenant": {[]func(*pod.PolicySet){ready}, []string{"--tenant", "a"}},
		"help-policy-promote":   {nil, []string{"--help"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			set := aSet(test.edits...)
			set.Directory = dir
			for i := range set.Policies {
				p := &set.Policies[i]
				p.Document = filepath.Join(dir, filepath.Base(p.Document))
				text := "api = \"wardlet.dev/v1\"\nname = \"" + p.Name + "\"\nmodule = \"p.wasm\"\nhooks = [\"admit\"]\nmode = \"" + p.Mode + "\"\n"
				if err := os.WriteFile(p.Document, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			socket, _ := serve(t, &knowledge{policies: [][]pod.PolicySet{{set}}})
			args := append([]string{"policy", "promote", "allowed-images", "--socket", socket}, test.args...)
			golden(t, name, wardlet(t.Context(), args...), dir, "DIR", socket, "SOCKET")
			_, err := os.Stat(filepath.Join(dir, "next.toml"))
			if gone := os.IsNotExist(err); gone != (name == "policy-promote" || test.edits == nil) {
				t.Errorf("the candidate is gone: %t", gone)
			}
			if text, err := os.ReadFile(filepath.Join(dir, "allowed-images.toml")); err != nil || !strings.Contains(string(text), "mode = \"enforce\"") {
				t.Errorf("%v: %s", err, text)
			}
		})
	}
}
