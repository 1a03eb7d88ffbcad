package syncloop

import (
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pleg"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/worker"
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
			// In a replacement, both pods have the same name and must not affect each other.
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

const editIgnored = " has changed, but the pod has ended: to run it again, take its manifest away and put it back, or give it another UID"

func (w *world) expectIgnoredEdit(t *testing.T, uid types.UID, want string) {
	t.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if got := w.ignoredEdits[uid]; got != want {
		t.Errorf("of %s an edit is shown as %q, want %q", uid, got, want)
	}
}

func TestUpdate_editOfAnEndedPodIsShown(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		phase v1.PodPhase
		edit  func(s *v1.PodSpec)
		// path is the field that is shown, empty for none.
		path string
	}{
		"args":                   {v1.PodSucceeded, func(s *v1.PodSpec) { s.Containers[0].Args = []string{"two"} }, "spec.containers[0].args"},
		"a volume of a failed":   {v1.PodFailed, func(s *v1.PodSpec) { s.Volumes = []v1.Volume{{Name: "v"}} }, "spec.volumes"},
		"the image":              {v1.PodSucceeded, func(s *v1.PodSpec) { s.Containers[0].Image = "web:2" }, "spec.containers[0].image"},
		"the restart policy":     {v1.PodFailed, func(s *v1.PodSpec) { s.RestartPolicy = v1.RestartPolicyAlways }, "spec.restartPolicy"},
		"a label":                {v1.PodSucceeded, unedited, ""},
		"args of one that runs":  {v1.PodRunning, func(s *v1.PodSpec) { s.Containers[0].Args = []string{"two"} }, ""},
		"image of one that runs": {v1.PodRunning, func(s *v1.PodSpec) { s.Containers[0].Image = "web:2" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				w.run(t, func() {
					before, after := version("one", unedited), version("two", tc.edit)
					w.send(added(before))
					w.set(func() { w.statuses["1"] = v1.PodStatus{Phase: tc.phase} })
					w.send(edits(before, after))
					if tc.path == "" {
						w.expectIgnoredEdit(t, "1", "")
						return
					}
					w.expectIgnoredEdit(t, "1", tc.path+editIgnored)
					w.expectEvents(t, "Warning pod-1 HasEnded: "+tc.path+editIgnored)
					w.expect(t, "create 1", "update 1")
					w.send(edits(after, version("three", unedited)))
					w.expectIgnoredEdit(t, "1", "")
				})
			})
		})
	}
}

func TestRemove_ofAnEndedPodForgetsItsEdit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.run(t, func() {
			before := version("one", unedited)
			after := version("two", func(s *v1.PodSpec) { s.Containers[0].Args = []string{"two"} })
			w.send(added(before))
			w.set(func() { w.statuses["1"] = v1.PodStatus{Phase: v1.PodSucceeded} })
			w.send(edits(before, after))
			w.send(api.Change{Op: api.Remove, Old: after})
			w.expectIgnoredEdit(t, "1", "")
		})
	})
}

func TestRestore_showsThatAnEndedPodWasEdited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.remade = map[types.UID]bool{"1": true}
		w.remains["1"], w.begun["1"] = true, true
		w.strays = []worker.Orphan{{UID: "1", Name: "pod-1"}}
		w.outcomes["1"] = v1.PodSucceeded
		w.run(t, func() {
			w.send(api.Change{Op: api.Restore, New: version("two", unedited), Restored: true})
			w.expect(t, "create 1")
			w.expectIgnoredEdit(t, "1", "the document"+editIgnored)
		})
	})
}

// edited returns a newer version of a pod.
func edited(p *v1.Pod) *v1.Pod {
	p = p.DeepCopy()
	p.Labels = map[string]string{"edited": "yes"}
	return p
}

func TestAPodThatBecomesAnotherWhileOthersLeaveForItIsJudgedAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		now    func(w *world)
		status string
		starts bool
	}{
		"and waits for the same":                    {func(*world) {}, makingRoom, true},
		"and starts at once where it needs no room": {func(w *world) { delete(w.rooms, "2") }, "Pending : ", true},
		"and waits for more":                        {func(w *world) { w.refusals["2"] = portTaken }, "Pending NodePorts: Pod was rejected for now: port 80 is taken", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			preempting(t, func(w *world, victim, critical *v1.Pod) {
				w.set(func() { w.ending = []*v1.Pod{victim}; tc.now(w) })
				w.send(api.Change{Op: api.UpdateOp, Old: critical, New: edited(critical)})
				w.expectStatus(t, "2", tc.status)
				w.set(func() {
					for _, request := range w.requests {
						if request == "kill 1" {
							t.Error("the victim is ended twice")
						}
					}
				})
				w.set(func() { w.workers["1"] = worker.Terminated; w.ending = nil })
				untilRetry()
				w.set(func() {
					if got := len(w.requests) > 0; got != tc.starts {
						t.Errorf("requests: %v", w.requests)
					}
					w.requests = nil
				})
			})
		})
	}
}
