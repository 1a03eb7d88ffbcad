package syncloop

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/worker"
)

const waitsForPort = "Pending NodePorts: Pod was rejected for now: port 80 is taken"

// untilRetry waits until the loop has judged the waiting pods again.
func untilRetry() {
	time.Sleep(syncPeriod)
	synctest.Wait()
}

func TestAStaticPodThatDoesNotFitWaitsAndStartsWhenItDoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.run(t, func() {
			first, second := newStatic("1"), newStatic("2")
			w.send(added(first))
			w.expect(t, "create 1")
			w.refusals["2"] = portTaken
			w.send(added(second))
			w.expect(t)
			w.expectStatus(t, "2", waitsForPort)
			w.expectEvents(t, "Warning pod-2 NodePorts: port 80 is taken")
			w.expectJudged(t, "pod-1 beside []", "pod-2 beside [pod-1]")
			if w.outcomes["2"] != "" {
				t.Error("it has ended")
			}

			untilHousekeeping()
			w.expectJudged(t) // no pod has left
			w.set(func() { w.ending = []*v1.Pod{first} })
			w.send(removed(first))
			w.expect(t, "kill 1")
			untilRetry()
			w.expect(t)
			w.expectJudged(t) // the pod is terminating and still has the port

			w.set(func() { w.workers["1"] = worker.Terminated; delete(w.refusals, "2") })
			untilRetry()
			w.expect(t, "create 2")
			w.expectStatus(t, "2", "Pending : ")
			w.expectEvents(t)
			w.expectJudged(t, "pod-2 beside []")
			untilHousekeeping()
			w.expect(t)
			w.expectJudged(t)
		})
	})
}

func TestAPodOfAnAPIServerThatDoesNotFitHasFailedForGood(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("api")
		first, second := newPod("1"), newPod("2")
		second.Annotations = map[string]string{pod.AnnotationSource: pod.SourceAPI}
		w.refusals["2"] = portTaken
		w.run(t, func() {
			w.send(added(first), added(second))
			w.expect(t, "create 1")
			w.expectStatus(t, "2", "Failed NodePorts: Pod was rejected: port 80 is taken")
			w.set(func() { w.workers["1"] = worker.Terminated; delete(w.refusals, "2") })
			untilRetry()
			w.expect(t)
			if w.outcomes["2"] != v1.PodFailed {
				t.Error("the next agent does not know that it has failed")
			}
			w.send(removed(second))
			w.expect(t)
			if w.outcomes["2"] != "" {
				t.Error("that it has failed is kept when it is gone")
			}
		})
	})
}

func TestWhatMakesAPodThatWaitsBeJudgedAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(w *world)
		again  bool
	}{
		"nothing":                              {func(*world) {}, false},
		"one that ended by itself":             {func(w *world) { w.set(func() { w.statuses["1"] = v1.PodStatus{Phase: v1.PodSucceeded} }) }, true},
		"one whose containers were stopped":    {func(w *world) { w.set(func() { w.workers["1"] = worker.Terminated }) }, true},
		"not one that is only being ended":     {func(w *world) { w.set(func() { w.workers["1"] = worker.Terminating }) }, false},
		"one that has become another version":  {func(w *world) { w.send(api.Change{Op: api.UpdateOp, New: newStatic("1")}) }, true},
		"not one that comes":                   {func(w *world) { w.send(added(newStatic("3"))); w.set(func() { w.judged = nil }) }, false},
		"something else by which it is judged": {func(w *world) { w.loop.JudgeAgain() }, true},
		"its own new version":                  {func(w *world) { w.send(api.Change{Op: api.UpdateOp, New: newStatic("2")}) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				w.refusals["2"] = portTaken
				w.run(t, func() {
					w.send(added(newStatic("1")), added(newStatic("2")))
					w.expectEvents(t, "Warning pod-2 NodePorts: port 80 is taken")
					w.set(func() { w.judged = nil })
					tc.change(w)
					for range 3 {
						untilRetry()
					}
					w.set(func() {
						if (len(w.judged) == 1) != tc.again || len(w.judged) > 1 {
							t.Errorf("judged %q", w.judged)
						}
					})
					w.expectEvents(t) // no event, because the reason is the same
					w.expectStatus(t, "2", waitsForPort)
				})
			})
		})
	}
}

func TestAnotherReasonToWaitIsNews(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.refusals["2"] = portTaken
		w.run(t, func() {
			w.send(added(newStatic("1")), added(newStatic("2")))
			w.set(func() {
				w.refusals["2"] = admission.Result{Reason: "OutOfcpu", Message: "no cpu"}
				w.workers["1"] = worker.Terminated
			})
			untilRetry()
			w.expectEvents(t, "Warning pod-2 NodePorts: port 80 is taken", "Warning pod-2 OutOfcpu: no cpu")
			w.expectStatus(t, "2", "Pending OutOfcpu: Pod was rejected for now: no cpu")
			w.set(func() {
				if len(w.counted) != 2 || w.counted[0] != "NodePorts" || w.counted[1] != "OutOfcpu" {
					t.Errorf("counted %q", w.counted)
				}
			})
		})
	})
}

func TestPodsThatWaitStartOldestFirstAndBeforeNewOnes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		seen := func(p *v1.Pod, ago time.Duration) api.Change {
			c := added(p)
			c.Origin.FirstSeen = time.Now().Add(-ago)
			return c
		}
		w.refusals["2"], w.refusals["3"] = portTaken, portTaken
		w.run(t, func() {
			w.send(added(newStatic("1")))
			w.send(seen(newStatic("2"), time.Minute))
			w.send(seen(newStatic("3"), time.Hour))
			w.set(func() { clear(w.refusals); w.workers["1"] = worker.Terminated; w.judged = nil })
			w.send(seen(newStatic("4"), 0))
			w.expect(t, "create 1", "create 3", "create 2", "create 4")
			w.expectJudged(t, "pod-3 beside []", "pod-2 beside [pod-3]", "pod-4 beside [pod-2 pod-3]")
		})
	})
}

func TestNewPodsComeInTheOrderInWhichTheyWereSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		young, old := added(newStatic("1")), added(newStatic("2"))
		young.Origin.FirstSeen, old.Origin.FirstSeen = time.Now(), time.Now().Add(-time.Hour)
		w.run(t, func() {
			w.send(young, old)
			w.expect(t, "create 2", "create 1")
		})
	})
}

func TestAPodThatWaitsCanGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.refusals["2"] = portTaken
		p := newStatic("2")
		w.run(t, func() {
			w.send(added(newStatic("1")), added(p))
			w.expect(t, "create 1")
			w.send(removed(p))
			w.expect(t)
			w.expectStatus(t, "2", "")
			w.set(func() { clear(w.refusals); w.workers["1"] = worker.Terminated })
			untilRetry()
			w.expect(t)
			w.send(added(p))
			w.expect(t, "create 2")
		})
	})
}

func TestWhatPolicyRefusesOfAPodThatWaitsDoesNotReachIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.refusals["2"] = portTaken
		p := newStatic("2")
		w.run(t, func() {
			w.send(added(newStatic("1")), change(api.Add, p, verdict(api.Allow, "")))
			w.send(change(api.UpdateOp, newStatic("2"), verdict(api.Deny, "no")))
			w.expectStatus(t, "2", waitsForPort)
			if m, _ := w.loop.pods.get("2"); m.pod != p {
				t.Error("the refused version is in the set")
			}
		})
	})
}

func TestAnEventOfTheRuntimeStartsNoRejectedPod(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.refusals["1"] = portTaken
		w.run(t, func() {
			w.send(added(newStatic("1")))
			w.set(func() { w.due = append(w.due, "1") })
			untilRetry()
			w.expect(t)
		})
	})
}

func TestWhomAPodIsJudgedBeside(t *testing.T) {
	t.Parallel()
	ending := func(p *v1.Pod) func(w *world) {
		return func(w *world) { w.ending, w.workers[p.UID] = []*v1.Pod{p}, worker.Terminating }
	}
	sameName := newStatic("1")
	sameName.Name = "pod-9"
	for name, tc := range map[string]struct {
		before func(w *world)
		pod    api.Change
		want   string
	}{
		"a pod that was removed, until it has ended": {ending(newStatic("1")), added(newStatic("9")), "pod-9 beside [pod-1!]"},
		"not one that it replaces": {
			ending(newStatic("1")), api.Change{Op: api.Add, New: newStatic("9"), Replaces: "1"}, "pod-9 beside []",
		},
		"not one of its full name, which it follows": {ending(sameName), added(newStatic("9")), "pod-9 beside []"},
		"not one that was removed, where a rejection would be for good": {
			ending(newStatic("1")), added(newPod("9")), "pod-9 beside []",
		},
		"not one that has ended": {
			func(w *world) { w.ending, w.workers["1"] = []*v1.Pod{newStatic("1")}, worker.Terminated }, added(newStatic("9")), "pod-9 beside []",
		},
		"one that runs from before and has yet to come": {
			func(w *world) {
				w.strays, w.held = []worker.Orphan{stray("1", "file"), stray("2", "file")}, []*v1.Pod{newStatic("1"), newStatic("3")}
			}, added(newStatic("9")), "pod-9 beside [pod-1]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				tc.before(w)
				w.run(t, func() {
					w.send(tc.pod)
					w.expectJudged(t, tc.want)
				})
			})
		})
	}
}

func TestAReplacementThatHadToWaitStillStartsAfterTheOldOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.refusals["2"] = portTaken
		w.run(t, func() {
			w.send(added(newStatic("1")), api.Change{Op: api.Add, New: newStatic("2"), Replaces: "0"})
			w.set(func() { clear(w.refusals); w.workers["1"] = worker.Terminated })
			untilRetry()
			w.expect(t, "create 1", "create 2 after 0")
		})
	})
}

func TestANewVersionOfAPodThatWaitsIsJudgedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.refusals["2"], w.refusals["3"] = portTaken, portTaken
		w.run(t, func() {
			w.send(added(newStatic("1")), added(newStatic("2")), added(newStatic("3")))
			w.set(func() { w.judged = nil; clear(w.refusals) })
			w.send(api.Change{Op: api.UpdateOp, New: newStatic("2")}, api.Change{Op: api.UpdateOp, New: newStatic("3")})
			w.expectJudged(t, "pod-2 beside [pod-1]", "pod-3 beside [pod-1 pod-2]") // each is judged once
		})
	})
}

// crowded returns a world with room for 20 pods, and the changes that add this many static
// pods.
func crowded(pods int) (*world, []api.Change) {
	w := newWorld("file")
	n := &v1.Node{}
	n.Status.Allocatable = v1.ResourceList{"pods": resource.MustParse("20"), "cpu": resource.MustParse("8"), "memory": resource.MustParse("16Gi")}
	w.loop.cfg.Admitter = admission.Chain{admission.StoredVerdict{}, admission.Fit{Node: func() *v1.Node { return n }}}
	var changes []api.Change
	for i := range pods {
		changes = append(changes, added(crowding(i)))
	}
	return w, changes
}

func crowding(i int) *v1.Pod {
	p := newStatic(types.UID(fmt.Sprintf("p%04d", i)))
	p.Spec.Containers = []v1.Container{{Name: "c"}}
	p.Spec.Containers[0].Resources.Requests = v1.ResourceList{"cpu": resource.MustParse("10m"), "memory": resource.MustParse("10Mi")}
	return p
}

// BenchmarkPodsThatWait adds 2000 pods where 20 fit, and then edits pods. After an edit of a
// running pod, all waiting pods are judged again.
func BenchmarkPodsThatWait(b *testing.B) {
	const pods = 2000
	b.Run("taken in", func(b *testing.B) {
		for b.Loop() {
			w, changes := crowded(pods)
			w.loop.handleUpdate(&api.Update{Changes: changes})
		}
	})
	b.Run("one is edited", func(b *testing.B) {
		w, changes := crowded(pods)
		w.loop.handleUpdate(&api.Update{Changes: changes})
		for b.Loop() {
			w.loop.handleUpdate(&api.Update{Changes: []api.Change{{Op: api.UpdateOp, Old: crowding(0), New: crowding(0)}}})
			w.loop.retry()
		}
		if waiting := len(w.loop.waiting); waiting != pods-20 {
			b.Fatalf("%d pods wait", waiting)
		}
	})
	b.Run("a hundred that wait are edited", func(b *testing.B) {
		w, changes := crowded(pods)
		w.loop.handleUpdate(&api.Update{Changes: changes})
		for b.Loop() {
			var edits []api.Change
			for i := 20; i < 120; i++ {
				edits = append(edits, api.Change{Op: api.UpdateOp, Old: crowding(i), New: crowding(i)})
			}
			w.loop.handleUpdate(&api.Update{Changes: edits})
		}
	})
}

// The shutdown that a pod was rejected for may be cancelled, and nothing leaves the node then.
func TestRetry_afterACancelledShutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.run(t, func() {
			w.refusals["1"] = admission.NodeShutdown(func() bool { return true }).Admit(nil)
			w.send(added(newStatic("1")))
			w.expect(t)
			w.expectStatus(t, "1", "Pending NodeShutdown: Pod was rejected for now: Pod was rejected as the node is shutting down.")
			untilRetry()
			w.expect(t)
			w.expectEvents(t, "Warning pod-1 NodeShutdown: Pod was rejected as the node is shutting down.")
			w.set(func() { delete(w.refusals, "1") })
			untilRetry()
			w.expect(t, "create 1")
		})
	})
}
