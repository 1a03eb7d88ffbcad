package policy

import (
	"errors"
	"fmt"
	"time"

	"github.com/wardlet/wardlet/core/internal/backoff"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/sched"
)

// refusedDelays is for how long a pod is left that could not be evicted.
var refusedDelays = backoff.Exponential{Min: evictPeriod, Max: 5 * time.Minute}

// errIsAsked hinders a pod for a moment.
var errIsAsked = errors.New("it is being judged once more")

// hinders is what keeps a pod from its turn that a policy is to evict, nil for nothing.
// Others go meanwhile.
func (r *reviewer) hinders(rv *review, p *eval.Policy, now time.Time) error {
	switch {
	case rv.stays.After(now):
		return fmt.Errorf("pod %s/%s could not be evicted: %w", rv.Pod.Namespace, rv.Pod.Name, rv.refusal)
	case rv.fresh || rv.isRejected(p):
		return nil
	case r.lacks(rv.tenant):
		_, why := sched.Exhausted(rv.tenant)
		return errors.New(why)
	case !r.plane.ready(rv.tenant):
		return fmt.Errorf("the policies of tenant %q are being loaded", rv.tenant)
	case rv.asking:
		return errIsAsked
	}
	return nil
}

// hindrance says what all pods wait for that a policy is to evict, empty where one of
// them has its turn.
func (r *reviewer) hindrance(due []*review, p *eval.Policy, now time.Time) (why string) {
	for _, rv := range due {
		err := r.hinders(rv, p, now)
		if err == nil || errors.Is(err, errIsAsked) {
			return ""
		}
		if why == "" {
			why = "as " + err.Error()
		}
	}
	return why
}

// refuse has a pod left for a while that could not be evicted, each time for longer.
func (rv *review) refuse(why error, now time.Time) {
	rv.stays = now.Add(refusedDelays.Delay(rv.refused))
	rv.refused, rv.refusal = rv.refused+1, why
}
