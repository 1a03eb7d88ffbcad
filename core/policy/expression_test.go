package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/pod"
)

func TestWhatAnExpressionMakesOfAnswers(t *testing.T) {
	t.Parallel()
	answers := map[string]pod.Answer{"yes": pod.Allow, "no": pod.Deny, "later": pod.Hold, "none": pod.Abstain}
	for text, want := range map[string]pod.Answer{
		"yes": pod.Allow, "no": pod.Deny, "later": pod.Hold, "none": pod.Abstain,
		"!yes": pod.Deny, "!no": pod.Allow, "!later": pod.Hold, "!none": pod.Abstain, "!!no": pod.Deny,
		"yes && yes": pod.Allow, "yes && no": pod.Deny, "yes && later": pod.Hold, "later && no": pod.Deny,
		"yes || no": pod.Allow, "no || no": pod.Deny, "no || later": pod.Hold, "later || yes": pod.Allow,
		"none && yes": pod.Allow, "none || no": pod.Deny, "none && none": pod.Abstain, "none || later": pod.Hold,
		"yes || no && no": pod.Allow, "(yes || no) && no": pod.Deny, "!no && no": pod.Deny, "!(no && no)": pod.Allow,
		"no||yes&&later": pod.Hold, "\tno\n || ( yes ) ": pod.Allow, "no || no || yes": pod.Allow, "yes && yes && no": pod.Deny,
		"!(none || no) && !later": pod.Hold,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			e, err := parseExpression(text)
			must(t, err)
			if got := e.value(func(name string) pod.Answer { return answers[name] }); got != want {
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
		names := e.names()
		for i, answer := range []pod.Answer{pod.Allow, pod.Deny, pod.Hold, pod.Abstain} {
			asked := map[string]bool{}
			got := e.value(func(name string) pod.Answer { asked[name] = true; return answer })
			for name := range asked {
				if !slices.Contains(names, name) {
					t.Fatalf("asked for %q, which is none of %q", name, names)
				}
			}
			// What all say alike stays known, not known, or nothing.
			if known := got == pod.Allow || got == pod.Deny; known != (i < 2) && strings.Count(text, "!") == 0 || i >= 2 && got != answer {
				t.Fatalf("all say %s, and it is %s", answer, got)
			}
		}
	})
}
