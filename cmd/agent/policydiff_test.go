package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPolicyDiffOfNothingIsAFault(t *testing.T) {
	t.Parallel()
	dir := decided(t)
	empty, looking := t.TempDir(), t.TempDir()
	policyDenying(t, looking, "p", "node.name", "elsewhere")
	document := filepath.Join(looking, "p.toml")
	text, err := os.ReadFile(document)
	if err == nil {
		err = os.WriteFile(document, append(text, "capabilities = [\"node.read\"]\n"...), 0o600)
	}
	if err == nil {
		err = os.MkdirAll(filepath.Join(empty, "decisions", "operator"), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "policy-diff-nothing", wardlet(t.Context(), "policy", "diff", t.TempDir(), "--state", empty))
	golden(t, "policy-diff-unseen", wardlet(t.Context(), "policy", "diff", looking, "--state", dir))
}
