package policy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func filterQuestion(namespace string) api.FilterQuestion {
	q := policytest.Question("web", in(namespace))
	old := policytest.SomePod("web")
	return api.FilterQuestion{Op: api.UpdateOp, Pod: q.Pod, Old: old, Origin: q.Origin}
}

func filterBy(t *testing.T, p *Engine, q api.FilterQuestion) api.FilterVerdict {
	t.Helper()
	answer := make(chan api.FilterVerdict, 1)
	p.Filter(q, func(v api.FilterVerdict) { answer <- v })
	return <-answer
}

// patient lets the operator's policies defer updates for a day, and those of the tenants for
// five minutes.
func patient(c *Config) {
	c.MaxSuppress = 24 * time.Hour
	for i := range c.Tenants {
		c.Tenants[i].MaxSuppress = 5 * time.Minute
	}
}

func TestTheVerdictOfSeveralFilters(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		operator, tenant []string
		want             api.FilterVerdict
	}{
		"one that passes":   {[]string{"pass"}, nil, api.FilterVerdict{Answer: api.Pass}},
		"one that abstains": {[]string{"abstain"}, nil, api.FilterVerdict{Answer: api.Pass}},
		"one that defers": {
			[]string{"pass", "defer Window it is closed"},
			nil,
			api.FilterVerdict{Answer: api.Defer, Reason: "Window", Message: `policy "p1": it is closed`, Policy: "p1", After: time.Hour, Limit: time.Hour},
		},
		"a word of the agent's own is no reason of a plugin": {
			[]string{"defer FilterNotAnswered it is closed"},
			nil,
			api.FilterVerdict{Answer: api.Defer, Reason: "PolicySuppressed", Message: `policy "p0": it is closed`, Policy: "p0", After: time.Hour, Limit: time.Hour},
		},
		"nor is that of a policy that failed": {
			[]string{"drop PolicyFailed it is closed"},
			nil,
			api.FilterVerdict{Answer: api.Drop, Reason: "PolicySuppressed", Message: `policy "p0": it is closed`, Policy: "p0", Limit: time.Hour},
		},
		"drop is before defer": {
			[]string{"defer", "drop\n[limits]\nmax_suppress = \"30m\""},
			nil,
			api.FilterVerdict{Answer: api.Drop, Reason: "PolicySuppressed", Message: `policy "p1": `, Policy: "p1", Limit: time.Hour},
		},
		"nobody holds back for longer than its owner may": {
			[]string{"pass"},
			[]string{"drop"},
			api.FilterVerdict{Answer: api.Drop, Reason: "PolicySuppressed", Message: `policy "p0" of tenant "shop": `, Policy: "p0", Limit: 5 * time.Minute},
		},
		"the operator's may for a day": {
			[]string{"drop\n[limits]\nmax_suppress = \"48h\""},
			[]string{"pass"},
			api.FilterVerdict{Answer: api.Drop, Reason: "PolicySuppressed", Message: `policy "p0": `, Policy: "p0", Limit: 24 * time.Hour},
		},
		"a failure passes":          {[]string{"trap x"}, nil, api.FilterVerdict{Answer: api.Pass}},
		"another mode is no reason": {[]string{"drop\nmode = \"audit\""}, nil, api.FilterVerdict{Answer: api.Pass}},
		"nor another namespace":     {[]string{"drop\n[match]\nnamespaces = [\"a\"]"}, nil, api.FilterVerdict{Answer: api.Pass}},
		"nor an exception": {
			[]string{"drop\n[[exception]]\npods = [\"shop/web\"]\nowner = \"ops\"\nexpires = \"9999-12-31\""}, nil, api.FilterVerdict{Answer: api.Pass},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				d.Scripts(api.HookFilter, test.operator)
				d.Of("shop").Scripts(api.HookFilter, test.tenant)
				tenant := tenanted(d, "shop")
				if test.tenant == nil {
					tenant = func(*Config) {}
				}
				p, _ := listed(t, d, s, tenant, patient)
				run(t, p)
				got := filterBy(t, p, filterQuestion("shop"))
				if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(api.FilterVerdict{}, "At", "Sets", "Opinions")); diff != "" {
					t.Errorf("verdict (-want +got):\n%s", diff)
				}
				if want := 1 + min(len(test.tenant), 1); len(got.Sets) != want {
					t.Errorf("sets %q", got.Sets)
				}
				if on := p.Decisions(); len(got.Opinions) > 0 && (len(on) != 1 || on[0].Hook != api.HookFilter || on[0].Op != api.UpdateOp) {
					t.Errorf("on record: %+v", on)
				}
			})
		})
	}
}

func TestWithoutASetUpdatesPass(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Write("broken.toml", "api = 1")
		p, _ := listed(t, d, s)
		run(t, p)
		if got := filterBy(t, p, filterQuestion("shop")); got.Answer != api.Pass || len(p.Decisions()) > 0 {
			t.Errorf("verdict %+v", got)
		}
	})
}

func TestAFilterIsToldWhatTheUpdateChanges(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Hooked("f", api.HookFilter, "pass")
		p, _ := listed(t, d, s)
		run(t, p)
		q := filterQuestion("shop")
		q.Pod.Labels = nil
		filterBy(t, p, q)
		r := s.Requests["f"]
		if diff := cmp.Diff([]string{"labels"}, r.Changed); diff != "" || r.Question.Old != q.Old || r.Question.Op != api.UpdateOp {
			t.Errorf("asked %+v (-want +got):\n%s", r, diff)
		}
	})
}
