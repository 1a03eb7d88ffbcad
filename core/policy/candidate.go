package policy

import (
	"context"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// shadowed is a question that a policy was asked, or was not as it does not match, and
// that its candidate is to be asked too.
type shadowed struct {
	hook   string
	set    *set
	policy *policy
	// request is that of the hooks admit and filter as the policy saw it, contest that of
	// merge.
	request *wasm.Request
	contest *contest
	// wait is how long what the policy said has the question wait, 0 for no certain time;
	// most is how long its owner may hold an update back.
	wait, most time.Duration
	// makes is FinalHash of what the policy makes of the pod, empty where it changes nothing.
	makes string
	// last is what the policy had said before, nil for nothing: where both fail, that
	// counts for both.
	last *opinion
}

// shadow notes that a policy is at its turn, which has a candidate. most is how long its
// owner may hold an update back.
func (d *decision) shadow(s *set, p *policy, most time.Duration) {
	if p.candidate == nil || d.isReview() {
		return
	}
	request := *d.request
	x := shadowed{hook: d.hook, set: s, policy: p, request: &request, most: most}
	if last, known := d.lasts.get(p, d.lastKey()); known {
		x.last = &last
	}
	d.shadowed = append(d.shadowed, x)
}

// waits notes how long what a policy said at its turn has the question wait.
func (d *decision) waits(p *policy, wait time.Duration) {
	if i := len(d.shadowed) - 1; i >= 0 && d.shadowed[i].policy == p {
		d.shadowed[i].wait = wait
	}
}

// alone is what a policy says in a decision that nobody else has a part in; it
// abstains where it is not asked. most is how long it may hold an update back.
func (p *policy) alone(ctx context.Context, d *decision, most time.Duration) saying {
	asked, fuel, err := p.wants(ctx, d)
	if !asked {
		return saying{Opinion: api.Opinion{Answer: notAskedAnswer(d.hook)}}
	}
	d.at.Enter(p.Name)
	defer d.at.Leave()
	var said saying
	if d.hook == api.HookFilter {
		f := p.filter(ctx, d, err)
		said = saying{Opinion: f.Opinion, wait: f.wait(most)}
	} else {
		o := p.consult(ctx, d, err)
		said = saying{o.Opinion, o.wait(), d.made[p.owned()]}
	}
	said.Fuel += fuel
	return said
}

// notAskedAnswer is the answer of a policy that was not asked, as it does not match.
func notAskedAnswer(hook string) api.Answer {
	if hook == api.HookFilter {
		return api.Answer(api.Pass)
	}
	return api.Abstain
}

// saying is what a policy says of a question, and how long that has it wait where the
// policy names a time; 0 for no certain time. makes is FinalHash of what it makes of the
// pod, empty where it changes nothing: the patch of an opinion is cut.
type saying struct {
	api.Opinion
	wait  time.Duration
	makes string
}
