package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestHowLongACandidateWouldHaveAQuestionWaitIsCompared(t *testing.T) {
	t.Parallel()
	const at = "[limits]\nmax_suppress = "
	for name, test := range map[string]struct {
		hook, inForce, candidate string
		// more and candidates are further keys of the policy's and the candidate's documents.
		more, candidates string
		// said has both messages, separated by "|", if the answers differ.
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
