package preflight

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/test/site"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// policy writes a policy whose plugin allows every pod. Its document also has the lines of more.
func (n *located) policy(t *testing.T, name, more string) {
	t.Helper()
	n.policyOf(t, name, wasmtest.Answering(0, "", ""), more)
}

// policyOf writes a policy with the given plugin.
func (n *located) policyOf(t *testing.T, name string, module []byte, more string) {
	t.Helper()
	n.Cfg.Policy.Dir = n.Path("policies")
	n.Write(t, "policies/"+name+".wasm", string(module))
	n.Write(t, "policies/"+name+".toml", fmt.Sprintf(
		"api = \"wardlet.dev/v1\"\nname = %q\nmodule = \"%s.wasm\"\nsha256 = \"%x\"\nhooks = [\"admit\"]\n%s",
		name, name, sha256.Sum256(module), more))
}

func TestCheckPolicies(t *testing.T) {
	t.Parallel()
	const test = "[[test]]\npod = \"tests/web.yaml\"\nexpect = %q\n"
	for name, tc := range map[string]struct {
		prepare func(*testing.T, *located)
		want    []string
	}{
		"without a directory": {
			func(*testing.T, *located) {},
			[]string{"ok policies: none, every pod is admitted; policy.dir names no directory"},
		},
		"of a tenant, beside a broken set of the operator": {
			func(t *testing.T, n *located) {
				t.Helper()
				n.policy(t, "b", "moed = \"off\"\n")
				n.Write(t, "tenants/a/p.toml", "")
				n.Cfg.Tenants = []config.Tenant{{Name: "a", PolicyDir: n.Path("tenants/a")}, {Name: "b"}}
			},
			[]string{
				`fail policies DIR/policies: DIR/policies/b.toml:6: moed: unknown key; did you mean "mode"?`,
				`fail policies DIR/tenants/a of tenant a: DIR/tenants/a/p.toml: api: missing; a policy begins with api = "wardlet.dev/v1"`,
			},
		},
		"one policy without tests": {
			func(t *testing.T, n *located) {
				t.Helper()
				n.policy(t, "a", "")
			},
			[]string{"ok policies DIR/policies: 1 policy (a), 0 tests passed"},
		},
		"their tests are run, those of a policy that is off are not": {
			func(t *testing.T, n *located) {
				t.Helper()
				n.Write(t, "policies/tests/web.yaml", site.GoodPod)
				n.policy(t, "a", fmt.Sprintf(test, "allow")+fmt.Sprintf(test, "allow"))
				n.policy(t, "b", "priority = 1\n"+fmt.Sprintf(test, "allow"))
				n.policy(t, "c", "mode = \"off\"\n"+fmt.Sprintf(test, "deny"))
			},
			[]string{"ok policies DIR/policies: 3 policies (b, a, c), 3 tests passed"},
		},
		"every fault is named": {
			func(t *testing.T, n *located) {
				t.Helper()
				n.Write(t, "policies/tests/web.yaml", site.GoodPod)
				n.policy(t, "a", fmt.Sprintf(test, "deny"))
				n.policy(t, "b", "moed = \"off\"\n")
			},
			[]string{"fail policies DIR/policies: DIR/policies/a.toml:8: test.expect: tests/web.yaml: want deny, got allow\n" +
				`DIR/policies/b.toml:6: moed: unknown key; did you mean "mode"?`},
		},
		"a directory that is missing": {
			func(_ *testing.T, n *located) { n.Cfg.Policy.Dir = n.Path("none") },
			[]string{"fail policies DIR/none: the policy directory DIR/none is missing; make it, or take it out of agent.toml to have no policies"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newSite(t)
			tc.prepare(t, n)
			n.expect(t, checkPolicies(t.Context(), n.Cfg, "edge"), tc.want...)
		})
	}
}

func TestPoliciesThatAreNotLoadedInTimeAreAFailure(t *testing.T) {
	t.Parallel()
	n := newSite(t)
	n.policy(t, "a", "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := checkPolicies(ctx, n.Cfg, "edge")
	if len(got) != 1 || got[0].Level != LevelFail || !strings.Contains(got[0].Message, context.Canceled.Error()) {
		t.Errorf("findings %+v", got)
	}
}

func TestCheckingPoliciesLeavesNothingBehind(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	n := newSite(t)
	n.policy(t, "a", "")
	if got := checkPolicies(t.Context(), n.Cfg, "edge"); got[0].Level != LevelOK {
		t.Fatalf("findings %+v", got)
	}
	if _, findings := checkState(n.Cfg, false); findings[0].Level != LevelOK {
		t.Fatalf("findings %+v", findings)
	}
	if err := os.RemoveAll(n.Dir); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
