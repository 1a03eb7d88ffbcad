package policy

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/spec"
)

func TestHowLongACandidateWouldHaveAQuestionWaitIsCompared(t *testing.T) {
	t.Parallel()
	const at = "[limits]\nmax_suppress = "
	for name, test := range map[string]struct {
		hook, inForce, candidate string
		// more and candidates are further keys.
		more, candidates string
		// said are the words of both where that differs.
		said string
	}{
		"holds for as long":              {api.HookAdmit, "hold-for 30s", "hold-for 30s", "", "", ""},
		"a hold for longer":              {api.HookAdmit, "hold-for 30s", "hold-for 1m", "", "", "PolicyHeld; waits 30s|PolicyHeld; waits 1m0s"},
		"a hold without a time":          {api.HookAdmit, "hold-for 30s", "hold-for 0s", "", "", "PolicyHeld; waits 30s|PolicyHeld; waits for no certain time"},
		"holds for too short":            {api.HookAdmit, "hold-for 1ms", "hold-for 1s", "", "", ""},
		"holds for too long":             {api.HookAdmit, "hold-for 20m", "hold-for 30m", "", "", ""},
		"deferrals that end before":      {api.HookFilter, "defer", "defer", "", at + `"30m"`, "PolicySuppressed; waits 1h0m0s|PolicySuppressed; waits 30m0s"},
		"deferrals that end as soon":     {api.HookFilter, "defer", "defer", at + `"2h"`, "", ""},
		"drops for longer":               {api.HookFilter, "drop", "drop", "", at + `"2h"`, "PolicySuppressed; waits 1h0m0s|PolicySuppressed; waits 2h0m0s"},
		"drops for longer than they may": {api.HookFilter, "drop", "drop", at + `"30h"`, at + `"40h"`, ""},
		"updates that pass":              {api.HookFilter, "pass", "pass", "", at + `"30m"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				d.Hooked("p", test.hook, test.inForce, test.more)
				d.Candidate(test.candidate, test.candidates)
				text, err := os.ReadFile(filepath.Join(d.Dir, "next.toml"))
				policytest.Must(t, err)
				d.Write("next.toml", strings.Replace(string(text), `["admit"]`, `["`+test.hook+`"]`, 1))
				p, _ := listed(t, d, s, patient)
				run(t, p)
				ask(t, p, policytest.Question("web"))
				filterBy(t, p, filterQuestion("shop"))
				synctest.Wait()
				x := shadowOf(p)
				got := ""
				if len(x.Differences) > 0 {
					got = x.Differences[0].InForceSaid + "|" + x.Differences[0].CandidateSaid
				}
				if x.Decisions != 1 || got != test.said {
					t.Errorf("%q, want %q: %+v", got, test.said, x)
				}
			})
		})
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
		c := newComparison(&eval.Policy{Document: doc}, &eval.Policy{}, func() time.Time { return clock })
		for i := range test.decisions {
			allows := eval.ShadowResult{Opinion: api.Opinion{Policy: "p", Answer: api.Allow}}
			o := allows
			if i < test.different {
				o.Answer = api.Deny
			}
			c.note(api.HookAdmit, "shop/web", [sha256.Size]byte{byte(i)}, allows, o)
		}
		clock = now.Add(test.after)
		if got := c.show().Waits; got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestAPartThatIsMetExactlyIsNoMoreThanTheLimit(t *testing.T) {
	t.Parallel()
	for _, decisions := range []uint64{100, 200, 1000, 700, 1_000_000} {
		for percent := range uint64(101) {
			limit, err := strconv.ParseFloat(fmt.Sprintf("%d.%02d", percent/100, percent%100), 64)
			policytest.Must(t, err)
			for more, want := range []bool{true, false} {
				c := &comparison{threshold: spec.Threshold{MaxDifference: limit, MinDecisions: 1}, now: time.Now}
				c.shown.Decisions, c.shown.Different = decisions, percent*decisions/100+uint64(more)
				if waits := c.show().Waits; (waits == "") != want {
					t.Errorf("%d of %d with the limit %v: %q", c.shown.Different, decisions, limit, waits)
				}
			}
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
		c := newComparison(&eval.Policy{Document: &spec.Document{}}, &eval.Policy{}, func() time.Time { return policytest.Instant })
		c.note(api.HookAdmit, "shop/web", [sha256.Size]byte{}, eval.ShadowResult{Opinion: test.inForce}, eval.ShadowResult{Opinion: test.candidate})
		if got := c.show().Decisions; got != test.want {
			t.Errorf("%s: %d decisions, want %d", name, got, test.want)
		}
	}
}
