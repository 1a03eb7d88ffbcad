package main

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/wardlet/wardlet/plugins/sdk/admit"
)

// What becomes of a pod whose labels are not as they must be.
const (
	effectDeny = "deny"
	effectHold = "hold"
)

// rule is what one label must be.
type rule struct {
	key string
	// required: a pod without the label, or with an empty one, breaks the rule.
	required bool
	// values is empty where any value will do.
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
	keys := slices.Concat(required, slices.Collect(maps.Keys(patterns)))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		if !isKey(key) {
			return nil, errors.New("settings: " + quoted(key) + ` is no label: want a name such as "team" or "example.org/team"`)
		}
		r := rule{key: key, required: slices.Contains(required, key)}
		if pattern, ok := patterns[key]; ok {
			parsed, err := parseValues(pattern)
			if err != nil {
				return nil, errors.New("settings.patterns: label " + quoted(key) + ": " + err.Error())
			}
			r.values = parsed
		}
		p.rules = append(p.rules, r)
	}
	return p, nil
}

func (p *policy) judge() admit.Verdict {
	var kept, broken []string
	for i := range p.rules {
		r := &p.rules[i]
		value, ok := labels.Lookup(r.key)
		switch {
		case !ok && r.required:
			broken = append(broken, "label "+quoted(r.key)+" is missing"+r.values.wanted())
		case !ok:
		case value == "" && r.required:
			broken = append(broken, "label "+quoted(r.key)+" is empty"+r.values.wanted())
		case !r.values.match(value):
			broken = append(broken, "label "+quoted(r.key)+" is "+quoted(value)+r.values.wanted())
		default:
			kept = append(kept, "label "+quoted(r.key)+" is "+quoted(value))
		}
	}
	admit.Explain(strings.Join(slices.Concat(broken, kept), "\n"))
	switch {
	case len(broken) == 0:
		return admit.Allow()
	case p.hold:
		return admit.Hold("RequiredLabels", strings.Join(broken, "; "))
	}
	return admit.Deny("RequiredLabels", strings.Join(broken, "; "))
}

// quoted puts a text between quotes. What is not printable the agent escapes.
func quoted(text string) string { return `"` + text + `"` }
