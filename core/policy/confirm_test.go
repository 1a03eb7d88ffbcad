package policy

import (
	"strings"
	"testing"
	"time"
)

func TestAConfirmationIsOfTheContentThatIsNamed(t *testing.T) {
	t.Parallel()
	const script = "deny # one"
	document := documentOf("a", script, onChangeEvicts)
	for name, tc := range map[string]struct {
		sha256    string
		confirmed bool
	}{
		"none is named":             {"", true},
		"that of its module":        {sumOf(script), true},
		"the beginning of that":     {sumOf(script)[:12], true},
		"too little of it":          {sumOf(script)[:11], false},
		"capitals are the same":     {strings.ToUpper(sumOf(script)[:20]), true},
		"that of its document":      {sumOf(document)[:16], true},
		"that of a module before":   {sumOf("deny # two")[:12], false},
		"that of a document before": {sumOf(document + "# edited")[:12], false},
		"no digest at all":          {"a", false},
		"more than a digest":        {sumOf(script) + "0", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d tree, s *scripts) {
				t := d.t
				d.policy("a", script, onChangeEvicts)
				p := reviewing(t, d, s, newRunning(somePods(30)...), evictionsIn(newCounts()))
				run(t, p)
				time.Sleep(5 * time.Second)
				set, err := p.Confirm(t.Context(), "", "a", tc.sha256)
				if (err == nil) != tc.confirmed || set.Policies[0].Review.Confirmed != tc.confirmed {
					t.Errorf("review %+v, %v", set.Policies[0].Review, err)
				}
				if err != nil && (!strings.Contains(err.Error(), sumOf(script)) || !strings.Contains(err.Error(), sumOf(document))) {
					t.Errorf("the error names no content: %v", err)
				}
			})
		})
	}
}
