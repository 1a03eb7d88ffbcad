package spec

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/condition"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/strict"
)

// Match selects the questions that a policy is asked. An empty list matches everything.
type Match struct {
	// Sources are kinds of sources: file, http, api.
	Sources []string `toml:"sources"`
	// Namespaces are globs.
	Namespaces []glob `toml:"namespaces"`
	// LabelSelector has the syntax of kubectl's -l.
	LabelSelector string `toml:"label_selector"`
	// Operations are ADD, UPDATE, for filters RECONCILE and for connections CONNECT.
	Operations []api.Op `toml:"operations"`
	// Conditions are expressions in CEL, see package condition. All must be true.
	Conditions []string `toml:"conditions"`

	// selector is the parsed LabelSelector, nil for everything.
	selector labels.Selector
	// Compiled are the compiled Conditions.
	Compiled []*condition.Condition
}

func (m *Match) check(report strict.Report) {
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

// Matches reports whether the policy is asked about q, whose source is of the given kind.
// It does not look at the conditions. A source of unknown kind (the empty string) matches:
// it is better to ask a policy too often than not to ask it.
func (m *Match) Matches(q *api.Question, kind string) bool {
	return m.matchesSource(kind) && m.MatchesOperation(q) && m.MatchesPod(q)
}

func (m *Match) matchesSource(kind string) bool {
	return len(m.Sources) == 0 || kind == "" || slices.Contains(m.Sources, kind)
}

// MatchesCandidate reports whether the policy is asked about a conflict that has this
// candidate. It does not look at the conditions.
func (m *Match) MatchesCandidate(c *abi.Candidate) bool {
	return m.matchesSource(c.Kind) && m.MatchesPod(&api.Question{Pod: c.Pod})
}

// MatchesOperation reports whether the operation of q matches. A replacement matches
// ADD and UPDATE; a running pod is judged as if it were new.
func (m *Match) MatchesOperation(q *api.Question) bool {
	if q.Op == api.Review && slices.Contains(m.Operations, api.Add) {
		return true
	}
	return len(m.Operations) == 0 || q.Replaces != "" || slices.Contains(m.Operations, q.Op)
}

// MatchesPod reports whether the labels and the namespace of the pod match.
func (m *Match) MatchesPod(q *api.Question) bool {
	if m.selector != nil && !m.selector.Matches(labels.Set(q.Pod.Labels)) {
		return false
	}
	return len(m.Namespaces) == 0 ||
		slices.ContainsFunc(m.Namespaces, func(g glob) bool { return g.matches(q.Pod.Namespace) })
}

func (m *Match) checkConditions(report strict.Report) {
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
		m.Compiled = append(m.Compiled, c)
	}
}

// maxConditions is how many conditions a policy may have.
const maxConditions = 32

// Same reports whether both match the same questions.
func (m *Match) Same(o *Match) bool {
	return slices.Equal(m.Sources, o.Sources) && slices.Equal(m.Namespaces, o.Namespaces) && m.LabelSelector == o.LabelSelector &&
		slices.Equal(m.Operations, o.Operations) && slices.Equal(m.Conditions, o.Conditions)
}

// glob is a pattern for the name of a namespace; "*" matches any number of characters, also
// none.
type glob string

// fault returns why the pattern can match no namespace, empty if it can.
func (g glob) fault() string {
	const characters = "abcdefghijklmnopqrstuvwxyz0123456789-*"
	if g == "" || strings.ContainsFunc(string(g), func(r rune) bool { return !strings.ContainsRune(characters, r) }) {
		return fmt.Sprintf(`want a namespace such as "web", or a pattern such as "tenant-a-*", found %.80q`, string(g))
	}
	return ""
}

func (g glob) matches(name string) bool { return pod.MatchNamespace(string(g), name) }
