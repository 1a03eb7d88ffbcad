package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestConflictRulesThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"one that never was": {
			"[conflicts]\nrule = \"first\"\n" + source,
			"agent.toml:2: conflicts.rule: want \"isolate\" or \"precedence\", found \"first\"\n",
		},
		"precedence of nobody": {
			"[conflicts]\nrule = \"precedence\"\n" + source,
			"agent.toml:1: conflicts.precedence: missing; rule = \"precedence\" needs the names of sources, the first wins\n",
		},
		"an order of sources that are alike": {
			"[conflicts]\nprecedence = [\"static\"]\n" + source,
			"agent.toml:2: conflicts.precedence: is for rule = \"precedence\"; with \"isolate\" all sources are alike\n",
		},
		"precedence of a source that is not there": {
			"[conflicts]\nrule = \"precedence\"\nprecedence = [\"static\", \"api\"]\n" + source,
			"agent.toml:3: conflicts.precedence: no source is named \"api\"\n",
		},
		"precedence of a source over itself": {
			"[conflicts]\nrule = \"precedence\"\nprecedence = [\"static\", \"static\"]\n" + source,
			"agent.toml:3: conflicts.precedence: \"static\" is named twice\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, test.text, test.want)
		})
	}
}

func TestConflictRulesThatAreTaken(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want Conflicts
	}{
		"isolate, where none is named": {source, Conflicts{Rule: ConflictsIsolate}},
		"isolate, by name":             {"[conflicts]\nrule = \"isolate\"\nprecedence = []\n" + source, Conflicts{Rule: ConflictsIsolate}},
		"precedence of some sources": {
			"[conflicts]\nrule = \"precedence\"\nprecedence = [\"fleet\"]\n" + source + server,
			Conflicts{Rule: ConflictsPrecedence, Precedence: []string{"fleet"}},
		},
		"precedence of all sources": {
			"[conflicts]\nrule = \"precedence\"\nprecedence = [\"fleet\", \"static\"]\n" + source + server,
			Conflicts{Rule: ConflictsPrecedence, Precedence: []string{"fleet", "static"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := load(write(t, test.text), noEnv)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, c.Conflicts, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("conflicts (-want +got):\n%s", diff)
			}
		})
	}
}
