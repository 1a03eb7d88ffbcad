package policy

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

// joinGroups tells policies and groups of each other.
func (s *set) joinGroups() {
	for _, p := range s.policies {
		p.reviewed = false // a Repeater has it in other sets too
	}
	for _, group := range s.policies {
		if group.Group == nil {
			continue
		}
		made := sha256.New()
		group.of = nil
		for _, name := range group.Group.Names() {
			if m := s.find(name); m != nil {
				fmt.Fprintln(made, name, m.source, m.sum)
				group.of = append(group.of, m)
				m.reviewed = m.reviewed || group.reviews()
			}
		}
		group.members = hex.EncodeToString(made.Sum(nil))
	}
}

// What a group costs the host, in units of fuel: each, for a name in its expression, which
// may be looked up three times, and for a byte of its message.
const (
	groupFuel     = 2000
	groupNameFuel = 250
	groupByteFuel = 10
)

// unite appends what the groups of the set make of the opinions of their members.
func (s *set) unite(d *decision, opinions []opinion) []opinion {
	if d.hook != api.HookAdmit {
		return opinions
	}
	of := map[string]*opinion{}
	for i := range opinions {
		if o := &opinions[i]; o.Tenant == s.tenant && o.Mode == spec.ModeMember {
			of[o.Policy] = o
		}
	}
	for _, p := range s.policies {
		if p.Group == nil || p.Mode == spec.ModeOff || d.isReview() && !p.reviews() {
			continue
		}
		o, asked := p.united(d, of)
		d.spent += groupFuel + groupNameFuel*int64(p.Group.Count()) + groupByteFuel*int64(len(o.Message))
		if !asked {
			continue
		}
		o.Tenant, o.Mode = s.tenant, p.counted()
		p.counts.count(&o.Opinion)
		opinions = append(opinions, o)
	}
	return opinions
}

// united is the opinion of a group of those of its set's members; asked is false where
// none of its own was asked.
func (p *policy) united(d *decision, all map[string]*opinion) (o opinion, asked bool) {
	var members []*opinion
	for _, m := range p.of {
		if o := all[m.Name]; o != nil {
			members = append(members, o)
		}
	}
	if len(members) == 0 {
		return opinion{}, false
	}
	if o, ok := p.excepted(d); ok {
		return o, true
	}
	return p.verdict(members, d.exempt), true
}

// verdict is what the group makes of the opinions of its members, of which there is one
// at least. A pod that is exempt passes where it would not only because of a failure.
func (p *policy) verdict(members []*opinion, exempt bool) opinion {
	o := opinion{Opinion: api.Opinion{Policy: p.Name, Answer: p.valueOf(members, nil)}}
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

// stands reports whether an answer that does not let a pod pass is that of the plugins which
// did not fail: it is the same without the others and, where it is deny, whatever those had said.
func (p *policy) stands(answer api.Answer, members []*opinion) bool {
	if p.valueOf(members, new(api.Abstain)) != answer {
		return false
	}
	return answer != api.Deny || p.valueOf(members, new(api.Hold)) == api.Deny
}

// valueOf is what the expression makes of the members' answers. Where failed is not nil it
// stands for those of plugins that failed.
func (p *policy) valueOf(members []*opinion, failed *api.Answer) api.Answer {
	answers := make(map[string]api.Answer, len(members))
	for _, o := range members {
		if answers[o.Policy] = o.Answer; failed != nil && o.Failure != "" {
			answers[o.Policy] = *failed
		}
	}
	return p.Group.Value(func(name string) api.Answer { return cmp.Or(answers[name], api.Abstain) })
}

// maxSaid bounds what a group's message quotes of a member, in bytes.
const maxSaid = 512

// because is what each member said that was asked, as far as there is room for it.
func because(members []*opinion) string {
	var text strings.Builder
	for i, o := range members {
		if text.Len() > spec.MaxMessage {
			break
		}
		if i > 0 {
			text.WriteString(", ")
		}
		fmt.Fprintf(&text, "%s says %s", o.Policy, o.Answer)
		if why := o.said(); why != "" {
			fmt.Fprintf(&text, " (%s)", printable.Cut(why, maxSaid))
		}
	}
	return spec.OneLine(text.String())
}
