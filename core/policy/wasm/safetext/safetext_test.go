package safetext

import (
	"strings"
	"testing"
)

func TestTextIsMadeSafeToShow(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain ü 世":             "plain ü 世",
		"a\nb\tc\rd\x00\x1b[0m": `a\nb\tc\rd\u0000\u001b[0m`,
		"a\xffb":                "a\uFFFDb",
		"a\u202eb\u2028c\u200e": `a\u202eb\u2028c\u200e`,
		"\u0085":                `\u0085`,
	} {
		if got := Printable(in); got != want {
			t.Errorf("printable(%q) = %q, want %q", in, got, want)
		}
	}
	if got := Printable("a\nb\tc\r", '\n', '\t'); got != "a\nb\tc\\r" {
		t.Errorf("with newlines and tabs kept: %q", got)
	}
}

func TestTextIsCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	for limit, want := range []string{"", "a", "a", "aü", "aü", "aü", "aü世", "aü世"} {
		if got := Cut("aü世", limit); got != want {
			t.Errorf("cut to %d: %q, want %q", limit, got, want)
		}
	}
	if got := Cut(strings.Repeat("x", 10), 10); len(got) != 10 {
		t.Errorf("cut to its own length: %q", got)
	}
}
