package syncloop

import (
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/worker"
)

const (
	pushedOut    = "Pending Preempting: Pod was rejected for now: Preempted in order to admit critical pod"
	pushedOutAPI = "Failed Preempting: Pod was rejected: Preempted in order to admit critical pod"
)

func TestAVictimOfWhichNothingHasBegunIsRejectedAndNotEnded(t *testing.T) {
	t.Parallel()
	together := func(op api.Op) func(w *world, victim *v1.Pod) {
		return func(w *world, victim *v1.Pod) {
			w.send(change(op, victim, nil), change(op, newStatic("2"), nil))
		}
	}
	oneAfterTheOther := func(w *world, victim *v1.Pod) {
		w.send(added(victim))
		w.send(added(newStatic("2")))
	}
	for name, tc := range map[string]struct {
		victim *v1.Pod
		before func(w *world)
		send   func(w *world, victim *v1.Pod)
		want   []string
		status string
	}{
		"where both come at once": {newStatic("1"), func(*world) {}, together(api.Add), []string{"create 2"}, pushedOut},
		"and a pod of an API server has failed for good": {
			newPod("1"), func(*world) {}, together(api.Add), []string{"create 2"}, pushedOutAPI,
		},
		"where its worker has not begun": {
			newStatic("1"), func(w *world) { w.unbegun = map[types.UID]bool{"1": true} }, oneAfterTheOther,
			[]string{"create 1", "withdraw 1", "create 2"},
			pushedOut,
		},
		"but where its worker has begun, it ends": {
			newStatic("1"), func(*world) {}, oneAfterTheOther, []string{"create 1", "kill 1"}, "",
		},
		"and where something of it is on the node, though its worker has not begun": {
			newStatic("1"), func(w *world) { w.unbegun, w.begun["1"] = map[types.UID]bool{"1": true}, true }, oneAfterTheOther,
			[]string{"create 1", "kill 1"},
			"",
		},
		"and where an earlier agent had begun with it": {
			newStatic("1"), func(w *world) { w.begun["1"] = true }, together(api.Restore), []string{"create 1", "kill 1"}, "",
		},
		"and where it runs from before": {
			newStatic("1"), func(w *world) { w.strays = []worker.Stray{stray("1", "file")} }, together(api.Restore), []string{"create 1", "kill 1"}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				w.rooms["2"] = &admission.Preemption{Victims: []*v1.Pod{tc.victim}}
				tc.before(w)
				w.run(t, func() {
					tc.send(w, tc.victim)
					w.expect(t, tc.want...)
					w.expectStatus(t, "1", tc.status)
					w.expectEvents(t, "Warning pod-1 Preempting: Preempted in order to admit critical pod")
					if kept := w.outcomes["1"]; (kept == v1.PodFailed) != (tc.status == pushedOutAPI) {
						t.Errorf("kept for the next agent: %q", kept)
					}
					untilHousekeeping()
					w.expect(t)
				})
			})
		})
	}
}

func TestAVictimThatWaitsAgainStartsWhenThereIsRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		victim := newStatic("1")
		w.rooms["2"] = &admission.Preemption{Victims: []*v1.Pod{victim}}
		w.run(t, func() {
			w.send(added(victim), added(newStatic("2")))
			w.expect(t, "create 2")
			untilRetry()
			w.expect(t)
			w.set(func() { w.workers["2"] = worker.Terminated; w.judged = nil })
			untilRetry()
			w.expectJudged(t, "pod-1 beside []")
			w.expect(t, "create 1")
		})
	})
}

func TestAVictimThatRunsAndHasYetToComeDoesNotStartAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		victim := newStatic("1")
		w.strays, w.held, w.wanted["1"] = []worker.Stray{stray("1", "file")}, []*v1.Pod{victim, newStatic("0")}, true
		w.documents = map[types.UID]string{"1": "web.yaml#0"}
		w.rooms["2"] = &admission.Preemption{Victims: []*v1.Pod{victim}}
		w.run(t, func() {
			w.send(added(newStatic("2")))
			w.expect(t, "kill 1 from web.yaml#0")
			untilHousekeeping()
			w.send(added(victim))
			w.expect(t) // its worker ends it
			w.set(func() {
				w.workers["1"] = worker.Finished
				w.statuses["1"] = v1.PodStatus{Phase: v1.PodFailed, Reason: "Preempting"}
			})
			untilHousekeeping()
			w.expect(t, "create 2")
			w.expectStatus(t, "1", "Failed Preempting: ")

			w.send(removed(victim))
			w.expect(t, "kill 1")
			w.send(added(victim))
			w.expect(t, "return 1") // when what is being ended has left
		})
	})
}

func TestAPodThatGaveWayBeforeItCameIsJudgedWhereItsWorkerHasGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		victim := newStatic("1")
		w.strays, w.held = []worker.Stray{stray("1", "file")}, []*v1.Pod{victim}
		w.rooms["2"] = &admission.Preemption{Victims: []*v1.Pod{victim}}
		w.run(t, func() {
			w.send(added(newStatic("2")))
			w.expect(t, "kill 1")
			w.set(func() { delete(w.workers, "1"); w.strays, w.judged = nil, nil })
			w.send(added(victim))
			w.expectJudged(t, "pod-1 beside [pod-2]")
		})
	})
}

func TestThatAPodGaveWayBeforeItCameIsForgottenWithIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		victim := newStatic("1")
		w.strays, w.held, w.wanted["1"] = []worker.Stray{stray("1", "file")}, []*v1.Pod{victim}, true
		w.rooms["2"] = &admission.Preemption{Victims: []*v1.Pod{victim}}
		w.run(t, func() {
			w.send(added(newStatic("2")))
			w.expect(t, "kill 1")
			w.set(func() { delete(w.wanted, "1"); w.strays = nil })
			untilHousekeeping()
			w.send(added(victim))
			w.expect(t, "return 1") // when what is being ended has left
		})
	})
}
