package policy

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// dearly is a Loader of plugins each of whose calls costs extra beside its fuel.
type dearly struct {
	eval.Loader
	extra int64
}

func (l dearly) Load(ctx context.Context, binary []byte, o wasm.Options) (eval.Plugin, error) {
	p, err := l.Loader.Load(ctx, binary, o)
	return dear{p, l.extra}, err
}

type dear struct {
	eval.Plugin
	extra int64
}

func (p dear) Admit(ctx context.Context, r *abi.Request) (wasm.Result, error) {
	result, err := p.Plugin.Admit(ctx, r)
	result.Extra = p.extra
	return result, err
}

func (p dear) Merge(ctx context.Context, m *abi.MergeRequest) (wasm.MergeResult, error) {
	result, err := p.Plugin.Merge(ctx, m)
	result.Extra = p.extra
	return result, err
}

func (p dear) Filter(ctx context.Context, r *abi.Request) (wasm.FilterResult, error) {
	result, err := p.Plugin.Filter(ctx, r)
	result.Extra = p.extra
	return result, err
}

// TestWhatCallsCostBesideTheirFuelIsTheirTenantsAndOnNoRecord checks that the cost beside the
// fuel is charged to the tenant but not shown: it differs from call to call.
func TestWhatCallsCostBesideTheirFuelIsTheirTenantsAndOnNoRecord(t *testing.T) {
	t.Parallel()
	const rate, extra = 1_000_000, 1000
	admits := func(t *testing.T, p *Engine) []api.Opinion {
		t.Helper()
		return ask(t, p, policytest.Question("web", in("a"))).Opinions
	}
	merges := func(t *testing.T, p *Engine) []api.Opinion {
		t.Helper()
		resolve(t, p, contestOf("a", "fleet"))
		return p.Decisions()[0].Verdict.Opinions
	}
	filters := func(t *testing.T, p *Engine) []api.Opinion {
		t.Helper()
		return filterBy(t, p, filterQuestion("a")).Opinions
	}
	for name, test := range map[string]struct {
		hook, script string
		decide       func(t *testing.T, p *Engine) []api.Opinion
		calls, fuel  int64
	}{
		"a pod that is judged":         {api.HookAdmit, "deny", admits, 1, 9},
		"a pod that is judged twice":   {api.HookAdmit, "quota 5", admits, 2, 9},
		"a pod that a plugin fails on": {api.HookAdmit, "trap", admits, 1, 0},
		"a contest":                    {api.HookMerge, "keep", merges, 1, 3},
		"a contest that it fails on":   {api.HookMerge, "trap", merges, 1, 7},
		"an update":                    {api.HookFilter, "pass", filters, 1, 5},
		"an update that it fails on":   {api.HookFilter, "trap", filters, 1, 7},
	} {
		bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
			t := d.T
			d.Hooked("node", test.hook, test.script, reads)
			node := &aNode{}
			s.Edit = func(_ string, r *wasm.Result) {
				r.Fuel = 9
				if test.calls > 1 {
					node.set(NodePod{Pod: policytest.SomePod("other")}) // the node is no longer as the plugin saw it
				}
			}
			p, _ := listed(t, d, s, tenanted(d, "a"), patient, func(c *Config) {
				c.Tenants[0].Dir, c.Tenants[0].FuelPerSecond = "", rate
				c.Loader, c.Facts = dearly{c.Loader, extra}, node.node()
			})
			run(t, p)
			opinions := test.decide(t, p)
			synctest.Wait()
			if len(opinions) != 1 || opinions[0].Fuel != test.fuel {
				t.Errorf("%s: opinions %+v, want one of %d units", name, opinions, test.fuel)
			}
			spent := sched.MostOf(rate) - p.budgets.LeftOf("a")
			if want := test.calls * (test.fuel + extra); spent != want {
				t.Errorf("%s: its tenant spent %d, want %d", name, spent, want)
			}
		})
	}
}
