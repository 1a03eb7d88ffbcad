package mux

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// everything reports that each pod runs.
func everything(types.UID) bool { return true }

// holding returns the document by which a file is held because of a fault in another document.
func holding(file string) api.Document {
	d := bad(file + "#*")
	d.Err.Err = errors.New("which pods the file holds is uncertain")
	return d
}

func TestSourceState_faultsOfManifests(t *testing.T) {
	t.Parallel()
	const follows = "; which pods the file holds is uncertain"
	for name, test := range map[string]struct {
		before, docs []api.Document
		documents    int
		want         []string
	}{
		"one bad document is one": {
			nil, docs(bad("m#0"), holding("m")), 1, []string{"m#0 m:3: broken"},
		},
		"the consequence stands behind the reason where there is one": {
			docs(good("m#0", "a", "ua")), docs(bad("m#0"), holding("m")), 1, []string{"m#0 m:3: broken" + follows + " kept running"},
		},
		"and behind that of the document that does not say which pod it is": {
			docs(good("m#0", "a", "ua"), good("m#1", "b", "ub")), docs(bad("m#0"), named("m#1", "b"), holding("m")), 2,
			[]string{"m#0 m:3: broken" + follows + " kept running", "m#1 m:3: broken kept running"},
		},
		"of several that do not say so behind the last": {
			docs(good("m#0", "a", "ua")), docs(good("m#0", "a", "ua"), bad("m#2"), bad("m#10"), holding("m")), 3,
			[]string{"m#2 m:3: broken", "m#10 m:3: broken" + follows},
		},
		"an answer that holds because all of it is bad": {
			docs(good("m#0", "a", "ua")), docs(named("m#0", "b"), holding("m")), 1,
			[]string{"m#0 m:3: broken" + follows + " kept running"},
		},
		"a file that cannot be read is one": {
			nil, docs(bad("m#*")), 1, []string{"m#* m:3: broken"},
		},
		"a file that cannot be read and keeps two pods is two": {
			docs(good("m#0", "a", "ua"), good("m#1", "b", "ub")), docs(bad("m#*")), 2, []string{"m#* m:3: broken kept"},
		},
		"documents stand in the order of their file, items of lists in theirs": {
			nil,
			docs(named("m#10", "a"), named("m#9", "b"), named("m#2.10", "c"), named("m#2.9", "d"), named("l#11", "e"), bad("n#*")), 6,
			[]string{"l#11 l:3: broken", "m#2.9 m:3: broken", "m#2.10 m:3: broken", "m#9 m:3: broken", "m#10 m:3: broken", "n#* n:3: broken"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(&Config{Sources: []Source{{Name: "one"}}})
			for _, d := range [][]api.Document{test.before, test.docs} {
				s.merge(delivery{source: "one", snapshot: true, docs: d}, s.begin(time.Now(), slog.New(slog.DiscardHandler)))
			}
			state := s.sources["one"].state(everything)
			var got []string
			for _, p := range state.Problems {
				got = append(got, told(p))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if state.Documents != test.documents || state.Bad != len(test.want) {
				t.Errorf("%d bad of %d documents, want %d of %d", state.Bad, state.Documents, len(test.want), test.documents)
			}
		})
	}
}

func told(p api.Problem) string {
	text := p.Document + " " + p.Message
	if p.Kept {
		text += " kept"
	}
	if p.Running {
		text += " running"
	}
	return text
}

func TestSourceState_runningOnlyWhereTheLastValidVersionRuns(t *testing.T) {
	t.Parallel()
	nothing := func(types.UID) bool { return false }
	for name, test := range map[string]struct {
		gated   bool
		running func(types.UID) bool
		docs    [][]api.Document
		want    string
	}{
		"it runs":                     {false, everything, [][]api.Document{docs(good("m#0", "a", "ua"))}, "m#0 m:3: broken kept running"},
		"it has ended, or not begun":  {false, nothing, [][]api.Document{docs(good("m#0", "a", "ua"))}, "m#0 m:3: broken kept"},
		"it is not judged yet":        {true, everything, [][]api.Document{docs(good("m#0", "a", "ua"))}, "m#0 m:3: broken kept"},
		"there was none":              {false, everything, nil, "m#0 m:3: broken"},
		"another document of it runs": {false, everything, [][]api.Document{docs(good("l#0", "a", "ul")), docs(good("l#0", "a", "ul"), good("m#0", "a", "ua"))}, "m#0 m:3: broken kept"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(&Config{Sources: []Source{{Name: "one"}}})
			s.gated = test.gated
			merge := func(d delivery) {
				d.source = "one"
				s.merge(d, s.begin(time.Now(), slog.New(slog.DiscardHandler)))
			}
			for _, d := range test.docs {
				merge(delivery{snapshot: true, docs: d})
			}
			merge(delivery{docs: docs(named("m#0", "a"))})
			var got []string
			for _, p := range s.sources["one"].state(test.running).Problems {
				got = append(got, told(p))
				if p.Namespace != "default" || p.Name != "a" {
					t.Errorf("%s is said to be about %s/%s", p.Document, p.Namespace, p.Name)
				}
			}
			if diff := cmp.Diff([]string{test.want}, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}
