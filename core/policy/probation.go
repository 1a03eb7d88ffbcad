package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/state"
)

const (
	// A set is on probation until it had trialDecisions, or, once trialTime has
	// passed, leastDecisions. With fewer nothing can be said of it.
	trialDecisions = 200
	leastDecisions = 20
	trialTime      = 10 * time.Minute
	// A set has failed where plugins failed in more than one of maxFailed
	// decisions: over 5 percent.
	maxFailed = 20
)

// probation watches the plugins of a set that came into force lately. It is
// safe for concurrent use.
type probation struct {
	// suspects are the policies that the set before did not have like this, and
	// whose answers count. What others do is not the fault of the set.
	suspects map[string]bool
	// tenant is whose set it is, empty for the operator's.
	tenant string
	// told has room for one value: there is an outcome. Nobody closes it.
	told chan<- struct{}

	mu    sync.Mutex
	since time.Time
	// of are the decisions about the pods of each tenant, "" for the operator's.
	of map[string]trial
	// last is what the newest failure says.
	last string
	// outcome is unknown until the end.
	outcome outcome
	// stuck is why a set that failed is in force all the same.
	stuck string
}

// trial counts decisions that asked one of the suspects, and those of them in
// which one failed.
type trial struct{ decisions, failed int }

// outcome is how a probation ended.
type outcome int

const (
	unknown outcome = iota
	passed
	failed
)

// newProbation puts a set on probation because of some of its policies; nil
// where there are none.
func newProbation(tenant string, suspects []string, now time.Time, told chan<- struct{}) *probation {
	if len(suspects) == 0 {
		return nil
	}
	p := &probation{suspects: map[string]bool{}, tenant: tenant, since: now, told: told, of: map[string]trial{}}
	for _, name := range suspects {
		p.suspects[name] = true
	}
	return p
}

// observe counts a decision about a pod of a tenant for the sets it asked.
func observe(sets loadedSets, tenant string, opinions []api.Opinion, now time.Time) {
	for _, s := range sets {
		if s.probation != nil {
			s.probation.note(tenant, opinions, now)
		}
	}
}

// note counts one decision about a pod of a tenant, whose opinions may also be
// those of other sets.
func (p *probation) note(tenant string, opinions []api.Opinion, now time.Time) {
	asked, broke, open := false, "", false
	for i := range opinions {
		o := &opinions[i]
		// Where the plugin has no instance at hand others have used them up, and a fault of
		// the host says nothing about it. An exception keeps it from being asked.
		if o.Tenant != p.tenant || o.Mode != "" && o.Mode != spec.ModeMember || !p.suspects[o.Policy] || eval.IsMachineOpinion(o) || openedByMachine(o) || o.Reason == api.ReasonException {
			continue
		}
		asked = true
		if o.Failure != "" {
			broke = fmt.Sprintf("policy %q: %s", o.Policy, o.Message)
			open = o.Failure == string(eval.BreakerOpen)
		}
	}
	if !asked {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.outcome != unknown {
		return
	}
	t := p.of[tenant]
	t.decisions++
	if broke != "" {
		t.failed++
		// That the plugin is not asked any more says less than why.
		if !open || p.last == "" {
			p.last = broke
		}
	}
	p.of[tenant] = t
	p.decide(now)
}

// openedByMachine reports whether a breaker says that it is open because of the host.
func openedByMachine(o *api.Opinion) bool {
	return o.Failure == string(eval.BreakerOpen) && strings.HasSuffix(o.Message, ": "+string(wasm.HostError))
}

// decide ends the probation if that can be told now. Its lock is held.
func (p *probation) decide(now time.Time) {
	all := p.total()
	switch {
	case all.decisions < leastDecisions:
		return
	case p.blamed(all):
		p.outcome = failed
	case all.decisions >= trialDecisions, now.Sub(p.since) >= trialTime:
		p.outcome = passed
	default:
		return
	}
	select {
	case p.told <- struct{}{}:
	default: // what waits there leads to a look at this one
	}
}

// blamed reports whether too many decisions failed. For the operator's set that
// must be so whichever tenant is left out: no tenant can bring it about alone,
// with pods that are made for it.
func (p *probation) blamed(all trial) bool {
	if !all.tooMany() {
		return false
	}
	if p.tenant != "" {
		return true
	}
	for tenant, t := range p.of {
		without := trial{all.decisions - t.decisions, all.failed - t.failed}
		if tenant != "" && !without.tooMany() {
			return false
		}
	}
	return true
}

func (t trial) tooMany() bool { return t.failed*maxFailed > t.decisions }

func (p *probation) total() (all trial) {
	for _, t := range p.of {
		all.decisions += t.decisions
		all.failed += t.failed
	}
	return all
}

// ended is how the probation ended, and why the set has failed. The probation
// may be nil: it is over.
func (p *probation) ended(now time.Time) (how outcome, why string) {
	if p == nil {
		return passed, ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.outcome == unknown {
		p.decide(now)
	}
	all := p.total()
	return p.outcome, fmt.Sprintf("on probation, plugins failed in %d of %d decisions, last %s", all.failed, all.decisions, p.last)
}

// bears reports whether pods that run may be ended for what the set says: its plugins
// were asked often enough to tell that they do not fail, or for long. The probation
// may be nil: it is over.
func (p *probation) bears(now time.Time) bool {
	if p == nil {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch all := p.total(); p.outcome {
	case passed:
		return true
	case failed:
		return false
	default:
		return all.decisions >= leastDecisions && !p.blamed(all) || now.Sub(p.since) >= trialTime
	}
}

// hasFailed reports whether the set has failed. The probation may be nil.
func (p *probation) hasFailed() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.outcome == failed
}

// retry begins the probation of a set anew that has failed. The set may be nil.
func (s *loadedSet) retry(now time.Time) {
	if s == nil || !s.probation.hasFailed() {
		return
	}
	p := s.probation
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since, p.of, p.last, p.outcome, p.stuck = now, map[string]trial{}, "", unknown, ""
}

// stay puts down why a set that failed stays in force. It reports whether that
// is news.
func (p *probation) stay(reason string) (news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	news = p.stuck != reason
	p.stuck = reason
	return news
}

// stays reports whether it is known why a set that failed stays in force.
func (p *probation) stays() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stuck != ""
}

// show is what `get policies` shows of it, nil where it is over.
func (p *probation) show() *api.PolicyProbation {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.outcome == passed {
		return nil
	}
	all := p.total()
	return &api.PolicyProbation{Since: p.since, Policies: p.names(), Decisions: all.decisions, Failed: all.failed, Failing: p.stuck}
}

func (p *probation) names() []string { return slices.Sorted(maps.Keys(p.suspects)) }

// trialOf is what is kept of a set's probation over a restart.
func (s *loadedSet) trialOf() state.PolicyTrial {
	if s.probation == nil {
		return state.PolicyTrial{}
	}
	return state.PolicyTrial{Set: s.set.Digest, Policies: s.probation.names()}
}

// suspects are the policies whose answers count and that another set has not, or
// with another plugin, or for other pods. That set may be nil.
func (s *loadedSet) suspects(before *loadedSet) (names []string) {
	for _, p := range s.set.Policies {
		if !p.Decides() {
			continue
		}
		was := before.find(p.Name)
		if was == nil || !was.Decides() || was.Plugin != p.Plugin || !p.Match.Same(&was.Match) {
			names = append(names, p.Name)
		}
	}
	return names
}
