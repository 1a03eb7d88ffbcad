package glob

import (
	"regexp"
	"strings"
	"testing"
)

func TestAStarStandsForAnyRunOfCharacters(t *testing.T) {
	for _, test := range []struct {
		pattern, name string
		want          bool
	}{
		{"", "", true},
		{"", "a", false},
		{"a", "a", true},
		{"a", "ab", false},
		{"a", "A", false},
		{"*", "", true},
		{"*", "any/thing", true},
		{"a*", "a", true},
		{"a*", "abc", true},
		{"a*", "ba", false},
		{"*a", "ba", true},
		{"*a", "ab", false},
		{"a*a", "a", false},
		{"a*a", "aa", true},
		{"a*b*c", "a-b-b-c", true},
		{"a*b*c", "a-c-b", false},
		{"*ab*ab", "abab", true},
		{"*ab*ab", "ab", false},
		{"*ab", "aab", true},
		{"*aab*c", "aaabxc", true},
		{"**", "x", true},
		{"a**b", "ab", true},
		{"a?", "ab", false},
		{"[a]", "a", false},
		{`\*`, "*", false},
		{`\*`, `\x`, true},
		{"ü*", "über", true},
	} {
		if got := Match(test.pattern, test.name); got != test.want {
			t.Errorf("%q, %q: %v", test.pattern, test.name, got)
		}
	}
}

func TestHostilePatternsTakeLittleTime(t *testing.T) {
	if Match(strings.Repeat("a*", 5000)+"b", strings.Repeat("a", 5000)) {
		t.Error("matches")
	}
}

// FuzzMatch compares Match with an equivalent regular expression.
func FuzzMatch(f *testing.F) {
	f.Add("a*b*c", "abbc")
	f.Add("*ab*", "xaby")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		parts := strings.Split(pattern, "*")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		expression, err := regexp.Compile(`(?s)\A` + strings.Join(parts, ".*") + `\z`)
		if err != nil || strings.ToValidUTF8(pattern+name, "") != pattern+name {
			return
		}
		if got, want := Match(pattern, name), expression.MatchString(name); got != want {
			t.Errorf("%q, %q: %v, want %v", pattern, name, got, want)
		}
	})
}
