package syncloop

import (
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pleg"
	"github.com/wardlet/wardlet/core/pod"
)

func TestWhatBecomesOfAChange(t *testing.T) {
	t.Parallel()
	p := newPod("1")
	origin := api.Origin{Document: "web.yaml#0"}
	for name, tc := range map[string]struct {
		change api.Change
		want   []string
		has    bool
	}{
		"RESTORE creates":                      {api.Change{Op: api.Restore, New: p, Origin: origin, Restored: true}, []string{"create 1 from web.yaml#0"}, true},
		"ADD creates":                          {api.Change{Op: api.Add, New: p, Origin: origin}, []string{"create 1 from web.yaml#0"}, true},
		"UPDATE updates":                       {api.Change{Op: api.UpdateOp, Old: p, New: p, Origin: origin}, []string{"update 1 from web.yaml#0"}, true},
		"DELETE updates":                       {api.Change{Op: api.Delete, Old: p, New: p, Origin: origin}, []string{"update 1 from web.yaml#0"}, true},
		"RECONCILE says nothing to the worker": {api.Change{Op: api.Reconcile, Old: p, New: p}, nil, true},
		"REMOVE kills at once":                 {api.Change{Op: api.Remove, Old: p, Origin: origin}, []string{"kill 1 from web.yaml#0"}, false},
		"what is unknown does nothing":         {api.Change{Op: "SET", Old: p, New: p}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				w.run(t, func() {
					w.send(tc.change)
					w.expect(t, tc.want...)
					if got := w.loop.pods.has("1"); got != tc.has {
						t.Errorf("the pod is in the set: %v, want %v", got, tc.has)
					}
				})
			})
		})
	}
}

func TestNothingOfAMirrorPodIsStarted(t *testing.T) {
	t.Parallel()
	mirror := newPod("1")
	mirror.Annotations = map[string]string{pod.AnnotationMirror: "hash"}
	for name, tc := range map[string]struct {
		changes []api.Change
		want    []string
	}{
		"ADD":       {[]api.Change{added(mirror)}, nil},
		"RESTORE":   {[]api.Change{{Op: api.Restore, New: mirror}}, nil},
		"UPDATE":    {[]api.Change{added(mirror), {Op: api.UpdateOp, Old: mirror, New: mirror}}, nil},
		"DELETE":    {[]api.Change{added(mirror), {Op: api.Delete, Old: mirror, New: mirror}}, nil},
		"RECONCILE": {[]api.Change{added(mirror), {Op: api.Reconcile, Old: mirror, New: mirror}}, nil},
		"REMOVE":    {[]api.Change{added(mirror), removed(mirror)}, nil},
		"one that is none any more was not judged":      {[]api.Change{added(mirror), {Op: api.UpdateOp, Old: mirror, New: newPod("1")}}, nil},
		"a pod that runs ends though it looks like one": {[]api.Change{added(newPod("1")), removed(mirror)}, []string{"create 1", "kill 1"}},
		"a pod that runs is not changed by looking so":  {[]api.Change{added(newPod("1")), {Op: api.UpdateOp, Old: newPod("1"), New: mirror}}, []string{"create 1"}},
		"everything beside it is handled as without it": {[]api.Change{added(mirror), added(newPod("2"))}, []string{"create 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				w.run(t, func() {
					w.send(tc.changes...)
					w.expect(t, tc.want...)
					if w.loop.pods.has("1") && len(tc.want) == 0 {
						t.Error("a mirror pod is in the set")
					}
				})
			})
		})
	}
}

func TestChangesAreHandledInTheirOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		old, next, other := newPod("old"), newPod("new"), newPod("other")
		next.Name, old.Name = "web", "web"
		w.run(t, func() {
			w.send(added(old), added(other))
			w.expect(t, "create old", "create other")
			// A replacement: both carry one name, and neither harms the other.
			w.send(removed(old), added(next), api.Change{Op: api.UpdateOp, Old: other, New: other})
			w.expect(t, "kill old", "create new", "update other")
			if w.loop.pods.has("old") || !w.loop.pods.has("new") {
				t.Error("the set mixes pods of one name")
			}
		})
	})
}

func TestAdditionsComeByAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("api")
		aged := func(uid types.UID, age time.Duration) api.Change {
			p := newPod(uid)
			p.CreationTimestamp = metav1.NewTime(time.Now().Add(-age))
			return added(p)
		}
		w.run(t, func() {
			w.send(aged("young", time.Minute), aged("old", time.Hour), added(newPod("static-b")), added(newPod("static-a")))
			w.expect(t, "create static-b", "create static-a", "create old", "create young")
		})
	})
}

func TestEventsOfTheRuntime(t *testing.T) {
	t.Parallel()
	for event, want := range map[pleg.EventType][]string{
		pleg.ContainerStarted: {"sync 1"},
		pleg.ContainerDied:    {"sync 1"},
		pleg.PodSync:          {"sync 1"},
		pleg.ContainerRemoved: nil,
	} {
		t.Run(string(event), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				w.run(t, func() {
					w.send(added(newPod("1")))
					w.expect(t, "create 1")
					w.events <- pleg.Event{UID: "1", Type: event}
					w.expect(t, want...)
					w.events <- pleg.Event{UID: "unknown", Type: event}
					w.expect(t)
				})
			})
		})
	}
}

func TestPodsThatAreDueAreSyncedInTheirNewestVersion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.run(t, func() {
			p := newPod("1")
			w.send(added(p), added(newPod("2")))
			w.send(api.Change{Op: api.Reconcile, Old: p, New: p.DeepCopy(), Origin: api.Origin{Document: "newest"}})
			w.expect(t, "create 1", "create 2")
			w.set(func() { w.due = []types.UID{"1", "gone"} })
			time.Sleep(syncPeriod)
			w.expect(t, "sync 1 from newest")
		})
	})
}
