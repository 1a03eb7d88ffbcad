package policy

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

func TestConditionsSayWhetherAPolicyIsAsked(t *testing.T) {
	t.Parallel()
	for condition, asked := range map[string]bool{
		`["object.spec.hostNetwork"]`:  false,
		`["!object.spec.hostNetwork"]`: true,
		`["object.metadata.labels['tier'] == 'web'", "request.operation == 'ADD'"]`:    true,
		`["object.metadata.labels['tier'] == 'web'", "request.kind == 'api'"]`:         false,
		`["request.node == 'node-1' && request.hook == 'admit'"]`:                      true,
		`["request.document == 'web.yaml#0' && request.source == 'static'"]`:           true,
		`["has(oldObject.metadata.name)"]`:                                             false,
		`["containers(object.spec).exists(c, c.image == 'img')"]`:                      true,
		`["request.time.getFullYear() == 2026 && request.clockSynchronized == false"]`: true,
	} {
		t.Run(condition, func(t *testing.T) {
			t.Parallel()
			s := newScripts()
			loaded := loadScripts(t, s, "deny\n[match]\nconditions = "+condition)
			d := deciding(question("web"))
			v := judge(t.Context(), []*set{loaded}, d, pod.Allow)
			if got := len(s.called()) > 0; got != asked || asked != (v.Answer == pod.Deny) {
				t.Errorf("asked %t: %+v", got, v)
			}
			if asked && (v.Opinions[0].Fuel == 0 || d.spent != 0) || !asked && (len(v.Opinions) > 0 || d.spent == 0) {
				t.Errorf("fuel %d beside the opinions %+v", d.spent, v.Opinions)
			}
		})
	}
}

func TestAConditionThatCannotBeToldIsAFailureOfItsPolicy(t *testing.T) {
	t.Parallel()
	s := newScripts()
	loaded := loadScripts(t, s, "allow\non_error = \"deny\"\n[match]\nconditions = [\"object.metadata.labels['none'] == 'web'\"]")
	v := judge(t.Context(), []*set{loaded}, deciding(question("web")), pod.Allow)
	if o := v.Opinions[0]; v.Answer != pod.Deny || o.Failure != "ConditionFailed" || o.Fuel == 0 ||
		!strings.Contains(v.Message, "a condition failed with ConditionFailed: the condition object.metadata.labels['none'] == 'web': no such key: none") {
		t.Errorf("verdict %+v", v)
	}
	if len(s.called()) > 0 {
		t.Error("its plugin is asked")
	}
}

func TestConditionsOfOtherHooks(t *testing.T) {
	t.Parallel()
	const matching, not = "[match]\nconditions = [\"object.metadata.name == 'static'\"]", "[match]\nconditions = [\"object.metadata.name == 'none'\"]"
	const broken = "[match]\nconditions = [\"object.metadata.annotations['none'] == ''\"]"
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		d.hooked("a", hookMerge, "keep", broken)
		d.hooked("b", hookMerge, "reject", not)
		d.hooked("c", hookMerge, "reject", matching)
		d.hooked("d", hookFilter, "drop", not)
		d.hooked("e", hookFilter, "drop", broken)
		d.hooked("f", hookFilter, "drop", strings.ReplaceAll(matching, "static", "web"))
		p, _ := listed(t, d, s, ranked, patient)
		run(t, p)
		c := contestOf("shop", "fleet")
		for i := range c.Candidates {
			c.Candidates[i].Pod.Annotations = map[string]string{}
		}
		r := resolve(t, p, c)
		if r.Choice != pod.ChooseCurrent || r.Policy != "a" || !strings.Contains(r.Message, "ConditionFailed") {
			t.Errorf("resolution %+v", r)
		}
		f := filterBy(t, p, filterQuestion("shop"))
		if f.Answer != pod.Drop || f.Policy != "f" || len(f.Opinions) != 2 || f.Opinions[0].Failure != "ConditionFailed" {
			t.Errorf("verdict %+v", f)
		}
		if calls := strings.Join(s.called(), ", "); calls != "c merges static cluster fleet, f filters web" {
			t.Errorf("asked %s", calls)
		}
	})
}

func TestATestOfAPolicyHeedsItsConditions(t *testing.T) {
	t.Parallel()
	for expect, want := range map[string]string{
		"abstain": "", "deny": "DIR/p.toml:10: test.expect: a.yaml: want deny, got abstain (the pod does not match [match])",
	} {
		d, s := newTree(t), newScripts()
		d.policy("p", "deny", "[match]\nconditions = [\"object.spec.hostNetwork\"]\n[[test]]\npod = \"a.yaml\"\nexpect = \""+expect+"\"")
		d.write("a.yaml", manifest)
		_, err := loadOnce(t, d, s, nil)
		if got := inDir(err, d.dir); got != want {
			t.Errorf("%s: error:\n%s\nwant:\n%s", expect, got, want)
		}
	}
}

func TestAReplacementIsSeenByConditions(t *testing.T) {
	t.Parallel()
	s := newScripts()
	loaded := loadScripts(t, s, "deny\n[match]\nconditions = [\"request.replaces == 'uid-old' && oldObject.metadata.name == 'old'\"]")
	q := question("web", func(q *pod.Question) {
		q.Replaces, q.Old = "uid-old", somePod("old", func(p *v1.Pod) { p.UID = "uid-old" })
	})
	if v := judge(t.Context(), []*set{loaded}, deciding(q), pod.Allow); v.Answer != pod.Deny {
		t.Errorf("verdict %+v", v)
	}
}
