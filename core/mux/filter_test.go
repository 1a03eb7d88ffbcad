package mux

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
)

// filterStep is a delivery, a change of the filter's answers, a release or a passage of time,
// and the expected results.
type filterStep struct {
	docs []api.Document
	// turn and become change the filter's answers. Only become notifies the mux.
	turn, become func(api.FilterQuestion) *api.FilterVerdict
	pass         time.Duration
	release      string

	want, asked, waits, told []string
}

// TestWhatAFilterSaysIsWhatTheSyncLoopGets checks the rules of filters, both with a policy that
// admits everything and without policies.
func TestWhatAFilterSaysIsWhatTheSyncLoopGets(t *testing.T) {
	t.Parallel()
	web1, web2, web3 := doc("a#0", "web", "u1", "web:1"), doc("a#0", "web", "u1", "web:2"), doc("a#0", "web", "u1", "web:3")
	new2, new3 := doc("a#0", "web", "u2", "web:2"), doc("a#0", "web", "u3", "web:3")
	running := doc("a#0", "web", "u1", "web:1", phase(v1.PodRunning))
	begin := filterStep{docs: docs(web1), turn: passes, want: ops("ADD u1"), asked: ops("ADD u1 web:1")}
	gone := filterStep{docs: []api.Document{}}
	for name, steps := range map[string][]filterStep{
		"what passes goes on": {
			begin,
			{docs: docs(web2), want: ops("UPDATE u1"), asked: ops("UPDATE u1 web:2 old web:1")},
			{docs: docs(web2)},
		},
		"an answer that is none, and one that may hold nothing back, let it pass": {
			begin,
			{docs: docs(web2), turn: func(api.FilterQuestion) *api.FilterVerdict {
				return &api.FilterVerdict{Answer: "perhaps", Limit: limit}
			}, want: ops("UPDATE u1"), asked: ops("UPDATE u1 web:2 old web:1")},
			{docs: docs(web3), turn: func(api.FilterQuestion) *api.FilterVerdict { return &api.FilterVerdict{Answer: api.Drop} }, want: ops("UPDATE u1"), asked: ops("UPDATE u1 web:3 old web:2")},
		},
		"a new pod of which nothing runs is asked about": {
			{docs: docs(web1), turn: drops, asked: ops("ADD u1 web:1"), waits: ops("Dropped ADD u1"), told: ops("hold u1")},
			{become: passes, want: ops("ADD u1"), asked: ops("ADD u1 web:1"), told: ops("passed u1")},
		},
		"a status is asked about, and shown only in the list": {
			begin,
			{docs: docs(running), turn: drops, asked: ops("RECONCILE u1 web:1 old web:1"), waits: ops("Dropped RECONCILE u1")},
			{become: passes, want: ops("RECONCILE u1"), asked: ops("RECONCILE u1 web:1 old web:1")},
		},
		"a replacement is asked about once, as an update, and neither half goes on": {
			begin,
			{docs: docs(new2), turn: drops, asked: ops("UPDATE u2 web:2 old web:1 for u1"), waits: ops("Dropped UPDATE u2 for u1"), told: ops("hold u2 beside u1")},
			{become: passes, want: ops("REMOVE u1 for u2", "ADD u2 for u1"), asked: ops("UPDATE u2 web:2 old web:1 for u1"), told: ops("passed u1")},
		},
		"what is deferred is offered again in time, as it is by then": {
			begin,
			{docs: docs(web2), turn: defers(time.Minute), asked: ops("UPDATE u1 web:2 old web:1"), waits: ops("Deferred UPDATE u1"), told: ops("hold u1 beside u1")},
			{pass: 30 * time.Second, waits: ops("Deferred UPDATE u1")},
			{docs: docs(web3), waits: ops("Deferred UPDATE u1"), told: ops("hold u1 beside u1")},
			{pass: 29 * time.Second, waits: ops("Deferred UPDATE u1")},
			{turn: passes, pass: 2 * time.Second, want: ops("UPDATE u1"), asked: ops("UPDATE u1 web:3 old web:1"), told: ops("passed u1")},
		},
		"a deferred replacement that is edited is offered again in time, too": {
			begin,
			{docs: docs(new2), turn: defers(time.Minute), asked: ops("UPDATE u2 web:2 old web:1 for u1"), waits: ops("Deferred UPDATE u2 for u1"), told: ops("hold u2 beside u1")},
			{pass: 30 * time.Second, docs: docs(new3), waits: ops("Deferred UPDATE u3 for u1"), told: ops("hold u3 beside u1")},
			{turn: passes, pass: 31 * time.Second, want: ops("REMOVE u1 for u3", "ADD u3 for u1"), asked: ops("UPDATE u3 web:3 old web:1 for u1"), told: ops("passed u1")},
		},
		"what is deferred by nothing is offered again in a second": {
			begin,
			{docs: docs(web2), turn: defers(0), asked: ops("UPDATE u1 web:2 old web:1"), waits: ops("Deferred UPDATE u1"), told: ops("hold u1 beside u1")},
			{pass: 1500 * time.Millisecond, asked: ops("UPDATE u1 web:2 old web:1"), waits: ops("Deferred UPDATE u1"), told: ops("hold u1 beside u1")},
		},
		"what is always deferred passes at the limit": {
			begin,
			{docs: docs(web2), turn: defers(25 * time.Minute), asked: ops("UPDATE u1 web:2 old web:1"), waits: ops("Deferred UPDATE u1"), told: ops("hold u1 beside u1")},
			{pass: limit - time.Second, asked: ops("UPDATE u1 web:2 old web:1", "UPDATE u1 web:2 old web:1"), waits: ops("Deferred UPDATE u1"), told: ops("hold u1 beside u1", "hold u1 beside u1")},
			{docs: docs(web3), waits: ops("Deferred UPDATE u1"), told: ops("hold u1 beside u1")},
			{pass: time.Second, want: ops("UPDATE u1"), told: ops("passed u1")},
			{docs: docs(web1), asked: ops("UPDATE u1 web:1 old web:3"), waits: ops("Deferred UPDATE u1"), told: ops("hold u1 beside u1")},
		},
		"what is dropped is asked about when it changes, and passes at the limit of what was dropped first": {
			begin,
			{docs: docs(web2), turn: drops, asked: ops("UPDATE u1 web:2 old web:1"), waits: ops("Dropped UPDATE u1"), told: ops("hold u1 beside u1")},
			{pass: 30 * time.Minute, waits: ops("Dropped UPDATE u1")},
			{docs: docs(sameAgain(web2)), waits: ops("Dropped UPDATE u1")},
			{docs: docs(web3), asked: ops("UPDATE u1 web:3 old web:1"), waits: ops("Dropped UPDATE u1"), told: ops("hold u1 beside u1")},
			{pass: 30 * time.Minute, want: ops("UPDATE u1"), told: ops("passed u1")},
		},
		"a suppressed update that is taken back leaves nothing": {
			begin,
			{docs: docs(web2), turn: drops, asked: ops("UPDATE u1 web:2 old web:1"), waits: ops("Dropped UPDATE u1"), told: ops("hold u1 beside u1")},
			{docs: docs(web1), told: ops("passed u1")},
			{pass: 2 * limit},
		},
		"a removal cancels what is suppressed": {
			begin,
			{docs: docs(web2), turn: drops, asked: ops("UPDATE u1 web:2 old web:1"), waits: ops("Dropped UPDATE u1"), told: ops("hold u1 beside u1")},
			withWant(gone, ops("REMOVE u1"), ops("passed u1")),
			{pass: 2 * limit},
		},
		"a removal of a suppressed replacement ends what runs": {
			begin,
			{docs: docs(new2), turn: drops, asked: ops("UPDATE u2 web:2 old web:1 for u1"), waits: ops("Dropped UPDATE u2 for u1"), told: ops("hold u2 beside u1")},
			withWant(gone, ops("REMOVE u1"), ops("passed u1")),
		},
		"a removal of a new pod that is suppressed leaves nothing": {
			{docs: docs(web1), turn: drops, asked: ops("ADD u1 web:1"), waits: ops("Dropped ADD u1"), told: ops("hold u1")},
			withWant(gone, nil, ops("gone u1")),
		},
		"deletion passes, also with newer content, and a shorter grace": {
			begin,
			{docs: docs(web2), turn: drops, asked: ops("UPDATE u1 web:2 old web:1"), waits: ops("Dropped UPDATE u1"), told: ops("hold u1 beside u1")},
			{docs: docs(doc("a#0", "web", "u1", "web:1", dying(30))), want: ops("DELETE u1"), told: ops("passed u1")},
			{docs: docs(doc("a#0", "web", "u1", "web:1", dying(5))), want: ops("DELETE u1")},
			{docs: docs(doc("a#0", "web", "u1", "web:1", dying(5), phase(v1.PodFailed))), want: ops("RECONCILE u1")},
		},
		"mirror pods are not asked about": {
			{docs: docs(doc("a#0", "web", "u1", "web:1", mirror)), turn: drops, want: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u1", "web:2", mirror)), want: ops("UPDATE u1")},
		},
		"everything else passes what waits": {
			begin,
			{docs: docs(web2), turn: silent, asked: ops("UPDATE u1 web:2 old web:1"), waits: ops("Asked UPDATE u1")},
			{docs: docs(web2, doc("b#0", "db", "u9", "db:1")), turn: passes, want: ops("ADD u9"), asked: ops("ADD u9 db:1"), waits: ops("Asked UPDATE u1")},
		},
		"what was never answered is asked again when the filters change": {
			begin,
			{docs: docs(web2), turn: silent, asked: ops("UPDATE u1 web:2 old web:1"), waits: ops("Asked UPDATE u1")},
			{pass: 100 * limit, waits: ops("Asked UPDATE u1")},
			{become: passes, want: ops("UPDATE u1"), asked: ops("UPDATE u1 web:2 old web:1")},
		},
		"what was deferred and then never answered passes at the limit": {
			begin,
			{docs: docs(web2), turn: defers(time.Minute), asked: ops("UPDATE u1 web:2 old web:1"), waits: ops("Deferred UPDATE u1"), told: ops("hold u1 beside u1")},
			{turn: silent, pass: limit, want: ops("UPDATE u1"), asked: ops("UPDATE u1 web:2 old web:1"), told: ops("passed u1")},
		},
		"a release lets it pass now, and only it": {
			begin,
			{docs: docs(web2), turn: drops, asked: ops("UPDATE u1 web:2 old web:1"), waits: ops("Dropped UPDATE u1"), told: ops("hold u1 beside u1")},
			{release: "web", want: ops("UPDATE u1"), told: ops("passed u1")},
			{docs: docs(web3), asked: ops("UPDATE u1 web:3 old web:2"), waits: ops("Dropped UPDATE u1"), told: ops("hold u1 beside u1")},
		},
		"a release lets what is not answered pass": {
			begin,
			{docs: docs(new2), turn: silent, asked: ops("UPDATE u2 web:2 old web:1 for u1"), waits: ops("Asked UPDATE u2 for u1")},
			{release: "web", want: ops("REMOVE u1 for u2", "ADD u2 for u1")},
		},
	} {
		for with, judge := range map[string]func() *judge{"": func() *judge { return nil }, ", with policies": newJudge} {
			t.Run(name+with, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					disk := newDisk()
					f := newSieve(passes)
					g := startFiltered(t, disk, judge(), f)
					for i := range steps {
						g.play(f, i, &steps[i])
						if name != "mirror pods are not asked about" { // nor are they written
							disk.check(t, i, g)
						}
					}
				})
			})
		}
	}
}

func (g *gated) play(f *sieve, i int, step *filterStep) {
	g.t.Helper()
	if step.turn != nil {
		f.turn(step.turn)
	}
	if step.become != nil {
		f.become(step.become)
	}
	if step.docs != nil {
		g.deliver("one", step.docs...)
	}
	if step.release != "" {
		if _, err := g.mux.Release(g.t.Context(), "default", step.release); err != nil {
			g.t.Errorf("step %d: Release: %v", i, err)
		}
	}
	time.Sleep(step.pass)
	for what, pair := range map[string][2][]string{
		"operations":    {step.want, g.got()},
		"questions":     {step.asked, f.questions()},
		"what waits":    {step.waits, g.suppressed()},
		"what was told": {step.told, g.board.told()},
	} {
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			g.t.Errorf("step %d: %s (-want +got):\n%s", i, what, diff)
		}
	}
}

// sameAgain returns a later version of a document with the same content.
func sameAgain(d api.Document) api.Document {
	d.Version, d.Pod = "later", d.Pod.DeepCopy()
	return d
}

func withWant(s filterStep, want, told []string) filterStep {
	s.want, s.told = want, told
	return s
}
