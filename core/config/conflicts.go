package config

import (
	"slices"

	"github.com/wardlet/wardlet/core/strict"
)

// Conflicts configures what happens if documents of several sources claim one pod.
type Conflicts struct {
	// Rule is ConflictsIsolate or ConflictsPrecedence.
	Rule string `toml:"rule"`
	// Precedence are the names of sources; the first one wins. Unnamed sources come last, in the order
	// of the file. It is empty for ConflictsIsolate.
	Precedence []string `toml:"precedence"`
}

// The rules for conflicts.
const (
	// ConflictsIsolate lets the pods of all sources run, as a kubelet does. Static pods with the same
	// full name run one after the other.
	ConflictsIsolate = "isolate"
	// ConflictsPrecedence lets the pod of one source run.
	ConflictsPrecedence = "precedence"
)

func (c *Config) checkConflicts(report strict.Report) {
	rule, names := c.Conflicts.Rule, c.Conflicts.Precedence
	oneOf(report, "conflicts.rule", rule, ConflictsIsolate, ConflictsPrecedence)
	switch {
	case rule == ConflictsPrecedence && len(names) == 0:
		report("conflicts.precedence", `missing; rule = "precedence" needs the names of sources, the first wins`)
	case rule == ConflictsIsolate && len(names) > 0:
		report("conflicts.precedence", `is for rule = "precedence"; with "isolate" all sources are alike`)
	}
	for i, name := range names {
		switch {
		case slices.Contains(names[:i], name):
			report("conflicts.precedence", "%q is named twice", name)
		case name == NameAPI && c.Cluster.Kubeconfig != "":
		case !slices.ContainsFunc(c.Sources, func(s Source) bool { return s.Name == name }):
			report("conflicts.precedence", "no source is named %q", name)
		}
	}
}
