package gate

import (
	"slices"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

// dropping is a filter that drops every update and records the question.
type dropping struct {
	asked   []string
	changed chan struct{}
}

func (d *dropping) Filter(q api.FilterQuestion, answer func(api.FilterVerdict)) {
	d.asked = append(d.asked, string(q.Op)+" "+string(q.Pod.UID))
	answer(api.FilterVerdict{Answer: api.Drop, Limit: time.Hour})
}

func (d *dropping) FilterChanged() <-chan struct{} { return d.changed }

func TestANewPodThatHasRunSinceBeforeTheStartIsNotFiltered(t *testing.T) {
	t.Parallel()
	web := adoptee("u1", "h1")
	for _, tc := range []struct {
		name  string
		op    api.Op
		ran   bool
		dead  bool // when the agent started
		then  func(*running, *Adoption)
		asked []string
		want  api.FilterAnswer
	}{
		{name: "one that ran passes", op: api.Add, ran: true, want: api.Pass},
		{name: "one that did not run is filtered", op: api.Add, asked: []string{"ADD u1"}, want: api.Drop},
		{name: "one that was dead is filtered", op: api.Add, ran: true, dead: true, asked: []string{"ADD u1"}, want: api.Drop},
		{
			name: "one that has died since is filtered", op: api.Add, ran: true, asked: []string{"ADD u1"}, want: api.Drop,
			then: func(r *running, _ *Adoption) { r.list = nil },
		},
		{
			name: "one that is being ended is filtered", op: api.Add, ran: true, asked: []string{"ADD u1"}, want: api.Drop,
			then: func(r *running, _ *Adoption) { r.ending = true },
		},
		{
			name: "one that has ended is filtered", op: api.Add, ran: true, asked: []string{"ADD u1"}, want: api.Drop,
			then: func(_ *running, a *Adoption) { a.Ended("u1") },
		},
		{name: "an update is filtered", op: api.UpdateOp, ran: true, asked: []string{"UPDATE u1"}, want: api.Drop},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r, plane := &running{at: time.Now()}, &dropping{}
			if tc.ran {
				r.list = append(r.list, observed(t, web, !tc.dead))
			}
			a := &Adoption{Runtime: r}
			if !a.look() {
				t.Fatal("the list was not seen")
			}
			if tc.then != nil {
				tc.then(r, a)
			}
			f := &Filter{Policies: plane, Adoption: a}
			var got api.FilterVerdict
			f.Filter(api.FilterQuestion{Op: tc.op, Pod: web}, func(v api.FilterVerdict) { got = v })
			if got.Answer != tc.want || !slices.Equal(plane.asked, tc.asked) {
				t.Errorf("answer %+v after asking %q, want %s after %q", got, plane.asked, tc.want, tc.asked)
			}
		})
	}
}

func TestAQuestionAboutANewPodWaitsUntilItIsKnownWhatRan(t *testing.T) {
	t.Parallel()
	plane := &dropping{changed: make(chan struct{}, 1)}
	r := &running{}
	a := &Adoption{Runtime: r}
	f := &Filter{Policies: plane, Adoption: a}
	var answers []api.FilterAnswer
	note := func(v api.FilterVerdict) { answers = append(answers, v.Answer) }
	f.Filter(api.FilterQuestion{Op: api.Add, Pod: adoptee("u1", "h1")}, note)
	f.Filter(api.FilterQuestion{Op: api.Reconcile, Pod: adoptee("u2", "h2")}, note)
	if want := []api.FilterAnswer{api.Drop}; !slices.Equal(answers, want) {
		t.Errorf("answers %q before the runtime was listed, want %q", answers, want)
	}
	r.list, r.at = append(r.list, observed(t, adoptee("u1", "h1"), true)), time.Now()
	if !a.look() {
		t.Fatal("the list was not seen")
	}
	if want := []api.FilterAnswer{api.Drop, api.Pass}; !slices.Equal(answers, want) {
		t.Errorf("answers %q, want %q", answers, want)
	}
	plane.changed <- struct{}{}
	select {
	case <-f.FilterChanged():
	default:
		t.Error("a change of the filters does not come through")
	}
}
