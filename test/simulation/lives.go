package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
)

// life is how often a pod has come back, as far as one life of the agent has seen it.
type life struct {
	// erased is the life of the agent in which its document went last, nil for none.
	erased *link
	// by is the life of the agent that saw that and that it came back then. since is
	// how many lapses there were when it did, begun the same of the newest version of
	// which a container has begun.
	by           *link
	since, begun int
}

// returns records that a document of a source stands for a pod that had gone. An agent
// that knows that it had must run it anew. mu is held.
func (w *world) returns(s *source, p *v1.Pod) {
	l := &w.subject(p.UID).life
	if l.erased != nil && l.erased == w.agent && s.pods != nil && !s.pods[p.UID] {
		l.by, l.since = w.agent, lapsesOf(p)
	}
}

// stillborn says what is wrong with a pod of which nothing has run since it came back,
// empty for nothing. Whose life it is that runs where documents contend for a UID, or a
// name, is another test's. mu is held.
func (w *world) stillborn(a *agent, p *v1.Pod) string {
	sub := w.subject(p.UID)
	l := &sub.life
	if l.by != a.link || l.begun >= l.since || sub.contested {
		return ""
	}
	st := a.status(p.UID)
	return fmt.Sprintf("it has come back and not run since; the status says %s %q", st.Phase, st.Reason)
}

// awayAndBack has documents of a script go and come back soon, as they were, mostly at
// its end: what comes after hides how they fare. Only some seeds have that: what others
// do is as it always was.
func awayAndBack(s *script) {
	if s.seed%16 >= 4 {
		return
	}
	r := rand.New(rand.NewPCG(s.seed, 1))
	for i := range stepsPerScript / 8 {
		at, source, place := len(s.steps), r.IntN(len(sourceNames)-1), r.IntN(places)
		if i%2 == 0 {
			at = r.IntN(at + 1)
		}
		s.steps = slices.Insert(s.steps, at,
			step{do: add, source: source, place: place, n: r.IntN(4096), after: time.Duration(r.Int64N(int64(20 * time.Second)))},
			step{do: remove, source: source, place: place, after: time.Duration(r.Int64N(int64(3 * time.Second)))},
			step{do: again, source: source, place: place, after: pause(r)})
	}
}
