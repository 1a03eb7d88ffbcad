package policy

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
)

func TestACheckLoadsOnceAndClosesEverything(t *testing.T) {
	t.Parallel()
	d, s := newTree(t), newScripts()
	d.policy("p", "deny", "[[test]]\npod = \"a.yaml\"\nexpect = \"deny\"")
	d.policy("q", "allow", "mode = \"off\"\npriority = 7")
	d.write("a.yaml", manifestText)
	c := testConfig(d, s)
	c.Now = func() time.Time { return instant }
	got, err := Check(t.Context(), c)
	must(t, err)
	want := api.PolicySet{
		Directory: d.dir, Ready: true, Digest: read(&Config{Dir: d.dir}).digest(), Generation: 1, Loaded: instant,
		Policies: []api.PolicyState{
			{Name: "q", Document: d.dir + "/q.toml", Module: d.dir + "/q.wasm", SHA256: sumOf("allow"), Hooks: []string{"admit"}, Mode: "off", Priority: 7, OnError: "hold", OnChange: "ignore"},
			{Name: "p", Document: d.dir + "/p.toml", Module: d.dir + "/p.wasm", SHA256: sumOf("deny"), Hooks: []string{"admit"}, Mode: "enforce", Priority: 100, OnError: "hold", OnChange: "ignore"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("set (-want +got):\n%s", diff)
	}
	if in := s.inUse(); len(in) > 0 || len(s.called()) != 1 {
		t.Errorf("still loaded: %v; calls: %v", in, s.called())
	}
}

func TestACheckSaysWhatWouldBeRefused(t *testing.T) {
	t.Parallel()
	d, s := newTree(t), newScripts()
	d.policy("p", "deny", "[[test]]\npod = \"a.yaml\"\nexpect = \"allow\"")
	d.write("a.yaml", manifestText)
	_, err := Check(t.Context(), testConfig(d, s))
	if got, want := inDir(err, d.dir), "DIR/p.toml:8: test.expect: a.yaml: want allow, got deny"; got != want {
		t.Errorf("error %q, want %q", got, want)
	}
	if in := s.inUse(); len(in) > 0 {
		t.Errorf("still loaded: %v", in)
	}
}

func TestACheckEndsWithItsContext(t *testing.T) {
	t.Parallel()
	d, s := newTree(t), newScripts()
	d.policy("p", "deny")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Check(ctx, testConfig(d, s)); !errors.Is(err, context.Canceled) || s.loads > 0 {
		t.Errorf("error %v after %d loads", err, s.loads)
	}
}
