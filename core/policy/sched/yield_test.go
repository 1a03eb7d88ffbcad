package sched

import (
	"testing"
	"testing/synctest"
)

// TestATaskPausesForALineThatHadLess yields in an expensive task while evaluators are free.
func TestATaskPausesForALineThatHadLess(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fuel  int64  // the fuel that the task has used
		comes string // the tenant of the question that arrives
		spare bool   // whether an evaluator is free to answer it
		more  int    // the number of other waiting tasks of the task's tenant
		want  bool   // whether the question is answered before the task ends
	}{
		"another tenant's question is answered meanwhile": {1000, "b", true, 0, true},
		"before those of the same tenant that wait":       {1000, "b", true, 5, true},
		"the operator's too":                              {1000, "", true, 0, true},
		"one of the same tenant waits":                    {1000, "a", true, 0, false},
		"a task that took nothing does not pause":         {0, "b", true, 0, false},
		"nor does one where nobody could take the other":  {1000, "b", false, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := NewQueue(always, 0)
				q.slots = 1
				q.flows["b"] = &flow{used: 10, cost: 10} // the flow's earlier usage
				q.Add(named("a", "dear"))
				dear, _ := q.Take()
				for range test.more {
					q.Add(named("a", "more"))
				}
				answered := false
				if test.spare {
					go func() {
						if other, ok := q.Take(); ok {
							answered = true
							q.Done(&other, 1)
						}
					}()
				}
				synctest.Wait()
				q.Add(named(test.comes, "other"))
				synctest.Wait()
				if answered {
					t.Error("two tasks are under way, there is one slot")
				}
				q.Yield(&dear, test.fuel)
				if answered != test.want {
					t.Errorf("the other question is answered: %v, want %v", answered, test.want)
				}
				q.Done(&dear, 2*test.fuel)
				synctest.Wait()
				if test.spare && !answered {
					t.Error("the other question is not answered at all")
				}
				q.Close()
			})
		})
	}
}

// TestAPausedTaskGoesOnWhenTheQueueCloses pauses a task for a flow that no evaluator serves.
func TestAPausedTaskGoesOnWhenTheQueueCloses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(always, 0)
		q.slots = 1
		q.Add(named("a", "dear"))
		dear, ok := q.Take()
		if !ok {
			t.Fatal("no task")
		}
		go func() { q.Take() }() // takes the other task and never finishes it
		synctest.Wait()
		q.Add(named("b", "other"))
		back := false
		go func() { q.Yield(&dear, 1000); back = true }()
		synctest.Wait()
		if back {
			t.Fatal("it does not pause")
		}
		q.Close()
		synctest.Wait()
		if !back {
			t.Error("it pauses for ever")
		}
	})
}

// TestPausesShareFairly runs two expensive tasks with one slot: they take turns by the fuel
// they have used.
func TestPausesShareFairly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := false
		q := NewQueue(func(string) bool { return begin }, 0)
		q.slots = 1
		var got []string
		run := func() {
			x, ok := q.Take()
			if !ok {
				return
			}
			for range 3 {
				got = append(got, x.Tenant)
				q.Yield(&x, 10)
			}
			q.Done(&x, 30)
		}
		q.Add(named("a", "one"))
		q.Add(named("b", "two"))
		for range 3 {
			go run()
		}
		synctest.Wait()
		q.mu.Lock()
		begin = true
		q.mu.Unlock()
		q.Wake()
		synctest.Wait()
		ahead := 0
		for _, tenant := range got {
			ahead += map[string]int{"a": 1, "b": -1}[tenant]
			if ahead > 2 || ahead < -2 {
				t.Errorf("turns %s: one was far ahead of the other", got)
				break
			}
		}
		q.Close()
		synctest.Wait()
	})
}

// TestOfLinesThatPauseAndHadTheSameOneGoesOn checks that of two paused tasks whose flows have
// used the same amount exactly one continues. Each paused task decides this itself.
func TestOfLinesThatPauseAndHadTheSameOneGoesOn(t *testing.T) {
	t.Parallel()
	for range 100 { // the order in which the tasks check is random
		synctest.Test(t, func(t *testing.T) {
			q := NewQueue(always, 0)
			q.slots = 1
			costs := map[string]int64{"a": 100, "b": 100, "c": 1}
			goOn := map[string]chan bool{"a": make(chan bool), "b": make(chan bool), "c": make(chan bool)}
			over := make(chan string, len(costs))
			for range costs {
				go func() {
					for {
						x, ok := q.Take()
						if !ok {
							return
						}
						<-goOn[x.Tenant]
						q.Yield(&x, costs[x.Tenant])
						q.Done(&x, costs[x.Tenant])
						over <- x.Tenant
					}
				}()
			}
			synctest.Wait()
			for _, next := range []struct{ comes, goesOn string }{{"a", ""}, {"b", "a"}, {"c", "b"}, {"", "c"}} {
				if next.comes != "" {
					q.Add(Task{Tenant: next.comes})
					synctest.Wait()
				}
				if next.goesOn != "" {
					goOn[next.goesOn] <- true
					synctest.Wait()
				}
			}
			if len(over) != len(costs) {
				t.Errorf("%d of %d decisions are over, and %d of the queue's %d places are taken", len(over), len(costs), q.busy, q.slots)
			}
			q.Close()
			synctest.Wait()
		})
	}
}
