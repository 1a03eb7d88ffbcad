package syncloop

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/worker"
)

func TestStraysAreEndedOnlyWhenTheirSourceWasHeard(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		source  string
		seen    []string // sources that the mux has seen
		handled []string // sources that the loop has handled
		wanted  bool
		want    []string
	}{
		"its source was heard":                   {"file", []string{"file"}, []string{"file"}, false, []string{"kill stray 1"}},
		"its source was heard and wants it":      {"file", []string{"file"}, []string{"file"}, true, nil},
		"its source was not heard":               {"file", nil, nil, false, nil},
		"only another source was heard":          {"file", []string{"http"}, []string{"http"}, false, nil},
		"another source being silent is no harm": {"http", []string{"http"}, []string{"http"}, false, []string{"kill stray 1"}},
		"the loop has not handled what was seen": {"file", []string{"file"}, nil, false, nil},
		"its source is not configured any more":  {"former", []string{"former"}, nil, false, []string{"kill stray 1"}},
		"nobody knows its source":                {"", []string{"file"}, []string{"file"}, false, nil},
		"nobody knows its source, all were heard": {
			"", []string{"file", "http"}, []string{"file", "http"}, false, []string{"kill stray 1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file", "http")
				for _, s := range tc.seen {
					w.seen[s] = true
				}
				w.wanted["1"] = tc.wanted
				w.strays = []worker.Orphan{stray("1", tc.source)}
				w.content["1"] = true
				w.run(t, func() {
					w.updates <- api.Update{Seen: tc.handled}
					synctest.Wait()
					if got, want := w.loop.Removable("1", tc.source), tc.want != nil; got != want {
						t.Errorf("Removable = %v, want %v", got, want)
					}
					untilHousekeeping()
					w.expect(t, tc.want...)
				})
			})
		})
	}
}

func TestAStrayWhoseUIDWaitsInAnotherSourceIsEnded(t *testing.T) {
	t.Parallel()
	for source, want := range map[string][]string{"http": {"kill stray 1"}, "file": nil} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld("file", "http")
			w.seen["file"], w.seen["http"] = true, true
			w.wanted["1"], w.wanting = true, "file"
			w.strays = []worker.Orphan{stray("1", source)}
			w.content["1"] = true
			w.run(t, func() {
				w.updates <- api.Update{Seen: []string{"file", "http"}}
				untilHousekeeping()
				w.expect(t, want...)
				if w.loop.Removable("1", source) {
					t.Error("what is left of a UID may go while that waits")
				}
			})
		})
	}
}

func TestAPodInTheSetIsNoStray(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.seen["file"] = true
		w.run(t, func() {
			w.updates <- api.Update{Seen: []string{"file"}, Changes: []api.Change{added(newPod("1"))}}
			w.expect(t, "create 1")
			// The mux has already removed the pod, but the loop has not received the REMOVE.
			w.set(func() {
				w.content["1"] = true
				w.strays = []worker.Orphan{stray("1", "file")}
				delete(w.workers, "1")
				w.statuses["1"] = v1.PodStatus{Phase: v1.PodFailed}
			})
			untilHousekeeping()
			w.expect(t)
			if w.loop.Removable("1", "file") {
				t.Error("the content of a pod in the set may go")
			}
		})
	})
}

func TestASnapshotBetweenTheQuestionsProtectsItsPods(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.content["1"] = true
		w.seen["file"] = true
		w.onSeen = func() { w.wanted["1"] = true }
		if w.loop.Removable("1", "file") {
			t.Error("a pod of the snapshot may be removed")
		}
	})
}

func TestStraysAreLookedForAgainBeforeTheyAreEnded(t *testing.T) {
	t.Parallel()
	t.Run("what is gone by then is left alone", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			w.seen["file"] = true
			w.strays = []worker.Orphan{stray("1", "file"), stray("2", "file")}
			w.relisted = make(chan struct{})
			w.run(t, func() {
				untilHousekeeping()
				w.expect(t)
				w.set(func() { w.strays = w.strays[1:] })
				close(w.relisted)
				w.expect(t, "kill stray 2")
			})
		})
	})
	t.Run("a list that fails ends nothing, and is tried again", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			w.seen["file"] = true
			w.strays = []worker.Orphan{stray("1", "file")}
			w.relistErr = errBroken
			w.run(t, func() {
				untilHousekeeping()
				w.expect(t)
				w.set(func() { w.relistErr = nil })
				untilHousekeeping()
				w.expect(t, "kill stray 1")
			})
		})
	})
	t.Run("without strays the runtime is not asked", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld("file")
			w.strays = []worker.Orphan{stray("1", "file")} // its source was not seen
			w.run(t, func() {
				time.Sleep(time.Minute)
				synctest.Wait()
				w.set(func() {
					if w.relists != 0 {
						t.Errorf("%d lists were made, want none", w.relists)
					}
				})
			})
		})
	})
}

func TestASlowRuntimeDoesNotHoldUpTheLoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.seen["former"] = true
		w.strays = []worker.Orphan{stray("1", "former")}
		w.relisted = make(chan struct{}) // never closed, so Relist hangs
		w.run(t, func() {
			time.Sleep(time.Minute)
			begun := time.Now()
			w.send(added(newPod("2")))
			w.expect(t, "create 2")
			if took := time.Since(begun); took != 0 {
				t.Errorf("an update waited %s for the list", took)
			}
			w.set(func() {
				if w.relists != 1 {
					t.Errorf("%d lists at once, want one", w.relists)
				}
			})
		}) // Run returns although Relist hangs
	})
}

func TestRunWaitsForTheList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.seen["file"] = true
		w.strays = []worker.Orphan{stray("1", "file")}
		w.deaf = 5 * time.Second
		var cancelled time.Time
		w.run(t, func() {
			untilHousekeeping()
			cancelled = time.Now()
		})
		if took := time.Since(cancelled); took != w.deaf {
			t.Errorf("Run ended %s after its context, want the %s of the list", took, w.deaf)
		}
	})
}

func TestAPodWithoutAWorkerGetsOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.run(t, func() {
			w.send(added(newPod("1")), added(newPod("2")), added(newPod("3")))
			w.expect(t, "create 1", "create 2", "create 3")
			done := newPod("3")
			done.Status.Phase = v1.PodSucceeded
			w.send(api.Change{Op: api.Reconcile, Old: done, New: done})
			w.set(func() { clear(w.workers); w.workers["2"] = worker.Syncing })
			untilHousekeeping()
			w.expect(t, "create 1") // 2 has a worker, 3 has terminated
			untilHousekeeping()
			w.expect(t)
		})
	})
}

func TestTheSameUIDAgainIsMadeWhenTheOldOneHasEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.run(t, func() {
			p := newPod("1")
			w.send(added(p))
			w.send(removed(p), added(p))
			w.expect(t, "create 1", "kill 1", "return 1")
			untilHousekeeping()
			w.expect(t) // the pod is still terminating
			w.set(func() { w.workers["1"] = worker.Finished })
			untilHousekeeping()
			w.expect(t, "create 1") // in the same pass
		})
	})
}

func TestRunEndsWithTheStreamOfUpdates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		close(w.updates)
		if err := w.loop.Run(t.Context()); err == nil {
			t.Error("Run = nil, want an error: nobody told it to end")
		}
	})
}

func TestNothingIsTakenInWhileTheRuntimeIsDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.healthErr = errBroken
		w.run(t, func() {
			time.Sleep(90 * time.Second)
			synctest.Wait()
			select {
			case w.updates <- api.Update{}:
				t.Error("an update was taken in")
			default:
			}
			w.set(func() {
				// The interval doubles from 100 ms to 1 s: 5 checks in 1.5 s, then one every
				// second.
				if w.checks < 92 || w.checks > 95 {
					t.Errorf("%d checks in 90 s, want about 93", w.checks)
				}
				w.healthErr = nil
			})
			w.send(added(newPod("1")))
			w.expect(t, "create 1")
		})
	})
}

func TestTheLoopSaysWhenItIsStuck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		healthy := func(want bool) {
			t.Helper()
			if err := w.loop.Healthy(); (err == nil) != want {
				t.Errorf("Healthy = %v, want healthy: %v", err, want)
			}
		}
		healthy(true)
		w.run(t, func() {
			time.Sleep(time.Hour)
			synctest.Wait()
			healthy(true)
			w.set(func() { w.healthErr = errBroken })
			time.Sleep(6 * time.Minute)
			synctest.Wait()
			healthy(false)
		})
	})
}

var _ Workers = (*worker.Pool)(nil)

func TestRunEndsWhileTheRuntimeIsDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.healthErr = errBroken
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		if err := w.loop.Run(ctx); err == nil || time.Since(begun) != time.Second {
			t.Errorf("Run = %v after %s, want the context's error after 1s", err, time.Since(begun))
		}
	})
}
