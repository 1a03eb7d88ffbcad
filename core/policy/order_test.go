package policy

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/state"
)

func TestReloadWaitsForWhatComesOfIt(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("a", "allow")
		d.Of("shop").Policy("b", "allow")
		p, _ := listed(t, d, s, tenanted(d, "shop"))
		run(t, p)
		ask(t, p, policytest.Question("web"))
		d.Policy("a", "deny")
		set, err := p.Reload(t.Context(), "")
		if err != nil || set.Generation != 2 || set.Tenant != "" {
			t.Errorf("set %+v, %v", set, err)
		}
		if set, err := p.Reload(t.Context(), ""); err != nil || set.Generation != 2 {
			t.Errorf("a reload of the same content: set %+v, %v", set, err)
		}
		d.Of("shop").Write("b.toml", "api = 1")
		set, err = p.Reload(t.Context(), "shop")
		if err == nil || !strings.Contains(err.Error(), "b.toml:1: api: ") || set.Generation != 1 || set.Refused != err.Error() {
			t.Errorf("set %+v, %v", set, err)
		}
		if _, err := p.Reload(t.Context(), "other"); err == nil || !strings.Contains(err.Error(), `tenant "other" has no policies`) {
			t.Errorf("error %v", err)
		}
	})
}

func TestARetryHasModulesTriedAgainThatWereRefused(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("a", "refused it was killed")
		d.Policy("b", "allow")
		d.Of("shop").Policy("c", "refused it was slow")
		p, _ := listed(t, d, s, tenanted(d, "shop"))
		run(t, p)
		for _, tenant := range []string{"", "shop"} {
			if _, err := p.Reload(t.Context(), tenant); err == nil || !strings.Contains(err.Error(), "it was ") {
				t.Errorf("error %v of a reload", err)
			}
		}
		if set, err := p.Retry(t.Context(), ""); err != nil || !set.Ready {
			t.Errorf("set %+v, %v of a retry", set, err)
		}
		if _, err := p.Reload(t.Context(), "shop"); err == nil {
			t.Error("the retry of one owner was another's too")
		}
		d.Policy("d", "refused it was large")
		if _, err := p.Reload(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "it was large") {
			t.Errorf("error %v of a reload after a retry", err)
		}
	})
}

func TestARollbackBringsTheSetBeforeIntoForceUntilTheDirectoryChanges(t *testing.T) {
	t.Parallel()
	keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), kept state.PolicySets) {
		t := d.T
		d.Policy("a", "allow")
		want := func(p *Engine, step string, answer api.Answer) {
			t.Helper()
			time.Sleep(time.Minute)
			if got := ask(t, p, policytest.Question("web")); got.Answer != answer {
				t.Errorf("%s: verdict %+v", step, got)
			}
		}
		life(t, d, s, func(p *Engine, _ *policytest.Logs) {
			want(p, "first", api.Allow)
			if _, err := p.Rollback(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "no earlier set is kept") {
				t.Errorf("error %v with one set", err)
			}
			d.Policy("a", "deny")
			want(p, "second", api.Deny)
			set, err := p.Rollback(t.Context(), "")
			if err != nil || set.Generation != 3 || !strings.HasPrefix(set.Refused, "rolled back by the operator at 2000-") {
				t.Errorf("set %+v, %v", set, err)
			}
			want(p, "rolled back", api.Allow)
		}, keep)
		life(t, d, s, func(p *Engine, _ *policytest.Logs) {
			want(p, "after a restart", api.Allow)
			if _, err := p.Reload(t.Context(), ""); err == nil || !strings.HasPrefix(err.Error(), "rolled back") {
				t.Errorf("error %v of a reload", err)
			}
			if set, err := p.Retry(t.Context(), ""); err != nil || set.Refused != "" {
				t.Errorf("set %+v, %v of a retry", set, err)
			}
			want(p, "tried again", api.Deny)
			d.Policy("a", "hold")
			want(p, "changed", api.Hold)
		}, keep)
		if record, err := kept.Load(""); err != nil || len(record.Good) != 2 || len(record.Refused) != 0 {
			t.Errorf("kept %+v, %v", record, err)
		}
	})
}

func TestARollbackOfASignedSetGoesBackInRevisionsToo(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), kept state.PolicySets) {
		t := d.T
		trust := func(c *Config) { c.Trust = trusting(true, key) }
		life(t, d, s, func(p *Engine, _ *policytest.Logs) {
			for revision, answer := range []string{"allow", "deny"} {
				d.Policy("a", answer)
				signIn(d, uint64(revision+4), key)
				time.Sleep(time.Minute)
			}
			set, err := p.Rollback(t.Context(), "")
			if err != nil || set.Revision != 4 {
				t.Errorf("set %+v, %v", set, err)
			}
		}, keep, trust)
		if record, err := kept.Load(""); err != nil || record.Revision != 4 {
			t.Errorf("kept %+v, %v", record, err)
		}
	})
}

func TestAnOrderEndsWithItsContext(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("a", "allow")
		p, _ := listed(t, d, s)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.Reload(ctx, ""); err == nil {
			t.Error("a plane that does not run has reloaded")
		}
	})
}
