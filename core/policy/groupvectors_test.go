package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/policy/author"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/spec"
)

func TestAnAuthorTriesAGroup(t *testing.T) {
	t.Parallel()
	const test = "[[test]]\npod = \"a.yaml\"\nexpect = \"deny\""
	group := func(d policytest.Tree) {
		d.Write("a.yaml", policytest.ManifestText)
		d.Policy("m", "deny No nobody", `mode = "member"`)
		d.Policy("n", "allow", `mode = "member"`)
		d.Group("g", "m && n", test)
	}
	for name, document := range map[string]string{"with its directory": "", "alone": "g.toml"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, s := policytest.NewTree(t), policytest.NewScripts()
			group(d)
			drafts, err := author.Drafts(t.Context(), operatorOf(d, s, ""), document)
			policytest.Must(t, err)
			g := drafts[0]
			policytest.Must(t, g.Err)
			verdict, fault, err := g.Test(t.Context(), g.Tests()[0])
			policytest.Must(t, err)
			asked, err := g.Ask(t.Context(), &author.Question{Pods: []author.Manifest{{Path: "b.yaml", Text: []byte(policytest.ManifestText)}}})
			policytest.Must(t, err)
			if diff := cmp.Diff(verdict, asked); diff != "" || fault != "" {
				t.Errorf("fault %q; the verdict of its test and of the same pod (-test +pod):\n%s", fault, diff)
			}
			if got, want := asked.Answer+": "+asked.Message, "deny: m says deny (No: nobody), n says allow"; got != want {
				t.Errorf("it says %q, want %q", got, want)
			}
			if limits := g.Limits(); limits.Fuel != 2*spec.DefaultFuel || g.Module != g.Pinned || g.Module == "" {
				t.Errorf("limits %+v, module %q, pinned %q", limits, g.Module, g.Pinned)
			}
			for _, draft := range drafts {
				draft.Close()
			}
			if left := s.InUse(); len(left) > 0 {
				t.Errorf("the plugins of %q stay loaded", left)
			}
		})
	}
}

func TestAnAuthorIsToldWhyAGroupCannotBeTried(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		make func(policytest.Tree)
		want string
	}{
		"there is no such member": {func(policytest.Tree) {}, `DIR/g.toml:3: expression: there is no policy "m" in this directory; write its document, or take the name out`},
		"it is no member": {
			func(d policytest.Tree) { d.Policy("m", "allow") },
			`DIR/g.toml:3: expression: policy "m" has the mode "enforce"; set mode = "member" in m.toml, so that it counts only in groups`,
		},
		"the member's document is broken": {func(d policytest.Tree) { d.Write("m.toml", "name =\n") }, "DIR/g.toml:3: expression: there is no policy \"m\" in this directory; " +
			"write its document, or take the name out\nDIR/m.toml:1:"},
		"the member's module is missing": {
			func(d policytest.Tree) { d.Policy("m", "allow", `mode = "member"`); d.Remove("m.wasm") },
			`DIR/g.toml: member "m" cannot be asked: DIR/m.toml:3: module: m.wasm is missing; build it first: make, where wardlet policy new made the folder`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, s := policytest.NewTree(t), policytest.NewScripts()
			d.Group("g", "m")
			test.make(d)
			drafts, err := author.Drafts(t.Context(), operatorOf(d, s, ""), "g.toml")
			policytest.Must(t, err)
			if got := policytest.InDir(drafts[0].Err, d.Dir); !strings.HasPrefix(got, test.want) {
				t.Errorf("error:\n%s\nwant:\n%s", got, test.want)
			}
			drafts[0].Close()
			if left := s.InUse(); len(left) > 0 {
				t.Errorf("the plugins of %q stay loaded", left)
			}
		})
	}
}
