package mux

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// step is one delivery and the expected operations, each as "OP uid", or as "OP uid for uid" if
// one pod replaces the other.
type step struct {
	source   string
	snapshot bool
	docs     []api.Document
	gone     []string
	want     []string
}

func TestMergeFollowsTheRulesOfAKubeletsPodConfig(t *testing.T) {
	t.Parallel()
	tests := map[string][]step{
		"a first snapshot adds its pods": {
			{snapshot: true, docs: docs(good("a#0", "web", "u1"), good("b#0", "db", "u2")), want: ops("ADD u1", "ADD u2")},
		},
		"an equal snapshot gives nothing": {
			{snapshot: true, docs: docs(good("a#0", "web", "u1")), want: ops("ADD u1")},
			{snapshot: true, docs: docs(good("a#0", "web", "u1")), want: nil},
		},
		"a snapshot without a document removes its pod": {
			{snapshot: true, docs: docs(good("a#0", "web", "u1"), good("b#0", "db", "u2")), want: ops("ADD u1", "ADD u2")},
			{snapshot: true, docs: docs(good("b#0", "db", "u2")), want: ops("REMOVE u1")},
		},
		"a difference touches only what it names": {
			{snapshot: true, docs: docs(good("a#0", "web", "u1"), good("b#0", "db", "u2")), want: ops("ADD u1", "ADD u2")},
			{gone: []string{"a#0"}, want: ops("REMOVE u1")},
			{docs: docs(good("c#0", "cache", "u3")), want: ops("ADD u3")},
		},
		"a changed document with the same uid is an update": {
			{snapshot: true, docs: docs(good("a#0", "web", "u1")), want: ops("ADD u1")},
			{docs: docs(good("a#0", "web", "u1", image("web:2"))), want: ops("UPDATE u1")},
		},
		"a deletion timestamp is a delete": {
			{snapshot: true, docs: docs(good("a#0", "web", "u1")), want: ops("ADD u1")},
			{docs: docs(good("a#0", "web", "u1", deleted)), want: ops("DELETE u1")},
		},
		"a changed status is a reconcile": {
			{snapshot: true, docs: docs(good("a#0", "web", "u1")), want: ops("ADD u1")},
			{docs: docs(good("a#0", "web", "u1", phase(v1.PodRunning))), want: ops("RECONCILE u1")},
		},
		"a changed document with another uid is one replacement, removal first": {
			{snapshot: true, docs: docs(good("a#0", "web", "u1")), want: ops("ADD u1")},
			{docs: docs(good("a#0", "web", "u2")), want: ops("REMOVE u1 for u2", "ADD u2 for u1")},
		},
		"a document renamed to another pod is a removal and an addition": {
			{snapshot: true, docs: docs(good("a#0", "web", "u1")), want: ops("ADD u1")},
			{docs: docs(good("a#0", "shop", "u2")), want: ops("REMOVE u1", "ADD u2")},
		},
		"one renamed to a pod whose document goes replaces that": {
			{snapshot: true, docs: docs(good("a#0", "web", "u1"), good("b#0", "db", "u2")), want: ops("ADD u1", "ADD u2")},
			{snapshot: true, docs: docs(good("a#0", "db", "u3")), want: ops("REMOVE u2 for u3", "REMOVE u1", "ADD u3 for u2")},
		},
		"operations of one update are ordered remove, add, update, delete, reconcile": {
			{snapshot: true, docs: docs(
				good("a#0", "a", "ua"), good("b#0", "b", "ub"), good("c#0", "c", "uc"), good("d#0", "d", "ud"),
			), want: ops("ADD ua", "ADD ub", "ADD uc", "ADD ud")},
			{
				docs: docs(
					good("a#0", "a", "ua", phase(v1.PodRunning)), good("b#0", "b", "ub", deleted),
					good("c#0", "c", "uc", image("x")), good("e#0", "e", "ue"),
				), gone: []string{"d#0"},
				want: ops("REMOVE ud", "ADD ue", "UPDATE uc", "DELETE ub", "RECONCILE ua"),
			},
		},
		"two sources with one pod run it twice": {
			{source: "one", snapshot: true, docs: docs(good("a#0", "web", "u1")), want: ops("ADD u1")},
			{source: "two", snapshot: true, docs: docs(good("a#0", "web", "u2")), want: ops("ADD u2")},
		},
	}
	playAll(t, tests)
}

func TestMergeKeepsTheLastValidVersion(t *testing.T) {
	t.Parallel()
	tests := map[string][]step{
		"a document that becomes invalid keeps its pod": {
			{snapshot: true, docs: docs(good("a#0", "web", "u1")), want: ops("ADD u1")},
			{snapshot: true, docs: docs(bad("a#0")), want: nil},
			{docs: docs(bad("a#0")), want: nil},
			{snapshot: true, docs: docs(good("a#0", "web", "u1")), want: nil},
		},
		"an invalid document that is gone removes its pod": {
			{snapshot: true, docs: docs(good("a#0", "web", "u1")), want: ops("ADD u1")},
			{docs: docs(bad("a#0")), want: nil},
			{snapshot: true, want: ops("REMOVE u1")},
		},
		"a document that never was valid runs nothing": {
			{snapshot: true, docs: docs(bad("a#0"), good("b#0", "db", "u2")), want: ops("ADD u2")},
			{docs: docs(good("a#0", "web", "u1")), want: ops("ADD u1")},
		},
		"a file that cannot be split keeps all its pods": {
			{snapshot: true, docs: docs(good("a#0", "web", "u1"), good("a#1", "db", "u2"), good("ab#0", "x", "u3")), want: ops("ADD u1", "ADD u2", "ADD u3")},
			{snapshot: true, docs: docs(bad("a#*")), want: ops("REMOVE u3")},
			{snapshot: true, docs: docs(good("a#0", "web", "u1")), want: ops("REMOVE u2")},
		},
	}
	playAll(t, tests)
}

func TestMergeRunsOneDocumentPerIdentity(t *testing.T) {
	t.Parallel()
	tests := map[string][]step{
		"the first by name runs when both come at once": {
			{snapshot: true, docs: docs(good("b#0", "web", "ub"), good("a#0", "web", "ua")), want: ops("ADD ua")},
		},
		"the one already known runs on": {
			{snapshot: true, docs: docs(good("b#0", "web", "ub")), want: ops("ADD ub")},
			{docs: docs(good("a#0", "web", "ua")), want: nil},
		},
		"a loser takes over when the winner is gone": {
			{snapshot: true, docs: docs(good("a#0", "web", "ua"), good("b#0", "web", "ub")), want: ops("ADD ua")},
			{gone: []string{"a#0"}, want: ops("REMOVE ua for ub", "ADD ub for ua")},
		},
		"a renamed file restarts nothing": {
			{snapshot: true, docs: docs(good("a#0", "web", "u1")), want: ops("ADD u1")},
			{docs: docs(good("b#0", "web", "u1")), gone: []string{"a#0"}, want: nil},
			{snapshot: true, docs: docs(good("c#0", "web", "u1")), want: nil},
		},
		"the identity annotation decides over the name": {
			{snapshot: true, docs: docs(good("a#0", "web-blue", "ua", identity("web")), good("b#0", "web-green", "ub", identity("web"))), want: ops("ADD ua")},
		},
	}
	playAll(t, tests)
}

func TestMergeNeverMixesPodsOfOneUID(t *testing.T) {
	t.Parallel()
	tests := map[string][]step{
		"a newcomer with a known uid is refused": {
			{source: "one", snapshot: true, docs: docs(good("a#0", "web", "u1")), want: ops("ADD u1")},
			{source: "two", snapshot: true, docs: docs(good("b#0", "db", "u1")), want: nil},
		},
		"it runs once the uid is free": {
			{source: "one", snapshot: true, docs: docs(good("a#0", "web", "u1")), want: ops("ADD u1")},
			{source: "two", snapshot: true, docs: docs(good("b#0", "db", "u1")), want: nil},
			{source: "one", gone: []string{"a#0"}, want: ops("REMOVE u1", "ADD u1")},
		},
		"an edit to a known uid leaves what runs alone": {
			{snapshot: true, docs: docs(good("a#0", "web", "u1"), good("b#0", "db", "u2")), want: ops("ADD u1", "ADD u2")},
			{docs: docs(good("b#0", "db", "u1")), want: nil},
			{docs: docs(good("b#0", "db", "u3")), want: ops("REMOVE u2 for u3", "ADD u3 for u2")},
		},
		"two pods may swap their uids": {
			{snapshot: true, docs: docs(good("a#0", "web", "u1"), good("b#0", "db", "u2")), want: ops("ADD u1", "ADD u2")},
			{
				docs: docs(good("a#0", "web", "u2"), good("b#0", "db", "u1")),
				want: ops("REMOVE u1 for u2", "REMOVE u2 for u1", "ADD u2 for u1", "ADD u1 for u2"),
			},
		},
		"of two newcomers with one uid the first runs": {
			{snapshot: true, docs: docs(good("a#0", "web", "u1"), good("b#0", "db", "u1")), want: ops("ADD u1")},
		},
	}
	playAll(t, tests)
}

func TestACopyThatBecomesAnotherPodTakesNothingAlong(t *testing.T) {
	t.Parallel()
	copied := step{docs: docs(good("f#0", "b", "u1", image("i:1")), good("g#0", "b", "u1", image("i:1"))), want: ops("ADD u1")}
	playAll(t, map[string][]step{
		"its uid is that of the one that runs": {
			copied,
			{docs: docs(good("g#0", "b", "u1", image("evil"), identity("x"))), want: nil},
			{gone: []string{"g"}, want: nil},
		},
		"it gets another uid": {
			copied,
			{docs: docs(good("g#0", "b", "u2", identity("x"))), want: ops("ADD u2")},
		},
		"the one that runs becomes another pod": {
			copied,
			{docs: docs(good("f#0", "b", "u1", image("i:1"), identity("x"))), want: ops("UPDATE u1")},
		},
	})
}

func TestMergeKeepsFirstSeenAcrossVersions(t *testing.T) {
	t.Parallel()
	s := newStore(&Config{Sources: []Source{{Name: "one"}}})
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	deliver := func(at time.Time, d api.Document) api.Change {
		t.Helper()
		changes := s.merge(delivery{source: "one", docs: docs(d)}, s.begin(at, slog.New(slog.DiscardHandler))).changes
		if len(changes) != 1 {
			t.Fatalf("got %d changes, want one", len(changes))
		}
		return changes[0]
	}
	deliver(first, good("a#0", "web", "u1"))
	c := deliver(first.Add(time.Hour), good("a#0", "web", "u1", image("web:2")))
	want := api.Origin{Source: "one", Document: "a#0", Version: c.Origin.Version, FirstSeen: first}
	if diff := cmp.Diff(want, c.Origin); diff != "" {
		t.Errorf("origin of the second version (-want +got):\n%s", diff)
	}
}

func playAll(t *testing.T, histories map[string][]step) {
	t.Helper()
	for name, steps := range histories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(t, steps)
		})
	}
}

// play merges each step and compares the operations.
func play(t *testing.T, steps []step) {
	t.Helper()
	s := newStore(&Config{Sources: []Source{{Name: "one"}, {Name: "two"}}})
	for i, st := range steps {
		d := delivery{source: st.source, snapshot: st.snapshot, docs: st.docs, gone: st.gone}
		if d.source == "" {
			d.source = "one"
		}
		changes := s.merge(d, s.begin(time.Now(), slog.New(slog.DiscardHandler))).changes
		var got []string
		for _, c := range changes {
			line := string(c.Op) + " " + string(c.Pod().UID)
			if c.Replaces != "" {
				line += " for " + string(c.Replaces)
			}
			got = append(got, line)
		}
		if diff := cmp.Diff(st.want, got); diff != "" {
			t.Fatalf("step %d (-want +got):\n%s", i+1, diff)
		}
	}
}

func docs(d ...api.Document) []api.Document { return d }

func ops(o ...string) []string { return o }

func good(id, name string, uid types.UID, edits ...func(*v1.Pod)) api.Document {
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: uid, Annotations: map[string]string{}},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "main", Image: name + ":1"}}},
	}
	for _, edit := range edits {
		edit(p)
	}
	return api.Document{ID: id, Version: p.String(), Pod: p}
}

func bad(id string) api.Document {
	file, _, _ := strings.Cut(id, "#")
	return api.Document{ID: id, Version: "bad", Err: &api.DocumentError{File: file, Line: 3, Err: errors.New("broken")}}
}

// wouldBe returns a document with a fault that names its pod.
func wouldBe(id string, identity types.NamespacedName) api.Document {
	d := bad(id)
	d.Claims = identity
	return d
}

func image(name string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Spec.Containers[0].Image = name }
}

func deleted(p *v1.Pod) {
	p.DeletionTimestamp = new(metav1.NewTime(time.Unix(1, 0)))
}

func phase(to v1.PodPhase) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Status.Phase = to }
}

func identity(name string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Annotations[pod.AnnotationIdentity] = name }
}
