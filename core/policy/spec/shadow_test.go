package spec

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestAPromotedDocumentHasAnotherModeAndNoThreshold(t *testing.T) {
	t.Parallel()
	head, tail := policytest.DocumentOf("p", "allow"), "[settings]\n# a comment\nmode = \"shadow\"\n"
	for name, test := range map[string]struct{ before, want string }{
		"a table at the end":    {head + "mode = \"shadow\" # soon\n" + tail + "[shadow]\nmin_decisions = 3\n", head + "mode = \"enforce\" # soon\n" + tail},
		"a table in the middle": {head + "mode='shadow'\r\n[shadow]\n\n# gone\nmin_decisions = 3 # gone\n" + tail, head + "mode=\"enforce\"\r\n" + tail},
		"a comment after it":    {head + "mode = \"shadow\"\n[shadow]\nmin_decisions = 3\n# What it wants.\n\n# Really.\n" + tail, head + "mode = \"enforce\"\n# What it wants.\n\n# Really.\n" + tail},
		"a space before that":   {head + "mode = \"shadow\"\n[shadow]\nmin_decisions = 3\r\n\r\n  # What it wants.\r\n" + tail, head + "mode = \"enforce\"\n\r\n  # What it wants.\r\n" + tail},
		"a comment at the end":  {head + "mode = \"shadow\"\n[shadow]\nmin_decisions = 3\n# The end.", head + "mode = \"enforce\"\n# The end."},
		"a table without keys":  {head + "mode = \"shadow\"\n[shadow]\n# What it wants.\n" + tail, head + "mode = \"enforce\"\n# What it wants.\n" + tail},
		"no table":              {head + "mode = \"shadow\"\n" + tail, head + "mode = \"enforce\"\n" + tail},
		"an array after it":     {head + "mode = \"shadow\"\n[shadow]\n[[test]]\npod = \"a\"\nexpect = \"deny\"\n", head + "mode = \"enforce\"\n[[test]]\npod = \"a\"\nexpect = \"deny\"\n"},
	} {
		got, err := Promoted("p.toml", []byte(test.before), ModeEnforce)
		policytest.Must(t, err)
		if diff := cmp.Diff(test.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestADocumentThatCannotBePromotedSaysWhy(t *testing.T) {
	t.Parallel()
	head := policytest.DocumentOf("p", "allow")
	for name, test := range map[string]struct{ text, want string }{
		"one in force":         {head, `its mode is "enforce"`},
		"broken":               {head + "mode = 1\n", "p.toml:"},
		"a table in one line":  {head + "mode = \"shadow\"\nshadow = { min_decisions = 3 }\n", "do it by hand"},
		"a key with dots":      {head + "mode = \"shadow\"\nshadow.min_decisions = 3\n", "do it by hand"},
		"a mode in two lines":  {head + "mode = \"\"\"\\\n  shadow\"\"\"\n", "do it by hand"},
		"a mode by its escape": {head + "mode = \"s\\u0068adow\"\n", "do it by hand"},
	} {
		_, err := Promoted("p.toml", []byte(test.text), ModeEnforce)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
