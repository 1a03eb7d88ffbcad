package policy

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// asksOf asks one question, and returns the request that each policy received and the time of
// the decision.
func asksOf(t *testing.T, c Config, s *policytest.Scripts, q api.Question) (asked map[string]abi.Request, at time.Time) {
	t.Helper()
	p := New(c)
	stop := run(t, p)
	at = ask(t, p, q).At
	stop()
	return s.Requests, at
}

func TestAPluginIsAskedWithAllThatIsKnownOfTheQuestion(t *testing.T) {
	t.Parallel()
	update := func(q *api.Question) {
		q.Op, q.Old = api.UpdateOp, policytest.SomePod("web", func(p *v1.Pod) { p.Labels = nil })
	}
	for name, test := range map[string]struct {
		source string
		change func(*api.Question)
		clock  func() bool
		want   abi.Request
	}{
		"a file":                               {source: "static", want: abi.Request{Kind: "file"}},
		"an API server":                        {source: "cluster", want: abi.Request{Kind: "api"}},
		"a source that the agent lost":         {source: "gone"},
		"an update":                            {source: "static", change: update, want: abi.Request{Kind: "file", Changed: []string{"labels"}}},
		"with a clock that is right":           {source: "gone", clock: func() bool { return true }, want: abi.Request{ClockSynchronized: true}},
		"with a clock that is known to be not": {source: "gone", clock: func() bool { return false }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, s := policytest.NewTree(t), policytest.NewScripts()
			d.Policy("p", "allow")
			c := testConfig(d, s)
			c.ClockSynchronized = test.clock
			q := policytest.Question("web", func(q *api.Question) { q.Origin.Source = test.source })
			if test.change != nil {
				test.change(&q)
			}
			asked, at := asksOf(t, c, s, q)
			test.want.Question, test.want.Time = &q, at
			if asked["p"].Texts == nil {
				t.Error("the request has nothing that writes its pods once")
			}
			if diff := cmp.Diff(test.want, asked["p"], cmpopts.IgnoreFields(abi.Request{}, "Texts")); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheClockIsLookedAtOnceForADecision(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	names := []string{"a", "b", "c"}
	for _, name := range names {
		d.Policy(name, "allow")
	}
	c := testConfig(d, s)
	var looks atomic.Int32
	c.ClockSynchronized = func() bool { return looks.Add(1) == 1 }
	asked, _ := asksOf(t, c, s, policytest.Question("web"))
	for name, r := range asked {
		if !r.ClockSynchronized || !slices.Contains(names, name) {
			t.Errorf("policy %s sees a clock that is right: %t", name, r.ClockSynchronized)
		}
	}
	if n := looks.Load(); n != 1 || len(asked) != len(names) {
		t.Errorf("the clock was looked at %d times for %d policies", n, len(asked))
	}
}
