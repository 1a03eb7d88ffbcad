package get

import (
	"testing"

	"github.com/wardlet/wardlet/core/api"
)

func TestGetSources_manyProblemsAreCounted(t *testing.T) {
	t.Parallel()
	s := api.SourceState{Name: "static", Problems: make([]api.Problem, 2000)}
	notes := sourceNotes(&s)
	if n := len(notes); n != maxProblems+1 || notes[n-1].text != "static: and 1900 more bad documents; -o json shows all" {
		t.Errorf("%d notes, the last %q", n, notes[n-1].text)
	}
}
