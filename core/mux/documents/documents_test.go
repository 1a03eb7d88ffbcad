package documents

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// good returns a valid document of the pod with this name. Its version depends on name and
// image.
func good(id, name, image string) api.Document {
	return api.Document{Source: "one", ID: id, Version: name + image, Pod: &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("u-" + name)},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "c", Image: image}}},
	}}
}

// bad returns a document that cannot be used. It names the pod with this name, or no pod if
// name is empty.
func bad(id, name string) api.Document {
	d := api.Document{Source: "one", ID: id, Version: "bad", Err: &api.DocumentError{File: id, Err: errors.New("broken")}}
	if name != "" {
		d.Claims = types.NamespacedName{Namespace: "default", Name: name}
	}
	return d
}

// documents parses the text of the tables below. "m#0=a:1" is a valid document, "m#0!a" is a
// document with a fault that names a, and "m#*!" is a document that holds its manifest.
func documents(text string) (all []api.Document) {
	for one := range strings.FieldsSeq(text) {
		if id, name, ok := strings.Cut(one, "!"); ok {
			all = append(all, bad(id, name))
			continue
		}
		id, pod, _ := strings.Cut(one, "=")
		name, image, ok := strings.Cut(pod, ":")
		if !ok {
			image = "1"
		}
		all = append(all, good(id, name, image))
	}
	return all
}

// String returns the content of the set, ordered by ID: "m#0=a:1" is an entry, "m#0=a:1!b" is
// an entry whose document has a fault and names b, and "m#0!b" is such a document without an
// entry. An entry that is not the first of its identity is in parentheses.
func (s *Set) String() string {
	ids := map[string]bool{}
	for id := range s.entries {
		ids[id] = true
	}
	for id := range s.faults {
		ids[id] = true
	}
	var all []string
	for id := range ids {
		text := id
		if e := s.entries[id]; e != nil {
			text += "=" + e.Pod.Name + ":" + e.Pod.Spec.Containers[0].Image
		}
		if f := s.faults[id]; f != nil {
			text += "!" + f.Claims.Name
		}
		if e := s.entries[id]; e != nil && s.First(e.Identity) != e {
			text = "(" + text + ")"
		}
		all = append(all, text)
	}
	return strings.Join(sorted(all), " ")
}

func sorted(all []string) []string {
	id := func(text string) string { return strings.TrimPrefix(text, "(") }
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(id(a), id(b)) })
	return all
}

// step is one delivery and the expected content of the set after it.
type step struct {
	snapshot bool
	docs     string
	gone     []string
	want     string
}

func play(t *testing.T, tests map[string][]step) {
	t.Helper()
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewSet("one")
			disk := map[string]string{}
			for i, step := range steps {
				r := s.Apply(&Delivery{Snapshot: step.snapshot, Documents: documents(step.docs), Gone: step.gone}, time.Now())
				for id := range s.entries {
					s.First(s.entries[id].Identity)
				}
				if diff := cmp.Diff(step.want, s.String()); diff != "" {
					t.Errorf("step %d (-want +got):\n%s", i, diff)
				}
				checkDisk(t, i, s, r, disk)
			}
		})
	}
}

// checkDisk applies the changes of a delivery to a disk and compares the disk with the set.
func checkDisk(t *testing.T, step int, s *Set, r *Result, disk map[string]string) {
	t.Helper()
	for _, e := range r.Changed {
		if s.Has(e) {
			disk[e.ID] = e.Pod.Name
		}
	}
	for _, id := range r.Forgotten {
		delete(disk, id)
	}
	have := map[string]string{}
	for id, e := range s.entries {
		have[id] = e.Pod.Name
	}
	if diff := cmp.Diff(have, disk); diff != "" {
		t.Errorf("step %d: the disk (-set +disk):\n%s", step, diff)
	}
}

func TestApply_manifest(t *testing.T) {
	t.Parallel()
	first := step{snapshot: true, docs: "m#0.0=a m#0.1=b m#1=c mm#0=x ns/p=p", want: "m#0.0=a:1 m#0.1=b:1 m#1=c:1 mm#0=x:1 ns/p=p:1"}
	play(t, map[string][]step{
		"what it does not name is gone":              {first, {docs: "m#0.0=a m#1=c", want: "m#0.0=a:1 m#1=c:1 mm#0=x:1 ns/p=p:1"}},
		"in whatever place the others are":           {first, {docs: "m#0=c m#1=b:2", want: "m#0=c:1 m#1=b:2 mm#0=x:1 ns/p=p:1"}},
		"two that change places":                     {first, {docs: "m#0.0=b m#0.1=a m#1=c", want: "m#0.0=b:1 m#0.1=a:1 m#1=c:1 mm#0=x:1 ns/p=p:1"}},
		"three that change places":                   {first, {docs: "m#0.0=b m#0.1=c:2 m#1=a", want: "m#0.0=b:1 m#0.1=c:2 m#1=a:1 mm#0=x:1 ns/p=p:1"}},
		"a path that is gone takes all of it":        {first, {gone: []string{"m"}, want: "mm#0=x:1 ns/p=p:1"}},
		"what is in no manifest is gone by its ID":   {first, {gone: []string{"ns/p"}, want: "m#0.0=a:1 m#0.1=b:1 m#1=c:1 mm#0=x:1"}},
		"a snapshot is all there is":                 {first, {snapshot: true, docs: "m#1=c", want: "m#1=c:1"}},
		"a document that names another pod":          {first, {docs: "mm#0=y", want: "m#0.0=a:1 m#0.1=b:1 m#1=c:1 mm#0=y:1 ns/p=p:1"}},
		"a document that names a pod of another":     {first, {docs: "mm#0=a:2", want: "m#0.0=a:1 m#0.1=b:1 m#1=c:1 (mm#0=a:2) ns/p=p:1"}},
		"the next counts when the first is gone":     {first, {docs: "mm#0=a:2", want: "m#0.0=a:1 m#0.1=b:1 m#1=c:1 (mm#0=a:2) ns/p=p:1"}, {gone: []string{"m"}, want: "mm#0=a:2 ns/p=p:1"}},
		"two documents of one manifest name a pod":   {first, {docs: "m#0=a m#1=a:2", want: "m#0=a:1 (m#1=a:2) mm#0=x:1 ns/p=p:1"}},
		"the one that was there before is the first": {first, {docs: "mm#0=n mm#1=x", want: "m#0.0=a:1 m#0.1=b:1 m#1=c:1 mm#0=n:1 mm#1=x:1 ns/p=p:1"}, {docs: "mm#0=x:2 mm#1=x", want: "m#0.0=a:1 m#0.1=b:1 m#1=c:1 (mm#0=x:2) mm#1=x:1 ns/p=p:1"}},
	})
}

func TestApply_documentWithAFaultKeepsThePodThatItNames(t *testing.T) {
	t.Parallel()
	three := step{snapshot: true, docs: "m#0=a m#1=b m#2=c", want: "m#0=a:1 m#1=b:1 m#2=c:1"}
	play(t, map[string][]step{
		"where one before it was taken out": {
			three,
			{docs: "m#0!b m#1=c", want: "m#0=b:1!b m#1=c:1"},
			{docs: "m#0=b:2 m#1=c", want: "m#0=b:2 m#1=c:1"},
		},
		"in a snapshot": {three, {snapshot: true, docs: "m#0!b m#1=c", want: "m#0=b:1!b m#1=c:1"}},
		"where one with a fault before it was taken out": {
			three,
			{docs: "m#0!a m#1!b m#2=c", want: "m#0=a:1!a m#1=b:1!b m#2=c:1"},
			{docs: "m#0!b m#1=c", want: "m#0=b:1!b m#1=c:1"},
		},
		"where one was put before it": {three, {docs: "m#0=n m#1!a m#2=b m#3=c", want: "m#0=n:1 m#1=a:1!a m#2=b:1 m#3=c:1"}},
		"where one with a fault was put before it": {
			three,
			{docs: "m#0!n m#1!a m#2=b m#3=c", want: "m#0!n m#1=a:1!a m#2=b:1 m#3=c:1"},
			{docs: "m#0!n m#1=a:2 m#2=b m#3=c", want: "m#0!n m#1=a:2 m#2=b:1 m#3=c:1"},
		},
		"of all that follow": {
			three,
			{docs: "m#0!b m#1!c", want: "m#0=b:1!b m#1=c:1!c"},
			{docs: "m#0!b m#1=c:2", want: "m#0=b:1!b m#1=c:2"},
		},
		"where two changed places": {
			three,
			{docs: "m#0!b m#1!a m#2=c", want: "m#0=b:1!b m#1=a:1!a m#2=c:1"},
			{docs: "m#0=b m#1!a m#2=c", want: "m#0=b:1 m#1=a:1!a m#2=c:1"},
		},
		"where the other one that changed places has no fault": {three, {docs: "m#0!b m#1=a:2 m#2=c", want: "m#0=b:1!b m#1=a:2 m#2=c:1"}},
		"where its file got another name": {
			three,
			{docs: "n#0!a n#1=b n#2=c", gone: []string{"m"}, want: "n#0=a:1!a n#1=b:1 n#2=c:1"},
		},
		"where its file got another name that is seen first": {
			three,
			{docs: "n#0!a", want: "m#0=a:1 m#1=b:1 m#2=c:1 n#0!a"},
			{gone: []string{"m"}, want: "n#0=a:1!a"},
			{gone: []string{"n"}, want: ""},
		},
		"not where a valid document is that pod": {
			three,
			{docs: "n#0=a", want: "m#0=a:1 m#1=b:1 m#2=c:1 (n#0=a:1)"},
			{docs: "n#0=a n#1!a", gone: []string{"m"}, want: "n#0=a:1 n#1!a"},
		},
		"not where the document names another one meanwhile": {
			three,
			{docs: "n#0!a", want: "m#0=a:1 m#1=b:1 m#2=c:1 n#0!a"},
			{docs: "n#0!x", gone: []string{"m"}, want: "n#0!x"},
		},
		"and else the pod that was in its place": {
			three,
			{docs: "m#0!x m#1=b m#2=c", want: "m#0=a:1!x m#1=b:1 m#2=c:1"},
			{docs: "m#0=x m#1=b m#2=c", want: "m#0=x:1 m#1=b:1 m#2=c:1"},
		},
		"unless a valid one is that pod now": {
			three,
			{docs: "m#0!x m#1=a:2 m#2=b m#3=c", want: "m#0!x m#1=a:2 m#2=b:1 m#3=c:1"},
			{docs: "m#0!x m#1=b m#2=c", want: "m#0!x m#1=b:1 m#2=c:1"},
		},
		"unless one of another manifest is": {
			three,
			{docs: "m#0!x m#1=b m#2=c", want: "m#0=a:1!x m#1=b:1 m#2=c:1"},
			{docs: "n#0=a:2", want: "m#0!x m#1=b:1 m#2=c:1 n#0=a:2"},
		},
		"unless one of another manifest was": {
			three,
			{docs: "n#0=a:2", want: "m#0=a:1 m#1=b:1 m#2=c:1 (n#0=a:2)"},
			{docs: "m#0!x m#1=b m#2=c", want: "m#0!x m#1=b:1 m#2=c:1 n#0=a:2"},
		},
		"unless a valid one behind it took its place": {three, {docs: "m#0=b m#1!x m#2=c", want: "m#0=b:1 m#1!x m#2=c:1"}},
		"not where one in its place has a fault and is that pod": {
			step{snapshot: true, docs: "m#0=a", want: "m#0=a:1"},
			{docs: "m#0!a m#1=a:2", want: "m#0=a:1!a (m#1=a:2)"},
			{docs: "m#0=a m#1=a:2", want: "m#0=a:1 (m#1=a:2)"},
		},
		"one that is mended with another manifest keeps its pod": {
			step{snapshot: true, docs: "b#0=x", want: "b#0=x:1"},
			{docs: "b#0!z", want: "b#0=x:1!z"},
			{docs: "a#0=x:2 b#0=x", want: "(a#0=x:2) b#0=x:1"},
		},
		"so does one that names it again": {
			step{snapshot: true, docs: "b#0=x", want: "b#0=x:1"},
			{docs: "b#0!z", want: "b#0=x:1!z"},
			{docs: "a#0=x:2 b#0!x", want: "(a#0=x:2) b#0=x:1!x"},
		},
		"and one whose manifest is held from now on": {
			step{snapshot: true, docs: "b#0=x", want: "b#0=x:1"},
			{docs: "b#0!z", want: "b#0=x:1!z"},
			{docs: "a#0=x:2 b#0!z b#*!", want: "(a#0=x:2) b#*! b#0=x:1!z"},
		},
		"one that goes to another manifest as its place is taken": {
			step{snapshot: true, docs: "m#0=a m#1=b", want: "m#0=a:1 m#1=b:1"},
			{docs: "m#0!b n#0=x n#1=a", want: "m#0=b:1!b n#0=x:1 n#1=a:1"},
		},
		"a pod that comes takes the place of one that is kept": {
			three,
			{docs: "m#0!x m#1=b m#2=c n#0=x", want: "m#0=a:1!x m#1=b:1 m#2=c:1 n#0=x:1"},
			{gone: []string{"n"}, want: "m#0=x:1!x m#1=b:1 m#2=c:1"},
		},
	})
}

func TestApply_heldManifest(t *testing.T) {
	t.Parallel()
	two := step{snapshot: true, docs: "m#0=a m#1=b n#0=x", want: "m#0=a:1 m#1=b:1 n#0=x:1"}
	play(t, map[string][]step{
		"a newer version in its place counts": {two, {docs: "m#0=a:2 m#1! m#*!", want: "m#*! m#0=a:2 m#1=b:1! n#0=x:1"}},
		"so does a pod where nothing was":     {two, {docs: "m#0=a m#1=b m#2=c m#3! m#*!", want: "m#*! m#0=a:1 m#1=b:1 m#2=c:1 m#3! n#0=x:1"}},
		"not one that was in another place of it": {
			two,
			{docs: "m#0=b:2 m#1! m#*!", want: "m#*! m#0=a:1 m#1=b:1! n#0=x:1"},
			{docs: "m#0=b:2", want: "m#0=b:2 n#0=x:1"},
		},
		"nor a new one where another was": {
			two,
			{docs: "m#0=c m#1=b m#2! m#*!", want: "m#*! m#0=a:1 m#1=b:1 m#2! n#0=x:1"},
			{docs: "m#0=c m#1=b", want: "m#0=c:1 m#1=b:1 n#0=x:1"},
		},
		"one that comes from another manifest stays beside what was there": {
			two,
			{docs: "m#0=x m#1=b m#2! m#*!", gone: []string{"n"}, want: "m#*! m#0=a:1 m#1=b:1 m#2! m#?default/x=x:1"},
			{docs: "m#0=x:2 m#1=b m#2! m#*!", want: "m#*! m#0=a:1 m#1=b:1 m#2! m#?default/x=x:2"},
			{docs: "m#0=x:3 m#1=b", want: "m#0=x:3 m#1=b:1"},
		},
		"also where it has a fault now": {
			two,
			{docs: "m#0!x m#1=b m#2! m#*!", gone: []string{"n"}, want: "m#*! m#0=a:1!x m#1=b:1 m#2! m#?default/x=x:1"},
			{docs: "m#0!x m#1=b", want: "m#0=x:1!x m#1=b:1"},
		},
		"of two documents that are that one the first counts": {
			two,
			{docs: "m#0=x:2 m#1=x:3 m#2! m#*!", gone: []string{"n"}, want: "m#*! m#0=a:1 m#1=b:1 m#2! m#?default/x=x:2"},
		},
		"what it named before it was held is forgotten": {
			two,
			{docs: "m#0!x m#1=b", want: "m#0=a:1!x m#1=b:1 n#0=x:1"},
			{docs: "m#0=c m#1! m#*!", want: "m#*! m#0=a:1 m#1=b:1! n#0=x:1"},
			{gone: []string{"n"}, want: "m#*! m#0=a:1 m#1=b:1!"},
		},
		"a document with a fault keeps its place": {
			two,
			{docs: "m#0!c m#1! m#*!", want: "m#*! m#0=a:1!c m#1=b:1! n#0=x:1"},
			{docs: "m#0=c m#1! m#*!", want: "m#*! m#0=a:1 m#1=b:1! n#0=x:1"},
			{docs: "m#0=c m#1=b", want: "m#0=c:1 m#1=b:1 n#0=x:1"},
		},
		"it is gone with its path":        {two, {docs: "m#*!", want: "m#*! m#0=a:1 m#1=b:1 n#0=x:1"}, {gone: []string{"m"}, want: "n#0=x:1"}},
		"and in a snapshot without it":    {two, {docs: "m#*!", want: "m#*! m#0=a:1 m#1=b:1 n#0=x:1"}, {snapshot: true, docs: "n#0=x", want: "n#0=x:1"}},
		"no other manifest is held by it": {two, {snapshot: true, docs: "m#*! m2#0=y", want: "m#*! m#0=a:1 m#1=b:1 m2#0=y:1"}},
	})
}
