package review

import (
	"maps"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/backoff"
	"github.com/wardlet/wardlet/core/policy/eval"
)

// reviewDelays are the delays before a policy that held a pod or failed is asked again.
var reviewDelays = backoff.Exponential{Min: 10 * time.Second, Max: 5 * time.Minute}

// plan sets when the sets that returned a verdict judge the pod again: a failure or a hold
// is not final, and an exception expires.
func (r *Reviewer) plan(f *effectiveSets, rv *reviewedPod, v *api.Verdict) {
	now := r.cfg.Now()
	rv.again = time.Time{}
	q := rv.Question()
	names := eval.NamesOf(&q, r.cfg.Node)
	unsure := false
	for i := range v.Opinions {
		o := &v.Opinions[i]
		p := f.sets[o.Tenant].Find(o.Policy)
		if p == nil || !p.Reviews() && !p.Reviewed {
			continue
		}
		if o.Failure == string(eval.BreakerWaits) || o.Failure == string(eval.ReferencesUnknown) {
			rv.sooner(now.Add(reviewDelays.Min))
			continue
		}
		unsure = unsure || o.Failure != "" || o.Answer == api.Hold && o.Mode == ""
		if o.Reason == api.ReasonException {
			if e := p.Exception(names, v.At); e != nil {
				rv.sooner(e.Until)
			}
		}
	}
	if !unsure {
		rv.tries = 0 // also if only the turn of a policy has not come
		return
	}
	wait := reviewDelays.Delay(rv.tries)
	if v.Answer == api.Hold && v.RetryAfter > 0 {
		wait = max(v.RetryAfter, reviewDelays.Min)
	}
	rv.tries++
	rv.sooner(now.Add(wait))
}

// sooner makes the pod be judged again at that time, unless it is judged earlier.
func (rv *reviewedPod) sooner(at time.Time) {
	if rv.again.IsZero() || at.Before(rv.again) {
		rv.again = at
	}
}

// judgesAgain reports whether the sets in force are to judge the pod again now.
func (rv *reviewedPod) judgesAgain(now time.Time) bool {
	return !rv.again.IsZero() && !rv.again.After(now)
}

// watch makes violating pods whose policies saw the node be judged again when the pods on
// the node have changed.
func (r *Reviewer) watch(f *effectiveSets) {
	if !f.seeNode() {
		r.seen = nil
		return
	}
	if r.seen != nil && r.looked.Sub(r.seenAt) < Period {
		return
	}
	before := r.seen
	r.seen, r.seenAt = r.cfg.Engine.Present(), r.looked
	if before == nil || maps.Equal(before, r.seen) {
		return
	}
	for _, rv := range r.pods {
		if rv.readsNode && slices.ContainsFunc(rv.opinions, func(o api.Opinion) bool { return violates(&o) }) {
			rv.sooner(r.looked)
		}
	}
}

// watchReferences makes a pod be judged again when an object that a policy has read has
// changed.
func (r *Reviewer) watchReferences() {
	for _, rv := range r.pods {
		if r.cfg.Engine.HasChanged(rv.Pod, rv.references) {
			rv.sooner(r.looked)
		}
	}
}

// seeNode reports whether a policy judges running pods by what it sees of the node.
func (f *effectiveSets) seeNode() bool {
	for _, s := range f.sets {
		if slices.ContainsFunc(s.Eval.Policies, func(p *eval.Policy) bool { return p.ReadsNode() && (p.Reviews() || p.Reviewed) }) {
			return true
		}
	}
	return false
}
