package policy

import (
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/pod"
)

func TestQuestionsAreTakenInTheOrderTheyCame(t *testing.T) {
	t.Parallel()
	q := newQueue()
	var want, got []string
	for i := range 5 {
		want = append(want, strconv.Itoa(i))
		q.add(task{question: question(strconv.Itoa(i))})
	}
	for range want {
		next, ok := q.take()
		if !ok {
			t.Fatal("the queue is closed")
		}
		got = append(got, next.question.Pod.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestAClosedQueueDropsWhatWaits(t *testing.T) {
	t.Parallel()
	q := newQueue()
	q.add(task{})
	q.close()
	if _, ok := q.take(); ok || len(q.tasks) > 0 {
		t.Errorf("a question was given: %t; %d wait on", ok, len(q.tasks))
	}
}

func TestAClosedQueueHoldsNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		came := make(chan bool, 2)
		for range 2 {
			go func() {
				_, ok := q.take()
				came <- ok
			}()
		}
		synctest.Wait()
		q.close()
		if first, second := <-came, <-came; first || second {
			t.Error("a closed queue gave a question")
		}
		q.add(task{answer: func(pod.Verdict) {}})
		if _, ok := q.take(); ok || len(q.tasks) > 0 {
			t.Error("a closed queue took a question")
		}
	})
}
