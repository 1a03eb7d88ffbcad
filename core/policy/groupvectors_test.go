package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/spec"
)

func TestTestsOfAGroup(t *testing.T) {
	t.Parallel()
	const expect = "[[test]]\npod = \"a.yaml\"\nexpect = "
	const atExpect = "DIR/group.toml:7: test.expect: a.yaml: "
	for name, test := range map[string]struct {
		expression, keys string
		members          []string
		want             string
	}{
		"pass": {"m0 || m1", expect + `"allow"`, []string{"deny No no", "allow"}, ""},
		"tell what members said": {
			"m0 && m1", expect + `"allow"`,
			[]string{"deny No nobody", "allow"},
			atExpect + "want allow, got deny (m0 says deny (No: nobody), m1 says allow)",
		},
		"leave out members that do not match": {"m0 && m1", expect + `"allow"`, []string{"deny No no\n[match]\nnamespaces = [\"other\"]", "allow"}, ""},
		"leave out members that are asked about changes only": {
			"m0 && m1", expect + `"allow"`,
			[]string{"deny No no\n[match]\noperations = [\"UPDATE\"]", "allow"},
			"",
		},
		"ask members about changes": {
			"m0 && m1", expect + "\"deny\"\nold = \"a.yaml\"",
			[]string{"deny No no\n[match]\noperations = [\"UPDATE\"]", "allow"},
			"",
		},
		"abstain where no member matches": {
			"m0", expect + `"deny"`,
			[]string{"deny No no\n[match]\nnamespaces = [\"other\"]"},
			atExpect + "want deny, got abstain (the pod matches no member)",
		},
		"fail for a member that fails, whatever its on_error": {
			"m0 || m1", expect + `"allow"`,
			[]string{"trap x\non_error = \"allow\"", "allow"},
			atExpect + `want allow, got a failure: the plugin failed with Trap: member "m0": x`,
		},
		"count no exceptions": {
			"m0", expect + "\"deny\"\n[[exception]]\npods = [\"shop/web\"]\nowner = \"ops\"\nexpires = \"2099-01-01\"",
			[]string{"deny No no"},
			"",
		},
		"run not where it is off":         {"m0", "mode = \"off\"\n" + expect + `"allow"`, []string{"deny No no"}, ""},
		"are about admission alone":       {"m0", expect + "\"pass\"\nhook = \"filter\"", []string{"allow"}, `DIR/group.toml:8: test.hook: want "admit", found "filter"`},
		"want the answer of an admission": {"m0", expect + `"pass"`, []string{"allow"}, `DIR/group.toml:7: test.expect: want "allow", "deny", "hold" or "abstain", found "pass"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, s := policytest.NewTree(t), policytest.NewScripts()
			for i, text := range test.members {
				script, more, _ := strings.Cut(text, "\n")
				d.Policy("m"+string(rune('0'+i)), script, `mode = "member"`, more)
			}
			d.Write("a.yaml", policytest.ManifestText)
			d.Group("group", test.expression, "# keys", test.keys)
			set, err := loadTested(t, d, s, nil)
			if got := policytest.InDir(err, d.Dir); got != test.want {
				t.Errorf("error:\n%s\nwant:\n%s", got, test.want)
			}
			if err == nil {
				set.Release()
			}
			if left := s.InUse(); len(left) > 0 {
				t.Errorf("the plugins of %q stay loaded", left)
			}
		})
	}
}

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
			drafts, err := Drafts(t.Context(), testConfig(d, s), document)
			policytest.Must(t, err)
			g := drafts[0]
			policytest.Must(t, g.Err)
			verdict, fault, err := g.Test(t.Context(), g.Tests()[0])
			policytest.Must(t, err)
			asked, err := g.Ask(t.Context(), &DraftQuestion{Pods: []Manifest{{Path: "b.yaml", Text: []byte(policytest.ManifestText)}}})
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
			drafts, err := Drafts(t.Context(), testConfig(d, s), "g.toml")
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
