package mux

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// madeOf returns the change that a merge policy makes to a pod: it adds a label with the tag
// and appends the tag to the image.
func madeOf(p *v1.Pod, tag string) *pod.Mutation {
	made := p.DeepCopy()
	if made.Labels == nil {
		made.Labels = map[string]string{}
	}
	made.Labels["merged"] = tag
	made.Spec.Containers[0].Image += "-" + tag
	instance, _ := pod.Instance(p)
	hash, _ := pod.FinalHash(made)
	return &pod.Mutation{
		By: []pod.Mutator{{Policy: "m", Changed: []string{"/metadata/labels/merged"}}}, Instance: instance, FinalHash: hash, Final: made,
	}
}

// patches returns a function that lets the candidate of a source win. If tag is not empty, the
// function also changes the candidate as madeOf does.
func patches(source, tag string) func(api.Contest) *api.Resolution {
	return func(c api.Contest) *api.Resolution {
		for i := range c.Candidates {
			if x := &c.Candidates[i]; x.Origin.Source == source {
				r := &api.Resolution{Choice: api.ChooseWinner, Winner: i, Policy: "m"}
				if tag != "" {
					r.Mutation = madeOf(x.Pod, tag)
				}
				return r
			}
		}
		return &api.Resolution{Choice: api.NoChoice}
	}
}

// baseStep is one delivery, or another resolver or other policies, and the expected results.
type baseStep struct {
	source string
	docs   []api.Document
	become func(api.Contest) *api.Resolution
	set    string
	want   []string
	asked  []string
}

// tidy removes the extra blanks that empty fields leave in the lines.
func tidy(lines []string) []string {
	for i := range lines {
		lines[i] = strings.Join(strings.Fields(lines[i]), " ")
	}
	return lines
}

func TestTheWinnerIsJudgedAndRunsAsTheAnswerMadeIt(t *testing.T) {
	t.Parallel()
	fromAPI := func(img string, edits ...func(*v1.Pod)) []api.Document {
		return docs(ofAPI("shop/web", "web", "u1", img, edits...))
	}
	file := func(uid, img string, edits ...func(*v1.Pod)) []api.Document {
		return docs(from("one", "web", types.UID(uid), img, edits...))
	}
	for name, test := range map[string]struct {
		answer func(api.Contest) *api.Resolution
		steps  []baseStep
	}{
		"a winner that is new is judged as it was made, and every status of it is of that": {patches("one", "x"), []baseStep{
			{source: "two", docs: docs(from("two", "web", "u2", "other")), want: ops("ADD other"), asked: ops("ADD u2 other")},
			{source: "one", docs: file("u1", "web"), want: ops("REMOVE was other", "ADD web-x"), asked: ops("ADD u1 web-x old other for u2")},
			{source: "one", docs: file("u1", "web", phase(v1.PodRunning)), want: ops("RECONCILE web-x Running was web-x")},
		}},
		"what is made of it may be what policies deny": {patches("one", "x"), []baseStep{
			{source: "two", docs: docs(from("two", "web", "u2", "other")), want: ops("ADD other"), asked: ops("ADD u2 other")},
			{source: "one", docs: file("u1", "evil"), asked: ops("ADD u1 evil-x old other for u2")},
		}},
		"a version of an API pod waits for the answer, and is made anew": {patches("api", "x"), []baseStep{
			{source: "two", docs: docs(from("two", "web", "u2", "other")), want: ops("ADD other"), asked: ops("ADD u2 other")},
			{source: "api", docs: fromAPI("web:1"), want: ops("REMOVE was other", "ADD web:1-x"), asked: ops("ADD u1 web:1-x old other for u2")},
			{become: func(api.Contest) *api.Resolution { return nil }},
			{source: "api", docs: fromAPI("web:2")},
			{set: "s2"},
			{become: patches("api", "y"), want: ops("UPDATE web:2-y was web:1-x"), asked: ops("UPDATE u1 web:2-y old web:1-x")},
		}},
		"what runs goes on as it was admitted when the conflict comes, changes and ends": {patches("api", "x"), []baseStep{
			{source: "api", docs: fromAPI("web:1"), want: ops("ADD web:1"), asked: ops("ADD u1 web:1")},
			{source: "two", docs: docs(from("two", "web", "u2", "other"))},
			{source: "api", docs: fromAPI("web:2"), want: ops("UPDATE web:2-x was web:1"), asked: ops("UPDATE u1 web:2-x old web:1")},
			{become: patches("api", "y")},
			{source: "two", docs: docs()},
			{source: "api", docs: fromAPI("web:2", phase(v1.PodRunning)), want: ops("RECONCILE web:2-x Running was web:2-x")},
			{source: "api", docs: fromAPI("web:3"), want: ops("UPDATE web:3 was web:2-x Running"), asked: ops("UPDATE u1 web:3 old web:2-x")},
		}},
		"what waits is judged as the newest answer makes it": {patches("one", "x"), []baseStep{
			{source: "two", docs: docs(from("two", "web", "u2", "other")), want: ops("ADD other"), asked: ops("ADD u2 other")},
			{source: "one", docs: file("u1", "wait"), asked: ops("ADD u1 wait-x old other for u2")},
			{become: patches("one", "y"), asked: ops("ADD u1 wait-y old other for u2")},
		}},
		"what was rejected is judged again as the newest answer makes it": {patches("one", "x"), []baseStep{
			{source: "two", docs: docs(from("two", "web", "u2", "evil")), want: ops("ADD evil"), asked: ops("ADD u2 evil")},
			{source: "one", docs: file("u1", "evil"), want: ops("REMOVE was evil", "ADD evil"), asked: ops("ADD u1 evil-x")},
			{become: patches("one", "y"), want: ops("REMOVE was evil", "ADD evil"), asked: ops("ADD u1 evil-y")},
			{become: patches("one", "y")},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				u, j := newUmpire(), newJudge()
				u.answer, j.images = test.answer, true
				a := enter(t, Config{Resolver: u, Resolutions: &ledger{}, Gate: j})
				for i, s := range test.steps {
					switch {
					case s.become != nil:
						u.become(s.become)
					case s.set != "":
						j.become(false, s.set)
					default:
						a.deliver(s.source, s.docs...)
					}
					if diff := cmp.Diff(s.want, tidy(a.finals())); diff != "" {
						t.Errorf("step %d, operations (-want +got):\n%s", i+1, diff)
					}
					if asked := j.questions(); !slices.Equal(asked, s.asked) {
						t.Errorf("step %d, asked %q, want %q", i+1, asked, s.asked)
					}
				}
				a.stop()
			})
		})
	}
}

func TestWhatTheAnswerMadeIsTheSameAfterARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk, answers := newDisk(), &ledger{}
		one := ofAPI("shop/web", "web", "u1", "web:1")
		u, j := newUmpire(), newJudge()
		u.answer = patches("api", "x")
		relabels(j)
		before := enter(t, Config{Documents: disk, Resolver: u, Resolutions: answers, Gate: j})
		before.deliver("two", from("two", "web", "u2", "other"))
		before.finals()
		before.deliver("api", one)
		before.finals()
		before.deliver("api", ofAPI("shop/web", "web", "u1", "wait:2"))
		before.stop()
		disk.reread(t)
		stored(t, answers)

		silent, j := newUmpire(), newJudge()
		j.images = true
		relabels(j)
		after := enter(t, Config{Documents: disk, Resolver: silent, Resolutions: answers, Gate: j})
		after.deliver("two", from("two", "web", "u2", "other"))
		after.deliver("api", ofAPI("shop/web", "web", "u1", "wait:2"))
		after.deliver("one")
		if diff := cmp.Diff(ops("RESTORE mirror/web:1-x s1"), after.finals()); diff != "" {
			t.Errorf("after the restart (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(ops("UPDATE u1 wait:2-x old mirror/web:1-x"), j.questions()); diff != "" {
			t.Errorf("asked after the restart (-want +got):\n%s", diff)
		}
		if asked := silent.questions(); len(asked) != 0 {
			t.Errorf("the resolver is asked again: %q", asked)
		}
		v := after.mux.store.owner["u1"].sent.verdict
		if m := v.Mutation; len(m.By) < 2 || m.By[0].Policy != "m" || m.Base == "" || m.Base == m.FinalHash {
			t.Errorf("changed by %s, base %q; want the merge policy first", m, m.Base)
		}
		after.stop()
	})
}

func TestAnAnswerThatIsAboutAnotherPodIsNoChoice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u, j := newUmpire(), newJudge()
		u.answer = func(c api.Contest) *api.Resolution {
			return &api.Resolution{Choice: api.ChooseWinner, Winner: 0, Mutation: madeOf(c.Candidates[1].Pod, "x")}
		}
		a := enter(t, Config{Resolver: u, Gate: j})
		a.deliver("one", from("one", "web", "u1", "i"))
		a.deliver("two", from("two", "web", "u2", "j"))
		a.finals()
		if diff := cmp.Diff(ops("web isolate: u1 Runs u2 Waits"), a.claims()); diff != "" {
			t.Errorf("conflicts (-want +got):\n%s", diff)
		}
		a.stop()
	})
}

// stored encodes and decodes all answers of a ledger, as a disk does.
func stored(t *testing.T, l *ledger) {
	t.Helper()
	for id, r := range l.all {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var read state.Resolution
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		l.all[id] = read
	}
}

func TestWhatAFilterHoldsBackOfAWinnerIsJudgedAgainOnlyAsAnotherPod(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		keep  bool // whether the stored answers survive the restart
		tag   string
		asked []string
	}{
		"the same answer is kept":    {true, "none", nil},
		"the same answer again":      {false, "x", nil},
		"another answer is another":  {false, "y", ops("ADD u1 web-y old other for u2")},
		"an answer without a change": {false, "", ops("ADD u1 web old other for u2")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				disk, answers := newDisk(), &ledger{}
				begin := func(tag string) (*arena, *judge) {
					u, j := newUmpire(), newJudge()
					u.answer, j.images = patches("one", tag), true
					return enter(t, Config{
						Documents: disk, Resolver: u, Resolutions: answers, Gate: j, Filter: newSieve(only(api.UpdateOp, drops)),
					}), j
				}
				winner := from("one", "web", "u1", "web")
				before, _ := begin("x")
				before.deliver("two", from("two", "web", "u2", "other"))
				before.finals()
				before.deliver("one", winner)
				before.finals()
				before.stop()
				disk.reread(t)
				if stored(t, answers); !test.keep {
					answers = &ledger{}
				}
				after, j := begin(test.tag)
				after.deliver("one", winner)
				if diff := cmp.Diff(ops("RESTORE other"), tidy(after.finals())); diff != "" {
					t.Errorf("after the restart (-want +got):\n%s", diff)
				}
				if asked := j.questions(); !slices.Equal(asked, test.asked) {
					t.Errorf("asked %q, want %q", asked, test.asked)
				}
				if diff := cmp.Diff(ops("Dropped UPDATE u1 for u2"), after.suppressed()); diff != "" {
					t.Errorf("what waits (-want +got):\n%s", diff)
				}
				if w := after.board.last["u2"]; !w.Suppressed || w.Until.IsZero() {
					t.Errorf("it is shown as %+v", w)
				}
				if updates, err := after.mux.Release(t.Context(), "default", "web"); err != nil || len(updates) != 1 {
					t.Fatal(updates, err)
				}
				image := strings.TrimSuffix("web-"+test.tag, "-")
				if test.keep {
					image = "web-x"
				}
				if diff := cmp.Diff(ops("REMOVE was other", "ADD "+image), tidy(after.finals())); diff != "" {
					t.Errorf("released (-want +got):\n%s", diff)
				}
				after.stop()
			})
		})
	}
}
