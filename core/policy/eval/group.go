package eval

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/printable"
)

// joinGroups links groups with their members.
func (s *Set) joinGroups() {
	for _, p := range s.Policies {
		p.Reviewed = false // a replay.Replayer uses the policy in other sets too
	}
	for _, group := range s.Policies {
		if group.Group == nil {
			continue
		}
		made := sha256.New()
		group.Members = nil
		for _, name := range group.Group.Names() {
			if m := s.Find(name); m != nil {
				fmt.Fprintln(made, name, m.DocumentSum, m.ModuleSum)
				group.Members = append(group.Members, m)
				m.Reviewed = m.Reviewed || group.Reviews()
			}
		}
		group.MembersSum = hex.EncodeToString(made.Sum(nil))
	}
}

// The cost of a group in fuel: for itself, for each name in its expression, which may be
// looked up three times, and for each byte of its message.
const (
	groupFuel     = 2000
	groupNameFuel = 250
	groupByteFuel = 10
)

// combine appends the opinions of the set's groups, which follow from the opinions of their
// members.
func (s *Set) combine(d *Decision, opinions []PolicyResult) []PolicyResult {
	if d.Hook != api.HookAdmit {
		return opinions
	}
	of := map[string]*PolicyResult{}
	for i := range opinions {
		if o := &opinions[i]; o.Tenant == s.Tenant && o.Mode == spec.ModeMember {
			of[o.Policy] = o
		}
	}
	for _, p := range s.Policies {
		if p.Group == nil || p.Mode == spec.ModeOff || d.isReview() && !p.Reviews() {
			continue
		}
		o, asked := p.groupResult(d, of)
		d.Spent += groupFuel + groupNameFuel*int64(p.Group.Count()) + groupByteFuel*int64(len(o.Message))
		if !asked {
			continue
		}
		o.Tenant, o.Mode = s.Tenant, p.ShownMode()
		p.Counters.count(&o.Opinion)
		opinions = append(opinions, o)
	}
	return opinions
}

// groupResult returns the opinion of a group; asked is false if none of its members was
// asked.
func (p *Policy) groupResult(d *Decision, all map[string]*PolicyResult) (o PolicyResult, asked bool) {
	var members []*PolicyResult
	for _, m := range p.Members {
		if o := all[m.Name]; o != nil {
			members = append(members, o)
		}
	}
	if len(members) == 0 {
		return PolicyResult{}, false
	}
	if o, ok := p.Excepted(d); ok {
		return o, true
	}
	return p.verdict(members, d.Exempt), true
}

// verdict returns the opinion that follows from the opinions of the members, at least one.
// An exempt pod passes if only the failure of a member would hold or deny it.
func (p *Policy) verdict(members []*PolicyResult, exempt bool) PolicyResult {
	o := PolicyResult{Opinion: api.Opinion{Policy: p.Name, Answer: p.valueOf(members, nil)}}
	if o.Answer != api.Deny && o.Answer != api.Hold {
		return o
	}
	o.Reason = reason(o.Answer, "")
	o.Message = because(members)
	if p.Message != "" {
		o.Message = spec.OneLine(p.Message + ": " + o.Message)
	}
	if !p.stands(o.Answer, members) {
		o.Failure, o.Reason = api.FailureOfMember, api.ReasonPolicyFailed
		if exempt {
			o.Answer, o.Message = api.Allow, o.Message+"; the pod is exempt and passes"
			return o
		}
	}
	for _, m := range members {
		if m.Answer == api.Hold && m.retryAfter > 0 && (o.retryAfter == 0 || m.retryAfter < o.retryAfter) {
			o.retryAfter = m.retryAfter
		}
	}
	return o
}

// stands reports whether a deny or hold does not depend on members that failed: it is the
// same without these members and, for a deny, for every answer that they could have had.
func (p *Policy) stands(answer api.Answer, members []*PolicyResult) bool {
	if p.valueOf(members, new(api.Abstain)) != answer {
		return false
	}
	return answer != api.Deny || p.valueOf(members, new(api.Hold)) == api.Deny
}

// valueOf evaluates the expression. If failed is not nil it replaces the answers of members
// that failed.
func (p *Policy) valueOf(members []*PolicyResult, failed *api.Answer) api.Answer {
	answers := make(map[string]api.Answer, len(members))
	for _, o := range members {
		if answers[o.Policy] = o.Answer; failed != nil && o.Failure != "" {
			answers[o.Policy] = *failed
		}
	}
	return p.Group.Value(func(name string) api.Answer { return cmp.Or(answers[name], api.Abstain) })
}

// maxSaid is how many bytes a group's message quotes of a member.
const maxSaid = 512

// because returns the answers of the members that were asked, up to spec.MaxMessage bytes.
func because(members []*PolicyResult) string {
	var text strings.Builder
	for i, o := range members {
		if text.Len() > spec.MaxMessage {
			break
		}
		if i > 0 {
			text.WriteString(", ")
		}
		fmt.Fprintf(&text, "%s says %s", o.Policy, o.Answer)
		if why := o.Said(); why != "" {
			fmt.Fprintf(&text, " (%s)", printable.Cut(why, maxSaid))
		}
	}
	return spec.OneLine(text.String())
}
