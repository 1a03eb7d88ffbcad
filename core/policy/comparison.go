package policy

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// maxDifferences is how many differences of a candidate are shown, the newest.
const maxDifferences = 10

// comparison is how a candidate does beside the policy in force. It is safe for
// concurrent use.
type comparison struct {
	// of are the digests of document and module of both: others begin a new one.
	of        [4]string
	threshold spec.Threshold
	since     time.Time
	now       func() time.Time

	mu      sync.Mutex
	weighed weighed
	shown   api.PolicyShadow
}

func newComparison(candidate, inForce *eval.Policy, clock func() time.Time) *comparison {
	now := clock()
	c := &comparison{of: [4]string{candidate.DocumentSum, candidate.ModuleSum, inForce.DocumentSum, inForce.ModuleSum}, threshold: candidate.Shadow, since: now, now: clock, weighed: weighed{}}
	c.shown = api.PolicyShadow{
		Since: now, InForceSHA256: inForce.DocumentSum, CandidateSHA256: candidate.DocumentSum,
		MaxDifference: c.threshold.MaxDifference, MinDecisions: c.threshold.MinDecisions, MinTime: c.threshold.MinTime,
	}
	return c
}

// skip counts a question that the candidate was not asked.
func (c *comparison) skip() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown.Skipped++
}

// note compares what a candidate said with what the policy in force did; question is the same
// for a question that is asked again. What neither was
// asked, as it does not match, or they do not have the hook, is no decision of theirs. That one has no
// instance, or the machine failed, or it was not its turn, says nothing of it, nor is known what a policy would say whose breaker
// is open. That of the candidate is its own failure.
func (c *comparison) note(hook, about string, question [sha256.Size]byte, inForce, candidate eval.ShadowResult) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if inForce.Policy == "" && candidate.Policy == "" {
		return
	}
	if ofMachineSaid(&inForce.Opinion) || ofMachineSaid(&candidate.Opinion) || inForce.Failure == string(eval.BreakerOpen) {
		c.shown.Skipped++
		return
	}
	more, different := c.weighed.weigh(question, !inForce.Same(&candidate))
	if more {
		c.shown.Decisions++
	}
	if !different {
		return
	}
	c.shown.Different++
	d := api.ShadowDifference{
		At: c.now(), Hook: hook, About: about, InForce: inForce.Answer, InForceSaid: inForce.Beside(&candidate),
		Candidate: candidate.Answer, CandidateSaid: candidate.Beside(&inForce),
	}
	// What is shown is not changed any more.
	all := slices.Concat(c.shown.Differences, []api.ShadowDifference{d})
	c.shown.Differences = all[max(0, len(all)-maxDifferences):]
}

// ofMachineSaid says of an opinion that it came of the machine, or of other pods.
func ofMachineSaid(o *api.Opinion) bool {
	return o.Failure == string(wasm.NotReady) || o.Failure == string(wasm.HostError) || o.Failure == string(eval.BreakerWaits) || o.Failure == string(eval.ReferencesUnknown)
}

// show is what `get policies` shows, with why the candidate may not take the place of
// the policy in force.
func (c *comparison) show() *api.PolicyShadow {
	c.mu.Lock()
	x := c.shown
	c.mu.Unlock()
	t := &c.threshold
	// A quotient is the number next to the true one, as is the limit that was written: a part
	// that is met exactly equals it. A product need not.
	switch left := t.MinTime - c.now().Sub(c.since); {
	case x.Decisions < uint64(t.MinDecisions): // 1 to a million
		x.Waits = fmt.Sprintf("it was asked in %d of %d decisions", x.Decisions, t.MinDecisions)
	case left > 0:
		x.Waits = fmt.Sprintf("it is to be compared for %s more", left.Round(time.Second))
	case float64(x.Different)/float64(x.Decisions) > t.MaxDifference:
		x.Waits = fmt.Sprintf("it says something else in %d of %d decisions, more than max_difference = %v", x.Different, x.Decisions, t.MaxDifference)
	}
	return &x
}

// compare gives each candidate its comparison: that of the running set where both are
// the same.
func (s *loadedSet) compare(running *loadedSet, clock func() time.Time) {
	s.comparisons = map[string]*comparison{}
	for _, c := range s.set.Candidates {
		next := newComparison(c, s.find(c.Name), clock)
		if running != nil && running.comparisons[c.Name] != nil && running.comparisons[c.Name].of == next.of {
			next = running.comparisons[c.Name]
		}
		s.comparisons[c.Name] = next
	}
}
