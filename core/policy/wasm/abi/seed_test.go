package abi

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
)

// TestADocumentIsMadeOnce is not parallel: it counts allocations.
func TestADocumentIsMadeOnce(t *testing.T) {
	q := put(requestFor(abitest.FullPod()))
	var d Documents
	first, _ := d.Of(q, documentObject)
	kept := string(first)
	q.object = abitest.Pod("other")
	if again, ok := d.Of(q, documentObject); !ok || string(again) != kept {
		t.Error("the document was made twice")
	}
	if request, ok := d.Of(q, documentRequest); !ok || !strings.Contains(string(request), "manifests") {
		t.Errorf("request %s", request)
	}
	if again, _ := d.Of(q, documentObject); string(again) != kept {
		t.Errorf("with another beside it: %s", again)
	}
	if n := testing.AllocsPerRun(10, func() { d.Of(q, documentObject) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	d.Reset(10)
	if len(d.made) > 0 || cap(d.text) > 0 {
		t.Errorf("%d bytes are kept", cap(d.text))
	}
}

// TestTheSeedIsOfTheWholeQuestion checks that the seed of the random numbers depends on
// everything that a plugin may learn of its question, and on nothing else.
func TestTheSeedIsOfTheWholeQuestion(t *testing.T) {
	t.Parallel()
	seed := func(own byte, change func(q *Query)) [32]byte {
		q := put(&Request{
			Question: &api.Question{Op: api.UpdateOp, Pod: abitest.Pod("a"), Old: abitest.Pod("b"), Origin: api.Origin{Source: "s"}}, Time: abitest.Time, Node: nodeFacts(),
		})
		q.candidates = append(q.candidates, candidate{Object: abitest.Pod("c"), Source: "s"}, candidate{Object: abitest.Pod("d"), Source: "s"})
		change(q)
		var d Documents
		return d.Seed([32]byte{own}, q, func(int, int64) {})
	}
	seen := map[[32]byte]string{}
	for name, change := range map[string]func(q *Query){
		"nothing":            func(*Query) {},
		"the object":         func(q *Query) { q.object = abitest.Pod("x") },
		"no object":          func(q *Query) { q.object = nil },
		"the old object":     func(q *Query) { q.old = abitest.Pod("x") },
		"no old object":      func(q *Query) { q.old = nil },
		"both swapped":       func(q *Query) { q.object, q.old = q.old, q.object },
		"the time":           func(q *Query) { q.request.Time++ },
		"the hook":           func(q *Query) { q.request.Hook = HookFilter },
		"the node's labels":  func(q *Query) { q.node.Labels = nil },
		"no node":            func(q *Query) { q.nodeKnown = false },
		"a candidate":        func(q *Query) { q.candidates[1].Object = abitest.Pod("x") },
		"candidates swapped": func(q *Query) { q.candidates[0], q.candidates[1] = q.candidates[1], q.candidates[0] },
		"one that runs":      func(q *Query) { q.candidates[1].Running = true },
		"a candidate less":   func(q *Query) { q.candidates = q.candidates[:1] },
		"no candidates":      func(q *Query) { q.candidates = nil },
	} {
		s := seed(1, change)
		if other, ok := seen[s]; ok {
			t.Errorf("%s and %s give the same random numbers", name, other)
		}
		seen[s] = name
		if seed(1, change) != s || seed(2, change) == s {
			t.Errorf("%s: the seed is not that of plugin and question", name)
		}
	}
	q, status := put(requestFor(abitest.Pod("a"))), abitest.Pod("a")
	status.Status.Phase = v1.PodRunning
	var d, e Documents
	if d.Seed([32]byte{}, q, func(int, int64) {}) != e.Seed([32]byte{}, put(requestFor(status)), func(int, int64) {}) {
		t.Error("what no plugin sees changes its random numbers")
	}
}
