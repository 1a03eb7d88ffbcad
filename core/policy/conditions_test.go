package policy

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/wasm"
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
			s := policytest.NewScripts()
			loaded := loadScripts(t, s, "deny\n[match]\nconditions = "+condition)
			d := deciding(policytest.Question("web"))
			v := judge(t.Context(), []*set{loaded}, d, api.Allow)
			if got := len(s.Calls()) > 0; got != asked || asked != (v.Answer == api.Deny) {
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
	s := policytest.NewScripts()
	loaded := loadScripts(t, s, "allow\non_error = \"deny\"\n[match]\nconditions = [\"object.metadata.labels['none'] == 'web'\"]")
	v := judge(t.Context(), []*set{loaded}, deciding(policytest.Question("web")), api.Allow)
	if o := v.Opinions[0]; v.Answer != api.Deny || o.Failure != "ConditionFailed" || o.Fuel == 0 ||
		!strings.Contains(v.Message, "a condition failed with ConditionFailed: the condition object.metadata.labels['none'] == 'web': no such key: none") {
		t.Errorf("verdict %+v", v)
	}
	if len(s.Calls()) > 0 {
		t.Error("its plugin is asked")
	}
}

func TestConditionsOfOtherHooks(t *testing.T) {
	t.Parallel()
	const matching, not = "[match]\nconditions = [\"object.metadata.name == 'static'\"]", "[match]\nconditions = [\"object.metadata.name == 'none'\"]"
	const broken = "[match]\nconditions = [\"object.metadata.annotations['none'] == ''\"]"
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Hooked("a", api.HookMerge, "keep", broken)
		d.Hooked("b", api.HookMerge, "reject", not)
		d.Hooked("c", api.HookMerge, "reject", matching)
		d.Hooked("d", api.HookFilter, "drop", not)
		d.Hooked("e", api.HookFilter, "drop", broken)
		d.Hooked("f", api.HookFilter, "drop", strings.ReplaceAll(matching, "static", "web"))
		p, _ := listed(t, d, s, ranked, patient)
		run(t, p)
		c := contestOf("shop", "fleet")
		for i := range c.Candidates {
			c.Candidates[i].Pod.Annotations = map[string]string{}
		}
		r := resolve(t, p, c)
		if r.Choice != api.ChooseCurrent || r.Policy != "a" || !strings.Contains(r.Message, "ConditionFailed") {
			t.Errorf("resolution %+v", r)
		}
		f := filterBy(t, p, filterQuestion("shop"))
		if f.Answer != api.Drop || f.Policy != "f" || len(f.Opinions) != 2 || f.Opinions[0].Failure != "ConditionFailed" {
			t.Errorf("verdict %+v", f)
		}
		if calls := strings.Join(s.Calls(), ", "); calls != "c merges static cluster fleet, f filters web" {
			t.Errorf("asked %s", calls)
		}
	})
}

func TestATestOfAPolicyHeedsItsConditions(t *testing.T) {
	t.Parallel()
	for expect, want := range map[string]string{
		"abstain": "", "deny": "DIR/p.toml:10: test.expect: a.yaml: want deny, got abstain (the pod does not match [match])",
	} {
		d, s := policytest.NewTree(t), policytest.NewScripts()
		d.Policy("p", "deny", "[match]\nconditions = [\"object.spec.hostNetwork\"]\n[[test]]\npod = \"a.yaml\"\nexpect = \""+expect+"\"")
		d.Write("a.yaml", policytest.ManifestText)
		_, err := loadOnce(t, d, s, nil)
		if got := policytest.InDir(err, d.Dir); got != want {
			t.Errorf("%s: error:\n%s\nwant:\n%s", expect, got, want)
		}
	}
}

func TestAReplacementIsSeenByConditions(t *testing.T) {
	t.Parallel()
	s := policytest.NewScripts()
	loaded := loadScripts(t, s, "deny\n[match]\nconditions = [\"request.replaces == 'uid-old' && oldObject.metadata.name == 'old'\"]")
	q := policytest.Question("web", func(q *api.Question) {
		q.Replaces, q.Old = "uid-old", policytest.SomePod("old", func(p *v1.Pod) { p.UID = "uid-old" })
	})
	if v := judge(t.Context(), []*set{loaded}, deciding(q), api.Allow); v.Answer != api.Deny {
		t.Errorf("verdict %+v", v)
	}
}

// dearConditions are n that take as much as a plugin does until it asks whether it
// is another's turn, or more, and then one that is false.
func dearConditions(n int) string {
	list := "[" + strings.Repeat("1,", 9) + "1]"
	one := fmt.Sprintf("%s.all(i, %s.all(j, %s.all(k, k > i - 5)))", list, list, list)
	return "[match]\nconditions = [" + strings.Repeat(fmt.Sprintf("%q, ", one), n) + "\"false\"]"
}

func TestDearConditionsLetAnotherTenantHaveItsTurn(t *testing.T) {
	t.Parallel()
	for hook, test := range map[string]struct {
		script string
		asks   func(p *Plane, done chan<- bool)
	}{
		api.HookAdmit: {"allow", func(p *Plane, done chan<- bool) {
			p.Judge(policytest.Question("dear", in("a")), func(api.Verdict) { done <- true })
		}},
		api.HookFilter: {"pass", func(p *Plane, done chan<- bool) {
			q := filterQuestion("a")
			p.Filter(q, func(api.FilterVerdict) { done <- true })
		}},
		api.HookMerge: {"keep", func(p *Plane, done chan<- bool) {
			p.Rules().Resolve(contestOf("a", ""), func(api.Resolution) { done <- true })
		}},
	} {
		t.Run(hook, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				d.Policy("node", "allow")
				d.Of("a").Hooked("a-begins", hook, test.script)
				d.Of("a").Hooked("b-dear", hook, test.script, dearConditions(3))
				d.Of("a").Hooked("c-ends", hook, test.script)
				begins, goOn, ends := make(chan bool), make(chan bool), make(chan bool)
				p, _ := listed(t, d, s, tenanted(d, "a", "b"), patient, func(c *Config) {
					c.Tenants[1].Dir = ""
					c.Loader = stops{c.Loader, func(policy string) {
						switch policy {
						case "a-begins":
							begins <- true
							<-goOn
						case "c-ends":
							<-ends
						}
					}}
				})
				run(t, p)
				ask(t, p, policytest.Question("warm", in("b")))
				dear, other := make(chan bool, 1), make(chan bool, 1)
				test.asks(p, dear)
				<-begins
				p.Judge(policytest.Question("other", in("b")), func(api.Verdict) { other <- true })
				synctest.Wait()
				if len(other) > 0 {
					t.Fatal("two questions are under way, there is one evaluator")
				}
				goOn <- true
				synctest.Wait()
				if len(other) == 0 {
					t.Error("the other tenant's question waits until the dear one is over")
				}
				ends <- true
				<-dear
			})
		})
	}
}

func TestADecisionAsksForItsTurnAsOftenAsAPluginWould(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		conditions string
		asks       bool
	}{
		"many that are cheap":        {"[match]\nconditions = [" + strings.Repeat(`"request.operation == 'ADD'", `, 31) + `"false"]`, false},
		"one that is dear, and some": {dearConditions(1), true},
		"many that are dear":         {dearConditions(31), true},
	} {
		s := policytest.NewScripts()
		loaded := loadScripts(t, s, "deny\n"+test.conditions)
		told, times := int64(0), int64(0)
		turns := wasm.WithTurns(t.Context(), func(fuel int64) {
			told, times = told+fuel, times+1
			if fuel < wasm.TurnFuel {
				t.Errorf("%s: it asks after %d", name, fuel)
			}
		})
		d := deciding(policytest.Question("web"))
		judge(turns, []*set{loaded}, d, api.Allow)
		if test.asks != (times > 0) {
			t.Errorf("%s: it asks %d times", name, times)
		}
		if left := d.spent - told; left < 0 || left >= wasm.TurnFuel {
			t.Errorf("%s: it took %d and said so of %d", name, d.spent, told)
		}
	}
}

func TestNoMoreConditionsAreAskedWhenTheNodeStops(t *testing.T) {
	t.Parallel()
	s := policytest.NewScripts()
	loaded := loadScripts(t, s, "deny\n"+dearConditions(31), "allow")
	ctx, cancel := context.WithCancel(t.Context())
	times := 0
	turns := wasm.WithTurns(ctx, func(int64) { times++; cancel() })
	judge(turns, []*set{loaded}, deciding(policytest.Question("web")), api.Allow)
	if times != 1 || len(s.Calls()) > 0 {
		t.Errorf("it goes on: it asked %d times more whether it is another's turn, and plugins %q", times-1, s.Calls())
	}
}

// stops is a Loader of plugins whose calls are told before they begin.
type stops struct {
	Loader
	at func(policy string)
}

func (l stops) Load(ctx context.Context, binary []byte, o wasm.Options) (Plugin, error) {
	p, err := l.Loader.Load(ctx, binary, o)
	return stopping{p, func() { l.at(o.Policy) }}, err
}

type stopping struct {
	Plugin
	at func()
}

func (p stopping) Admit(ctx context.Context, r *wasm.Request) (wasm.Result, error) {
	p.at()
	return p.Plugin.Admit(ctx, r)
}

func (p stopping) Merge(ctx context.Context, m *wasm.MergeRequest) (wasm.MergeResult, error) {
	p.at()
	return p.Plugin.Merge(ctx, m)
}

func (p stopping) Filter(ctx context.Context, r *wasm.Request) (wasm.FilterResult, error) {
	p.at()
	return p.Plugin.Filter(ctx, r)
}
