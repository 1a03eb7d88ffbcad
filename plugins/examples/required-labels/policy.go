package main

import (
	"errors"

	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
)

// The effects on a pod whose labels break a rule.
const (
	effectDeny = "deny"
	effectHold = "hold"
)

// rule is the rule for one label.
type rule struct {
	key string
	// text is the name of the label in messages.
	text string
	// required: a pod without the label, or with an empty one, breaks the rule.
	required bool
	// values are the allowed values, empty if any value is allowed.
	values values
}

type policy struct {
	// rules are sorted by key, so that messages are always the same.
	rules []rule
	hold  bool
}

func newPolicy(required []string, patterns map[string]string, effect string) (*policy, error) {
	if len(required) == 0 && len(patterns) == 0 {
		return nil, errors.New(`settings.required must list at least one label, such as "team", unless settings.patterns names one`)
	}
	if effect != effectDeny && effect != effectHold {
		return nil, errors.New(`settings.effect must be "deny" or "hold", not ` + quoted(effect))
	}
	p := &policy{hold: effect == effectHold}
	for _, key := range required {
		p.rule(key).required = true
	}
	for key := range patterns {
		p.rule(key)
	}
	for i := range p.rules {
		r := &p.rules[i]
		if !isKey(r.key) {
			return nil, errors.New("settings: " + quoted(r.key) + ` is no label: want a name such as "team" or "example.org/team"`)
		}
		if pattern, ok := patterns[r.key]; ok {
			parsed, err := parseValues(pattern)
			if err != nil {
				return nil, errors.New("settings.patterns: label " + quoted(r.key) + ": " + err.Error())
			}
			r.values = parsed
		}
	}
	return p, nil
}

// rule returns the rule for a key. If there is none, it inserts a new rule in the order of
// the keys.
func (p *policy) rule(key string) *rule {
	i := 0
	for i < len(p.rules) && p.rules[i].key < key {
		i++
	}
	if i == len(p.rules) || p.rules[i].key != key {
		p.rules = append(p.rules, rule{})
		copy(p.rules[i+1:], p.rules[i:])
		p.rules[i] = rule{key: key, text: "label " + quoted(key)}
	}
	return &p.rules[i]
}

func (p *policy) judge() admit.Verdict {
	var broken, kept, reason sdk.Text
	for i := range p.rules {
		r := &p.rules[i]
		value, ok := labels.Lookup(r.key)
		fault := r.fault(value, ok)
		switch {
		case fault == is:
			line(&broken, "\n", r.text, is, `"`, value, `"`, r.values.wanted)
			line(&reason, "; ", r.text, is, `"`, value, `"`, r.values.wanted)
		case fault != "":
			line(&broken, "\n", r.text, fault, r.values.wanted)
			line(&reason, "; ", r.text, fault, r.values.wanted)
		case ok:
			line(&kept, "\n", r.text, is, `"`, value, `"`)
		}
	}
	if reason.Len() == 0 {
		admit.Explain(kept.String())
		return admit.Allow()
	}
	if kept.Len() > 0 {
		line(&broken, "\n", kept.String())
	}
	admit.Explain(broken.String())
	if p.hold {
		return admit.Hold("RequiredLabels", reason.String())
	}
	return admit.Deny("RequiredLabels", reason.String())
}

// is stands between a label and its value.
const is = " is "

// fault returns what is wrong with a label. If its value is wrong, fault returns the
// constant named is. If the label follows the rule, fault returns an empty text.
func (r *rule) fault(value string, ok bool) string {
	switch {
	case !ok && r.required:
		return " is missing"
	case !ok:
		return ""
	case value == "" && r.required:
		return " is empty"
	case !r.values.match(value):
		return is
	}
	return ""
}

// line adds a line, made of the parts, to a text of several lines.
func line(t *sdk.Text, separator string, parts ...string) {
	if t.Len() > 0 {
		t.Add(separator)
	}
	t.Add(parts...)
}

// quoted puts a text between quotes. The agent escapes characters that are not printable.
func quoted(text string) string { return `"` + text + `"` }
