package policy

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/rollout"
)

func TestACheckLoadsOnceAndClosesEverything(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("p", "deny", "[[test]]\npod = \"a.yaml\"\nexpect = \"deny\"")
	d.Policy("q", "allow", "mode = \"off\"\npriority = 7")
	d.Write("a.yaml", policytest.ManifestText)
	c := testConfig(d, s)
	c.Now = func() time.Time { return policytest.Instant }
	got, err := rollout.Check(t.Context(), c.operator())
	policytest.Must(t, err)
	want := api.PolicySet{
		Directory: d.Dir, Ready: true, Digest: bundle.Read(bundle.Options{Dir: d.Dir}).Digest(), Generation: 1, Loaded: policytest.Instant,
		Policies: []api.PolicyState{
			{Name: "q", Document: d.Dir + "/q.toml", Module: d.Dir + "/q.wasm", SHA256: policytest.SumOf("allow"), Hooks: []string{"admit"}, Mode: "off", Priority: 7, OnError: "hold", OnChange: "ignore"},
			{Name: "p", Document: d.Dir + "/p.toml", Module: d.Dir + "/p.wasm", SHA256: policytest.SumOf("deny"), Hooks: []string{"admit"}, Mode: "enforce", Priority: 100, OnError: "hold", OnChange: "ignore"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("set (-want +got):\n%s", diff)
	}
	if in := s.InUse(); len(in) > 0 || len(s.Calls()) != 1 {
		t.Errorf("still loaded: %v; calls: %v", in, s.Calls())
	}
}

func TestACheckSaysWhatWouldBeRefused(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("p", "deny", "[[test]]\npod = \"a.yaml\"\nexpect = \"allow\"")
	d.Write("a.yaml", policytest.ManifestText)
	_, err := rollout.Check(t.Context(), operatorOf(d, s, ""))
	if got, want := policytest.InDir(err, d.Dir), "DIR/p.toml:8: test.expect: a.yaml: want allow, got deny"; got != want {
		t.Errorf("error %q, want %q", got, want)
	}
	if in := s.InUse(); len(in) > 0 {
		t.Errorf("still loaded: %v", in)
	}
}

func TestACheckEndsWithItsContext(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("p", "deny")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := rollout.Check(ctx, operatorOf(d, s, "")); !errors.Is(err, context.Canceled) || s.Loads > 0 {
		t.Errorf("error %v after %d loads", err, s.Loads)
	}
}
