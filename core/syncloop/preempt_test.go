package syncloop

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/worker"
)

const makingRoom = "Pending MakingRoom: Pod starts when these have ended: default/pod-1"

// preempting calls f with a world in which the pod 2 preempts the running pod 1.
func preempting(t *testing.T, f func(w *world, victim, critical *v1.Pod)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		victim, critical := newStatic("1"), newStatic("2")
		victim.Spec.TerminationGracePeriodSeconds = new(int64(60))
		w.rooms["2"] = &admission.Preemption{Victims: []*v1.Pod{victim}}
		w.run(t, func() {
			w.send(added(victim))
			w.expect(t, "create 1")
			w.send(added(critical))
			w.expect(t, "kill 1")
			w.expectEvents(t, "Warning pod-1 Preempting: Preempted in order to admit critical pod")
			w.expectStatus(t, "2", makingRoom)
			f(w, victim, critical)
		})
	})
}

func TestACriticalPodStartsWhenItsVictimsHaveEnded(t *testing.T) {
	t.Parallel()
	preempting(t, func(w *world, victim, _ *v1.Pod) {
		for range 3 {
			untilHousekeeping()
			w.send(api.Change{Op: api.UpdateOp, New: newStatic("2")})
		}
		w.expect(t) // the victim still runs
		w.set(func() { w.judged = nil })
		w.send(added(newStatic("3")))
		w.expectJudged(t, "pod-3 beside [pod-2 pod-1!]")
		w.expect(t, "create 3")
		w.set(func() { w.workers[victim.UID] = worker.Terminated })
		untilRetry()
		w.expect(t, "create 2")
		w.expectStatus(t, "2", "Pending : ")
		untilHousekeeping()
		w.expect(t)
	})
}

func TestAVictimEndsWithItsOwnGraceAndSaysWhy(t *testing.T) {
	t.Parallel()
	preempting(t, func(w *world, victim, _ *v1.Pod) {
		kill := w.kills[victim.UID]
		if kill == nil || !kill.Evict || kill.Grace != nil {
			t.Fatalf("it is killed with %+v", kill)
		}
		st := v1.PodStatus{Phase: v1.PodRunning, Conditions: []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue}}}
		kill.Status(&st)
		first := st.DeepCopy()
		time.Sleep(time.Minute)
		kill.Status(&st)
		if diff := cmp.Diff(first, &st); diff != "" {
			t.Errorf("the second time it says something else (-first +second):\n%s", diff)
		}
		if st.Phase != v1.PodFailed || st.Reason != "Preempting" || st.Message != "Preempted in order to admit critical pod" || len(st.Conditions) != 2 {
			t.Errorf("status %+v", st)
		}
		c := st.Conditions[1]
		if c.Type != v1.DisruptionTarget || c.Status != v1.ConditionTrue || c.Reason != "TerminationByKubelet" || c.LastTransitionTime.IsZero() {
			t.Errorf("condition %+v", c)
		}
	})
}

func TestACriticalPodDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	preempting(t, func(w *world, _, _ *v1.Pod) {
		time.Sleep(88 * time.Second) // the victim's grace period is 60 s
		w.expect(t)
		time.Sleep(4 * time.Second)
		w.expect(t, "create 2")
	})
}

func TestACriticalPodThatGoesBeforeItStarts(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *world, p *v1.Pod) []string{
		"leaves nothing": func(w *world, p *v1.Pod) []string {
			w.send(removed(p))
			return nil
		},
		"is the worker's, which starts none, where it is deleted": func(w *world, p *v1.Pod) []string {
			gone := p.DeepCopy()
			gone.DeletionTimestamp = &p.CreationTimestamp
			w.send(api.Change{Op: api.Delete, New: gone})
			return []string{"update 2"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			preempting(t, func(w *world, _, critical *v1.Pod) {
				w.expect(t, end(w, critical)...)
				w.set(func() { w.workers["1"] = worker.Terminated })
				untilRetry()
				w.expect(t)
			})
		})
	}
}

func TestAVictimThatHasNotStartedWaitsAgain(t *testing.T) {
	t.Parallel()
	preempting(t, func(w *world, _, critical *v1.Pod) {
		w.set(func() {
			w.rooms["3"] = &admission.Preemption{Victims: []*v1.Pod{critical}}
			w.refusals["2"] = portTaken
		})
		w.send(added(newStatic("3")))
		w.expect(t, "create 3") // there is no container of the victim to stop
		w.expectStatus(t, "2", "Pending Preempting: Pod was rejected for now: Preempted in order to admit critical pod")
		w.set(func() { w.workers["1"] = worker.Terminated })
		untilRetry()
		w.expect(t) // there is room only for the pod 3
	})
}

func TestAPodAwaitsThoseThatAreBeingEndedAnyway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		leaving := newStatic("1")
		w.ending, w.workers["1"] = []*v1.Pod{leaving}, worker.Terminating
		w.rooms["2"] = &admission.Preemption{Await: []*v1.Pod{leaving}}
		w.run(t, func() {
			w.send(added(newStatic("2")))
			w.expect(t)
			w.expectEvents(t)
			w.expectStatus(t, "2", makingRoom)
			w.set(func() { delete(w.workers, "1"); w.ending = nil })
			untilRetry()
			w.expect(t, "create 2")
		})
	})
}

func TestHowLongACriticalPodWaitsAtMost(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	graceful := func(uid types.UID, seconds int64) *v1.Pod {
		p := newStatic(uid)
		p.Spec.TerminationGracePeriodSeconds = &seconds
		return p
	}
	for name, tc := range map[string]struct {
		victim, awaited *v1.Pod
		began           time.Duration // since when awaited is terminating
		want            time.Duration // 0 for no limit
	}{
		"half as long again as a victim has":             {graceful("1", 60), nil, 0, 90 * time.Second},
		"ten seconds":                                    {graceful("1", 1), nil, 0, 10 * time.Second},
		"as one that is being ended has left":            {nil, graceful("1", 86_400), day - time.Minute, 90 * time.Second},
		"ten seconds where that should have left":        {nil, graceful("1", 86_400), 2 * day, 10 * time.Second},
		"the longest of them":                            {graceful("1", 60), graceful("3", 86_400), day - 2*time.Minute, 3 * time.Minute},
		"for ever, where a victim is never to be killed": {graceful("1", 9_223_372_037), nil, 0, 0},
		"for ever, where one that is being ended is not": {nil, graceful("1", 1<<63-1), time.Hour, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				room := &admission.Preemption{}
				if tc.awaited != nil {
					w.ending, w.workers[tc.awaited.UID] = []*v1.Pod{tc.awaited}, worker.Terminating
					w.since = map[types.UID]time.Time{tc.awaited.UID: time.Now().Add(-tc.began)}
					room.Await = w.ending
				}
				w.rooms["2"] = room
				w.run(t, func() {
					if tc.victim != nil {
						room.Victims = []*v1.Pod{tc.victim}
						w.send(added(tc.victim))
					}
					w.send(added(newStatic("2")))
					w.set(func() { w.requests = nil })
					if tc.want == 0 {
						time.Sleep(time.Hour)
						w.expect(t)
						return
					}
					time.Sleep(tc.want - 100*time.Millisecond)
					w.expect(t)
					time.Sleep(syncPeriod + 200*time.Millisecond)
					w.expect(t, "create 2")
				})
			})
		})
	}
}

func TestWhatEndsSoonestIsJudgedFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.ending = []*v1.Pod{newStatic("1"), newStatic("2"), newStatic("3")}
		w.since = map[types.UID]time.Time{}
		w.run(t, func() {
			w.send(added(w.ending[0]), added(w.ending[2])) // no source wants the pod 2 any more
			w.set(func() {
				for uid, ago := range map[types.UID]time.Duration{"1": time.Second, "2": 20 * time.Second, "3": 10 * time.Second} {
					w.workers[uid], w.since[uid] = worker.Terminating, time.Now().Add(-ago)
				}
				w.judged = nil
			})
			w.send(added(newStatic("9")))
			w.expectJudged(t, "pod-9 beside [pod-2! pod-3! pod-1!]")
		})
	})
}

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
			newStatic("1"), func(w *world) { w.strays = []worker.Orphan{stray("1", "file")} }, together(api.Restore), []string{"create 1", "kill 1"}, "",
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
		w.strays, w.held, w.wanted["1"] = []worker.Orphan{stray("1", "file")}, []*v1.Pod{victim, newStatic("0")}, true
		w.documents = map[types.UID]string{"1": "web.yaml#0"}
		w.rooms["2"] = &admission.Preemption{Victims: []*v1.Pod{victim}}
		w.run(t, func() {
			w.send(added(newStatic("2")))
			w.expect(t, "kill 1 from web.yaml#0")
			untilHousekeeping()
			w.send(added(victim))
			w.expect(t) // the worker of the victim terminates it
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
			w.expect(t, "return 1") // starts after its former life has terminated
		})
	})
}

func TestAPodThatGaveWayBeforeItCameIsJudgedWhereItsWorkerHasGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		victim := newStatic("1")
		w.strays, w.held = []worker.Orphan{stray("1", "file")}, []*v1.Pod{victim}
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
		w.strays, w.held, w.wanted["1"] = []worker.Orphan{stray("1", "file")}, []*v1.Pod{victim}, true
		w.rooms["2"] = &admission.Preemption{Victims: []*v1.Pod{victim}}
		w.run(t, func() {
			w.send(added(newStatic("2")))
			w.expect(t, "kill 1")
			w.set(func() { delete(w.wanted, "1"); w.strays = nil })
			untilHousekeeping()
			w.send(added(victim))
			w.expect(t, "return 1") // starts after its former life has terminated
		})
	})
}
