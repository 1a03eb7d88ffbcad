package signed

import "testing"

func TestTextOfAStrangerFitsOneLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                   "",
		"a b":                "a b",
		"a\tb":               "a b",
		"ä日本":                "ä日本",
		"a\r\nb":             `a\r\nb`,
		"\x1b]0;x\a":         `\x1b]0;x\a`,
		"\u009b2J\u202e":     `\u009b2J\u202e`,
		"\u2028\x00\x7f":     `\u2028\x00\x7f`,
		"\xff":               "\ufffd",
		"twelve chars":       "twelve chars",
		"twelve chars\x1b":   "twelve chars…",
		"\x1b\x1b\x1b\x1b..": `\x1b\x1b\x1b\x1b..`,
	} {
		if got := short(text, 12); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
