package policy

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestFilesAreThoseThatASignatureIsAbout(t *testing.T) {
	t.Parallel()
	d := policytest.NewTree(t)
	d.Policy("p", "allow", "[[test]]\npod = \"tests/a.yaml\"\nexpect = \"allow\"")
	d.Write("tests/a.yaml", policytest.ManifestText)
	d.Write("README", "x")
	d.Write("set.toml", "broken")
	sums, err := bundle.Files(d.Dir)
	if err != nil || len(sums) != 3 || sums["tests/a.yaml"] != policytest.SumOf(policytest.ManifestText) {
		t.Errorf("%v, %v", sums, err)
	}
	if sums, err := bundle.Files(t.TempDir()); err != nil || len(sums) > 0 {
		t.Errorf("of an empty directory: %v, %v", sums, err)
	}
	d.Write("p.wasm", "other")
	if _, err := bundle.Files(d.Dir); err == nil || !strings.Contains(err.Error(), "p.wasm has the digest") {
		t.Errorf("error %v", err)
	}
}
