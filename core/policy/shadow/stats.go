package shadow

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/spec"
)

// maxDifferences is how many differences of a candidate are shown, the newest.
const maxDifferences = 10

// Stats is how a candidate does beside the policy in force. It is safe for
// concurrent use.
type Stats struct {
	// Of are the digests of document and module of both: others begin a new one.
	Of        [4]string
	threshold spec.Threshold
	since     time.Time
	now       func() time.Time

	mu      sync.Mutex
	weighed seen
	current api.PolicyShadow
}

// New begins the comparison of a candidate with the policy in force.
func New(candidate, inForce *eval.Policy, clock func() time.Time) *Stats {
	now := clock()
	c := &Stats{Of: [4]string{candidate.DocumentSum, candidate.ModuleSum, inForce.DocumentSum, inForce.ModuleSum}, threshold: candidate.Shadow, since: now, now: clock, weighed: seen{}}
	c.current = api.PolicyShadow{
		Since: now, InForceSHA256: inForce.DocumentSum, CandidateSHA256: candidate.DocumentSum,
		MaxDifference: c.threshold.MaxDifference, MinDecisions: c.threshold.MinDecisions, MinTime: c.threshold.MinTime,
	}
	return c
}

// Skip counts a question that the candidate was not asked.
func (c *Stats) Skip() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current.Skipped++
}

// Note compares what a candidate said with what the policy in force did; question is the same
// for a question that is asked again. What neither was
// asked, as it does not match, or they do not have the hook, is no decision of theirs. That one has no
// instance, or the machine failed, or it was not its turn, says nothing of it, nor is known what a policy would say whose breaker
// is open. That of the candidate is its own failure.
func (c *Stats) Note(hook, about string, question [sha256.Size]byte, inForce, candidate eval.ShadowResult) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if inForce.Policy == "" && candidate.Policy == "" {
		return
	}
	if eval.IsMachineOpinion(&inForce.Opinion) || eval.IsMachineOpinion(&candidate.Opinion) || inForce.Failure == string(eval.BreakerOpen) {
		c.current.Skipped++
		return
	}
	more, different := c.weighed.firstTime(question, !inForce.Same(&candidate))
	if more {
		c.current.Decisions++
	}
	if !different {
		return
	}
	c.current.Different++
	d := api.ShadowDifference{
		At: c.now(), Hook: hook, About: about, InForce: inForce.Answer, InForceSaid: inForce.Beside(&candidate),
		Candidate: candidate.Answer, CandidateSaid: candidate.Beside(&inForce),
	}
	// What is shown is not changed any more.
	all := slices.Concat(c.current.Differences, []api.ShadowDifference{d})
	c.current.Differences = all[max(0, len(all)-maxDifferences):]
}

// Show is what `get policies` shows, with why the candidate may not take the place of
// the policy in force.
func (c *Stats) Show() *api.PolicyShadow {
	c.mu.Lock()
	x := c.current
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

// maxWeighed is how many questions a comparison remembers, by a digest and a flag: some
// hundred kilobytes for a candidate. Once there are as many, a further one counts whenever
// it is asked.
const maxWeighed = 4096

// seen are the questions that count in a comparison, and whether the candidate said
// something else in one: a pod that is held is asked about again and again, and is one
// decision.
type seen map[[sha256.Size]byte]bool

// firstTime takes a question in, and gives whether it is one decision more, and one difference
// more.
func (w seen) firstTime(question [sha256.Size]byte, different bool) (more, moreDifferent bool) {
	was, known := w[question]
	if known || len(w) < maxWeighed {
		w[question] = was || different
	}
	return !known, different && !was
}
