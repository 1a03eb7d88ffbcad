package spec

import (
	"slices"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestWhatAnExpressionMakesOfAnswers(t *testing.T) {
	t.Parallel()
	answers := map[string]api.Answer{"yes": api.Allow, "no": api.Deny, "later": api.Hold, "none": api.Abstain}
	for text, want := range map[string]api.Answer{
		"yes": api.Allow, "no": api.Deny, "later": api.Hold, "none": api.Abstain,
		"!yes": api.Deny, "!no": api.Allow, "!later": api.Hold, "!none": api.Abstain, "!!no": api.Deny,
		"yes && yes": api.Allow, "yes && no": api.Deny, "yes && later": api.Hold, "later && no": api.Deny,
		"yes || no": api.Allow, "no || no": api.Deny, "no || later": api.Hold, "later || yes": api.Allow,
		"none && yes": api.Allow, "none || no": api.Deny, "none && none": api.Abstain, "none || later": api.Hold,
		"yes || no && no": api.Allow, "(yes || no) && no": api.Deny, "!no && no": api.Deny, "!(no && no)": api.Allow,
		"no||yes&&later": api.Hold, "\tno\n || ( yes ) ": api.Allow, "no || no || yes": api.Allow, "yes && yes && no": api.Deny,
		"!(none || no) && !later": api.Hold,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			e, err := parseExpression(text)
			policytest.Must(t, err)
			if got := e.Value(func(name string) api.Answer { return answers[name] }); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

func TestAnExpressionThatIsNoneIsRefusedAtItsPlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                       "want the name of a policy, ! or (, found the end",
		"a b":                                    `want &&, || or the end, found "b"`,
		"a & b":                                  `want &&, found "& b"`,
		"a | b":                                  `want ||, found "| b"`,
		"a &&":                                   "want the name of a policy, ! or (, found the end",
		"(a || b":                                "want ), found the end",
		"a)":                                     `want &&, || or the end, found ")"`,
		"!":                                      "want the name of a policy, ! or (, found the end",
		"a() || b":                               `want &&, || or the end, found "() || b"`,
		"A":                                      `want the name of a policy, ! or (, found "A"`,
		"a == true":                              `want &&, || or the end, found "== true"`,
		"a\x00 && b":                             "it has a character NUL",
		"ä":                                      `want the name of a policy, ! or (, found "ä"`,
		strings.Repeat("(", maxExpression) + "a": "1025 bytes long, more than the 1024 it may have",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			if _, err := parseExpression(text); err == nil || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}

func FuzzExpression(f *testing.F) {
	for _, text := range []string{"a", "!a && (b || c-1)", "a||b&&!c", "((a))", "a &", "!(", "a\x00b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := parseExpression(text)
		if err != nil {
			return
		}
		names := e.Names()
		for i, answer := range []api.Answer{api.Allow, api.Deny, api.Hold, api.Abstain} {
			asked := map[string]bool{}
			got := e.Value(func(name string) api.Answer { asked[name] = true; return answer })
			for name := range asked {
				if !slices.Contains(names, name) {
					t.Fatalf("asked for %q, which is none of %q", name, names)
				}
			}
			// If all policies return the same answer, the result is this answer.
			if known := got == api.Allow || got == api.Deny; known != (i < 2) && strings.Count(text, "!") == 0 || i >= 2 && got != answer {
				t.Fatalf("all say %s, and it is %s", answer, got)
			}
		}
	})
}
