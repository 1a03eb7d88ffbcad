package mux

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/state"
)

// ledger is a Resolutions in memory.
type ledger struct {
	mu   sync.Mutex
	all  map[types.NamespacedName]state.Resolution
	puts int
}

func (l *ledger) Put(r *state.Resolution) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[types.NamespacedName]state.Resolution{}
	}
	l.all[r.Identity] = *r
	l.puts++
	return nil
}

func (l *ledger) Delete(identity types.NamespacedName) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, identity)
	return nil
}

func (l *ledger) Load() ([]state.Resolution, []error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []state.Resolution
	for _, r := range l.all {
		all = append(all, r)
	}
	return all, nil
}

// prefers returns a function that lets the candidate with this image win.
func prefers(img string) func(api.Contest) *api.Resolution {
	return func(c api.Contest) *api.Resolution {
		for i, candidate := range c.Candidates {
			if candidate.Pod.Spec.Containers[0].Image == img {
				return &api.Resolution{Choice: api.ChooseWinner, Winner: i, Policy: "p", Message: "prefers " + img}
			}
		}
		return &api.Resolution{Choice: api.NoChoice}
	}
}

func always(choice api.Choice) func(api.Contest) *api.Resolution {
	return func(api.Contest) *api.Resolution { return &api.Resolution{Choice: choice, Winner: 7} }
}

// dispute is a snapshot of one source or another resolver, and the expected results.
type dispute struct {
	source string
	docs   []api.Document
	become func(api.Contest) *api.Resolution
	want   []string
	claims []string
	asked  []string
}

func TestAResolverDecidesConflicts(t *testing.T) {
	t.Parallel()
	none := docs()
	one, two := docs(from("one", "web", "u1", "i")), docs(from("two", "web", "u2", "j"))
	for name, test := range map[string]struct {
		answer   func(api.Contest) *api.Resolution
		disputes []dispute
	}{
		"the winner runs, and what runs gives way to it": {prefers("j"), []dispute{
			{source: "one", docs: one, want: ops("ADD u1")},
			{source: "two", docs: two, want: ops("REMOVE u1 for u2", "ADD u2 for u1"), claims: ops("web policy: u1 Lost u2 Runs"), asked: ops("web u1 runs u2")},
		}},
		"the loser takes over when the winner is gone, and nobody is asked": {prefers("j"), []dispute{
			{source: "one", docs: one, want: ops("ADD u1")},
			{source: "two", docs: two, want: ops("REMOVE u1 for u2", "ADD u2 for u1"), claims: ops("web policy: u1 Lost u2 Runs"), asked: ops("web u1 runs u2")},
			{source: "two", docs: none, want: ops("REMOVE u2", "ADD u1 for u2")},
		}},
		"without an answer nothing begins or ends": {nil, []dispute{
			{source: "one", docs: one, want: ops("ADD u1")},
			{source: "two", docs: two, claims: ops("web policy: u1 Runs u2 Waits"), asked: ops("web u1 runs u2")},
			{source: "one", docs: docs(from("one", "web", "u3", "k")), claims: ops("web policy: u3 Waits u2 Waits"), asked: ops("web u3 runs u2")},
			{become: prefers("j"), want: ops("REMOVE u1 for u2", "ADD u2 for u1"), claims: ops("web policy: u3 Lost u2 Runs"), asked: ops("web u3 runs u2")},
		}},
		"a deletion passes without an answer": {nil, []dispute{
			{source: "api", docs: docs(from("api", "web", "u1", "i")), want: ops("ADD u1")},
			{source: "two", docs: two, claims: ops("web policy: u1 Runs u2 Waits"), asked: ops("web u1 runs u2")},
			{source: "api", docs: docs(from("api", "web", "u1", "i", deleted)), want: ops("DELETE u1"), claims: ops("web policy: u1 Runs u2 Waits")},
		}},
		"what is asked for once is not asked for again": {prefers("j"), []dispute{
			{source: "one", docs: one, want: ops("ADD u1")},
			{source: "two", docs: two, want: ops("REMOVE u1 for u2", "ADD u2 for u1"), claims: ops("web policy: u1 Lost u2 Runs"), asked: ops("web u1 runs u2")},
			{source: "two", docs: append(docs(from("two", "db", "u9", "i")), two...), want: ops("ADD u9"), claims: ops("web policy: u1 Lost u2 Runs")},
		}},
		"another document is another contest": {prefers("j"), []dispute{
			{source: "one", docs: one, want: ops("ADD u1")},
			{source: "two", docs: two, want: ops("REMOVE u1 for u2", "ADD u2 for u1"), claims: ops("web policy: u1 Lost u2 Runs"), asked: ops("web u1 runs u2")},
			{
				source: "one", docs: docs(from("one", "web", "u3", "j")), want: ops("REMOVE u2 for u3", "ADD u3 for u2"),
				claims: ops("web policy: u3 Runs u2 Lost"), asked: ops("web u3 u2 runs"),
			},
		}},
		"the current one goes on, in its newest version": {always(api.ChooseCurrent), []dispute{
			{source: "one", docs: one, want: ops("ADD u1")},
			{source: "two", docs: two, claims: ops("web policy: u1 Runs u2 Lost"), asked: ops("web u1 runs u2")},
			{source: "one", docs: docs(from("one", "web", "u3", "k")), want: ops("REMOVE u1 for u3", "ADD u3 for u1"), claims: ops("web policy: u3 Runs u2 Lost"), asked: ops("web u3 runs u2")},
		}},
		"none starts, and what runs goes on as it is": {always(api.ChooseNone), []dispute{
			{source: "one", docs: one, want: ops("ADD u1")},
			{source: "two", docs: two, claims: ops("web policy: u1 Runs u2 Waits"), asked: ops("web u1 runs u2")},
			{source: "one", docs: docs(from("one", "web", "u3", "k")), claims: ops("web policy: u3 Waits u2 Waits"), asked: ops("web u3 runs u2")},
			{source: "two", docs: none, want: ops("REMOVE u1 for u3", "ADD u3 for u1")},
		}},
		"without a choice the rule of the node decides": {always(api.NoChoice), []dispute{
			{source: "one", docs: one, want: ops("ADD u1")},
			{source: "two", docs: two, want: ops("ADD u2"), claims: ops("web isolate: u1 Runs u2 Waits"), asked: ops("web u1 runs u2")},
		}},
		"a winner that is no candidate is no choice": {always(api.ChooseWinner), []dispute{
			{source: "one", docs: one, want: ops("ADD u1")},
			{source: "two", docs: two, want: ops("ADD u2"), claims: ops("web isolate: u1 Runs u2 Waits"), asked: ops("web u1 runs u2")},
		}},
		"other policies may have another winner": {prefers("j"), []dispute{
			{source: "one", docs: one, want: ops("ADD u1")},
			{source: "two", docs: two, want: ops("REMOVE u1 for u2", "ADD u2 for u1"), claims: ops("web policy: u1 Lost u2 Runs"), asked: ops("web u1 runs u2")},
			{become: prefers("i"), want: ops("REMOVE u2 for u1", "ADD u1 for u2"), claims: ops("web policy: u1 Runs u2 Lost"), asked: ops("web u1 u2 runs")},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				u := newUmpire()
				u.answer = test.answer
				a := enter(t, Config{Resolver: u, Resolutions: &ledger{}})
				for i, d := range test.disputes {
					if d.become != nil {
						u.become(d.become)
					} else {
						a.deliver(d.source, d.docs...)
					}
					if diff := cmp.Diff(d.want, a.got()); diff != "" {
						t.Errorf("step %d, operations (-want +got):\n%s", i+1, diff)
					}
					if diff := cmp.Diff(d.claims, a.claims()); diff != "" {
						t.Errorf("step %d, conflicts (-want +got):\n%s", i+1, diff)
					}
					if diff := cmp.Diff(d.asked, u.questions()); diff != "" {
						t.Errorf("step %d, asked (-want +got):\n%s", i+1, diff)
					}
				}
				a.stop()
			})
		})
	}
}

func TestAnAnswerIsKeptUntilTheConflictHasEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk, answers := newDisk(), &ledger{}
		one, two := from("one", "web", "u1", "i"), from("two", "web", "u2", "j")
		u := newUmpire()
		u.answer = prefers("j")
		before := enter(t, Config{Documents: disk, Resolver: u, Resolutions: answers})
		before.deliver("one", one)
		before.deliver("two", two)
		before.got()
		before.stop()
		if len(answers.all) != 1 {
			t.Fatalf("%d answers are kept, want 1", len(answers.all))
		}

		silent := newUmpire()
		after := enter(t, Config{Documents: disk, Resolver: silent, Resolutions: answers})
		after.deliver("one", one)
		after.deliver("two", two)
		after.deliver("api")
		if diff := cmp.Diff(ops("RESTORE u2 for u1"), after.got()); diff != "" {
			t.Errorf("after the restart (-want +got):\n%s", diff)
		}
		if asked := silent.questions(); len(asked) != 0 {
			t.Errorf("asked again after a restart: %q", asked)
		}
		after.deliver("one")
		after.got()
		if len(answers.all) != 0 {
			t.Errorf("kept after the conflict has ended: %v", answers.all)
		}
		after.stop()
	})
}

func TestAnswersToConflictsThatARestartDoesNotFindAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answers := &ledger{}
		for i := range 3 {
			id := types.NamespacedName{Namespace: "default", Name: fmt.Sprint("n", i)}
			if err := answers.Put(&state.Resolution{Identity: id, Key: "k"}); err != nil {
				t.Fatal(err)
			}
		}
		a := enter(t, Config{Resolver: newUmpire(), Resolutions: answers})
		a.deliver("one")
		a.deliver("two")
		a.got()
		if len(answers.all) != 3 {
			t.Errorf("%d answers are kept while a source is to be read, want 3", len(answers.all))
		}
		a.deliver("api")
		a.got()
		if len(answers.all) != 0 {
			t.Errorf("%d answers are kept when all sources were read, want none", len(answers.all))
		}
		a.stop()
	})
}

// TestAnAnswerOfFormerPoliciesDoesNotOutliveTheAgent restarts the mux before the new policies
// have answered.
func TestAnAnswerOfFormerPoliciesDoesNotOutliveTheAgent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		one, two := from("one", "web", "u1", "i"), from("two", "web", "u2", "j")
		u, disk, answers := newUmpire(), newDisk(), &ledger{}
		u.answer = prefers("i")
		a := enter(t, Config{Documents: disk, Resolver: u, Resolutions: answers})
		a.deliver("one", one)
		a.deliver("two", two)
		a.wants("it wins", "ADD u1")
		u.become(nil)
		a.wants("what was decided holds until other policies have answered")
		a.stop()

		u = newUmpire()
		again := enter(t, Config{Documents: disk, Resolver: u, Resolutions: answers})
		again.deliver("one", one)
		again.deliver("two", two)
		again.deliver("api")
		again.wants("it goes on", "RESTORE u1")
		if asked := u.questions(); len(asked) == 0 {
			t.Error("the answer of former policies counts after a restart")
		}
		again.stop()
	})
}
