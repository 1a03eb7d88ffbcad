package syncloop

import (
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pleg"
	"github.com/wardlet/wardlet/core/worker"
)

// comesBack calls f with a world in which the pod 1 was added again while its former life was
// terminating. The pod 2 was added before that, and there is no room for the new pod 1.
func comesBack(t *testing.T, p *v1.Pod, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.run(t, func() {
			w.send(added(p))
			w.send(removed(p))
			w.send(added(newStatic("2")))
			w.send(added(p))
			w.expect(t, "create 1", "kill 1", "create 2", "return 1")
			w.set(func() { w.refusals["1"], w.judged = portTaken, nil })
			f(w)
		})
	})
}

func TestAPodThatComesBackUnderItsUIDIsJudgedWhenTheFormerOneHasLeft(t *testing.T) {
	t.Parallel()
	comesBack(t, newStatic("1"), func(w *world) {
		w.set(func() { w.workers["1"] = worker.Terminated })
		untilHousekeeping()
		w.expectJudged(t)
		w.expectStatus(t, "1", "")
		w.set(func() { w.workers["1"] = worker.Finished })
		untilHousekeeping()
		w.expectJudged(t, "pod-1 beside [pod-2]")
		w.expect(t)
		w.expectStatus(t, "1", waitsForPort)
		w.expectEvents(t, "Warning pod-1 NodePorts: port 80 is taken")
		w.set(func() { clear(w.refusals); w.workers["2"] = worker.Terminated })
		untilRetry()
		w.expectJudged(t, "pod-1 beside []")
		w.expect(t, "create 1")
	})
}

func TestAPodOfAnAPIServerThatComesBackAndDoesNotFitHasFailed(t *testing.T) {
	t.Parallel()
	comesBack(t, newPod("1"), func(w *world) {
		w.set(func() { w.workers["1"] = worker.Finished })
		untilHousekeeping()
		w.expect(t)
		w.expectStatus(t, "1", "Failed NodePorts: Pod was rejected: port 80 is taken")
	})
}

func TestAPodThatComesBackHasNoRoomUntilItIsJudged(t *testing.T) {
	t.Parallel()
	comesBack(t, newStatic("1"), func(w *world) {
		w.send(added(newStatic("3")))
		w.expectJudged(t, "pod-3 beside [pod-2 pod-1!]")
		w.set(func() { w.workers["1"] = worker.Terminated })
		w.send(added(newStatic("4")))
		w.expectJudged(t, "pod-4 beside [pod-2 pod-3]")
	})
}

func TestPodsThatWaitComeBeforeThoseThatComeBackOldestFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		take := func(changes ...api.Change) { w.loop.handleUpdate(&api.Update{Changes: changes}) }
		young, old := added(newStatic("1")), added(newStatic("3"))
		young.Origin.FirstSeen, old.Origin.FirstSeen = time.Now(), time.Now().Add(-time.Hour)
		w.refusals["0"] = portTaken
		take(young, old, added(newStatic("2")), added(newStatic("0")))
		w.ending = []*v1.Pod{young.New, old.New}
		take(removed(young.New), removed(old.New))
		take(young, old)
		w.ending = nil
		w.judged, w.workers["1"], w.workers["3"] = nil, worker.Finished, worker.Finished
		clear(w.refusals)
		w.loop.housekeep(t.Context())
		w.expectJudged(t, "pod-0 beside [pod-2]", "pod-3 beside [pod-0 pod-2]", "pod-1 beside [pod-0 pod-2 pod-3]")
		take(added(newStatic("4")))
		w.expectJudged(t, "pod-4 beside [pod-0 pod-1 pod-2 pod-3]")
	})
}

func TestAPodThatComesBackUsesTheNodeAsWhatIsBeingEnded(t *testing.T) {
	t.Parallel()
	comesBack(t, newStatic("1"), func(w *world) {
		w.send(removed(newStatic("1")))
		w.set(func() { w.ending = []*v1.Pod{newStatic("1")} })
		w.send(added(newStatic("1")), added(newPod("9")))
		w.expectJudged(t, "pod-9 beside [pod-2 pod-1!]")
	})
}

func TestNothingStartsAPodThatComesBackButItsVerdict(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		happens func(w *world)
		want    []string
	}{
		"not the runtime":         {func(w *world) { w.events <- pleg.Event{UID: "1", Type: pleg.ContainerDied} }, nil},
		"not its time":            {func(w *world) { w.set(func() { w.due = []types.UID{"1"} }); untilRetry() }, nil},
		"not a newer version":     {func(w *world) { w.send(api.Change{Op: api.UpdateOp, New: newStatic("1")}) }, nil},
		"its end is its worker's": {func(w *world) { w.send(removed(newStatic("1"))) }, []string{"kill 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			comesBack(t, newStatic("1"), func(w *world) {
				w.set(func() { delete(w.workers, "1") })
				tc.happens(w)
				w.expect(t, tc.want...)
			})
		})
	}
}

const cleansUp = "Pending CleaningUp: Pod starts when what is left of the pod that had its UID before is removed"

func TestAPodThatComesBackStartsWhenNothingIsLeftOfItsFormerLife(t *testing.T) {
	t.Parallel()
	directory := func(w *world, left bool) { w.begun["1"] = left }
	runtime := func(w *world, left bool) { w.remains["1"] = left }
	for name, tc := range map[string]struct {
		left func(w *world, left bool)
		// gone is true if the former life of the pod has no worker any more when the pod comes
		// back.
		gone bool
	}{
		"in the runtime, with a worker":            {runtime, false},
		"in the runtime, without one":              {runtime, true},
		"of its directory and logs, with a worker": {directory, false},
		"of its directory and logs, without one":   {directory, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				p := newStatic("1")
				p.Spec.RestartPolicy = v1.RestartPolicyNever
				w.content["1"] = true
				w.run(t, func() {
					w.send(added(p))
					w.set(func() { tc.left(w, true) })
					w.send(removed(p))
					w.expect(t, "create 1", "kill 1")
					if tc.gone {
						w.set(func() { delete(w.workers, "1") })
						w.send(added(p))
					} else {
						w.send(added(p))
						w.expect(t, "return 1")
						w.set(func() { w.workers["1"] = worker.Finished })
					}
					untilHousekeeping()
					w.expect(t)
					w.expectStatus(t, "1", cleansUp)
					if !w.loop.Removable("1", "file") {
						t.Error("what is left of the former life may not go")
					}
					time.Sleep(time.Hour)
					w.expect(t)
					w.expectStatus(t, "1", cleansUp)
					w.set(func() { tc.left(w, false) })
					untilRetry()
					w.expect(t, "create 1")
					w.expectStatus(t, "1", "Pending : ")
					if w.loop.Removable("1", "file") {
						t.Error("what the new life has may go")
					}
				})
			})
		})
	}
}

func TestAPodThatAlwaysStartsDoesNotWaitForEverForItsFormerLifeToBeRemoved(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		policy    v1.RestartPolicy
		container *v1.ContainerRestartPolicy
		want      []string
	}{
		"one that always does":                   {v1.RestartPolicyAlways, nil, []string{"create 1"}},
		"not one that may have ended":            {v1.RestartPolicyOnFailure, nil, nil},
		"not one of which a part may not":        {v1.RestartPolicyAlways, new(v1.ContainerRestartPolicyNever), nil},
		"not one that runs once and for all":     {v1.RestartPolicyNever, nil, nil},
		"not one of which a part may only be it": {v1.RestartPolicyNever, new(v1.ContainerRestartPolicyAlways), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				p := newStatic("1")
				p.Spec.RestartPolicy = tc.policy
				p.Spec.Containers = []v1.Container{{Name: "a", RestartPolicy: tc.container}}
				w.remains["1"] = true
				w.run(t, func() {
					w.send(added(p))
					w.send(removed(p))
					w.set(func() { delete(w.workers, "1") })
					w.send(added(p))
					w.expect(t, "create 1", "kill 1")
					time.Sleep(cleanupTimeout - time.Second)
					w.expect(t)
					time.Sleep(3 * time.Second)
					w.expect(t, tc.want...)
				})
			})
		})
	}
}

func TestWhatStillRunsOfAFormerLifeEndsWhenThePodHasComeBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		p := newStatic("1")
		w.run(t, func() {
			w.send(added(p))
			w.send(removed(p))
			w.set(func() {
				delete(w.workers, "1")
				w.remains["1"], w.strays = true, []worker.Orphan{stray("1", "file")} // it was starting
			})
			w.send(added(p))
			w.expect(t, "create 1", "kill 1")
			untilRetry()
			w.expect(t, "kill stray 1")
			w.set(func() { delete(w.workers, "1"); delete(w.remains, "1"); w.strays = nil })
			untilRetry()
			w.expect(t, "create 1")
		})
	})
}

func TestRecreate_newerVersionDoesNotReachTheWorkerOfTheFormerLife(t *testing.T) {
	t.Parallel()
	newer := api.Change{Op: api.UpdateOp, New: newStatic("1")}
	t.Run("which ends", func(t *testing.T) {
		t.Parallel()
		comesBack(t, newStatic("1"), func(w *world) {
			w.send(newer)
			w.expect(t)
		})
	})
	t.Run("which ends without anything known of it but what runs", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld("file")
			w.run(t, func() {
				w.send(added(newStatic("1")))
				w.send(removed(newStatic("1")))
				w.set(func() {
					delete(w.workers, "1")
					w.remains["1"], w.strays = true, []worker.Orphan{stray("1", "file")}
				})
				w.send(added(newStatic("1")))
				untilRetry()
				w.expect(t, "create 1", "kill 1", "kill stray 1")
				w.send(newer)
				w.expect(t)
			})
		})
	})
}

func TestWhatIsLeftOfAPodThatNeverWentIsItsOwn(t *testing.T) {
	t.Parallel()
	for name, op := range map[string]api.Op{"one that is restored": api.Restore, "one whose state was lost": api.Add} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				w.remains["1"], w.begun["1"] = true, true
				w.run(t, func() {
					w.send(change(op, newStatic("1"), nil))
					w.expect(t, "create 1")
				})
			})
		})
	}
}

func TestWhatAnEarlierAgentWasEndingIsNoLifeOfThePodThatHasComeBack(t *testing.T) {
	t.Parallel()
	for name, op := range map[string]api.Op{"since the start": api.Add, "before it": api.Restore} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				w.remains["1"], w.begun["1"], w.endedBefore = true, true, map[types.UID]bool{"1": true}
				w.strays = []worker.Orphan{stray("1", "file")}
				w.run(t, func() {
					w.send(change(op, newStatic("1"), nil))
					untilRetry()
					w.expect(t, "kill stray 1")
					w.set(func() { delete(w.workers, "1"); w.strays = nil })
					untilHousekeeping()
					w.expectStatus(t, "1", cleansUp)
					w.set(func() { delete(w.remains, "1"); delete(w.begun, "1") })
					untilRetry()
					w.expect(t, "create 1")
				})
			})
		})
	}
}

func TestAPodThatIsGoneWithAllItLeftIsForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.remains["1"] = true
		w.run(t, func() {
			w.send(added(newStatic("1")))
			w.send(removed(newStatic("1")))
			w.set(func() { delete(w.workers, "1") })
			untilHousekeeping()
			if len(w.loop.terminating) != 1 {
				t.Error("a pod of which something is left is forgotten")
			}
			w.set(func() { delete(w.remains, "1") })
			untilHousekeeping()
			if len(w.loop.terminating) != 0 {
				t.Errorf("still known: %v", w.loop.terminating)
			}
		})
	})
}

func TestWhatAnEarlierLifeLeftOfAPodThatWaitsMayGo(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pod     *v1.Pod
		verdict *api.Verdict
		then    func(w *world)
		want    bool
	}{
		"while it waits":                     {newStatic("1"), nil, func(*world) {}, true},
		"not once it has started":            {newStatic("1"), nil, func(w *world) { clear(w.refusals); w.workers["2"] = worker.Terminated }, false},
		"not while something of it runs":     {newStatic("1"), nil, func(w *world) { w.content["1"] = false }, false},
		"not while an earlier worker has it": {newStatic("1"), nil, func(w *world) { w.workers["1"] = worker.Terminated }, false},
		"not of one that policy refuses":     {newStatic("1"), verdict(api.Deny, "no"), func(*world) {}, false},
		"not of one that has failed":         {newPod("1"), nil, func(*world) {}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				w.refusals["1"], w.content["1"] = portTaken, true
				w.run(t, func() {
					w.send(added(newStatic("2")), change(api.Add, tc.pod, tc.verdict))
					w.set(func() { tc.then(w) })
					untilRetry()
					if got := w.loop.Removable("1", "file"); got != tc.want {
						t.Errorf("may go: %v", got)
					}
				})
			})
		})
	}
}
