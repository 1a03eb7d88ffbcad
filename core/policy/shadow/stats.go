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

// maxDifferences is how many of the newest differences of a candidate are shown.
const maxDifferences = 10

// Stats compares a candidate with the policy in force. It is safe for concurrent use.
type Stats struct {
	// Of are the digests of the documents and modules of both policies. If one changes, the
	// comparison starts anew.
	Of        [4]string
	threshold spec.Threshold
	since     time.Time
	now       func() time.Time

	mu      sync.Mutex
	weighed seen
	current api.PolicyShadow
}

// New starts the comparison of a candidate with the policy in force.
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

// Note compares the results of the candidate and of the policy in force. question is the
// same if a question is asked again. A question that matches neither policy is not counted.
// A question is skipped if a plugin had no instance, the machine failed, the question had
// to wait, or the breaker of the policy in force is open. An open breaker of the candidate
// is the candidate's own failure.
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
	// A slice that Show has returned is not changed.
	all := slices.Concat(c.current.Differences, []api.ShadowDifference{d})
	c.current.Differences = all[max(0, len(all)-maxDifferences):]
}

// Show returns what `get policies` shows, with why the candidate may not be promoted yet.
func (c *Stats) Show() *api.PolicyShadow {
	c.mu.Lock()
	x := c.current
	c.mu.Unlock()
	t := &c.threshold
	// A quotient is rounded to the number nearest to the true one, and so is the limit in
	// the document: a share that meets the limit exactly equals it. A product may differ.
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

// maxWeighed is how many questions a comparison remembers: some hundred kilobytes for a
// candidate. After that every question counts as a new one.
const maxWeighed = 4096

// seen has the counted questions, and whether the candidate differed in them. A held pod is
// asked about again and again, but is one decision.
type seen map[[sha256.Size]byte]bool

// firstTime records a question, and reports whether it is one more decision, and one more
// difference.
func (w seen) firstTime(question [sha256.Size]byte, different bool) (more, moreDifferent bool) {
	was, known := w[question]
	if known || len(w) < maxWeighed {
		w[question] = was || different
	}
	return !known, different && !was
}
