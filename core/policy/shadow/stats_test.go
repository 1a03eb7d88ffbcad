package shadow

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/spec"
)

func TestAPartThatIsMetExactlyIsNoMoreThanTheLimit(t *testing.T) {
	t.Parallel()
	for _, decisions := range []uint64{100, 200, 1000, 700, 1_000_000} {
		for percent := range uint64(101) {
			limit, err := strconv.ParseFloat(fmt.Sprintf("%d.%02d", percent/100, percent%100), 64)
			policytest.Must(t, err)
			for more, want := range []bool{true, false} {
				c := &Stats{threshold: spec.Threshold{MaxDifference: limit, MinDecisions: 1}, now: time.Now}
				c.current.Decisions, c.current.Different = decisions, percent*decisions/100+uint64(more)
				if waits := c.Show().Waits; (waits == "") != want {
					t.Errorf("%d of %d with the limit %v: %q", c.current.Different, decisions, limit, waits)
				}
			}
		}
	}
}

func TestWhatACandidateWaitsFor(t *testing.T) {
	t.Parallel()
	now := policytest.Instant
	for name, test := range map[string]struct {
		more                 string
		decisions, different int
		after                time.Duration
		want                 string
	}{
		"too few decisions":                {"", 99, 0, time.Hour, "it was asked in 99 of 100 decisions"},
		"too short a time":                 {"", 100, 0, 9 * time.Minute, "it is to be compared for 1m0s more"},
		"a difference":                     {"", 100, 1, time.Hour, "it says something else in 1 of 100 decisions, more than max_difference = 0"},
		"none":                             {"", 100, 0, 10 * time.Minute, ""},
		"no more than the document allows": {"[shadow]\nmax_difference = 0.02\nmin_decisions = 50\nmin_time = \"0s\"", 50, 1, 0, ""},
		"more than the document allows":    {"[shadow]\nmax_difference = 0.02\nmin_decisions = 50\nmin_time = \"0s\"", 50, 2, 0, "it says something else in 2 of 50 decisions, more than max_difference = 0.02"},
	} {
		doc, err := spec.Parse("p.toml", "p.toml", []byte(policytest.DocumentOf("p", "allow", `mode = "shadow"`, test.more)), false)
		policytest.Must(t, err)
		clock := now
		c := New(&eval.Policy{Document: doc}, &eval.Policy{}, func() time.Time { return clock })
		for i := range test.decisions {
			allows := eval.ShadowResult{Opinion: api.Opinion{Policy: "p", Answer: api.Allow}}
			o := allows
			if i < test.different {
				o.Answer = api.Deny
			}
			c.Note(api.HookAdmit, "shop/web", [sha256.Size]byte{byte(i)}, allows, o)
		}
		clock = now.Add(test.after)
		if got := c.Show().Waits; got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestWhatNeitherWasAskedIsNoDecisionOfACandidate(t *testing.T) {
	t.Parallel()
	asked, unasked := api.Opinion{Policy: "p", Answer: api.Abstain}, api.Opinion{Answer: api.Abstain}
	for name, test := range map[string]struct {
		inForce, candidate api.Opinion
		want               uint64
	}{
		"neither was asked":            {unasked, unasked, 0},
		"only the policy in force was": {asked, unasked, 1},
		"only the candidate was":       {unasked, asked, 1},
		"both were":                    {asked, asked, 1},
	} {
		c := New(&eval.Policy{Document: &spec.Document{}}, &eval.Policy{}, func() time.Time { return policytest.Instant })
		c.Note(api.HookAdmit, "shop/web", [sha256.Size]byte{}, eval.ShadowResult{Opinion: test.inForce}, eval.ShadowResult{Opinion: test.candidate})
		if got := c.Show().Decisions; got != test.want {
			t.Errorf("%s: %d decisions, want %d", name, got, test.want)
		}
	}
}

func TestADifferenceOfAQuestionThatIsAskedAgainCountsOnce(t *testing.T) {
	t.Parallel()
	w := seen{}
	for i, test := range []struct{ different, more, moreDifferent bool }{
		{false, true, false}, {false, false, false}, {true, false, true}, {true, false, false}, {false, false, false}, {true, false, false},
	} {
		if more, different := w.firstTime([sha256.Size]byte{}, test.different); more != test.more || different != test.moreDifferent {
			t.Errorf("%d: %t and %t", i, more, different)
		}
	}
}

func TestSoManyQuestionsAreRememberedAndNoMore(t *testing.T) {
	t.Parallel()
	w := seen{}
	question := func(i int) (q [sha256.Size]byte) {
		binary.BigEndian.PutUint32(q[:], uint32(i))
		return q
	}
	for i := range maxWeighed {
		w.firstTime(question(i), false)
	}
	for range 2 {
		if more, different := w.firstTime(question(maxWeighed), true); !more || !different {
			t.Errorf("a further question counts: %t, %t", more, different)
		}
		if more, _ := w.firstTime(question(1), false); more || len(w) != maxWeighed {
			t.Errorf("one that is known counts: %t; %d are remembered", more, len(w))
		}
	}
}
