package policy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/rollout"
	"github.com/wardlet/wardlet/core/state"
)

// indebted puts a failing set of a tenant into force after a good one. Loading the failing
// set costs far more than the tenant's budget.
func indebted(t *testing.T, d policytest.Tree, p *Engine) (good string) {
	t.Helper()
	shop := d.Of("shop")
	askAbout(t, p, "shop", 1)
	good = p.Sets()[1].Digest
	shop.Policy("large", "allow # "+strings.Repeat("x", 4_000_000), "mode = \"off\"")
	shop.Policy("a", "trap unreachable")
	takenIn()
	if p.Sets()[1].Digest == good {
		t.Fatalf("set %+v", p.Sets()[1])
	}
	return good
}

func TestARollBackDoesNotWaitForWhatTheFailingSetHasSpent(t *testing.T) {
	t.Parallel()
	for name, order := range map[string]bool{"after a probation": false, "by the operator": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), _ state.PolicySets) {
				t := d.T
				d.Policy("operators", "allow")
				d.Of("shop").Policy("a", "allow")
				life(t, d, s, func(p *Engine, _ *policytest.Logs) {
					good := indebted(t, d, p)
					if order {
						begun := time.Now()
						if set, err := p.Rollback(t.Context(), "shop"); err != nil || set.Digest != good || time.Since(begun) > time.Second {
							t.Errorf("set %+v, %v after %s", set, err, time.Since(begun))
						}
					} else {
						askAbout(t, p, "shop", rollout.LeastDecisions)
						time.Sleep(time.Second)
						synctest.Wait()
					}
					if set := p.Sets()[1]; set.Digest != good || !strings.HasPrefix(set.Refused, "rolled back") {
						t.Errorf("set %+v", set)
					}
				}, keep, paying(d, 2_000_000))
			})
		})
	}
}

func TestARollBackEndsTheWaitOfALoad(t *testing.T) {
	t.Parallel()
	for name, order := range map[string]bool{"after a probation": false, "by the operator": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), _ state.PolicySets) {
				t := d.T
				d.Policy("operators", "allow")
				shop := d.Of("shop")
				shop.Policy("a", "allow")
				life(t, d, s, func(p *Engine, _ *policytest.Logs) {
					good := indebted(t, d, p)
					shop.Policy("b", "allow")
					takenIn()
					if set := p.Sets()[1]; !strings.HasPrefix(set.Refused, "not taken in yet: ") {
						t.Errorf("before: set %+v", set)
					}
					if order {
						begun := time.Now()
						if set, err := p.Rollback(t.Context(), "shop"); err != nil || set.Digest != good || time.Since(begun) > time.Second {
							t.Errorf("set %+v, %v after %s", set, err, time.Since(begun))
						}
					} else {
						askAbout(t, p, "shop", rollout.LeastDecisions)
					}
					takenIn()
					if set := p.Sets()[1]; set.Digest != good || !strings.HasPrefix(set.Refused, "rolled back") {
						t.Errorf("set %+v", set)
					}
					// Afterwards loading continues.
					shop.Policy("a", "deny Mended")
					time.Sleep(2 * time.Hour)
					if v := ask(t, p, policytest.Question("web")); v.Reason != "Mended" || p.Sets()[1].Refused != "" {
						t.Errorf("verdict %+v, set %+v", v, p.Sets()[1])
					}
				}, keep, paying(d, 2_000_000))
			})
		})
	}
}

func TestOrdersAreCarriedOutThoughATenantRewritesWhatWaits(t *testing.T) {
	t.Parallel()
	keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), _ state.PolicySets) {
		t := d.T
		s.LoadFuel = map[string]int64{"b": 1 << 40}
		d.Policy("operators", "allow")
		shop := d.Of("shop")
		shop.Policy("a", "allow # 1")
		life(t, d, s, func(p *Engine, _ *policytest.Logs) {
			askAbout(t, p, "shop", 1)
			good := p.Sets()[1].Digest
			shop.Policy("a", "allow # 2")
			takenIn()
			shop.Policy("b", "allow")
			shop.Policy("c", "allow")
			takenIn()
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				for n := 0; ctx.Err() == nil; n++ {
					shop.Policy("c", fmt.Sprintf("allow # %d", n))
					time.Sleep(12 * time.Second)
				}
			}()
			time.Sleep(time.Minute)
			begun := time.Now()
			set, err := p.Reload(t.Context(), "shop")
			if took := time.Since(begun); err == nil || !strings.HasPrefix(err.Error(), "not taken in yet: ") || set.Refused != err.Error() || took > 2*time.Minute {
				t.Errorf("reload: set %+v, %v after %s", set, err, took)
			}
			begun = time.Now()
			set, err = p.Rollback(t.Context(), "shop")
			if took := time.Since(begun); err != nil || set.Digest != good || took > time.Second {
				t.Errorf("roll-back: set %+v, %v after %s", set, err, took)
			}
			time.Sleep(time.Minute)
			stop()
			<-ended
		}, keep, paying(d, 10_000_000))
	})
}

func TestAReloadThatWaitsForLongSaysForWhatAndGoesOn(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		s.LoadFuel = map[string]int64{"a": 30_000_000, "b": 900_000_000}
		d.Policy("operators", "allow")
		shop := d.Of("shop")
		shop.Policy("a", "allow")
		p, _ := listed(t, d, s, paying(d, 10_000_000))
		run(t, p)
		askAbout(t, p, "shop", 1)
		shop.Policy("b", "allow")
		shop.Policy("c", "deny")
		takenIn()
		left, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		if _, err := p.Reload(left, "shop"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("of a client that leaves: %v", err)
		}
		begun, loads := time.Now(), s.Loads
		set, err := p.Reload(t.Context(), "shop")
		if took := time.Since(begun); err == nil || !strings.HasPrefix(err.Error(), "not taken in yet: ") || set.Refused != err.Error() || !set.Ready || took != rollout.OrderTime {
			t.Errorf("set %+v, %v after %s", set, err, took)
		}
		time.Sleep(time.Minute)
		if v := ask(t, p, policytest.Question("web")); v.Answer != api.Deny || s.Loads != loads+1 {
			t.Errorf("verdict %+v after %d loads, and %d before", v, s.Loads, loads)
		}
	})
}

func TestTheLastGoodSetIsInForceWhileLoadingWaitsAtAStart(t *testing.T) {
	t.Parallel()
	for name, newer := range map[string]bool{"of the same": false, "of another": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), _ state.PolicySets) {
				t := d.T
				d.Policy("operators", "allow")
				shop := d.Of("shop")
				shop.Policy("a", "allow")
				shop.Policy("z", "deny Good")
				life(t, d, s, func(p *Engine, _ *policytest.Logs) { askAbout(t, p, "shop", 1) }, keep, paying(d, 2_000_000))
				s.LoadFuel = map[string]int64{"a": 1_000_000_000, "b": 1_000_000_000}
				if newer {
					shop.Policy("b", "allow")
				}
				life(t, d, s, func(p *Engine, l *policytest.Logs) {
					if v := ask(t, p, policytest.Question("web")); v.Reason != "Good" {
						t.Errorf("verdict %+v", v)
					}
					takenIn()
					if set := p.Sets()[1]; !set.Ready || !strings.HasPrefix(set.Refused, "not taken in yet: ") {
						t.Errorf("set %+v", set)
					}
					time.Sleep(time.Hour)
					if set := p.Sets()[1]; set.Refused != "" || len(set.Policies) != len(s.InUse())-1 {
						t.Errorf("an hour later: set %+v", set)
					}
					if l.Count("the last good policies are in force") != 1 {
						t.Errorf("logged %q", l.Lines())
					}
				}, keep, paying(d, 2_000_000))
			})
		})
	}
}

func TestAKeptSetThatIsDamagedDoesNotEndTheWaitOfALoadAgainAndAgain(t *testing.T) {
	t.Parallel()
	keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), kept state.PolicySets) {
		t := d.T
		d.Policy("operators", "allow")
		shop := d.Of("shop")
		shop.Policy("a", "allow")
		shop.Policy("z", "deny Good")
		life(t, d, s, func(p *Engine, _ *policytest.Logs) { askAbout(t, p, "shop", 1) }, keep, paying(d, 2_000_000))
		content, err := kept.Content("shop")
		policytest.Must(t, err)
		entries, err := os.ReadDir(content)
		policytest.Must(t, err)
		policytest.Must(t, os.WriteFile(filepath.Join(content, entries[0].Name(), "a.wasm"), nil, 0o600))
		s.LoadFuel = map[string]int64{"a": 100_000_000}
		life(t, d, s, func(p *Engine, _ *policytest.Logs) {
			if v := ask(t, p, policytest.Question("web")); v.Reason != api.ReasonPoliciesNotReady || !strings.Contains(v.Message, "not taken in yet: ") {
				t.Errorf("verdict %+v", v)
			}
			time.Sleep(5 * time.Minute)
			if v := ask(t, p, policytest.Question("web")); v.Reason != "Good" {
				t.Errorf("verdict %+v", v)
			}
		}, keep, paying(d, 2_000_000))
	})
}

func TestWhyASetIsRefusedIsShownBesideThatAnotherWaits(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("operators", "allow")
		shop := d.Of("shop")
		shop.Policy("a", "allow")
		p, _ := listed(t, d, s, paying(d, 1_000_000))
		run(t, p)
		askAbout(t, p, "shop", 1)
		shop.Write("a.toml", "api = 1")
		takenIn()
		before := p.Sets()[1]
		s.LoadFuel = map[string]int64{"a": 30_000_000, "b": 1}
		shop.Policy("a", "deny")
		shop.Policy("b", "allow")
		takenIn()
		now := p.Sets()[1]
		if before.Refused == "" || !strings.HasPrefix(now.Refused, before.Refused+"; and: "+"not taken in yet: ") || !now.RefusedAt.Equal(before.RefusedAt) {
			t.Errorf("set %+v, and before %+v", now, before)
		}
	})
}

func TestAKeptSetThatTheMachineKeepsOutIsBroughtBackThoughLoadingWaits(t *testing.T) {
	t.Parallel()
	keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), _ state.PolicySets) {
		t := d.T
		d.Policy("operators", "allow")
		shop := d.Of("shop")
		shop.Policy("a", "allow")
		shop.Policy("z", "busy")
		s.Faults = 2
		life(t, d, s, func(p *Engine, _ *policytest.Logs) { askAbout(t, p, "shop", 1) }, keep, paying(d, 2_000_000))
		s.Faults, s.LoadFuel = 0, map[string]int64{"a": 1_000_000_000}
		life(t, d, s, func(p *Engine, _ *policytest.Logs) {
			if v := ask(t, p, policytest.Question("web")); v.Reason != api.ReasonPoliciesNotReady {
				t.Errorf("verdict %+v", v)
			}
			time.Sleep(3 * rollout.ListPeriod)
			if v := ask(t, p, policytest.Question("web")); v.Answer != api.Allow {
				t.Errorf("verdict %+v", v)
			}
		}, keep, paying(d, 2_000_000))
	})
}

func TestARetryEndsTheWaitOfALoadAndOrdersEndWithThePlane(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		s.LoadFuel = map[string]int64{"b": 1_000_000_000}
		d.Policy("operators", "allow")
		shop := d.Of("shop")
		shop.Policy("a", "allow")
		shop.Policy("b", "allow")
		shop.Policy("c", "refused it was slow")
		p, _ := listed(t, d, s, paying(d, 10_000_000))
		stop := run(t, p)
		takenIn()
		s.LoadFuel["b"] = 1
		answers := make(chan error, 3)
		for _, order := range []func(context.Context, string) (api.PolicySet, error){p.Reload, p.Retry, p.Reload} {
			go func() {
				_, err := order(t.Context(), "shop")
				answers <- err
			}()
			synctest.Wait()
		}
		time.Sleep(30 * time.Second)
		begun := time.Now()
		stop()
		for range cap(answers) {
			if err := <-answers; !errors.Is(err, context.Canceled) || time.Since(begun) > 0 {
				t.Errorf("%v after %s", err, time.Since(begun))
			}
		}
	})
}
