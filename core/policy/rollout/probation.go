package rollout

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/state"
)

const (
	// TrialDecisions is how many decisions a probation has at most.
	TrialDecisions = 200
	// LeastDecisions is how many decisions a probation needs before it has an outcome.
	LeastDecisions = 20
	// TrialTime is how long a probation with at least LeastDecisions takes at most.
	TrialTime = 10 * time.Minute
	// maxFailed: a set has failed if plugins failed in more than one in maxFailed
	// decisions, that is in more than 5 percent.
	maxFailed = 20
)

// probation watches the plugins of a set that came into force recently. It is safe for
// concurrent use.
type probation struct {
	// suspects are the policies that count and that are new or changed since the previous
	// set. Failures of other policies are not the fault of the set.
	suspects map[string]bool
	// tenant is the owner, empty for the operator.
	tenant string
	// told receives a value when there is an outcome. It has room for one value and is
	// never closed.
	told chan<- struct{}

	mu    sync.Mutex
	since time.Time
	// of counts the decisions about the pods of each tenant, "" for the operator's.
	of map[string]trial
	// last is the message of the newest failure.
	last string
	// outcome is unknown until the end.
	outcome outcome
	// stuck says why a set that failed stays in force.
	stuck string
}

// trial counts decisions that asked a suspect, and those in which one failed.
type trial struct{ decisions, failed int }

// outcome is the outcome of a probation.
type outcome int

const (
	unknown outcome = iota
	passed
	failed
)

// newProbation starts the probation of a set because of some of its policies; nil if
// there are none.
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

// Observe counts a decision about a pod of a tenant for the sets that it used.
func Observe(sets Sets, tenant string, opinions []api.Opinion, now time.Time) {
	for _, s := range sets {
		if s.Probation != nil {
			s.Probation.note(tenant, opinions, now)
		}
	}
}

// note counts one decision about a pod of a tenant. The opinions may also be those of
// other sets.
func (p *probation) note(tenant string, opinions []api.Opinion, now time.Time) {
	asked, broke, open := false, "", false
	for i := range opinions {
		o := &opinions[i]
		// Some opinions say nothing about the plugin: it has no instance because of other
		// calls, the host has failed, or an exception keeps the plugin from being asked.
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
		// An open breaker says less than the failure that opened it.
		if !open || p.last == "" {
			p.last = broke
		}
	}
	p.of[tenant] = t
	p.decide(now)
}

// openedByMachine reports whether a breaker is open because of a fault of the host.
func openedByMachine(o *api.Opinion) bool {
	return o.Failure == string(eval.BreakerOpen) && strings.HasSuffix(o.Message, ": "+string(abi.HostError))
}

// decide ends the probation if it has an outcome. The lock is held.
func (p *probation) decide(now time.Time) {
	all := p.total()
	switch {
	case all.decisions < LeastDecisions:
		return
	case p.blamed(all):
		p.outcome = failed
	case all.decisions >= TrialDecisions, now.Sub(p.since) >= TrialTime:
		p.outcome = passed
	default:
		return
	}
	select {
	case p.told <- struct{}{}:
	default: // the value that waits leads to a check of this one, too
	}
}

// blamed reports whether too many decisions failed. For the operator's set this must also
// hold without the decisions of any one tenant, so that no tenant can cause it alone with
// pods made for that purpose.
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

// ended returns the outcome, and why the set has failed. A nil probation is passed.
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

// Bears reports whether running pods may be evicted because of the set's answers: its
// plugins were asked often enough without failing, or for long enough. A nil probation is
// passed.
func (p *probation) Bears(now time.Time) bool {
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
		return all.decisions >= LeastDecisions && !p.blamed(all) || now.Sub(p.since) >= TrialTime
	}
}

// HasFailed reports whether the set has failed. The probation may be nil.
func (p *probation) HasFailed() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.outcome == failed
}

// retry restarts the probation of a set that has failed. The set may be nil.
func (s *Set) retry(now time.Time) {
	if s == nil || !s.Probation.HasFailed() {
		return
	}
	p := s.Probation
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since, p.of, p.last, p.outcome, p.stuck = now, map[string]trial{}, "", unknown, ""
}

// stay records why a set that failed stays in force. It reports whether the reason is
// new.
func (p *probation) stay(reason string) (news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	news = p.stuck != reason
	p.stuck = reason
	return news
}

// stays reports whether a set that failed stays in force for a known reason.
func (p *probation) stays() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stuck != ""
}

// show returns what `get policies` shows, nil if the probation was passed.
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

// trialOf returns what is stored of a set's probation.
func (s *Set) trialOf() state.PolicyTrial {
	if s.Probation == nil {
		return state.PolicyTrial{}
	}
	return state.PolicyTrial{Set: s.Eval.Digest, Policies: s.Probation.names()}
}

// suspects returns the policies that count and that the set before does not have, or has
// with another plugin or for other pods. before may be nil.
func (s *Set) suspects(before *Set) (names []string) {
	for _, p := range s.Eval.Policies {
		if !p.Decides() {
			continue
		}
		was := before.Find(p.Name)
		if was == nil || !was.Decides() || was.Plugin != p.Plugin || !p.Match.Same(&was.Match) {
			names = append(names, p.Name)
		}
	}
	return names
}

// startProbation puts a set that comes into force on probation, unless none of its policies
// is new. The set of an earlier process starts the same probation again, if it was on one.
func (r *reloader) startProbation(next, running *Set) {
	suspects := next.suspects(running)
	if good := r.kept.record.Good; running == nil && len(good) > 0 && good[0] == next.Eval.Digest {
		suspects = nil
		if trial := r.kept.record.Trial; trial.Set == next.Eval.Digest {
			suspects = trial.Policies
		}
	}
	next.Probation = newProbation(r.standing.tenant, suspects, r.cfg.Now(), r.trials)
}

// checkProbation acts on the outcome of the probation of the set in force. It reports
// whether another set was activated.
func (r *reloader) checkProbation(ctx context.Context) bool {
	running := r.standing.current()
	if running == nil || running.Probation == nil {
		return false
	}
	switch how, why := running.Probation.ended(r.cfg.Now()); how {
	case failed:
		return r.fallBack(ctx, running, why)
	case passed:
		if r.kept.passed(running.Eval.Digest) {
			r.cfg.Logger.Info("the policies have passed their probation", "directory", r.cfg.Dir, "digest", running.Eval.Digest)
		}
	case unknown:
	}
	return false
}

// fallBack activates the set before the failed one. The failed one is not tried again. If
// there is no earlier set, the set in force stays.
func (r *reloader) fallBack(ctx context.Context, running *Set, why string) bool {
	stay := func(reason string) bool {
		if running.Probation.stay(reason) {
			r.cfg.Logger.Error("the policies fail and stay in force", "directory", r.cfg.Dir, "digest", running.Eval.Digest, "failures", why, "why", reason)
		}
		return false
	}
	if running.Probation.stays() && !r.kept.machine {
		return false
	}
	if !r.kept.another(running.Eval.Digest) {
		return stay("there is no earlier set to go back to")
	}
	before, err := r.kept.last(ctx, &r.loader, running, running.Eval.Digest)
	switch {
	case ctx.Err() != nil:
		before.Release()
		return false
	case before == nil:
		return stay(fmt.Sprintf("the set before cannot be brought back: %v", bounded(err)))
	}
	now := r.cfg.Now()
	reason := fmt.Errorf("rolled back at %s: %s; mend the policies, or take them in again with wardlet policy retry", now.UTC().Format(time.RFC3339), why)
	r.kept.back(running.content, reason, running.Eval.Digest, before.Eval.Digest, now)
	r.activate(before, reason, false)
	// The directory may hold something else by now.
	r.acted = false
	r.cfg.Logger.Error("policies are rolled back: their plugins fail", "directory", r.cfg.Dir, "from", running.Eval.Digest, "to", before.Eval.Digest,
		"generation", before.generation, "failures", why)
	return true
}

// another reports whether another good set is stored.
func (k *lastKnownGood) another(than string) bool {
	return slices.ContainsFunc(k.record.Good, func(digest string) bool { return digest != than })
}

// passed stores that a set has passed its probation, and reports whether that is new.
func (k *lastKnownGood) passed(digest string) bool {
	if k.record.Trial.Set != digest {
		return false
	}
	k.record.Trial = state.PolicyTrial{}
	k.store()
	return true
}
