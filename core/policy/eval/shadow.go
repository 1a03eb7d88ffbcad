package eval

import (
	"context"
	"strings"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// ShadowQuestion is a question that a policy's candidate is to be asked. The policy was
// asked it, too, or did not match it.
type ShadowQuestion struct {
	Hook   string
	Set    *Set
	Policy *Policy
	// Request is the request of the hooks admit, filter and connect as the policy saw it.
	// Conflict is the question of the hook merge.
	Request  *abi.Request
	Conflict *Conflict
	// Wait is how long the question waits because of the policy's answer, 0 for no certain
	// time. MaxSuppress is how long the policy's owner may hold an update back.
	Wait, MaxSuppress time.Duration
	// Makes is the FinalHash of the pod as the policy changes it, empty if it changes
	// nothing.
	Makes string
	// LastResult is the earlier answer of the policy, nil for none. If policy and candidate
	// fail, it counts for both.
	LastResult *PolicyResult
}

// noteShadow records the question of a policy that has a candidate. most is how long its
// owner may hold an update back.
func (d *Decision) noteShadow(s *Set, p *Policy, most time.Duration) {
	if p.Candidate == nil || d.isReview() {
		return
	}
	request := *d.Request
	x := ShadowQuestion{Hook: d.Hook, Set: s, Policy: p, Request: &request, MaxSuppress: most}
	if last, known := d.Cache.get(p, d.LastKey()); known {
		x.LastResult = &last
	}
	d.Shadowed = append(d.Shadowed, x)
}

// noteWait records how long the question waits because of the policy's answer.
func (d *Decision) noteWait(p *Policy, wait time.Duration) {
	if i := len(d.Shadowed) - 1; i >= 0 && d.Shadowed[i].Policy == p {
		d.Shadowed[i].Wait = wait
	}
}

// AskAsCandidate returns the result of a candidate in a decision of its own. A candidate
// that is not asked abstains. most is how long it may hold an update back.
func (p *Policy) AskAsCandidate(ctx context.Context, d *Decision, most time.Duration) ShadowResult {
	asked, fuel, err := p.wants(ctx, d)
	if !asked {
		return ShadowResult{Opinion: api.Opinion{Answer: AnswerIfNotAsked(d.Hook)}}
	}
	d.Current.Enter(p.Name)
	defer d.Current.Leave()
	var said ShadowResult
	if d.Hook == api.HookFilter {
		f := p.filter(ctx, d, err)
		said = ShadowResult{Opinion: f.Opinion, Wait: f.wait(most)}
	} else {
		o := p.consult(ctx, d, err)
		said = ShadowResult{o.Opinion, o.wait(), d.Made[p.Key()]}
	}
	said.Fuel += fuel
	return said
}

// AnswerIfNotAsked returns the answer of a policy that does not match.
func AnswerIfNotAsked(hook string) api.Answer {
	if hook == api.HookFilter {
		return api.Answer(api.Pass)
	}
	return api.Abstain
}

// ShadowResult is the result of a policy. Wait is how long the question waits because of
// the answer, 0 for no certain time. Makes is the FinalHash of the pod as the policy
// changes it, empty if it changes nothing; it is here because the patch of an opinion may
// be cut.
type ShadowResult struct {
	api.Opinion
	Wait  time.Duration
	Makes string
}

// Same reports whether both results are the same except for their messages.
func (s *ShadowResult) Same(other *ShadowResult) bool {
	return s.Answer == other.Answer && s.Reason == other.Reason && s.Makes == other.Makes && s.Failure == other.Failure &&
		s.waitsAs(other)
}

// waitsAs reports whether the question waits equally long. If one of the results is a
// failure, the waits are not compared.
func (s *ShadowResult) waitsAs(other *ShadowResult) bool {
	return s.Failure != "" || other.Failure != "" || s.Wait == other.Wait
}

// Beside returns the result for display next to another one.
func (s *ShadowResult) Beside(other *ShadowResult) string {
	text := said(s.Reason, s.Message)
	if s.Answer != other.Answer {
		return text
	}
	var more []string
	if text != "" {
		more = append(more, text)
	}
	switch {
	case s.waitsAs(other):
	case s.Wait == 0:
		more = append(more, "waits for no certain time")
	default:
		more = append(more, "waits "+s.Wait.String())
	}
	switch s.Makes {
	case other.Makes:
	case "":
		more = append(more, "changes nothing")
	default:
		more = append(more, "changes the pod, which is "+s.Makes+" then")
	}
	return strings.Join(more, "; ")
}

// Tenant returns the owner of the pods that the question is about.
func (x *ShadowQuestion) Tenant() string {
	if x.Conflict != nil {
		return x.Conflict.Tenant
	}
	return x.Request.Tenant
}

// About returns the name of the pod that the question is about.
func (x *ShadowQuestion) About() string {
	if x.Conflict != nil {
		p := x.Conflict.Candidates[0].Pod
		return p.Namespace + "/" + p.Name
	}
	p := x.Request.Question.Pod
	return p.Namespace + "/" + p.Name
}
