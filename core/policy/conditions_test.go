package policy

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

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

func TestDearConditionsLetAnotherTenantHaveItsTurn(t *testing.T) {
	t.Parallel()
	for hook, test := range map[string]struct {
		script string
		asks   func(p *Engine, done chan<- bool)
	}{
		api.HookAdmit: {"allow", func(p *Engine, done chan<- bool) {
			p.Judge(policytest.Question("dear", in("a")), func(api.Verdict) { done <- true })
		}},
		api.HookFilter: {"pass", func(p *Engine, done chan<- bool) {
			q := filterQuestion("a")
			p.Filter(q, func(api.FilterVerdict) { done <- true })
		}},
		api.HookMerge: {"keep", func(p *Engine, done chan<- bool) {
			p.Rules().Resolve(contestOf("a", ""), func(api.Resolution) { done <- true })
		}},
	} {
		t.Run(hook, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				d.Policy("node", "allow")
				d.Of("a").Hooked("a-begins", hook, test.script)
				d.Of("a").Hooked("b-dear", hook, test.script, policytest.ExpensiveConditions(3))
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

// stops is a Loader whose plugins call at with the name of their policy before each hook.
type stops struct {
	eval.Loader
	at func(policy string)
}

func (l stops) Load(ctx context.Context, binary []byte, o wasm.Options) (eval.Plugin, error) {
	p, err := l.Loader.Load(ctx, binary, o)
	return stopping{p, func() { l.at(o.Policy) }}, err
}

type stopping struct {
	eval.Plugin
	at func()
}

func (p stopping) Admit(ctx context.Context, r *abi.Request) (wasm.Result, error) {
	p.at()
	return p.Plugin.Admit(ctx, r)
}

func (p stopping) Merge(ctx context.Context, m *abi.MergeRequest) (wasm.MergeResult, error) {
	p.at()
	return p.Plugin.Merge(ctx, m)
}

func (p stopping) Filter(ctx context.Context, r *abi.Request) (wasm.FilterResult, error) {
	p.at()
	return p.Plugin.Filter(ctx, r)
}
