package policy

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestAQuestionThatIsAskedAgainCountsOnce(t *testing.T) {
	t.Parallel()
	another := func(q *api.Question) {
		q.Pod = policytest.SomePod("web", func(p *v1.Pod) { p.UID = "another" })
	}
	contest := func(p *Engine, change func(*api.Contest)) {
		c := contested("web")
		change(&c)
		answered := make(chan api.Resolution)
		p.Rules().Resolve(c, func(r api.Resolution) { answered <- r })
		<-answered
	}
	for name, test := range map[string]struct {
		first, second func(t *testing.T, p *Engine)
		want          uint64
	}{
		"a pod that is held": {
			func(t *testing.T, p *Engine) { t.Helper(); ask(t, p, policytest.Question("web")) },
			func(t *testing.T, p *Engine) { t.Helper(); ask(t, p, policytest.Question("web")) }, 1,
		},
		"another version of it": {
			func(t *testing.T, p *Engine) { t.Helper(); ask(t, p, policytest.Question("web")) },
			func(t *testing.T, p *Engine) { t.Helper(); ask(t, p, policytest.Question("web", update)) }, 2,
		},
		"another pod like it": {
			func(t *testing.T, p *Engine) { t.Helper(); ask(t, p, policytest.Question("web")) },
			func(t *testing.T, p *Engine) { t.Helper(); ask(t, p, policytest.Question("web", another)) }, 2,
		},
		"another hook": {
			func(t *testing.T, p *Engine) { t.Helper(); ask(t, p, policytest.Question("web")) },
			func(t *testing.T, p *Engine) { t.Helper(); filterBy(t, p, filterQuestion("shop")) }, 2,
		},
		"an update that is held back": {
			func(t *testing.T, p *Engine) { t.Helper(); filterBy(t, p, filterQuestion("shop")) },
			func(t *testing.T, p *Engine) { t.Helper(); filterBy(t, p, filterQuestion("shop")) }, 1,
		},
		"a contest": {
			func(_ *testing.T, p *Engine) { contest(p, func(*api.Contest) {}) },
			func(_ *testing.T, p *Engine) { contest(p, func(c *api.Contest) { slices.Reverse(c.Candidates) }) }, 1,
		},
		"a contest of others": {
			func(_ *testing.T, p *Engine) { contest(p, func(*api.Contest) {}) },
			func(_ *testing.T, p *Engine) {
				contest(p, func(c *api.Contest) { c.Candidates[1].Origin.Document = "c#0" })
			}, 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				d.Write("p.toml", policytest.DocumentIn("p", "hold", anyHook))
				d.Write("p.wasm", "hold")
				text := policytest.DocumentIn("next", "trap no", anyHook+"\nmode = \"shadow\"")
				d.Write("next.toml", strings.Replace(text, `name = "next"`, `name = "p"`, 1))
				d.Write("next.wasm", "trap no")
				p, _ := listed(t, d, s)
				run(t, p)
				for range 2 {
					test.first(t, p)
					synctest.Wait()
				}
				test.second(t, p)
				synctest.Wait()
				if x := shadowOf(p); x.Decisions != test.want || x.Different != test.want || x.Skipped != 0 {
					t.Errorf("got %+v, want %d decisions", x, test.want)
				}
			})
		})
	}
}
