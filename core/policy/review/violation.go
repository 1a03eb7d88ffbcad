package review

import (
	"fmt"
	"strings"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/rollout"
)

// maxViolations is how many policies a condition names.
const maxViolations = 8

// display shows how policies have judged the running pods, on the pods and for `get
// policies`.
func (r *Reviewer) display(f *effectiveSets) {
	now := r.cfg.Now()
	r.evicting = false
	shown, outlooks := map[eval.PolicyKey]api.PolicyReview{}, map[eval.PolicyKey]outlook{}
	for _, o := range r.cfg.Owners {
		s := f.sets[o.Tenant]
		if s == nil {
			continue
		}
		for _, p := range s.Eval.Policies {
			if !p.JudgesRunning() {
				continue
			}
			x := r.summary(f, p)
			if p.Evicts() {
				next := r.outlook(f, s, p, &x)
				outlooks[p.Key()] = next
				r.evicting = r.evicting || x.Waiting > 0 && !next.news
				if x.Waiting > 0 && x.Waits == "" {
					x.Next = r.limiters[s.Eval.Tenant].next(s, p, now)
				}
			}
			shown[p.Key()] = x
		}
	}
	for _, rv := range r.pods {
		if rv.sets == f.of(rv.tenant).key {
			r.tell(rv, outlooks)
		}
	}
	r.shown.mu.Lock()
	r.shown.of = shown
	r.shown.mu.Unlock()
}

// summary counts how a policy has judged the running pods.
func (r *Reviewer) summary(f *effectiveSets, p *eval.Policy) (x api.PolicyReview) {
	for _, rv := range r.pods {
		switch o := rv.opinion(p); {
		case p.Tenant != "" && rv.tenant != p.Tenant:
		case rv.sets != f.of(rv.tenant).key:
			x.Unjudged++
		case o == nil || o.Reason == api.ReasonException:
		default:
			x.Judged++
			if violates(&o.Opinion) {
				x.Violating++
			}
		}
	}
	return x
}

// outlook adds the evictions of a policy to its summary, and returns what will happen to a
// pod that the policy is to evict.
func (r *Reviewer) outlook(f *effectiveSets, s *rollout.Set, p *eval.Policy, x *api.PolicyReview) outlook {
	now, due := r.cfg.Now(), r.due(f, p)
	c, may := r.count(f, s, p, now)
	x.Of, x.Evicted, x.Confirmed, x.Allowed, x.Waiting = c.Of, c.Evicted, c.Confirmed, may, len(due)
	if x.Waiting == 0 {
		return outlook{}
	}
	if x.Waits, _ = r.waits(f, s, p, now); x.Waits == "" {
		x.Waits = r.allBlockedBy(due, p, now)
	}
	switch {
	case !c.Confirmed && c.Evicted >= may && !s.Probation.HasFailed():
		return outlook{fmt.Sprintf("%d of %d pods were evicted, this one waits for %s", x.Evicted, x.Of, p.Confirmation()), true}
	case x.Waits != "":
		return outlook{"it is to be evicted", false}
	}
	return outlook{fmt.Sprintf("it is to be evicted, one pod every %s", EvictPeriod), false}
}

// outlook is what will happen to a pod that a policy is to evict, empty if it evicts
// none; news reports that this is worth an event.
type outlook struct {
	text string
	news bool
}

// violates reports whether the opinion counts and is a deny or hold.
func violates(o *api.Opinion) bool {
	return o.Mode == "" && (o.Answer == api.Deny || o.Answer == api.Hold)
}

// tell shows which policies a pod violates, and emits an event if that is new.
func (r *Reviewer) tell(rv *reviewedPod, outlooks map[eval.PolicyKey]outlook) {
	var parts, said, news []string
	more := 0
	for i, opinions := 0, rv.said(); i < len(opinions); i++ {
		o := &opinions[i]
		if !violates(o) {
			continue
		}
		if len(parts) == maxViolations {
			more++
			continue
		}
		text := eval.Called(o.Policy, o.Tenant) + ": " + (&eval.PolicyResult{Opinion: *o}).Said()
		if o.Failure != "" {
			text += fmt.Sprintf(" (on_error is %s)", o.Answer)
		}
		said = append(said, text)
		if o.Failure == "" && o.Answer == api.Deny {
			news = append(news, text)
		} else { // the policy is asked again and again, and its message may differ each time
			news = append(news, eval.Called(o.Policy, o.Tenant)+": "+o.Reason+" "+o.Failure)
		}
		if x, evicts := outlooks[eval.PolicyKey{Tenant: o.Tenant, Policy: o.Policy}]; evicts && o.Answer == api.Deny && o.Failure == "" {
			if r.exempt(rv) {
				x = outlook{"the pod is exempt and runs on", false}
			} else if rv.refusal != nil && !x.news {
				x.text = fmt.Sprintf("it could not be evicted, which is tried again: %v", rv.refusal)
			}
			if x.text != "" {
				text += "; " + x.text
			}
			if x.news {
				said, news = append(said, x.text), append(news, x.text)
			}
		}
		parts = append(parts, text)
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	next := Violation{}
	if len(parts) > 0 {
		next = Violation{Reason: api.ReasonPolicyViolation, Message: strings.Join(parts, "; ")}
	}
	if next != rv.violation {
		rv.violation = next
		r.running.Violates(rv.Pod, next)
	}
	if told := strings.Join(news, "; "); told != rv.told {
		if rv.told = told; told != "" {
			r.running.Tell(rv.Pod, api.ReasonPolicyViolation, "the pod runs on and would not be admitted now: "+strings.Join(said, "; "))
		}
	}
}
