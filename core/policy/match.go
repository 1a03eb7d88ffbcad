package policy

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/condition"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/strict"
)

// match says which questions a policy is asked. An empty list is everything.
type match struct {
	// Sources are kinds of sources: file, http, api.
	Sources []string `toml:"sources"`
	// Namespaces are globs.
	Namespaces []glob `toml:"namespaces"`
	// LabelSelector is as kubectl's -l has it.
	LabelSelector string `toml:"label_selector"`
	// Operations are ADD, UPDATE, for filters RECONCILE and for connections CONNECT.
	Operations []api.Op `toml:"operations"`
	// Conditions are expressions in CEL, see package condition. All must be true.
	Conditions []string `toml:"conditions"`

	// selector is LabelSelector, nil for everything.
	selector labels.Selector
	// compiled are the Conditions.
	compiled []*condition.Condition
}

func (m *match) check(report strict.Report) {
	for i, kind := range m.Sources {
		oneOf(report, fmt.Sprintf("match.sources[%d]", i), kind, api.KindFile, api.KindHTTP, api.KindAPI)
	}
	for i, g := range m.Namespaces {
		if fault := g.fault(); fault != "" {
			report(fmt.Sprintf("match.namespaces[%d]", i), "%s", fault)
		}
	}
	if m.LabelSelector != "" {
		selector, err := labels.Parse(m.LabelSelector)
		if err != nil {
			report("match.label_selector", "%.200q is no label selector: %v", m.LabelSelector, err)
		}
		m.selector = selector
	}
	for i, op := range m.Operations {
		oneOf(report, fmt.Sprintf("match.operations[%d]", i), op, api.Add, api.UpdateOp, api.Reconcile, api.Connect)
	}
	m.checkConditions(report)
}

// matches reports whether the policy is asked about q, whose source is of the
// given kind, its conditions aside. A source of unknown kind counts as any: rather one question too
// many than a policy that is passed by.
func (m *match) matches(q *api.Question, kind string) bool {
	return m.matchesSource(kind) && m.matchesOperation(q) && m.matchesPod(q)
}

func (m *match) matchesSource(kind string) bool {
	return len(m.Sources) == 0 || kind == "" || slices.Contains(m.Sources, kind)
}

// matchesCandidate reports whether a policy is asked who wins where this is one
// of the documents, its conditions aside.
func (m *match) matchesCandidate(c *wasm.Candidate) bool {
	return m.matchesSource(c.Kind) && m.matchesPod(&api.Question{Pod: c.Pod})
}

// matchesOperation takes a replacement for both: a new pod, and a change of
// what runs. A pod that runs is judged as if it came now.
func (m *match) matchesOperation(q *api.Question) bool {
	if q.Op == api.Review && slices.Contains(m.Operations, api.Add) {
		return true
	}
	return len(m.Operations) == 0 || q.Replaces != "" || slices.Contains(m.Operations, q.Op)
}

func (m *match) matchesPod(q *api.Question) bool {
	if m.selector != nil && !m.selector.Matches(labels.Set(q.Pod.Labels)) {
		return false
	}
	return len(m.Namespaces) == 0 ||
		slices.ContainsFunc(m.Namespaces, func(g glob) bool { return g.matches(q.Pod.Namespace) })
}

func (m *match) checkConditions(report strict.Report) {
	if len(m.Conditions) > maxConditions {
		report("match.conditions", "%d conditions, more than the %d a policy may have", len(m.Conditions), maxConditions)
		return
	}
	for i, text := range m.Conditions {
		c, err := condition.Compile(text)
		if err != nil {
			report(fmt.Sprintf("match.conditions[%d]", i), "%v", err)
			continue
		}
		m.compiled = append(m.compiled, c)
	}
}

// maxConditions is how many conditions a policy may have.
const maxConditions = 32

// same reports whether both match the same.
func (m *match) same(o *match) bool {
	return slices.Equal(m.Sources, o.Sources) && slices.Equal(m.Namespaces, o.Namespaces) && m.LabelSelector == o.LabelSelector &&
		slices.Equal(m.Operations, o.Operations) && slices.Equal(m.Conditions, o.Conditions)
}
