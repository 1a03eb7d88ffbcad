package mux

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// umpire is a Resolver that answers with the function answer. It does not answer if the
// function is nil or returns nil.
type umpire struct {
	changed chan struct{}

	mu     sync.Mutex
	answer func(api.Contest) *api.Resolution
	asked  []string
}

func newUmpire() *umpire { return &umpire{changed: make(chan struct{}, 1)} }

func (u *umpire) Changed() <-chan struct{} { return u.changed }

func (u *umpire) Resolve(c api.Contest, answer func(api.Resolution)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	words := []string{c.Identity.Name}
	for _, candidate := range c.Candidates {
		words = append(words, string(candidate.Pod.UID))
		if candidate.Running != nil {
			words = append(words, "runs")
		}
	}
	u.asked = append(u.asked, strings.Join(words, " "))
	if u.answer == nil {
		return
	}
	if r := u.answer(c); r != nil {
		answer(*r)
	}
}

func (u *umpire) questions() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	asked := u.asked
	u.asked = nil
	return asked
}

func (u *umpire) become(answer func(api.Contest) *api.Resolution) {
	u.mu.Lock()
	u.answer = answer
	u.mu.Unlock()
	u.changed <- struct{}{}
}

// arena is a mux with three sources. The source "api" is an API server.
type arena struct {
	*gated
	disk *disk
}

func enter(t *testing.T, c Config) *arena {
	t.Helper()
	a := &arena{gated: &gated{t: t, board: newBoard()}, disk: newDisk()}
	c.Sources = []Source{{Name: "two", Kind: "http"}, {Name: "one", Kind: "file"}, {Name: "api", Kind: "api"}}
	if c.Documents == nil {
		c.Documents = a.disk
	}
	if j, ok := c.Gate.(*judge); ok {
		a.judge = j
	}
	c.Logger, c.Now, c.Waits = slog.New(slog.DiscardHandler), time.Now, a.board
	a.mux = New(c)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.mux.Run(ctx) }()
	a.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v, want it cancelled", err)
		}
		if a.judge != nil {
			a.judge.pending.Wait()
		}
	})
	t.Cleanup(a.stop)
	return a
}

// claims returns one line for each conflict: its name, its rule, and the UID and state of each
// claim.
func (a *arena) claims() []string {
	a.t.Helper()
	var lines []string
	for _, c := range a.mux.Conflicts() {
		words := []string{c.Name, c.Rule + ":"}
		for _, claim := range c.Claims {
			words = append(words, string(claim.UID), string(claim.State))
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return lines
}

// from returns a document of the source "one", "two" or "api".
func from(source, name string, uid types.UID, img string, edits ...func(*v1.Pod)) api.Document {
	return good(source+"#"+name, name, uid, append([]func(*v1.Pod){image(img), func(p *v1.Pod) {
		p.Annotations[pod.AnnotationSource] = source
		if source != "api" {
			p.Annotations[pod.AnnotationHash] = string(p.UID) + img
		}
	}}, edits...)...)
}

func versioned(version string, d api.Document) api.Document {
	d.Version = version
	return d
}

// bout is a snapshot of one source or a change of the policies, and the expected results.
type bout struct {
	source  string
	docs    []api.Document
	lenient *bool
	want    []string
	claims  []string
	asked   []string
}

func TestConflictsAreDecidedByTheRuleOfTheNode(t *testing.T) {
	t.Parallel()
	yes := new(true)
	none := docs()
	for name, test := range map[string]struct {
		precedence []string
		judged     bool
		bouts      []bout
	}{
		"isolate runs one document of every source": {bouts: []bout{
			{source: "one", docs: docs(from("one", "web", "u1", "i")), want: ops("ADD u1")},
			{source: "two", docs: docs(from("two", "web", "u2", "i")), want: ops("ADD u2"), claims: ops("web isolate: u1 Runs u2 Waits")},
			{source: "one", docs: none, want: ops("REMOVE u1")},
		}},
		"isolate shows that a static pod and one of an API server run beside each other": {bouts: []bout{
			{source: "one", docs: docs(from("one", "web", "u1", "i")), want: ops("ADD u1")},
			{source: "api", docs: docs(from("api", "web", "u2", "i")), want: ops("ADD u2"), claims: ops("web isolate: u2 Runs u1 Runs")},
		}},
		"isolate keeps a pod whose uid another source claims, until it is gone": {bouts: []bout{
			{source: "one", docs: docs(from("one", "web", "u1", "i")), want: ops("ADD u1")},
			{source: "two", docs: docs(from("two", "web", "u1", "j")), claims: ops("web isolate: u1 Runs u1 Lost")},
			{source: "one", docs: none, want: ops("REMOVE u1", "ADD u1")},
		}},
		"a mirror pod claims nothing": {precedence: []string{"api"}, bouts: []bout{
			{source: "one", docs: docs(from("one", "web", "u1", "i")), want: ops("ADD u1")},
			{source: "api", docs: docs(from("api", "web", "u2", "i", func(p *v1.Pod) { p.Annotations[pod.AnnotationMirror] = "x" })), want: ops("ADD u2")},
		}},
		"precedence lets the source that comes first win, and what runs gives way": {precedence: []string{"one", "two"}, bouts: []bout{
			{source: "two", docs: docs(from("two", "web", "u2", "i")), want: ops("ADD u2")},
			{source: "one", docs: docs(from("one", "web", "u1", "i")), want: ops("REMOVE u2 for u1", "ADD u1 for u2"), claims: ops("web precedence: u1 Runs u2 Lost")},
		}},
		"precedence starts no loser": {precedence: []string{"one", "two"}, bouts: []bout{
			{source: "one", docs: docs(from("one", "web", "u1", "i")), want: ops("ADD u1")},
			{source: "two", docs: docs(from("two", "web", "u2", "i"), from("two", "db", "u3", "i")), want: ops("ADD u3"), claims: ops("web precedence: u1 Runs u2 Lost")},
		}},
		"precedence is between identities, not names": {precedence: []string{"one", "two"}, bouts: []bout{
			{source: "one", docs: docs(from("one", "web", "u1", "i", identity("shop"))), want: ops("ADD u1")},
			{source: "two", docs: docs(from("two", "web", "u2", "i")), want: ops("ADD u2")},
			{source: "two", docs: docs(from("two", "shop", "u3", "i")), want: ops("REMOVE u2"), claims: ops("shop precedence: u1 Runs u3 Lost")},
		}},
		"sources that are not in the list come last, as they are configured": {precedence: []string{"api"}, bouts: []bout{
			{source: "one", docs: docs(from("one", "web", "u1", "i")), want: ops("ADD u1")},
			{source: "two", docs: docs(from("two", "web", "u2", "i")), want: ops("REMOVE u1 for u2", "ADD u2 for u1"), claims: ops("web precedence: u1 Lost u2 Runs")},
			{source: "api", docs: docs(from("api", "web", "u3", "i")), want: ops("REMOVE u2 for u3", "ADD u3 for u2"), claims: ops("web precedence: u3 Runs u1 Lost u2 Lost")},
		}},
		"a winner that was something else is the successor of what gives way": {precedence: []string{"one", "two"}, bouts: []bout{
			{source: "two", docs: docs(from("two", "shop", "u2", "i")), want: ops("ADD u2")},
			{source: "one", docs: docs(doc("a#0", "web", "u1", "i")), want: ops("ADD u1")},
			{source: "one", docs: docs(doc("a#0", "shop", "u3", "i")), want: ops("REMOVE u1", "REMOVE u2 for u3", "ADD u3 for u2"), claims: ops("shop precedence: u3 Runs u2 Lost")},
		}},
		"a loser takes over when the winner's source says that it is gone, and starts after it": {precedence: []string{"one", "two"}, bouts: []bout{
			{source: "one", docs: docs(from("one", "web", "u1", "i")), want: ops("ADD u1")},
			{source: "two", docs: docs(from("two", "web", "u2", "i")), claims: ops("web precedence: u1 Runs u2 Lost")},
			{source: "one", docs: none, want: ops("REMOVE u1", "ADD u2 for u1")},
		}},
		"a winner whose document becomes bad goes on winning": {precedence: []string{"one", "two"}, bouts: []bout{
			{source: "one", docs: docs(from("one", "web", "u1", "i")), want: ops("ADD u1")},
			{source: "two", docs: docs(from("two", "web", "u2", "i")), claims: ops("web precedence: u1 Runs u2 Lost")},
			{source: "one", docs: docs(bad("one#web")), claims: ops("web precedence: u1 Runs u2 Lost")},
		}},
		"precedence between equal uids": {precedence: []string{"one", "two"}, bouts: []bout{
			{source: "two", docs: docs(from("two", "web", "u1", "i")), want: ops("ADD u1")},
			{source: "one", docs: docs(from("one", "web", "u1", "j")), want: ops("REMOVE u1 for u1", "ADD u1 for u1"), claims: ops("web precedence: u1 Runs u1 Lost")},
		}},
		"a winner that is refused its uid ends nobody": {precedence: []string{"one", "two"}, bouts: []bout{
			{source: "api", docs: docs(from("api", "db", "u9", "i")), want: ops("ADD u9")},
			{source: "two", docs: docs(from("two", "web", "u2", "i")), want: ops("ADD u2")},
			{source: "one", docs: docs(from("one", "web", "u9", "i")), claims: ops("web precedence: u9 Lost u2 GivesWay")},
			{source: "api", docs: none, want: ops("REMOVE u9", "REMOVE u2 for u9", "ADD u9 for u2"), claims: ops("web precedence: u9 Runs u2 Lost")},
		}},
		"a newer version of a loser starts nothing": {precedence: []string{"one", "two"}, bouts: []bout{
			{source: "one", docs: docs(from("one", "web", "u1", "i")), want: ops("ADD u1")},
			{source: "two", docs: docs(from("two", "web", "u2", "i")), claims: ops("web precedence: u1 Runs u2 Lost")},
			{source: "two", docs: docs(from("two", "web", "u3", "j")), claims: ops("web precedence: u1 Runs u3 Lost")},
			{source: "one", docs: none, want: ops("REMOVE u1", "ADD u3 for u1")},
		}},
		"what runs gives way only to a winner that is admitted": {precedence: []string{"one", "two"}, judged: true, bouts: []bout{
			{source: "two", docs: docs(from("two", "web", "u2", "i")), want: ops("ADD u2"), asked: ops("ADD u2")},
			{source: "one", docs: docs(from("one", "web", "u1", "evil")), claims: ops("web precedence: u1 Waits u2 GivesWay"), asked: ops("ADD u1 old i for u2")},
			{lenient: yes, want: ops("REMOVE u2 for u1", "ADD u1 for u2"), claims: ops("web precedence: u1 Runs u2 Lost"), asked: ops("ADD u1 old i for u2")},
		}},
		"what runs ends with its own document while the winner is held": {precedence: []string{"one", "two"}, judged: true, bouts: []bout{
			{source: "two", docs: docs(from("two", "web", "u2", "i")), want: ops("ADD u2"), asked: ops("ADD u2")},
			{source: "one", docs: docs(from("one", "web", "u1", "wait")), claims: ops("web precedence: u1 Waits u2 GivesWay"), asked: ops("ADD u1 old i for u2")},
			{source: "two", docs: none, want: ops("REMOVE u2")},
			{lenient: yes, want: ops("ADD u1"), asked: ops("ADD u1")},
		}},
		"a pod that is deleted ends while the winner is held, and the winner begins after it": {precedence: []string{"one", "api"}, judged: true, bouts: []bout{
			{source: "api", docs: docs(from("api", "web", "u2", "i")), want: ops("ADD u2"), asked: ops("ADD u2")},
			{source: "one", docs: docs(from("one", "web", "u1", "wait")), claims: ops("web precedence: u2 GivesWay u1 Waits"), asked: ops("ADD u1 old i for u2")},
			{source: "api", docs: docs(versioned("5", from("api", "web", "u2", "j"))), claims: ops("web precedence: u2 GivesWay u1 Waits")},
			{source: "api", docs: docs(versioned("6", from("api", "web", "u2", "j", deleted))), want: ops("DELETE u2"), claims: ops("web precedence: u2 GivesWay u1 Waits")},
			{source: "api", docs: docs(versioned("7", from("api", "web", "u2", "j", deleted))), claims: ops("web precedence: u2 GivesWay u1 Waits")},
			{lenient: yes, want: ops("REMOVE u2 for u1", "ADD u1 for u2"), claims: ops("web precedence: u2 Lost u1 Runs"), asked: ops("ADD u1 old j for u2")},
		}},
		"a loser that does not run is not deleted": {precedence: []string{"one", "api"}, judged: true, bouts: []bout{
			{source: "one", docs: docs(from("one", "web", "u1", "i")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{source: "api", docs: docs(from("api", "web", "u2", "i")), claims: ops("web precedence: u2 Lost u1 Runs")},
			{source: "api", docs: docs(versioned("6", from("api", "web", "u2", "i", deleted))), claims: ops("web precedence: u2 Lost u1 Runs")},
		}},
		"a winner that is denied with nothing running lets no loser start": {precedence: []string{"one", "two"}, judged: true, bouts: []bout{
			{source: "one", docs: docs(from("one", "web", "u1", "evil")), want: ops("ADD u1 deny"), asked: ops("ADD u1")},
			{source: "two", docs: docs(from("two", "web", "u2", "i")), claims: ops("web precedence: u1 Refused u2 Lost")},
			{source: "one", docs: none, want: ops("REMOVE u1", "ADD u2 for u1"), asked: ops("ADD u2")},
		}},
		"a winner that is taken back leaves what runs": {precedence: []string{"one", "two"}, judged: true, bouts: []bout{
			{source: "two", docs: docs(from("two", "web", "u2", "i")), want: ops("ADD u2"), asked: ops("ADD u2")},
			{source: "one", docs: docs(from("one", "web", "u1", "evil")), claims: ops("web precedence: u1 Waits u2 GivesWay"), asked: ops("ADD u1 old i for u2")},
			{source: "one", docs: none},
			{lenient: yes},
		}},
		"of three the one that runs gives way once": {precedence: []string{"one", "two", "api"}, judged: true, bouts: []bout{
			{source: "api", docs: docs(from("api", "web", "u3", "i")), want: ops("ADD u3"), asked: ops("ADD u3")},
			{source: "two", docs: docs(from("two", "web", "u2", "wait")), claims: ops("web precedence: u3 GivesWay u2 Waits"), asked: ops("ADD u2 old i for u3")},
			{source: "one", docs: docs(from("one", "web", "u1", "j")), want: ops("REMOVE u3 for u1", "ADD u1 for u3"), claims: ops("web precedence: u3 Lost u1 Runs u2 Lost"), asked: ops("ADD u1 old i for u3")},
		}},
		"an API server's new pod of a name is no newer version of the old one": {judged: true, bouts: []bout{
			{source: "api", docs: docs(from("api", "web", "u1", "i")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{source: "api", docs: docs(from("api", "web", "u2", "evil")), want: ops("REMOVE u1", "ADD u2 deny"), asked: ops("ADD u2")},
		}},
		"an API server that was restored may give a version to two pods": {bouts: []bout{
			{source: "api", docs: docs(versioned("5", from("api", "web", "u1", "i"))), want: ops("ADD u1")},
			{source: "api", docs: docs(versioned("5", from("api", "web", "u2", "i"))), want: ops("REMOVE u1", "ADD u2")},
		}},
		"a pod that comes to stand for something else is not started again": {bouts: []bout{
			{source: "api", docs: docs(from("api", "web", "u1", "i")), want: ops("ADD u1")},
			{source: "api", docs: docs(from("api", "web", "u1", "i", identity("shop"))), want: ops("UPDATE u1")},
			{source: "api", docs: docs(from("api", "web", "u1", "i")), want: ops("UPDATE u1")},
		}},
		"a pod that comes to stand for what another source has gives way": {precedence: []string{"one", "api"}, bouts: []bout{
			{source: "one", docs: docs(from("one", "shop", "u2", "i")), want: ops("ADD u2")},
			{source: "api", docs: docs(from("api", "web", "u1", "i")), want: ops("ADD u1")},
			{source: "api", docs: docs(from("api", "web", "u1", "i", identity("shop"))), want: ops("REMOVE u1"), claims: ops("shop precedence: u1 Lost u2 Runs")},
			{source: "api", docs: docs(from("api", "web", "u1", "i")), want: ops("ADD u1")},
		}},
		"documents of one source that claim one pod are shown, too": {bouts: []bout{
			{source: "one", docs: docs(from("one", "web", "u1", "i"), good("one#z", "web", "u2")), want: ops("ADD u1"), claims: ops("web isolate: u1 Runs u2 Lost")},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := Config{Precedence: test.precedence}
				if test.judged {
					c.Gate = newJudge()
				}
				a := enter(t, c)
				a.play(test.bouts)
			})
		})
	}
}

func (a *arena) play(bouts []bout) {
	a.t.Helper()
	for i, b := range bouts {
		if b.lenient != nil {
			a.judge.become(*b.lenient, fmt.Sprintf("s%d", i))
		} else {
			a.deliver(b.source, b.docs...)
		}
		if diff := cmp.Diff(b.want, a.got()); diff != "" {
			a.t.Errorf("step %d, operations (-want +got):\n%s", i+1, diff)
		}
		if diff := cmp.Diff(b.claims, a.claims()); diff != "" {
			a.t.Errorf("step %d, conflicts (-want +got):\n%s", i+1, diff)
		}
		if a.judge == nil {
			continue
		}
		if diff := cmp.Diff(b.asked, a.judge.questions()); diff != "" {
			a.t.Errorf("step %d, asked (-want +got):\n%s", i+1, diff)
		}
	}
	a.stop()
}

// TestAPodOfAConflictBelongsToOneDocument changes the identity of a pod's document while the
// conflict is undecided. The running pod must then belong to the new document of its identity.
func TestAPodOfAConflictBelongsToOneDocument(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		nobody := newUmpire()
		nobody.answer = func(api.Contest) *api.Resolution { return nil }
		c := Config{Resolver: nobody, Gate: newJudge()}
		a := enter(t, c)
		a.deliver("one", doc("a#0", "web", "u1", "i"))
		a.got()
		a.deliver("api", from("api", "web", "u2", "wait"))
		a.got()
		a.deliver("one", doc("a#0", "shop", "u3", "stuck"), doc("b#0", "web", "u4", "i"))
		if got := a.got(); len(got) > 0 {
			t.Errorf("while it is undecided: %v", got)
		}
		if r := a.disk.of("one", "a#0"); r.Decided != nil {
			t.Errorf("the document that has gone elsewhere keeps %s", r.Decided.Pod.UID)
		}
		if r := a.disk.of("one", "b#0"); r.Decided == nil || r.Decided.Pod.UID != "u1" {
			t.Errorf("the document that is there now has decided %+v", r.Decided)
		}
		a.stop()
		c.Documents, c.Gate = a.disk, newJudge()
		a = enter(t, c)
		if diff := cmp.Diff(ops("RESTORE u1"), a.got()); diff != "" {
			t.Errorf("after a restart (-want +got):\n%s", diff)
		}
		a.stop()
	})
}

// TestAConflictOutlivesARestart restarts the mux during a conflict, in some cases with another
// precedence.
func TestAConflictOutlivesARestart(t *testing.T) {
	t.Parallel()
	one, two := from("one", "web", "u1", "i"), from("two", "web", "u2", "i")
	for name, test := range map[string]struct {
		before, after   []string
		judged          bool
		winner          api.Document
		want, confirmed []string
	}{
		"the winner goes on":                     {before: []string{"one"}, after: []string{"one"}, winner: one, want: ops("RESTORE u1 for u2")},
		"what runs beside the new rule's winner": {after: []string{"one"}, winner: one, want: ops("RESTORE u1", "RESTORE u2", "REMOVE u2")},
		"another rule has another winner":        {before: []string{"one"}, after: []string{"two"}, winner: one, want: ops("RESTORE u1 for u2", "REMOVE u1 for u2", "ADD u2 for u1")},
		"isolate runs the loser, too":            {before: []string{"one"}, winner: one, want: ops("RESTORE u1 for u2", "ADD u2")},
		"what runs is kept while the winner is denied": {
			before: []string{"one"}, after: []string{"one"}, judged: true, winner: from("one", "web", "u1", "evil"), want: ops("RESTORE u2"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				gate := func() Gate {
					if test.judged {
						return newJudge()
					}
					return nil
				}
				before := enter(t, Config{Precedence: test.before, Gate: gate()})
				before.deliver("two", two)
				synctest.Wait()
				before.deliver("one", test.winner)
				before.got()
				before.stop()
				after := enter(t, Config{Precedence: test.after, Gate: gate(), Documents: before.disk})
				if diff := cmp.Diff(test.want, after.got()); diff != "" {
					t.Errorf("after the restart (-want +got):\n%s", diff)
				}
				after.deliver("two", two)
				after.deliver("one", test.winner)
				if diff := cmp.Diff(test.confirmed, after.got()); diff != "" {
					t.Errorf("once the sources have spoken (-want +got):\n%s", diff)
				}
				after.stop()
			})
		})
	}
}
