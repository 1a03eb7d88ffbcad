package sched

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

func always(string) bool { return true }

// named returns a task that sets its name as the current policy.
func named(tenant, name string) Task {
	return Task{Tenant: tenant, Decide: func(_ context.Context, at *CurrentPolicy) (int64, bool) {
		at.Enter(name)
		return 0, true
	}}
}

// nameOf returns the name of a task made by named.
func nameOf(t Task) string {
	var at CurrentPolicy
	t.Decide(context.Background(), &at)
	return at.Name()
}

// waiting returns the number of waiting tasks.
func (q *Queue) waiting() (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, l := range q.flows {
		n += len(l.tasks)
	}
	return n
}

// tasksOf returns n tasks of a tenant, numbered from 0.
func tasksOf(tenant string, n int) []Task {
	tasks := make([]Task, n)
	for i := range tasks {
		tasks[i] = named(tenant, tenant+strconv.Itoa(i))
	}
	return tasks
}

// serve runs n tasks one after the other and returns their names. The fuel of each task is
// its tenant's entry in costs.
func serve(t *testing.T, q *Queue, n int, costs map[string]int64) (names []string) {
	t.Helper()
	for range n {
		next, ok := q.Take()
		if !ok {
			t.Fatal("the queue is closed")
		}
		q.Done(&next, costs[next.Tenant])
		names = append(names, nameOf(next))
	}
	return names
}

func TestQuestionsOfATenantAreTakenInTheOrderTheyCame(t *testing.T) {
	t.Parallel()
	q := NewQueue(always, 0)
	for _, task := range tasksOf("a", 5) {
		q.Add(task)
	}
	if diff := cmp.Diff([]string{"a0", "a1", "a2", "a3", "a4"}, serve(t, q, 5, nil)); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestTenantsGetTheSameShareOfFuel(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		costs map[string]int64
		want  []string
	}{
		"of decisions that cost the same": {
			map[string]int64{"a": 10, "b": 10},
			[]string{"a0", "b0", "a1", "b1", "a2", "b2", "a3", "b3"},
		},
		"of decisions of which one tenant's are dear": {
			map[string]int64{"a": 30, "b": 10},
			[]string{"a0", "b0", "b1", "b2", "a1", "b3", "a2", "a3"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := NewQueue(always, 0)
			for _, task := range append(tasksOf("a", 4), tasksOf("b", 4)...) {
				q.Add(task)
			}
			if diff := cmp.Diff(test.want, serve(t, q, 8, test.costs)); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhoAskedNothingForLongHasNoCredit(t *testing.T) {
	t.Parallel()
	q := NewQueue(always, 0)
	costs := map[string]int64{"a": 100, "b": 100}
	for _, task := range tasksOf("a", 6) {
		q.Add(task)
	}
	serve(t, q, 3, costs)
	for _, task := range tasksOf("b", 3) {
		q.Add(task)
	}
	if diff := cmp.Diff([]string{"b0", "a3", "b1", "a4", "b2", "a5"}, serve(t, q, 6, costs)); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestQueue_lineWithoutCredit(t *testing.T) {
	t.Parallel()
	const dear, cheap = 200_000_000, 1_000_000
	for name, test := range map[string]struct {
		// before runs before the flow of the tenant good gets its first task.
		before func(t *testing.T, q *Queue, ready map[string]bool)
		want   []string
	}{
		"its set was not loaded": {
			before: func(t *testing.T, q *Queue, ready map[string]bool) {
				t.Helper()
				for _, task := range append(tasksOf("late", 300), tasksOf("evil", 3)...) {
					q.Add(task)
				}
				serve(t, q, 3, map[string]int64{"evil": dear})
				ready["late"] = true
			},
			want: []string{"late0", "good0"},
		},
		"its records were behind": {
			before: func(t *testing.T, q *Queue, ready map[string]bool) {
				t.Helper()
				ready["late"] = true
				for _, task := range append(tasksOf("late", 300), tasksOf("evil", 4)...) {
					q.Add(task)
				}
				serve(t, q, 2, map[string]int64{"evil": dear, "late": cheap})
				ready["late"] = false
				serve(t, q, 3, map[string]int64{"evil": dear})
				ready["late"] = true
			},
			want: []string{"late1", "good0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ready := map[string]bool{"evil": true, "good": true}
			q := NewQueue(func(tenant string) bool { return ready[tenant] }, 0)
			q.slots = 1
			test.before(t, q, ready)
			q.Add(named("good", "good0"))
			if diff := cmp.Diff(test.want, serve(t, q, 2, map[string]int64{"late": cheap})); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
		})
	}
}

// TestQueue_lineThatComesBesideATaskChargedInAdvance checks that a task that continues, which
// is charged in advance for the cost of the task before, does not delay a new flow until it
// has used that much.
func TestQueue_lineThatComesBesideATaskChargedInAdvance(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const dear, step = 1000, 10
		q := NewQueue(always, 0)
		q.slots = 1
		for _, tenant := range []string{"a", "b"} {
			q.Add(named(tenant, tenant))
			q.flows[tenant].cost = dear
		}
		a, _ := q.Take()
		served := make(chan string, 2)
		for range 2 {
			go func() {
				if x, ok := q.Take(); ok {
					q.Done(&x, dear)
					served <- x.Tenant
				}
			}()
		}
		synctest.Wait()
		q.Yield(&a, step) // b is served during the pause
		if got := <-served; got != "b" {
			t.Fatalf("%s was served while the task paused", got)
		}
		q.Add(named("late", "late"))
		q.Yield(&a, step)
		select {
		case <-served:
		default:
			t.Error("a line that came while a task went on waits until it took what it was charged in advance")
		}
		q.Done(&a, dear)
		synctest.Wait()
	})
}

// TestADearDecisionUnderWayDoesNotLetTheNextOneBegin checks that a running decision is
// charged in advance for the cost of the decision before.
func TestADearDecisionUnderWayDoesNotLetTheNextOneBegin(t *testing.T) {
	t.Parallel()
	q := NewQueue(always, 0)
	for _, task := range append(tasksOf("a", 3), tasksOf("b", 1)...) {
		q.Add(task)
	}
	serve(t, q, 1, map[string]int64{"a": 1000})
	q.Add(tasksOf("b", 1)[0])
	var names []string
	for range 3 {
		next, _ := q.Take()
		names = append(names, nameOf(next))
	}
	if diff := cmp.Diff([]string{"b0", "b0", "a1"}, names); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestATenantThatIsNotReadyHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ready := map[string]bool{"b": true}
		q := NewQueue(func(tenant string) bool { return ready[tenant] }, 0)
		q.Add(tasksOf("a", 1)[0])
		q.Add(tasksOf("b", 1)[0])
		if got := serve(t, q, 1, nil); got[0] != "b0" {
			t.Errorf("took %s", got[0])
		}
		came := make(chan string)
		go func() {
			next, _ := q.Take()
			came <- nameOf(next)
		}()
		synctest.Wait()
		select {
		case name := <-came:
			t.Errorf("took %s of a tenant that is not ready", name)
		default:
		}
		q.mu.Lock()
		ready["a"] = true
		q.mu.Unlock()
		q.Wake()
		if name := <-came; name != "a0" {
			t.Errorf("took %s", name)
		}
	})
}

func TestAClosedQueueDropsWhatWaits(t *testing.T) {
	t.Parallel()
	q := NewQueue(always, 0)
	q.Add(Task{Tenant: "a"})
	q.Close()
	q.Done(&Task{Tenant: "a"}, 1)
	if _, ok := q.Take(); ok || q.waiting() > 0 {
		t.Errorf("a question was given: %t; %d wait on", ok, q.waiting())
	}
}

func TestAClosedQueueHoldsNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(always, 0)
		came := make(chan bool, 2)
		for range 2 {
			go func() {
				_, ok := q.Take()
				came <- ok
			}()
		}
		synctest.Wait()
		q.Close()
		if first, second := <-came, <-came; first || second {
			t.Error("a closed queue gave a question")
		}
		q.Add(Task{})
		if _, ok := q.Take(); ok || q.waiting() > 0 {
			t.Error("a closed queue took a question")
		}
	})
}
