package rollout

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestATestOfAPolicyHeedsItsConditions(t *testing.T) {
	t.Parallel()
	for expect, want := range map[string]string{
		"abstain": "", "deny": "DIR/p.toml:10: test.expect: a.yaml: want deny, got abstain (the pod does not match [match])",
	} {
		d, s := policytest.NewTree(t), policytest.NewScripts()
		d.Policy("p", "deny", "[match]\nconditions = [\"object.spec.hostNetwork\"]\n[[test]]\npod = \"a.yaml\"\nexpect = \""+expect+"\"")
		d.Write("a.yaml", policytest.ManifestText)
		_, err := loadTested(t, d, s, nil)
		if got := policytest.InDir(err, d.Dir); got != want {
			t.Errorf("%s: error:\n%s\nwant:\n%s", expect, got, want)
		}
	}
}

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

func TestATestOfAPolicyFindsAPatchThatReachesTooFar(t *testing.T) {
	t.Parallel()
	const vector = "[[test]]\npod = \"a.yaml\"\nexpect = \"allow\""
	for keys, want := range map[string]string{
		policytest.ImagePath:  "",
		policytest.LabelsPath: "DIR/p.toml:9: test.expect: a.yaml: want allow, got a failure: the plugin failed with BadOutput: the patch goes beyond the policy's reach",
	} {
		d := policytest.NewTree(t)
		d.Write("a.yaml", policytest.ManifestText)
		d.Policy("p", "allow", keys, vector)
		_, err := loadTested(t, d, policytest.Patching(map[string]string{"p": policytest.ToImage("x")}), nil)
		if got := policytest.InDir(err, d.Dir); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %s", keys, got)
		}
	}
}

func TestTestsOfAPolicyAskOfItsOwnKindOfSources(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ match, kind string }{
		"a file":                               {"", "file"},
		"a file, where that is among them":     {"sources = [\"api\", \"file\"]", "file"},
		"the first, where no file is":          {"sources = [\"http\", \"api\"]", "http"},
		"a file, where only changes are asked": {"operations = [\"UPDATE\"]", "file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, s := policytest.NewTree(t), policytest.NewScripts()
			d.Policy("p", "allow", "[match]\n"+test.match+"\n[[test]]\npod = \"a.yaml\"\nexpect = \"allow\"")
			d.Write("a.yaml", policytest.ManifestText)
			_, err := loadTested(t, d, s, nil)
			policytest.Must(t, err)
			if r := s.Requests["p"]; r.Kind != test.kind || !r.ClockSynchronized || r.Changed != nil {
				t.Errorf("request %+v, want the kind %s", r, test.kind)
			}
		})
	}
}

func TestATestOfAMergePolicyIsPaidAlsoWhereItsPatchCannotBeApplied(t *testing.T) {
	t.Parallel()
	const contest = "mutable_paths = [\"/metadata/labels\"]\n[[test]]\nexpect = \"a.yaml\"\n" +
		"[[test.candidate]]\npod = \"a.yaml\"\nsource = \"static\"\n[[test.candidate]]\npod = \"a.yaml\"\nsource = \"fleet\"\n"
	took := func(patch string) int64 {
		d, s := policytest.NewTree(t), policytest.NewScripts()
		s.Patch = func(string) []byte { return []byte(patch) }
		d.Hooked("p", api.HookMerge, "winner 0", contest)
		d.Write("a.yaml", policytest.ManifestText)
		_, fuel := spent(t, d, s)
		return fuel
	}
	if good, bad := took(`[{"op":"add","path":"/metadata/labels/x","value":"y"}]`), took(`[{"op":"add","path":"/metadata/nolabel/x","value":"y"}]`); bad < good || bad > good+eval.PatchFuel/2 {
		t.Errorf("it pays %d, and where the patch can be applied %d", bad, good)
	}
}

func TestTestsDoNotCount(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("p", "deny", "[[test]]\npod = \"a.yaml\"\nexpect = \"deny\"")
	d.Write("a.yaml", policytest.ManifestText)
	got, err := loadTested(t, d, s, nil)
	policytest.Must(t, err)
	if n := got.Policies[0].Counters.Denied.Load(); n != 0 {
		t.Errorf("%d denials are counted", n)
	}
}

func TestTestsOfAPolicy(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script, keys, pod, expect, want string
	}{
		"pass":                                  {"deny", "", policytest.ManifestText, "deny", ""},
		"pass for an answer of a pod":           {"deny-image img", "", policytest.ManifestText, "deny", ""},
		"fail for another answer":               {"allow", "", policytest.ManifestText, "deny", "DIR/p.toml:8: test.expect: a.yaml: want deny, got allow"},
		"tell what the plugin said":             {"deny NotNice because it is so", "", policytest.ManifestText, "allow", "DIR/p.toml:8: test.expect: a.yaml: want allow, got deny (NotNice: because it is so)"},
		"fail for a failure, whatever on_error": {"trap x", "on_error = \"deny\"", policytest.ManifestText, "deny", "DIR/p.toml:9: test.expect: a.yaml: want deny, got a failure: the plugin failed with Trap: x"},
		"abstain for a pod that does not match": {"deny", "[match]\nnamespaces = [\"a\"]", policytest.ManifestText, "abstain", ""},
		"ask about no pod that does not match": {
			"deny", "[match]\nlabel_selector = \"tier=db\"", policytest.ManifestText, "deny",
			"DIR/p.toml:10: test.expect: a.yaml: want deny, got abstain (the pod does not match [match])",
		},
		"are of any source":           {"deny", "[match]\nsources = [\"api\"]", policytest.ManifestText, "deny", ""},
		"are refused for a bad pod":   {"deny", "", "apiVersion: v1\nkind: Pod\nmetadata: {name: A_}\n", "deny", "DIR/p.toml:7: test.pod: a.yaml:"},
		"are refused for two pods":    {"deny", "", policytest.ManifestText + "---\n" + policytest.ManifestText, "deny", "DIR/p.toml:7: test.pod: a.yaml: want one pod, found 2"},
		"are refused for no pod":      {"deny", "", "# nothing\n", "deny", "DIR/p.toml:7: test.pod: a.yaml: want one pod, found 0"},
		"are refused for a lost pod":  {"deny", "", "", "deny", "DIR/p.toml:7: test.pod: a.yaml: the manifest is empty"},
		"are refused for a wrong tab": {"deny", "", "a:\n\t- b\n", "deny", "DIR/p.toml:7: test.pod: a.yaml:2: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, s := policytest.NewTree(t), policytest.NewScripts()
			keys := test.keys
			if keys != "" {
				keys += "\n"
			}
			d.Policy("p", test.script, keys+"[[test]]\npod = \"a.yaml\"\nexpect = \""+test.expect+"\"")
			d.Write("a.yaml", test.pod)
			_, err := loadTested(t, d, s, nil)
			if got := policytest.InDir(err, d.Dir); got != test.want && (test.want == "" || !strings.HasPrefix(got, test.want)) {
				t.Errorf("error:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}

func TestTestsOfOtherHooks(t *testing.T) {
	t.Parallel()
	const contest = "[[test]]\nexpect = %q\ntime = \"2026-03-01T00:00:00+01:00\"\n" +
		"[[test.candidate]]\npod = \"a.yaml\"\nsource = \"static\"\nrunning = true\n[[test.candidate]]\npod = \"b.yaml\"\nsource = \"fleet\"\nkind = \"http\"\n"
	const update = "[[test]]\nexpect = %q\npod = \"a.yaml\"\nold = \"b.yaml\"\n"
	for name, test := range map[string]struct{ hook, script, vector, expect, want string }{
		"a merge by the winner's path":  {api.HookMerge, "winner 1", contest, "b.yaml", ""},
		"a merge that keeps":            {api.HookMerge, "keep", contest, "keep", ""},
		"a merge with another answer":   {api.HookMerge, "reject Two of two", contest, "a.yaml", "DIR/p.toml:7: test.expect: a.yaml, b.yaml: want a.yaml, got reject (Two: of two)"},
		"a merge that fails":            {api.HookMerge, "trap x", contest, "keep", "DIR/p.toml:7: test.expect: a.yaml, b.yaml: want keep, got a failure: the plugin failed with Trap: x"},
		"a filter":                      {api.HookFilter, "defer", update, "defer", ""},
		"a filter with another answer":  {api.HookFilter, "pass", update, "drop", "DIR/p.toml:7: test.expect: a.yaml: want drop, got pass"},
		"an admission of a changed pod": {api.HookAdmit, "deny", update, "deny", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, s := policytest.NewTree(t), policytest.NewScripts()
			d.Hooked("p", test.hook, test.script, fmt.Sprintf(test.vector, test.expect))
			d.Write("a.yaml", policytest.ManifestText)
			d.Write("b.yaml", strings.ReplaceAll(policytest.ManifestText, "img", "old"))
			_, err := loadTested(t, d, s, nil)
			if got := policytest.InDir(err, d.Dir); got != test.want {
				t.Errorf("error:\n%s\nwant:\n%s", got, test.want)
			}
			if test.hook == api.HookMerge && test.script == "keep" {
				m := s.Merges["p"]
				if !m.Time.Equal(time.Date(2026, 2, 28, 23, 0, 0, 0, time.UTC)) || m.Candidates[1].Kind != "http" || m.Current == nil || !m.Candidates[0].Running {
					t.Errorf("asked %+v", m)
				}
			}
			if r := s.Requests["p"]; test.hook != api.HookMerge && (r.Question.Op != api.UpdateOp || r.Question.Old.Spec.Containers[0].Image != "old") {
				t.Errorf("asked %+v", r.Question)
			}
		})
	}
}

func TestTheQuestionOfATestIsAlwaysTheSame(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		operations string
		op         api.Op
		old        bool
	}{
		"a new pod":                        {"", api.Add, false},
		"a new pod, where those are asked": {"operations = [\"UPDATE\", \"ADD\"]", api.Add, false},
		"a change, where only those are":   {"operations = [\"UPDATE\"]", api.UpdateOp, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, s := policytest.NewTree(t), policytest.NewScripts()
			d.Policy("p", "allow", "[match]\n"+test.operations+"\n[[test]]\npod = \"a.yaml\"\nexpect = \"allow\"")
			d.Write("a.yaml", policytest.ManifestText)
			_, err := loadTested(t, d, s, nil)
			policytest.Must(t, err)
			got := s.Requests["p"]
			if !got.Time.Equal(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) {
				t.Errorf("time %s", got.Time)
			}
			q := got.Question
			if q.Op != test.op || (q.Old != nil) != test.old || q.Pod.Name != "web-node-1" ||
				q.Origin.Source != "test" || q.Origin.Document != "a.yaml" {
				t.Errorf("question %+v", q)
			}
		})
	}
}
