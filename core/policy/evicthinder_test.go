package policy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// stubborn is a node that cannot evict some of its pods.
type stubborn struct {
	*running
	tries map[string]int
}

func newStubborn(n *running, names ...string) *stubborn {
	tries := map[string]int{}
	for _, name := range names {
		tries[name] = 0
	}
	return &stubborn{n, tries}
}

func (n *stubborn) Evict(ctx context.Context, p *v1.Pod, v api.Verdict) error {
	n.mu.Lock()
	_, stays := n.tries[p.Name]
	if stays {
		n.tries[p.Name]++
	}
	n.mu.Unlock()
	if stays {
		return errors.New("another document is about to take its place")
	}
	return n.running.Evict(ctx, p, v)
}

func TestAPodThatCannotBeEvictedKeepsNoOtherFromItsTurn(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		n := newStubborn(newRunning(somePods(50)...), "p00", "p01", "p02")
		d.Policy("deny-all", "deny No nobody", onChangeEvicts)
		p := reviewing(t, d, s, n.running, func(c *Config) { c.Running = n }, evictionsIn(newCounts()))
		run(t, p)
		time.Sleep(2 * time.Minute)
		if got := n.gone(); len(got) != 5 {
			t.Errorf("evicted %v, want 5", got)
		}
		expectPace(t, n.running)
	})
}

func TestWhyPodsCannotBeEvictedIsSaid(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		n := newStubborn(newRunning(somePods(1)...), "p00")
		n.pods["uid-ok"] = runs("ok", func(p *v1.Pod) { p.UID = "uid-ok" })
		d.Policy("a", "allow", onChangeEvicts)
		p := reviewing(t, d, s, n.running, func(c *Config) { c.Running = n }, evictionsIn(newCounts()))
		run(t, p)
		time.Sleep(time.Minute)
		d.Policy("a", "deny No nobody", onChangeEvicts, "[match]\nnamespaces = [\"shop\"]\nconditions = [\"object.metadata.name != 'ok'\"]")
		settled()
		const why = "another document is about to take its place"
		if r := p.Sets()[0].Policies[0].Review; r.Waits != "as pod shop/p00 could not be evicted: "+why || r.Evicted != 0 {
			t.Errorf("review %+v", r)
		}
		if got := n.shows("p00"); got != `policy "a": No: nobody; it could not be evicted, which is tried again: `+why {
			t.Errorf("shown %q", got)
		}
		if tries := n.tries["p00"]; tries < 5 || tries > 11 {
			t.Errorf("tried %d times in 20 minutes, want few", tries)
		}
	})
}

// spentTenant makes a policy of the operator evict the operator's pods and three of tenant a.
// Once the first pod is evicted, tenant a's budget is exhausted for long. now is the engine's
// clock.
func spentTenant(d policytest.Tree, s *policytest.Scripts, n *running, now func() time.Time) *Engine {
	t := d.T
	own := policytest.NewTree(t)
	for i := range 3 {
		p := runs(fmt.Sprintf("a%02d", i), func(p *v1.Pod) { p.Namespace = "a" })
		n.pods[p.Pod.UID] = p
	}
	d.Policy("operator", "deny", onChangeEvicts)
	own.Policy("mine", "allow")
	p := reviewing(t, d, s, n, func(c *Config) {
		c.Now = now
		c.Tenants = []Tenant{{Name: "a", Dir: own.Dir, FuelPerSecond: 1_000_000, Owns: func(namespace string) bool { return namespace == "a" }}}
	})
	var fuel atomic.Int64
	s.Edit = func(_ string, r *wasm.Result) { r.Fuel = fuel.Load() }
	run(t, p)
	for len(n.gone()) < 1 {
		time.Sleep(100 * time.Millisecond)
	}
	fuel.Store(10_000_000_000)
	p.Judge(policytest.Question("new", func(q *api.Question) { q.Pod.Namespace, q.Pod.UID = "a", types.UID("new") }), func(api.Verdict) {})
	time.Sleep(time.Second)
	fuel.Store(0)
	return p
}

func TestATenantWithoutBudgetKeepsNobodyElsesPodsFromTheirTurn(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		n := newRunning(somePods(97)...)
		p := spentTenant(d, s, n, time.Now)
		settled()
		if got := n.gone(); len(got) != 10 || strings.HasPrefix(got[9], "a") {
			t.Errorf("evicted %v, want ten", got)
		}
		expectPace(t, n)
		_, err := p.Confirm(t.Context(), "", "operator", "")
		policytest.Must(t, err)
		settled()
		if r := p.Sets()[0].Policies[0].Review; r.Waiting != 2 || r.Waits != `as tenant "a" has spent its fuel_per_second` {
			t.Errorf("review %+v", r)
		}
	})
}

func TestTheReviewerRestsWhileATenantHasNoBudget(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		n := newRunning()
		var looks atomic.Int64
		spentTenant(d, s, n, func() time.Time {
			if looks.Add(1) > 100_000 {
				time.Sleep(time.Millisecond) // otherwise the bubble's clock stands still
			}
			return time.Now()
		})
		before := looks.Load()
		time.Sleep(time.Minute)
		if got := looks.Load() - before; got > 10_000 {
			t.Errorf("the clock was read %d times in a minute", got)
		}
	})
}
