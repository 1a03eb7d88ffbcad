package policy

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/test/wasmtest"
)

func TestAPluginThatGrowsMayHaveAnyNumberOfTests(t *testing.T) {
	t.Parallel()
	d := policytest.NewTree(t)
	m := wasmtest.Plugin()
	m.Admit(wasmtest.I32Const(1), wasmtest.MemoryGrow, wasmtest.Drop, wasmtest.I32Const(0))
	d.Write("a.yaml", policytest.ManifestText)
	d.Policy("p", string(m.Bytes()), strings.Repeat("[[test]]\npod = \"a.yaml\"\nexpect = \"allow\"\n", 20))
	if _, err := checkSandboxed(t, d); err != nil {
		t.Error(policytest.InDir(err, d.Dir))
	}
}
