package rollout

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

func TestPoliciesAreInTheOrderOfTheirPriorityThenOfTheirName(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("b", "allow")
	d.Policy("a", "allow")
	d.Policy("z", "allow", "priority = 0")
	d.Policy("y", "allow", "priority = 1000")
	got, err := loadTested(t, d, s, nil)
	policytest.Must(t, err)
	var names []string
	for _, p := range got.Policies {
		names = append(names, p.Name)
	}
	if diff := cmp.Diff([]string{"z", "a", "b", "y"}, names); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestAPluginIsLoadedWithWhatItsDocumentSays(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("p", "allow", "[limits]\nmemory_pages = 7\nfuel = 3000\noutput_bytes = 2048\n[settings]\nallow = [\"a\"]")
	_, err := loadTested(t, d, s, nil)
	policytest.Must(t, err)
	want := wasm.Options{
		Policy: "p", Hooks: []string{"admit"}, Settings: map[string]any{"allow": []any{"a"}},
		MemoryPages: 7, Fuel: 3000, OutputBytes: 2048, Node: "node-1",
	}
	if diff := cmp.Diff(want, s.Options["p"]); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

func TestAPolicyThatIsOffIsNotLoaded(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("p", "broken module", "mode = \"off\"\n[[test]]\npod = \"a.yaml\"\nexpect = \"deny\"")
	d.Write("a.yaml", policytest.ManifestText)
	got, err := loadTested(t, d, s, nil)
	policytest.Must(t, err)
	if p := got.Policies[0]; s.Loads > 0 || p.Plugin != nil || p.ModuleSum != policytest.SumOf("broken module") {
		t.Errorf("%d loads, plugin %v, digest %s", s.Loads, p.Plugin, p.ModuleSum)
	}
	d.Write("p.wasm", "another")
	if _, err := loadTested(t, d, s, nil); err == nil {
		t.Error("its digest is not compared")
	}
}

func TestAnyFaultRefusesTheSetWithEveryReasonAndLeavesNothingLoaded(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("good", "allow")
	d.Policy("trapping", "trap unreachable", "[[test]]\npod = \"a.yaml\"\nexpect = \"hold\"")
	d.Policy("broken", "broken no magic\nnumber")
	d.Policy("misspelt", "allow", "mod = \"off\"")
	d.Write("a.yaml", policytest.ManifestText)
	_, err := loadTested(t, d, s, nil)
	want := "DIR/broken.toml:3: module: broken.wasm cannot be loaded: no magic; number\n" +
		"DIR/misspelt.toml:6: mod: unknown key; did you mean \"mode\"?\n" +
		"DIR/trapping.toml:8: test.expect: a.yaml: want hold, got a failure: the plugin failed with Trap: unreachable"
	if got := policytest.InDir(err, d.Dir); got != want {
		t.Errorf("error:\n%s\nwant:\n%s", got, want)
	}
	if in := s.InUse(); len(in) > 0 {
		t.Errorf("still loaded: %v", in)
	}
}

func TestALoadThatIsCutOffLeavesNothingLoaded(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("a", "wait", "[[test]]\npod = \"a.yaml\"\nexpect = \"deny\"")
	d.Policy("b", "allow")
	d.Write("a.yaml", policytest.ManifestText)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-s.Waits
		cancel()
		s.Free <- struct{}{}
	}()
	c := optionsFor(d, s)
	l := Loader{Options: &c}
	if got, err := l.load(ctx, bundle.Read(bundle.Options{Dir: d.Dir}), nil); got != nil || err == nil {
		t.Errorf("load = %v, %v", got, err)
	}
	if in := s.InUse(); len(in) > 0 || s.Loads != 1 {
		t.Errorf("%d loads, still loaded: %v", s.Loads, in)
	}
}

func TestWhatDidNotChangeIsNotLoadedAgain(t *testing.T) {
	t.Parallel()
	settings := func(more string) string { return "[settings]\nn = 1\nlist = [\"a\"]\n" + more }
	for name, test := range map[string]struct {
		change func(d policytest.Tree)
		reused bool
	}{
		"nothing changed":               {func(policytest.Tree) {}, true},
		"another policy came":           {func(d policytest.Tree) { d.Policy("q", "allow") }, true},
		"its priority changed":          {func(d policytest.Tree) { d.Policy("p", "allow", "priority = 7", settings("")) }, true},
		"what it matches changed":       {func(d policytest.Tree) { d.Policy("p", "allow", settings("[match]\nnamespaces = [\"a\"]")) }, true},
		"its module changed":            {func(d policytest.Tree) { d.Policy("p", "allow # 2", settings("")) }, false},
		"its settings changed":          {func(d policytest.Tree) { d.Policy("p", "allow", settings("m = 1")) }, false},
		"a setting became another type": {func(d policytest.Tree) { d.Policy("p", "allow", "[settings]\nn = 1.0\nlist = [\"a\"]") }, false},
		"its limit of memory changed":   {func(d policytest.Tree) { d.Policy("p", "allow", settings("[limits]\nmemory_pages = 65")) }, false},
		"its limit of output changed":   {func(d policytest.Tree) { d.Policy("p", "allow", settings("[limits]\noutput_bytes = 65535")) }, false},
		"its name changed": {func(d policytest.Tree) {
			d.Write("p.toml", strings.Replace(policytest.DocumentOf("q", "allow", settings("")), "q.wasm", "p.wasm", 1))
		}, false},
		"its document has another name": {func(d policytest.Tree) {
			d.Remove("p.toml")
			d.Write("x.toml", policytest.DocumentOf("p", "allow", settings("")))
		}, true},
		"the settings stand in other order": {func(d policytest.Tree) { d.Policy("p", "allow", "[settings]\nlist = [\"a\"]\nn = 1") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, s := policytest.NewTree(t), policytest.NewScripts()
			d.Policy("p", "allow", settings(""))
			first, err := loadTested(t, d, s, nil)
			policytest.Must(t, err)
			plugin := first.Policies[0].Plugin
			test.change(d)
			second, err := loadTested(t, d, s, first)
			policytest.Must(t, err)
			reused := false
			for _, p := range second.Policies {
				reused = reused || p.Plugin == plugin
			}
			if reused != test.reused {
				t.Errorf("reused = %t, want %t", reused, test.reused)
			}
			first.Release()
			if in := s.InUse(); len(in) != len(second.Policies) {
				t.Errorf("%d plugins are loaded for %d policies", len(in), len(second.Policies))
			}
			second.Release()
			if in := s.InUse(); len(in) > 0 {
				t.Errorf("still loaded: %v", in)
			}
		})
	}
}

func TestASetThatIsRefusedTakesNoPluginFromTheRunningOne(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("p", "allow")
	running, err := loadTested(t, d, s, nil)
	policytest.Must(t, err)
	d.Policy("q", "broken")
	d.Policy("q", "broken module")
	if _, err := loadTested(t, d, s, running); err == nil {
		t.Fatal("a broken module is accepted")
	}
	v := eval.Judge(t.Context(), []*eval.Set{running}, decisionFor(policytest.Question("web")), api.Deny)
	if v.Answer != api.Allow || v.Policy != "p" || len(v.Opinions) != 1 || v.Opinions[0].Failure != "" {
		t.Errorf("verdict %+v", v)
	}
}

func TestCountsGoOnWhereAPolicyStaysInForce(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("p", "allow")
	first, err := loadTested(t, d, s, nil)
	policytest.Must(t, err)
	eval.Judge(t.Context(), []*eval.Set{first}, decisionFor(policytest.Question("web")), api.Allow)
	d.Policy("p", "trap x", policytest.LabelsPath, `capabilities = ["node.read"]`)
	second, err := loadTested(t, d, s, first)
	policytest.Must(t, err)
	eval.Judge(t.Context(), []*eval.Set{second}, decisionFor(policytest.Question("web")), api.Allow)
	got := second.Policies[0].State(func(path string) string { return "/d/" + path })
	want := api.PolicyState{
		Name: "p", Document: "/d/p.toml", Module: "/d/p.wasm", SHA256: policytest.SumOf("trap x"), Hooks: []string{"admit"},
		Mode: "enforce", Priority: 100, OnError: "hold", OnChange: "ignore", Allowed: 1, Held: 1, Failed: 1, Failures: map[string]uint64{"Trap": 1},
		LastFailure:  "the plugin failed with Trap: x",
		MutablePaths: []string{"/metadata/labels"}, Capabilities: []string{"node.read"},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}

func TestAPluginThatIsNotClosedCleanlyIsLogged(t *testing.T) {
	t.Parallel()
	d, s, l := policytest.NewTree(t), policytest.NewScripts(), &policytest.Logs{}
	d.Policy("bad-close", "allow")
	c := optionsFor(d, s)
	c.Logger = l.Logger()
	got, err := (&Loader{Options: &c}).load(t.Context(), bundle.Read(bundle.Options{Dir: d.Dir}), nil)
	policytest.Must(t, err)
	got.Release()
	if l.Count(`msg="plugin was not closed cleanly" policy=bad-close err="memory is not given back"`) != 1 {
		t.Errorf("log: %q", l.Lines())
	}
}
