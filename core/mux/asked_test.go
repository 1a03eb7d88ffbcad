package mux

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// underWay returns one line for each open question: the hook, the UID, the time since the
// question was asked, the image that runs, and the previous verdict.
func (g *gated) underWay() []string {
	g.t.Helper()
	synctest.Wait()
	var lines []string
	for _, w := range g.mux.Asked() {
		line := fmt.Sprintf("%s of %s for %s", w.Asked.Hook, w.Pod.UID, time.Since(w.Asked.Since))
		if w.Running != nil {
			line += " beside " + w.Running.Spec.Containers[0].Image
		}
		if w.Verdict.Answer != "" {
			line += fmt.Sprintf(" after %s %s", w.Verdict.Answer, w.Verdict.Reason)
		}
		if w.Suppressed {
			line += " suppressed"
		}
		lines = append(lines, line)
	}
	return lines
}

func TestWhatHasNoAnswerYetIsShownWithWhoIsAskedSinceWhen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j, f := newJudge(), newSieve(passes)
		g := startFiltered(t, newDisk(), j, f)
		want := func(when string, lines ...string) {
			t.Helper()
			if diff := cmp.Diff(lines, g.underWay()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", when, diff)
			}
		}
		old, other := doc("a#0", "web", "u1", "web:1"), doc("b#0", "db", "u2", "wait")
		g.deliver("one", old, other)
		want("everything is answered")
		time.Sleep(time.Second)
		g.deliver("one", doc("a#0", "web", "u1", "stuck"), other, doc("c#0", "new", "u3", "stuck"))
		time.Sleep(time.Second)
		want("policy is asked", "admit of u1 for 1s beside web:1", "admit of u3 for 1s")
		f.turn(silent)
		g.deliver("one", doc("a#0", "web", "u1", "web:2"), other)
		time.Sleep(time.Minute)
		want("the filter is asked", "filter of u1 for 1m0s beside web:1 after hold FilterNotAnswered suppressed")
		g.deliver("one", doc("a#0", "web", "u1", "web:2"), doc("b#0", "db", "u2", "stuck"))
		want("a version that is held has become another",
			"filter of u1 for 1m0s beside web:1 after hold FilterNotAnswered suppressed", "admit of u2 for 0s")
		g.deliver("one")
		want("all is gone")
	})
}

func TestWhatIsAskedAboutAgainIsShownWithItsVerdict(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := startGated(t, newDisk(), newJudge())
		g.deliver("one", doc("a#0", "web", "u1", "wait"))
		g.got()
		waits := &g.mux.store.pending
		w := waits.All()[0]
		waits.Ask(w.item, time.Now().Add(-time.Second))
		if diff := cmp.Diff([]string{"admit of u1 for 1s after hold Wait"}, g.underWay()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		w.judged, w.awaitingMerge = true, true
		if diff := cmp.Diff([]string{"merge of u1 for 1s after hold Wait"}, g.underWay()); diff != "" {
			t.Errorf("before a conflict is decided (-want +got):\n%s", diff)
		}
		w.awaitingMerge = false
		waits.Answered(w.item, w.verdict, time.Now(), func(d time.Duration) time.Duration { return d })
		if got := g.mux.Asked(); got != nil {
			t.Errorf("nobody is asked, and it is shown as %+v", got)
		}
	})
}
