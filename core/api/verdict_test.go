package api

import (
	"slices"
	"testing"
	"time"
)

func TestVerdictsAreTheSameWhenTheySayTheSame(t *testing.T) {
	t.Parallel()
	base := Verdict{Answer: Deny, Reason: "R", Message: "m", Policy: "p", Sets: []string{"a"}, At: time.Unix(1, 0)}
	for _, c := range []struct {
		name   string
		change func(*Verdict)
		same   bool
	}{
		{"time and sets do not count", func(v *Verdict) { v.At, v.Sets, v.Opinions = time.Unix(2, 0), nil, []Opinion{{}} }, true},
		{"the answer does", func(v *Verdict) { v.Answer = Hold }, false},
		{"the reason does", func(v *Verdict) { v.Reason = "S" }, false},
		{"the message does", func(v *Verdict) { v.Message = "n" }, false},
		{"the policy does", func(v *Verdict) { v.Policy = "q" }, false},
	} {
		other := base
		c.change(&other)
		if base.Same(&other) != c.same {
			t.Errorf("%s: want same: %v", c.name, c.same)
		}
	}
}

func TestWarningsNameTheirPolicy(t *testing.T) {
	t.Parallel()
	v := Verdict{Opinions: []Opinion{{Policy: "a", Warnings: []string{"x", "y"}}, {Policy: "b"}, {Policy: "c", Warnings: []string{"z"}}}}
	if got, want := v.Warnings(), []string{"a: x", "a: y", "c: z"}; !slices.Equal(got, want) {
		t.Errorf("warnings %q, want %q", got, want)
	}
}

func TestWhatAPolicyOfModeWarnWouldDoIsAWarning(t *testing.T) {
	t.Parallel()
	v := Verdict{Opinions: []Opinion{
		{Policy: "a", Mode: ModeWarn, Answer: Deny, Reason: "No", Message: "not here", Warnings: []string{"x"}},
		{Policy: "b", Mode: ModeWarn, Answer: Hold},
		{Policy: "c", Mode: ModeWarn, Answer: Allow},
		{Policy: "d", Mode: ModeAudit, Answer: Deny, Warnings: []string{"y"}},
		{Policy: "e", Answer: Deny},
	}}
	if got, want := v.Warnings(), []string{"a: would deny this pod: No: not here", "a: x", "b: would hold this pod"}; !slices.Equal(got, want) {
		t.Errorf("warnings %q, want %q", got, want)
	}
}
