package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestAConfirmationIsOfTheContentThatIsNamed(t *testing.T) {
	t.Parallel()
	const script = "deny # one"
	document := policytest.DocumentOf("a", script, onChangeEvicts)
	for name, tc := range map[string]struct {
		sha256    string
		confirmed bool
	}{
		"none is named":             {"", true},
		"that of its module":        {policytest.SumOf(script), true},
		"the beginning of that":     {policytest.SumOf(script)[:12], true},
		"too little of it":          {policytest.SumOf(script)[:11], false},
		"capitals are the same":     {strings.ToUpper(policytest.SumOf(script)[:20]), true},
		"that of its document":      {policytest.SumOf(document)[:16], true},
		"that of a module before":   {policytest.SumOf("deny # two")[:12], false},
		"that of a document before": {policytest.SumOf(document + "# edited")[:12], false},
		"no digest at all":          {"a", false},
		"more than a digest":        {policytest.SumOf(script) + "0", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				d.Policy("a", script, onChangeEvicts)
				p := reviewing(t, d, s, newRunning(somePods(30)...), evictionsIn(newCounts()))
				run(t, p)
				time.Sleep(5 * time.Second)
				set, err := p.Confirm(t.Context(), "", "a", tc.sha256)
				if (err == nil) != tc.confirmed || set.Policies[0].Review.Confirmed != tc.confirmed {
					t.Errorf("review %+v, %v", set.Policies[0].Review, err)
				}
				if err != nil && (!strings.Contains(err.Error(), policytest.SumOf(script)) || !strings.Contains(err.Error(), policytest.SumOf(document))) {
					t.Errorf("the error names no content: %v", err)
				}
			})
		})
	}
}
