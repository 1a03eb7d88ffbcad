package eval

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

func TestAFailureNeverKeepsAnExemptPodOut(t *testing.T) {
	t.Parallel()
	for _, expression := range []string{"!m0 || !m1", "m0 && m1", "!m0 && m1"} {
		loaded := loadGroup(t, policytest.NewScripts(), expression, "", "trap unreachable\non_error = \"deny\"", "allow")
		d := deciding(policytest.Question("web"))
		d.Exempt = true
		v := Judge(t.Context(), []*Set{loaded}, d, api.Allow)
		if v.Answer != api.Allow {
			t.Errorf("%s: verdict %+v", expression, v)
		}
	}
}

func TestAFaultOfOneDocumentIsNotBlamedOnItsGroupOrMembers(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]string{"the group": "g.toml", "a member": "m.toml"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := policytest.NewTree(t)
			d.Policy("m", "allow", `mode = "member"`)
			d.Policy("n", "allow", `mode = "member"`)
			d.Group("g", "m && n")
			d.Write(broken, "x = [")
			_, err := loadOnce(t, d, policytest.NewScripts(), nil)
			if err == nil || strings.Contains(err.Error(), "no group names") || strings.Contains(err.Error(), "there is no policy") {
				t.Errorf("%v\nwant only what is wrong with %s", err, broken)
			}
		})
	}
}

func TestAGroupLooksAgainWhenItsMemberWantsTo(t *testing.T) {
	t.Parallel()
	s := policytest.NewScripts()
	s.Edit = func(policy string, r *wasm.Result) {
		r.RetryAfter = map[string]time.Duration{"m0": 30 * time.Second, "m1": 20 * time.Second, "m2": time.Second}[policy]
	}
	loaded := loadGroup(t, s, "m0 && m1 && m2", "", "hold", "hold", "allow")
	if v := Judge(t.Context(), []*Set{loaded}, deciding(policytest.Question("web")), api.Allow); v.Answer != api.Hold || v.RetryAfter != 20*time.Second {
		t.Errorf("verdict %+v", v)
	}
}

func TestAGroupThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		write func(policytest.Tree)
		want  string
	}{
		"a name of no policy": {
			func(d policytest.Tree) { d.Group("g", "m || other") },
			`g.toml:3: expression: there is no policy "other" in this directory; write its document, or take the name out`,
		},
		"a policy that counts alone": {
			func(d policytest.Tree) { d.Policy("p", "allow"); d.Group("g", "m && p") },
			`g.toml:3: expression: policy "p" has the mode "enforce"; set mode = "member" in p.toml, so that it counts only in groups`,
		},
		"a group of a group": {
			func(d policytest.Tree) { d.Group("f", "m"); d.Group("g", "f") },
			`g.toml:3: expression: "f" is a group itself; write what it says in parentheses`,
		},
		"a member of no group": {
			func(policytest.Tree) {},
			`m.toml:6: mode: it is "member", and no group names the policy, so nothing comes of what it says; name it in a group, or choose another mode`,
		},
		"an expression that is none": {
			func(d policytest.Tree) { d.Group("g", "m and n") },
			`g.toml:3: expression: want &&, || or the end, found "and n"`,
		},
		"keys of policies": {
			func(d policytest.Tree) { d.Group("g", "m", `hooks = ["admit"]`) },
			`g.toml:4: hooks: a group has none, its members do; leave it out, or leave expression out`,
		},
		"a candidate for its place": {
			func(d policytest.Tree) {
				d.Group("g", "m")
				d.Write("n.wasm", "allow")
				d.Write("n.toml", strings.Replace(policytest.DocumentOf("n", "allow", `mode = "shadow"`), `name = "n"`, `name = "g"`, 1))
			},
			`n.toml:6: mode: it is "shadow", and there is no policy "g" in another mode that it could be compared with; name the one that it is to replace`,
		},
		"a member that filters": {
			func(d policytest.Tree) {
				d.Group("g", "m && n")
				d.Write("n.wasm", "allow")
				d.Write("n.toml", policytest.DocumentIn("n", "allow", "hooks = [\"admit\", \"filter\"]"+memberKey))
			},
			`hooks: a member of a group admits pods and does nothing else; want ["admit"]`,
		},
		"a member that changes pods": {
			func(d policytest.Tree) {
				d.Group("g", "m && n")
				d.Policy("n", "allow", `mutable_paths = ["/spec/hostname"]`+memberKey)
			},
			`mutable_paths: a member of a group changes no pod; leave it out, or change pods by a policy of its own`,
		},
		"a member that judges running pods": {
			func(d policytest.Tree) {
				d.Group("g", "m && n")
				d.Policy("n", "allow", `on_change = "report"`+memberKey)
			},
			`on_change: a member of a group has no say alone; leave it out, and set it for the group`,
		},
		"a message of a policy": {
			func(d policytest.Tree) { d.Group("g", "m"); d.Policy("p", "allow", `message = "no"`) },
			`message: it is for groups; what a policy says its plugin gives`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := policytest.NewTree(t)
			d.Policy("m", "allow", `mode = "member"`)
			test.write(d)
			_, err := loadOnce(t, d, policytest.NewScripts(), nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v\nwant %s", err, test.want)
			}
		})
	}
}

func TestTheVerdictOfAGroup(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		expression, keys string
		members          []string
		fallback         api.Answer
		want             api.Verdict
	}{
		"one of two is enough": {
			"m0 || m1", "",
			[]string{"deny Unsigned no signature", "allow"},
			api.Deny,
			api.Verdict{Answer: api.Allow, Policy: "group"},
		},
		"its message and what members said": {
			"m0 || m1", `message = "sign the image, or keep it small"`,
			[]string{"deny Unsigned no signature", "deny TooLarge 3 GB"},
			api.Allow,
			api.Verdict{
				Answer: api.Deny, Policy: "group", Reason: "PolicyDenied",
				Message: `policy "group": sign the image, or keep it small: m0 says deny (Unsigned: no signature), m1 says deny (TooLarge: 3 GB)`,
			},
		},
		"not what another one allows": {
			"!m0", "",
			[]string{"allow"},
			api.Allow,
			api.Verdict{Answer: api.Deny, Policy: "group", Reason: "PolicyDenied", Message: `policy "group": m0 says allow`},
		},
		"a hold decides where the others do not": {
			"m0 || m1", "",
			[]string{"hold Later wait", "deny No no"},
			api.Allow,
			api.Verdict{Answer: api.Hold, Policy: "group", Reason: "PolicyHeld", Message: `policy "group": m0 says hold (Later: wait), m1 says deny (No: no)`},
		},
		"members that do not match are not there": {
			"m0 && m1", "",
			[]string{"allow", "deny No no\n[match]\nnamespaces = [\"other\"]"},
			api.Deny,
			api.Verdict{Answer: api.Allow, Policy: "group"},
		},
		"of no member that matches it has no opinion": {
			"m0", "",
			[]string{"deny No no\n[match]\nnamespaces = [\"other\"]"},
			api.Allow,
			api.Verdict{Answer: api.Allow},
		},
		"one that is off counts nothing": {
			"m0", `mode = "off"`,
			[]string{"deny No no"},
			api.Allow,
			api.Verdict{Answer: api.Allow},
		},
		"one in mode warn counts nothing": {
			"m0", `mode = "warn"`,
			[]string{"deny No no"},
			api.Allow,
			api.Verdict{Answer: api.Allow},
		},
		"an exception takes a pod out of it": {
			"m0", "[[exception]]\npods = [\"shop/web\"]\nowner = \"ops@example\"\nexpires = \"2099-01-01\"",
			[]string{"deny No no"},
			api.Allow,
			api.Verdict{Answer: api.Allow},
		},
		"a plugin that fails": {
			"m0 && m1", "",
			[]string{"trap unreachable", "allow"},
			api.Allow,
			api.Verdict{
				Answer: api.Hold, Policy: "group", Reason: "PolicyFailed",
				Message: `policy "group": m0 says hold (PolicyFailed: the plugin failed with Trap: unreachable), m1 says allow`,
			},
		},
		"a plugin that fails where another decides": {
			"m0 && m1", "",
			[]string{"trap unreachable", "deny No no"},
			api.Allow,
			api.Verdict{
				Answer: api.Deny, Policy: "group", Reason: "PolicyDenied",
				Message: `policy "group": m0 says hold (PolicyFailed: the plugin failed with Trap: unreachable), m1 says deny (No: no)`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loaded := loadGroup(t, policytest.NewScripts(), test.expression, test.keys, test.members...)
			got := Judge(t.Context(), []*Set{loaded}, deciding(policytest.Question("web")), test.fallback)
			test.want.At, test.want.Sets = policytest.Instant, []string{loaded.Digest}
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(api.Verdict{}, "Opinions")); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatAGroupCostsIsPaidFor(t *testing.T) {
	t.Parallel()
	cost := func(expression string, members ...string) int64 {
		loaded := loadGroup(t, policytest.NewScripts(), expression, "", members...)
		d := deciding(policytest.Question("web"))
		Judge(t.Context(), []*Set{loaded}, d, api.Allow)
		return d.Spent
	}
	few, more := cost("m0", "allow"), cost("m0 && (m0 || m0)", "allow")
	if few < groupFuel || more != few+2*groupNameFuel {
		t.Errorf("one name costs %d, three cost %d", few, more)
	}
	long := "deny No " + strings.Repeat("x", 4000)
	if d := cost("m0 && m1 && m2 && m3 && m4", long, long, long, long, long); d > groupFuel+5*groupNameFuel+groupByteFuel*(spec.MaxMessage+4) {
		t.Errorf("a message without end costs %d", d)
	}
}

// loadGroup returns a set of members m0, m1, … with these scripts, and of a group with the
// expression.
func loadGroup(t *testing.T, s *policytest.Scripts, expression, keys string, texts ...string) *Set {
	t.Helper()
	d := policytest.NewTree(t)
	for i, text := range texts {
		script, more, _ := strings.Cut(text, "\n")
		d.Policy("m"+string(rune('0'+i)), script, `mode = "member"`, more)
	}
	d.Group("group", expression, keys)
	got, err := loadOnce(t, d, s, nil)
	policytest.Must(t, err)
	t.Cleanup(got.Release)
	return got
}

const memberKey = "\nmode = \"member\""
